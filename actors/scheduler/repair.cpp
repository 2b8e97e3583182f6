// Wake-ups that were lost, or stand where none belongs: put right and told of.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/scheduler/scheduler.hpp"
#include "store/keys.hpp"

namespace fairlead {

namespace {

constexpr auto ns = store::default_namespace;

}  // namespace

void scheduler::repair(const std::vector<std::uint64_t>& numbers) {
  std::set<std::uint64_t> strays;
  for (const auto number : numbers) {
    auto* task = load(number);
    if (fatal_) return;
    if (task == nullptr) {
      if (find(number) == nullptr) strays.insert(number);
      continue;
    }
    // A version that is on its way may have put it right already; the next scan will see.
    if (!batches_.durable(task->last_sequence)) continue;
    if (!repair_entry(*task)) strays.insert(number);
    forget_if_idle(number);
  }
  if (!strays.empty()) erase_strays(strays);
}

/// True when the task's own entry was wrong.
bool scheduler::repair_entry(live_task& task) {
  auto& record = task.record;
  const auto indexed = record.due_indexed_unix_ms();
  if (indexed != 0) {
    const auto key = store::keys::due(ns, indexed, record.number());
    const auto entry = committed().get(store::table::due, key);
    if (!entry) return fail(entry.failure());
    if (!entry->has_value()) {
      batches_.rows().put(store::table::due, key, {});
      task.last_sequence = batches_.sequence();
      batches_.after().changed.push_back(record.number());
      tell_of_repair(record.number(), "was missing in the due index", &record);
      return true;
    }
  }
  // A row that itself names no wake-up, or a wrong one, is put right by being looked at.
  const auto version = record.version();
  apply(task, core::task_due{});
  if (record.version() == version || record.due_indexed_unix_ms() == indexed) return false;
  tell_of_repair(record.number(), "was wrong in its row", &record);
  return true;
}

/// One pass over the index for all of them: such entries should not exist, so what finding them costs does not matter.
void scheduler::erase_strays(const std::set<std::uint64_t>& numbers) {
  std::vector<std::pair<std::string, std::uint64_t>> found;
  const auto scanned = committed().scan(store::table::due, {}, {}, [&](std::string_view key, std::string_view) {
    const auto entry = store::keys::decode_due(key);
    if (!entry || numbers.count(entry->number) == 0) return true;
    const auto* task = find(entry->number);
    v1::TaskRecord stored;
    const auto* record = task != nullptr ? &task->record : nullptr;
    if (record == nullptr) {
      auto loaded = store::load_task(committed(), entry->number);
      if (!loaded) return fail(loaded.failure());
      if (*loaded) {
        stored = std::move(**loaded);
        record = &stored;
      }
    }
    if (record == nullptr || record->due_indexed_unix_ms() != entry->due_unix_ms) found.emplace_back(key, entry->number);
    return true;
  });
  if (!scanned.ok()) fail(scanned.failure());
  if (fatal_) return;
  for (const auto& [key, number] : found) {
    // Asked for twice before the erasure is durable: told of once.
    if (!erasing_strays_.emplace(key, batches_.sequence()).second) continue;
    batches_.rows().erase(store::table::due, key);
    const auto* task = find(number);
    tell_of_repair(number, "stood in the due index where none belongs", task != nullptr ? &task->record : nullptr);
  }
}

void scheduler::tell_of_repair(std::uint64_t number, const std::string& what, const v1::TaskRecord* record) {
  const auto name = record != nullptr ? record->id() : "number " + std::to_string(number) + ", which is not there";
  v1::AlertRecord draft;
  draft.set_kind(v1::ALERT_KIND_WAKE_UP_LOST);
  if (record != nullptr) {
    draft.set_task_id(record->id());
    draft.set_workflow(record->workflow());
  }
  draft.set_sentence("a wake-up of task " + name + " " + what + " and has been put right");
  draft.set_remedy("nothing is lost; stop the node when it suits, run fairlead store check, and report it");
  alerts_.raise(std::move(draft), batches_.page());
}

}  // namespace fairlead
