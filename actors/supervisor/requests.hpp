#pragma once
// The Supervisor's recent requests: none twice within a scan period, and never so many at once that the Scheduler is kept from its other
// work.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_set>

#include "messages/agent.pb.h"
#include "messages/time.hpp"
#include "store/store.hpp"

namespace fairlead {

/// A step needs recovery: its attempt's lease is over, or its wait is.
bool recovery_due(const v1::StepRecord& step, std::int64_t now_ms);

class supervisor_requests {
 public:
  explicit supervisor_requests(duration scan_period) : period_(scan_period) {}

  /// False: the same request was sent less than a scan period ago.
  bool admit(const v1::Recover& what, std::int64_t now_ms);

  /// Whether more may be sent: the Scheduler has few enough requests. Reads from the store what it has decided.
  bool has_room(const store::snapshot& view, std::int64_t now_ms);

  /// These requests go to the Scheduler now.
  void sent(const v1::RecoverBatch& what, std::int64_t now_ms);

 private:
  struct request {
    std::uint64_t task = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    std::uint32_t failures = 0;
    std::uint32_t kind = 0;  // direction, and whether it asks for repair
    friend bool operator==(const request&, const request&) = default;
  };
  struct hash {
    std::size_t operator()(const request& of) const;
  };
  struct asked {
    std::int64_t at_ms = 0;
    request what;
  };
  struct outstanding {
    std::int64_t at_ms = 0;
    std::size_t requests = 0;
    v1::Recover last;  // once this request is decided, so are those before it
  };

  duration period_;
  std::unordered_set<request, hash> lately_;
  std::deque<asked> order_;
  std::deque<outstanding> sent_;
  std::size_t out_ = 0;
  std::int64_t allowance_ = 0;  // requests that may be sent at this moment
  std::int64_t counted_at_ms_ = 0;
};

}  // namespace fairlead
