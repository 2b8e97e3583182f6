#pragma once
// The Supervisor: finds steps whose time has passed and asks the Scheduler for recovery. It knows no business logic, changes nothing, and
// restarts nothing; any number of them may run. A shell over ports. One thread at a time.

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "actors/ports.hpp"
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

  explicit supervisor(ports world) : world_(world) {}

  /// Reads what is due from the index and asks for its recovery. Costs what is due, not what exists. True when there was more than one
  /// scan takes: scan again soon.
  result<bool> scan();

  /// Steps that will want recovery at a known moment, so that a short backoff need not wait for the next scan.
  void hint(const v1::RecoveryHintBatch& what);

  /// Asks for what the hints say is due by now.
  void fire();

  /// When `fire` has something to do; nullopt when there are no hints.
  std::optional<moment> next_hint() const;

 private:
  struct later {
    bool operator()(const v1::RecoveryHint& a, const v1::RecoveryHint& b) const { return a.due_unix_ms() > b.due_unix_ms(); }
  };
  void add_due_steps(const v1::TaskRecord& record, std::int64_t now_ms, v1::RecoverBatch& out) const;

  ports world_;
  std::priority_queue<v1::RecoveryHint, std::vector<v1::RecoveryHint>, later> hints_;
};

}  // namespace fairlead
