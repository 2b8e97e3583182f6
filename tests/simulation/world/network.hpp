#pragma once
// How a message gets from one process to another. Inside one process it is late at most. Between processes it may be lost or doubled, and
// one message may overtake another.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

class network {
 public:
  explicit network(world& in) : world_(in) {}

  /// `deliver` runs once, later, in order with what else goes over `link`; between processes possibly never or twice.
  void send(const std::string& link, bool between_processes, const std::function<void()>& deliver) {
    auto delay = between_processes ? world_.network.between(100, 3'000) : world_.network.between(2, 60);
    if (between_processes) {
      if (world_.strikes(concern::network, world_.network, loss_per_mille_)) {
        world_.tell("network", link, 1, [] { return std::string{"lost the next message"}; });
        return;
      }
      if (world_.strikes(concern::network, world_.network, double_per_mille_)) {
        world_.tell("network", link, 2, [] { return std::string{"doubled the next message"}; });
        world_.after(delay + world_.network.between(0, 2 * second), deliver);
      }
      if (world_.strikes(concern::network, world_.network, late_per_mille_)) {
        world_.after(delay + world_.network.between(0, 3 * second), deliver);
        return;
      }
    }
    auto& last = last_[link];
    last = std::max(last, world_.now_us() + delay);
    world_.after(last - world_.now_us(), deliver);
  }

  void set_rates(std::uint64_t loss, std::uint64_t doubled, std::uint64_t late) {
    loss_per_mille_ = loss;
    double_per_mille_ = doubled;
    late_per_mille_ = late;
  }

 private:
  world& world_;
  std::map<std::string, std::int64_t> last_;  // when the newest message of a link arrives
  std::uint64_t loss_per_mille_ = 0;
  std::uint64_t double_per_mille_ = 0;
  std::uint64_t late_per_mille_ = 0;
};

}  // namespace fairlead::simulation
