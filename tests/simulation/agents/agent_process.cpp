#include "tests/simulation/agents/agent_process.hpp"

#include <algorithm>
#include <utility>

#include "messages/lineage.hpp"
#include "tests/simulation/checker/checker.hpp"

namespace fairlead::simulation {

using fairlead::agents::attempt_key;
using fairlead::agents::attempt_result;

namespace {

/// As agent_actor: while attempts are held the host looks at the clock at least this often.
constexpr std::int64_t longest_rest_ms = 1'000;
constexpr std::int64_t unnoticed_us = 250 * millisecond;
constexpr std::int64_t gathered_within_us = 1 * second;
constexpr std::int64_t told_within_us = 25 * second;  // a slow disk may hold up the answer, and links that freeze one after the other

std::string name_of(const attempt_key& key) {
  return std::to_string(key.shard) + "/" + std::to_string(key.lineage) + "/" + std::to_string(key.task_number) + "/" +
         std::to_string(key.step) + "/" + std::to_string(static_cast<int>(key.direction)) + "/" + std::to_string(key.attempt);
}

/// Outcomes, heartbeats and their acknowledgements name their attempts alike.
template <class Said>
attempt_key key_in(std::uint32_t shard, std::uint32_t lineage, const Said& what) {
  attempt_key out;
  out.lineage = lineage;
  out.shard = shard;
  out.task_number = what.task_number();
  out.step = what.step();
  out.direction = what.direction();
  out.attempt = what.attempt();
  return out;
}

}  // namespace

agents::process::process(world& in, services& behind, const agent_site& site, std::uint64_t incarnation, surroundings around)
    : world_(in),
      services_(behind),
      site_(site),
      me_{site.instance, incarnation, 0, site.profile->key_valid_for_ms},
      around_(std::move(around)),
      host_({site.agent, site.instance, incarnation, "native", site.settings(), nullptr}, *this, *around_.time, *this),
      links_(site.capacity, [this](std::uint32_t shard) { return host_.held(shard); }),
      sessions_(around_.judges.size()) {
  host_.plant(*around_.planted);
}

// ---- leases, as they may be believed in ----

std::int64_t agents::process::lease_end::now_us() const {
  // What a clock is set forward by a little at a time need not be followed.
  return at_us - std::max<std::int64_t>(most_ahead_us - ahead_us - unnoticed_us, 0);
}

std::int64_t agents::process::lease::until_us() const {
  const auto by = complete_by.now_us();
  return by_heartbeat ? std::min(by, by_heartbeat->now_us()) : by;
}

void agents::process::lease::finish(std::int64_t at_us) {
  if (finished_us) return;
  finished_us = at_us;
  then_until_us = until_us();
}

void agents::process::heard(std::uint32_t shard, const stamp& when) {
  for (auto& [key, one] : begun_) {
    if (one.as_handed_over.shard() != shard) continue;
    one.complete_by.most_ahead_us = std::max(one.complete_by.most_ahead_us, when.ahead_us);
    if (one.by_heartbeat) one.by_heartbeat->most_ahead_us = std::max(one.by_heartbeat->most_ahead_us, when.ahead_us);
  }
}

// Guarantee 4: whoever reaches the end of its lease says nothing of what it has not finished.
void agents::process::check_silence(const attempt_key& key, const v1::Outcome& said) {
  const auto found = begun_.find(key);
  if (found == begun_.end()) return;
  auto& lease = found->second;
  // What was over as soon as it began is first heard of here.
  lease.finish(world_.now_us());
  world_.judges("spoke_after_lease");
  if (*lease.finished_us > lease.then_until_us + whole_ms_us)
    world::broken("spoke_after_lease", site_.instance + " reports attempt " + std::to_string(said.attempt()) + " of step " +
                                           std::to_string(said.step()) + " of task " + std::to_string(said.task_number()) +
                                           ", which it had not finished when its lease ended " +
                                           std::to_string((*lease.finished_us - lease.then_until_us) / millisecond) + " ms before");
}

// What has been said once is said until it is heard.
void agents::process::check_told() {
  for (const auto& [name, one] : owed_) {
    const auto& with = sessions_[one.first.shard];
    if (with.core == 0) continue;
    world_.judges("outcome_lost");
    const auto since_us = std::max(one.second, with.since_us);
    if (world_.now_us() - since_us > told_within_us)
      world::broken("outcome_lost", site_.instance + " has ended attempt " + std::to_string(one.first.attempt) + " of step " +
                                        std::to_string(one.first.step) + " of task " + std::to_string(one.first.task_number) +
                                        ", and shard " + std::to_string(one.first.shard) + " has not been told for " +
                                        std::to_string((world_.now_us() - since_us) / second) + " s");
  }
}

/// What had gathered before it was acknowledged leaves once more with the next batch, and nobody need hear that.
void agents::process::check_told_again(const std::string& name, std::int64_t told_us, std::uint32_t shard) {
  if (sessions_[shard].core == 0) return;
  world_.judges("said_again");
  const auto since_us = std::max(told_us, sessions_[shard].since_us);
  if (world_.now_us() - since_us > gathered_within_us)
    world::broken("said_again", site_.instance + " reports " + name + " again " +
                                    std::to_string((world_.now_us() - since_us) / millisecond) + " ms after it was acknowledged");
}

std::vector<std::string> agents::process::lookups() const {
  if (site_.lookups) return {"do"};
  return {};
}

std::vector<v1::CallPolicy> agents::process::policies() const {
  if (site_.profile->key_valid_for_ms == 0) return {};
  v1::CallPolicy out;
  out.set_call("do");
  out.set_key_valid_for_ms(site_.profile->key_valid_for_ms);
  return {out};
}

/// What it owed to an earlier lineage of a shard it owes to nobody.
void agents::process::meets(std::uint32_t shard, const v1::Lineage& which) {
  auto& met = met_[shard];
  if (!met.empty() && compare(which, met.back()) != lineage_order::later) return;
  met.push_back(which);
  if (met.size() == 1) return;
  world_.count("later lineages met");
  epochs_[shard] = 0;
  std::erase_if(owed_, [shard](const auto& one) { return one.second.first.shard == shard; });
}

/// One that it has never met is older than those it has.
std::uint32_t agents::process::count_of(std::uint32_t shard, const v1::Lineage& which) {
  const auto& met = met_[shard];
  const auto found =
      std::find_if(met.begin(), met.end(), [&](const v1::Lineage& one) { return compare(one, which) == lineage_order::same; });
  return found == met.end() ? 0 : static_cast<std::uint32_t>(found - met.begin());
}

void agents::process::check_lineage(const v1::Perform& what, const v1::Lineage& handed_over_by) {
  const auto& met = met_[what.shard()];
  if (met.size() > 1) world_.judges("old_lineage");
  if (compare(handed_over_by, met.back()) == lineage_order::earlier)
    world::broken("old_lineage", describe(what) + " begins at " + site_.instance + ", which has met a later lineage than handed it over");
}

void agents::process::perform(const v1::PerformBatch& what, const stamp& when) {
  if (world_.strikes(failpoint_id::agent_received)) throw process_killed{};
  me_.epoch = std::max(me_.epoch, what.epoch());
  meets(what.shard(), what.lineage());
  auto& newest = epochs_[what.shard()];
  arriving_old_ = what.epoch() < newest && compare(what.lineage(), met_[what.shard()].back()) == lineage_order::same;
  if (arriving_old_) world_.judges("old_epoch");
  // Of one that is refused the clock says nothing: that of a later leader may be behind it.
  if (!arriving_old_) heard(what.shard(), when);
  if (compare(what.lineage(), met_[what.shard()].back()) == lineage_order::same) newest = std::max(newest, what.epoch());
  arriving_ = &what;
  arriving_when_ = when;
  host_.perform(what);
  arriving_ = nullptr;
  arriving_old_ = false;
  after_message();
}

void agents::process::acknowledged(const v1::OutcomeAckBatch& what) {
  for (const auto& one : what.items()) {
    const auto name = name_of(key_in(what.shard(), count_of(what.shard(), what.lineage()), one));
    owed_.erase(name);
    told_.emplace(name, world_.now_us());
  }
  host_.acknowledged(what);
  if (world_.strikes(failpoint_id::agent_acknowledged)) throw process_killed{};
}

void agents::process::acknowledged(const v1::HeartbeatAckBatch& what) {
  for (const auto& one : what.items()) {
    const auto found = begun_.find(key_in(what.shard(), count_of(what.shard(), what.lineage()), one));
    if (found == begun_.end() || !one.held() || !found->second.by_heartbeat) continue;
    auto& lease = found->second;
    const auto sent = lease.beats.find(one.sequence());
    // A lease that is over is not revived.
    if (sent == lease.beats.end() || world_.now_us() > lease.until_us()) continue;
    const auto until_us = sent->second + lease.as_handed_over.heartbeat_ms() * millisecond;
    const auto ahead_us = lease.complete_by.most_ahead_us;
    if (until_us > lease.by_heartbeat->now_us()) lease.by_heartbeat = lease_end{until_us, ahead_us, ahead_us};
  }
  host_.acknowledged(what);
  after_message();
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
  if (!next) return;
  auto wait_ms = std::max<std::int64_t>((*next - around_.time->steady()).count(), 0);
  if (host_.holds_any()) wait_ms = std::min(wait_ms, longest_rest_ms);
  // Timers run on the clock that nobody sets.
  if (!reminders_.wants(from_unix_ms(world_.now_us() / millisecond + wait_ms))) return;
  world_.after(wait_ms * millisecond, [self = around_.self] {
    self([](process& here) {
      here.reminders_.fired();
      here.host_.expire();
      here.after_message();
    });
  });
}

void agents::process::outcomes(v1::OutcomeBatch what) {
  const auto shard = what.shard();
  const auto lineage = count_of(shard, what.lineage());
  // What is left over of an earlier lineage is said with each registration, and nobody has to take it.
  const auto owes = lineage + 1 >= met_[shard].size();
  for (const auto& one : what.items()) {
    const auto key = key_in(shard, lineage, one);
    check_silence(key, one);
    const auto name = name_of(key);
    if (const auto told = told_.find(name); told != told_.end())
      check_told_again(name, told->second, shard);
    else if (owes)
      owed_.emplace(name, std::pair{key, world_.now_us()});
  }
  const auto core = sessions_[shard].core;
  world_.tell(site_.instance, core == 0 ? "nobody" : name_of_scheduler(shard), world_.weigh(what), [&] {
    std::string text = "outcomes:";
    for (const auto& one : what.items())
      text += " task " + std::to_string(one.task_number()) + " step " + std::to_string(one.step()) + " " +
              v1::Direction_Name(one.direction()).substr(10) + " attempt " + std::to_string(one.attempt()) + " " +
              (one.has_fault() ? v1::FaultKind_Name(one.fault().kind()).substr(11) + "(" + one.fault().code() + ")"
               : one.verdict() != v1::LOOKUP_VERDICT_UNSPECIFIED ? v1::LookupVerdict_Name(one.verdict()).substr(15)
                                                                 : "done") +
              (one.tries() > 1 ? " after " + std::to_string(one.tries()) + " tries" : "");
    return text;
  });
  if (core == 0) {
    world_.count("outcomes that found no Scheduler");
    return;
  }
  around_.to_scheduler(shard, core, [what = std::move(what)](agents::shard& to) { to.outcomes(what); });
  if (world_.strikes(failpoint_id::agent_reported)) throw process_killed{};
}

void agents::process::refused(v1::OutcomeBatch what) {
  const auto shard = what.shard();
  world_.count("hand-overs that were refused as stale");
  if (const auto core = sessions_[shard].core; core != 0)
    around_.to_scheduler(shard, core, [what = std::move(what)](agents::shard& to) { to.outcomes(what); });
}

void agents::process::heartbeats(v1::HeartbeatBatch what) {
  const auto shard = what.shard();
  for (const auto& one : what.items()) {
    const auto found = begun_.find(key_in(shard, count_of(shard, what.lineage()), one));
    if (found != begun_.end()) found->second.beats[one.sequence()] = world_.now_us();
    judge(shard).heartbeat_sent(one);
  }
  const auto core = sessions_[shard].core;
  world_.tell(site_.instance, core == 0 ? "nobody" : name_of_scheduler(shard), world_.weigh(what), [&] {
    std::string text = "heartbeats:";
    for (const auto& one : what.items())
      text += " task " + std::to_string(one.task_number()) + " step " + std::to_string(one.step()) + " attempt " +
              std::to_string(one.attempt()) + " number " + std::to_string(one.sequence()) +
              (one.checkpoint().empty() ? "" : " checkpoint " + one.checkpoint());
    return text;
  });
  world_.count("heartbeats", static_cast<std::uint64_t>(what.items_size()));
  if (core == 0) return;
  around_.to_scheduler(shard, core, [what = std::move(what)](agents::shard& to) { to.heartbeats(what); });
  if (world_.strikes(failpoint_id::agent_beating)) throw process_killed{};
}

void agents::process::finish_later(attempt_key key, attempt_result result) {
  if (const auto begun = begun_.find(key); begun != begun_.end()) begun->second.finish(world_.now_us());
  world_.after(world_.services.between(1, 60), [self = around_.self, key, result = std::move(result)] {
    self([&](process& here) {
      here.host_.finished(key, result);
      here.after_message();
    });
  });
}

void agents::process::progress_later(attempt_key key) {
  world_.after(world_.handlers.between(1, 60), [self = around_.self, key] {
    self([&](process& here) {
      here.host_.progressed(key);
      here.after_message();
    });
  });
}

}  // namespace fairlead::simulation
