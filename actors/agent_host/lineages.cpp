// Decides which lineage of a shard a host obeys, and handles the attempts of an earlier one.

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "actors/agent_host/host.hpp"
#include "messages/lineage.hpp"

namespace fairlead {

namespace {

/// Outcomes of one shard; the shard's own list is shorter.
constexpr int max_left_over = 4'096;

void make_room(std::vector<v1::OutcomeBatch>& left) {
  int count = 0;
  for (const auto& batch : left) count += batch.items_size();
  for (auto& batch : left) {
    const auto oldest = std::clamp(count - max_left_over, 0, batch.items_size());
    batch.mutable_items()->DeleteSubrange(0, oldest);
    count -= oldest;
  }
  std::erase_if(left, [](const v1::OutcomeBatch& batch) { return batch.items().empty(); });
}

}  // namespace

bool agent_host::obeys(std::uint32_t shard, shard_side& side, const v1::Lineage& lineage, std::uint64_t epoch) {
  if (is_set(lineage) && side.met.empty()) {
    // Earlier hand-overs came from the same history: only a later lineage begins another one.
    side.met.push_back(lineage);
  } else if (!side.met.empty()) {
    const auto order = compare(lineage, side.met.back());
    if (order == lineage_order::earlier || order == lineage_order::conflict) return false;
    if (order == lineage_order::later) begin_lineage(shard, side, lineage);
    if (lineage.several()) side.met.back().set_several(true);
  }
  if (epoch < side.epoch && (planted_ == nullptr || !planted_->obey_old_epoch)) return false;
  side.epoch = epoch;
  return true;
}

/// Stops the attempts of the shard's earlier lineage. Keeps only unacknowledged work that was done or may have been done.
void agent_host::let_go(std::uint32_t shard, v1::OutcomeBatch& left) {
  for (auto it = outcomes_.begin(); it != outcomes_.end();) {
    if (it->first.shard != own(shard)) {
      ++it;
      continue;
    }
    auto& kept = it->second;
    // A failure without an effect concerns nobody any more.
    const auto without_effect = kept.outcome.has_fault() && kept.outcome.fault().kind() != v1::FAULT_KIND_IN_DOUBT;
    if (!without_effect && it->first.direction != v1::DIRECTION_LOOKUP) {
      kept.outcome.clear_output();
      kept.outcome.set_idempotency_key(std::move(kept.idempotency_key));
      *left.add_items() = std::move(kept.outcome);
    }
    const auto key = it->first;
    cut_.add(key);
    it = outcomes_.erase(it);
    now_by_->backend->recorded(key, false);
  }
  if (outcomes_.empty()) resend_at_.reset();
  for (auto it = held_.begin(); it != held_.end();) {
    const auto which = it++;
    if (which->first.shard == own(shard)) stop(which);
  }
}

/// The later lineage does not know the hand-overs since its backup, and makes sure that none of them counts.
void agent_host::begin_lineage(std::uint32_t shard, shard_side& side, const v1::Lineage& later) {
  v1::OutcomeBatch left;
  left.set_shard(shard);
  left.set_instance(instance_);
  left.set_incarnation(incarnation_);
  *left.mutable_lineage() = side.met.back();
  if (planted_ == nullptr || !planted_->obey_lost_lineage) let_go(shard, left);
  side.left_over.push_back(std::move(left));
  make_room(side.left_over);
  side.tell_left_over = false;
  side.gathered.Clear();
  side.beats.Clear();
  side.welcome = false;
  side.met.push_back(later);
  side.epoch = 0;
}

const agent_host::shard_side* agent_host::side_of_ack(std::uint32_t shard, const v1::Lineage& lineage) const {
  const auto found = shards_.find(shard);
  if (found == shards_.end()) return nullptr;
  const auto& side = found->second;
  return side.met.empty() || compare(lineage, side.met.back()) == lineage_order::same ? &side : nullptr;
}

/// Acknowledgements of outcomes left over from an earlier lineage.
void agent_host::acknowledged_late(const v1::OutcomeAckBatch& what) {
  const auto found = shards_.find(what.shard());
  if (found == shards_.end()) return;
  const auto key_in = [](const auto& item) {
    return agents::attempt_key{item.task_number(), item.step(), item.direction(), item.attempt(), 0, 0};
  };
  std::unordered_set<agents::attempt_key, agents::attempt_key_hash> taken;
  for (const auto& item : what.items()) taken.insert(key_in(item));
  auto& left = found->second.left_over;
  for (auto& batch : left) {
    if (compare(batch.lineage(), what.lineage()) != lineage_order::same) continue;
    auto& items = *batch.mutable_items();
    items.erase(std::remove_if(items.begin(), items.end(), [&](const v1::Outcome& one) { return taken.count(key_in(one)) != 0; }),
                items.end());
  }
  make_room(left);
}

bool agent_host::knows(const agents::attempt_key& key) const {
  return held_.count(key) != 0 || outcomes_.count(key) != 0 || told_.has(key) || cut_.has(key);
}

/// Without this answer each hand-over would count, after its lease, as an attempt that may have been carried out. Attempts begun under an
/// earlier lineage or epoch are left out: they may have been carried out.
void agent_host::refuse(const v1::PerformBatch& what, const shard_side& side) {
  v1::OutcomeBatch out;
  const auto met = std::find_if(side.met.begin(), side.met.end(),
                                [&](const v1::Lineage& one) { return compare(one, what.lineage()) == lineage_order::same; });
  const auto lineage = met == side.met.end() ? side.lineage() + 1 : static_cast<std::uint32_t>(met - side.met.begin());
  for (const auto& item : what.items()) {
    if (knows({item.task_number(), item.step(), item.direction(), item.attempt(), own(what.shard()), lineage})) continue;
    auto& one = *out.add_items();
    one.set_task_number(item.task_number());
    one.set_step(item.step());
    one.set_direction(item.direction());
    one.set_attempt(item.attempt());
    auto& fault = *one.mutable_fault();
    fault.set_kind(v1::FAULT_KIND_TRANSIENT);
    fault.set_code("stale_shard");
    fault.set_message("the agent instance has seen a later lineage or start of the shard");
  }
  if (out.items().empty()) return;
  out.set_shard(what.shard());
  out.set_instance(instance_);
  out.set_incarnation(incarnation_);
  *out.mutable_lineage() = what.lineage();
  out.set_refused_epoch(what.epoch());
  out_.refused(std::move(out));
}

}  // namespace fairlead
