#include "actors/scheduler/commit/replica_watch.hpp"

#include <algorithm>
#include <utility>

namespace fairlead {

namespace {

constexpr std::int64_t silent_ms_at_most = 3'000;
constexpr std::int64_t behind_ms_at_most = 10'000;
constexpr std::uint64_t behind_bytes_at_most = 8ULL << 20;

/// What is wrong with a replica; empty: nothing.
std::string lack_of(const v1::ReplicaStatus& one) {
  if (one.leaves()) return {};
  if (!one.trouble().empty()) return one.trouble();
  const bool answers = one.heard_ms_ago() >= 0 && one.heard_ms_ago() <= silent_ms_at_most;
  // It says nothing while it looks at a large copy.
  const bool gets_copy = one.needs_copy() && one.heard_ms_ago() >= 0;
  if (!answers && !gets_copy) return "it does not answer";
  if (!one.votes() && !one.stands_by()) return "its store is new here, and does not vote yet";
  if (gets_copy) return "it was away for longer than entries are kept, and gets a copy of the state";
  if (one.behind_ms() > behind_ms_at_most || one.behind_bytes() > behind_bytes_at_most) return "it does not keep up";
  return {};
}

std::string sentence_of(const v1::ReplicationStatus& seen, const std::map<std::string, std::string>& lacking) {
  std::string out;
  for (const auto& [node, why] : lacking) out += (out.empty() ? "" : "; ") + (node.empty() ? "a node" : "node " + node) + ": " + why;
  const auto may_lose = seen.may_lose();
  return out + ". The shard survives the loss of " + (may_lose == 0 ? "no" : std::to_string(may_lose)) +
         (may_lose == 1 ? " more node" : " more nodes");
}

}  // namespace

status replica_watch::look(const v1::ReplicationStatus& seen) {
  next_look_ = time_.steady() + period;
  // A former leader's Scheduler, about to be stopped, knows nothing.
  if (seen.role() != "leader") return nothing{};
  tell_damage(seen);
  std::map<std::string, std::string> lacking;
  for (const auto& one : seen.others())
    if (auto why = lack_of(one); !why.empty()) lacking.emplace(one.node(), std::move(why));
  std::erase_if(since_, [&](const auto& one) { return !lacking.contains(one.first); });
  for (const auto& [node, why] : lacking) since_.emplace(node, time_.steady());

  if (lacking.empty()) {
    inherited_ = false;
    told_.clear();
    return resolve();
  }
  std::erase_if(lacking, [&](const auto& one) { return time_.steady() - since_.at(one.first) < after_; });
  if (lacking.empty()) return nothing{};
  return tell(seen, lacking);
}

void replica_watch::tell_damage(const v1::ReplicationStatus& seen) {
  auto& counts = batches_.counts();
  auto told_ms = counts.damage_told_unix_ms();
  for (const auto& one : seen.damages()) {
    if (one.at_unix_ms() <= counts.damage_told_unix_ms()) continue;
    told_ms = std::max(told_ms, one.at_unix_ms());
    v1::AlertRecord draft;
    draft.set_kind(v1::ALERT_KIND_STORE_DAMAGED);
    draft.set_sentence("node " + one.node() + ": its store was damaged at " + format_utc(one.at_unix_ms()) +
                       " or before, and it asked the other nodes for another one");
    draft.set_remedy(
        "look for errors of the disk on that node, and replace it if there are some; what was damaged is in the folder set-aside");
    log_.on_note(note_level::warning, "scheduler", draft.sentence());
    alerts_.raise(std::move(draft), batches_.page());
  }
  if (told_ms != counts.damage_told_unix_ms()) counts.set_damage_told_unix_ms(told_ms);
}

status replica_watch::resolve() {
  auto& counts = batches_.counts();
  const auto number = counts.replica_alert();
  if (number == 0) return nothing{};
  counts.set_replica_alert(0);
  return alerts_.resolve(number, batches_.page(), batches_.committed());
}

status replica_watch::tell(const v1::ReplicationStatus& seen, const std::map<std::string, std::string>& lacking) {
  std::set<std::string> nodes;
  for (const auto& [node, why] : lacking) nodes.insert(node);
  if (nodes == told_) return nothing{};
  const bool fewer = inherited_ || std::includes(told_.begin(), told_.end(), nodes.begin(), nodes.end());
  told_ = std::move(nodes);
  inherited_ = false;

  v1::AlertRecord draft;
  draft.set_kind(v1::ALERT_KIND_REPLICA_BEHIND);
  draft.set_sentence(sentence_of(seen, lacking));
  draft.set_remedy("start the node, or mend its disk, clock or link; `fairlead cluster status` shows what it lacks");
  auto& counts = batches_.counts();
  if (fewer) {
    const auto said = alerts_.restate(counts.replica_alert(), draft, batches_.page(), batches_.committed());
    if (!said) return said.failure();
    if (*said) return nothing{};
  }
  // Who acknowledged the former one has not heard of the node that is away since.
  if (auto resolved = resolve(); !resolved.ok()) return resolved;
  log_.on_note(note_level::warning, "scheduler", draft.sentence());
  counts.set_replica_alert(alerts_.raise(std::move(draft), batches_.page()));
  return nothing{};
}

}  // namespace fairlead
