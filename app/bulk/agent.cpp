#include "app/bulk/agent.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include <caf/scoped_actor.hpp>

#include "actors/agents/native.hpp"
#include "actors/protocol/requests.hpp"
#include "app/bulk/action.hpp"
#include "app/bulk/run.hpp"

namespace fairlead::app::bulk {

namespace {

/// Shorter than half a heartbeat of the step.
constexpr duration answer_limit = std::chrono::seconds{4};
/// How many operations a node carries out at once.
constexpr std::uint32_t capacity = 8;

struct node_asked {
  caf::actor_system* system;
  gateway_actor gateway;
  std::shared_ptr<const std::atomic<bool>> ending;
};

template <class Request>
result<reply_of<Request>> ask(const node_asked& node, const Request& what) {
  result<reply_of<Request>> out = error{v1::ERROR_CODE_UNAVAILABLE, "The node does not answer.", "Try again later."};
  // The system may be gone soon.
  if (node.ending->load()) return out;
  caf::scoped_actor self{*node.system};
  self->request(node.gateway, answer_limit, what)
      .receive(
          [&out](reply_of<Request>& reply) {
            if (reply.error().code() == v1::ERROR_CODE_OK)
              out = std::move(reply);
            else
              out = error::from_proto(reply.error());
          },
          [](const caf::error&) {});
  return out;
}

}  // namespace

result<local_agent> make_agent(caf::actor_system& system, const gateway_actor& gateway, std::shared_ptr<const std::atomic<bool>> ending) {
  const auto in = std::make_shared<world>();
  const node_asked node{&system, gateway, ending};
  in->list = [node](const auto& what) { return ask(node, what); };
  in->operate = [node](const auto& what) { return ask(node, what); };
  in->show = [node](const auto& what) { return ask(node, what); };
  in->is_ending = [ending = std::move(ending)] { return ending->load(); };
  in->steady = [] { return std::chrono::duration_cast<duration>(std::chrono::steady_clock::now().time_since_epoch()); };
  in->wait = [](duration how_long) { std::this_thread::sleep_for(how_long); };
  local_agent out;
  out.name = agent_name;
  out.kind = "native";
  out.make = [in]() -> result<std::shared_ptr<agents::backend>> {
    agents::native_agent_config config;
    config.calls["act"] = [in](const agents::native_context& context, std::string_view input) { return carry_out(*in, context, input); };
    config.mode = agents::native_mode::pooled;
    config.capacity = capacity;
    auto made = agents::make_native_backend(std::move(config));
    if (!made) return made.failure();
    return std::shared_ptr<agents::backend>{std::move(*made)};
  };
  auto first = out.make();
  if (!first) return first.failure();
  out.backend = std::move(*first);
  return out;
}

}  // namespace fairlead::app::bulk
