#include "store/check/notices.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "messages/api.pb.h"
#include "store/content_hash.hpp"
#include "store/rows/alert_rows.hpp"
#include "store/rows/service_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::store {

namespace {

/// Each restore skips a multiple of this number in live tasks: actors/core/task/restore.hpp.
constexpr std::uint64_t left_out_by_restore = 1'000;

bool is_next(std::uint64_t sequence, std::uint64_t expected) {
  return sequence >= expected && (sequence - expected) % left_out_by_restore == 0;
}

bool known_state(v1::AlertState state) { return state >= v1::ALERT_STATE_OPEN && state <= v1::ALERT_STATE_RESOLVED; }

}  // namespace

void notice_check::run() {
  check_alerts();
  check_addresses();
  check_outboxes();
  check_services();
}

void notice_check::check_services() {
  all_.scan(table::service, [&](std::string_view key, std::string_view payload) {
    v1::ServiceRecord record;
    if (!record.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
      return all_.add(table::service, key, "the value does not parse");
    }
    const auto name = keys::decode_service(key)->name;
    if (record.agent() != name) return all_.add(table::service, key, "the row says it is service `" + record.agent() + "`");
    if (says_nothing(record)) all_.add(table::service, key, "the row is empty and should not exist");
    check_alert_of(key, record.breaker_alert());
    check_alert_of(key, record.absent_alert());
  });
}

void notice_check::check_alert_of(std::string_view key, std::uint64_t number) {
  if (number == 0) return;
  const auto record = load_alert(all_.of(), number);
  if (record && (!record->has_value() || !is_unresolved(**record)))
    all_.add(table::service, key, "alert " + std::to_string(number) + " of it is resolved or not there");
}

void notice_check::check_alerts() {
  const auto& of = all_.of();
  all_.scan(table::alert, [&](std::string_view key, std::string_view payload) {
    const auto number = keys::decode_alert(key)->number;
    v1::AlertRecord record;
    if (!record.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
      return all_.add(table::alert, key, "the value does not parse");
    }
    greatest_alert_ = std::max(greatest_alert_, number);
    if (record.number() != number) return all_.add(table::alert, key, "the row says it is alert " + std::to_string(record.number()));
    if (!known_state(record.state())) return all_.add(table::alert, key, "it has no known state");
    if (!is_unresolved(record)) return;
    ++unresolved_alerts_;
    auto entry = of.get(table::unresolved_alert, keys::unresolved_alert(default_namespace, number));
    if (entry && !entry->has_value()) all_.add(table::alert, key, "it lacks its entry in table unresolved_alert");
  });
  all_.scan(table::unresolved_alert, [&](std::string_view key, std::string_view payload) {
    if (!payload.empty()) all_.add(table::unresolved_alert, key, "the value has " + std::to_string(payload.size()) + " bytes");
    auto record = load_alert(of, keys::decode_unresolved_alert(key)->number);
    if (!record) return;
    if (!record->has_value()) {
      all_.add(table::unresolved_alert, key, "there is no such alert");
    } else if (!is_unresolved(**record)) {
      all_.add(table::unresolved_alert, key, "the alert is resolved");
    }
  });
}

void notice_check::check_addresses() {
  all_.scan(table::reply_address, [&](std::string_view key, std::string_view payload) {
    v1::ReplyAddressRecord record;
    if (!record.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
      all_.add(table::reply_address, key, "the value does not parse");
    } else if (!is_set(record.address()) || reply_address_hash(record.address()) != keys::decode_reply_address(key)->address) {
      all_.add(table::reply_address, key, "the row is of another address");
    }
  });
}

// An outbox is emptied from its beginning, so a task's remaining events are an unbroken run up to the last event written.
void notice_check::check_outboxes() {
  const auto& of = all_.of();
  std::string address;
  std::unordered_map<std::string, std::uint64_t> last_of_task;  // within this address
  const auto end_address = [&] {
    for (const auto& [id, last] : last_of_task) {
      auto tombstone = find_task(of, id);
      if (!tombstone || !tombstone->has_value()) continue;  // reported with the event
      auto task = load_task(of, (*tombstone)->number());
      if (!task || !task->has_value() || is_next((*task)->status_sequence(), last)) continue;
      all_.add(table::reply_address, keys::reply_address(default_namespace, address),
               "its outbox ends with status event " + std::to_string(last) + " of task `" + id + "`, whose row says " +
                   std::to_string((*task)->status_sequence()));
    }
    last_of_task.clear();
  };
  all_.scan(table::outbox, [&](std::string_view key, std::string_view payload) {
    const auto entry = *keys::decode_outbox(key);
    ++outbox_events_;
    greatest_position_ = std::max(greatest_position_, entry.position);
    if (address != entry.address) {
      if (!address.empty()) end_address();
      address = entry.address;
    }
    v1::StatusEvent event;
    if (!event.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
      return all_.add(table::outbox, key, "the value does not parse");
    }
    if (event.position() != entry.position) {
      return all_.add(table::outbox, key, "the event says that it is at " + std::to_string(event.position()));
    }
    if (!is_set(event.to()) || reply_address_hash(event.to()) != entry.address) {
      return all_.add(table::outbox, key, "the event is for another address");
    }
    auto& last = last_of_task[event.task_id()];
    if (last == 0) {
      auto tombstone = find_task(of, event.task_id());
      if (tombstone && !tombstone->has_value()) all_.add(table::outbox, key, "there is no task `" + event.task_id() + "`");
    } else if (!is_next(event.sequence(), last + 1)) {
      all_.add(table::outbox, key,
               "status event " + std::to_string(event.sequence()) + " of task `" + event.task_id() + "` follows " + std::to_string(last));
    }
    last = event.sequence();
  });
  if (!address.empty()) end_address();
}

}  // namespace fairlead::store
