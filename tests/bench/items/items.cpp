#include "tests/bench/items/items.hpp"

#include <algorithm>
#include <caf/all.hpp>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "tests/bench/bench_load.hpp"
#include "tests/bench/bench_node.hpp"

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;
using paced_client = caf::typed_actor<caf::reacts_to<v1::FinishedNotice>, caf::reacts_to<scan_atom>>;

constexpr const char* list_id = "list";
constexpr std::chrono::seconds warm_up{3};

std::string order_input() {
  return R"({"amount_cents":4400,"items":[{"sku":"NW-11","quantity":12}],"address":{"street":"59 rue de l'Abbaye","city":"Reims"}})";
}

std::string list_input(std::uint32_t items) {
  std::string out = R"({"items":[)";
  for (std::uint32_t i = 0; i < items; ++i) out += (i == 0 ? "" : ",") + std::to_string(1'000'000 + i);
  return out + "]}";
}

/// What the client's actor and the measuring thread share.
struct paced_progress {
  std::mutex guard;
  std::condition_variable changed;
  std::string failure;
  std::string list;  // input of the list that is to be submitted now; then empty
  std::vector<double> latencies_us;
  std::uint64_t ended = 0;
  steady::time_point list_begun, list_ended;
  bool list_is_over = false;
};

struct paced_state {
  steady::time_point next;
  std::vector<steady::time_point> due;
  static inline const char* name = "paced_load";
};

void submit(paced_client::stateful_pointer<paced_state> self, const gateway_actor& gateway, const std::string& id, const char* workflow,
            std::string input, paced_progress* shared) {
  v1::SubmitRequest request;
  request.set_notify(true);
  auto* item = request.add_items();
  item->set_id(id);
  item->set_workflow(workflow);
  item->set_input(std::move(input));
  const auto failed = [shared](const std::string& why) {
    const std::lock_guard lock{shared->guard};
    shared->failure = why;
    shared->changed.notify_all();
  };
  self->request(gateway, caf::infinite, std::move(request))
      .then(
          [failed](const v1::SubmitReply& reply) {
            if (reply.error().code() != v1::ERROR_CODE_OK) failed(reply.error().sentence());
            for (const auto& result : reply.results())
              if (result.error().code() != v1::ERROR_CODE_OK) failed(result.error().sentence());
          },
          [failed](const caf::error&) { failed("the gateway did not answer"); });
}

void take(const v1::FinishedNotice& notice, const paced_state& state, paced_progress& shared) {
  const auto now = steady::now();
  const std::lock_guard lock{shared.guard};
  for (const auto& item : notice.items()) {
    if (item.state() != v1::TASK_STATE_COMPLETED) shared.failure = item.id() + " did not complete: " + item.reason();
    if (item.id() == list_id) {
      shared.list_ended = now;
      shared.list_is_over = true;
      continue;
    }
    const auto due = state.due.at(std::stoull(item.id().substr(item.id().find('-') + 1)));
    shared.latencies_us.push_back(std::chrono::duration<double, std::micro>(now - due).count());
    ++shared.ended;
  }
  shared.changed.notify_all();
}

paced_client::behavior_type run_paced(paced_client::stateful_pointer<paced_state> self, gateway_actor gateway, std::uint32_t orders_per_s,
                                      paced_progress* shared) {
  self->state.next = steady::now();
  self->send(self, scan_atom_v);
  return {
      [self, shared](const v1::FinishedNotice& notice) { take(notice, self->state, *shared); },
      [self, gateway, orders_per_s, shared](scan_atom) {
        auto& state = self->state;
        const auto now = steady::now();
        for (; state.next <= now; state.next += std::chrono::nanoseconds{1'000'000'000 / orders_per_s}) {
          const auto id = "order-" + std::to_string(state.due.size());
          state.due.push_back(state.next);
          submit(self, gateway, id, "order", order_input(), shared);
        }
        std::string list;
        {
          const std::lock_guard lock{shared->guard};
          list.swap(shared->list);
          if (!list.empty()) shared->list_begun = now;
        }
        if (!list.empty()) submit(self, gateway, list_id, "list", std::move(list), shared);
        self->delayed_send(self, state.next - now, scan_atom_v);
      },
  };
}

struct cost {
  double cpu_s = 0, bytes = 0, operations = 0;
};

cost cost_of(bench_node& node) {
  return {cpu_seconds(), static_cast<double>(written_bytes()) - static_cast<double>(node.zeroed_bytes()),
          static_cast<double>(node.recorder().operations())};
}

}  // namespace

items_result run_items(const items_plan& plan) {
  std::filesystem::remove_all(plan.directory);
  std::filesystem::create_directories(plan.directory);
  bench_node::options options;
  options.directory = plan.directory;
  options.items_at_once = plan.at_once;
  paced_progress progress;
  bench_node node{options};
  const auto client = node.system().spawn(run_paced, node.gateway(), plan.orders_per_s, &progress);

  // The node waits for all its actors.
  const std::shared_ptr<void> at_end{nullptr, [&client](void*) { caf::anon_send_exit(client, caf::exit_reason::user_shutdown); }};

  const auto fails = [&](const std::string& why) { throw std::runtime_error(why); };
  const auto wait = [&](std::chrono::seconds most, auto enough) {
    std::unique_lock lock{progress.guard};
    const auto there = progress.changed.wait_for(lock, most, [&] { return !progress.failure.empty() || enough(); });
    if (!progress.failure.empty()) fails(progress.failure);
    return there;
  };
  const auto taken = [&] {
    const std::lock_guard lock{progress.guard};
    return std::exchange(progress.latencies_us, {});
  };
  const auto never = [] { return false; };

  wait(warm_up, never);
  taken();
  const auto before = cost_of(node);
  wait(std::chrono::seconds{plan.alone_s}, never);
  const auto alone = taken();
  const auto between = cost_of(node);
  {
    const std::lock_guard lock{progress.guard};
    progress.list = list_input(plan.items);
  }
  if (!wait(std::chrono::seconds{600}, [&] { return progress.list_is_over; })) fails("the list is not over after ten minutes");
  const auto after = cost_of(node);
  const auto beside = taken();

  items_result out;
  out.alone_p50_us = percentile(alone, 0.50);
  out.alone_p99_us = percentile(alone, 0.99);
  out.beside_p50_us = percentile(beside, 0.50);
  out.beside_p99_us = percentile(beside, 0.99);
  out.orders_beside = beside.size();
  out.list_s = std::chrono::duration<double>(progress.list_ended - progress.list_begun).count();
  const auto orders = static_cast<double>(beside.size()) / static_cast<double>(std::max<std::size_t>(alone.size(), 1));
  const auto of_item = [&](double cost::*what) {
    return (after.*what - between.*what - orders * (between.*what - before.*what)) / static_cast<double>(plan.items);
  };
  out.item_cpu_us = of_item(&cost::cpu_s) * 1e6;
  out.item_bytes = of_item(&cost::bytes);
  out.item_operations = of_item(&cost::operations);
  return out;
}

}  // namespace fairlead::bench
