#pragma once
// What a node does that runs, and knows that a store of it is damaged or has another state than the stores of the other nodes. It goes on with the
// store until the leaders of all its shards agree that these go on without it. Then it ends, and its next start gets the shards from the others. To end
// at once would take a vote away that the others may need: two nodes that find damage in the same hour would leave neither with a leader.
// Written against ports, without CAF.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "messages/error.hpp"

namespace fairlead {

/// Nodes end one after the other: each has its turn by the wall clock, so that no two get leave before the first is seen to be away.
struct node_turn {
  /// Of a turn. Long enough that the others have seen who ended in it, and that one of them leads.
  static constexpr std::int64_t election_timeouts = 10;

  std::size_t place = 0;  // of `count`, by name
  std::size_t count = 1;
  std::int64_t turn_ms = 0;

  /// 0: it is the turn of another node.
  std::int64_t left_ms(std::int64_t now_unix_ms) const;
};

class damage_watch {
 public:
  /// The node has got a copy meanwhile, or another comparison says so.
  static constexpr std::int64_t difference_counts_for_ms = 90'000;

  struct world {
    std::function<std::int64_t()> now_unix_ms;
    std::function<node_turn()> turn;
    /// As far as is known, other nodes hold each of the shards.
    std::function<bool()> has_others;
    /// Whether the leaders of all shards go on without this node's stores. `answer`, with an error: why not. Once, at once or later.
    std::function<void(std::function<void(const status& may)> answer)> ask_others;
    /// While another node can lead the shards of this one, it does not; or that is over.
    std::function<void(bool on)> decline_leads;
    std::function<void(const std::string& sentence)> tell;
    /// Ends the process.
    std::function<void(const error&)> end;
    /// look() is to be called some times a second, from now on. Called once.
    std::function<void()> begin;
  };

  explicit damage_watch(world in) : world_(std::move(in)) {}
  damage_watch(const damage_watch&) = delete;
  damage_watch& operator=(const damage_watch&) = delete;

  /// A reader has met damage. A node without others serves on what is not damaged. From any thread, does not wait.
  void damaged(const error& why);
  /// The state of a shard here is not that of the majority. Counts for a while: say it again. From any thread, does not wait.
  void differs(const error& why);

  /// One thread. Takes as long as ask_others.
  void look();

 private:
  struct finding {
    error why;
    std::int64_t until_unix_ms = 0;
    bool is_damage = false;
  };

  void take(finding what);
  void answered(const finding& what, const status& may);
  void tell_once(const std::string& key, const std::string& sentence);

  world world_;
  std::mutex guard_;
  std::optional<finding> found_;
  std::set<std::string> told_;
  bool begun_ = false;
  // Of the thread that looks:
  std::optional<std::int64_t> declines_since_unix_ms_;
  bool asks_ = false;
  std::optional<std::int64_t> asked_unix_ms_;
};

}  // namespace fairlead
