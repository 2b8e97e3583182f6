#pragma once
// How many tasks live below each top-level task. An order to that task goes down to all of them in one commit, so there are not to be too
// many. In memory: after a start families counts a family before its next child begins. One thread.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "messages/task.pb.h"
#include "messages/task_states.hpp"

namespace fairlead {

class family_sizes {
 public:
  /// `crowd`: so many living tasks are a crowd; twice as many are all that there may be.
  explicit family_sizes(std::size_t crowd) : crowd_(crowd) {}

  /// After a decision about the task. It counts once as long as it has not ended.
  void note(const v1::TaskRecord& child) {
    const auto root = std::string{root_of(child.id())};
    if (!has_ended(child.state())) {
      auto& living = living_[root];
      if (living.insert(child.number()).second && living.size() == crowd_) ++crowds_;
      return;
    }
    const auto found = living_.find(root);
    if (found == living_.end() || found->second.erase(child.number()) == 0) return;
    if (found->second.size() + 1 == crowd_) --crowds_;
    if (found->second.empty()) living_.erase(found);
  }

  /// Lists in the task's family are to have one item in progress at a time.
  bool is_crowded(std::string_view task) const { return crowds_ != 0 && size_around(task) >= crowd_; }
  /// No child may begin in the task's family.
  bool is_full(std::string_view task) const { return crowds_ != 0 && size_around(task) >= most(); }
  std::size_t most() const { return 2 * crowd_; }
  /// Of a child. Ids of children are PARENT/STEP~N; no other id has a `~`.
  static std::string_view root_of(std::string_view task) { return task.substr(0, task.rfind('/', task.find('~'))); }

 private:
  std::size_t size_around(std::string_view task) const {
    const auto found = living_.find(std::string{task.find('~') == std::string_view::npos ? task : root_of(task)});
    return found == living_.end() ? 0 : found->second.size();
  }

  std::size_t crowd_;
  std::size_t crowds_ = 0;                                                     // families with a crowd
  std::unordered_map<std::string, std::unordered_set<std::uint64_t>> living_;  // numbers, by the id of their top-level task
};

}  // namespace fairlead
