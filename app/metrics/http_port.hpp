#pragma once
// The HTTP port for monitoring: GET and HEAD of a few paths, answered from memory. Small on purpose (no bodies, no kept connections, one
// thread), so that its clients can waste neither the node's memory nor its cores.
//
//   auto http = http_port::start(*config.http, figures.handlers());  // of metrics_source; an error is that of an address in use

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "app/config/config.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

struct http_answer {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

/// Handlers by path. Called on the port's only thread: a slow handler delays all others.
using http_handlers = std::map<std::string, std::function<http_answer()>>;

class http_port {
 public:
  /// Listens and serves on return. The error names the obstacle and the remedy.
  static result<std::unique_ptr<http_port>> start(const listen_address& address, http_handlers handlers);

  http_port(const http_port&) = delete;
  http_port& operator=(const http_port&) = delete;
  /// Waits for a running handler. No handler is called afterwards.
  ~http_port();

  /// The port on which it listens, also if the system chose it.
  std::uint16_t port() const noexcept;

 private:
  struct state;
  explicit http_port(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace fairlead::app
