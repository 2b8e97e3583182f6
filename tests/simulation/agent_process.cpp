#include "tests/simulation/agent_process.hpp"

#include <algorithm>
#include <utility>

#include "actors/agents/attempt_results.hpp"

namespace fairlead::simulation {

using fairlead::agents::attempt_key;
using fairlead::agents::attempt_result;
using fairlead::agents::completion;

agents::process::process(world& in, services& behind, const agent_site& site, std::uint64_t incarnation, surroundings around)
    : world_(in),
      services_(behind),
      site_(site),
      me_{site.instance, incarnation, 0},
      around_(std::move(around)),
      host_({site.agent, site.instance, incarnation, "native"}, *this, in, *this) {
  host_.plant(*around_.planted);
}

// Guarantee 4: whoever reaches complete_by says nothing of what it has not finished. Timers count whole milliseconds.
void agents::process::check_silence(const v1::Outcome& said) {
  const auto found = begun_.find({said.task_number(), said.step(), said.direction(), said.attempt()});
  if (found == begun_.end()) return;
  auto& lease = found->second;
  // What was over as soon as it began is first heard of here.
  if (!lease.finished) lease.finished = world_.now();
  // Once the wall clock has been set, a reminder that was made before may come late; the fence is what counts then.
  if (world_.clock_settings() == 0 && *lease.finished > lease.until + duration{2})
    world::broken("spoke_after_lease", site_.instance + " reports attempt " + std::to_string(said.attempt()) + " of step " +
                                           std::to_string(said.step()) + " of task " + std::to_string(said.task_number()) +
                                           ", which it had not finished when its lease ended");
}

std::vector<std::string> agents::process::lookups() const {
  if (site_.lookups) return {"do"};
  return {};
}

void agents::process::perform(const v1::PerformBatch& what) {
  if (world_.strikes(failpoint_id::agent_received)) throw process_killed{};
  me_.epoch = std::max(me_.epoch, what.epoch());
  host_.perform(what);
  after_message();
}

void agents::process::acknowledged(const v1::OutcomeAckBatch& what) {
  host_.acknowledged(what);
  if (world_.strikes(failpoint_id::agent_acknowledged)) throw process_killed{};
}

void agents::process::after_message() {
  if (host_.wants_flush() && !std::exchange(flush_armed_, true)) {
    world_.after(world_.services.between(1, 400), [self = around_.self] {
      self([](process& here) {
        here.flush_armed_ = false;
        here.host_.flush();
      });
    });
  }
  const auto next = host_.next_expiry();
  if (!next || (armed_until_ && *armed_until_ <= *next)) return;
  armed_until_ = next;
  world_.after((to_unix_ms(*next) - to_unix_ms(world_.now())) * millisecond, [self = around_.self] {
    self([](process& here) {
      here.armed_until_.reset();
      here.host_.expire();
      here.after_message();
    });
  });
}

void agents::process::outcomes(v1::OutcomeBatch what) {
  for (const auto& one : what.items()) check_silence(one);
  world_.tell(site_.instance, "scheduler", world_.weigh(what), [&] {
    std::string text = "outcomes:";
    for (const auto& one : what.items())
      text += " task " + std::to_string(one.task_number()) + " step " + std::to_string(one.step()) + " " +
              v1::Direction_Name(one.direction()).substr(10) + " attempt " + std::to_string(one.attempt()) + " " +
              (one.has_fault() ? v1::FaultKind_Name(one.fault().kind()).substr(11) + "(" + one.fault().code() + ")"
               : one.verdict() != v1::LOOKUP_VERDICT_UNSPECIFIED ? v1::LookupVerdict_Name(one.verdict()).substr(15)
                                                                 : "done");
    return text;
  });
  around_.outcomes(std::move(what));
  if (world_.strikes(failpoint_id::agent_reported)) throw process_killed{};
}

void agents::process::finish_later(attempt_key key, attempt_result result) {
  if (const auto begun = begun_.find(key); begun != begun_.end() && !begun->second.finished) begun->second.finished = world_.now();
  world_.after(world_.services.between(1, 60), [self = around_.self, key, result = std::move(result)] {
    self([&](process& here) {
      here.host_.finished(key, result);
      here.after_message();
    });
  });
}

void agents::process::stop(const attempt_key& which) { at_work_.erase(which); }

void agents::process::answer(const attempt_key& key, const completion& done, const attempt_result& result) {
  if (at_work_.erase(key) == 0) return;  // stopped
  done(key, result);
}

// The service is asked `effect_us` from now, whoever lives then; its answer, or `instead`, comes `answer_us` later, if ever.
void agents::process::ask_service(const v1::Perform& what, std::int64_t effect_us, answer_after answer_us, const completion& done,
                                  std::optional<attempt_result> instead) {
  const attempt_key key{what.task_number(), what.step(), what.direction(), what.attempt()};
  world_.after(effect_us, [=, &in = world_, &behind = services_, who = me_, self = around_.self] {
    auto result = behind.carry_out(what, who);
    if (!answer_us) return;
    in.after(*answer_us, [=, &in] {
      self([&](process& here) {
        if (in.strikes(failpoint_id::agent_answered)) throw process_killed{};
        here.answer(key, done, instead ? *instead : result);
        // Some say everything twice.
        if (in.services.chance(30)) done(key, instead ? *instead : result);
        here.after_message();
      });
    });
  });
}

bool agents::process::fails_at_once(const v1::Perform& what, const completion& done) {
  const attempt_key key{what.task_number(), what.step(), what.direction(), what.attempt()};
  std::optional<attempt_result> fault;
  if (world_.strikes(concern::failing_services, world_.services, 110))
    fault = fairlead::agents::transient_fault("busy", "the service is busy");
  if (world_.strikes(concern::failing_services, world_.services, 35))
    fault = fairlead::agents::permanent_fault("refused", "the service refuses this");
  if (what.direction() == v1::DIRECTION_LOOKUP && world_.strikes(concern::doubtful_services, world_.services, 150)) {
    fault = fairlead::agents::completed("null");
    fault->verdict = v1::LOOKUP_VERDICT_UNKNOWN;
  }
  if (!fault) return false;
  world_.after(world_.services.between(1, 200) * millisecond, [=, self = around_.self] {
    self([&](process& here) {
      here.answer(key, done, *fault);
      here.after_message();
    });
  });
  return true;
}

void agents::process::start(const v1::Perform& what, completion done) {
  const attempt_key key{what.task_number(), what.step(), what.direction(), what.attempt()};
  at_work_[key] = true;
  begun_[key] = {from_unix_ms(what.complete_by_unix_ms()), std::nullopt};
  world_.tell(site_.instance, "", what.attempt(), [&] {
    return "starts " + v1::Direction_Name(what.direction()).substr(10) + " of " + what.task_id() + "/" + what.step_path() + " attempt " +
           std::to_string(what.attempt());
  });
  if (fails_at_once(what, done)) return;
  auto& luck = world_.services;
  const auto lookup = what.direction() == v1::DIRECTION_LOOKUP;
  if (world_.strikes(concern::doubtful_services, luck, 90)) {
    // The connection broke: perhaps before the request was there, perhaps behind it, perhaps it is still on its way.
    const auto fault = fairlead::agents::in_doubt_fault("connection_lost", "the answer never came");
    const auto how = luck.below(3);
    if (how == 0) {
      world_.after(luck.between(1, 300) * millisecond, [=, self = around_.self] {
        self([&](process& here) {
          here.answer(key, done, fault);
          here.after_message();
        });
      });
    } else {
      ask_service(what, luck.between(1, how == 1 ? 100 : 9'000) * millisecond, std::nullopt, done);
      world_.after(luck.between(1, 300) * millisecond, [=, self = around_.self] {
        self([&](process& here) {
          here.answer(key, done, fault);
          here.after_message();
        });
      });
    }
  } else if (world_.strikes(concern::slow_services, luck, 70)) {
    ask_service(what, luck.between(0, 9'000) * millisecond, luck.between(0, 5'000) * millisecond, done);
  } else if (world_.strikes(concern::slow_services, luck, 25)) {
    if (!lookup && luck.chance(600)) ask_service(what, luck.between(0, 9'000) * millisecond, std::nullopt, done);
  } else if (luck.chance(120)) {
    // Answers before `start` is over.
    auto result = services_.carry_out(what, me_);
    answer(key, done, result);
  } else {
    ask_service(what, luck.between(1, 120) * millisecond, luck.between(1, 120) * millisecond, done);
  }
  if (world_.strikes(failpoint_id::agent_requested)) throw process_killed{};
}

}  // namespace fairlead::simulation
