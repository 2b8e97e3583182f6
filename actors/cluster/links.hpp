#pragma once
// The connections to other nodes: addresses to dial and when, connected nodes, and the location of each shard. Written against ports,
// without CAF; links_actor.* translates.
//
// A node is connected once each side has accepted the other's Hello. The Hello is repeated while they are connected, so that claims are
// current, and a node whose gateway is stuck is noticed although its connection works.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/cluster/hello.hpp"
#include "actors/protocol/ports.hpp"
#include "messages/api.pb.h"
#include "messages/node.pb.h"

namespace fairlead {

/// Stands for the gateway of a node; chosen by the shell, never reused for another.
using gateway_token = std::uint64_t;
inline constexpr gateway_token no_gateway = 0;
inline constexpr gateway_token own_gateway = 1;

struct link_route {
  std::uint32_t shard = 0;
  gateway_token via = no_gateway;
  std::string node;
  std::string reason;    // why no connected node holds the shard
  bool several = false;  // several nodes can hold the shard

  friend bool operator==(const link_route&, const link_route&) = default;
};

/// The links' requests to the world. None of these calls back before it returns.
class links_port {
 public:
  virtual ~links_port() = default;
  /// Answered by on_connected or on_not_connected.
  virtual void connect(std::size_t dial, const std::string& address) = 0;
  /// Answered within a limit by on_reply or on_no_reply.
  virtual void greet(std::uint64_t ticket, gateway_token gateway, const v1::Hello& hello) = 0;
  /// From now on, until `forget`, on_down reports the end of this gateway.
  virtual void watch(gateway_token gateway) = 0;
  virtual void forget(gateway_token gateway) = 0;
  /// Tells all subscribers.
  virtual void tell(const link_route& route) = 0;
  virtual void tell_total(std::uint32_t count) = 0;
  /// Several nodes hold the shard, as a node says that claims it, and this node claims to hold it alone.
  virtual void held_elsewhere(const v1::ShardClaim& claim) = 0;
};

/// State that survives a crash of the links and their restart.
struct links_memory {
  std::map<std::uint32_t, v1::ShardClaim> claims;             // of this node's shards
  std::map<std::string, core::seen_process> seen;             // by node_id: that of the highest incarnation
  std::map<std::string, std::string> names;                   // by node name: the node_id last connected under it
  std::map<std::uint32_t, v1::Lineage> lineages;              // by shard: what counts most of all that was heard
  std::map<std::uint32_t, std::vector<std::string>> holders;  // by shard that is held here: the addresses of the others
  std::uint32_t shard_count = 0;
  std::map<std::uint32_t, link_route> told;
  std::map<std::string, std::uint64_t> connects;  // by node name
};

struct links_options {
  v1::Hello me;  // without claims: on_claim adds them as shards come up
  std::vector<std::string> peers;
  std::vector<std::uint32_t> shards_here;  // shards expected here, to explain why one is missing
  std::vector<v1::ShardClaim> known;       // what replicas here know of shards, whoever holds them
  const clock* time = nullptr;
  observer* log = nullptr;
};

/// The answer of a node that is asked to forget its own name.
error forgets_itself(const std::string& node);

class links {
 public:
  links(links_options options, links_memory& memory, links_port& world);

  /// Starts to dial. `known`: gateways of nodes that were connected before a restart; they are greeted at once.
  void start(const std::vector<gateway_token>& known);
  /// Does the work that is due.
  void tick();
  /// When tick() must be called next, by the steady clock.
  moment next_due() const;

  v1::HelloReply on_hello(const v1::Hello& you, gateway_token gateway);
  void on_connected(std::size_t dial, gateway_token gateway);
  void on_not_connected(std::size_t dial, const std::string& reason);
  void on_reply(std::uint64_t ticket, const v1::HelloReply& reply);
  void on_no_reply(std::uint64_t ticket, const std::string& reason);
  void on_down(gateway_token gateway, const std::string& reason);
  /// A shard has come up here; with epoch 0: it is led here no longer.
  void on_claim(const v1::ShardClaim& claim);
  /// A replica here says which nodes are to hold its shard: they are dialled until it says otherwise.
  void on_replica(const v1::ReplicaHello& own);
  /// An operator does not expect a node to come back: another node may take its name. Refused (wrong_state) while the node is connected.
  v1::NodeOperateReply forget(const v1::NodeOperateRequest& what);

  /// The routes of all shards of the cluster, once their number is known.
  std::vector<link_route> routes() const;
  std::uint32_t shard_count() const { return memory_.shard_count; }
  std::vector<v1::PeerStatus> peers() const;
  /// The gateways of connected nodes, by name.
  std::vector<std::pair<std::string, gateway_token>> gateways() const;
  std::uint64_t refused_messages() const { return refused_messages_; }

 private:
  enum class dial_state { waiting, connecting, greeting, linked, itself, unwanted };

  /// One address.
  struct dial {
    std::string address;
    dial_state state = dial_state::waiting;
    bool wanted = true;  // else the connection that there is stays, and is not made again
    moment next_at{};    // steady
    std::uint32_t failures = 0;
    bool refused = false;
    std::string reason;
    std::string node;  // node found there the last time
    std::int64_t since_unix_ms = 0;
    std::set<std::string> logged;  // reasons, since it was last linked
  };

  struct node {
    v1::Hello hello;  // the latest
    gateway_token gateway = no_gateway;
    bool connected = false;
    std::string reason;  // why not connected
    std::int64_t since_unix_ms = 0;
    moment changed_at{};     // steady
    moment next_hello_at{};  // steady
    bool greeting = false;   // a Hello of ours is in progress
    std::uint32_t missed = 0;
  };

  /// A Hello of ours that is not answered yet.
  struct greeting {
    gateway_token gateway = no_gateway;
    std::optional<std::size_t> dial;
    std::string node;  // if known
    std::uint64_t claims_version = 0;
  };

  /// A node that was refused here, or that refused this node.
  struct refusal {
    v1::Hello who;
    std::string reason;
    std::int64_t since_unix_ms = 0;
    moment heard_at{};
  };

  v1::Hello own_hello() const;
  core::hello_judgement judge(const v1::Hello& you);
  bool greet(greeting whom);
  void greet_all();
  void accept(const v1::Hello& you, gateway_token gateway);
  void link_dial(dial& line, const std::string& node);
  dial new_dial(std::string address) const;
  void dial_wanted();
  void dial_failed(dial& line, std::string reason, bool refused);
  void lose(const std::string& name, const std::string& reason, bool refused = false);
  void note_refusal(const v1::Hello& you, const std::string& reason, bool told);
  void turned_away(const greeting& whom, const v1::Hello& you, const error& why);
  void learn_total(std::uint32_t count);
  void learn_name(const v1::Hello& you);
  void take_claims(const v1::Hello& you, const core::hello_judgement& judged);
  void update_routes();
  void release(gateway_token gateway);
  void forget_the_old();
  link_route route_of(std::uint32_t shard) const;
  const dial* dial_of(const std::string& node) const;
  void note(note_level level, const std::string& sentence) const { options_.log->on_note(level, "links", sentence); }
  moment now() const { return options_.time->steady(); }
  std::int64_t wall_ms() const { return to_unix_ms(options_.time->now()); }

  links_options options_;
  links_memory& memory_;
  links_port& world_;
  std::vector<dial> dials_;
  std::map<std::string, node> nodes_;  // by name
  std::map<std::uint64_t, greeting> greetings_;
  std::map<std::string, refusal> refusals_;  // by node name
  std::map<std::uint32_t, std::string> last_holder_;
  std::set<gateway_token> watched_;
  std::uint64_t next_ticket_ = 1;
  std::uint64_t claims_version_ = 0;  // rises when a shard comes up here
  std::uint64_t refused_messages_ = 0;
  moment senseless_note_at_{};
  moment sweep_at_{};
  moment settled_at_{};  // until then a route told before a restart is not withdrawn
};

}  // namespace fairlead
