#include "actors/registry/registry.hpp"

#include <algorithm>

#include "actors/core/cluster/limit_part.hpp"
#include "messages/tickets.hpp"

namespace fairlead {

namespace {

bool lists(const std::vector<std::string>& all, std::string_view one) { return std::find(all.begin(), all.end(), one) != all.end(); }

/// A concurrency is divided; a rate keeps its count and gets a period as many times as long.
google::protobuf::RepeatedPtrField<v1::LimitPolicy> part_of(const google::protobuf::RepeatedPtrField<v1::LimitPolicy>& limits,
                                                            const registry_policy& policy) {
  constexpr std::int64_t longest_ms = 315'360'000'000;  // ten years
  auto out = limits;
  for (auto& one : out) {
    one.set_concurrency(static_cast<std::uint32_t>(core::part_of_limit(one.concurrency(), policy.shard, policy.shard_count)));
    const auto per_ms = std::clamp<std::int64_t>(one.rate_per_ms() > 0 ? one.rate_per_ms() : 1'000, 1, longest_ms);
    if (one.rate() > 0) one.set_rate_per_ms(per_ms * policy.shard_count);
  }
  return out;
}

}  // namespace

// ---- who is there ----

registered::service& registry::service_of(std::string_view agent) {
  if (const auto found = services_.find(agent); found != services_.end()) return found->second;
  auto& made = services_.try_emplace(std::string{agent}, time_.now()).first->second;
  made.agent = agent;
  made.record.set_agent(made.agent);
  return made;
}

const registered::service* registry::find_service(std::string_view agent) const {
  const auto found = services_.find(agent);
  return found == services_.end() ? nullptr : &found->second;
}

void registry::restore(const v1::ServiceRecord& record) {
  const auto now = time_.now();
  auto& of = service_of(record.agent());
  of.record = record;
  of.breaker.restore(record);
  count_blocked(of);
  if (of.breaker.clock_fell(now)) mark(of);
  if (const auto at = of.breaker.canaries_from()) breakers_.set(&of, *at, now);
  if (record.absent_since_unix_ms() == 0) return;
  of.absence_kept_until = now + policy_.absent_alert_after;
  absences_.set(&of, of.absence_kept_until, now);
}

registry::arrival registry::add(const v1::RegisterAgent& what) {
  const auto now = time_.now();
  limits_changed_ = false;
  auto known = instances_.find(what.instance());
  if (known != instances_.end()) {
    if (what.incarnation() < known->second.incarnation) return arrival::stale;
    if (what.incarnation() == known->second.incarnation && what.revision() < known->second.revision) return arrival::outdated;
  }
  const auto fresh_service = services_.find(what.agent()) == services_.end();
  if ((known == instances_.end() && instances_.size() >= max_instances) || (fresh_service && services_.size() >= max_instances))
    return arrival::refused;
  if (known == instances_.end()) known = instances_.try_emplace(what.instance()).first;
  auto& entry = known->second;
  const auto outcome = entry.of == nullptr ? arrival::fresh : what.incarnation() == entry.incarnation ? arrival::same : arrival::replaced;
  auto& to = service_of(what.agent());
  if (outcome == arrival::replaced) {
    lose_canary(entry, now);
    entry.held = 0;
    entry.health = {};
    entry.next_trickle = {};
  }
  if (entry.of != &to) {
    if (entry.of != nullptr) {
      std::erase(entry.of->instances, &entry);
      rebuild(*entry.of, now);
    }
    to.instances.push_back(&entry);
  }
  entry.of = &to;
  entry.name = what.instance();
  entry.kind = what.kind();
  met_worker_ = met_worker_ || entry.kind == worker_kind;
  entry.node = what.node();
  entry.revision = what.revision();
  entry.away = false;
  entry.calls.assign(what.calls().begin(), what.calls().end());
  entry.lookups.assign(what.lookups().begin(), what.lookups().end());
  entry.labels.clear();
  for (const auto& one : what.labels()) entry.labels.emplace_back(one.key(), one.value());
  std::sort(entry.labels.begin(), entry.labels.end());
  entry.incarnation = what.incarnation();
  entry.capacity = what.capacity();
  entry.drains_itself = what.draining();
  entry.silent = what.silent();
  entry.leaves = what.leaving();
  entry.heard = now;
  entry.drained = false;
  auto& drained = *to.record.mutable_drained();
  for (int i = drained.size() - 1; i >= 0; --i) {
    if (drained[i].instance() != entry.name) continue;
    if (drained[i].incarnation() >= entry.incarnation) {
      entry.drained = true;
    } else {
      drained.DeleteSubrange(i, 1);
      mark(to);
    }
  }
  to.keys_valid_for_ms.clear();
  for (const auto& one : what.policies()) to.keys_valid_for_ms.emplace_back(one.call(), one.key_valid_for_ms());
  if (to.breaker.set_policy(what.breaker(), now)) breaker_changed(to, now);
  limits_changed_ = set_limits(to, what, now);
  rebuild(to, now);
  return outcome;
}

bool registry::set_away(std::string_view name, std::uint64_t incarnation) {
  const auto found = instances_.find(name);
  if (found == instances_.end() || found->second.away || found->second.incarnation != incarnation) return false;
  found->second.away = true;
  if (found->second.leaves && found->second.held == 0)
    forget(found->second);
  else
    rebuild(*found->second.of, time_.now());
  return true;
}

void registry::forget(instance& which) {
  auto& of = *which.of;
  for (auto& [holder, what] : holders_)
    if (what.at == &which) what.at = nullptr;
  std::erase(of.instances, &which);
  if (which.kind == worker_kind) left_.emplace_back(which.name, which.incarnation);
  // Its pointers in the demands go with the rebuild.
  rebuild(of, time_.now());
  instances_.erase(std::string{which.name});
}

std::optional<registry::presence> registry::find(std::string_view name) const {
  const auto found = instances_.find(name);
  if (found == instances_.end()) return std::nullopt;
  const auto& one = found->second;
  return presence{one.incarnation,         one.revision, one.capacity, one.held, one.away, waiting(*one.of),
                  one.kind == worker_kind, one.silent,   one.of->agent};
}

std::optional<std::uint64_t> registry::worker_at(std::string_view name) const {
  if (!met_worker_) return std::nullopt;
  const auto found = instances_.find(name);
  return found != instances_.end() && found->second.kind == worker_kind ? std::optional{found->second.incarnation} : std::nullopt;
}

/// True: the limits have changed.
bool registry::set_limits(service& of, const v1::RegisterAgent& what, moment now) {
  if (of.limits.set_policies(policy_.shard_count > 1 ? part_of(what.limits(), policy_) : what.limits(), now)) {
    for (auto& [key, one] : of.demands) {
      one->common = of.limits.common(one->call, now);
      one->counted_by_input = of.limits.wants_input(one->call);
      queues_.dissolve(*one, now);
    }
    return true;
  }
  // Changed numbers may make room.
  for (auto& [key, one] : of.demands) {
    std::vector<core::limit_bucket*> touched;
    queues_.for_each_keyed(*one, [&](const auto& buckets, std::size_t) { touched.insert(touched.end(), buckets.begin(), buckets.end()); });
    for (auto* bucket : touched) queues_.opened(*bucket, now);
  }
  return false;
}

void registry::find_instances(demand& of) {
  auto& all = of.of->instances;
  // If no instance lists the call, any may get it: the agent itself answers that it does not know the call.
  const auto looks_up = [&](const instance* one) { return lists(one->lookups, of.call); };
  const auto only_lookups = of.lookup && std::any_of(all.begin(), all.end(), looks_up);
  const auto known = [&](const instance* one) { return only_lookups ? looks_up(one) : one->calls.empty() || lists(one->calls, of.call); };
  const auto somebody_knows = std::any_of(all.begin(), all.end(), known);
  of.instances.clear();
  for (auto* one : all) {
    if ((!one->takes_work() && !planted(&core::planted_faults::hand_to_drained)) || (somebody_knows && !known(one))) continue;
    if (!planted(&core::planted_faults::ignore_label) &&
        !std::includes(one->labels.begin(), one->labels.end(), of.labels.begin(), of.labels.end()))
      continue;
    of.instances.push_back(one);
    one->demands.push_back(&of);
  }
}

void registry::rebuild(service& of, moment now) {
  for (auto* one : of.instances) one->demands.clear();
  of.queues_absent = 0;
  for (auto& [key, one] : of.demands) {
    find_instances(*one);
    if (one->waiting > 0 && one->instances.empty()) ++of.queues_absent;
  }
  count_blocked(of);
  unblock_all(of);
  check_absence(of, now);
}

registered::demand& registry::demand_of(service& of, const core::slot_request& what) {
  std::string with_labels;
  std::string_view key = what.call;
  std::vector<label> labels;
  const auto labelled = what.labels != nullptr && !what.labels->empty();
  if (labelled || what.lookup) {
    if (labelled)
      for (const auto& one : *what.labels) labels.emplace_back(one.key(), one.value());
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    with_labels = what.call;
    if (what.lookup) with_labels.append(1, '\0').append("lookup");  // after the zero byte of a label comes a digit
    for (const auto& [name, value] : labels)
      with_labels.append(1, '\0').append(std::to_string(name.size())).append(1, ':').append(name).append(value);
    key = with_labels;
  }
  if (const auto found = of.demands.find(key); found != of.demands.end()) return *found->second;
  auto& made = *of.demands.emplace(std::string{key}, std::make_unique<demand>()).first->second;
  made.id = ++queues_made_;
  made.of = &of;
  made.limits = &of.limits;
  made.queues_ready = &of.queues_ready;
  made.call = what.call;
  made.lookup = what.lookup;
  made.labels = std::move(labels);
  made.common = of.limits.common(made.call, time_.now());
  made.counted_by_input = of.limits.wants_input(made.call);
  find_instances(made);
  return made;
}

// ---- the outside ----

bool registry::wants_input(std::string_view agent, std::string_view call) const {
  const auto* found = find_service(agent);
  return found != nullptr && !found->limits.empty() && found->limits.wants_input(call);
}

bool registry::any_lists(std::string_view agent, std::string_view call, std::vector<std::string> instance::*in) const {
  const auto* found = find_service(agent);
  return found != nullptr &&
         std::any_of(found->instances.begin(), found->instances.end(), [&](const instance* one) { return lists(one->*in, call); });
}

bool registry::looks_up(std::string_view agent, std::string_view call) const { return any_lists(agent, call, &instance::lookups); }
bool registry::carries(std::string_view agent, const google::protobuf::RepeatedPtrField<v1::Label>& labels) const {
  const auto* of = find_service(agent);
  if (of == nullptr || of->instances.empty()) return true;
  return std::any_of(of->instances.begin(), of->instances.end(), [&](const instance* one) { return one->carries(labels); });
}

std::uint64_t registry::free_slots(std::string_view agent, const google::protobuf::RepeatedPtrField<v1::Label>& labels) const {
  const auto* of = find_service(agent);
  if (of == nullptr || of->breaker.state() != v1::BREAKER_STATE_CLOSED) return 0;
  std::uint64_t out = 0;
  for (const auto* one : of->instances)
    if (one->takes_work() && one->carries(labels)) out += one->free();
  return out;
}

bool registry::is_there(std::string_view agent) const {
  const auto* of = find_service(agent);
  return of != nullptr && std::any_of(of->instances.begin(), of->instances.end(), [](const auto* one) { return !one->away; });
}

bool registry::offers(std::string_view agent, std::string_view call) const { return any_lists(agent, call, &instance::calls); }

std::int64_t registry::key_valid_for_ms(std::string_view agent, std::string_view call) const {
  const auto* found = find_service(agent);
  if (found == nullptr) return 0;
  for (const auto& [name, valid_ms] : found->keys_valid_for_ms)
    if (name == call) return valid_ms;
  return 0;
}

std::int64_t registry::blocked_ms(std::string_view agent) const {
  const auto* found = find_service(agent);
  if (found == nullptr) return 0;
  return (found->blocked + (found->blocked_since ? time_.steady() - *found->blocked_since : duration{0})).count();
}

std::optional<std::uint64_t> registry::incarnation_of(std::string_view instance) const {
  const auto found = instances_.find(instance);
  if (found == instances_.end()) return std::nullopt;
  return found->second.incarnation;
}

void registry::heard(std::string_view instance) {
  const auto found = instances_.find(instance);
  if (found != instances_.end()) found->second.heard = time_.now();
}

void registry::wait(std::uint64_t queue, std::uint64_t task_number, std::uint64_t order, bool undoing) {
  if (planted(&core::planted_faults::starve_low_priority)) order = ~order;
  queues_.wait(queue, {!undoing, order, task_number}, time_.now());
}

void registry::forget(std::uint64_t task_number) { queues_.forget(task_number, time_.now()); }

std::optional<std::uint64_t> registry::next_waiting() {
  if (closed_ || held_back_) return std::nullopt;
  serving_ = queues_.next(time_.now());
  return serving_ ? std::optional{serving_->task_number} : std::nullopt;
}

std::uint64_t registry::held() const {
  std::uint64_t out = 0;
  for (const auto& [name, one] : instances_) out += one.held;
  return out;
}

std::uint64_t registry::held_by(std::string_view instance) const {
  const auto found = instances_.find(instance);
  return found == instances_.end() ? 0 : found->second.held;
}

std::optional<moment> registry::next_wake() const {
  std::optional<moment> out;
  // Time may have made room between a claim and the wait after it.
  if (!closed_ && !held_back_ && queues_.has_next()) return time_.now();
  for (const auto& one : {queues_.next_wake(), retries_.next(), breakers_.next(), absences_.next()})
    if (one && (!out || *one < *out)) out = one;
  return out;
}

void registry::alerts_raised(std::string_view agent, std::uint64_t breaker_alert, std::uint64_t absent_alert) {
  const auto found = services_.find(agent);
  if (found == services_.end()) return;
  if (breaker_alert != 0) found->second.record.set_breaker_alert(breaker_alert);
  if (absent_alert != 0) found->second.record.set_absent_alert(absent_alert);
}

}  // namespace fairlead
