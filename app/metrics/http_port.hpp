#pragma once
// The port for machines: GET and HEAD of a few paths, answered from memory. It is kept small on purpose (no bodies, no kept connections, one
// thread), so that whoever reaches it can waste neither the node's memory nor its cores.
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

/// By path. Called in the port's one thread: what takes long holds up all others.
using http_handlers = std::map<std::string, std::function<http_answer()>>;

class http_port {
 public:
  /// Listens and serves when it returns. The error says who is in the way and what to do.
  static result<std::unique_ptr<http_port>> start(const listen_address& address, http_handlers handlers);

  http_port(const http_port&) = delete;
  http_port& operator=(const http_port&) = delete;
  /// Waits for the handler that is at work. No handler is called afterwards.
  ~http_port();

  /// The one that is listened on, also when the address left it to the system.
  std::uint16_t port() const noexcept;

 private:
  struct state;
  explicit http_port(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace fairlead::app
