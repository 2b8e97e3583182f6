// Who gets what: breakers, limits, labels, drained instances, order, and agents that are not there.

#include <algorithm>

#include "actors/core/task/record.hpp"
#include "store/keys.hpp"
#include "store/rows/alert_rows.hpp"
#include "store/rows/service_rows.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/checker.hpp"
#include "tests/simulation/checker/own/joins.hpp"
#include "tests/simulation/checker/values.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t disk_slack_us = 9 * second;     // a slow disk may hold back what was decided
constexpr std::int64_t settled_after_us = 3 * second;  // after a start everything that waits has been taken up
constexpr std::int64_t sent_within_us = second / 4;
constexpr std::int64_t known_to_wait_us = second / 2;  // longer than a message or a commit takes on a good day

bool is_closed(const v1::ServiceRecord& record) {
  return record.breaker() == v1::BREAKER_STATE_CLOSED || record.breaker() == v1::BREAKER_STATE_UNSPECIFIED;
}

/// The text of member `n`, all that generated limits count by.
std::string value_of_n(const std::string& input) {
  const auto known = parse_value(input);
  const auto found = known ? known->members.find("n") : decltype(known->members.find("n")){};
  return known && found != known->members.end() ? std::to_string(found->second.number) : std::string{};
}

/// What a shard may have out of a limit that it shares with others.
std::uint32_t share_of(std::uint32_t whole, std::uint32_t shard, std::uint32_t shards) {
  return std::max(whole / shards + (shard < whole % shards ? 1U : 0U), 1U);
}

std::string same_labels(const v1::StepDefinition& step) {
  std::string out;
  for (const auto& one : step.labels()) out += one.key() + "=" + one.value() + ",";
  return out;
}

}  // namespace

// ---- at the door ----

void checker::registered(const v1::RegisterAgent& what, std::uint64_t epoch, bool anew) {
  if (restores_.on() || epoch < led_under_) return;
  auto& known = processes_[what.instance()];
  const auto first = known.incarnation != what.incarnation() || known.epoch != epoch;
  if (first) known = {what.incarnation(), epoch, std::nullopt};
  known.again = !first;
  if (anew) expect_again(what, epoch);
  // What it has heard last is what it goes by, also where an older report has come late.
  if (!what.draining()) known.draining_ms.reset();
  if (what.draining() && !known.draining_ms) known.draining_ms = clock_.now_ms();
}

// ---- what is sent again ----

void checker::expect_again(const v1::RegisterAgent& what, std::uint64_t epoch) {
  const auto view = reads_->read();
  expectation all;
  all.since_us = world_.now_us();
  all.epoch = epoch;
  all.incarnation = what.incarnation();
  for (const auto& [number, seen] : seen_) {
    for (int i = 0; i < seen.steps_size(); ++i) {
      const auto& step = seen.steps(i);
      if (step.complete_by_unix_ms() == 0 || step.instance() != what.instance() || step.incarnation() != what.incarnation()) continue;
      all.attempts.push_back({{seen.id(), static_cast<std::uint32_t>(i)}, {step.direction(), core::attempt_of(step, step.direction())}});
    }
  }
  unsent_[what.instance()] = std::move(all);
}

void checker::look_for_unsent(std::uint64_t epoch, const store::snapshot& durable) {
  if (restores_.on()) return;
  for (auto at = unsent_.begin(); at != unsent_.end();) {
    const auto& [instance, all] = *at;
    const auto process = processes_.find(instance);
    const auto current = all.epoch == epoch && process != processes_.end() && process->second.incarnation == all.incarnation;
    if (current && world_.now_us() - all.since_us < sent_within_us) {
      ++at;
      continue;
    }
    for (const auto& [of, attempt] : all.attempts) {
      const auto known = steps_.find(of);
      // What a crash has parked is not sent anywhere.
      if (!current || known == steps_.end() || known->second.all.empty() || bugs_.about(of.task)) continue;
      world_.judges("not_sent_again");
      const auto& last = known->second.all.back();
      if (last.direction != attempt.first || last.attempt != attempt.second || last.arrived || last.sent_us >= all.since_us) continue;
      if (!still_out(of, last, durable) || clock_.has_shown(std::min(last.complete_by_ms, last.lease_ms) - 1, all.since_us)) continue;
      world::broken("not_sent_again", of.task + " step " + std::to_string(of.step) + " attempt " + std::to_string(last.attempt) +
                                          " is held by " + instance + ", which has registered anew " +
                                          std::to_string((world_.now_us() - all.since_us) / millisecond) +
                                          " ms ago and has not been sent it again");
    }
    at = unsent_.erase(at);
  }
}

void checker::judge_place(const step_name& of, const hand_over& next, const agent_site& site, const v1::StepDefinition& step) const {
  const auto text = of.task + "/" + step.name() + " attempt " + std::to_string(next.attempt);
  if (site.agent != step.agent()) world::broken("label", text + " was handed over to " + site.instance + ", which is another agent");
  if (step.labels_size() > 0) world_.judges("label");
  for (const auto& label : step.labels())
    if (label.key() != "zone" || label.value() != site.zone)
      world::broken("label", text + " needs " + label.key() + "=" + label.value() + " and was handed over to " + site.instance +
                                 " in zone " + (site.zone.empty() ? "none" : site.zone));
  const auto process = processes_.find(site.instance);
  if (process == processes_.end() || !process->second.draining_ms || clock_.settings() != 0 || next.decided_ms == 0) return;
  world_.judges("drained");
  if (process->second.incarnation == next.incarnation && process->second.epoch == next.epoch &&
      next.decided_ms > *process->second.draining_ms)
    world::broken("drained", text + " was handed over to " + site.instance + ", which has said that it takes no more");
}

bool checker::still_out(const step_name& of, const hand_over& one, const store::snapshot& durable) const {
  const auto number = numbers_.find(of.task);
  if (number == numbers_.end()) return false;
  const auto record = store::load_task(durable, number->second);
  if (!record.ok() || !*record) return false;
  const auto& step = (*record)->steps(static_cast<int>(of.step));
  return step.complete_by_unix_ms() != 0 && step.direction() == one.direction && core::attempt_of(step, one.direction) == one.attempt;
}

/// One that was given back does not count for a rate.
void checker::forget_rates(const hand_over& one) {
  const auto* site = agents_->site_of(one.instance);
  for (std::size_t i = 0; site != nullptr && i < site->profile->limits.size(); ++i) {
    const auto& limit = site->profile->limits[i];
    const auto key = limit.key().empty() ? std::string{} : value_of_n(one.input);
    auto& times = handed_over_[{site->agent + "/" + std::to_string(i) + "/" + key, one.epoch}];
    if (const auto at = std::find(times.begin(), times.end(), one.decided_ms); at != times.end()) times.erase(at);
  }
}

/// Attempts that this Scheduler has handed over, or sent again; what it has not taken up after a start it does not count.
void checker::judge_limits(const step_name& of, const hand_over& next, const agent_site& site) {
  // What an earlier one has decided this one only sends.
  if (steps_.at(of).begun_epoch != next.epoch) return;
  const auto view = reads_->read();
  for (std::size_t i = 0; i < site.profile->limits.size(); ++i) {
    const auto& limit = site.profile->limits[i];
    const auto counts = [&](const hand_over& one) { return limit.call().empty() || limit.call() == one.call; };
    const auto key_of = [&](const hand_over& one) { return limit.key().empty() ? std::string{} : value_of_n(one.input); };
    if (!counts(next)) continue;
    const auto key = key_of(next);
    const auto text = of.task + " step " + std::to_string(of.step) + " was handed over to " + site.instance;
    if (limit.concurrency() > 0 && still_out(of, next, *view)) {
      std::uint32_t out = 1;
      for (const auto& [name, past] : steps_) {
        // An outcome whose decision crashed has given its slot back, though the record has the attempt out still.
        if (name == of || past.all.empty() || bugs_.about(name.task)) continue;
        const auto& last = past.all.back();
        const auto* other = agents_->site_of(last.instance);
        if (last.epoch != next.epoch || other == nullptr || other->agent != site.agent || !counts(last) || key_of(last) != key) continue;
        // One that was taken up only when this had been decided did not count then.
        if (past.begun_epoch != next.epoch && last.sent_us >= steps_.at(of).begun_us) continue;
        if (still_out(name, last, *view)) ++out;
      }
      world_.judges("limit");
      const auto allowed = share_of(limit.concurrency(), shard_, agents_->shards());
      if (out > allowed)
        world::broken("limit", text + " as number " + std::to_string(out) + ", and " + std::to_string(allowed) + " at a time are allowed");
      world_.count("hand-overs under a limit");
    }
    if (limit.rate() == 0 || clock_.settings() != 0) continue;
    auto& times = handed_over_[{site.agent + "/" + std::to_string(i) + "/" + key, next.epoch}];
    times.push_back(next.decided_ms);
    const auto period_ms = limit.rate_per_ms() * agents_->shards();
    const auto recent = std::count_if(times.begin(), times.end(), [&](std::int64_t at) { return at > next.decided_ms - period_ms; });
    const auto burst = std::max<std::int64_t>(1, std::int64_t{limit.rate()} * std::min<std::int64_t>(period_ms, 1'000) / period_ms);
    world_.judges("limit");
    if (recent > limit.rate() + burst)
      world::broken("limit", text + " as the " + std::to_string(recent) + ". within " + std::to_string(period_ms) + " ms, and " +
                                 std::to_string(limit.rate()) + " are allowed, " + std::to_string(burst) + " of them at once");
  }
}

/// Among steps that have all waited for the same, the least order goes first.
void checker::judge_order_of_waiting(const step_name& of, const hand_over& next, const shape& plan, const v1::TaskRecord& record,
                                     const history& past) const {
  if (next.direction != v1::DIRECTION_PERFORM || !past.waited || clock_.settings() != 0 || next.epoch != epoch_) return;
  const auto decided_us = (next.decided_ms - clock_.now_ms()) * millisecond + world_.now_us();
  if (decided_us - epoch_since_us_ < settled_after_us || decided_us - past.waited->since_us < known_to_wait_us) return;
  const auto& step = plan.step(of.step);
  const auto* site = agents_->site_of(next.instance);
  for (const auto& limit : site->profile->limits)
    if (!limit.key().empty()) return;  // they wait in lanes of their own
  const auto order = store::pending_order(wanted_since_unix_ms(record), record.priority());
  for (const auto& [name, other] : waits_) {
    if (name.task != of.task && other.order > order) world_.judges("order");
    if (name.task == of.task || other.order >= order || decided_us - other.since_us < known_to_wait_us) continue;
    // What an operator has ordered of it may be decided and not durable yet.
    if (ordered_above(name.task, [](const v1::OperatorAction&) { return true; })) continue;
    // An input that its parent gave may lack what the step reads: it is parked when its turn comes.
    if (read_child_id(name.task)) continue;
    // Nor does what a crash is about to park come first.
    if (bugs_.about(name.task)) continue;
    const auto number = numbers_.find(name.task);
    const auto seen = number == numbers_.end() ? seen_.end() : seen_.find(number->second);
    if (seen == seen_.end()) continue;
    const auto* its_plan = shape_of(seen->second);
    const auto& its = its_plan->step(name.step);
    if (its.agent() != step.agent() || same_labels(its) != same_labels(step)) continue;
    world::broken("order", of.task + "/" + step.name() + " was handed over before " + name.task + "/" + its.name() +
                               ", which has waited for the same for " + std::to_string((decided_us - other.since_us) / millisecond) +
                               " ms and comes before it");
  }
}

// ---- as durable ----

void checker::note_beginnings(const v1::TaskRecord& record) {
  const auto before = seen_.find(record.number());
  if (record.epoch() > epoch_) {
    epoch_ = record.epoch();
    epoch_since_us_ = world_.now_us();
  }
  for (int i = 0; i < record.steps_size(); ++i) {
    const auto& step = record.steps(i);
    if (step.complete_by_unix_ms() == 0) continue;
    const auto known = before == seen_.end() ? 0 : core::attempt_of(before->second.steps(i), step.direction());
    if (core::attempt_of(step, step.direction()) <= known) continue;
    const auto* plan = shape_of(record);
    if (plan == nullptr) continue;
    const auto index = static_cast<std::uint32_t>(i);
    begun_.push_back({record.number(), index, step.direction(), core::attempt_of(step, step.direction()), plan->step(index).agent(),
                      step.instance(), step.incarnation(), record.epoch()});
    auto& past = steps_[{record.id(), index}];
    const auto waited = waits_.find({record.id(), index});
    past.begun_epoch = record.epoch();
    past.begun_us = world_.now_us();
    past.waited.reset();
    if (waited != waits_.end()) past.waited = waited->second;
  }
}

/// What is ready, by the store alone.
void checker::note_waits(const v1::TaskRecord& record) {
  const auto* plan = shape_of(record);
  if (plan == nullptr) return;
  const auto runs =
      record.state() == v1::TASK_STATE_RUNNING && !record.parked() && !record.paused() && !record.undo_held() && !record.failing();
  for (std::uint32_t i = 0; i < plan->size(); ++i) {
    const auto& step = record.steps(static_cast<int>(i));
    auto ready = runs && !plan->own(i) && !step.until_open() && step.state() == v1::STEP_STATE_PENDING && step.not_before_unix_ms() == 0 &&
                 step.complete_by_unix_ms() == 0;
    // A task that is neither undone nor to fail never begins them.
    ready = ready && plan->step(i).finally() != v1::FINALLY_AFTER_FAILURE;
    ready = ready && is_ready(*plan, record, i);
    // What the worker has to evaluate first may wait for that.
    const auto& asks = plan->step(i);
    ready = ready && (asks.with_json() + asks.when_json()).find_first_of("+*?>") == std::string::npos;
    const step_name of{record.id(), i};
    // It may have been begun and have ended within one group of commits.
    if (const auto known = waits_.find(of); known != waits_.end() && known->second.attempt != step.attempt()) waits_.erase(known);
    if (ready)
      waits_.try_emplace(of, wait{world_.now_us(), store::pending_order(wanted_since_unix_ms(record), record.priority()), step.attempt()});
    else
      waits_.erase(of);
  }
}

bool checker::out_now(const beginning& what) const {
  const auto seen = seen_.find(what.number);
  if (seen == seen_.end()) return false;
  const auto& step = seen->second.steps(static_cast<int>(what.step));
  return step.complete_by_unix_ms() != 0 && step.direction() == what.direction && core::attempt_of(step, what.direction) == what.attempt;
}

void checker::judge_beginning(const beginning& what, bool touched, const v1::ServiceRecord& before) {
  auto& service = services_[what.agent];
  const auto text = ids_[what.number] + " step " + std::to_string(what.step) + " attempt " + std::to_string(what.attempt);
  const auto& now = service.record;
  if (!touched && now.breaker() == v1::BREAKER_STATE_OPEN)
    world::broken("breaker", text + " was begun while the breaker of " + what.agent + " was open: " + now.breaker_reason());
  for (const auto& drained : now.drained())
    if (!touched && drained.instance() == what.instance && drained.incarnation() == what.incarnation)
      world::broken("drained", text + " was begun at " + what.instance + ", which " + drained.who() + " drains");
  if (before.breaker() != v1::BREAKER_STATE_UNSPECIFIED) world_.judges("breaker");
  const auto half_open = now.breaker() == v1::BREAKER_STATE_HALF_OPEN;
  const auto was_shut = before.breaker() == v1::BREAKER_STATE_OPEN ||
                        (before.breaker() == v1::BREAKER_STATE_HALF_OPEN && before.breaker_since_unix_ms() == now.breaker_since_unix_ms());
  if (!half_open || !was_shut) return;
  for (const auto& other : service.canaries)
    if (other.epoch == what.epoch && out_now(other) && !bugs_.about(ids_[other.number]))
      world::broken("breaker", text + " was begun while another attempt was finding out how " + what.agent + " is");
  world_.count("canaries");
  service.canaries.push_back(what);
}

void checker::judge_services(const std::set<std::string>& touched, const store::snapshot& durable) {
  std::map<std::string, v1::ServiceRecord> before;
  if (!touched.empty()) {
    std::map<std::string, v1::ServiceRecord> now;
    const auto read = store::for_each_service(durable, [&](const v1::ServiceRecord& record) {
      now[record.agent()] = record;
      return true;
    });
    if (!read.ok()) world::broken("store_check", "services cannot be read: " + read.failure().sentence);
    for (const auto& agent : touched) {
      auto& known = services_[agent];
      before[agent] = known.record;
      const auto same_state = known.record.breaker_since_unix_ms() == now[agent].breaker_since_unix_ms();
      if (known.record.breaker() != now[agent].breaker()) {
        if (now[agent].breaker() == v1::BREAKER_STATE_OPEN) world_.count("breakers opened");
        if (now[agent].breaker() == v1::BREAKER_STATE_HALF_OPEN) world_.count("breakers half open");
        if (is_closed(now[agent])) world_.count("breakers closed");
      }
      if (!same_state) known.canaries.clear();
      known.record = now[agent];
      pace_.breaker_moved(agent, !is_closed(known.record));
      judge_service_alert(known.record, durable);
      judge_alerts_of(before[agent], known.record, durable);
      world_.remark("registry", known.record.ShortDebugString());
    }
  }
  for (const auto& one : begun_) {
    const auto was = before.find(one.agent);
    judge_beginning(one, touched.count(one.agent) != 0, was == before.end() ? services_[one.agent].record : was->second);
  }
  begun_.clear();
}

void checker::judge_service_alert(const v1::ServiceRecord& record, const store::snapshot& durable) const {
  const auto judge = [&](bool wanted, std::uint64_t number, v1::AlertKind kind, const char* what) {
    if (!wanted) return;
    const auto alert = number == 0 ? result<std::optional<v1::AlertRecord>>{std::nullopt} : store::load_alert(durable, number);
    if (!alert.ok() || !*alert || !store::is_unresolved(**alert) || (*alert)->kind() != kind)
      world::broken("lost_alert", std::string{what} + " of " + record.agent() + " has no alert");
  };
  judge(!is_closed(record), record.breaker_alert(), v1::ALERT_KIND_BREAKER_OPEN, "the breaker");
  judge(record.absent_alert() != 0, record.absent_alert(), v1::ALERT_KIND_AGENT_ABSENT, "the absence");
}

void checker::look_for_absent(std::uint64_t epoch, const store::snapshot& durable) {
  if (restores_.on()) return;
  if (epoch != epoch_) {
    epoch_ = epoch;
    epoch_since_us_ = world_.now_us();
  }
  if (clock_.settings() != 0) return;
  const auto patience_us = world_.settings.absent_alert_after_ms * millisecond + disk_slack_us;
  for (const auto& [name, waiting] : waits_) {
    if (world_.now_us() - std::max(waiting.since_us, epoch_since_us_) < patience_us) continue;
    const auto& record = seen_.at(numbers_.at(name.task));
    const auto& agent = shape_of(record)->step(name.step).agent();
    const auto there = std::any_of(agents_->sites().begin(), agents_->sites().end(), [&](const agent_site& site) {
      const auto process = processes_.find(site.instance);
      return site.agent == agent && process != processes_.end() && process->second.epoch == epoch;
    });
    if (there) continue;
    world_.count("steps that wait for an absent agent");
    v1::ServiceRecord service;
    const auto known = services_.find(agent);
    if (known != services_.end()) service = known->second.record;
    if (service.absent_alert() == 0)
      world::broken("lost_alert", name.task + " step " + std::to_string(name.step) + " waits for " + agent +
                                      ", of which no instance is there, and nobody is told");
    judge_service_alert(service, durable);
  }
}

}  // namespace fairlead::simulation
