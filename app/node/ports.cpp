#include "app/node/ports.hpp"

#include <utility>

#include "actors/node/ask_gateway.hpp"
#include "app/bulk/agent.hpp"
#include "app/node/rebuild.hpp"

namespace fairlead::app {

node_ports::node_ports(const ports_world& in, std::unique_ptr<api::port> api)
    : api_(std::move(api)),
      figures_({in.config.name, FAIRLEAD_VERSION, in.config.shards_here, &in.time, ask_gateway(in.system, in.tree.gateway()), in.replicas,
                [folders = working_folders_of(in.config)] { return count_set_aside(folders); }, api_ ? api_->figures() : nullptr}) {}

result<std::unique_ptr<node_ports>> node_ports::serve(const ports_world& in) {
  // Requests may end in the thread of the audit, which must not end the audit: it belongs to the node alone.
  const std::shared_ptr<audit_log> audit{std::shared_ptr<void>{}, in.audit.get()};
  api::surroundings around{&in.system, in.tree.gateway(), in.tree.reads(), in.config.name, FAIRLEAD_VERSION, &in.time, {}, audit};
  around.workers = in.tree.carried();
  auto api = api::port::serve(in.config, std::move(around), in.log);
  if (!api) return api.failure();
  std::unique_ptr<node_ports> out{new node_ports{in, std::move(*api)}};
  if (in.config.http) {
    auto started = http_port::start(*in.config.http, out->figures_.handlers());
    if (!started) return started.failure();
    out->http_ = std::move(*started);
  }
  if (!out->api_) return out;
  auto operations = bulk::make_agent(in.system, in.tree.gateway(), in.ending);
  if (!operations) return operations.failure();
  if (auto added = in.tree.add_agent(*operations, operations->name); !added) return added.failure();
  return out;
}

void node_ports::stop_api() {
  figures_.stop();
  api_.reset();
}

}  // namespace fairlead::app
