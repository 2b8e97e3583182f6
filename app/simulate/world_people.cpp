// Clients, operators and those who send signals: in time, early, late, twice or never.

#include <utility>

#include "actors/core/task/record.hpp"
#include "app/simulate/world.hpp"
#include "messages/time.hpp"
#include "store/load.hpp"

namespace fairlead::app::simulate {

namespace {

constexpr unsigned operators_at_work = 1'500;  // in 10,000 runs of middling weather
constexpr int most_help = 3;                   // for a task that is parked

v1::OperatorAction action_of(v1::OperatorVerb verb) {
  v1::OperatorAction out;
  out.set_verb(verb);
  out.set_who("operator");
  return out;
}

bool waits_for_signal(const v1::StepRecord& step) {
  const auto open = step.state() == v1::STEP_STATE_RUNNING || step.state() == v1::STEP_STATE_PENDING;
  return step.kind() == v1::STEP_KIND_SIGNAL && open && step.not_before_unix_ms() != 0;
}

/// The first step that waits for somebody to say what became of it; -1: there is none.
int in_doubt(const v1::TaskRecord& record) {
  for (int i = 0; i < record.steps_size(); ++i)
    if (record.steps(i).doubtful() && record.steps(i).given_up()) return i;
  return -1;
}

}  // namespace

void world::submit() {
  v1::SubmitRequest request;
  auto& item = *request.add_items();
  const auto& workflow = on_.workflows.front().name();
  item.set_id(simulated_id);
  item.set_workflow(workflow);
  item.set_input(on_.values.at(workflow).input(weather_.at(mixed(7, "input"))));
  submit_ticket_ = next_ticket_++;
  tell("submitted with " + item.input());
  tell_scheduler([&](scheduler& to) { to.answer(std::move(request), submit_ticket_, 0); });
}

void world::plan_people() {
  for (const auto& workflow : on_.workflows)
    for (const auto& step : workflow.steps()) {
      if (step.kind() != v1::STEP_KIND_SIGNAL) continue;
      has_signals_ = true;
      auto roll = weather_.at(mixed(8, step.signal()));
      if (&workflow != &on_.workflows.front() || !roll.chance(10)) continue;
      auto early = action_of(v1::OPERATOR_VERB_SIGNAL);
      early.set_signal(step.signal());
      early.set_json(on_.values.at(workflow.name()).output(step, roll));
      after(roll.spread(1, 10'000), [this, early] {
        tell("signal " + early.signal() + " comes early");
        send_again(early, simulated_id, 100);
      });
    }

  const auto site = mixed(5, "operator");
  auto roll = weather_.at(site);
  const auto at_ms = roll.spread(1, roll.chance(30) ? 86'400'000 : 60'000);
  const auto which = roll.below(100);
  auto action = action_of(which < 45   ? v1::OPERATOR_VERB_CANCEL
                          : which < 60 ? v1::OPERATOR_VERB_UNDO
                          : which < 75 ? v1::OPERATOR_VERB_PAUSE
                                       : v1::OPERATOR_VERB_TERMINATE);
  action.set_at_once(which >= 90);
  const auto words = which < 45   ? "cancels the task"
                     : which < 60 ? "undoes the task"
                     : which < 75 ? "pauses the task for a while"
                     : which < 90 ? "terminates the task"
                                  : "terminates the task at once";
  if (!weather_.strikes(site, operators_at_work, at_ms, [&] { return std::string{"an operator "} + words; })) return;
  after(at_ms, [this, action, words] {
    tell(std::string{"an operator "} + words);
    send_again(action, simulated_id, 100);
  });
  if (action.verb() != v1::OPERATOR_VERB_PAUSE) return;
  after(at_ms + roll.spread(1'000, 3'600'000), [this] {
    tell("an operator resumes the task");
    send_again(action_of(v1::OPERATOR_VERB_RESUME), simulated_id, 100);
  });
}

void world::operate(const v1::OperatorAction& what, const std::string& id) {
  v1::OperateRequest request;
  *request.mutable_action() = what;
  request.add_ids(id);
  tell_scheduler([&](scheduler& to) { to.answer(request, next_ticket_++); });
}

/// Until the node is up.
void world::send_again(const v1::OperatorAction& what, const std::string& id, int times) {
  if (shell_) return operate(what, id);
  if (times > 0) after(60'000, [this, what, id, times] { send_again(what, id, times - 1); });
}

/// For each step that has begun to wait.
void world::give_signals() {
  const auto view = store_.read();
  for (const auto number : std::exchange(changed_, {})) {
    const auto loaded = store::load_task(*view, number);
    if (!loaded.ok() || !*loaded || core::has_ended(**loaded)) continue;
    const auto& record = **loaded;
    const auto* definition = on_.definition_of(record.workflow());
    for (const auto& step : record.steps()) {
      if (!waits_for_signal(step) || definition == nullptr) continue;
      const auto name = record.id() + "/" + step.path() + "/" + std::to_string(step.generation());
      if (!signals_planned_.insert(name).second) continue;
      const auto site = mixed(9, name);
      auto roll = weather_.at(site);
      const auto& of = definition->steps(static_cast<int>(step.definition()));
      const auto befalls = [&](const char* kind, unsigned percent, const char* words) {
        return weather_.befalls(mixed(site, kind), percent, now_ms_, [&] { return "signal " + of.signal() + " " + words; });
      };
      if (befalls("never", 25, "never comes")) continue;
      const auto within_ms = std::max<std::int64_t>(of.timeout_ms() > 0 ? of.timeout_ms() : 86'400'000, 2);
      auto signal = action_of(v1::OPERATOR_VERB_SIGNAL);
      signal.set_signal(of.signal());
      signal.set_json(on_.values.at(record.workflow()).output(of, roll));
      const auto at_ms = befalls("late", 15, "comes too late") ? within_ms + within_ms / 10 : roll.spread(1, within_ms);
      for (int i = roll.chance(15) ? 2 : 1; i > 0; --i)
        after(at_ms + i, [this, signal, id = record.id()] {
          tell("signal " + signal.signal() + " comes");
          send_again(signal, id, 100);
        });
    }
  }
}

/// Nothing happens any more. An operator who sees a parked task may do something about it. False: nobody does.
bool world::help() {
  for (const auto& record : tasks()) {
    if (core::has_ended(record)) continue;
    if (record.paused() && helped_ < most_help) {
      ++helped_;
      tell("an operator resumes the paused task");
      after(60'000, [this, id = record.id()] { operate(action_of(v1::OPERATOR_VERB_RESUME), id); });
      return true;
    }
    if (!record.parked()) continue;
    for (int i = 0; i < record.steps_size(); ++i) {
      const auto& step = record.steps(i);
      const auto& code = step.fault().code();
      const auto of_undo = step.direction() == v1::DIRECTION_UNDO;
      if (step.given_up() && (step.doubtful() || step.undo_doubtful()) && (code == "key_expired" || code == "undo_input"))
        stuck_.insert({record.number(), static_cast<std::uint32_t>(i), code, of_undo && code == "key_expired"});
    }
    if (record.parked_for_child() || helped_ >= most_help) continue;
    auto roll = weather_.at(mixed(10, std::to_string(helped_++)));
    if (roll.chance(40)) continue;
    auto action = action_of(roll.chance(60)   ? v1::OPERATOR_VERB_RETRY
                            : roll.chance(60) ? v1::OPERATOR_VERB_CANCEL
                                              : v1::OPERATOR_VERB_TERMINATE);
    if (const auto index = in_doubt(record); index >= 0) {
      // Operators look into the service before they say what became of a step.
      const auto output = services_.inspect(record.number(), static_cast<std::uint32_t>(index));
      action = action_of(output ? v1::OPERATOR_VERB_SETTLE_COMPLETED : v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED);
      action.set_step(record.steps(index).path());
      if (output) action.set_json(*output);
    }
    tell("an operator helps the parked task");
    after(60'000, [this, action, id = record.id()] { operate(action, id); });
    return true;
  }
  return false;
}

}  // namespace fairlead::app::simulate
