#pragma once
// Where clients fetch their status events: the waiters of a node, driven as their actor drives them (actors/replies/waiters_actor.cpp). It dies with
// the process.

#include <cstdint>
#include <functional>
#include <map>

#include "actors/replies/waiters.hpp"
#include "tests/simulation/node/node.hpp"

namespace fairlead::simulation {

class node::claim_desk {
 public:
  explicit claim_desk(node& in);

  void ask(const v1::RepliesRequest& what, std::function<void(const v1::RepliesReply&)> on_reply);

 private:
  struct open_poll {
    v1::RepliesRequest what;
    std::int64_t asked_us = 0;
    std::function<void(const v1::RepliesReply&)> on_reply;
  };
  void arm();
  void look();
  void judge(const open_poll& one) const;

  node& node_;
  reply_waiters shell_;
  std::map<std::uint64_t, open_poll> open_;
  std::uint64_t last_ticket_ = 0;
  bool armed_ = false;
};

}  // namespace fairlead::simulation
