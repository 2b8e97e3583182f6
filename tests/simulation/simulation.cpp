#include "tests/simulation/simulation.hpp"

#include <exception>

#include "store/service_rows.hpp"
#include "store/task_rows.hpp"
#include "tests/simulation/clients.hpp"
#include "tests/simulation/operators.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t end_within_us = 400 * second;  // after the last fault; stalls are found long before
constexpr int most_rounds = 60;                       // of operators who see to what is parked

/// Everything of one run, put together.
class scene {
 public:
  explicit scene(const options& what)
      : world_(what),
        network_(world_),
        services_(world_, ledger_),
        sites_(make_sites(world_)),
        workflows_(make_workflows(world_, sites_)),
        agents_(world_, network_, services_, sites_, what.planted),
        checker_(world_, ledger_, workflows_),
        node_(world_, network_, agents_, checker_),
        clients_(world_, network_, node_, checker_, workflows_),
        operators_(world_, node_, services_, checker_, clients_, sites_) {
    agents_.connect(node_, checker_);
    checker_.connect(agents_, node_.reads());
  }

  void run() {
    auto& luck = world_.shapes;
    network_.set_rates(luck.below(60), luck.below(60), luck.below(120));
    const auto trouble_us = luck.between(6, 25) * second;
    for (const auto& one : workflows_) world_.remark("plan", one.ShortDebugString());
    node_.start();
    agents_.start_remote();
    clients_.begin(trouble_us);
    operators_.begin(trouble_us);
    jump_clocks(trouble_us);
    look_for_absent();
    while (world_.step(trouble_us)) {
    }
    world_.end_trouble();
    world_.remark("fate", "makes no more trouble");
    calm(world_.operators.chance(500));
  }

  void report(verdict& out) {
    world_.report(out);
    out.orders = operators_.orders();
  }

 private:
  void jump_clocks(std::int64_t until_us) {
    if (!world_.clocks.chance(400)) return;
    const auto jumps = 1 + world_.clocks.below(3);
    for (std::uint64_t i = 0; i < jumps; ++i) {
      const auto forward = world_.clocks.chance(600);
      const auto by_ms = forward ? world_.clocks.between(1, 40'000) : -world_.clocks.between(1, 2'000);
      world_.after(world_.clocks.between(0, until_us), [this, by_ms] {
        if (!world_.strikes(concern::clock_jumps, world_.clocks, 1'000)) return;
        world_.tell("fate", "", static_cast<std::uint64_t>(by_ms), [&] { return "sets the clock by " + std::to_string(by_ms) + " ms"; });
        world_.jump(by_ms);
      });
    }
  }

  void look_for_absent() {
    if (node_.up()) checker_.look_for_absent(node_.epoch(), *node_.reads().read());
    world_.after(second, [this] { look_for_absent(); });
  }

  /// The faults are over: whatever lives gets on, and what a person holds or parked is seen to.
  void calm(bool resolves) {
    const auto from = world_.now_us();
    int round = 0;
    while (world_.now_us() - from < end_within_us) {
      const auto until = world_.now_us() + 2 * second;
      while (world_.step(until)) {
      }
      const auto view = node_.reads().read();
      checker_.progress(*view);
      operators_.let_go();
      const auto waiting = waiting_for(*view);
      if (waiting == 0 && quiet(*view) && !absence_told_of(*view)) {
        if (!resolves || !any_parked(*view)) break;
        if (++round > most_rounds) world::broken("unresolvable", "operators cannot bring " + any_parked_id(*view) + " to an end");
        operators_.resolve(round);
      }
    }
    const auto view = node_.reads().read();
    if (absence_told_of(*view)) world::broken("stale_alert", "an agent is said to be absent, and all of them are there");
    if (!clients_.satisfied()) world::broken("stalled", "a submission is not answered");
    if (!quiet(*view)) world::broken("stalled", "the node does not come to rest, or status events are not delivered");
    checker_.at_end(*view);
  }

  bool quiet(const store::snapshot& view) const { return clients_.satisfied() && node_.settled() && view.count(store::table::outbox) == 0; }

  /// What a start finds of that is not taken back at once.
  static bool absence_told_of(const store::snapshot& view) {
    bool out = false;
    const auto read = store::for_each_service(view, [&](const v1::ServiceRecord& record) {
      out = out || record.absent_since_unix_ms() != 0 || record.absent_alert() != 0;
      return true;
    });
    if (!read.ok()) world::broken("store_check", "services cannot be read: " + read.failure().sentence);
    return out;
  }

  /// Tasks that are neither over nor in the hands of a person.
  std::size_t waiting_for(const store::snapshot& view) const {
    std::size_t out = 0;
    for (const auto& [number, seen] : checker_.seen()) {
      const auto record = store::load_task(view, number);
      if (!record.ok() || !*record || store::is_finished((*record)->state()) || (*record)->parked()) continue;
      ++out;
    }
    return out;
  }

  std::string any_parked_id(const store::snapshot& view) const {
    for (const auto& [number, seen] : checker_.seen()) {
      const auto record = store::load_task(view, number);
      if (record.ok() && *record && (*record)->parked()) return (*record)->id() + " (" + (*record)->parked_reason() + ")";
    }
    return {};
  }
  bool any_parked(const store::snapshot& view) const { return !any_parked_id(view).empty(); }

  world world_;
  network network_;
  ledger ledger_;
  services services_;
  std::vector<agent_site> sites_;
  std::vector<v1::WorkflowDefinition> workflows_;
  agents agents_;
  checker checker_;
  node node_;
  clients clients_;
  operators operators_;
};

}  // namespace

verdict run(const options& what) {
  verdict out;
  scene stage{what};
  try {
    stage.run();
  } catch (const rule_broken& found) {
    out.rule = found.rule;
    out.sentence = found.sentence;
    out.by_checker = found.by_checker;
  } catch (const process_killed&) {
    out.rule = "simulator";
    out.sentence = "a process died where nobody looked";
    out.by_checker = false;
  } catch (const std::exception& bug) {
    out.rule = "exception";
    out.sentence = bug.what();
    out.by_checker = false;
  }
  stage.report(out);
  return out;
}

}  // namespace fairlead::simulation
