#include "actors/protocol/connector.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <caf/io/basp_broker.hpp>
#include <caf/io/middleman.hpp>
#include <memory>
#include <set>

namespace fairlead {

namespace {

connect_outcome refused(std::size_t index, std::string reason) { return {index, {}, std::move(reason)}; }

std::string explain(const caf::error& failure) {
  if (failure == caf::sec::request_timeout || failure == caf::sec::connection_timeout) return "accepted the connection, but does not speak";
  if (failure == caf::sec::disconnect_during_handshake) return "closed the connection without an answer";
  return "is not a node that this release can talk to";
}

/// CAF names a connection by its descriptor and forgets a closed one only a moment later, when a new connection may have that number:
/// routes would then lead to the wrong node for the life of the process. So connections made here never get a recently used number.
int with_another_number(int socket) {
  constexpr unsigned lowest = 256;  // usually above the numbers of accepted connections
  constexpr unsigned numbers = 512;
  static std::atomic<unsigned> turn{0};
  const int moved = ::fcntl(socket, F_DUPFD_CLOEXEC, static_cast<int>(lowest + turn.fetch_add(1) % numbers));
  if (moved < 0) return socket;  // above the limit on open files
  ::close(socket);
  return moved;
}

class attempt : public std::enable_shared_from_this<attempt> {
 public:
  attempt(connector_actor::pointer self, connect_order order, caf::typed_response_promise<connect_outcome> promise)
      : self_(self), order_(std::move(order)), promise_(std::move(promise)) {}

  void run() {
    auto socket = connect_tcp(order_.address, connect_limit);
    if (!socket) {
      promise_.deliver(refused(order_.index, socket.failure().sentence));
      return;
    }

    auto& middleman = self_->system().middleman();
    auto broker = middleman.named_broker<caf::io::basp_broker>(caf::atom("BASP"));
    auto me = shared_from_this();
    auto scribe = middleman.backend().new_scribe(with_another_number(*socket));
    self_->request(broker, handshake_limit, caf::connect_atom_v, std::move(scribe), order_.address.port)
        .then([me](const caf::node_id&, const caf::strong_actor_ptr& actor,
                   const std::set<std::string>& speaks) { me->on_handshake(actor, speaks); },
              [me](const caf::error& failure) { me->on_failure(failure); });
  }

 private:
  void on_handshake(const caf::strong_actor_ptr& actor, const std::set<std::string>& speaks) {
    if (!actor)
      promise_.deliver(refused(order_.index, "publishes nothing"));
    else if (!speaks_enough(speaks))
      promise_.deliver(refused(order_.index, order_.needs.empty() ? "uses another protocol than this client"
                                                                  : "does not accept other nodes: its release is too old"));
    else
      promise_.deliver(connect_outcome{order_.index, caf::actor_cast<gateway_actor>(actor), ""});
  }

  bool speaks_enough(const std::set<std::string>& speaks) const {
    auto& system = self_->system();
    return system.assignable(speaks, order_.needs.empty() ? system.message_types<gateway_actor>() : order_.needs);
  }

  /// CAF drops a connection that has not spoken by the next heartbeat, which may be a few milliseconds away. So a node that is merely busy
  /// gets the whole limit.
  void on_failure(const caf::error& failure) {
    if (failure == caf::sec::connection_timeout && std::chrono::steady_clock::now() < until_) return run();
    promise_.deliver(refused(order_.index, explain(failure)));
  }

  connector_actor::pointer self_;
  connect_order order_;
  caf::typed_response_promise<connect_outcome> promise_;
  std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::now() + handshake_limit;
};

}  // namespace

// The socket is connected here and handed to CAF's broker directly. CAF's own `remote_actor` connects without a limit, one address at a
// time, and remembers a proxy for a moment longer than its node lives.
connector_actor::behavior_type make_connector(connector_actor::pointer self) {
  // CAF's own handler would write unexpected messages to a command's stdout.
  self->set_default_handler(caf::drop);
  return {[self](const connect_order& order) -> caf::result<connect_outcome> {
    auto promise = self->make_response_promise<connect_outcome>();
    std::make_shared<attempt>(self, order, promise)->run();
    return promise;
  }};
}

}  // namespace fairlead
