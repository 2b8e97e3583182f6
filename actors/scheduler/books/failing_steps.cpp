#include "actors/scheduler/books/failing_steps.hpp"

#include <algorithm>

#include "store/rows/alert_rows.hpp"

namespace fairlead {

status failing_steps::open(const store::snapshot& committed) {
  return store::for_each_unresolved(committed, [this](const v1::AlertRecord& one) {
    if (one.kind() == v1::ALERT_KIND_STEP_FAILING) numbers_[{one.workflow(), one.step(), one.agent()}] = one.number();
    if (one.kind() == v1::ALERT_KIND_FINALLY_FAILED) ends_[{one.workflow(), one.step(), one.agent()}] = one.number();
    return true;
  });
}

status failing_steps::changed(const v1::TaskRecord& record, const core::failing_change& what, const alert_book::page& to,
                              const store::snapshot& committed) {
  const auto& path = record.steps(static_cast<int>(what.step)).path();
  const key which{record.workflow(), path, what.agent};
  const auto known = numbers_.find(which);
  if (known == numbers_.end()) {
    if (!what.failing) return nothing{};
    v1::AlertRecord draft;
    draft.set_kind(v1::ALERT_KIND_STEP_FAILING);
    draft.set_workflow(record.workflow());
    draft.set_step(path);
    draft.set_agent(what.agent);
    draft.set_tasks(1);
    draft.set_sentence("step " + path + " of workflow " + record.workflow() + " has been failing at agent " + what.agent + " since " +
                       what.since + ": " + what.fault + "; first in task " + record.id());
    draft.set_remedy("check the service behind agent " + what.agent +
                     "; the step is retried, and its success resolves this alert; fairlead task list --state running --workflow " +
                     record.workflow() + " lists the tasks");
    numbers_[which] = alerts_.raise(std::move(draft), to);
    return nothing{};
  }
  const auto number = known->second;
  bool over = false;
  auto counted = alerts_.change(number, to, committed, [&](v1::AlertRecord& alert) {
    alert.set_tasks(what.failing ? alert.tasks() + 1 : alert.tasks() - std::min<std::uint64_t>(alert.tasks(), 1));
    over = alert.tasks() == 0;
  });
  if (!counted.ok() || !over) return counted;
  numbers_.erase(known);
  return alerts_.resolve(number, to, committed);
}

status failing_steps::ends_without(v1::AlertRecord draft, const alert_book::page& to, const store::snapshot& committed) {
  const key which{draft.workflow(), draft.step(), draft.agent()};
  const auto known = ends_.find(which);
  if (known == ends_.end()) {
    draft.set_tasks(1);
    ends_[which] = alerts_.raise(std::move(draft), to);
    return nothing{};
  }
  return alerts_.change(known->second, to, committed, [&](v1::AlertRecord& alert) {
    alert.set_tasks(alert.tasks() + 1);
    alert.set_sentence(std::to_string(alert.tasks()) + " tasks of workflow " + alert.workflow() + " end without their step " +
                       alert.step() + ": the first was " + alert.task_id() + " at " + format_utc(alert.raised_at_unix_ms()) +
                       ", the last is " + draft.task_id() + " at " + format_utc(to_unix_ms(to.now)) + "; " + draft.sentence());
    alert.set_remedy("fairlead task show " + draft.task_id() + " shows what the step was to do; fairlead task list --workflow " +
                     alert.workflow() + " lists the tasks; do it by hand for each of them, then acknowledge this alert");
  });
}

void failing_steps::acknowledged(const v1::AlertRecord& alert) {
  if (alert.kind() == v1::ALERT_KIND_FINALLY_FAILED) ends_.erase({alert.workflow(), alert.step(), alert.agent()});
}

}  // namespace fairlead
