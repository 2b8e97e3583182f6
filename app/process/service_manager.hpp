#pragma once
// Reports the state of the process to the service manager that has started it (systemd's notification protocol, sd_notify(3)): ready,
// stopping, a line for `systemctl status`, and that it is alive. Without a service manager all of this does nothing.
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
  /// Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment, so that no child of the node reports in its name.
  static service_manager from_environment();

  service_manager(service_manager&&) noexcept;
  service_manager& operator=(service_manager&&) noexcept;
  ~service_manager();

  /// Whether there is a service manager.
  bool there() const noexcept;
  /// Period of the expected signs of life; 0: none expected.
  duration watchdog_period() const noexcept;

  /// The start takes longer than the unit allows, at least until then.
  void extend_start(duration by);
  void ready(const std::string& line);
  /// Until the next `ready`.
  void reloading();
  void say(const std::string& line);
  /// Also ends the watch: the unit's own limit applies to an orderly end.
  void stopping();

  /// From now on reports that the process is alive, at twice the expected rate, each time only if `healthy` (on its own thread) is true.
  /// The service manager ends and restarts a node that stays sick.
  void watch(std::function<bool()> healthy);

 private:
  struct state;
  explicit service_manager(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace fairlead::app
