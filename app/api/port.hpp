#pragma once
// The ports of the API on this node.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/protocol/ports.hpp"
#include "app/access/gate.hpp"
#include "app/access/ticker.hpp"
#include "app/api/exchange.hpp"
#include "app/config/config.hpp"
#include "app/door/figures.hpp"
#include "app/door/listener.hpp"
#include "app/metrics/node_figures.hpp"

namespace fairlead::app::api {

/// Serves until it is destroyed, which ends requests in order.
class port {
 public:
  /// nullptr: the node file has no API. The error names the obstacle and the remedy.
  static result<std::unique_ptr<port>> serve(const node_config& config, surroundings in, observer& log);
  port(const port&) = delete;
  port& operator=(const port&) = delete;
  ~port();

  /// Of `api.listen`, also if the system chose it; 0: there is only a socket.
  std::uint16_t tcp_port() const { return tcp_ ? tcp_->port() : 0; }
  /// The clients that are known by a certificate, from the next request on. From any thread.
  void take_certificates(std::vector<access_certificate> known) { access_->take(std::move(known)); }
  /// For /metrics, from any thread; also after the port has gone.
  std::function<api_figures()> figures() const;

 private:
  /// The certificate of TLS, or the authorities of clients, as the node speaks of them.
  struct shown_end {
    std::int64_t ends_unix_ms = 0;  // 0: unknown
    int warned_stage = 0;           // as core::certificate_stage
  };

  port(const surroundings& in, observer& log) : time_(in.time), log_(&log), node_(in.node), gateway_(in.gateway) {}
  result<std::unique_ptr<door::listener>> listen(result<listen_socket> at, const std::string& where, const door::guard& guards,
                                                 const door::service& to, const std::string& version,
                                                 std::shared_ptr<const door::tls_certificate> tls = {},
                                                 std::shared_ptr<const door::client_trust> clients = {});
  status open_tls(const api_config& wanted);
  void look_at_files();
  void look_at_certificate();
  void look_at_clients();
  void take(shown_end& of, std::int64_t ends_unix_ms);
  /// Logs that the end is near, once for each stage.
  void warn(shown_end& of, const std::string& words, const std::string& remedy);
  /// Says when the certificates end to the leader of shard 0, which keeps the alerts. A report may be lost, and the leader may change:
  /// so it is repeated.
  void report();

  const clock* time_;
  observer* log_;
  const std::string node_;
  const gateway_actor gateway_;
  std::size_t of_one_address_ = 0;
  std::shared_ptr<gate> access_;
  std::shared_ptr<door::tls_certificate> certificate_;
  const std::shared_ptr<std::atomic<std::int64_t>> ends_ = std::make_shared<std::atomic<std::int64_t>>(0);  // in unix ms; 0: there is none
  const std::shared_ptr<door::figures> counts_ = std::make_shared<door::figures>();
  std::shared_ptr<const audit_log> audit_;
  std::shared_ptr<const fairlead::workers> workers_;
  std::shared_ptr<door::client_trust> clients_;        // null: no client is asked for a certificate
  std::string certificate_trouble_, clients_trouble_;  // of the latest reading
  shown_end certificate_end_, clients_end_;            // of those in use
  moment next_report_{};                               // by the steady clock
  std::optional<ticker> watch_;
  std::unique_ptr<door::listener> tcp_, unix_;
  std::string socket_;
  std::uint64_t socket_inode_ = 0;
};

}  // namespace fairlead::app::api
