#include "tests/simulation/people/job_people.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::simulation {

job_people::job_people(world& in, home& shard, checker& judge, host_clock& time, const job_era& era,
                       const std::vector<v1::WorkflowDefinition>& workflows, const std::vector<agent_site>& sites, std::string prefix)
    : world_(in),
      home_(shard),
      checker_(judge),
      clock_(time),
      era_(era),
      workflows_(workflows),
      sites_(sites),
      prefix_(std::move(prefix)) {}

v1::JobAction job_people::action(v1::JobVerb verb) {
  v1::JobAction out;
  out.set_verb(verb);
  out.set_who("ops");
  out.set_reason("because");
  return out;
}

void job_people::begin(std::int64_t until_us) {
  if (!era_.any) return;
  auto& luck = world_.jobs;
  const auto count = luck.chance(600) ? 1 : luck.between(2, 3);
  for (std::int64_t i = 0; i < count; ++i) {
    auto spec = make_job(world_, era_, prefix_ + std::to_string(i), workflows_, sites_);
    const auto when = luck.between(0, until_us / 3);
    if (i >= world_.settings.most_jobs) continue;
    names_.push_back(spec.name());
    world_.after(when, [this, spec] { want(spec); });
  }
  const auto acts = luck.chance(700) ? luck.below(9) : 0;
  for (std::uint64_t i = 0; i < acts; ++i) world_.after(luck.between(0, until_us), [this] { act(); });
  auto& holds = world_.holds;
  if (holds.chance(350))
    for (auto i = holds.between(1, 3); i > 0; --i) world_.after(holds.between(0, until_us), [this] { hold(); });
  const auto outage = luck.chance(300);
  const auto how_long = luck.below(100);
  const auto outage_ms = how_long < 55 ? luck.between(5'000, 180'000)
                         : era_.slow   ? luck.between(180'000, 5 * 3'600'000)
                                       : luck.between(180'000, how_long < 95 ? 600'000 : 2'400'000);
  const auto outage_us = luck.between(until_us / 5, until_us);
  if (outage) world_.after(outage_us, [this, outage_ms] { fall_out(outage_ms); });
  const auto falls = luck.chance(250);
  const auto ahead_first = luck.chance(700);
  // Not far: leases, breakers and backoffs stand by the wall clock, so they last as much longer. Far ones: far_clock.hpp.
  const auto by_ms = luck.between(2'000, 14'000);
  const auto when = luck.between(0, until_us * 3 / 4);
  const auto back = when + luck.between(500, 6'000) * millisecond;
  const auto more_ms = luck.between(-300, 1'500);
  const auto mended = luck.chance(650);
  const auto mended_after = luck.between(100, 3'000) * millisecond;
  if (!falls) return;
  if (ahead_first) world_.after(when, [this, by_ms] { set_clock(by_ms); });
  world_.after(back, [this, by_ms, more_ms] { set_clock(-by_ms - more_ms); });
  if (mended) world_.after(back + mended_after, [this] { rewind(world_.jobs); });
}

// ---- owners ----

void job_people::want(v1::JobSpec spec) {
  const auto name = spec.name();
  wishes_[name] = {std::move(spec), next_wish_++};
  deploy(name);
}

void job_people::deploy(const std::string& name) {
  const auto found = wishes_.find(name);
  if (found == wishes_.end()) return;
  const auto number = found->second.number;
  v1::JobApplyRequest request;
  *request.add_jobs() = found->second.spec;
  request.set_who("owner");
  checker_.of_jobs().applied(found->second.spec);
  world_.tell("owner", "scheduler", world_.weigh(request), [&] { return "deploys " + found->second.spec.ShortDebugString(); });
  home_.request<v1::JobApplyReply>(
      "owner", [request](scheduler& to, std::uint64_t ticket) { to.answer(request, ticket); },
      [this, name, number](const v1::JobApplyReply& reply) { answered(name, number, reply); });
  world_.after(world_.jobs.between(800, 1'500) * millisecond, [this, name, number] {
    const auto still = wishes_.find(name);
    if (still != wishes_.end() && still->second.number == number) deploy(name);
  });
}

void job_people::answered(const std::string& name, std::uint64_t wish, const v1::JobApplyReply& reply) {
  if (reply.results().empty()) return;
  const auto& why = reply.results(0).error();
  switch (why.code()) {
    case v1::ERROR_CODE_OK: {
      const auto found = wishes_.find(name);
      if (found != wishes_.end() && found->second.number == wish) wishes_.erase(found);
      return;
    }
    case v1::ERROR_CODE_NOT_FOUND:  // its workflow is not deployed yet
    case v1::ERROR_CODE_STORE_FULL:
    case v1::ERROR_CODE_OVERLOADED:
    case v1::ERROR_CODE_UNAVAILABLE: return;
    case v1::ERROR_CODE_INTERNAL:
      if (checker_.of_bugs().about_job(name)) return;
      throw rule_broken{"internal_error", "the deployment of job " + name + " met a bug: " + why.sentence(), false};
    default: world::broken("refused", "the lawful job " + name + " was refused: " + why.sentence());
  }
}

void job_people::wind_down() {
  auto names = checker_.of_jobs().names();
  for (const auto& [name, one] : wishes_) names.push_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const auto& name : names) {
    v1::JobSpec spec;
    spec.set_name(name);
    spec.set_schedule("0 0 29 2 *");
    spec.set_workflow(workflows_.back().name());
    // Launches that wait get it too.
    spec.set_input(job_input);
    spec.set_keep_launches(100'000);
    // What is held goes on at last, or stays so.
    if (world_.holds.chance(500)) spec.set_paused(false);
    want(std::move(spec));
  }
}

// ---- operators ----

void job_people::order(const std::string& name, v1::JobAction what) {
  ++orders_;
  v1::JobOperateRequest request;
  *request.mutable_action() = what;
  if (!name.empty()) request.add_names(name);
  if (name.empty())
    for (const auto& one : names_) checker_.of_jobs().ordered(one, what);
  else
    checker_.of_jobs().ordered(name, what);
  world_.tell("operator", "scheduler", world_.weigh(request), [&] {
    return v1::JobVerb_Name(what.verb()).substr(9) + " " + (name.empty() ? "all" : name) + " " + what.ShortDebugString();
  });
  world_.count("orders about jobs");
  home_.request<v1::JobOperateReply>(
      "operator", [request](scheduler& to, std::uint64_t ticket) { to.answer(request, ticket); },
      [this](const v1::JobOperateReply& reply) {
        for (const auto& one : reply.results()) {
          if (one.error().code() == v1::ERROR_CODE_OK) world_.count("orders about jobs taken");
          if (one.error().code() == v1::ERROR_CODE_INTERNAL && !checker_.of_bugs().about_job(one.name()))
            throw rule_broken{"internal_error", "an order for job " + one.name() + " met a bug: " + one.error().sentence(), false};
        }
      });
}

void job_people::act() {
  if (!world_.troubled(concern::operators) || orders_ >= world_.settings.most_orders || names_.empty()) return;
  auto& luck = world_.jobs;
  const auto& name = luck.pick(names_);
  switch (luck.below(11)) {
    case 0: return order(name, action(v1::JOB_VERB_PAUSE));
    case 1:
    case 2: return order(name, action(v1::JOB_VERB_RESUME));
    case 3:
    case 4: return run(name);
    case 5:
    case 6: return fill(name);
    case 7: {
      // The same policies at other times, or another job altogether.
      auto spec = make_job(world_, era_, name, workflows_, sites_);
      return want(std::move(spec));
    }
    case 8: return remove(name);
    case 9: return rewind(luck);
    default: return order("no-such-job", action(v1::JOB_VERB_RUN));
  }
}

/// Somebody gives a job much to do, thinks better of it, and lets it go on or drops what waits.
void job_people::hold() {
  if (!world_.troubled(concern::operators) || orders_ >= world_.settings.most_orders || names_.empty()) return;
  auto& luck = world_.holds;
  const auto name = luck.pick(names_);
  if (luck.chance(600)) {
    auto what = action(v1::JOB_VERB_BACKFILL);
    const auto known = checker_.of_jobs().times_of(name);
    what.set_to_unix_ms(std::min(clock_.now_ms(), known.empty() ? clock_.now_ms() : luck.pick(known)));
    what.set_from_unix_ms(what.to_unix_ms() - luck.between(0, era_.slow ? 720'000 : 12'000));
    order(name, what);
  }
  const auto later = [&](std::uint64_t per_mille, v1::JobVerb verb, std::int64_t most_ms) {
    if (luck.chance(per_mille)) world_.after(luck.between(0, most_ms) * millisecond, [this, name, verb] { order(name, action(verb)); });
  };
  later(800, v1::JOB_VERB_PAUSE, 1'500);
  later(400, v1::JOB_VERB_SKIP, 4'000);
  later(700, v1::JOB_VERB_RESUME, 8'000);
}

void job_people::run(const std::string& name) {
  auto& luck = world_.jobs;
  auto what = action(v1::JOB_VERB_RUN);
  if (luck.chance(250)) what.set_overlap(luck.chance(500) ? v1::OVERLAP_POLICY_QUEUE : v1::OVERLAP_POLICY_ALLOW);
  if (luck.chance(200)) what.set_input(R"({"n":7,"at":"by hand"})");
  if (luck.chance(300)) return order(name, what);
  auto nominal_ms = clock_.now_ms() - luck.between(0, luck.chance(700) ? 1'000 : 60'000);
  if (nominal_ms % 1'000 == 0) ++nominal_ms;
  what.set_nominal_unix_ms(nominal_ms);
  order(name, what);
  if (luck.chance(500)) world_.after(luck.between(0, 4'000) * millisecond, [this, name, what] { order(name, what); });
}

void job_people::fill(const std::string& name) {
  auto& luck = world_.jobs;
  auto what = action(v1::JOB_VERB_BACKFILL);
  const auto unit_ms = era_.slow ? 60'000 : 1'000;
  auto to_ms = clock_.now_ms() - luck.between(0, 5 * unit_ms);
  const auto known = checker_.of_jobs().times_of(name);
  if (!known.empty() && luck.chance(700)) to_ms = std::min(to_ms, luck.pick(known) + luck.between(0, 40 * unit_ms));
  what.set_to_unix_ms(to_ms);
  what.set_from_unix_ms(to_ms - luck.between(0, 12 * unit_ms));
  if (luck.chance(300)) what.set_overlap(v1::OVERLAP_POLICY_ALLOW);
  order(name, what);
}

void job_people::remove(const std::string& name) {
  auto& luck = world_.jobs;
  order(name, action(v1::JOB_VERB_DELETE));
  wishes_.erase(name);
  const auto again = luck.chance(700);
  auto spec = make_job(world_, era_, name, workflows_, sites_);
  if (again) world_.after(luck.between(0, 4'000) * millisecond, [this, spec] { want(spec); });
}

void job_people::rewind(random_stream& luck) {
  if (names_.empty()) return;
  order(luck.chance(500) ? std::string{} : luck.pick(names_), action(v1::JOB_VERB_REWIND));
}

// ---- fate ----

void job_people::set_clock(std::int64_t by_ms) {
  if (!world_.strikes(concern::clock_falls, world_.jobs, 1'000)) return;
  world_.tell("fate", "", static_cast<std::uint64_t>(by_ms),
              [&] { return "sets the clock of a shard by " + std::to_string(by_ms) + " ms"; });
  world_.count("clocks of shards set far");
  clock_.jump(by_ms);
  world_.note_clock_setting();
}

void job_people::fall_out(std::int64_t for_ms) {
  if (!world_.strikes(concern::long_outages, world_.jobs, 1'000)) return;
  world_.tell("fate", "", static_cast<std::uint64_t>(for_ms), [&] { return "takes a shard away for " + std::to_string(for_ms) + " ms"; });
  world_.count("long outages");
  home_.fall_out(for_ms);
}

}  // namespace fairlead::simulation
