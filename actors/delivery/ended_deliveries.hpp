#pragma once
// Ended deliveries on their way from a port's threads to a courier.

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "messages/error.hpp"

namespace fairlead {

/// `Name` says which delivery has ended. The callbacks may come from any thread, and after the courier is gone.
template <class Name>
class ended_deliveries {
 public:
  /// The callback for a port: keeps how the delivery has ended, then calls `wake`.
  std::function<void(status)> callback(Name which, std::function<void()> wake) const {
    return [box = box_, which = std::move(which), wake = std::move(wake)](status how) {
      {
        const std::lock_guard guard{box->mutex};
        box->ended.emplace_back(which, std::move(how));
      }
      wake();
    };
  }

  /// All that have ended since the last call, in order.
  std::vector<std::pair<Name, status>> take() {
    const std::lock_guard guard{box_->mutex};
    return std::exchange(box_->ended, {});
  }

 private:
  struct box {
    std::mutex mutex;
    std::vector<std::pair<Name, status>> ended;
  };
  std::shared_ptr<box> box_ = std::make_shared<box>();
};

}  // namespace fairlead
