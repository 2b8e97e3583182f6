#include "actors/node/ask_gateway.hpp"

#include <utility>

#include "actors/supervision/guardian.hpp"

namespace fairlead {

namespace {

/// Stores the answer in `part`, or the reason for its absence.
template <class Waiting, class Reply>
void take(caf::actor_system& system, Waiting waiting, answer_of<Reply>& part) {
  waiting.receive(
      [&part](Reply& reply) {
        if (reply.error().code() == v1::ERROR_CODE_OK)
          part.reply = std::move(reply);
        else
          part.reason = reply.error().sentence();
      },
      [&part, &system](const caf::error& why) {
        part.reason = why == caf::sec::request_timeout ? "no answer in time" : reason_text(system, why);
      });
}

}  // namespace

ask_node ask_gateway(caf::actor_system& system, gateway_actor gateway) {
  return [&system, gateway = std::move(gateway)](const std::vector<std::uint32_t>& shards, duration limit) {
    node_answers out;
    caf::scoped_actor self{system};
    // All requests are sent before the first wait, so that the limit holds for all together.
    auto tree = self->request(gateway, limit, v1::InspectRequest{});
    using waiting = decltype(self->request(gateway, limit, v1::StatusRequest{}));
    std::vector<std::pair<std::uint32_t, waiting>> asked;
    for (const auto shard : shards) {
      v1::StatusRequest request;
      request.set_shard(shard);
      asked.emplace_back(shard, self->request(gateway, limit, std::move(request)));
    }
    auto status = self->request(gateway, limit, v1::StatusRequest{});
    take(system, std::move(tree), out.tree);
    for (auto& [shard, answer] : asked) take(system, std::move(answer), out.shards[shard]);
    take(system, std::move(status), out.status);
    return out;
  };
}

}  // namespace fairlead
