#include "actors/agents/worker/session.hpp"

#include <algorithm>
#include <utility>

#include "actors/agents/attempt_results.hpp"
#include "messages/tickets.hpp"

namespace fairlead::agents {

namespace {

/// Between two takes of a worker that goes on taking.
constexpr duration between_takes{200};
constexpr duration give_back_after{2'000};
/// Where a lease is short: so long before its end, so that the Scheduler hears of it while it still waits, but not at once.
constexpr duration give_back_ahead{200};
/// After a move, for how long an attempt that arrives may have been carried by an answer of the former node.
constexpr duration carried_before{10'000};
/// A shard hands everything over again within that time of its welcome, and not later than that.
constexpr duration handed_again_after{2'000};
constexpr duration handed_again_until{10'000};
/// Of inputs and outputs in one answer, beyond the first attempt's.
constexpr std::size_t most_answered_bytes = std::size_t{4} << 20;

std::size_t size_of(const v1::Perform& what) { return what.input().size() + what.perform_output().size() + what.checkpoint().size(); }

attempt_result not_begun() {
  auto out = transient_fault("not_begun", "the worker has not asked for the attempt");
  out.not_begun = true;
  return out;
}

attempt_result abandoned_attempt() { return in_doubt_fault("abandoned", "the worker has left, and may have begun the attempt"); }

}  // namespace

worker_session::worker_session(definition as, const clock& time)
    : as_(std::move(as)),
      time_(time),
      have_(as_.have.begin(), as_.have.end()),
      last_request_(time.steady()),
      last_turn_(time.steady()),
      last_take_(time.steady()) {}

error worker_session::gone() {
  return {v1::ERROR_CODE_NOT_FOUND, "This node does not carry the worker any more.",
          "Register again, with the field session and the tickets of all attempts that are held."};
}

/// The time that the worker may count from `from`. The clocks of two machines run apart by less than a thousandth.
std::int64_t worker_session::lease_from(moment lease_end, moment from) {
  const auto left = std::max<std::int64_t>((lease_end - from).count(), 0);
  return left - left / 1'000;
}

// ---- from the host ----

void worker_session::start(const v1::Perform& what, completion done) {
  const auto key = key_of(what);
  auto& from = shards_[key.shard];
  ++from.seen;
  // The worker had begun it before it moved here, and has abandoned it meanwhile.
  if (abandons_ && have_.count(what.ticket()) != 0) return done(key, abandoned_attempt());
  if (is_over() || what.ticket().empty()) return done(key, not_begun());
  // What the worker has begun ends as it says, also where it takes no more of the kind.
  if (have_.count(what.ticket()) == 0 && std::find(as_.calls.begin(), as_.calls.end(), what.call()) == as_.calls.end())
    return done(key, permanent_fault("unknown_call", "the worker has no call " + what.call()));
  held_attempt one;
  one.what = what;
  one.done = std::move(done);
  one.lease_end = from_unix_ms(what.lease_until_steady_ms());
  one.came = now();
  one.is_known = one.is_carried = have_.erase(what.ticket()) > 0 && !planted(&core::planted_faults::ignore_have);
  one.may_be_known = as_.moved && (!from.welcomed || one.came - *from.welcomed < carried_before);
  const auto is_known = one.is_known;
  if (!attempts_.emplace(key, std::move(one)).second) return;
  tickets_[what.ticket()] = key;
  if (!is_known) queue_.push_back(key);
}

void worker_session::stop(const attempt_key& which) {
  if (const auto found = attempts_.find(which); found != attempts_.end()) {
    answer_beats(found->second, false);
    remember(found->second.what.ticket(), {report_result::not_held});
    forget(found);
  }
  // The lease has ended before the host has seen the outcome.
  if (reports_.count(which) != 0) recorded(which, false);
}

void worker_session::forget(held_attempts::iterator which) {
  queue_.remove(which->first);
  tickets_.erase(which->second.what.ticket());
  attempts_.erase(which);
}

void worker_session::welcomed(std::uint32_t shard, std::uint32_t held) {
  auto& from = shards_[shard];
  if (from.welcomed) return;
  from.welcomed = now();
  from.held = held;
}

/// Nothing is given back: what no answer of this node carried, one of the other node may carry already.
void worker_session::superseded() {
  if (take_) std::exchange(take_, std::nullopt)->done(gone());
  ends_ = true;
}

void worker_session::shut_down() {
  leaves_ = true;
  if (take_) std::exchange(take_, std::nullopt)->done(gone());
  for (const auto& one : std::exchange(waiting_beats_, {})) one->answer(gone());
  for (const auto& one : std::exchange(waiting_reports_, {})) one->answer(gone());
  attempts_.clear();
  queue_.clear();
  reports_.clear();
  reported_.clear();
}

// ---- takes ----

std::uint64_t worker_session::take(const take_request& what, taker done) {
  if (is_over()) {
    done(gone());
    return 0;
  }
  if (what.after > answers_) {
    done(error{v1::ERROR_CODE_INVALID_ARGUMENT,
               "The field after names answer " + std::to_string(what.after) + ", and the last answer was " + std::to_string(answers_) + ".",
               "Send the number in the field answer of the last answer that has arrived; 0 after each registration."});
    return 0;
  }
  heard();
  last_turn_ = last_request_;
  end_take();
  confirm(what.after);
  most_ = what.most;
  take_.emplace(waiting_take{++takes_, what, std::move(done)});
  look_at_offer();
  return takes_;
}

/// Attempts of later answers have not arrived, and are the first of the next answer.
void worker_session::confirm(std::uint64_t after) {
  if (planted(&core::planted_faults::confirm_next_answer)) ++after;
  std::vector<std::pair<std::uint64_t, attempt_key>> lost;
  for (auto& [key, one] : attempts_) {
    if (one.is_known || one.answer == 0) continue;
    if (one.answer <= after)
      one.is_known = true;
    else
      lost.emplace_back(std::exchange(one.answer, 0), key);
  }
  std::stable_sort(lost.begin(), lost.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (planted(&core::planted_faults::drop_unconfirmed)) return;
  for (const auto& [answer, key] : lost) queue_.push_front(key);
}

void worker_session::set_known(held_attempt& one) {
  if (one.is_known) return;
  one.is_known = one.is_carried = true;
  queue_.remove(key_of(one.what));
}

void worker_session::client_gone(std::uint64_t take) {
  if (!take_ || take_->number != take) return;
  take_.reset();
  last_take_ = now();
}

void worker_session::unsent(std::uint64_t answer) {
  for (auto& [key, one] : attempts_) {
    if (one.answer != answer || one.is_known) continue;
    one.answer = 0;
    one.is_carried = one.was_carried;
    queue_.push_front(key);
  }
}

/// Without attempts the number is the one that the worker has sent: it confirms no answer that may have been lost.
void worker_session::end_take() {
  if (!take_) return;
  const auto here = now();
  last_take_ = here;
  if (drains_) drain_told_ = true;
  auto ended = *std::exchange(take_, std::nullopt);
  ended.done(take_answer{ended.what.after, std::max<std::int64_t>((here - ended.what.came).count(), 0), {}, drains_});
}

void worker_session::deliver() {
  if (!take_ || queue_.empty()) return;
  // What was handed to nobody is to be given back, and not to wait for the end of its lease.
  if (take_->what.is_waiting && !take_->what.is_waiting()) return client_gone(take_->number);
  take_answer out;
  const auto here = now();
  out.waited_ms = std::max<std::int64_t>((here - take_->what.came).count(), 0);
  out.draining = drains_;
  std::size_t bytes = 0;
  const std::size_t most = planted(&core::planted_faults::ignore_most) ? as_.capacity : take_->what.most;
  for (auto at = queue_.begin(); at != queue_.end() && out.attempts.size() < most;) {
    auto& one = attempts_.at(*at);
    bytes += size_of(one.what);
    if (bytes > most_answered_bytes && !out.attempts.empty()) break;
    // The host stops it at once.
    const auto from = planted(&core::planted_faults::count_wait_twice)    ? take_->what.came
                      : planted(&core::planted_faults::whole_lease_again) ? one.came
                                                                          : here;
    const auto lease_ms = lease_from(one.lease_end, from);
    if (lease_ms <= 0) {
      ++at;
      continue;
    }
    one.was_carried = std::exchange(one.is_carried, true);
    one.answer = answers_ + 1;
    out.attempts.push_back({one.what, lease_ms});
    at = queue_.erase(at);
  }
  if (out.attempts.empty()) return;
  out.number = ++answers_;
  last_take_ = here;
  if (drains_) drain_told_ = true;
  std::exchange(take_, std::nullopt)->done(std::move(out));
}

moment worker_session::given_back_at(const held_attempt& one) const {
  const auto in_time = std::max(one.came + between_takes, one.lease_end - give_back_ahead);
  return std::min(std::max(last_take_, one.came) + give_back_after, in_time);
}

void worker_session::give_back(bool all) {
  if (planted(&core::planted_faults::give_back_carried))
    for (auto& [key, one] : attempts_)
      if (!one.is_known && std::exchange(one.answer, 0) != 0) queue_.push_back(key);
  for (auto at = queue_.begin(); at != queue_.end();) {
    const auto found = attempts_.find(*at++);
    auto& one = found->second;
    if ((one.is_carried && !planted(&core::planted_faults::give_back_carried)) || one.may_be_known) continue;
    if (!all && (take_ || now() < given_back_at(one))) continue;
    const bool is_kept = planted(&core::planted_faults::keep_given_back);
    auto done = is_kept ? one.done : std::move(one.done);
    const auto key = found->first;
    remember(one.what.ticket(), {report_result::not_held});
    if (is_kept)
      one.is_carried = true;
    else
      forget(found);
    done(key, not_begun());
  }
}

/// Looks at the queue alone, which is short: what has not been carried is in it.
std::size_t worker_session::carried() const {
  const auto waits = [this](const attempt_key& key) { return !attempts_.at(key).is_carried; };
  return attempts_.size() - static_cast<std::size_t>(std::count_if(queue_.begin(), queue_.end(), waits));
}

std::size_t worker_session::held() const {
  const auto here =
      std::count_if(attempts_.begin(), attempts_.end(), [](const auto& one) { return one.second.is_carried || one.second.may_be_known; });
  // What the worker says that it holds counts before its shard has handed it over again, too.
  const auto named = std::count_if(have_.begin(), have_.end(), [this](const auto& ticket) { return may_be_on_its_way(ticket); });
  return static_cast<std::size_t>(here + named);
}

/// Lowered only after a pause: a worker that goes on taking must not be announced anew with each take.
void worker_session::look_at_offer() {
  const auto takes = take_ || now() - last_take_ < between_takes;
  const auto wanted = static_cast<std::uint32_t>(std::min<std::size_t>(carried() + reports_.size() + (takes ? most_ : 0), as_.capacity));
  if (wanted > offered_ || now() - last_turn_ >= between_takes) offered_ = wanted;
}

// ---- its end ----

status worker_session::drain() {
  if (is_over()) return gone();
  heard();
  drains_ = !planted(&core::planted_faults::ignore_drain);
  return nothing{};
}

status worker_session::leave(bool abandoned) {
  if (is_over()) return gone();
  heard();
  const auto open = held() + reports_.size();
  if (open > 0 && !abandoned && !planted(&core::planted_faults::leave_holding))
    return error{v1::ERROR_CODE_WRONG_STATE, "The worker holds " + std::to_string(open) + (open == 1 ? " attempt." : " attempts."),
                 "Report their outcomes first, or add abandon=true: each is then in doubt."};
  leaves_ = true;
  abandons_ = abandoned;
  end_take();
  give_back(true);
  while (!attempts_.empty()) {
    const auto which = attempts_.begin();
    const auto key = which->first;
    auto done = std::move(which->second.done);
    answer_beats(which->second, false);
    forget(which);
    done(key, planted(&core::planted_faults::give_back_abandoned) ? not_begun() : abandoned_attempt());
  }
  return nothing{};
}

void worker_session::close() {
  if (is_over()) return;
  drains_ = true;
  end_take();
  give_back(true);
  ends_ = true;
}

/// A take that has ended with nothing was heard until its end, however long ago it came.
moment worker_session::last_sign() const { return std::max(last_request_, last_take_); }

bool worker_session::is_silent() const { return !take_ && now() - last_sign() >= worker_silence; }

carried_backend::wish worker_session::wants() const { return {drains_ || is_silent(), is_silent(), leaves_, ends_}; }

// ---- time ----

void worker_session::caught_up() {
  const auto here = now();
  // The shards learn of a drain a moment later, and the worker gets nothing more from now on.
  if (drains_ && !planted(&core::planted_faults::send_though_drained)) give_back(true);
  deliver();
  // Once: a worker that goes on taking while it drains waits as usual.
  if (take_ && (here >= take_->what.came + take_->what.wait || (drains_ && !drain_told_))) end_take();
  if (!take_) give_back(false);
  end_late_requests();
  look_at_offer();
  if (!take_ && attempts_.empty() && reports_.empty() && here - last_sign() >= worker_forgotten) leaves_ = true;
}

std::optional<moment> worker_session::next_wake() const {
  if (is_over()) return std::nullopt;
  std::optional<moment> out;
  const auto sooner = [&out](moment when) { out = out ? std::min(*out, when) : when; };
  if (take_) {
    sooner(take_->what.came + take_->what.wait);
  } else {
    // A silent worker with attempts changes nothing by itself until they end.
    if (!is_silent())
      sooner(last_sign() + worker_silence);
    else if (attempts_.empty() && reports_.empty())
      sooner(last_sign() + worker_forgotten);
    for (const auto& key : queue_)
      if (const auto& one = attempts_.at(key); !one.is_carried && !one.may_be_known) sooner(given_back_at(one));
    if (offered_ > carried() + reports_.size()) sooner(std::max(last_turn_, last_take_) + between_takes);
  }
  for (const auto& one : waiting_beats_) sooner(one->until);
  for (const auto& one : waiting_reports_) sooner(one->until);
  return out;
}

// ---- tickets ----

/// Whether the shard has handed over again what the worker holds by its records.
bool worker_session::settled(std::uint32_t shard) const {
  if (!as_.moved) return true;
  const auto found = shards_.find(shard);
  if (found == shards_.end() || !found->second.welcomed) return false;
  const auto since = now() - *found->second.welcomed;
  return since >= handed_again_until || (since >= handed_again_after && found->second.seen >= found->second.held);
}

bool worker_session::may_be_on_its_way(const std::string& ticket) const {
  if (told_.count(ticket) != 0) return false;
  const auto named = read_ticket(ticket);
  return named && !settled(named->shard);
}

/// What has ended since. A worker that comes back after a restart of its node may not know yet.
bool worker_session::was_held(const std::string& ticket) const {
  return told_.count(ticket) != 0 || reported_.count(ticket) != 0 || have_.count(ticket) != 0;
}

/// A planted fault: of whichever attempt of the step is held.
std::string worker_session::ticket_of_step(const std::string& ticket) const {
  const auto named = read_ticket(ticket);
  for (const auto& [held, key] : tickets_)
    if (named && key.shard == named->shard && key.task_number == named->task_number && key.step == named->step &&
        key.direction == named->direction)
      return held;
  return ticket;
}

void worker_session::remember(const std::string& ticket, told_report what) {
  constexpr std::size_t most_told = 4'096;
  if (!told_.insert_or_assign(ticket, what).second) return;
  told_order_.push_back(ticket);
  if (told_order_.size() <= most_told) return;
  told_.erase(told_order_.front());
  told_order_.pop_front();
}

}  // namespace fairlead::agents
