// What an agent does with a try, and how services answer it.

#include <algorithm>
#include <utility>

#include "actors/agents/attempt_results.hpp"
#include "tests/simulation/agents/agent_work.hpp"
#include "tests/simulation/checker/checker.hpp"

namespace fairlead::simulation {

using fairlead::agents::attempt_key;
using fairlead::agents::attempt_result;
using fairlead::agents::completion;
using fairlead::agents::key_of;

namespace {

/// Where a key holds only for a while, requests do not linger on the way for longer than that can take.
constexpr std::int64_t longest_way_us = services::longest_way_ms * millisecond;

attempt_result with_log(const v1::Perform& what, attempt_result result) {
  if (what.direction() != v1::DIRECTION_LOOKUP) result.log = printed_by(what.task_id(), what.step(), what.direction(), what.attempt());
  return result;
}

}  // namespace

agents::labour::labour(world& in, services& behind, const agent_site& site, std::uint64_t incarnation, lease_book& book,
                       surroundings around)
    : world_(in),
      services_(behind),
      site_(site),
      me_{site.instance, incarnation, 0, site.profile->key_valid_for_ms},
      book_(book),
      around_(std::move(around)) {}

// What every try of an attempt must be like.
void agents::labour::check_try(const v1::Perform& what) {
  auto& lease = book_.at(key_of(what));
  const auto text = describe(what) + " try " + std::to_string(what.try_number()) + " at " + site_.instance;
  const auto& first = lease.as_handed_over;
  if (what.idempotency_key() != first.idempotency_key() || what.perform_key() != first.perform_key())
    world::broken("key", text + " has key " + what.idempotency_key() + ", the attempt was handed over with " + first.idempotency_key());
  if (what.input() != first.input() || what.call() != first.call())
    world::broken("try_differs", text + " asks for something else than the attempt does");
  if (what.try_number() != ++lease.tries) world::broken("try_differs", text + " is the " + std::to_string(lease.tries) + ". of it");
  if (static_cast<std::int64_t>(what.try_number()) > static_cast<std::int64_t>(site_.profile->retry.tries))
    world::broken("try_differs", text + " is more than its agent may make");
  world_.judges("try_past_lease");
  const auto try_until_us = world_.now_us() + (what.try_until_unix_ms() - around_.time->now_ms()) * millisecond;
  if (world_.now_us() > lease.until_us() + whole_ms_us || try_until_us > lease.complete_by.now_us() + whole_ms_us)
    world::broken("try_past_lease", text + " begins, and its lease ends before it can");
}

void agents::labour::answer(const job& of, const attempt_result& result) {
  const auto found = at_work_.find(key_of(of.what));
  if (found == at_work_.end() || found->second != of.number) return;  // stopped, or over
  at_work_.erase(found);
  book_.at(key_of(of.what)).finish(world_.now_us());
  of.done(key_of(of.what), with_log(of.what, result));
}

void agents::labour::answer_later(const job& of, std::int64_t delay_us, attempt_result result) {
  world_.after(delay_us, [of, result = std::move(result), self = around_.self] {
    self([&](labour& here) {
      here.answer(of, result);
      here.after_message();
    });
  });
}

// The service is asked `effect_us` from now, whoever lives then; its answer, or `instead`, comes `answer_us` later, if ever.
void agents::labour::ask_service(const job& of, std::int64_t effect_us, answer_after answer_us, std::optional<attempt_result> instead) {
  if (me_.key_valid_for_ms != 0) effect_us = std::min(effect_us, longest_way_us);
  world_.after(effect_us, [=, &in = world_, &behind = services_, who = me_, self = around_.self] {
    auto result = behind.carry_out(of.what, who);
    if (!answer_us) return;
    in.after(*answer_us, [=, &in] {
      self([&](labour& here) {
        if (in.strikes(failpoint_id::agent_answered)) throw process_killed{};
        here.answer(of, instead ? *instead : result);
        // Some say everything twice.
        if (in.services.chance(30)) of.done(key_of(of.what), with_log(of.what, instead ? *instead : result));
        here.after_message();
      });
    });
  });
}

/// The service as a whole is down, or slow.
bool agents::labour::service_is_bad(const job& of) {
  auto& luck = world_.handlers;
  for (const auto& one : site_.profile->outages) {
    if (world_.now_us() < one.from_us || world_.now_us() >= one.to_us) continue;
    if (!world_.strikes(concern::breakers, luck, 850)) return false;
    world_.count(one.slow ? "slow tries in an outage" : "failed tries in an outage");
    if (one.slow)
      ask_service(of, luck.between(300, 2'500) * millisecond, luck.between(1, 100) * millisecond);
    else
      answer_later(of, luck.between(1, 100) * millisecond, fairlead::agents::transient_fault("down", "the service is down"));
    return true;
  }
  return false;
}

bool agents::labour::fails_at_once(const job& of) {
  std::optional<attempt_result> fault;
  if (world_.strikes(concern::failing_services, world_.services, 110)) {
    fault = fairlead::agents::transient_fault("busy", "the service is busy");
    // From nothing to beyond every lease.
    const auto asks = world_.handlers.chance(400);
    const auto how_long = world_.handlers.chance(100) ? 15'000 : world_.handlers.between(1, 3'000);
    if (asks && world_.settings.has(concern::tries)) fault->fault->set_retry_after_ms(how_long);
  }
  if (world_.strikes(concern::failing_services, world_.services, 35))
    fault = fairlead::agents::permanent_fault("refused", "the service refuses this");
  if (of.what.direction() == v1::DIRECTION_LOOKUP && world_.strikes(concern::doubtful_services, world_.services, 150)) {
    fault = fairlead::agents::completed("null");
    fault->verdict = v1::LOOKUP_VERDICT_UNKNOWN;
  }
  // Lookups fail more than all else: services that have just lost an answer are not well.
  if (of.what.direction() == v1::DIRECTION_LOOKUP && world_.strikes(concern::doubtful_services, world_.handlers, 150)) {
    fault = world_.handlers.chance(800) ? fairlead::agents::transient_fault("busy", "the service cannot be asked")
                                        : fairlead::agents::in_doubt_fault("connection_lost", "the answer never came");
  }
  if (!fault) return false;
  answer_later(of, world_.services.between(1, 200) * millisecond, *fault);
  return true;
}

/// How long a part of an answer may take, of `most_ms`. Once all is well, a handler that beats itself must be able to keep its lease: what
/// comes between its last word and its answer is shorter than its heartbeat.
std::int64_t agents::labour::at_most_ms(const job& of, std::int64_t most_ms) const {
  if (world_.trouble() || !site_.beats_itself || of.what.heartbeat_ms() == 0) return most_ms;
  return std::clamp<std::int64_t>(of.what.heartbeat_ms() / 8, 1, most_ms);
}

/// A step with a heartbeat is there to take its time: it works in parts and tells how far it is. Some hang on the way.
bool agents::labour::takes_long(const job& of) {
  // Once all is well, a breaker that minds slow tries must be able to close.
  if (of.what.heartbeat_ms() == 0 || (site_.profile->breaker.slow_ms() > 0 && !world_.trouble())) return false;
  auto& luck = world_.handlers;
  const auto is_long = luck.chance(650);
  const auto parts = static_cast<int>(luck.between(2, 8));
  // It can be done in the time that there is.
  const auto left_ms = of.what.try_until_unix_ms() - around_.time->now_ms();
  const auto wanted_us = luck.between(of.what.heartbeat_ms() / 8, of.what.heartbeat_ms() * (world_.trouble() ? 3 : 2) / 4) * millisecond;
  const auto limit_ms = world_.trouble() ? left_ms / 2 : std::min<std::int64_t>(left_ms / 2, 1'500);
  const auto pause_us = std::min(wanted_us, limit_ms * millisecond / parts);
  const auto hangs_at = static_cast<int>(luck.below(static_cast<std::uint64_t>(parts)));
  if (!is_long || left_ms < 500 || !world_.settings.has(concern::heartbeats)) return false;
  const auto hangs = world_.strikes(concern::heartbeats, luck, 200);
  if (hangs) world_.count("handlers that hang");
  work_on(of, 1, hangs ? -hangs_at : parts, pause_us, hangs);
  return true;
}

void agents::labour::work_on(const job& of, int part, int parts, std::int64_t pause_us, bool hangs) {
  world_.after(pause_us, [=, self = around_.self] {
    self([&](labour& here) {
      const auto found = here.at_work_.find(key_of(of.what));
      if (found == here.at_work_.end() || found->second != of.number) return;
      if (part >= std::abs(parts)) {
        if (hangs) return;  // never heard of again
        const auto most_ms = here.at_most_ms(of, 60);
        here.ask_service(of, here.world_.handlers.between(1, most_ms) * millisecond,
                         here.world_.handlers.between(1, most_ms) * millisecond);
        return;
      }
      fairlead::agents::attempt_progress told;
      if (here.world_.handlers.chance(700)) told.percent = static_cast<std::uint32_t>(100 * part / std::max(1, std::abs(parts)));
      if (here.world_.handlers.chance(500))
        told.checkpoint = R"({"attempt":)" + std::to_string(of.what.attempt()) + R"(,"part":)" + std::to_string(part) + "}";
      here.tells(key_of(of.what), std::move(told));
      here.work_on(of, part + 1, parts, pause_us, hangs);
      here.after_message();
    });
  });
}

/// A try that has a time of its own ends by itself.
void agents::labour::end_try_in_time(const job& of) {
  if (of.what.try_until_unix_ms() == 0 || of.what.try_until_unix_ms() >= of.what.complete_by_unix_ms()) return;
  const auto wait_ms = of.what.try_until_unix_ms() - around_.time->now_ms();
  // Nobody knows how far the service has got with it.
  answer_later(of, wait_ms * millisecond, fairlead::agents::in_doubt_fault("try_timeout", "the service took too long"));
}

void agents::labour::start(const v1::Perform& what, completion done) {
  const auto key = key_of(what);
  begins(key, what);
  book_.at(key).finished_us.reset();
  check_try(what);
  around_.judges[what.shard()]->try_begins(site_, me_.incarnation, what);
  const job of{what, std::move(done), next_job_++};
  at_work_[key] = of.number;
  world_.tell(site_.instance, "", what.attempt(), [&] {
    return "starts " + v1::Direction_Name(what.direction()).substr(10) + " of " + what.task_id() + "/" + what.step_path() + " attempt " +
           std::to_string(what.attempt()) + " try " + std::to_string(what.try_number());
  });
  if (what.try_number() > 1) {
    world_.count("further tries");
    if (world_.strikes(failpoint_id::agent_retrying)) throw process_killed{};
  }
  end_try_in_time(of);
  if (service_is_bad(of) || fails_at_once(of)) return;
  auto& luck = world_.services;
  const auto lookup = what.direction() == v1::DIRECTION_LOOKUP;
  if (world_.strikes(concern::doubtful_services, luck, 90)) {
    // The connection broke: perhaps before the request was there, perhaps behind it, perhaps it is still on its way.
    const auto how = luck.below(3);
    if (how != 0) ask_service(of, luck.between(1, how == 1 ? 100 : 9'000) * millisecond, std::nullopt);
    answer_later(of, luck.between(1, 300) * millisecond, fairlead::agents::in_doubt_fault("connection_lost", "the answer never came"));
  } else if (world_.strikes(concern::slow_services, luck, 70)) {
    const auto effect_us = luck.between(0, 9'000) * millisecond;
    ask_service(of, effect_us, luck.between(0, 5'000) * millisecond);
  } else if (world_.strikes(concern::slow_services, luck, 25)) {
    if (!lookup && luck.chance(600)) ask_service(of, luck.between(0, 9'000) * millisecond, std::nullopt);
  } else if (takes_long(of)) {
    return;
  } else if (luck.chance(120)) {
    // Answers before `start` is over.
    auto result = services_.carry_out(what, me_);
    answer(of, result);
  } else {
    const auto most_ms = at_most_ms(of, 120);
    const auto effect_us = luck.between(1, most_ms) * millisecond;
    ask_service(of, effect_us, luck.between(1, most_ms) * millisecond);
  }
  if (world_.strikes(failpoint_id::agent_requested)) throw process_killed{};
}

}  // namespace fairlead::simulation
