#include "actors/agent_host/host.hpp"

#include <algorithm>
#include <utility>

#include "actors/agents/attempt_results.hpp"

namespace fairlead {

namespace {

constexpr duration resend_after = std::chrono::seconds{2};

// The host that is inside its backend's `start` on this thread. Completions may come from any thread; only those on this very thread are
// taken at once. A member could not hold this: other threads would read it while it is written.
thread_local const agent_host* starting_here = nullptr;

/// Resets the pointer also if `start` throws: otherwise a later completion of another host at the same address would be taken for this
/// one's.
class starting {
 public:
  explicit starting(const agent_host* who) : outer_(std::exchange(starting_here, who)) {}
  ~starting() { starting_here = outer_; }
  starting(const starting&) = delete;
  starting& operator=(const starting&) = delete;

 private:
  const agent_host* outer_;
};

/// The node file may be mended at any moment, and nothing was sent.
agents::attempt_result no_callback_url(const std::string& agent) {
  return agents::transient_fault("no_callback_url",
                                 "the step awaits a callback, and the node of agent " + agent +
                                     " has no address for one; set callback_url in its node file, or give api.listen a host and a port");
}

agents::attempt_result secret_fault(const error& why) {
  const auto* code = why.code == v1::ERROR_CODE_NOT_FOUND ? "secret_unknown" : "secret_not_allowed";
  return agents::permanent_fault(code, why.sentence);
}

}  // namespace

agent_host::agent_host(identity who, agents::backend& backend, const clock& time, agent_outbox& out)
    : agent_(std::move(who.agent)),
      instance_(std::move(who.instance)),
      incarnation_(who.incarnation),
      first_beat_(who.first_beat),
      callback_url_(std::move(who.callback_url)),
      time_(time),
      out_(out) {
  use(std::move(who.as), {&backend, [](agents::backend*) {}});
}

void agent_host::use(definition as, std::shared_ptr<agents::backend> backend) {
  backend->report_progress_to([this](const agents::attempt_key& key, agents::attempt_progress what) {
    if (inbox_.put(key, std::move(what))) out_.progress_later(key);
  });
  const auto beats_itself = backend->beats_itself();
  now_by_ = std::make_shared<const performer>(performer{std::move(as), std::move(backend), beats_itself});
}

void agent_host::redefine(definition as, std::shared_ptr<agents::backend> backend) {
  former_.push_back(now_by_);
  use(std::move(as), std::move(backend));
  retire();
}

void agent_host::retire() {
  std::erase_if(ending_, [](const auto& one) { return one.wait_for(std::chrono::seconds{0}) == std::future_status::ready; });
  std::erase_if(former_, [this](const auto& one) {
    if (one.use_count() > 1) return false;
    ending_.push_back(std::async(std::launch::async, [backend = one->backend] { backend->shut_down(); }));
    return true;
  });
}

void agent_host::shut_down() {
  for (const auto& one : former_) one->backend->shut_down();
  now_by_->backend->shut_down();
  ending_.clear();  // waits for each
}

v1::RegisterAgent agent_host::registration(std::uint32_t shard) const {
  v1::RegisterAgent out;
  out.set_shard(shard);
  if (const auto side = shards_.find(shard); side != shards_.end()) {
    out.set_epoch(side->second.epoch);
    if (!side->second.met.empty()) *out.mutable_lineage() = side->second.met.back();
  }
  const auto& [as, backend, beats_itself] = *now_by_;
  out.set_agent(agent_);
  out.set_instance(instance_);
  out.set_incarnation(incarnation_);
  out.set_kind(as.kind);
  out.set_capacity(backend->capacity());
  for (auto& call : backend->calls()) out.add_calls(std::move(call));
  for (auto& call : backend->lookups()) out.add_lookups(std::move(call));
  for (auto& policy : backend->policies()) *out.add_policies() = std::move(policy);
  for (const auto& label : as.settings.labels) *out.add_labels() = label;
  for (const auto& limit : as.settings.limits) *out.add_limits() = limit;
  *out.mutable_breaker() = as.settings.breaker;
  return out;
}

const agents::retry_policy& agent_host::policy_of(const std::string& call) const {
  const auto& settings = now_by_->as.settings;
  const auto found = settings.call_retry.find(call);
  return found == settings.call_retry.end() ? settings.retry : found->second;
}

// ---- begin ----

void agent_host::start(v1::Perform& what, duration offset) {
  const auto key = agents::key_of(what);
  if (held_.count(key) != 0) return;
  const auto known = outcomes_.find(key);
  if (known != outcomes_.end()) {
    gather(key, known->second.outcome);
    return;
  }
  const auto now = time_.steady();
  const auto complete_by = in_own_time(what.complete_by_unix_ms(), offset);
  const auto by_heartbeat = what.heartbeat_ms() > 0 && what.heartbeat_by_unix_ms() != 0;
  const auto lease_end = by_heartbeat ? std::min(complete_by, in_own_time(what.heartbeat_by_unix_ms(), offset)) : complete_by;
  if (lease_end <= now || told_.has(key) || cut_.has(key)) return;
  const auto tries_end = planted_ != nullptr && planted_->retry_past_lease ? complete_by + std::chrono::seconds{10} : complete_by;
  const core::jitter_seed seed{key.task_number, key.step, key.attempt};
  held_attempt one{now_by_, offset, complete_by, lease_end, offset, {policy_of(what.call()), seed, tries_end}, what.budget_ms(), now};
  one.idempotency_key = what.idempotency_key();
  one.callback = what.callback();
  if (what.direction() == v1::DIRECTION_LOOKUP && !can_look_up(what.call())) {
    // The Scheduler may know an older registration. A backend without look-ups might carry out the call itself.
    one.tries.begin(now);
    one.tries.finish(1, now);
    report(key, one, agents::not_known());
    return;
  }
  if (what.heartbeat_ms() > 0) one.pulse = std::make_unique<attempt_pulse>(duration{what.heartbeat_ms()}, now, first_beat_);
  // The hand-over may have been on its way for long.
  if (what.budget_ms() > 0) what.set_budget_ms(std::min(what.budget_ms(), (complete_by - now).count()));
  one.budget_ms = what.budget_ms();
  if (one.tries.may_repeat()) one.kept = std::make_unique<v1::Perform>(what);
  if (auto at_once = begin(key, one, what, now); at_once && ended(key, one, std::move(*at_once))) return;
  one.reminder = reminders_.end();
  const auto kept = held_.emplace(key, std::move(one)).first;
  ++side_of(key).held;
  remind(key, kept->second, now);
}

bool agent_host::can_look_up(const std::string& call) const {
  const auto offered = now_by_->backend->lookups();
  return std::find(offered.begin(), offered.end(), call) != offered.end();
}

std::optional<agents::attempt_result> agent_host::begin(const agents::attempt_key& key, held_attempt& one, v1::Perform& what, moment now) {
  one.tries.begin(now);
  what.set_try_number(one.tries.number());
  if (planted_ != nullptr && planted_->new_key_per_try && one.tries.number() > 1)
    what.set_idempotency_key(what.idempotency_key() + "/" + std::to_string(one.tries.number()));
  what.set_complete_by_unix_ms(to_wall_ms(one.complete_by, now));
  what.set_try_until_unix_ms(to_wall_ms(one.tries.until(), now));
  what.set_lease_until_steady_ms(to_unix_ms(one.lease_end));
  if (!what.callback().empty()) {
    if (callback_url_.empty()) return no_callback_url(agent_);
    what.set_callback_url(callback_url_ + "/v1/callbacks/" + what.callback());
  }
  const auto secret = with_secrets(*one.by, what);
  if (!secret) return secret_fault(secret.failure());

  at_once_.reset();
  starting_ = key;
  const starting here{this};
  one.by->backend->start(*secret ? **secret : what,
                         [this, number = one.tries.number()](const agents::attempt_key& done, agents::attempt_result result) {
                           result.try_number = number;
                           if (starting_here == this && starting_ == done)
                             at_once_ = std::move(result);
                           else
                             out_.finish_later(done, std::move(result));
                         });
  return std::exchange(at_once_, std::nullopt);
}

result<std::optional<v1::Perform>> agent_host::with_secrets(const performer& by, const v1::Perform& what) const {
  if (by.backend->puts_secrets_in() || !agents::secrets::mentioned(what.input())) return std::optional<v1::Perform>{};
  if (!by.as.secrets)
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the input names a secret, and agent " + agent_ + " of this node has none",
                 "declare the secret under secrets in the node file, and add it to the agent's input_secrets"};
  auto resolved = by.as.secrets->resolve_json(what.input(), by.as.settings.input_secrets);
  if (!resolved) return resolved.failure();
  std::optional<v1::Perform> out{what};
  out->set_input(std::move(*resolved));
  return out;
}

// ---- end ----

void agent_host::finished(const agents::attempt_key& key, agents::attempt_result result) {
  const auto found = held_.find(key);
  if (found == held_.end()) return;
  auto& one = found->second;
  // A repeated completion, or one of an earlier try: the try in progress has not ended by this.
  if (!one.tries.under_way() || (result.try_number != 0 && result.try_number != one.tries.number())) return;
  if (ended(key, one, std::move(result)))
    drop(found);
  else
    remind(key, one, time_.steady());
}

bool agent_host::ended(const agents::attempt_key& key, held_attempt& one, agents::attempt_result&& result) {
  const auto now = time_.steady();
  one.tries.finish(result.tries, now);
  // The lease may have ended unnoticed (the whole process may have been suspended): a report now would be refused, or wrongly believed.
  if (lease_over(one, now)) {
    cut_.add(key);
    one.by->backend->recorded(key, false);
    return true;
  }
  if (result.fault) {
    if (const auto next = one.tries.next(*result.fault, now)) {
      one.next_try = next;
      one.last_fault = std::move(*result.fault);
      return false;
    }
  }
  report(key, one, std::move(result));
  return true;
}

std::string agent_host::redacted(const held_attempt& one, std::string text) {
  constexpr std::string_view stand_in = "[callback]";
  const auto& secrets = one.by->as.secrets;
  auto out = secrets ? secrets->redact(std::move(text)) : std::move(text);
  if (one.callback.empty()) return out;
  for (auto at = out.find(one.callback); at != std::string::npos; at = out.find(one.callback, at + stand_in.size()))
    out.replace(at, one.callback.size(), stand_in);
  return out;
}

void agent_host::report(const agents::attempt_key& key, held_attempt& one, agents::attempt_result&& result) {
  const auto now = time_.steady();
  v1::Outcome outcome;
  outcome.set_task_number(key.task_number);
  outcome.set_step(key.step);
  outcome.set_direction(key.direction);
  outcome.set_attempt(key.attempt);
  outcome.set_tries(one.tries.made());
  outcome.set_busy_ms(one.tries.last_took().count());
  const bool lookup = key.direction == v1::DIRECTION_LOOKUP;
  if (result.fault) {
    // The next attempt goes on from this attempt's progress, so the progress must arrive before the outcome.
    if (one.pulse && one.pulse->has_news()) beat(key, one, now);
    auto& fault = *outcome.mutable_fault();
    fault = std::move(*result.fault);
    fault.set_code(redacted(one, std::move(*fault.mutable_code())));
    fault.set_message(redacted(one, std::move(*fault.mutable_message())));
  } else {
    // A backend that gives no verdict has found out nothing.
    if (lookup) outcome.set_verdict(result.verdict == v1::LOOKUP_VERDICT_UNSPECIFIED ? v1::LOOKUP_VERDICT_UNKNOWN : result.verdict);
    if (!lookup || result.verdict == v1::LOOKUP_VERDICT_DONE) outcome.set_output(redacted(one, std::move(result.output)));
  }
  if (result.not_begun) outcome.set_not_begun(true);
  if (result.log) {
    outcome.set_log(redacted(one, std::move(*result.log)));
    outcome.set_log_cut(result.log_cut);
  }
  gather(key, outcome);
  if (planted_ != nullptr && planted_->drop_when_away) {
    told_.add(key);
    return;
  }
  auto& kept = outcomes_[key];
  kept.outcome = std::move(outcome);
  kept.sent = now;
  kept.idempotency_key = std::move(one.idempotency_key);
  if (!resend_at_) resend_at_ = now + resend_after;
}

void agent_host::memory::add(const agents::attempt_key& key) {
  if (!keys_.insert(key).second) return;
  order_.push_back(key);
  if (order_.size() <= limit_) return;
  keys_.erase(order_.front());
  order_.pop_front();
}

// ---- time ----

void agent_host::expire() {
  const auto now = time_.steady();
  while (!reminders_.empty() && reminders_.begin()->first <= now) {
    const auto which = held_.find(reminders_.begin()->second);
    reminders_.erase(reminders_.begin());
    which->second.reminder = reminders_.end();
    look_after(which, now);
  }
  if (!resend_at_ || *resend_at_ > now) return;
  resend_at_ = now + resend_after;
  for (auto& [key, kept] : outcomes_) {
    if (kept.sent + resend_after > now) continue;
    kept.sent = now;
    gather(key, kept.outcome);
  }
}

std::optional<moment> agent_host::next_expiry() const {
  std::optional<moment> next = resend_at_;
  if (!reminders_.empty() && (!next || reminders_.begin()->first < *next)) next = reminders_.begin()->first;
  return next;
}

}  // namespace fairlead
