#pragma once
// The process from which shepherds are forked. The binary is started once and not for every command: linking it takes longer than most
// commands do (docs/agents.md has the numbers). One thread.

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

  /// 0, or the errno that it failed with.
  int start();
  /// Reads what has come. False when the process is gone: it is absent then.
  bool listen();
  /// Hands an attempt over. EAGAIN: not yet. Any other errno but those of the descriptors' own limits means that the process is gone.
  int send(const sent_descriptors& what);
  /// The process ends once it sees this; shepherds that were forked go on.
  void drop();

 private:
  std::string executable_;
  state state_ = state::absent;
  descriptor socket_;
  pid_t pid_ = -1;
};

}  // namespace fairlead::agents
