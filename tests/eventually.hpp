#pragma once
// For what another thread does: a condition with a deadline.

#include <chrono>
#include <thread>

namespace fairlead {

/// True as soon as `condition` is; false after `limit`.
template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds limit = std::chrono::seconds{20}) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return true;
}

}  // namespace fairlead
