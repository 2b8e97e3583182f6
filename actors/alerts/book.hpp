#pragma once
// Raises, acknowledges and resolves alerts: rows and counters of the Scheduler's open batch. One thread.
//
// An alert is `open` until an operator acknowledges it, and resolved when its cause is over; an open alert may be resolved without an
// acknowledgement. Numbers grow by one with each alert, so a courier's cursor is one number.

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/task.pb.h"
#include "messages/time.hpp"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead {

class alert_book {
 public:
  /// The target of a change: the batch that will have `sequence`, and the counters that travel with it.
  struct page {
    v1::ShardState& shard;
    store::batch& out;
    std::uint64_t sequence = 0;
    moment now;
  };

  /// Opens an alert with the kind, subject, sentence and remedy of `draft`. Returns its number.
  std::uint64_t raise(v1::AlertRecord draft, const page& to);

  /// No effect if the alert is resolved already or unknown.
  status resolve(std::uint64_t number, const page& to, const store::snapshot& committed);

  /// The alert says from now on what `draft` says, if it is unresolved and of the same kind and step. False: it is not, and stays as it is.
  result<bool> restate(std::uint64_t number, const v1::AlertRecord& draft, const page& to, const store::snapshot& committed);

  /// Changes an alert by `how`, which leaves number and state as they are. No effect if the alert is unknown.
  status change(std::uint64_t number, const page& to, const store::snapshot& committed, const std::function<void(v1::AlertRecord&)>& how);

  /// Errors: not_found; wrong_state (already resolved). A second acknowledgement keeps the first.
  result<v1::AlertRecord> acknowledge(std::uint64_t number, const std::string& who, const std::string& note, const page& to,
                                      const store::snapshot& committed);

  /// Batches up to `sequence` can be read from snapshots now.
  void committed_up_to(std::uint64_t sequence);

 private:
  struct fresh_alert {
    v1::AlertRecord record;
    std::uint64_t sequence = 0;
  };
  result<v1::AlertRecord> find(std::uint64_t number, const store::snapshot& committed) const;
  void write(const v1::AlertRecord& record, const page& to);

  std::map<std::uint64_t, fresh_alert> fresh_;  // written, not yet committed
};

}  // namespace fairlead
