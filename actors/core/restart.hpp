#pragma once
// A guardian's answer to the end of a child: which children it stops and starts, and when it gives up. The policy as data, apart from its
// mechanics (after Erlang/OTP's supervisor: one_for_one, one_for_all, rest_for_one; permanent, transient, temporary; intensity).

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "messages/time.hpp"

namespace fairlead::core {

enum class restart_strategy {
  one_for_one,   // the child that ended
  one_for_all,   // all children
  rest_for_one,  // the child that ended, and those started after it
};

enum class restart_kind {
  permanent,  // always started again
  transient,  // started again only if it ended with an error
  temporary,  // never started again
};

struct restart_policy {
  restart_strategy strategy = restart_strategy::one_for_one;
  /// With more restarts than this within `within`, the guardian gives up and ends with all its children.
  std::uint32_t restarts = 5;
  duration within = std::chrono::seconds{30};
};

const char* name_of(restart_strategy strategy);
const char* name_of(restart_kind kind);

/// The next actions. Indexes are those of the children in the order of their specification.
struct restart_plan {
  std::vector<std::size_t> stop;   // in this order: the reverse of the start
  std::vector<std::size_t> start;  // once all of `stop` have ended, in this order
  bool give_up = false;            // stop everything, in reverse order, and start nothing
};

class restart_book {
 public:
  /// `kinds` of the children, in their order.
  restart_book(restart_policy policy, std::vector<restart_kind> kinds) : policy_(policy), kinds_(std::move(kinds)) {}

  /// The child `which` has ended by itself; `failed`: with an error. `running`: the children that run (the ended child does not).
  restart_plan ended(std::size_t which, bool failed, const std::vector<bool>& running, moment now);
  /// A child could not be started: counts as a restart that failed at once.
  restart_plan start_failed(std::size_t which, const std::vector<bool>& running, moment now);

  /// One more child, at the end.
  void add(restart_kind kind) { kinds_.push_back(kind); }

  /// Restarts within the last `within`, as of the last call.
  std::size_t recent() const { return restarts_.size(); }

 private:
  restart_plan again(std::size_t which, const std::vector<bool>& running, moment now);
  bool too_many(moment now);

  restart_policy policy_;
  std::vector<restart_kind> kinds_;
  std::deque<moment> restarts_;
};

}  // namespace fairlead::core
