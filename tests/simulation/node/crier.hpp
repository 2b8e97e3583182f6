#pragma once
// The cron of a node with its timer, joined as cron_actor joins it.

#include <optional>

#include "actors/cron/cron.hpp"
#include "actors/protocol/reminders.hpp"
#include "tests/simulation/node/node.hpp"

namespace fairlead::simulation {

class node::crier final : public cron_outbox {
 public:
  explicit crier(node& in) : node_(in) {}

  void begin();
  void wake(moment due);

 private:
  void scan();
  void arm(moment next);
  void due(due_jobs what) override;

  node& node_;
  std::uint64_t restarts_ = 0;
  std::optional<cron> shell_;
  reminders reminders_;
};

}  // namespace fairlead::simulation
