#include "tests/simulation/people/signalers.hpp"

#include <algorithm>

namespace fairlead::simulation {

namespace {

constexpr int most_tries = 8;
constexpr auto unknown_name = "g9";

bool waits_for_signals(const std::vector<v1::WorkflowDefinition>& all) {
  return std::any_of(all.begin(), all.end(), [](const auto& one) {
    return std::any_of(one.steps().begin(), one.steps().end(), [](const auto& step) { return step.kind() == v1::STEP_KIND_SIGNAL; });
  });
}

}  // namespace

signalers::signalers(world& in, home& shard, checker& judge, const clients& submitters,
                     const std::vector<v1::WorkflowDefinition>& workflows, const std::vector<v1::WorkflowDefinition>& versions)
    : world_(in), home_(shard), checker_(judge), clients_(submitters), workflows_(workflows), versions_(versions) {}

void signalers::begin(std::int64_t until_us) {
  if (!world_.settings.has(concern::signals) || (!waits_for_signals(workflows_) && !waits_for_signals(versions_))) return;
  auto& luck = world_.signals;
  const auto last_us = until_us + 15 * second;
  for (const auto& id : clients_.ids()) {
    const auto floods = luck.chance(60);
    const auto count = floods ? luck.between(17, 22) : luck.chance(200) ? 0 : luck.between(1, 5);
    const auto flood_us = luck.between(0, until_us);
    for (std::int64_t i = 0; i < count; ++i)
      world_.after(floods ? flood_us + i * 20 * millisecond : luck.between(0, last_us), [this, id] { write_to(id); });
  }
  // To whatever is there, launches of jobs among them.
  const auto others = luck.below(8);
  for (std::uint64_t i = 0; i < others; ++i) world_.after(luck.between(0, last_us), [this] { write_to_any(); });
}

void signalers::write_to_any() {
  const auto& seen = checker_.seen();
  if (seen.empty()) return;
  auto at = seen.begin();
  std::advance(at, static_cast<std::ptrdiff_t>(world_.signals.below(seen.size())));
  write_to(at->second.id());
}

/// One that the task waits for, as anyone can see, or one that it may wait for.
std::string signalers::name_for(const std::string& task) const {
  auto& luck = world_.signals;
  const auto knows = !luck.chance(80);
  const auto guess = luck.chance(650) ? "g0" : "g1";
  const auto which = luck.next();
  if (!knows) return unknown_name;
  for (const auto& [number, record] : checker_.seen()) {
    if (record.id() != task) continue;
    std::vector<std::string> names;
    const auto* plan = checker_.shape_of(record);
    for (std::uint32_t i = 0; plan != nullptr && i < plan->size(); ++i)
      if (plan->step(i).kind() == v1::STEP_KIND_SIGNAL) names.push_back(plan->step(i).signal());
    return names.empty() ? guess : names[static_cast<std::size_t>(which % names.size())];
  }
  return guess;
}

/// No two are alike, so that each can be told from the others.
std::string signalers::data_for(const std::string& task, const std::string& name) {
  auto& luck = world_.signals;
  const auto how = luck.below(100);
  const auto number = std::to_string(5'000 + letters_.size());
  if (how < 8 && without_data_.emplace(task, name).second) return {};
  if (how < 14) return number;
  if (how < 20) return R"({"w":)" + number + "}";
  if (how < 25) return R"(["sent",)" + number + "]";
  // More than a row takes.
  if (how < 33 && world_.settings.has(concern::large_payloads))
    return R"({"v":)" + number + R"(,"text":")" + std::string(4'200, 's') + R"("})";
  return R"({"v":)" + number + "}";
}

void signalers::write_to(const std::string& task) {
  auto& luck = world_.signals;
  letter one;
  one.task = task;
  one.what.set_verb(v1::OPERATOR_VERB_SIGNAL);
  one.what.set_signal(name_for(task));
  one.what.set_who("sender");
  const auto data = data_for(task, one.what.signal());
  if (!data.empty()) one.what.set_json(data);
  const auto has_token = luck.chance(600);
  if (has_token) one.what.set_token("letter" + std::to_string(letters_.size()));
  one.tries_left = has_token ? most_tries : 1;
  const auto twice = luck.chance(250);
  const auto again_us = luck.between(5, 2'500) * millisecond;
  const auto which = letters_.size();
  letters_.push_back(std::move(one));
  send(which);
  if (!twice) return;
  world_.after(again_us, [this, which] {
    letters_[which].answered = false;
    letters_[which].tries_left = std::max(letters_[which].tries_left, 1);
    send(which);
  });
}

/// It has had its time at least once, and nobody has sent anything that it could take next.
bool signalers::waits_in_vain(const v1::TaskRecord& record, std::uint32_t index, const shape& plan) const {
  const auto& step = record.steps(static_cast<int>(index));
  const auto open = step.state() == v1::STEP_STATE_PENDING || (step.state() == v1::STEP_STATE_FAILED && !step.passed_over());
  if (plan.step(index).kind() != v1::STEP_KIND_SIGNAL || !open || step.failure_count() == 0) return false;
  return std::none_of(record.signals().begin(), record.signals().end(),
                      [&](const v1::Signal& one) { return one.name() == plan.step(index).signal(); });
}

void signalers::let_go() {
  for (const auto& [number, record] : checker_.seen()) {
    const auto* plan = record.state() == v1::TASK_STATE_RUNNING && !record.parked() ? checker_.shape_of(record) : nullptr;
    for (std::uint32_t i = 0; plan != nullptr && i < plan->size(); ++i) {
      if (!waits_in_vain(record, i, *plan)) continue;
      letter one;
      one.task = record.id();
      one.what.set_verb(v1::OPERATOR_VERB_SIGNAL);
      one.what.set_signal(plan->step(i).signal());
      one.what.set_json(R"({"v":)" + std::to_string(5'000 + letters_.size()) + "}");
      one.what.set_who("sender");
      one.tries_left = 1;
      letters_.push_back(std::move(one));
      send(letters_.size() - 1);
      break;
    }
  }
}

void signalers::send(std::size_t which) {
  auto& one = letters_[which];
  if (one.answered || one.tries_left-- <= 0) return;
  v1::OperateRequest request;
  *request.mutable_action() = one.what;
  request.add_ids(one.task);
  world_.tell("sender", "scheduler", world_.weigh(request), [&] {
    return "signals " + one.what.signal() + " to " + one.task + " " + one.what.json().substr(0, 40) + " " + one.what.token();
  });
  world_.count("signals sent");
  home_.request<v1::OperateReply>(
      "sender",
      [this, request](scheduler& to, std::uint64_t ticket) {
        checker_.order_heard(ticket, request);
        to.answer(request, ticket);
      },
      [this, which](const v1::OperateReply& reply) {
        if (reply.results().empty()) return;
        const auto& result = reply.results(0);
        // The task may come, and may take what it has too much of.
        const auto later = result.error().code() == v1::ERROR_CODE_UNAVAILABLE || result.error().code() == v1::ERROR_CODE_OVERLOADED ||
                           result.error().sentence().starts_with("there is no task");
        if (!later) letters_[which].answered = true;
        if (result.error().code() == v1::ERROR_CODE_INTERNAL && !checker_.of_bugs().about(letters_[which].task))
          throw rule_broken{"internal_error", "a signal for " + letters_[which].task + " met a bug: " + result.error().sentence(), false};
      });
  if (one.what.token().empty()) return;
  world_.after(world_.signals.between(500, 3'000) * millisecond, [this, which] { send(which); });
}

}  // namespace fairlead::simulation
