#pragma once
// How many connections there may be, and how many of them of one address. Only for the listener's thread.

#include <cstddef>
#include <string>
#include <unordered_map>

namespace fairlead::app::door {

class connection_places {
 public:
  /// The last ones are for this machine, so that operators reach a node that others keep busy.
  static constexpr std::size_t kept_for_loopback = 32;

  connection_places(std::size_t all, std::size_t of_one_address) : all_(all), of_one_address_(of_one_address) {}

  /// Whether another connection may come. Those of this machine are not counted by address: many programs have the same one.
  bool may_come(const std::string& address, bool is_loopback) const {
    if (is_loopback) return taken_ < all_;
    if (taken_ + kept_for_loopback >= all_) return false;
    const auto found = by_address_.find(address);
    return found == by_address_.end() || found->second < of_one_address_;
  }
  void came(const std::string& address) {
    ++taken_;
    ++by_address_[address];
  }
  void went(const std::string& address) {
    --taken_;
    const auto found = by_address_.find(address);
    if (--found->second == 0) by_address_.erase(found);
  }

 private:
  const std::size_t all_, of_one_address_;
  std::size_t taken_ = 0;
  std::unordered_map<std::string, std::size_t> by_address_;
};

}  // namespace fairlead::app::door
