#pragma once
// One Supervisor of a node with its timers, joined as supervisor_actor joins it.

#include <memory>
#include <optional>

#include "tests/simulation/node/node.hpp"

namespace fairlead::simulation {

class node::overseer final : public supervisor_outbox, public std::enable_shared_from_this<node::overseer> {
 public:
  overseer(node& in, std::int64_t scan_period_ms);

  void begin();
  void hint(const v1::RecoveryHintBatch& what);

 private:
  void scan();
  void fire();
  void arm();
  void again();
  void recover(v1::RecoverBatch what) override;
  void stalest(stalest_task what) override;
  void waiting(waiting_tasks what) override;

  node& node_;
  std::int64_t scan_period_ms_;
  std::uint64_t restarts_ = 0;
  std::optional<supervisor> shell_;
  std::optional<moment> armed_until_;
};

}  // namespace fairlead::simulation
