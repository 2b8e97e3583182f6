#include "app/cli/task/waiting.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "actors/core/task/task.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/task/text.hpp"
#include "app/cli/task/watch.hpp"
#include "app/cli/words.hpp"

namespace fairlead::app {

namespace {

using steady_clock = std::chrono::steady_clock;

/// Most tasks have ended by then, and nothing is said of them.
constexpr duration look_after = std::chrono::seconds{2};
/// An agent may come or go without an event of the task.
constexpr std::chrono::seconds look_again{10};
constexpr std::size_t fault_width = 160;

std::string no_moment(std::int64_t) { return ""; }

known_agents ask_for_agents(client& to, const v1::TaskShowReply& reply) {
  if (!may_wait_for_agent(reply)) return {};
  const auto status = to.status_of_node({});
  return status ? agents_of(*status) : known_agents{};
}

}  // namespace

std::string told_waits::news(const v1::TaskShowReply& reply, const known_agents& agents) {
  const auto& task = reply.task();
  std::string out;
  if (task.paused() && !paused_) out += "Task " + printable(task.id()) + " is paused.\n";
  paused_ = task.paused();
  for (int i = 0; i < task.steps_size(); ++i) {
    const auto& step = task.steps(i);
    const auto state = step_state_text(task, step);
    const auto fault = step.complete_by_unix_ms() == 0 ? fault_text(step) : std::string{};
    const auto what = waits_for(reply, i, agents, time_text);
    // Of the steps before it is said more.
    if (what.empty() || what.starts_with("needs ")) continue;
    auto& told = steps_[step.path()];
    if (step.complete_by_unix_ms() != 0 && !told.empty()) continue;
    const auto now = state + ": " + waits_for(reply, i, agents, no_moment) + ": " + fault;
    if (now == told) continue;
    told = now;
    out += "Step " + printable(step.path()) + " is " + state + ": " + printable(what) +
           (fault.empty() ? "" : "; last fault: " + shortened(printable(fault), fault_width)) + "\n";
  }
  return out;
}

result<v1::TaskEnd> wait_aloud(client& to, cli_context& context, const std::string& id, duration limit) {
  if (context.json) return to.wait(id, limit);
  v1::TaskEnd end;
  end.set_id(id);
  bool has_news = false;
  const auto take = [&](const v1::WatchReply& reply) {
    has_news = true;
    end.set_state(reply.state());
    end.set_parked(reply.parked());
    end.set_reason(reply.reason());
    end.set_has_output(reply.has_output());
    return true;
  };
  told_waits told;
  auto looks_at = steady_clock::now();
  const auto look = [&] {
    if (!has_news && steady_clock::now() < looks_at) return !stopped(context);
    has_news = false;
    looks_at = steady_clock::now() + look_again;
    v1::TaskShowRequest request;
    request.set_id(id);
    const auto shown = to.show(request);
    if (!shown) return true;  // whoever watches is told as well
    const auto lines = told.news(*shown, ask_for_agents(to, *shown));
    if (lines.empty()) return true;
    if (context.stop) {  // the console has no stderr of its own
      print(context, lines);
      return context.code == exit_ok && !stopped(context);
    }
    std::fputs(lines.c_str(), stderr);
    std::fflush(stderr);
    return true;
  };
  const auto watched = follow_in_parts(to, id, take, {limit, look_after, false}, look);
  if (!watched.ok()) return watched.failure();
  if (end.parked() || has_ended(end.state())) return end;
  return error{v1::ERROR_CODE_TIMED_OUT, "nobody waits for task " + id + " any longer", "The task goes on"};
}

}  // namespace fairlead::app
