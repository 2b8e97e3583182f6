#pragma once
// Tells the service manager that has started the process how it stands (systemd's notification protocol, sd_notify(3)): ready, stopping, a line
// for `systemctl status`, and that it is alive. Without one all of it does nothing.
//
//   auto manager = service_manager::from_environment();  // before any other thread runs
//   manager.ready("NAME listens on HOST:PORT");  manager.watch([&] { return figures.healthy(); });  …  manager.stopping();

#include <functional>
#include <memory>
#include <string>

#include "messages/time.hpp"

namespace fairlead::app {

class service_manager {
 public:
  /// Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment, so that nothing that the node starts speaks in its name.
  static service_manager from_environment();

  service_manager(service_manager&&) noexcept;
  service_manager& operator=(service_manager&&) noexcept;
  ~service_manager();

  /// Whether anybody is told.
  bool there() const noexcept;
  /// How often it wants to hear that the process is alive; 0: it does not.
  duration watchdog_period() const noexcept;

  void ready(const std::string& line);
  void say(const std::string& line);
  /// Also ends the watch: an orderly end takes the time that the unit gives it.
  void stopping();

  /// From now on says that the process is alive, twice as often as is asked for, each time only when `healthy` (from a thread of its own) says
  /// so. A node that stays sick is then ended and started again by the service manager.
  void watch(std::function<bool()> healthy);

 private:
  struct state;
  explicit service_manager(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace fairlead::app
