#include "actors/replies/courier.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/retention_time.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/waits.hpp"
#include "actors/replies/message.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"

namespace fairlead {

namespace {

constexpr std::size_t addresses_a_look = 256;
constexpr std::size_t most_posting = 256;  // further events wait in the outbox, not in memory
constexpr std::size_t kept_failure_bytes = 300;
constexpr const char* component = "reply courier";

/// The first receiver after `address` (empty: of all) with a row; nullopt: none.
result<std::optional<std::string>> next_address(const store::snapshot& view, const std::string& address) {
  using namespace store;
  const auto from =
      address.empty() ? keys::of_namespace(default_namespace).str() : keys::after(keys::outbox_prefix(default_namespace, address));
  std::optional<std::string> out;
  const auto scanned =
      view.scan(table::outbox, from, keys::after(keys::of_namespace(default_namespace)), [&out](std::string_view key, std::string_view) {
        if (const auto entry = keys::decode_outbox(key)) out = std::string{entry->address};
        return !out;
      });
  if (!scanned.ok()) return scanned.failure();
  return out;
}

v1::AlertRecord given_up(const v1::ReplyAddress& who, std::uint64_t dropped, std::int64_t since_unix_ms, const std::string& last_failure) {
  const bool webhook = !who.webhook().empty();
  v1::AlertRecord out;
  out.set_kind(v1::ALERT_KIND_RECEIVER_GIVEN_UP);
  auto sentence = std::to_string(dropped) + (dropped == 1 ? " status event" : " status events") + " for " + receiver_name(who) +
                  (dropped == 1 ? " was" : " were") + " dropped: it has not ";
  sentence += webhook ? "accepted any since " : "claimed any since ";
  sentence += format_utc(since_unix_ms);
  if (!last_failure.empty()) sentence += " (" + last_failure + ")";
  out.set_sentence(std::move(sentence));
  out.set_remedy(webhook ? "The tasks are not affected; 'fairlead task list' shows their states. Repair the receiver"
                         : "The tasks are not affected; 'fairlead task list' shows their states. Let the client claim its events");
  return out;
}

}  // namespace

reply_courier::reply_courier(world in, settings chosen)
    : world_(std::move(in)), settings_(std::move(chosen)), started_unix_ms_(to_unix_ms(world_.time->now())) {}

result<duration> reply_courier::look() {
  if (auto taken = take_up_ended(); !taken.ok()) return taken.failure();
  if (auto settled = world_.outbox->settle(); !settled.ok()) return settled.failure();
  const auto view = world_.reads->read();
  const auto progress = view->get_progress();
  say_again_if_lost(progress.epoch);
  read_retention(progress);
  auto pause = looked_at_.empty() ? idle_pause : busy_pause;
  if (view->count(store::table::outbox) > 0) {
    const auto now = world_.time->now();
    for (std::size_t n = 0;; ++n) {
      auto next = next_address(*view, looked_at_);
      if (!next.ok()) return next.failure();
      if (!*next) break;
      if (n == addresses_a_look) return busy_pause;
      looked_at_ = std::move(**next);
      auto wanted = visit(*view, looked_at_, now);
      if (!wanted.ok()) return wanted.failure();
      pause = std::min(pause, *wanted);
    }
  }
  looked_at_.clear();
  if (receivers_.empty()) return pause;
  if (auto swept = sweep(*view); !swept.ok()) return swept.failure();
  ++round_;
  return pause;
}

status reply_courier::take_up_ended() {
  for (const auto& [address, how] : ended_.take()) {
    const auto found = receivers_.find(address);
    if (found == receivers_.end() || !found->second.posting) continue;
    found->second.posting = false;
    --posting_;
    if (!how.ok()) {
      failed(address, found->second, how.failure());
    } else if (auto done = delivered(address, found->second); !done.ok()) {
      return done;
    }
  }
  return nothing{};
}

status reply_courier::delivered(const std::string& address, receiver& to) {
  auto rows = world_.outbox->take(address, to.posted_to);
  if (!rows.ok()) return rows.failure();
  if (to.record.failures() > 0)
    world_.log->on_note(note_level::info, component, receiver_name(to.record.address()) + " accepts status events again");
  make_well(address, to, *rows);
  if (!rows->rows.empty()) world_.commit(std::move(*rows));
  return nothing{};
}

void reply_courier::failed(const std::string& address, receiver& to, const error& why) {
  const auto now = world_.time->now();
  auto& record = to.record;
  record.set_failures(record.failures() + 1);
  if (record.failing_since_unix_ms() == 0) record.set_failing_since_unix_ms(std::max(to_unix_ms(now), retention_unix_ms_));
  record.set_next_try_unix_ms(to_unix_ms(now + core::backoff_after(record.failures(), first_backoff, longest_backoff)));
  record.set_last_failure(core::clean_text(why.sentence, kept_failure_bytes));
  if (record.failures() == 1)
    world_.log->on_note(note_level::warning, component,
                        receiver_name(record.address()) + " does not accept status events: " + record.last_failure());
  to.stored = to.had_row = true;
  courier_rows rows;
  rows.rows.put(store::table::reply_address, store::keys::reply_address(store::default_namespace, address), record.SerializeAsString());
  world_.commit(std::move(rows));
}

result<duration> reply_courier::visit(const store::snapshot& view, const std::string& address, moment now) {
  const auto oldest = read_outbox(view, address, world_.outbox->taken(address), 1);
  if (!oldest.ok()) return oldest.failure();
  if (oldest->empty()) return idle_pause;
  const auto& first = oldest->front();
  auto entry = known(view, address, first.to());
  if (!entry.ok()) return entry.failure();
  auto& to = **entry;
  to.round = round_;
  if (to.posting || to.drop_to != 0) return busy_pause;

  const bool webhook = !first.to().webhook().empty();
  // A client that fetches takes the oldest events first.
  const auto failing = webhook ? to.record.failing_since_unix_ms() : first.at_unix_ms();
  if (failing != 0 && gone_for_long(to, first, failing, now)) {
    to.drop_to = view.get_progress().shard.next_position();
    to.gone_since_unix_ms = failing;
    return busy_pause;
  }
  if (!webhook) return idle_pause;
  const auto next_try = from_unix_ms(to.record.next_try_unix_ms());
  if (to.record.failures() > 0 && !core::is_over(next_try, now, longest_backoff)) return std::min(next_try - now, idle_pause);
  if (posting_ < most_posting) {
    if (auto posted = post(view, address, to); !posted.ok()) return posted.failure();
  }
  return busy_pause;
}

void reply_courier::read_retention(const store::progress& now) {
  retention_unix_ms_ = now.shard.retention_unix_ms();
  if (began_ || retention_unix_ms_ == 0) return;
  began_.emplace();
  began_->retention_unix_ms = retention_unix_ms_;
  began_->away_ms = std::max<std::int64_t>(started_unix_ms_ - retention_unix_ms_, 0);
  began_->position = now.shard.next_position();
}

/// A single reading of the wall clock must drop nothing, so the age is measured by retention time. Stamps are by the wall clock and may be
/// years behind. So the age of an event that came after this courier's beginning counts at the latest from when the courier found it.
bool reply_courier::gone_for_long(receiver& to, const v1::StatusEvent& oldest, std::int64_t since_unix_ms, moment now) const {
  if (!began_) return false;
  if (to.oldest != oldest.position()) {
    to.oldest = oldest.position();
    to.oldest_seen_unix_ms = retention_unix_ms_;
  }
  if (oldest.position() > began_->position) {
    since_unix_ms = std::max(since_unix_ms, to.oldest_seen_unix_ms);
  } else {
    // The receiver is not blamed for the time in which this node itself was away.
    const auto away_ms = since_unix_ms <= started_unix_ms_ ? began_->away_ms : 0;
    // An event that should have been dropped before this beginning has a wrong stamp.
    if (began_->retention_unix_ms - since_unix_ms >= settings_.give_up_after.count()) since_unix_ms = began_->retention_unix_ms;
    since_unix_ms += away_ms;
  }
  return core::aged_until(retention_unix_ms_, now) - since_unix_ms >= settings_.give_up_after.count();
}

result<reply_courier::receiver*> reply_courier::known(const store::snapshot& view, const std::string& address, const v1::ReplyAddress& to) {
  const auto found = receivers_.find(address);
  if (found != receivers_.end()) return &found->second;
  receiver fresh;
  const auto key = store::keys::reply_address(store::default_namespace, address);
  const auto row = view.get(store::table::reply_address, key);
  if (!row.ok()) return row.failure();
  if (*row) {
    if (!fresh.record.ParseFromArray((*row)->data(), static_cast<int>((*row)->size())))
      return store::damaged_value(store::table::reply_address, key);
    fresh.stored = fresh.had_row = true;
  }
  *fresh.record.mutable_address() = to;
  return &receivers_.emplace(address, std::move(fresh)).first->second;
}

status reply_courier::post(const store::snapshot& view, const std::string& address, receiver& to) {
  if (posting_ >= most_posting) return nothing{};
  auto events = read_outbox(view, address, world_.outbox->taken(address), events_a_post);
  if (!events.ok()) return events.failure();
  if (events->empty()) return nothing{};
  to.posting = true;
  to.posted_to = events->back().position();
  ++posting_;
  world_.posts->post({to.record.address().webhook(), events_json(settings_.node, *events), {}}, ended_.callback(address, world_.wake));
  return nothing{};
}

status reply_courier::sweep(const store::snapshot& view) {
  for (auto it = receivers_.begin(); it != receivers_.end();) {
    auto& one = it->second;
    if (one.drop_to != 0) {
      if (auto dropped = drop_some(it->first, one); !dropped.ok()) return dropped;
    }
    bool forget = !one.posting && one.drop_to == 0 && one.record.failures() == 0 && one.round != round_;
    if (forget && one.had_row) {
      const auto row = view.get(store::table::reply_address, store::keys::reply_address(store::default_namespace, it->first));
      if (!row.ok()) return row.failure();
      forget = !row->has_value();
    }
    it = forget ? receivers_.erase(it) : std::next(it);
  }
  return nothing{};
}

void reply_courier::say_again_if_lost(std::uint64_t epoch) {
  if (std::exchange(epoch_, epoch) == epoch) return;
  for (const auto& [address, one] : receivers_) {
    if (!one.had_row) continue;
    const auto key = store::keys::reply_address(store::default_namespace, address);
    courier_rows rows;
    if (one.record.failures() > 0)
      rows.rows.put(store::table::reply_address, key, one.record.SerializeAsString());
    else
      rows.rows.erase(store::table::reply_address, key);
    world_.commit(std::move(rows));
  }
}

status reply_courier::drop_some(const std::string& address, receiver& from) {
  auto rows = world_.outbox->take(address, from.drop_to);
  if (!rows.ok()) return rows.failure();
  from.dropped += rows->delivered_events;
  const auto rest = read_outbox(*world_.reads->read(), address, world_.outbox->taken(address), 1);
  if (!rest.ok()) return rest.failure();
  if (rest->empty() || rest->front().position() > from.drop_to) {
    if (from.dropped > 0) {
      auto alert = given_up(from.record.address(), from.dropped, from.gone_since_unix_ms, from.record.last_failure());
      world_.log->on_note(note_level::warning, component, alert.sentence());
      rows->alerts.push_back(std::move(alert));
    }
    make_well(address, from, *rows);
    from.drop_to = from.dropped = 0;
  }
  if (!rows->rows.empty() || !rows->alerts.empty()) world_.commit(std::move(*rows));
  return nothing{};
}

void reply_courier::make_well(const std::string& address, receiver& of, courier_rows& rows) {
  if (of.stored) rows.rows.erase(store::table::reply_address, store::keys::reply_address(store::default_namespace, address));
  of.stored = false;
  auto who = std::move(*of.record.mutable_address());
  of.record.Clear();
  *of.record.mutable_address() = std::move(who);
}

}  // namespace fairlead
