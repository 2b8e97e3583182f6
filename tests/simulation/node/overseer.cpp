#include "tests/simulation/node/overseer.hpp"

namespace fairlead::simulation {

node::overseer::overseer(node& in, std::int64_t scan_period_ms) : node_(in), scan_period_ms_(scan_period_ms) { again(); }

void node::overseer::again() {
  shell_.emplace(supervisor::ports{&node_.time(), &node_.store_, this, &node_}, duration{scan_period_ms_});
  armed_until_.reset();
  ++restarts_;
}

void node::overseer::begin() {
  node_.world_.after(node_.world_.clocks.between(0, 200) * millisecond, node_.of_this_life([this] { scan(); }));
}

void node::overseer::scan() {
  node_.in_process([&] {
    if (node_.world_.strikes(failpoint_id::supervisor_lost)) again();
    const auto more = shell_->scan();
    if (!more) throw rule_broken{"fatal", "a scan failed: " + more.failure().sentence, false};
    if (!*more) {
      const auto round = shell_->go_round();
      if (!round.ok()) throw rule_broken{"fatal", "a round failed: " + round.failure().sentence, false};
    }
    const auto pause = *more ? supervisor::burst_pause.count() : scan_period_ms_;
    node_.world_.after(pause * millisecond, node_.of_this_life([this] { scan(); }));
  });
}

void node::overseer::hint(const v1::RecoveryHintBatch& what) {
  shell_->hint(what);
  arm();
}

void node::overseer::fire() {
  node_.in_process([&] {
    armed_until_.reset();
    shell_->fire();
    arm();
  });
}

void node::overseer::arm() {
  const auto next = shell_->next_hint();
  if (!next || (armed_until_ && *armed_until_ <= *next)) return;
  armed_until_ = next;
  node_.world_.after((to_unix_ms(*next) - to_unix_ms(node_.time().now())) * millisecond, node_.of_this_life([this, restart = restarts_] {
    if (restart == restarts_) fire();
  }));
}

void node::overseer::recover(v1::RecoverBatch what) {
  node_.world_.tell("supervisor", node_.me_, node_.world_.weigh(what), [&] {
    std::string text = "recover:";
    for (const auto& one : what.items())
      text += " task " + std::to_string(one.task_number()) + " step+1 " + std::to_string(one.step()) + " attempt " +
              std::to_string(one.attempt()) + (one.repair() ? " REPAIR" : "");
    return text;
  });
  for (const auto& one : what.items()) node_.checker_.recovery_asked(one);
  node_.tell_scheduler("recover", [what = std::move(what)](scheduler& to) { to.recover(what); });
  node_.pass(failpoint_id::recover_asked);
}

void node::overseer::stalest(stalest_task what) {
  node_.tell_scheduler("stalest", [what = std::move(what)](scheduler& to) { to.stalest(what); });
}

void node::overseer::waiting(waiting_tasks what) {
  node_.tell_scheduler("waiting", [what = std::move(what)](scheduler& to) { to.look_at_waits(what); });
}

}  // namespace fairlead::simulation
