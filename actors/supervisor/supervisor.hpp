#pragma once
// The Supervisor finds steps whose time has passed and asks the Scheduler for recovery. It knows no business logic, changes nothing, and
// restarts nothing; any number of Supervisors may run. It also checks that every live task has a wake-up. A shell over ports. One thread at
// a time.

#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "actors/protocol/ports.hpp"
#include "actors/supervisor/requests.hpp"
#include "actors/supervisor/stall_check.hpp"
#include "store/store.hpp"

namespace fairlead {

class supervisor {
 public:
  struct ports {
    const clock* time = nullptr;
    const store::store* reads = nullptr;
    supervisor_outbox* out = nullptr;
    observer* log = nullptr;
  };

  /// Pause before the next scan while a scan reports more: time for the Scheduler alone.
  static constexpr duration burst_pause{5};

  explicit supervisor(ports world, duration scan_period = std::chrono::seconds{1});

  /// Reads due entries from the index and asks for recovery; compares the counters of the stall check. The cost depends on the entries that
  /// are due, not on those that exist. True: there was more than one scan takes; scan again after `burst_pause`, else after the scan
  /// period. Entries seen by one scan are passed over by the next ones until the index has been read to its end; then requests that the
  /// Scheduler has not answered are repeated.
  result<bool> scan();

  /// Goes on with the slow round over all live tasks, a thousand at a time. Reports tasks that wait for something inside the process,
  /// perhaps in vain. Call it once a scan period.
  status go_round();

  /// Steps that will need recovery at a known moment, so that a short backoff need not wait for the next scan.
  void hint(const v1::RecoveryHintBatch& what);

  /// Asks for recovery of hinted steps that are due by now, as far as the Scheduler has room.
  void fire();

  /// When `fire` has something to do; nullopt: there are no hints.
  std::optional<moment> next_hint() const;

 private:
  struct later {
    bool operator()(const v1::RecoveryHint& a, const v1::RecoveryHint& b) const { return a.due_unix_ms() > b.due_unix_ms(); }
  };
  result<bool> ask_for_due(const store::snapshot& view, std::int64_t now_ms);
  void add_due_steps(const v1::TaskRecord& record, std::int64_t now_ms, v1::RecoverBatch& out);
  void add(v1::Recover what, std::int64_t now_ms, v1::RecoverBatch& out);
  void ask_for_repair(const std::vector<wake_up_finding>& found, std::int64_t now_ms);
  void send(v1::RecoverBatch what, std::int64_t now_ms);

  ports world_;
  duration scan_period_;
  std::int64_t read_again_ms_ = 0;  // while hints wait for their turn the index is not read before this moment
  supervisor_requests requests_;
  stall_check stalls_;
  progress_round round_;
  stalest_task stalest_;  // as last reported
  bool asked_of_waits_ = false;
  std::string pass_from_;   // key at which the pass over due entries goes on
  std::string pass_to_;     // key where the pass ends; empty between two passes
  bool fire_held_ = false;  // hints are due, but the Scheduler has no room
  std::priority_queue<v1::RecoveryHint, std::vector<v1::RecoveryHint>, later> hints_;
};

}  // namespace fairlead
