#pragma once
// How many requests may wait for something to happen, beside takes of workers. Each holds one of the places that all requests share.

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace fairlead::app::api {

/// Thread-safe.
class long_polls : public std::enable_shared_from_this<long_polls> {
 public:
  /// Takes of workers hold no place here. The connections limit how many takes wait.
  explicit long_polls(std::size_t of_one = 1'024, std::size_t all = 3'072) : of_one_(of_one), all_(all) {}

  /// A place for as long as the pointer lives; null: `who` has its share, or all are taken.
  std::shared_ptr<void> take(const std::string& who) {
    const std::lock_guard lock{guard_};
    // A name that is refused is not kept.
    const auto its = by_name_.find(who);
    if (taken_ >= all_ || (its != by_name_.end() ? its->second : 0) >= of_one_) return nullptr;
    ++by_name_[who];
    ++taken_;
    return {this, [all = shared_from_this(), who](void*) { all->give_back(who); }};
  }

 private:
  void give_back(const std::string& who) {
    const std::lock_guard lock{guard_};
    --taken_;
    if (const auto found = by_name_.find(who); --found->second == 0) by_name_.erase(found);
  }

  const std::size_t of_one_, all_;
  std::mutex guard_;
  std::size_t taken_ = 0;
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace fairlead::app::api
