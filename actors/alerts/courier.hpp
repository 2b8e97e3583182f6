#pragma once
// Delivers alerts to webhooks and commands: at least once, in the order of their numbers, retried for ever, and limited in rate. A shell
// over ports. One thread at a time.
//
// Every target has a durable cursor: the number of the last alert delivered there. The cursor moves after a delivery, never before. So an
// alert is delivered again if a crash comes between its delivery and the cursor's move. Targets are independent of each other.
//
// A target that wants to hear of resolved alerts has a durable row for each alert that it was told of by itself and not in a digest. The
// row goes once the target has been told of the alert's end.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/alerts/message.hpp"
#include "actors/alerts/target.hpp"
#include "actors/core/planted_faults.hpp"
#include "actors/delivery/command_port.hpp"
#include "actors/delivery/ended_deliveries.hpp"
#include "actors/delivery/webhook_port.hpp"
#include "actors/protocol/local_messages.hpp"
#include "actors/protocol/ports.hpp"
#include "store/store.hpp"

namespace fairlead {

class alert_courier {
 public:
  struct ports {
    const clock* time = nullptr;
    const store::store* reads = nullptr;
    webhook_port* webhooks = nullptr;  // may be null when no target is a webhook
    command_port* commands = nullptr;  // may be null when no target is a command
    observer* log = nullptr;
    /// Sends rows to the Scheduler.
    std::function<void(courier_rows)> record;
    /// Called from any thread when a delivery has ended: `look` has work. Must not call back into the courier.
    std::function<void()> wake;
    core::planted_faults faults = {};
  };

  alert_courier(ports world, alert_origin from, const std::vector<alert_target>& targets);

  /// Records ended deliveries and begins those that may begin. Returns the pause until the next look. A look without news reads one row. Errors:
  /// those of the store.
  result<duration> look();

 private:
  /// The alerts at a target's first look: of these the target gets only the unresolved ones.
  struct first_sight {
    std::uint64_t newest = 0;
    std::int64_t at_unix_ms = 0;
  };

  struct target_state {
    alert_target is;
    std::optional<std::uint64_t> cursor;  // not known before the first look
    // The row of its cursor is known to be durable. Without that row the next leader takes the target for a new one, which hears nothing of
    // alerts that are resolved by then; so nothing is told before.
    bool begun = false;
    first_sight seen;
    // Alerts of which it was told, and not of their end. False: the row is not known to be durable, so each move of the cursor writes it.
    std::map<std::uint64_t, bool> told;
    std::uint64_t ends_looked_at{};  // resolved alerts of the shard, ever, at the last look that found no end to tell
    std::optional<alert_message> under_way;
    std::uint32_t failures = 0;  // since the last success
    moment not_before;
    std::deque<moment> delivered;  // in the window
  };

  void take_in(std::size_t which, const status& how);
  status open(target_state& target, const store::snapshot& from);
  status serve(std::size_t which, const store::snapshot& from, std::uint64_t newest);
  result<std::optional<alert_message>> next_message(target_state& target, const store::snapshot& from, std::uint64_t room);
  /// The end of an alert that the target was told of.
  result<std::optional<alert_message>> next_end(target_state& target, const store::snapshot& from);
  void deliver(std::size_t which, alert_message what);
  void forget_told(target_state& target, std::uint64_t number);
  void move_cursor(target_state& target, std::uint64_t to);
  void record(const target_state& target);
  status load_told(target_state& target, const store::snapshot& from) const;
  void say_again_if_lost(std::uint64_t epoch);
  bool has_to_wait(target_state& target) const;

  ports world_;
  alert_origin from_;
  std::vector<target_state> targets_;
  std::uint64_t epoch_ = 0;              // epoch in which it has reported its state
  ended_deliveries<std::size_t> ended_;  // by index of their target
};

}  // namespace fairlead
