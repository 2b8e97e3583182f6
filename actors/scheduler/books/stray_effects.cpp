#include "actors/scheduler/books/stray_effects.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/task/task.hpp"
#include "actors/core/text/text.hpp"
#include "store/rows/effect_rows.hpp"

namespace fairlead {

namespace {

constexpr std::size_t most_key_bytes = 1'024;

}  // namespace

status stray_effects::open(const store::snapshot& from) {
  return store::for_each_effect(from, [this](const v1::EffectRecord& one) {
    all_[one.number()] = one;
    return true;
  });
}

std::optional<v1::EffectRecord> stray_effects::effect_of(const v1::OutcomeBatch& batch, const v1::Outcome& item, moment now) {
  const auto nothing_happened = item.has_fault() && item.fault().kind() != v1::FAULT_KIND_IN_DOUBT;
  if (nothing_happened || item.direction() == v1::DIRECTION_LOOKUP) return std::nullopt;
  const auto key = core::parts_of_key(item.idempotency_key());
  v1::EffectRecord out;
  out.set_task_id(core::clean_text(key.task_id, most_key_bytes));
  out.set_step(core::clean_text(key.step, most_key_bytes));
  out.set_direction(item.direction());
  out.set_attempt(item.attempt());
  out.set_instance(batch.instance());
  out.set_idempotency_key(core::clean_text(item.idempotency_key(), most_key_bytes));
  out.set_heard_at_unix_ms(to_unix_ms(now));
  *out.mutable_lineage() = batch.lineage();
  return out;
}

bool stray_effects::comes_again(const v1::EffectRecord& what) {
  return what.direction() == v1::DIRECTION_PERFORM && what.idempotency_key().ends_with("/0");
}

bool stray_effects::add(v1::EffectRecord what, v1::ShardState& shard, store::batch& out) {
  for (const auto& [number, one] : all_)
    if (one.idempotency_key() == what.idempotency_key()) return false;
  if (all_.size() >= most) {
    store::erase_effect(out, all_.begin()->first);
    all_.erase(all_.begin());
    shard.set_effects_dropped(shard.effects_dropped() + 1);
  }
  what.set_number(all_.empty() ? 1 : all_.rbegin()->first + 1);
  store::put_effect(out, what);
  all_.emplace(what.number(), std::move(what));
  return true;
}

void stray_effects::task_is_back(const std::string& id, store::batch& out) {
  std::erase_if(all_, [&](const auto& one) {
    if (one.second.task_id() != id || !comes_again(one.second)) return false;
    store::erase_effect(out, one.first);
    return true;
  });
}

v1::DoctorReply stray_effects::forget_all(v1::ShardState& shard, store::batch& out) {
  v1::DoctorReply reply;
  reply.set_effects_dropped(shard.effects_dropped());
  for (auto& [number, one] : all_) {
    store::erase_effect(out, number);
    *reply.add_effects() = std::move(one);
  }
  all_.clear();
  shard.set_effects_dropped(0);
  return reply;
}

}  // namespace fairlead
