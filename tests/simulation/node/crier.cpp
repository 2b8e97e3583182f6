#include "tests/simulation/node/crier.hpp"

#include <algorithm>
#include <memory>

namespace fairlead::simulation {

void node::crier::begin() {
  ++restarts_;
  shell_.emplace(cron::ports{&node_.time(), &node_.store_, this});
  reminders_ = {};
  arm(node_.time().now());
}

void node::crier::scan() {
  node_.in_process([&] {
    reminders_.fired();
    if (node_.world_.strikes(failpoint_id::cron_lost)) {
      shell_.reset();
      node_.world_.after(node_.world_.jobs.between(1, 600) * millisecond, node_.of_this_life([this] { begin(); }));
      return;
    }
    const auto next = shell_->scan();
    if (!next) throw rule_broken{"fatal", "the cron stops: " + next.failure().sentence, false};
    arm(*next);
  });
}

void node::crier::wake(moment due) {
  if (shell_ && due < node_.time().now() + cron::longest_wait) arm(due);
}

// Its timer runs on a clock that nobody sets.
void node::crier::arm(moment next) {
  if (!reminders_.wants(next)) return;
  const auto wait_ms = std::max<std::int64_t>(to_unix_ms(next) - to_unix_ms(node_.time().now()), 0);
  node_.world_.after(std::max<std::int64_t>(wait_ms * millisecond, 5), node_.of_this_life([this, restart = restarts_] {
    if (restart == restarts_ && shell_) scan();
  }));
}

void node::crier::due(due_jobs what) {
  if (!what.names.empty())
    node_.world_.tell("cron", node_.me_, what.names.size(), [&] {
      std::string text = "due:";
      for (const auto& one : what.names) text += " " + one;
      return text;
    });
  const auto names = !what.names.empty();
  node_.tell_scheduler("due", [&bugs = node_.checker_.of_bugs(), what = std::move(what)](scheduler& to) {
    if (!what.look) bugs.jobs_are_due(what.names);
    const std::unique_ptr<bug_book, decltype([](bug_book* book) { book->jobs_are_due({}); })> until_it_is_done{&bugs};
    to.launch_due(what);
  });
  if (names) node_.pass(failpoint_id::cron_asked);
}

}  // namespace fairlead::simulation
