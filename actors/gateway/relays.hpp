#pragma once
// Clients of this gateway that asked for notices about the ends of tasks; the shard knows only this gateway. Best effort, like all notices:
// bounded, and lost with the gateway. No CAF; the gateway gives each client a number.

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "messages/api.pb.h"

namespace fairlead {

class gateway_relays {
 public:
  explicit gateway_relays(std::size_t most = 100'000) : most_(most) {}

  /// The latest client to ask gets the notice. Beyond the bound the oldest task is dropped.
  void add(const std::string& task, std::uint64_t client);
  /// The submission of the task was refused.
  void forget_task(const std::string& task, std::uint64_t client);
  /// The client is gone.
  void forget_client(std::uint64_t client);

  /// The notices for each client. A task that has ended is dropped; a parked task may still end.
  std::map<std::uint64_t, v1::FinishedNotice> take(const v1::FinishedNotice& notice);

  std::size_t size() const noexcept { return tasks_.size(); }
  bool knows_client(std::uint64_t client) const { return of_client_.count(client) != 0; }

 private:
  struct asked {
    std::uint64_t client = 0;
    std::list<std::string>::iterator place;
  };
  void erase(std::unordered_map<std::string, asked>::iterator which);

  std::size_t most_;
  std::list<std::string> order_;  // oldest first
  std::unordered_map<std::string, asked> tasks_;
  std::unordered_map<std::uint64_t, std::unordered_set<std::string>> of_client_;
};

}  // namespace fairlead
