#pragma once
// The source of the port's figures: it asks its own node, with a time limit, and keeps the answers for a second, so that no number of
// scrapes is a load on the node.
//
//   metrics_source figures{{config.name, FAIRLEAD_VERSION, config.shards_here, &clock, ask_gateway(*system, gateway)}};
//   (actors/node/ask_gateway.hpp)
//   figures.handlers() for http_port, figures.healthy() for service_manager, figures.stop() before the node's parts are ended.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/protocol/node_answers.hpp"
#include "app/metrics/http_port.hpp"
#include "app/metrics/node_figures.hpp"
#include "app/metrics/store_growth.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

struct metrics_setup {
  std::string node;
  std::string version;
  std::vector<std::uint32_t> shards_here;
  const clock* time = nullptr;
  ask_node ask;
  /// Store and replication of the shards here that other nodes hold, too. From any thread; null: there are none.
  std::function<std::map<std::uint32_t, v1::ShardStatus>()> replicas = {};
  /// Counts the folders with damaged stores that the node has set aside. From any thread; null: 0.
  std::function<std::size_t()> set_aside = {};
  /// From any thread. Null: the node has no API.
  std::function<api_figures()> api = {};
};

/// Thread-safe.
class metrics_source {
 public:
  explicit metrics_source(metrics_setup setup);

  std::shared_ptr<const node_figures> look();
  bool healthy();

  /// Handlers of /metrics, /healthz and /readyz. The source must outlive them.
  http_handlers handlers();

  /// The node is about to end: from now on it is not ready, and no more requests are sent.
  void stop();

 private:
  std::shared_ptr<node_figures> refresh(const node_figures* before);
  void keep_late_status(node_figures& all, const node_figures* before);

  const metrics_setup setup_;

  std::mutex asking_;                // taken before guard_: one thread asks, the others wait for its answers
  std::optional<moment> status_at_;  // steady; of the status in last_, which may be older than the rest. Guarded by asking_, as is growth_
  std::map<std::uint32_t, store_growth> growth_;

  std::mutex guard_;  // never held during a request, so that stop() need not wait
  bool stopping_ = false;
  std::optional<moment> looked_at_;  // steady
  std::shared_ptr<const node_figures> last_;
};

}  // namespace fairlead::app
