#include "app/node/node.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "app/config/config.hpp"
#include "app/node/runtime.hpp"
#include "app/process/exit_codes.hpp"
#include "app/process/service_manager.hpp"

namespace fairlead::app {

namespace {

void complain(const error& why) {
  std::fprintf(stderr, "fairlead: %s\n", why.sentence.c_str());
  if (!why.remedy.empty()) std::fprintf(stderr, "%s\n", why.remedy.c_str());
}

/// Ends the process if an orderly end takes longer than `limit`: everything acknowledged is durable at any moment, so nothing is lost.
void end_within(duration limit, exit_code code) {
  std::thread{[limit, code] {
    std::this_thread::sleep_for(limit);
    std::fprintf(stderr, "fairlead: the node did not stop in time and was killed\n");
    std::_Exit(code);
  }}.detach();
}

/// Blocks SIGTERM, SIGINT and SIGHUP for all threads started later, so that only the main thread takes them.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // A client that hangs up during a write must not end the node.
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

/// While the node waits for others to answer. Nothing runs yet, and each step of the start can be cut short at any moment.
void end_on_signal(const sigset_t& signals, const std::stop_token& stop) {
  const timespec moment{0, 100'000'000};
  while (!stop.stop_requested()) {
    const int signal = sigtimedwait(&signals, nullptr, &moment);
    if (signal == SIGTERM || signal == SIGINT) std::_Exit(exit_ok);
  }
}

}  // namespace

int run_node(const node_options& options) {
  auto file = read_node_config(options.config_path);
  if (!file.problems.empty()) {
    for (const auto& problem : file.problems) std::fprintf(stderr, "%s\n", to_text(problem).c_str());
    return exit_usage;
  }
  const auto signals = block_signals();
  const auto limit = duration{file.config.shutdown_timeout_ms};

  auto manager = service_manager::from_environment();

  node_parts parts;
  std::atomic<bool> given_up{false};
  // The thread below waits only for the signal.
  parts.on_given_up = [&given_up](const error&) {
    given_up = true;
    kill(getpid(), SIGTERM);
  };
  parts.on_ending = [limit](exit_code code) { end_within(limit, code); };
  std::optional<std::jthread> ends_meanwhile;
  parts.waits = [&](const std::string& why) {
    manager.say(why);
    // The next questions, of up to 256 shards.
    manager.extend_start(std::chrono::hours(2));
    if (!ends_meanwhile) ends_meanwhile.emplace([signals](const std::stop_token& stop) { end_on_signal(signals, stop); });
    std::this_thread::sleep_for(std::chrono::seconds(1));
  };
  parts.waits_no_more = [&] { ends_meanwhile.reset(); };
  start_failure failure;
  const auto node = node_runtime::start(file.config, std::move(parts), failure);
  if (!node) {
    complain(failure.why);
    return failure.code;
  }

  const auto line = file.config.name + " listens on " + file.config.listen.host + ":" + std::to_string(node->port());
  manager.ready(line);
  manager.watch([&node] { return node->healthy(); });
  int signal = 0;
  for (;;) {
    sigwait(&signals, &signal);
    if (signal != SIGHUP) break;
    manager.reloading();
    const auto read = node->reload();
    manager.ready(read ? line : line + "; the node file was read again: " + read.failure().sentence);
  }
  manager.stopping();
  if (!given_up) node->log().on_note(note_level::info, "node", std::string{"ending on "} + (signal == SIGTERM ? "SIGTERM" : "SIGINT"));
  node->stop();
  return given_up ? exit_bug : exit_ok;
}

}  // namespace fairlead::app
