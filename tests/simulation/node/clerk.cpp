#include "tests/simulation/node/clerk.hpp"

namespace fairlead::simulation {

node::clerk::clerk(node& in, const retention_plan& plan) : node_(in), plan_(plan) { again(); }

void node::clerk::again() {
  shell_ = std::make_unique<archiver>(node_.time(), node_.store_, node_.archives_, plan_.policy, node_.world_.settings.planted);
}

void node::clerk::begin() {
  node_.world_.after(node_.world_.archives.between(20, 400) * millisecond, node_.of_this_lead([this] { pass(); }));
}

void node::clerk::pass() {
  // Also when the core crashes in the middle: the archiver lives on, or is started again with it.
  struct next_pass {
    clerk& of;
    std::int64_t pause_ms = 400;
    ~next_pass() {
      of.node_.world_.after(pause_ms * millisecond, of.node_.of_this_lead([&of = of] { of.pass(); }));
    }
  };
  node_.in_process([&] {
    next_pass next{*this};
    auto moved = shell_->pass();
    if (!moved) throw rule_broken{"fatal", "the archiver stops: " + moved.failure().sentence, false};
    const auto waiting = moved->waiting;
    const auto any = moved->moved.has_value();
    if (any) {
      node_.world_.tell("archiver", node_.me_, moved->moved->numbers.size(), [&] {
        std::string text = "has chosen tasks";
        for (const auto number : moved->moved->numbers) text += " " + std::to_string(number);
        return text + ", read at " + std::to_string(moved->moved->read_at_sequence);
      });
      node_.world_.count("tasks chosen for archives", moved->moved->numbers.size());
      node_.pass(failpoint_id::archive_chosen);
      node_.tell_shard("archived", [what = std::move(*moved->moved)](scheduler& to) { to.archive(what); });
      if (node_.world_.strikes(failpoint_id::archiver_lost)) again();
    }
    auto erased = shell_->erase_deleted();
    if (!erased || erased->problem) throw rule_broken{"fatal", "deleted tasks stay in archives", false};
    if (erased->done) {
      node_.world_.count("passes that erase deleted tasks");
      node_.pass(failpoint_id::archive_chosen);
      node_.tell_shard("erased", [what = std::move(*erased->done)](scheduler& to) { to.archive(what); });
    }
    if (shell_->sweep_is_due() || (!any && !waiting)) {
      auto dropped = shell_->drop_old();
      if (!dropped) throw rule_broken{"fatal", "archives are not dropped: " + dropped.failure().sentence, false};
      if (dropped->told) node_.tell_shard("dropped", [what = std::move(*dropped->told)](scheduler& to) { to.archive(what); });
      auto alerts = shell_->old_alerts();
      if (!alerts) throw rule_broken{"fatal", "alerts cannot be read: " + alerts.failure().sentence, false};
      if (*alerts) {
        node_.world_.count("passes that erase old alerts");
        node_.tell_shard("old alerts", [rows = std::move(**alerts)](scheduler& to) { to.delivered(rows); });
      }
    }
    next.pause_ms = any || waiting ? 20 : node_.world_.archives.between(100, 1'500);
  });
}

}  // namespace fairlead::simulation
