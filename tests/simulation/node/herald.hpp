#pragma once
// The courier of alerts of a node, driven as its actor drives it (actors/alerts/courier_actor.cpp), and those who get the alerts. They fail for a
// while, lose what comes, or take it and are not heard.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/alerts/courier.hpp"
#include "tests/simulation/node/node.hpp"

namespace fairlead::simulation {

std::vector<target_plan> make_targets(world& in, std::uint32_t shard);

class node::herald final : public webhook_port, public command_port {
 public:
  herald(node& in, const std::vector<target_plan>& targets);
  void begin();

 private:
  void post(webhook_post what, std::function<void(status)> done) override;
  void run(command_run what, std::function<void(status)> done) override;
  void bring(const std::string& target, std::string body, std::function<void(status)> done);
  void look(bool own);

  node& node_;
  const std::vector<target_plan>& targets_;
  const raft::log_term term_;  // of the lead that it belongs to
  std::unique_ptr<alert_courier> shell_;
};

}  // namespace fairlead::simulation
