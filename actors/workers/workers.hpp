#pragma once
// The workers over HTTP that this node carries. Each has a host of its own, which is an instance of its agent like any other.
//
// A host that ends is not started again: its worker is told so by its next request, and registers anew with its session, here or at another
// node. The shards then hand over again what it holds, under the same incarnation.
//
// An agent of the node may stand in for workers: it steps aside while a worker of its agent is here.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "actors/agents/worker/session.hpp"
#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "messages/agent.pb.h"
#include "messages/error.hpp"

namespace fairlead {

/// Each sends two messages a second to each shard: 4,000 whose takes wait cost a third of a core, and 77 KiB each, of which 65 KiB are its
/// connection. A shard knows 10,000 instances, and a node has 10,000 connections.
inline constexpr std::size_t most_workers = 4'096;

/// The component of notes about agents that step aside for workers, and take work again.
inline constexpr std::string_view stand_in_component = "stand-in";

/// Thread-safe.
class workers : public std::enable_shared_from_this<workers> {
 public:
  struct world {
    caf::actor_system* system = nullptr;
    const clock* time = nullptr;
    observer* log = nullptr;
    std::string node;
    links_actor links;
    std::string callback_url{};  // what the URLs of callbacks begin with
  };
  explicit workers(world in) : in_(std::move(in)) {}
  workers(const workers&) = delete;
  workers& operator=(const workers&) = delete;

  struct beginning {
    v1::RegisterAgent as;  // agent, instance, incarnation, calls, lookups, capacity, labels, policies, breaker, limits, session
    std::uint64_t moves = 0;
    bool moved = false;             // the session has been carried before, here or elsewhere
    std::vector<std::string> have;  // tickets of the attempts that the worker holds
    std::string owner;              // whoever may send its requests
  };
  /// Carries the worker from now on, and ends an earlier host of its instance here. Returns its id. Errors: there are too many, or the node
  /// takes no workers now.
  result<std::string> carry(beginning what);

  /// `then` is called once: on the host's thread, or with null if no worker of this owner has the id.
  void call(const std::string& id, const std::string& owner, std::function<void(agents::worker_session*)> then);
  /// Whether the worker is here, and has another owner.
  bool is_of_another(const std::string& id, const std::string& owner) const;

  /// True: those that are here go elsewhere, and none is taken. Attempts that no answer has carried are given back.
  void pause(bool on);
  /// The node ends: as a pause, for good. Waits a moment for the hosts to end.
  void close();
  std::size_t count() const;

  /// `who` is drained while a worker of the agent is here. While the node itself is drained `who` is told nothing: the node drains it.
  void add_stand_in(const std::string& agent, agent_actor who);
  bool carries(const std::string& agent) const;

 private:
  struct place {
    agent_actor host;
    std::shared_ptr<agents::worker_session> session;
    std::string agent;
    std::string instance;
    std::string owner;
  };
  struct stand_ins {
    std::vector<agent_actor> all;
    bool aside = false;
  };

  void end_all();
  void forget(const std::string& id);
  /// Under guard_.
  void tell_stand_ins(const std::string& agent);
  static void tell(const place& where, std::function<void(agents::worker_session*)> then);

  const world in_;
  mutable std::mutex guard_;
  std::condition_variable left_;
  std::unordered_map<std::string, place> places_;         // by id
  std::unordered_map<std::string, std::size_t> carried_;  // workers by agent
  std::unordered_map<std::string, stand_ins> stand_ins_;  // by agent
  bool paused_ = false;
  bool closed_ = false;
};

}  // namespace fairlead
