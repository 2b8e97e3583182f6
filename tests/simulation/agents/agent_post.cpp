#include "tests/simulation/agents/agent_post.hpp"

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

agents::post::post(world& in, const agent_site& site, std::uint64_t incarnation, fairlead::agents::backend& by, lease_book& book,
                   surroundings around, carrying of)
    : world_(in),
      site_(site),
      incarnation_(incarnation),
      book_(book),
      around_(std::move(around)),
      worker_(std::move(of)),
      host_({site.agent,
             site.instance,
             incarnation,
             {site.is_worker ? "worker" : "native", site.settings(), nullptr},
             worker_.first_revision,
             "https://node:7443"},
            by, *around_.time, *this),
      links_(
          by.capacity(), [this](std::uint32_t shard) { return host_.held(shard); }, worker_.first_revision),
      sessions_(around_.judges.size()) {
  host_.plant(*around_.planted);
}

/// A worker over HTTP is not told of the shard's clock; its host is, which takes a late beacon for a clock that was set forward.
void agents::post::heard(std::uint32_t shard, const stamp& when) {
  if (worker_.session == nullptr) return book_.heard(shard, when);
  for (auto& [key, one] : kept_)
    if (key.shard == shard) one.early_us = std::max(one.early_us, early_us(when));
}

/// By this stamp the host ends a lease too early by what the beacon had been on its way.
std::int64_t agents::post::early_us(const stamp& when) const {
  if (when.anchor_ms == 0) return 0;
  return (to_unix_ms(steady()) - when.anchor_ms) * millisecond - (world_.now_us() - when.left_us);
}

std::int64_t agents::post::keeps_until_us(const attempt_key& key) const {
  const auto found = kept_.find(key);
  return found == kept_.end() ? 0 : found->second.until_us - found->second.early_us;
}

// Guarantee 4: whoever reaches the end of its lease says nothing of what it has not finished.
void agents::post::check_silence(const attempt_key& key, const v1::Outcome& said) {
  auto* const begun = book_.find(key);
  // Of a worker over HTTP that was judged when it spoke.
  if (begun == nullptr || worker_.session != nullptr) return;
  auto& lease = *begun;
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
void agents::post::check_told() {
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
void agents::post::check_told_again(const std::string& name, std::int64_t told_us, std::uint32_t shard) {
  if (sessions_[shard].core == 0) return;
  world_.judges("said_again");
  const auto since_us = std::max(told_us, sessions_[shard].since_us);
  if (world_.now_us() - since_us > gathered_within_us)
    world::broken("said_again", site_.instance + " reports " + name + " again " +
                                    std::to_string((world_.now_us() - since_us) / millisecond) + " ms after it was acknowledged");
}

/// What it owed to an earlier lineage of a shard it owes to nobody.
void agents::post::meets(std::uint32_t shard, const v1::Lineage& which) {
  auto& met = met_[shard];
  if (!met.empty() && compare(which, met.back()) != lineage_order::later) return;
  met.push_back(which);
  if (met.size() == 1) return;
  world_.count("later lineages met");
  epochs_[shard] = 0;
  std::erase_if(owed_, [shard](const auto& one) { return one.second.first.shard == shard; });
}

/// One that it has never met is older than those it has.
std::uint32_t agents::post::count_of(std::uint32_t shard, const v1::Lineage& which) {
  const auto& met = met_[shard];
  const auto found =
      std::find_if(met.begin(), met.end(), [&](const v1::Lineage& one) { return compare(one, which) == lineage_order::same; });
  return found == met.end() ? 0 : static_cast<std::uint32_t>(found - met.begin());
}

void agents::post::judge_lineage(const v1::Perform& what) {
  const auto& handed_over_by = book_.at(fairlead::agents::key_of(what)).of;
  const auto& met = met_[what.shard()];
  if (met.size() > 1) world_.judges("old_lineage");
  if (compare(handed_over_by, met.back()) == lineage_order::earlier)
    world::broken("old_lineage", describe(what) + " begins at " + site_.instance + ", which has met a later lineage than handed it over");
}

void agents::post::perform(const v1::PerformBatch& what, const stamp& when) {
  if (world_.strikes(failpoint_id::agent_received)) throw process_killed{};
  meets(what.shard(), what.lineage());
  auto& newest = epochs_[what.shard()];
  arriving_old_ = what.epoch() < newest && compare(what.lineage(), met_[what.shard()].back()) == lineage_order::same;
  if (arriving_old_) world_.judges("old_epoch");
  // Of one that is refused the clock says nothing: that of a later leader may be behind it.
  if (!arriving_old_) heard(what.shard(), when);
  if (compare(what.lineage(), met_[what.shard()].back()) == lineage_order::same) newest = std::max(newest, what.epoch());
  arriving_ = &what;
  arriving_when_ = when;
  if (worker_.session != nullptr && !arriving_old_) keep_book(what, when);
  host_.perform(what);
  arriving_ = nullptr;
  arriving_old_ = false;
  after_message();
}

void agents::post::acknowledged(const v1::OutcomeAckBatch& what) {
  for (const auto& one : what.items()) {
    const auto key = key_in(what.shard(), count_of(what.shard(), what.lineage()), one);
    const auto name = name_of(key);
    owed_.erase(name);
    told_.emplace(name, world_.now_us());
    if (around_.told) around_.told(key, one.accepted());
  }
  host_.acknowledged(what);
  if (world_.strikes(failpoint_id::agent_acknowledged)) throw process_killed{};
  if (worker_.session != nullptr) after_message();
}

void agents::post::acknowledged(const v1::HeartbeatAckBatch& what) {
  for (const auto& one : what.items())
    if (one.held()) book_.renewed(key_in(what.shard(), count_of(what.shard(), what.lineage()), one), one.sequence());
  host_.acknowledged(what);
  after_message();
}

void agents::post::after_message() {
  if (ended_ || (worker_.session != nullptr && !keep_wishes())) return;
  if (end_if_left()) return;
  if (host_.wants_flush() && !std::exchange(flush_armed_, true)) {
    world_.after(world_.services.between(1, 400), [self = around_.self] {
      self([](post& here) {
        here.flush_armed_ = false;
        here.host_.flush();
        if (here.ends_) here.end();
      });
    });
  }
  auto next = host_.next_expiry();
  if (const auto wakes = worker_.session != nullptr ? worker_.session->next_wake() : std::nullopt)
    next = next ? std::min(*next, *wakes) : *wakes;
  if (!next) return;
  auto wait_ms = std::max<std::int64_t>((*next - around_.time->steady()).count(), 0);
  if (host_.holds_any()) wait_ms = std::min(wait_ms, longest_rest_ms);
  // Timers run on the clock that nobody sets.
  if (!reminders_.wants(from_unix_ms(world_.now_us() / millisecond + wait_ms))) return;
  world_.after(wait_ms * millisecond, [self = around_.self] {
    self([](post& here) {
      here.reminders_.fired();
      here.host_.expire();
      here.after_message();
    });
  });
}

/// As agent_actor does: what a carried backend wants of its instance. False: it is ending.
bool agents::post::keep_wishes() {
  auto& session = *worker_.session;
  session.caught_up();
  const auto wish = session.wants();
  if (wish.ends) {
    if (!std::exchange(ends_, true))
      world_.after(world_.doors.between(1, 400), [self = around_.self] {
        self([](post& here) {
          here.host_.flush();
          here.end();
        });
      });
    return false;
  }
  links_.keep(wish, session.capacity());
  leaves_ = leaves_ || wish.leaves;
  go_round();
  return true;
}

bool agents::post::end_if_left() {
  if (!leaves_ || !host_.idle() || links_.waits_to_be_heard()) return false;
  end();
  return true;
}

void agents::post::end() {
  if (std::exchange(ended_, true)) return;
  host_.shut_down();
  around_.ended();
}

void agents::post::outcomes(v1::OutcomeBatch what) {
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
  around_.to_scheduler(shard, core, [what = std::move(what), from = worker_.carrier](agents::shard& to) { to.outcomes(what, from); });
  if (world_.strikes(failpoint_id::agent_reported)) throw process_killed{};
}

void agents::post::refused(v1::OutcomeBatch what) {
  const auto shard = what.shard();
  world_.count("hand-overs that were refused as stale");
  if (const auto core = sessions_[shard].core; core != 0)
    around_.to_scheduler(shard, core, [what = std::move(what), from = worker_.carrier](agents::shard& to) { to.outcomes(what, from); });
}

void agents::post::heartbeats(v1::HeartbeatBatch what) {
  const auto shard = what.shard();
  for (const auto& one : what.items()) {
    if (auto* const begun = book_.find(key_in(shard, count_of(shard, what.lineage()), one))) begun->beats[one.sequence()] = world_.now_us();
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

void agents::post::finish_later(attempt_key key, attempt_result result) {
  if (auto* const begun = book_.find(key); begun != nullptr && worker_.session == nullptr) begun->finish(world_.now_us());
  world_.after(world_.services.between(1, 60), [self = around_.self, key, result = std::move(result)] {
    self([&](post& here) {
      here.host_.finished(key, result);
      here.after_message();
    });
  });
}

void agents::post::progress_later(attempt_key key) {
  world_.after(world_.handlers.between(1, 60), [self = around_.self, key] {
    self([&](post& here) {
      here.host_.progressed(key);
      here.after_message();
    });
  });
}

/// By the message that has just come: the host's own words for it are what is judged. Where an attempt is in it twice (it was to be sent again
/// before it had left), the first is begun and the second is known by then.
void agents::post::judge_begin(const attempt_key& key, const v1::Perform& what) {
  const v1::Perform* sent = nullptr;
  if (arriving_ != nullptr)
    for (const auto& one : arriving_->items())
      if (sent == nullptr && one.task_number() == key.task_number && one.step() == key.step && one.direction() == key.direction &&
          one.attempt() == key.attempt)
        sent = &one;
  if (arriving_old_)
    world::broken("old_epoch", describe(what) + " begins at " + site_.instance + " by the word of a Scheduler that is no more");
  if (sent == nullptr || arriving_->shard() != what.shard())
    world::broken("fence", describe(what) + " begins at " + site_.instance + ", and no message has handed it over");
  book_.begin(key, *sent, *arriving_, arriving_when_);
}

void agents::post::keep_book(const v1::PerformBatch& what, const stamp& when) {
  const auto lineage = count_of(what.shard(), what.lineage());
  for (const auto& one : what.items()) {
    const auto key = key_in(what.shard(), lineage, one);
    book_.arrived(key, one, what, when);
    // What the host has already it does not keep for longer.
    kept_.emplace(key, kept_attempt{book_.at(key).until_us(), early_us(when)});
  }
}

}  // namespace fairlead::simulation
