#pragma once
// Requests that wait while the lead of their shard moves to another node, as when a node is drained. Each waits for `longest_hold` at most and is
// refused then. Only requests of which nothing was done, or that may be done twice, are held. No CAF; the gateway gives the time.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

#include "messages/time.hpp"

namespace fairlead {

class held_requests {
 public:
  /// From the moment when the request could not be sent, or when the shard lost its leader.
  static constexpr duration longest_hold{500};
  /// A node that leads a shard may learn of it a little later than others do: it is asked again this often.
  static constexpr duration look_period{50};

  struct request {
    std::uint32_t shard = 0;
    moment until{};
    std::size_t bytes = 0;
    std::function<void()> again;
    std::function<void()> refuse;
  };

  explicit held_requests(std::size_t most = 10'000, std::size_t most_bytes = std::size_t{64} << 20)
      : most_(most), most_bytes_(most_bytes) {}

  /// False: its time is over, or too much is held already.
  bool hold(request what, moment now);
  /// Lets the requests go whose time is over, and those whose shard `is_led`, in the order in which they came.
  void look(moment now, const std::function<bool(std::uint32_t shard)>& is_led);
  bool empty() const noexcept { return held_.empty(); }

 private:
  std::size_t most_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::deque<request> held_;
};

}  // namespace fairlead
