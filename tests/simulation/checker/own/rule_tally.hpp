#pragma once
// The bad ends of a step's attempts to perform by the rules of its workflow (`retry`), as the history of its task tells them, and the waits
// behind them.

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "messages/task.pb.h"
#include "messages/workflow.pb.h"

namespace fairlead::simulation {

class rule_tally {
 public:
  static constexpr int no_rule = -1;  // what the step says for all faults

  /// For which rule a bad end counts.
  static int rule_of(const v1::StepDefinition& step, const v1::HistoryEvent& end);

  /// A callback may say what became of an attempt that had ended before: then that counts.
  void ended(std::uint32_t attempt, int rule) {
    if (attempt > forgotten_) ends_[attempt] = rule;
  }
  void waits(int rule, std::int64_t wait_ms) { waited_ms_[rule] += wait_ms; }
  /// What was made up to this attempt counts no more.
  void forget(std::uint32_t attempt);
  void forget_waits() { waited_ms_.clear(); }

  /// Of the attempt; nullopt: it has not ended badly, or does not count.
  std::optional<int> rule_at(std::uint32_t attempt) const;
  /// Of the last attempt before this one that has ended badly. The attempt itself may have ended in the commit in which it was decided.
  std::optional<int> last_before(std::uint32_t attempt) const {
    const auto next = ends_.lower_bound(attempt);
    return next == ends_.begin() ? std::nullopt : std::optional{std::prev(next)->second};
  }
  std::uint32_t count(int rule) const;
  std::uint32_t count_before(int rule, std::uint32_t attempt) const;
  std::int64_t waited_ms(int rule) const;

 private:
  std::map<std::uint32_t, int> ends_;      // by attempt
  std::map<int, std::int64_t> waited_ms_;  // by rule
  std::uint32_t forgotten_ = 0;
};

}  // namespace fairlead::simulation
