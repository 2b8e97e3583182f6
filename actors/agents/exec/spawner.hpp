#pragma once
// The process from which shepherds are forked. The binary is started once, not for every command: linking it takes longer than most
// commands (docs/agents.md has the numbers). One thread.

#include <sys/types.h>

#include <array>
#include <string>

#include "actors/agents/exec/order.hpp"
#include "actors/system/descriptor.hpp"

namespace fairlead::agents {

using sent_descriptors = std::array<int, order_descriptors>;

class exec_spawner {
 public:
  explicit exec_spawner(std::string executable) : executable_(std::move(executable)) {}
  ~exec_spawner() { drop(); }
  exec_spawner(const exec_spawner&) = delete;
  exec_spawner& operator=(const exec_spawner&) = delete;

  enum class state { absent, starting, ready };
  state now() const { return state_; }
  /// Readable when the state may have changed; -1 when absent.
  int socket() const { return socket_.get(); }

  /// 0, or the errno of the failure.
  int start();
  /// Reads what has arrived. False: the process is gone, and the state is absent.
  bool listen();
  /// Hands an attempt over. EAGAIN: not yet. Any other errno except those of descriptor limits means that the process is gone.
  int send(const sent_descriptors& what);
  /// Ends the process; forked shepherds go on.
  void drop();

 private:
  std::string executable_;
  state state_ = state::absent;
  descriptor socket_;
  pid_t pid_ = -1;
};

}  // namespace fairlead::agents
