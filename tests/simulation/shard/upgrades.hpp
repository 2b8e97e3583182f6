#pragma once
// A shard whose nodes get a later release one after the other, and go back to the former one, until an operator ends the upgrade or time does. From then
// on its leader writes what the former release cannot read.
//
// Rule format_early: a format is raised although a node of the shard has never run a release that knows it.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/core/raft/message.hpp"
#include "messages/replica.pb.h"
#include "store/batch.hpp"
#include "store/store.hpp"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

class home;
class node;

class upgrades {
 public:
  /// `nodes` are those of `of`, and come later.
  upgrades(world& in, home& of, const std::vector<std::unique_ptr<node>>& nodes);

  void begin(std::int64_t until_us);
  /// All get the later release, and an operator ends the upgrade.
  void heal();
  bool settled() const;

  /// The latest format that the later release knows.
  std::uint32_t later() const { return store::shard_format + 1; }
  /// For so long all nodes know it before the shard is written in it, if no operator ends the upgrade.
  std::int64_t after_ms() const { return after_ms_; }

  /// A process begins. A store that is written in a later format gets the release for it.
  void starts(node& which);
  /// It may show more than before.
  void shown(const node& which);
  /// The shard goes on from one of its nodes.
  void recovered();

  /// The node's release does not know what the message brings.
  bool is_news_to(const node& which, const v1::ReplicaMessage& what) const;
  /// A planted fault: what the node does not know is left out.
  void skip_news(const node& which, raft::message& in) const;
  /// What the later release has written.
  static std::string news_in(const store::snapshot& view);

 private:
  static constexpr std::uint64_t most_news = 40;
  void change_release();
  void ask();
  void keep_writing();
  bool has_risen() const;

  world& world_;
  home& home_;
  const std::vector<std::unique_ptr<node>>& nodes_;
  const bool any_;
  std::int64_t after_ms_ = 0;
  bool healed_ = false;
  bool asked_ = false;  // an operator waits for the answer
  std::uint32_t format_ = 1;
  std::set<std::size_t> knew_;  // places that have run the later release
  std::uint64_t written_ = 0;
  std::uint64_t enough_ = most_news;
};

}  // namespace fairlead::simulation
