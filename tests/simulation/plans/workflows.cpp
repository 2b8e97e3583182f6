#include "tests/simulation/plans/workflows.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "actors/core/workflow/check.hpp"
#include "messages/task_states.hpp"
#include "messages/time.hpp"
#include "tests/simulation/plans/child_plans.hpp"
#include "tests/simulation/plans/ends.hpp"
#include "tests/simulation/plans/item_plans.hpp"

namespace fairlead::simulation {

namespace {

constexpr int max_steps = 8;
constexpr int most_steps_of_a_child = 3;

void set_backoff(v1::Backoff& out, random_stream& luck) {
  out.set_first_ms(luck.between(20, 500));
  out.set_factor(static_cast<double>(luck.between(2, 6)) / 2);
  out.set_max_ms(luck.between(500, 4'000));
}

class generator {
 public:
  generator(world& in, random_stream& luck, const std::vector<agent_site>& sites)
      : luck_(luck), settings_(in.settings), sites_(sites), children_(in.settings), items_(in.settings, !children_.names().empty()) {}

  v1::WorkflowDefinition make(const std::string& name, int most_steps = max_steps) {
    definition_.Clear();
    definition_.set_name(name);
    const auto how = luck_.below(100);
    definition_.set_on_failure(how < 60 ? v1::ON_FAILURE_UNDO : how < 85 ? v1::ON_FAILURE_PARK : v1::ON_FAILURE_COOL_OFF);
    if (luck_.chance(300)) definition_.set_timeout_ms(luck_.between(2'000, 30'000));
    workflow_ = random_stream::mix(settings_.seed) + 1'000 * ++made_;
    auto size = std::min(most_steps, 1 + static_cast<int>(luck_.below(luck_.chance(500) ? 4 : 8)));
    const auto linear = luck_.chance(250);
    for (int i = 0; i < size; ++i) add_step(i, linear);
    // Fewer steps are a prefix of the more, so that a shrunk workflow is part of the one that failed.
    while (definition_.steps_size() > std::max(1, settings_.most_steps)) definition_.mutable_steps()->RemoveLast();
    make_pivot();
    let_fail();
    add_conditions();
    let_go_on();
    leave_to_the_shard();
    give_output();
    repeat_some();
    undo_some_failed();
    answer_later();
    rule_faults();
    ask_for_fitting_input();
    leave_to_children();
    items_.add_to(definition_, {workflow_, 1'900});
    let_end_as_it_can();
    if (settings_.has(concern::joins)) add_joins(definition_, random_stream{workflow_, 1'500});
    make_lawful();
    if (random_stream luck{workflow_, 1'600}; luck.chance(200) && settings_.has(concern::ends))
      add_ends(definition_, luck, sites_, settings_);
    return definition_;
  }

 private:
  void add_step(int index, bool linear) {
    auto& step = *definition_.add_steps();
    step.set_name("s" + std::to_string(index));
    if (linear && index > 0) step.add_needs("s" + std::to_string(index - 1));
    for (int i = 0; !linear && i < index; ++i)
      if (luck_.below(static_cast<std::uint64_t>(index) + 1) < 1 + luck_.below(2)) step.add_needs("s" + std::to_string(i));
    const auto& site = luck_.pick(sites_);
    step.set_agent(site.agent);
    step.set_call("do");
    step.set_timeout_ms(luck_.between(300, 6'000));
    step.set_attempts(static_cast<std::uint32_t>(luck_.between(1, 5)));
    set_backoff(*step.mutable_backoff(), luck_);
    step.set_in_doubt(luck_.chance(250) ? v1::IN_DOUBT_PARK : luck_.chance(500) ? v1::IN_DOUBT_RETRY : v1::IN_DOUBT_UNSPECIFIED);
    if (luck_.chance(250)) {
      const auto how = luck_.below(3);
      step.set_on_failure(how == 0 ? v1::ON_FAILURE_UNDO : how == 1 ? v1::ON_FAILURE_PARK : v1::ON_FAILURE_COOL_OFF);
    }
    step.set_with_json(input_of(index, step));
    set_needs_of_agent(index, step);
    const auto undo = luck_.below(100);
    if (undo < 68) {
      auto& back = *step.mutable_undo();
      back.set_call("back");
      back.set_timeout_ms(luck_.between(300, 6'000));
      back.set_attempts(static_cast<std::uint32_t>(luck_.between(1, 5)));
      set_backoff(*back.mutable_backoff(), luck_);
      back.set_with_json(undo_input_of(index, step, site.lookups));
    } else if (undo < 90) {
      step.mutable_undo()->set_none(true);
    }
  }

  /// What a step wants of who carries it out, from a stream of its own: these were added to what had been there.
  void set_needs_of_agent(int index, v1::StepDefinition& step) {
    random_stream luck{workflow_, static_cast<std::uint64_t>(100 + index)};
    const auto beats = luck.chance(350);
    const auto longer = luck.chance(600);
    const auto timeout_ms = luck.between(2'000, 12'000);
    const auto share = luck.between(15, 80);
    if (beats && settings_.has(concern::heartbeats)) {
      if (longer) step.set_timeout_ms(timeout_ms);
      step.set_heartbeat_ms(std::max<std::int64_t>(100, step.timeout_ms() * share / 100));
    }
    const auto wants_zone = luck.chance(400);
    std::vector<std::string> zones;
    for (const auto& site : sites_)
      if (site.agent == step.agent() && !site.zone.empty()) zones.push_back(site.zone);
    const auto which = luck.next();
    if (!wants_zone || zones.empty()) return;
    auto& label = *step.add_labels();
    label.set_key("zone");
    label.set_value(zones[static_cast<std::size_t>(which % zones.size())]);
  }

  /// What it is asked: plain paths and sums, over what was submitted and what those before it gave.
  std::string input_of(int index, const v1::StepDefinition& step) {
    random_stream luck{workflow_, static_cast<std::uint64_t>(300 + index)};
    const auto how = luck.below(100);
    const auto sums = settings_.has(concern::expressions);
    const auto any_need = [&] { return step.needs(static_cast<int>(luck.below(static_cast<std::uint64_t>(step.needs_size())))); };
    if (how < 15) return "";
    if (how >= 50 && step.needs_size() > 0) {
      const auto one = any_need();
      const auto other = any_need();
      switch (luck.below(sums ? 6 : 4)) {
        case 0: return R"({"v":"${ .steps.)" + one + R"(.v }","n":"${ .input.n }"})";
        case 1: return R"({"v":"${ .steps.)" + one + R"(.v? }","how":"${ .status.)" + other + R"( }"})";
        case 2: return R"({"all":"${ .steps.)" + one + R"( }","task":["${ .task.priority }","${ .task.labels }"]})";
        case 3:
          return R"({"first":"${ .steps.)" + one + R"(.v }","rest":["${ .steps.)" + other +
                 R"(.v }",{"of":"${ .input }","by":["${ .task.id }",null,true,4,"text"]}]})";
        case 4: return R"({"m":"${ .input.n + 3 }","sum":"${ .steps.)" + one + ".v + .steps." + other + R"(.v * 2 }"})";
        default: return R"({"v":"${ .steps.)" + one + R"(.v * 3 + 1 }","n":"${ .input.n }","at":"${ .task.workflow }"})";
      }
    }
    if (how < 30 && sums) return R"({"m":"${ .input.n + 1 }"})";
    return R"({"n":"${ .input.n }","at":"${ .task.id }"})";
  }

  std::string undo_input_of(int index, const v1::StepDefinition& step, bool lookups) {
    random_stream luck{workflow_, static_cast<std::uint64_t>(400 + index)};
    const auto sums = settings_.has(concern::expressions);
    // An undo that reads what its step gave needs an agent that can look the step up.
    if (lookups && luck.chance(500)) {
      if (sums && luck.chance(400)) return R"({"back":"${ .steps.)" + step.name() + R"(.v * 2 + 1 }","n":"${ .input.n }"})";
      return R"({"v":"${ .steps.)" + step.name() + R"(.v }","of":["${ .task.id }"]})";
    }
    if (sums && luck.chance(250)) return R"({"m":"${ .input.n + 2 }"})";
    if (step.needs_size() > 0 && luck.chance(400)) return R"({"n":"${ .input.n }","after":"${ .steps.)" + step.needs(0) + R"(.v? }"})";
    return R"({"n":"${ .input.n }"})";
  }

  /// Ends as failed, and patience by time: from a stream of their own, as these were added to what had been there.
  void let_fail() {
    random_stream luck{workflow_, 500};
    if (luck.chance(120)) definition_.set_on_failure(v1::ON_FAILURE_FAIL);
    for (auto& step : *definition_.mutable_steps()) {
      if (luck.chance(60)) step.set_on_failure(v1::ON_FAILURE_FAIL);
      if (luck.chance(100)) step.set_in_doubt(v1::IN_DOUBT_FAIL);
      be_patient(luck, step);
      if (step.has_undo() && !step.undo().none()) be_patient(luck, *step.mutable_undo());
    }
  }

  /// From a stream of their own, as these were added to what had been there. Some read what is not there, or is neither true nor false.
  void add_conditions() {
    random_stream luck{workflow_, 600};
    if (!luck.chance(350)) return;
    for (auto& step : *definition_.mutable_steps()) {
      const auto wanted = luck.chance(300);
      const auto how = luck.below(10);
      const auto bound = std::to_string(luck.below(6));
      if (!wanted) continue;
      if (how < 5 && settings_.has(concern::expressions))
        step.set_when_json(R"("${ .input.n > )" + bound + R"( }")");
      else if (how < 7 && settings_.has(concern::expressions) && step.needs_size() > 0)
        step.set_when_json(R"("${ .steps.)" + step.needs(0) + ".v > " + bound + R"( }")");
      else
        step.set_when_json(how < 9 ? R"("${ .input.yes }")" : R"("${ .input.yes? }")");
    }
  }

  /// From a stream of their own, as these were added to what had been there.
  void let_go_on() {
    random_stream luck{workflow_, 700};
    if (!luck.chance(250)) return;
    for (auto& step : *definition_.mutable_steps())
      if (luck.chance(400)) step.set_on_failure(v1::ON_FAILURE_CONTINUE);
    const auto goes_on = [](const auto& one) { return one.on_failure() == v1::ON_FAILURE_CONTINUE; };
    definition_.set_ends_failed(luck.chance(400) && std::any_of(definition_.steps().begin(), definition_.steps().end(), goes_on));
  }

  /// Some steps are values, waits and signals, which no agent carries out: from a stream of their own, as these were added to what had been there.
  void leave_to_the_shard() {
    random_stream luck{workflow_, 800};
    if (!luck.chance(300) || !settings_.has(concern::own_steps)) return;
    for (auto& step : *definition_.mutable_steps()) {
      const auto wanted = luck.chance(450);
      const auto kind = luck.below(100);
      const auto next = luck.next();
      if (!wanted || step.pivot()) continue;
      random_stream its{next, 1};
      v1::StepDefinition own;
      own.set_name(step.name());
      *own.mutable_needs() = step.needs();
      own.set_when_json(step.when_json());
      own.mutable_undo()->set_none(true);
      if (kind < 35)
        make_value(own, its);
      else if (kind < 60)
        make_wait(own, its);
      else
        make_signal(own, its);
      step = std::move(own);
    }
    let_end_as_it_can();
  }

  /// Some steps are tasks of their own.
  void leave_to_children() {
    if (child_plan::is_one(definition_.name())) child_plan::give_output(definition_, {workflow_, 1'800}, settings_);
    children_.add_to(definition_, {workflow_, 1'700});
    let_end_as_it_can();
  }

  /// Only where some step may be passed over.
  void let_end_as_it_can() {
    const auto& all = definition_.steps();
    const auto goes_on = [](const auto& one) { return may_fail(one) && one.on_failure() == v1::ON_FAILURE_CONTINUE; };
    if (std::none_of(all.begin(), all.end(), goes_on)) definition_.set_ends_failed(false);
  }

  /// Later steps read `.v` of it, which is a number or not there.
  void make_value(v1::StepDefinition& step, random_stream& luck) {
    step.set_kind(v1::STEP_KIND_VALUE);
    const auto number = std::to_string(luck.between(1, 900));
    const auto sums = settings_.has(concern::expressions);
    const auto how = luck.below(100);
    const auto need =
        step.needs_size() == 0 ? std::string{} : step.needs(static_cast<int>(luck.below(static_cast<std::uint64_t>(step.needs_size()))));
    if (how < 45 && !need.empty() && sums) return step.set_with_json(R"({"v":"${ .steps.)" + need + R"(.v * 2 + .input.n }"})");
    if (how < 60 && !need.empty())
      return step.set_with_json(R"({"v":"${ .steps.)" + need + R"(.v }","by":["${ .task.id }",)" + number + "]}");
    if (how < 75 && !need.empty())
      return step.set_with_json(R"({"v":)" + number + R"(,"u":"${ .steps.)" + need + R"(.v? }","how":"${ .status.)" + need + R"( }"})");
    if (how < 82 && !need.empty()) return step.set_with_json(R"("${ .steps.)" + need + R"( }")");
    if (how < 85) return step.set_with_json("null");
    if (how < 88) return step.set_with_json(number);
    if (how < 91) return step.set_with_json(R"({"w":"${ .input.yes }"})");
    step.set_with_json(sums ? R"({"v":"${ .input.n + )" + number + R"( }"})" : R"({"v":"${ .input.n }"})");
  }

  /// What the submitter gives may be missing, or be no wait: then the task parks.
  static void make_wait(v1::StepDefinition& step, random_stream& luck) {
    step.set_kind(v1::STEP_KIND_WAIT);
    const auto how = luck.below(100);
    const auto wait_ms = luck.chance(400) ? luck.between(50, 1'000) : luck.between(1'000, 15'000);
    if (how < 55) return step.set_with_json('"' + format_duration(wait_ms) + '"');
    if (how < 62) return step.set_with_json('"' + format_utc(1'000'000'000'000 + wait_ms) + '"');
    if (how < 82) return step.set_with_json(R"("${ .input.wait }")");
    if (how < 95 || step.needs_size() == 0) return step.set_with_json(R"("${ .input.until }")");
    step.set_with_json(R"("${ .status.)" + step.needs(0) + R"( }")");
  }

  static void make_signal(v1::StepDefinition& step, random_stream& luck) {
    step.set_kind(v1::STEP_KIND_SIGNAL);
    step.set_with_json("null");
    step.set_signal(luck.chance(650) ? "g0" : "g1");
    step.set_timeout_ms(luck.between(1'000, 20'000));
    step.set_goes_on_untimely(luck.chance(500));
    const auto says = luck.chance(450);
    constexpr v1::OnFailure all[] = {v1::ON_FAILURE_UNDO, v1::ON_FAILURE_PARK, v1::ON_FAILURE_COOL_OFF, v1::ON_FAILURE_FAIL,
                                     v1::ON_FAILURE_CONTINUE};
    const auto what = all[luck.below(std::size(all))];
    if (says && !step.goes_on_untimely()) step.set_on_failure(what);
  }

  /// What the task gives, from a stream of its own.
  void give_output() {
    random_stream luck{workflow_, 900};
    if (!luck.chance(250) || !settings_.has(concern::results)) return;
    const auto any_step = [&] {
      return definition_.steps(static_cast<int>(luck.below(static_cast<std::uint64_t>(definition_.steps_size())))).name();
    };
    const auto one = any_step();
    const auto other = any_step();
    const auto how = luck.below(100);
    if (how < 40)
      return definition_.set_output_json(R"({"n":"${ .input.n }","a":"${ .steps.)" + one + R"(.v? }","how":"${ .status.)" + other +
                                         R"( }"})");
    if (how < 60) return definition_.set_output_json(R"("${ .steps.)" + one + R"( }")");
    if (how < 80 && settings_.has(concern::expressions))
      return definition_.set_output_json(R"({"sum":"${ .steps.)" + one + R"(.v + 1 }"})");
    if (how < 90) return definition_.set_output_json(R"({"v":"${ .steps.)" + other + R"(.v }"})");
    definition_.set_output_json(R"(["${ .task.id }",3])");
  }

  /// Some steps are repeated, from a stream of their own. What services give has a number that grows from answer to answer.
  void repeat_some() {
    random_stream luck{workflow_, 1'000};
    if (!luck.chance(200) || !settings_.has(concern::repeats)) return;
    for (auto& step : *definition_.mutable_steps()) {
      const auto wanted = luck.chance(350);
      const auto how = luck.below(100);
      const auto after = luck.between(1, 12);
      const auto every_ms = luck.chance(300) ? 0 : luck.between(50, 4'000);
      const auto most = static_cast<std::uint32_t>(luck.between(1, 6));
      const auto reads_round = luck.chance(400);
      const auto counts = settings_.has(concern::expressions);
      // What cools off after its last round is repeated until it gives true, and soon: other tasks may wait for its place.
      const auto says = step.on_failure() == v1::ON_FAILURE_UNSPECIFIED ? definition_.on_failure() : step.on_failure();
      const auto cools = says == v1::ON_FAILURE_COOL_OFF;
      const auto comes_true = how < 65 || cools;
      if (!wanted || step.kind() != v1::STEP_KIND_CALL || step.pivot() || (cools && !counts)) continue;
      const auto bound = std::to_string(cools ? 1 + after % 3 : after);
      auto& repeat = *step.mutable_repeat();
      const auto own = ".steps." + step.name();
      repeat.set_every_ms(cools ? 0 : every_ms);
      repeat.set_most(cools ? std::max(most, 3U) : most);
      if (comes_true && counts)
        repeat.set_until_json(R"("${ )" + own + ".v > " + bound + R"( }")");
      else
        repeat.set_until_json(how < 94 ? R"("${ .input.yes }")" : R"("${ )" + own + R"(.done }")");
      if (reads_round) step.set_with_json(R"({"n":"${ .input.n }","last":"${ )" + own + R"(.v? }"})");
      if (!step.has_undo()) continue;
      step.mutable_undo()->Clear();
      step.mutable_undo()->set_none(true);
    }
  }

  /// What is undone also where it has failed reads nothing of its own step: from a stream of its own, as this was added to what had been there.
  void undo_some_failed() {
    random_stream luck{workflow_, 1'100};
    if (!luck.chance(400) || !settings_.has(concern::undo_of_failed)) return;
    for (auto& step : *definition_.mutable_steps()) {
      const auto wanted = luck.chance(650);
      const auto n = luck.chance(500);
      if (!wanted || !step.has_undo() || step.undo().none()) continue;
      auto& undo = *step.mutable_undo();
      if (undo.with_json().find(".steps." + step.name()) != std::string::npos)
        undo.set_with_json(n ? R"({"n":"${ .input.n }","of":"${ .task.id }"})" : "");
      undo.set_also_if_failed(true);
    }
  }

  /// Some steps are answered later, from a stream of their own. Those that may wait again and again wait for a short time: other tasks may wait for
  /// the place of theirs.
  void answer_later() {
    random_stream luck{workflow_, 1'200};
    if (!luck.chance(300) || !settings_.has(concern::callbacks)) return;
    for (auto& step : *definition_.mutable_steps()) {
      const auto wanted = luck.chance(500);
      const auto short_ms = luck.between(100, 1'500);
      const auto long_ms = luck.between(1'500, 10'000);
      const auto is_short = luck.chance(400);
      if (!wanted || step.kind() != v1::STEP_KIND_CALL) continue;
      const auto says = step.on_failure() == v1::ON_FAILURE_UNSPECIFIED ? definition_.on_failure() : step.on_failure();
      const auto comes_again = says == v1::ON_FAILURE_COOL_OFF || step.has_repeat() || step.attempts() == 0;
      step.set_callback_ms(is_short || comes_again ? short_ms : long_ms);
    }
  }

  /// Some steps are retried by the class of their faults, from a stream of their own. The codes are those of agents, services and leases.
  void rule_faults() {
    random_stream luck{workflow_, 1'300};
    if (!luck.chance(500) || !settings_.has(concern::retry_rules)) return;
    for (auto& step : *definition_.mutable_steps()) {
      const auto wanted = luck.chance(700);
      std::vector<std::vector<std::string>> classes{{"busy", "down"},
                                                    {"refused"},
                                                    {"failed", "key_spent"},
                                                    {"connection_*", "try_timeout"},
                                                    {"lease_expired", "heartbeat_missed", "agent_lost"},
                                                    {"job_*"}};
      const auto count = luck.between(1, 4);
      for (std::int64_t i = 0; i < count; ++i) {
        const auto which = static_cast<std::ptrdiff_t>(luck.below(classes.size()));
        v1::RetryRule rule;
        for (const auto& code : classes[static_cast<std::size_t>(which)]) rule.add_on(code);
        classes.erase(classes.begin() + which);
        if (i > 0 && i + 1 == count && luck.chance(500)) {
          rule.clear_on();
          rule.add_on("*");
        }
        rule.set_attempts(static_cast<std::uint32_t>(luck.between(1, 4)));
        be_patient(luck, rule);
        if (luck.chance(500)) set_backoff(*rule.mutable_backoff(), luck);
        if (wanted && step.kind() == v1::STEP_KIND_CALL) *step.add_retry() = std::move(rule);
      }
    }
  }

  /// From a stream of its own, as it was added to what had been there. Whatever clients and jobs give fits, but for what is meant not to.
  void ask_for_fitting_input() {
    random_stream luck{workflow_, 1'400};
    if (!luck.chance(250) || !settings_.has(concern::schemas)) return;
    constexpr const char* all[] = {
        R"({"type":"object","properties":{"n":{"type":"integer","minimum":0},"yes":{"type":"boolean"},"at":{"type":"string"}},"required":["n"]})",
        R"({"$defs":{"count":{"type":"integer"}},"type":"object","anyOf":[{"properties":{"n":{"$ref":"#/$defs/count"}},"required":["n"]}]})",
        R"({"type":"object","properties":{"n":{"multipleOf":1,"type":"number"}},"required":["n"],"maxProperties":8})"};
    definition_.set_input_schema_json(all[luck.below(std::size(all))]);
  }

  static bool may_fail(const v1::StepDefinition& step) {
    if (step.join() != 0) return true;
    return carried_out_elsewhere(step.kind()) || (step.kind() == v1::STEP_KIND_SIGNAL && !step.goes_on_untimely());
  }

  template <class Definition>
  static void be_patient(random_stream& luck, Definition& of) {
    if (!luck.chance(200)) return;
    of.set_retry_for_ms(luck.between(500, 20'000));
    if (luck.chance(600)) of.set_attempts(0);
  }

  void make_pivot() {
    if (!luck_.chance(300)) return;
    auto& pivot = *definition_.mutable_steps(static_cast<int>(luck_.below(static_cast<std::uint64_t>(definition_.steps_size()))));
    pivot.set_pivot(true);
    pivot.mutable_undo()->Clear();
    pivot.mutable_undo()->set_none(true);
  }

  static bool undoes(const v1::WorkflowDefinition& of) {
    if (of.on_failure() == v1::ON_FAILURE_UNDO) return true;
    for (const auto& step : of.steps())
      if (step.on_failure() == v1::ON_FAILURE_UNDO) return true;
    return false;
  }

  /// Puts right what the rules forbid.
  void make_lawful() {
    const shape known{definition_};
    for (int i = 0; i < definition_.steps_size(); ++i) {
      auto& step = *definition_.mutable_steps(i);
      for (int p = 0; p < definition_.steps_size(); ++p) {
        if (!definition_.steps(p).pivot() || !known.after(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(p))) continue;
        const auto effective = step.on_failure() == v1::ON_FAILURE_UNSPECIFIED ? definition_.on_failure() : step.on_failure();
        if (effective == v1::ON_FAILURE_UNDO && may_fail(step)) step.set_on_failure(v1::ON_FAILURE_PARK);
      }
    }
    const auto undone = undoes(definition_);
    auto cools = definition_.on_failure() == v1::ON_FAILURE_COOL_OFF;
    for (auto& step : *definition_.mutable_steps()) {
      if (undone && !step.has_undo() && step.kind() != v1::STEP_KIND_WORKFLOW) step.mutable_undo()->set_none(true);
      cools = cools || step.on_failure() == v1::ON_FAILURE_COOL_OFF;
    }
    if (cools) definition_.set_cool_off_ms(luck_.between(2'000, 12'000));
  }

  random_stream& luck_;
  const options& settings_;
  const std::vector<agent_site>& sites_;
  const child_plan children_;
  const item_plan items_;
  v1::WorkflowDefinition definition_;
  std::uint64_t made_ = 0;
  std::uint64_t workflow_ = 0;
};

}  // namespace

namespace {

v1::WorkflowDefinition lawful(v1::WorkflowDefinition made) {
  const auto problems = core::check_definition(made, nullptr);
  if (problems.empty()) return made;
  throw std::logic_error{"the generator made an unlawful workflow: " + problems.front().step + " " + problems.front().sentence + "\n" +
                         made.DebugString()};
}

}  // namespace

std::vector<v1::WorkflowDefinition> make_workflows(world& in, const std::vector<agent_site>& sites) {
  std::vector<v1::WorkflowDefinition> out;
  const auto count = in.shapes.between(1, 2);
  generator make{in, in.shapes, sites};
  for (std::int64_t i = 0; i < count; ++i) out.push_back(lawful(make.make("w" + std::to_string(i))));
  const child_plan children{in.settings};
  for (const auto& name : children.names()) out.push_back(lawful(make.make(name, most_steps_of_a_child)));
  return out;
}

std::vector<v1::WorkflowDefinition> make_versions(world& in, const std::vector<agent_site>& sites,
                                                  const std::vector<v1::WorkflowDefinition>& of) {
  std::vector<v1::WorkflowDefinition> out;
  auto& luck = in.versions;
  if (!luck.chance(250) || !in.settings.has(concern::versions)) return out;
  generator make{in, luck, sites};
  const auto count = luck.between(1, 2);
  for (std::int64_t i = 0; i < count; ++i) out.push_back(lawful(make.make(of.front().name())));
  return out;
}

}  // namespace fairlead::simulation
