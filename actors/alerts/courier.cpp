#include "actors/alerts/courier.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "actors/core/retry.hpp"
#include "actors/core/waits.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/alert_rows.hpp"

namespace fairlead {

namespace {

namespace keys = store::keys;

constexpr std::uint64_t rows_a_look = 10'000;  // limit of rows in one message, and of rows read for one target in one look
constexpr auto first_wait = std::chrono::seconds{1};
/// How long an alert may wait to be seen.
constexpr auto look_period = std::chrono::milliseconds{250};
constexpr auto longest_wait = std::chrono::minutes{5};

std::string cursor_row(const std::string& name) { return keys::meta("alert_cursor/" + name); }
std::string start_row(const std::string& name) { return keys::meta("alert_start/" + name); }

std::string told_row(const std::string& name, std::uint64_t number) {
  return keys::meta(store::meta::numbered_row("alert_told/" + name + "/", number));
}

/// A row of exactly `Count` numbers; nullopt: there is none.
template <std::size_t Count>
result<std::optional<std::array<std::uint64_t, Count>>> load_numbers(const store::snapshot& from, const std::string& key) {
  const auto row = from.get(store::table::meta, key);
  if (!row) return row.failure();
  std::optional<std::array<std::uint64_t, Count>> out;
  if (!*row) return out;
  if ((**row).size() != Count * 8) return store::damaged_value(store::table::meta, key);
  out.emplace();
  for (std::size_t i = 0; i < Count; ++i) (*out)[i] = store::meta::decode_u64((**row).substr(i * 8, 8)).value_or(0);
  return out;
}

/// The same name gives the same jitter everywhere (FNV-1a); two targets that fail together are not retried together.
std::uint32_t seed_of(std::string_view name) {
  std::uint32_t hash = 2'166'136'261U;
  for (const auto c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  return hash;
}

duration wait_after(const std::string& name, std::uint32_t failures, std::uint64_t number) {
  return core::backoff_after(failures, first_wait, longest_wait, {number, seed_of(name), failures});
}

std::string subject_of(const alert_message& what) {
  return (what.kind == "digest" ? "a digest up to alert " : what.end ? "the end of alert " : "alert ") + what.number;
}

}  // namespace

alert_courier::alert_courier(ports world, alert_origin from, const std::vector<alert_target>& targets)
    : world_(std::move(world)), from_(std::move(from)) {
  for (const auto& one : targets) {
    target_state state;
    state.is = one;
    targets_.push_back(std::move(state));
  }
}

result<duration> alert_courier::look() {
  for (const auto& [which, how] : ended_.take()) take_in(which, how);

  const auto view = world_.reads->read();
  const auto newest = view->get_progress().shard.next_alert();
  say_again_if_lost(view->get_progress().epoch);
  for (std::size_t which = 0; which < targets_.size(); ++which) {
    const auto served = serve(which, *view, newest);
    if (!served.ok()) return served.failure();
  }
  return duration{look_period};
}

void alert_courier::take_in(std::size_t which, const status& how) {
  auto& target = targets_[which];
  if (!target.under_way) throw std::logic_error("a delivery of alerts has ended twice");
  const auto what = std::move(*target.under_way);
  target.under_way.reset();
  const auto now = world_.time->now();
  if (how.ok()) {
    if (target.failures > 0)
      world_.log->on_note(note_level::info, "alerts", target.is.name + " accepts alerts again, from number " + what.number + " on");
    target.failures = 0;
    target.delivered.push_back(now);
    if (what.end) {
      forget_told(target, what.last);
    } else {
      if (target.is.resolved && what.kind != "digest") target.told[what.last] = false;
      target.ends_looked_at = 0;
      move_cursor(target, what.last);
    }
    world_.log->on_note(note_level::debug, "alerts", target.is.name + " has accepted " + subject_of(what));
    return;
  }
  ++target.failures;
  const auto wait = wait_after(target.is.name, target.failures, what.last);
  target.not_before = now + wait;
  world_.log->on_note(note_level::warning, "alerts",
                      target.is.name + " has not accepted " + subject_of(what) + ": " + how.failure().sentence + "; next try in " +
                          format_duration(wait.count()));
}

status alert_courier::open(target_state& target, const store::snapshot& from) {
  const auto cursor = load_numbers<1>(from, cursor_row(target.is.name));
  if (!cursor) return cursor.failure();
  const auto start = load_numbers<2>(from, start_row(target.is.name));
  if (!start) return start.failure();
  if (*start) target.seen = {(**start)[0], static_cast<std::int64_t>((**start)[1])};
  if (*cursor) {
    target.cursor = (**cursor)[0];
    return load_told(target, from);
  }
  // A new target begins with the alerts that are unresolved now; alerts resolved before are not delivered to it.
  const auto newest = from.get_progress().shard.next_alert();
  auto begin = newest;
  auto scanned = store::for_each_unresolved(from, [&begin](const v1::AlertRecord& oldest) {
    begin = oldest.number() - 1;
    return false;
  });
  if (!scanned.ok()) return scanned;
  target.seen = {newest, to_unix_ms(world_.time->now())};
  target.cursor = begin;
  record(target);
  return nothing{};
}

status alert_courier::load_told(target_state& target, const store::snapshot& from) const {
  if (!target.is.resolved) return nothing{};
  status out = nothing{};
  const auto begin = told_row(target.is.name, 0);
  const auto scanned = from.scan(store::table::meta, begin, told_row(target.is.name, std::numeric_limits<std::uint64_t>::max()),
                                 [&](std::string_view key, std::string_view) {
                                   const auto number = store::meta::number_of_row(key);
                                   if (number)
                                     target.told[*number] = true;
                                   else
                                     out = store::damaged_value(store::table::meta, key);
                                   return out.ok();
                                 });
  return scanned.ok() ? out : scanned;
}

void alert_courier::record(const target_state& target) {
  courier_rows out;
  if (target.seen.at_unix_ms != 0)
    out.rows.put(store::table::meta, start_row(target.is.name),
                 store::meta::encode_u64(target.seen.newest) + store::meta::encode_u64(static_cast<std::uint64_t>(target.seen.at_unix_ms)));
  out.rows.put(store::table::meta, cursor_row(target.is.name), store::meta::encode_u64(*target.cursor));
  for (const auto& [number, durable] : target.told) out.rows.put(store::table::meta, told_row(target.is.name, number), {});
  world_.record(std::move(out));
}

/// Reports to a replaced Scheduler may be lost with it, and a target without a row counts as new.
void alert_courier::say_again_if_lost(std::uint64_t epoch) {
  if (std::exchange(epoch_, epoch) == epoch) return;
  for (const auto& target : targets_)
    if (target.cursor) record(target);
}

status alert_courier::serve(std::size_t which, const store::snapshot& from, std::uint64_t newest) {
  auto& target = targets_[which];
  for (auto& [number, durable] : target.told) {
    if (durable) continue;
    const auto row = from.get(store::table::meta, told_row(target.is.name, number));
    durable = row.ok() && *row;
  }
  if (target.under_way) return nothing{};
  if (!target.cursor)
    if (auto opened = open(target, from); !opened.ok()) return opened;
  if (!target.begun) {
    const auto row = from.get(store::table::meta, cursor_row(target.is.name));
    if (!row) return row.failure();
    target.begun = row->has_value();
    if (!target.begun) return nothing{};
  }
  if (has_to_wait(target)) return nothing{};
  result<std::optional<alert_message>> message = std::optional<alert_message>{};
  if (*target.cursor < newest) message = next_message(target, from, target.is.at_most - target.delivered.size());
  if (message.ok() && !*message) message = next_end(target, from);
  if (!message) return message.failure();
  if (*message) deliver(which, std::move(**message));
  return nothing{};
}

result<std::optional<alert_message>> alert_courier::next_end(target_state& target, const store::snapshot& from) {
  // The alerts that were ever resolved. Not by the shard's counter, which a start may count anew.
  const auto ends = from.get_progress().shard.next_alert() - from.count(store::table::unresolved_alert) + 1;
  if (target.told.empty() || ends == target.ends_looked_at) return std::optional<alert_message>{};
  for (auto next = target.told.begin(); next != target.told.end();) {
    const auto number = (next++)->first;
    const auto alert = store::load_alert(from, number);
    if (!alert) return alert.failure();
    if (!*alert)
      forget_told(target, number);  // resolved long ago, and erased since
    else if (!store::is_unresolved(**alert) || world_.faults.tell_end_early)
      return std::optional{end_message_of(from_, **alert)};
  }
  target.ends_looked_at = ends;
  return std::optional<alert_message>{};
}

result<std::optional<alert_message>> alert_courier::next_message(target_state& target, const store::snapshot& from, std::uint64_t room) {
  alert_digest waiting;
  std::optional<v1::AlertRecord> first;
  std::optional<std::uint64_t> passed;  // the last alert that this target does not get, while it gets none
  std::uint64_t rows = 0;
  std::optional<error> failed;
  const std::string begin{std::string_view{keys::alert(store::default_namespace, *target.cursor + 1)}};
  const auto end = keys::after(std::string_view{keys::of_namespace(store::default_namespace)});
  const auto scanned = from.scan(store::table::alert, begin, end, [&](std::string_view key, std::string_view payload) {
    v1::AlertRecord alert;
    if (!alert.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
      failed = store::damaged_value(store::table::alert, key);
      return false;
    }
    const auto was_over =
        alert.number() <= target.seen.newest && !store::is_unresolved(alert) && alert.resolved_at_unix_ms() <= target.seen.at_unix_ms;
    if (was_over) {
      if (!first) passed = alert.number();
    } else {
      waiting.add(alert);
      if (!first) first = std::move(alert);
    }
    return ++rows < rows_a_look;
  });
  if (!scanned.ok()) return scanned.failure();
  if (failed) return *failed;
  if (!first) {
    if (passed) move_cursor(target, *passed);
    return std::optional<alert_message>{};
  }
  return std::optional{waiting.count > room ? message_of(from_, waiting) : message_of(from_, *first)};
}

void alert_courier::deliver(std::size_t which, alert_message what) {
  auto& target = targets_[which];
  if (world_.faults.move_cursor_first) move_cursor(target, what.last);
  auto done = ended_.callback(which, world_.wake);
  if (target.is.run.empty()) {
    webhook_post post{target.is.url, what.body, {{"Idempotency-Key", what.key}}};
    target.under_way = std::move(what);
    world_.webhooks->post(std::move(post), std::move(done));
    return;
  }
  command_run run;
  run.run = target.is.run;
  run.input = what.body + "\n";
  run.environment = {{"FAIRLEAD_ALERT_NUMBER", what.number},
                     {"FAIRLEAD_ALERT_KIND", what.kind},
                     {"FAIRLEAD_ALERT_TASK", what.task},
                     {"FAIRLEAD_ALERT_EVENT", what.end ? "resolved" : "raised"}};
  run.time_limit = target.is.timeout;
  target.under_way = std::move(what);
  world_.commands->run(std::move(run), std::move(done));
}

void alert_courier::forget_told(target_state& target, std::uint64_t number) {
  target.told.erase(number);
  courier_rows out;
  out.rows.erase(store::table::meta, told_row(target.is.name, number));
  world_.record(std::move(out));
}

void alert_courier::move_cursor(target_state& target, std::uint64_t to) {
  target.cursor = to;
  courier_rows out;
  // A report that was lost must not leave a cursor behind an alert whose row is missing.
  if (!world_.faults.lose_told)
    for (const auto& [number, durable] : target.told)
      if (!durable) out.rows.put(store::table::meta, told_row(target.is.name, number), {});
  out.rows.put(store::table::meta, cursor_row(target.is.name), store::meta::encode_u64(to));
  world_.record(std::move(out));
}

bool alert_courier::has_to_wait(target_state& target) const {
  const auto now = world_.time->now();
  if (target.failures > 0 && !core::is_over(target.not_before, now, longest_wait)) return true;
  auto& recent = target.delivered;
  std::erase_if(recent, [&](moment at) { return !core::still_waits(at, target.is.window, now); });
  return recent.size() >= target.is.at_most;
}

}  // namespace fairlead
