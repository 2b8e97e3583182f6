#pragma once
// The ports of a node beside the one between nodes: the API with the agent of its operations, and the port of /metrics.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <caf/actor_system.hpp>

#include "actors/node/node_tree.hpp"
#include "app/access/audit.hpp"
#include "app/api/port.hpp"
#include "app/config/config.hpp"
#include "app/metrics/http_port.hpp"
#include "app/metrics/metrics_source.hpp"

namespace fairlead::app {

/// Of the node; all of it outlives its ports.
struct ports_world {
  const node_config& config;
  caf::actor_system& system;
  node_tree& tree;
  const clock& time;
  observer& log;
  std::shared_ptr<audit_log> audit;
  std::shared_ptr<const std::atomic<bool>> ending;
  std::function<std::map<std::uint32_t, v1::ShardStatus>()> replicas;
};

class node_ports {
 public:
  /// Serves what the node file has of them.
  static result<std::unique_ptr<node_ports>> serve(const ports_world& in);

  /// 0: there is no port of /metrics.
  std::uint16_t http_port() const { return http_ ? http_->port() : 0; }
  /// 0: there is no API, or only on a socket.
  std::uint16_t api_port() const { return api_ ? api_->tcp_port() : 0; }
  /// Before stop_api. The clients of the API that are known by a certificate, from the next request on.
  void take_certificates(const std::vector<access_certificate>& known) {
    if (api_) api_->take_certificates(known);
  }
  /// From any thread. False once the API has been stopped.
  bool healthy() { return figures_.healthy(); }
  void stop_api();
  void stop_http() { http_.reset(); }

 private:
  node_ports(const ports_world& in, std::unique_ptr<api::port> api);

  std::unique_ptr<api::port> api_;
  metrics_source figures_;
  std::unique_ptr<class http_port> http_;
};

}  // namespace fairlead::app
