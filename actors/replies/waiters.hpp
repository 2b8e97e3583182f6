#pragma once
// Clients that fetch their status events: long polls over the outbox. A shell without CAF; time and store are arguments.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "actors/core/planted_faults.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/replies/outbox.hpp"
#include "store/store.hpp"

namespace fairlead {

class reply_waiters {
 public:
  static constexpr std::size_t most_waiting = 1'000;
  static constexpr duration longest_wait{30'000};
  static constexpr duration look_period{100};

  struct world {
    const clock* time = nullptr;
    const store::store* reads = nullptr;
    reply_outbox* outbox = nullptr;
    /// Sends rows to the Scheduler, which makes them durable.
    std::function<void(courier_rows)> commit;
    core::planted_faults faults = {};
  };
  explicit reply_waiters(world in) : world_(std::move(in)) {}

  /// Takes off the acknowledged events and returns the answer; nullopt: the client waits under `ticket`, and `look` will return its answer.
  std::optional<v1::RepliesReply> ask(const v1::RepliesRequest& what, std::uint64_t ticket);

  /// The answers that are due. Call every `look_period` while a client waits.
  std::vector<std::pair<std::uint64_t, v1::RepliesReply>> look();

  bool anyone_waits() const { return !waiting_.empty(); }

 private:
  struct waiter {
    std::string address;
    std::uint64_t after = 0;
    std::size_t page = 0;
    moment until;
  };
  v1::RepliesReply read(const store::snapshot& view, const waiter& who) const;

  world world_;
  std::map<std::uint64_t, waiter> waiting_;  // by ticket
};

}  // namespace fairlead
