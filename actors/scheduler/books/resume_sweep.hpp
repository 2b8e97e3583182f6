#pragma once
// The sweep after a start takes up, in chunks, tasks that were in progress and may need something now. It follows the due index. One
// thread.

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
  /// Begins the sweep over the tasks that exist now. `longest_timeout`: of any step.
  void begin(const v1::ShardState& counts, moment now, duration longest_timeout);
  /// Whether there is any task to take up; errors are the store's.
  result<bool> finds_any(const store::snapshot& committed) const;

  bool under_way() const noexcept { return under_way_; }
  /// Whether a loaded, running task is to be taken up now. Each task is taken up once: by the sweep, or earlier when it is loaded.
  bool takes_up(std::uint64_t number);

  struct chunk {
    std::vector<std::uint64_t> numbers;
    bool last = false;
  };
  result<chunk> next(const store::snapshot& committed);
  /// The last chunk has been taken up. Returns the number of tasks of the whole sweep.
  std::uint64_t end();

  /// Tasks taken up so far; after the end, those of the whole sweep.
  std::uint64_t taken_up() const { return under_way_ ? taken_up_.size() : total_; }

 private:
  std::uint64_t before_ = 0;  // tasks with a lower number existed before this start
  std::string from_;          // key in the due index where the sweep goes on
  std::string to_;            // key where the sweep ends; empty: at the end of the index
  bool under_way_ = false;
  std::unordered_set<std::uint64_t> taken_up_;
  std::uint64_t total_ = 0;
};

}  // namespace fairlead
