#include "actors/supervisor/supervisor.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/task/record.hpp"
#include "store/keys.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead {

namespace {

constexpr int chunk_requests = 256;           // sent at a time, as one message
constexpr std::size_t chunk_entries = 1'000;  // read by one scan
constexpr std::size_t round_entries = 1'000;  // read by one turn of the slow round
constexpr std::size_t hint_limit = 200'000;   // hints kept; the index has the dropped ones
constexpr int most_repair_notes = 10;         // lines in the log at a time
constexpr duration hint_horizon = std::chrono::minutes{5};

}  // namespace

supervisor::supervisor(ports world, duration scan_period)
    : world_(world), scan_period_(scan_period), requests_(scan_period), stalls_(scan_period) {}

// ---- what is due ----

void supervisor::add(v1::Recover what, std::int64_t now_ms, v1::RecoverBatch& out) {
  if (requests_.admit(what, now_ms)) *out.add_items() = std::move(what);
}

void supervisor::add_due_steps(const v1::TaskRecord& record, std::int64_t now_ms, v1::RecoverBatch& out) {
  v1::Recover item;
  item.set_task_number(record.number());
  bool any = false;
  for (int i = 0; i < record.steps_size(); ++i) {
    const auto& step = record.steps(i);
    if (!recovery_due(step, now_ms)) continue;
    any = true;
    item.set_step(static_cast<std::uint32_t>(i) + 1);
    item.set_direction(step.direction());
    item.set_attempt(core::attempt_of(step, step.direction()));
    item.set_failure_count(core::failures_of(step, step.direction()));
    add(item, now_ms, out);
  }
  // The entry is early (entries move lazily), or the task as a whole is due.
  if (!any) add(item, now_ms, out);
}

result<bool> supervisor::ask_for_due(const store::snapshot& view, std::int64_t now_ms) {
  // Hinted steps are in the index, too: while hints wait for their turn, reading it would mostly find the same steps.
  if (fire_held_ && now_ms < read_again_ms_) return true;
  if (!requests_.has_room(view, now_ms)) return true;
  read_again_ms_ = now_ms + scan_period_.count();
  if (pass_to_.empty()) {
    // Entries that become due during the pass belong to the next pass, so every pass ends.
    pass_from_.clear();
    pass_to_ = store::keys::due(store::default_namespace, now_ms + 1, 0).str();
  }
  v1::RecoverBatch batch;
  std::vector<wake_up_finding> astray;
  std::size_t seen = 0;
  bool more = false;
  std::optional<error> failed;
  const auto scanned = view.scan(store::table::due, pass_from_, pass_to_, [&](std::string_view key, std::string_view) {
    if (const auto entry = store::keys::decode_due(key)) {
      const auto record = store::load_task(view, entry->number);
      if (!record) {
        failed = record.failure();
        return false;
      }
      if (*record)
        add_due_steps(**record, now_ms, batch);
      else
        astray.push_back({entry->number, "", "the due index has an entry for a task that does not exist"});
    }
    more = ++seen >= chunk_entries || batch.items_size() >= chunk_requests;
    if (more) pass_from_ = std::string{key} + '\0';
    return !more;
  });
  if (!scanned.ok()) return scanned.failure();
  if (failed) return *failed;
  if (!more) pass_to_.clear();
  send(std::move(batch), now_ms);
  ask_for_repair(astray, now_ms);
  return more;
}

result<bool> supervisor::scan() {
  const auto now = world_.time->now();
  const auto now_ms = to_unix_ms(now);
  const auto view = world_.reads->read();
  auto more = ask_for_due(*view, now_ms);
  if (!more) return more;
  // Repairs share the room with all other requests.
  if (!requests_.has_room(*view, now_ms)) return true;
  std::vector<wake_up_finding> found;
  const auto stalls = stalls_.look(*world_.reads->read_settled(), now, found);
  if (!stalls) return stalls.failure();
  if (stalls->unexplained) world_.log->on_note(note_level::warning, "supervisor", *stalls->unexplained);
  ask_for_repair(found, now_ms);
  return *more || stalls->more;
}

void supervisor::send(v1::RecoverBatch what, std::int64_t now_ms) {
  if (what.items().empty()) return;
  requests_.sent(what, now_ms);
  world_.out->recover(std::move(what));
}

// ---- no silent stall ----

void supervisor::ask_for_repair(const std::vector<wake_up_finding>& found, std::int64_t now_ms) {
  v1::RecoverBatch batch;
  for (const auto& one : found) {
    v1::Recover item;
    item.set_task_number(one.number);
    item.set_repair(true);
    const auto before = batch.items_size();
    add(std::move(item), now_ms, batch);
    if (batch.items_size() == before || before >= most_repair_notes) continue;
    const auto who = "task " + (one.task_id.empty() ? std::to_string(one.number) : one.task_id);
    world_.log->on_note(note_level::warning, "supervisor", who + ": " + one.sentence + "; requesting its repair");
  }
  if (batch.items_size() > most_repair_notes)
    world_.log->on_note(note_level::warning, "supervisor",
                        "requesting the repair of " + std::to_string(batch.items_size() - most_repair_notes) + " more tasks");
  send(std::move(batch), now_ms);
}

status supervisor::go_round() {
  std::vector<wake_up_finding> found;
  waiting_tasks waiting;
  const auto now_ms = to_unix_ms(world_.time->now());
  const auto complete = round_.step(*world_.reads->read(), round_entries, now_ms, scan_period_.count(), found, waiting.numbers);
  if (!complete) return complete.failure();
  ask_for_repair(found, now_ms);
  // Sent once more when no task waits any more: the Scheduler acts only on the second look.
  if (const auto any = !waiting.numbers.empty(); std::exchange(asked_of_waits_, any) || any) world_.out->waiting(std::move(waiting));
  if (*complete && **complete != stalest_) world_.out->stalest(stalest_ = **complete);
  return nothing{};
}

// ---- hints ----

void supervisor::hint(const v1::RecoveryHintBatch& what) {
  const auto horizon = to_unix_ms(world_.time->now() + hint_horizon);
  for (const auto& item : what.items())
    if (item.due_unix_ms() <= horizon && hints_.size() < hint_limit) hints_.push(item);
}

void supervisor::fire() {
  fire_held_ = false;
  const auto now_ms = to_unix_ms(world_.time->now());
  const auto any = [&] { return !hints_.empty() && hints_.top().due_unix_ms() <= now_ms; };
  if (!any()) return;
  if (!requests_.has_room(*world_.reads->read(), now_ms)) {
    fire_held_ = true;
    return;
  }
  v1::RecoverBatch batch;
  for (; any() && batch.items_size() < chunk_requests; hints_.pop()) add(hints_.top().recover(), now_ms, batch);
  fire_held_ = any();
  send(std::move(batch), now_ms);
}

std::optional<moment> supervisor::next_hint() const {
  if (hints_.empty()) return std::nullopt;
  const auto due = from_unix_ms(hints_.top().due_unix_ms());
  return fire_held_ ? std::max(due, world_.time->now() + burst_pause) : due;
}

}  // namespace fairlead
