#pragma once
// What a node does that runs, and knows that a store of it is damaged or has another state than the stores of the other nodes. It goes on with the
// store until the leaders of all its shards agree that these go on without it. Then it ends, and its next start gets the shards from the others. To end
// at once would take a vote away that the others may need: two nodes that find damage in the same hour would leave neither with a leader.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "messages/error.hpp"

namespace fairlead::app {

/// Nodes end one after the other: each has its turn by the wall clock, so that no two get leave before the first is seen to be away.
struct node_turn {
  std::size_t place = 0;  // of `count`, by name
  std::size_t count = 1;
  std::int64_t turn_ms = 0;

  /// 0: it is the turn of another node.
  std::int64_t left_ms(std::int64_t now_unix_ms) const;
};

class damage_watch {
 public:
  /// The other node has got a copy meanwhile, or another comparison says so.
  static constexpr std::int64_t difference_counts_for_ms = 90'000;

  struct world {
    std::function<std::int64_t()> now_unix_ms;
    std::function<node_turn()> turn;
    /// As far as is known, other nodes hold each of the shards.
    std::function<bool()> has_others;
    /// The leaders of all shards go on without this node's stores. May block for some seconds. Error: why not.
    std::function<status()> can_begin_anew;
    /// While another node can lead the shards of this one, it does not; or that is over.
    std::function<void(bool on)> decline_leads;
    std::function<void(const std::string& sentence)> tell;
    /// Ends the process.
    std::function<void(const error&)> end;
  };

  explicit damage_watch(world in) : world_(std::move(in)) {}
  ~damage_watch() { stop(); }
  damage_watch(const damage_watch&) = delete;
  damage_watch& operator=(const damage_watch&) = delete;

  /// A reader has met damage. A node without others serves on what is not damaged. From any thread, does not wait.
  void damaged(const error& why);
  /// The state of a shard here is not that of the majority. Counts for a while: say it again. From any thread, does not wait.
  void differs(const error& why);
  /// Nothing is asked any more.
  void stop();

 private:
  struct finding {
    error why;
    std::int64_t until_unix_ms = 0;
    bool is_damage = false;
  };

  void take(finding what);
  void watch(const std::stop_token& stop);
  void look(const finding& what);
  void tell_once(const std::string& key, const std::string& sentence);

  world world_;
  std::mutex guard_;
  std::condition_variable_any stops_;
  std::optional<finding> found_;
  std::set<std::string> told_;
  bool stopped_ = false;
  std::jthread thread_;  // from the first finding on
};

}  // namespace fairlead::app
