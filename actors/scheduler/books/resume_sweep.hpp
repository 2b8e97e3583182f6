#pragma once
// The sweep after a start: takes up, chunk by chunk, the tasks that were under way and may need something now. It follows the due index. One thread.

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "messages/error.hpp"
#include "messages/task.pb.h"
#include "messages/time.hpp"
#include "store/store.hpp"

namespace fairlead {

class resume_sweep {
 public:
  /// Begins for the tasks that are there now. `longest_timeout`: of any step.
  void begin(const v1::ShardState& counts, moment now, duration longest_timeout);
  /// Whether there is anything to take up; errors are the store's.
  result<bool> finds_any(const store::snapshot& committed) const;

  bool under_way() const noexcept { return under_way_; }
  /// Whether a task that is loaded and runs is to be taken up now: each is, once, by the sweep or before it comes to it.
  bool takes_up(std::uint64_t number);

  struct chunk {
    std::vector<std::uint64_t> numbers;
    bool last = false;
  };
  /// The next tasks.
  result<chunk> next(const store::snapshot& committed);
  /// The last chunk has been taken up. How many tasks the whole sweep was.
  std::uint64_t end();

  /// So far, or, once it is over, altogether.
  std::uint64_t taken_up() const { return under_way_ ? taken_up_.size() : total_; }

 private:
  std::uint64_t before_ = 0;  // tasks with a lower number were there before this start
  std::string from_;          // key in the due index where it goes on,
  std::string to_;            // and where it ends; empty: with the index
  bool under_way_ = false;
  std::unordered_set<std::uint64_t> taken_up_;
  std::uint64_t total_ = 0;
};

}  // namespace fairlead
