#pragma once
// Alarms: one moment for each thing that must be looked at later.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "messages/time.hpp"

namespace fairlead {

/// One moment for each thing. Of things due at the same moment the one set first comes first: the order must not depend on addresses in
/// memory.
///
/// The clock may be set back. Once it shows less than before, all things are due: their moments no longer say how long to wait, and the
/// caller sets anew those still needed. A fall smaller than the time since the last look is not noticed; it lengthens no wait by more than
/// that time.
template <class T>
class alarms {
 public:
  void set(T* what, moment at, moment now) {
    looked_ = std::max(looked_, now);
    const auto known = by_what_.find(what);
    if (known != by_what_.end()) {
      if (known->second.first == at) return;
      by_time_.erase(known->second);
      by_what_.erase(known);
    }
    const std::pair place{at, next_place_++};
    by_what_.emplace(what, place);
    by_time_.emplace(place, what);
  }
  void clear(T* what) {
    const auto entry = by_what_.find(what);
    if (entry == by_what_.end()) return;
    by_time_.erase(entry->second);
    by_what_.erase(entry);
  }
  std::optional<moment> next() const { return by_time_.empty() ? std::nullopt : std::optional{by_time_.begin()->first.first}; }
  /// The first thing that is due, taken off; null: none.
  T* take_due(moment now) {
    if (now < looked_) bring_forward(now);
    looked_ = now;
    if (by_time_.empty() || by_time_.begin()->first.first > now) return nullptr;
    auto* const what = by_time_.begin()->second;
    clear(what);
    return what;
  }

 private:
  void bring_forward(moment to) {
    for (const auto& [place, what] : std::exchange(by_time_, {})) {
      const std::pair sooner{std::min(place.first, to), place.second};
      by_what_.find(what)->second = sooner;
      by_time_.emplace(sooner, what);
    }
  }

  std::map<std::pair<moment, std::uint64_t>, T*> by_time_;
  std::unordered_map<T*, std::pair<moment, std::uint64_t>> by_what_;
  std::uint64_t next_place_ = 0;
  moment looked_{};  // latest clock reading since the last look
};

}  // namespace fairlead
