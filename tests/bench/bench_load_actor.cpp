#include "tests/bench/bench_load_actor.hpp"

#include <algorithm>
#include <cstdio>

namespace fairlead::bench {

namespace {

constexpr std::uint64_t first_number = 1'000'000'000;  // so that all ids are equally long
constexpr std::uint64_t batch_limit = 256;
constexpr std::uint64_t unacknowledged_limit = 4096;

/// 200 bytes of JSON, as the workload wants it.
std::string input_of(std::uint64_t number) {
  std::string out =
      R"({"order_id":)" + std::to_string(10'000'000 + number) +
      R"(,"amount_cents":4400,"items":[{"sku":"NW-11","quantity":12}],"address":{"street":"59 rue de l'Abbaye","city":"Reims"},"note":")";
  out.append(198 - std::min<std::size_t>(out.size(), 198), 'x');
  return out + "\"}";
}

void submit_more(client_sink::stateful_pointer<load_state> self, const gateway_actor& gateway, const load_plan& plan,
                 load_progress* shared) {
  auto& state = self->state;
  while (state.submitted < plan.tasks && state.submitted - state.ended < plan.in_flight &&
         state.submitted - state.acknowledged < unacknowledged_limit) {
    v1::SubmitRequest request;
    request.set_notify(true);
    const auto room = std::min({plan.tasks - state.submitted, plan.in_flight - (state.submitted - state.ended), batch_limit});
    for (std::uint64_t i = 0; i < room; ++i) {
      auto* item = request.add_items();
      item->set_id("order-" + std::to_string(first_number + plan.first + state.submitted));
      item->set_workflow(plan.workflow);
      item->set_input(input_of(state.submitted));
      state.started.push_back(std::chrono::steady_clock::now());
      ++state.submitted;
    }
    self->request(gateway, caf::infinite, std::move(request))
        .then(
            [self, gateway, plan, shared](const v1::SubmitReply& reply) {
              self->state.acknowledged += static_cast<std::uint64_t>(reply.results_size());
              {
                const std::lock_guard lock{shared->guard};
                shared->acknowledged = self->state.acknowledged;
                if (reply.error().code() != v1::ERROR_CODE_OK) shared->failure = reply.error().sentence();
                for (const auto& result : reply.results())
                  if (result.error().code() != v1::ERROR_CODE_OK) shared->failure = result.error().sentence();
                shared->changed.notify_all();
              }
              submit_more(self, gateway, plan, shared);
            },
            [shared](const caf::error&) {
              const std::lock_guard lock{shared->guard};
              shared->failure = "the gateway did not answer";
              shared->changed.notify_all();
            });
  }
}

}  // namespace

client_sink::behavior_type run_load_client(client_sink::stateful_pointer<load_state> self, gateway_actor gateway, load_plan plan,
                                           load_progress* shared) {
  self->state.started.reserve(plan.tasks);
  submit_more(self, gateway, plan, shared);
  return {
      [self, gateway, plan, shared](const v1::FinishedNotice& notice) {
        const auto now = std::chrono::steady_clock::now();
        auto& state = self->state;
        {
          const std::lock_guard lock{shared->guard};
          for (const auto& item : notice.items()) {
            if (item.state() != v1::TASK_STATE_COMPLETED) shared->failure = item.id() + " did not complete: " + item.reason();
            const auto number = std::stoull(item.id().substr(6)) - first_number - plan.first;
            shared->latencies_us.push_back(std::chrono::duration<double, std::micro>(now - state.started.at(number)).count());
          }
          state.ended += static_cast<std::uint64_t>(notice.items_size());
          shared->ended = state.ended;
          shared->changed.notify_all();
        }
        submit_more(self, gateway, plan, shared);
      },
  };
}

}  // namespace fairlead::bench
