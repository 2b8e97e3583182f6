#include "tests/simulation/agents/hand.hpp"

#include <algorithm>
#include <utility>

#include "tests/simulation/agents/worker.hpp"
#include "tests/simulation/checker/checker.hpp"

namespace fairlead::simulation {

using fairlead::agents::attempt_key;
using fairlead::agents::attempt_progress;
using fairlead::agents::attempt_result;

namespace {

constexpr std::int64_t patience_us = 3 * second;  // for an answer
constexpr std::int64_t million = 1'000'000;
constexpr int most_failures = 3;  // in a row, before it goes on at another node
constexpr int most_leaves = 3;    // requests without an answer, before its process ends all the same

bool is_gone(const error& what) { return what.code == v1::ERROR_CODE_NOT_FOUND; }

/// It may be asked again.
void judge_refusal(const std::string& instance, const error& what) {
  if (what.code == v1::ERROR_CODE_NOT_FOUND || what.code == v1::ERROR_CODE_UNAVAILABLE) return;
  world::broken("worker_refused", instance + " is told: " + what.sentence);
}

}  // namespace

agents::hand::hand(world& in, services& behind, const agent_site& site, worker& of, surroundings around)
    : labour(in, behind, site, 0, of.leases(), around),
      of_(of),
      self_(around.self),
      wall_(around.time),
      origin_us_(in.doors.between(1, 1'000'000) * second),
      rate_ppm_(in.doors.between(-500, 500)) {}

std::int64_t agents::hand::steady_us() const { return origin_us_ + world_.now_us() + world_.now_us() * rate_ppm_ / million; }

void agents::hand::later(std::int64_t delay_us, std::function<void(hand&)> what) {
  world_.after(delay_us, [self = self_, what = std::move(what)] { self([&](labour& here) { what(static_cast<hand&>(here)); }); });
}

// ---- registration ----

void agents::hand::begin() { sign_in(); }

void agents::hand::sign_in() {
  hand_registration what{session_, moves_, me_.incarnation, {}, world_.doors.chance(700), {}};
  for (const auto& [ticket, one] : held_)
    if (!session_.empty()) what.have.push_back(ticket);
  const auto attempt = ++sign_ins_;
  what.is_wanted = [self = self_, attempt] {
    bool out = false;
    self([&](labour& here) { out = static_cast<hand&>(here).carrier_ == 0 && static_cast<hand&>(here).sign_ins_ == attempt; });
    return out;
  };
  had_ = {what.have.begin(), what.have.end()};
  of_.send(node_, [self = self_, &of = of_, node = node_, what, attempt] {
    of.registers(node, what, [self, &of, node, attempt](const result<hand_session>& answer) {
      of.answer(node, self, [node, attempt, answer](hand& here) { here.signed_in(attempt, node, answer); });
    });
  });
  later(patience_us, [attempt](hand& here) {
    if (attempt != here.sign_ins_ || here.carrier_ != 0) return;
    here.node_ = (here.node_ + 1) % worker::nodes;
    here.sign_in();
  });
}

void agents::hand::signed_in(std::uint64_t attempt, std::size_t node, const result<hand_session>& answer) {
  if (attempt != sign_ins_ || carrier_ != 0) return;
  if (!answer) {
    const auto code = answer.failure().code;
    // A person would have to look: somebody starts it anew.
    if (!session_.empty() && (code == v1::ERROR_CODE_FORBIDDEN || code == v1::ERROR_CODE_CONFLICT)) throw process_killed{};
    ++sign_ins_;
    return later(luck_ms(200, 1'500), [attempt](hand& here) {
      if (attempt + 1 == here.sign_ins_ && here.carrier_ == 0) here.sign_in();
    });
  }
  world_.judges("incarnation");
  if (session_.empty() ? answer->incarnation <= of_.past_incarnation() : answer->incarnation != me_.incarnation)
    world::broken("incarnation", site_.instance + " gets incarnation " + std::to_string(answer->incarnation) + ", and " +
                                     (session_.empty() ? "a process before it had that" : "it was another one before"));
  carrier_ = answer->carrier;
  session_ = answer->session;
  moves_ = answer->moves;
  me_.incarnation = answer->incarnation;
  after_ = 0;
  failures_ = 0;
  takes_now_ = reports_now_ = is_drained_ = false;
  // Answers to what was sent to the former host are not about this one.
  ++takes_;
  ++reports_;
  of_.speaks_with(node);
  world_.tell(site_.instance, "", answer->incarnation, [&] {
    return "is carried by node " + std::to_string(node) + " as incarnation " + std::to_string(answer->incarnation) + ", move " +
           std::to_string(answer->moves);
  });
  // It may be busy at first.
  if (moves_ > 0 && world_.doors.chance(300))
    later(luck_ms(500, 5'000), [carrier = carrier_](hand& here) {
      if (here.carrier_ == carrier) here.take();
    });
  else
    take();
  report();
  drain();
}

void agents::hand::move() {
  if (carrier_ == 0 || leaves_now_) return;
  carrier_ = 0;
  world_.count("workers that move");
  if (world_.doors.chance(700)) node_ = (node_ + 1) % worker::nodes;
  sign_in();
}

/// No answer has come, or one that says that it does not know.
void agents::hand::failed(std::uint64_t carrier) {
  if (carrier == carrier_ && ++failures_ >= most_failures) move();
}

// ---- takes ----

void agents::hand::take() {
  if (carrier_ == 0 || takes_now_ || leaves_now_ || held_.size() >= site_.capacity) return;
  takes_now_ = true;
  take_once(++takes_);
}

void agents::hand::take_once(std::uint64_t number) {
  if (number != takes_ || carrier_ == 0) return;
  if (held_.size() >= site_.capacity) {
    takes_now_ = false;
    return;
  }
  const auto room = static_cast<std::int64_t>(site_.capacity - held_.size());
  const auto most = static_cast<std::uint32_t>(world_.doors.chance(700) ? room : world_.doors.between(1, room));
  const auto wait_us = luck_ms(50, 4'000);
  const auto stamp_us = steady_us() / millisecond * millisecond;
  const auto x = std::make_shared<worker::exchange>();
  of_.send(node_, [self = self_, &of = of_, node = node_, carrier = carrier_, after = after_, number, most, wait_us, stamp_us, x] {
    of.takes(node, carrier, {most, duration{wait_us / millisecond}, after, {}}, x,
             [self, &of, node, number, stamp_us, x](const auto& answer) {
               of.answer(node, self, [number, stamp_us, answer, x](hand& here) {
                 if (!std::exchange(x->closed, true)) here.taken(number, stamp_us, answer);
               });
             });
  });
  later(wait_us + patience_us, [&of = of_, node = node_, number, carrier = carrier_, x](hand& here) {
    if (x->closed) return;
    of.close(node, x);
    if (number != here.takes_) return;
    here.failed(carrier);
    here.take_once(number);
  });
}

void agents::hand::taken(std::uint64_t number, std::int64_t stamp_us, const result<session::take_answer>& answer) {
  if (abandons_) return;
  const bool is_latest = number == takes_ && carrier_ != 0;
  if (!answer) {
    judge_refusal(site_.instance, answer.failure());
    if (is_latest && is_gone(answer.failure())) move();
    return;
  }
  // A request that was sent to the node before may be answered when the worker has gone on already.
  for (const auto& one : answer->attempts) {
    if (is_latest && had_.count(one.what.ticket()) != 0)
      world::broken("sent_though_held", describe(one.what) + " is sent to " + site_.instance + ", which has said that it holds it");
    keep(one, stamp_us, answer->waited_ms);
  }
  if (!is_latest) return;
  failures_ = 0;
  after_ = answer->number;
  of_.judge_confirmed(carrier_, after_);
  const auto rest_us = world_.doors.chance(850) ? luck_ms(0, 100) : luck_ms(100, 4'000);
  later(rest_us, [number](hand& here) {
    if (number != here.takes_ || here.carrier_ == 0) return;
    here.takes_now_ = false;
    here.take();
  });
}

void agents::hand::set_end(item& one, std::int64_t stamp_us, std::int64_t lease_ms) {
  if (stamp_us < one.heard_us) return;
  one.heard_us = stamp_us;
  one.ends_us = stamp_us + lease_ms * millisecond;
  judge_lease(one);
}

/// Whatever the worker counts by, it believes in no lease for longer than its shard allows.
void agents::hand::judge_lease(const item& one) const {
  world_.judges("late_lease");
  const auto left_us = (one.ends_us - steady_us()) * million / (million + rate_ppm_);
  const auto late_us = world_.now_us() + left_us - book_.at(one.key).until_us();
  if (left_us > 0 && late_us > whole_ms_us)
    world::broken("late_lease", site_.instance + " believes in its lease of " + describe(one.what) + " for " +
                                    std::to_string(late_us / millisecond) + " ms after its end");
}

void agents::hand::keep(const session::attempt& one, std::int64_t stamp_us, std::int64_t waited_ms) {
  const auto& ticket = one.what.ticket();
  auto& known = of_.known(one.what);
  known.is_seen = true;
  item kept;
  kept.what = one.what;
  kept.key = fairlead::agents::key_of(one.what);
  set_end(kept, stamp_us, waited_ms + one.lease_ms);
  if (held_.count(ticket) != 0) world_.count("attempts that a worker is sent again");
  // What it has let go may be sent again, where the clock of the shard was set back.
  if (steady_us() >= kept.ends_us || !begun_.insert(ticket).second) return;
  if (known.is_returned)
    world::broken("given_back_begun", describe(one.what) + " begins at " + site_.instance + ", and its shard was told that nobody has it");
  known.is_begun = true;
  const auto left_us = one.what.heartbeat_ms() > 0 ? book_.at(kept.key).complete_by.now_us() - world_.now_us() : kept.ends_us - steady_us();
  kept.what.set_complete_by_unix_ms(wall_->now_ms() + left_us / millisecond);
  kept.what.set_try_until_unix_ms(kept.what.complete_by_unix_ms());
  kept.what.set_try_number(1);
  const auto& what = held_.emplace(ticket, std::move(kept)).first->second.what;
  world_.count("attempts that workers take");
  end_lease(ticket);
  if (!site_.beats_itself && what.heartbeat_ms() > 0) beat_on(ticket);
  start(v1::Perform{what}, [self = self_](const attempt_key& key, attempt_result result) {
    self([&](labour& here) { static_cast<hand&>(here).finished(key, std::move(result)); });
  });
}

/// Looks again once the lease is over by the clock here.
void agents::hand::end_lease(const std::string& ticket) {
  const auto found = held_.find(ticket);
  if (found == held_.end() || found->second.result) return;
  const auto left_us = found->second.ends_us - steady_us();
  if (left_us > 0) return later(left_us + left_us / 2'000 + 1, [ticket](hand& here) { here.end_lease(ticket); });
  stop(found->second.key);
  held_.erase(found);
  take();
}

agents::hand::item* agents::hand::find(const attempt_key& key, std::string* ticket) {
  for (auto& [name, one] : held_) {
    if (!(one.key == key)) continue;
    if (ticket != nullptr) *ticket = name;
    return &one;
  }
  return nullptr;
}

// ---- outcomes ----

void agents::hand::finished(const attempt_key& key, attempt_result result) {
  auto* const one = find(key);
  if (one == nullptr || one->result || steady_us() >= one->ends_us) return;
  one->result = std::move(result);
  report();
}

void agents::hand::report() {
  if (carrier_ == 0 || reports_now_) return;
  if (std::none_of(held_.begin(), held_.end(), [](const auto& one) { return one.second.result.has_value(); })) return;
  reports_now_ = true;
  report_once(++reports_);
}

void agents::hand::report_once(std::uint64_t number) {
  if (number != reports_ || carrier_ == 0) return;
  std::vector<session::report> items;
  std::vector<std::string> tickets;
  for (auto& [ticket, one] : held_) {
    if (!one.result) continue;
    items.push_back({ticket, *one.result});
    tickets.push_back(ticket);
    if (std::exchange(one.is_spoken_of, true)) continue;
    auto& lease = book_.at(one.key);
    lease.finish(world_.now_us());
    world_.judges("spoke_after_lease");
    if (*lease.finished_us > lease.then_until_us + whole_ms_us)
      world::broken("spoke_after_lease", site_.instance + " reports " + describe(one.what) + ", whose lease had ended when it finished");
  }
  if (items.empty()) {
    reports_now_ = false;
    return;
  }
  of_.send(node_,
           [self = self_, &of = of_, node = node_, carrier = carrier_, number, items = std::move(items), tickets = std::move(tickets)] {
             of.reports(node, carrier, items, [self, &of, node, number, tickets](const auto& answer) {
               of.answer(node, self, [number, tickets, answer](hand& here) { here.reported(number, tickets, answer); });
             });
           });
  later(luck_ms(3'000, 11'000), [number, carrier = carrier_](hand& here) {
    if (number != here.reports_ || here.carrier_ != carrier || !here.reports_now_) return;
    here.failed(carrier);
    here.report_once(number == here.reports_ ? ++here.reports_ : 0);
  });
}

void agents::hand::reported(std::uint64_t number, const std::vector<std::string>& tickets,
                            const result<std::vector<session::report_answer>>& answer) {
  if (!answer) {
    judge_refusal(site_.instance, answer.failure());
    if (number != reports_ || carrier_ == 0) return;
    if (is_gone(answer.failure())) return move();
    // The same once more, a little later.
    ++reports_;
    const auto next = reports_;
    failed(carrier_);
    return later(luck_ms(100, 1'000), [next](hand& here) { here.report_once(next); });
  }
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    const auto found = held_.find(tickets[i]);
    if (found == held_.end()) continue;
    const auto how = (*answer)[i].result;
    world_.judges("answer_untrue");
    if (how != session::report_result::not_held && !of_.known(found->second.what).is_accepted)
      world::broken("answer_untrue", site_.instance + " is told that its outcome of " + describe(found->second.what) +
                                         " is taken, and its shard has not taken it");
    if (how == session::report_result::not_held) world_.count("outcomes of workers that are not held");
    held_.erase(found);
  }
  if (number == reports_) {
    failures_ = 0;
    reports_now_ = false;
  }
  take();
  report();
}

// ---- heartbeats ----

void agents::hand::tells(const attempt_key& key, attempt_progress what) {
  std::string ticket;
  if (find(key, &ticket) != nullptr) beat(ticket, std::move(what));
}

void agents::hand::beat_on(const std::string& ticket) {
  const auto found = held_.find(ticket);
  if (found == held_.end() || found->second.result) return;
  later(std::max<std::int64_t>(found->second.what.heartbeat_ms() / 3, 1) * millisecond, [ticket](hand& here) {
    here.beat(ticket, {});
    here.beat_on(ticket);
  });
}

void agents::hand::beat(const std::string& ticket, attempt_progress what) {
  const auto found = held_.find(ticket);
  if (found == held_.end() || found->second.result || carrier_ == 0) return;
  const session::beat item{ticket, ++found->second.beats, std::move(what)};
  const auto stamp_us = steady_us() / millisecond * millisecond;
  of_.send(node_, [self = self_, &of = of_, node = node_, carrier = carrier_, item, stamp_us] {
    of.beats(node, carrier, item, [self, &of, node, ticket = item.ticket, stamp_us](const auto& answer) {
      of.answer(node, self, [ticket, stamp_us, answer](hand& here) {
        const auto found = here.held_.find(ticket);
        if (found == here.held_.end() || found->second.result) return;
        if (!answer) return judge_refusal(here.site_.instance, answer.failure());
        const auto& said = answer->front();
        if (said.held) {
          // What is over is over.
          if (here.steady_us() < found->second.ends_us) here.set_end(found->second, stamp_us, said.lease_ms);
          return;
        }
        here.stop(found->second.key);
        here.held_.erase(found);
        here.take();
      });
    });
  });
}

// ---- its end ----

void agents::hand::end() {
  auto& luck = world_.exits;
  world_.count("workers that are told to end");
  world_.tell(site_.instance, "", me_.incarnation, [] { return std::string{"is to end"}; });
  drains_ = luck.chance(700);
  abandons_at_us_ = world_.now_us() + (luck.chance(300) ? 0 : luck.between(300, 8'000) * millisecond);
  drain();
  later(luck.between(0, drains_ ? 2'000 : 100) * millisecond, [](hand& here) { here.leave(); });
}

/// It goes on taking: attempts of an answer that was lost come to it still.
void agents::hand::drain() {
  if (!drains_ || is_drained_ || carrier_ == 0) return;
  of_.send(node_, [self = self_, &of = of_, node = node_, carrier = carrier_] {
    of.drains(node, carrier, [self, &of, node, carrier](const status& answer) {
      of.answer(node, self, [carrier, answer](hand& here) { here.drained(carrier, answer); });
    });
  });
  later(patience_us, [carrier = carrier_](hand& here) {
    if (here.carrier_ == carrier) here.drain();
  });
}

void agents::hand::drained(std::uint64_t carrier, const status& answer) {
  if (carrier != carrier_) return;
  is_drained_ = answer.ok();
  if (answer) return;
  judge_refusal(site_.instance, answer.failure());
  if (is_gone(answer.failure())) move();
}

/// Once it holds nothing, or its time is over. At times also while it holds something, which its node should refuse.
void agents::hand::leave() {
  const auto is_late = world_.now_us() >= abandons_at_us_;
  const auto is_early = world_.exits.chance(150);
  if (carrier_ == 0 || !(is_late || is_early || held_.empty()))
    return later(world_.exits.between(100, 1'000) * millisecond, [](hand& here) { here.leave(); });
  if (is_late) let_go();
  leaves_now_ = held_.empty();
  if (leaves_now_ && ++unheard_leaves_ > most_leaves) throw process_killed{};
  const auto number = ++leaves_;
  of_.send(node_, [self = self_, &of = of_, node = node_, carrier = carrier_, number, abandoned = abandons_] {
    of.leaves(node, carrier, abandoned, [self, &of, node, carrier, number](const status& answer) {
      of.answer(node, self, [number, carrier, answer](hand& here) { here.left(number, carrier, answer); });
    });
  });
  later(patience_us, [number](hand& here) {
    if (number == here.leaves_) here.leave();
  });
}

void agents::hand::left(std::uint64_t number, std::uint64_t carrier, const status& answer) {
  if (number != leaves_ || carrier != carrier_) return;
  ++leaves_;  // nobody waits for this one any more
  unheard_leaves_ = 0;
  leaves_now_ = false;
  if (answer || is_gone(answer.failure())) {
    if (held_.empty()) throw process_killed{};
    move();
  } else if (abandons_ || answer.failure().code != v1::ERROR_CODE_WRONG_STATE) {
    judge_refusal(site_.instance, answer.failure());
  } else {
    world_.count("ends of workers that are refused");
    take();
  }
  later(world_.exits.between(100, 1'000) * millisecond, [](hand& here) { here.leave(); });
}

/// Whoever abandons an attempt works on it no more: what it has asked of a service may come to pass all the same.
void agents::hand::let_go() {
  abandons_ = true;
  world_.count("attempts that workers abandon", held_.size());
  for (const auto& [ticket, one] : held_) stop(one.key);
  held_.clear();
}

}  // namespace fairlead::simulation
