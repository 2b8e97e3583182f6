#include "tests/simulation/checker/own/signal_book.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::simulation {

namespace {

constexpr std::ptrdiff_t most_kept = 16;  // of a name

bool waits_for(const shape& plan, const std::string& name) {
  for (std::uint32_t i = 0; i < plan.size(); ++i)
    if (plan.step(i).kind() == v1::STEP_KIND_SIGNAL && plan.step(i).signal() == name) return true;
  return false;
}

/// Some step of the task may still take a signal of the name.
bool takes(const signal_book::task& of, const std::string& name) {
  const auto& record = *of.record;
  const auto live = record.state() == v1::TASK_STATE_PENDING || record.state() == v1::TASK_STATE_RUNNING;
  if (!live || record.failing()) return false;
  for (std::uint32_t i = 0; i < of.plan->size(); ++i) {
    const auto& step = record.steps(static_cast<int>(i));
    const auto open = step.state() == v1::STEP_STATE_PENDING || (step.state() == v1::STEP_STATE_FAILED && !step.passed_over());
    if (open && of.plan->step(i).kind() == v1::STEP_KIND_SIGNAL && of.plan->step(i).signal() == name) return true;
  }
  return false;
}

std::string text_of(const std::string& name, const std::string& task) { return "signal " + name + " of " + task; }

}  // namespace

void signal_book::hears(std::uint64_t ticket, const v1::OperateRequest& what, const task& of) {
  const auto& action = what.action();
  auto& all = sent_[what.ids(0)];
  const auto same = [&](const sent& one) { return !action.token().empty() && one.token == action.token(); };
  auto known = std::find_if(all.begin(), all.end(), same);
  const auto first = known == all.end() || known->refused;
  if (known == all.end()) {
    sent one;
    one.name = action.signal();
    one.token = action.token();
    one.data = action.has_json() ? action.json() : "null";
    known = all.insert(all.end(), std::move(one));
  }
  const auto now = ++order_;
  if (first) known->heard = now;
  known->refused = false;
  known->asked.insert(ticket);
  const auto over = of.record != nullptr && of.record->state() != v1::TASK_STATE_PENDING && of.record->state() != v1::TASK_STATE_RUNNING;
  const auto awaited = of.plan != nullptr && waits_for(*of.plan, action.signal());
  heard_[ticket] = {what.ids(0), static_cast<std::size_t>(known - all.begin()), over, first, of.record != nullptr, awaited, now};
}

void signal_book::answers(std::uint64_t ticket, const v1::OperateResult& what, const task& of) {
  const auto found = heard_.extract(ticket);
  if (found.empty()) return;
  const auto& heard = found.mapped();
  auto& one = sent_[heard.task][heard.which];
  one.asked.erase(ticket);
  if (what.error().code() == v1::ERROR_CODE_OK) {
    if (what.kept()) world_.count("signals kept");
    return confirm(heard, what.repeated(), of);
  }
  judge_refusal(heard, one, what.error(), of);
  const auto unsure = what.error().code() == v1::ERROR_CODE_UNAVAILABLE || what.error().code() == v1::ERROR_CODE_INTERNAL;
  if (!unsure && one.asked.empty() && one.confirmed == 0 && !one.taken) one.refused = true;
}

void signal_book::confirm(const hearing& heard, bool repeated, const task& of) {
  auto& all = sent_[heard.task];
  auto& one = all[heard.which];
  world_.judges("signal_answer");
  if (one.confirmed == 0) one.confirmed = ++order_;
  // Which of two that are alike a step has taken nobody can see: one that was confirmed rather than one that nobody has answered.
  const auto alike = [&](const sent& other) {
    return other.taken && other.confirmed == 0 && other.name == one.name && other.data == one.data;
  };
  if (const auto other = std::find_if(all.begin(), all.end(), alike); !one.taken && other != all.end()) std::swap(one.taken, other->taken);
  if (heard.over && heard.first)
    world::broken("signal_answer", text_of(one.name, heard.task) + " was confirmed, and the task had come to an end before");
  // Since it came the task may go by another version, which has no such step. One that was accepted before stays confirmed under its token.
  if (of.plan != nullptr && !waits_for(*of.plan, one.name) && !heard.awaited && !repeated)
    world::broken("signal_answer", text_of(one.name, heard.task) + " was confirmed, and no step waits for it");
  const auto kept = std::count_if(all.begin(), all.end(),
                                  [&](const sent& other) { return other.name == one.name && other.confirmed != 0 && !other.taken; });
  if (kept > most_kept)
    world::broken("signal_answer",
                  text_of(one.name, heard.task) + " was confirmed as number " + std::to_string(kept) + " that no step has taken");
}

void signal_book::judge_refusal(const hearing& heard, const sent& what, const v1::Error& why, const task& of) const {
  if (of.record == nullptr || of.plan == nullptr) return;
  const auto text = text_of(what.name, heard.task) + " was refused (" + why.sentence() + "), and ";
  switch (why.code()) {
    case v1::ERROR_CODE_NOT_FOUND:
      world_.count("signals that nothing waits for");
      if (why.sentence().starts_with("there is no task") && !heard.there) return;
      if (waits_for(*of.plan, what.name) && takes(of, what.name)) world::broken("signal_answer", text + "a step waits for it");
      return;
    case v1::ERROR_CODE_WRONG_STATE:
      world_.count("signals that come too late");
      if (takes(of, what.name)) world::broken("signal_answer", text + "a step takes it still");
      return;
    case v1::ERROR_CODE_OVERLOADED: {
      world_.count("signals that are too many");
      const auto& all = sent_.at(heard.task);
      // A reader may see before the refusal leaves that a step has taken one of them, and the step may have done so after it.
      const auto was_there = [&](const sent& one) { return one.taken == 0 || one.taken > heard.at; };
      const auto may_be_kept = std::count_if(all.begin(), all.end(), [&](const sent& one) {
        return &one != &what && one.name == what.name && !one.refused && was_there(one);
      });
      if (may_be_kept < most_kept) world::broken("signal_answer", text + "at most " + std::to_string(may_be_kept) + " can be kept");
      return;
    }
    case v1::ERROR_CODE_UNAVAILABLE:
    case v1::ERROR_CODE_INTERNAL: return;
    default: world::broken("signal_answer", text + "it is lawful");
  }
}

bool signal_book::is_kept(const std::string& task, const std::string& name) const {
  world_.judges("signal_lost");
  const auto known = sent_.find(task);
  return known != sent_.end() && std::any_of(known->second.begin(), known->second.end(),
                                             [&](const sent& one) { return one.name == name && one.confirmed != 0 && !one.taken; });
}

const signal_book::sent* signal_book::overtaken_by(const std::string& task, const sent& what) const {
  for (const auto& other : sent_.at(task))
    if (other.name == what.name && !other.taken && other.confirmed != 0 && other.confirmed < what.heard) return &other;
  return nullptr;
}

/// One with these data: best one that nothing before it contradicts, and that was confirmed.
signal_book::sent* signal_book::find(const std::string& task, const taking& what) {
  sent* best = nullptr;
  const auto rank = [&](const sent& one) { return (overtaken_by(task, one) == nullptr ? 2 : 0) + (one.confirmed != 0 ? 1 : 0); };
  for (auto& one : sent_[task]) {
    if (one.name != what.name || one.data != what.data || one.taken || one.refused) continue;
    if (best == nullptr || rank(one) > rank(*best)) best = &one;
  }
  return best;
}

void signal_book::taken(const std::string& task, const std::vector<taking>& steps) {
  std::vector<std::pair<const taking*, const sent*>> all;
  for (const auto& step : steps) {
    world_.judges("signal");
    world_.count("signals taken");
    auto* one = find(task, step);
    if (one == nullptr)
      world::broken("signal", "step " + step.step + " of " + task + " has taken a signal " + step.name + " with " +
                                  step.data.substr(0, 200) + ", and nobody has sent that, or another step has taken it");
    one->taken = ++order_;
    all.emplace_back(&step, one);
  }
  // Between two looks several steps may have taken one each, in any order.
  for (const auto& [step, one] : all)
    if (const auto* before = overtaken_by(task, *one); before != nullptr)
      world::broken("signal", "step " + step->step + " of " + task + " has taken the signal " + step->name + " with " +
                                  one->data.substr(0, 200) + ", and the one with " + before->data.substr(0, 200) + " had come before");
}

}  // namespace fairlead::simulation
