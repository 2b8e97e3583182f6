#pragma once
// The port: connections of HTTP/1.1 on one thread, which never waits for an answer. Requests go to a service, which answers later from any thread.
//
// libmicrohttpd parses; the loop around it is ours: while a request waits for its answer the library does not look at the connection, so the loop
// watches it for its end, and gives every state of a connection a deadline.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/door/guards.hpp"
#include "app/door/message.hpp"
#include "app/door/tls/tls.hpp"
#include "app/door/tls/tls_trust.hpp"
#include "app/process/listen_socket.hpp"
#include "messages/error.hpp"

namespace fairlead::app::door {

class mailbox;

/// Answers one request, once, at once or as a stream. Any thread; it may outlive the listener. Destroyed without an answer it answers with a problem
/// `internal`; a stream ends with it.
class answerer {
 public:
  /// `bytes`: of the request's body, which is held as long as this, or until a stream begins.
  answerer(std::shared_ptr<mailbox> to, std::uint64_t number, std::string id, std::size_t bytes);
  answerer(const answerer&) = delete;
  answerer& operator=(const answerer&) = delete;
  ~answerer();

  void operator()(answer what);
  /// `gone` is called once, from any thread, if the client goes before it has the whole answer; it must return at once.
  void on_gone(std::function<void()> gone);
  /// Begins a stream, whose body has no length. A client that does not take what is sent is dropped.
  void begin(answer head);
  void send(std::string more);
  void end();
  /// The client has gone, or has been answered: nobody waits any more.
  bool is_over() const;

 private:
  std::shared_ptr<mailbox> to_;
  const std::uint64_t number_;
  const std::string id_;
  const std::size_t bytes_;
  std::atomic<bool> streams_ = false;
};

/// Called on the listener's thread; must return at once. True: the answer comes within some ten microseconds, so the loop waits for it a little.
using service = std::function<bool(request what, std::shared_ptr<answerer> to)>;

struct listener_limits {
  std::size_t connections = 10'000;
  std::size_t of_one_address = 256;                // of the connections, but for those of this machine
  std::size_t requests = 12'288;                   // in progress, also those whose clients have gone; no streams
  std::size_t body_bytes = std::size_t{64} << 20;  // of all requests together
  std::chrono::milliseconds head{5'000};           // for a first request line, and from it to the end of the headers
  std::chrono::milliseconds body{30'000};          // from there on
  std::chrono::milliseconds answer{90'000};        // of the service, which may ask the node three times
  std::chrono::milliseconds reading{30'000};       // for the client to take the answer
  std::chrono::milliseconds idle{60'000};          // between two requests
};

class listener {
 public:
  /// Serves on return. The error's sentence is the obstacle alone. `make_id`: of requests without one. `tls`: null of a port without TLS. `clients`:
  /// null of a port that asks no client for a certificate.
  static result<std::unique_ptr<listener>> start(listen_socket at, guard guards, service to, std::function<std::string()> make_id,
                                                 std::string version, std::shared_ptr<const tls_certificate> tls = {},
                                                 std::shared_ptr<const client_trust> clients = {}, listener_limits limits = {});

  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  /// Requests that wait are answered with a problem `unavailable`; clients have a second to take their answers.
  ~listener();

  std::uint16_t port() const noexcept;

 private:
  struct loop;
  explicit listener(std::unique_ptr<loop> l);
  std::unique_ptr<loop> loop_;
};

}  // namespace fairlead::app::door
