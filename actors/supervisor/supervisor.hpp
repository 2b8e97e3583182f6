#pragma once
// The Supervisor: finds steps whose time has passed and asks the Scheduler for recovery. It knows no business logic, changes nothing, and
// restarts nothing; any number of them may run. Beside that it looks whether every live task has a wake-up. A shell over ports. One thread at
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

  /// While a scan says that there is more, how long to leave the Scheduler to itself before the next.
  static constexpr duration burst_pause{5};

  explicit supervisor(ports world, duration scan_period = std::chrono::seconds{1});

  /// Reads what is due from the index and asks for its recovery, and compares the counters of the stall check. Costs what is due, not what
  /// exists. True when there was more than one scan takes: scan again after `burst_pause`, else after the scan period. What one scan has seen
  /// the next ones pass over until the index has been read to its end; what the Scheduler has not answered by then is asked for again.
  result<bool> scan();

  /// Goes on with the slow round over all live tasks, a thousand at a time, and asks whether those that wait for something inside the process wait
  /// in vain. Once a scan period.
  status go_round();

  /// Steps that will want recovery at a known moment, so that a short backoff need not wait for the next scan.
  void hint(const v1::RecoveryHintBatch& what);

  /// Asks for what the hints say is due by now, as far as the Scheduler has room.
  void fire();

  /// When `fire` has something to do; nullopt when there are no hints.
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
  std::int64_t read_again_ms_ = 0;  // until then the index is not read while hints wait for their turn
  supervisor_requests requests_;
  stall_check stalls_;
  progress_round round_;
  stalest_task stalest_;  // as last told
  bool asked_of_waits_ = false;
  std::string pass_from_;   // the pass over what is due: the key to go on with,
  std::string pass_to_;     // and where it ends; empty between two passes
  bool fire_held_ = false;  // hints are due, but the Scheduler has no room
  std::priority_queue<v1::RecoveryHint, std::vector<v1::RecoveryHint>, later> hints_;
};

}  // namespace fairlead
