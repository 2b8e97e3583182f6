#include "app/cli/task/watch.hpp"
#include "actors/core/task/task.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string_view>
#include <utility>

#include "app/cli/screen/screen.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/task/text.hpp"
#include "app/cli/words.hpp"
#include "app/console/screen.hpp"

namespace fairlead::app {

namespace {

/// Of one request, while no node takes it. `submit --wait` waits as long.
constexpr std::chrono::seconds longest_call{60};

/// The step's state after an event. null: the event does not change the state, or a later event
/// gives it. `drains`: nothing is performed any more, so a bad end is not followed by another attempt.
const char* state_after(const v1::HistoryEvent& event, bool drains) {
  const bool undo = event.direction() == v1::DIRECTION_UNDO;
  const bool lookup = event.direction() == v1::DIRECTION_LOOKUP;
  switch (event.kind()) {
    case v1::EVENT_KIND_STEP_STARTED: return undo ? "undoing" : lookup ? "looked up" : "running";
    case v1::EVENT_KIND_STEP_UNDONE: return "undone";
    case v1::EVENT_KIND_STEP_GIVEN_UP: return "given up";
    case v1::EVENT_KIND_STEP_KEY_EXPIRED: return "in doubt";
    case v1::EVENT_KIND_STEP_COOLING_OFF: return "cooling off";
    case v1::EVENT_KIND_STEP_PASSED_OVER: return "passed over";
    case v1::EVENT_KIND_STEP_REPEATED:  // if it was the last round, the next event says so
    case v1::EVENT_KIND_STEP_WAITING: return "waiting";
    case v1::EVENT_KIND_STEP_ACCEPTED: return drains ? "in doubt" : "waiting";
    case v1::EVENT_KIND_STEP_TIMED_OUT: return "timed out";
    case v1::EVENT_KIND_STEP_SKIPPED:
    case v1::EVENT_KIND_OPERATOR_SKIP: return "skipped";
    case v1::EVENT_KIND_STEP_COMPLETED: return "completed";
    case v1::EVENT_KIND_STEP_FAILED: return undo ? "undo failed" : lookup ? "in doubt" : drains ? "failed" : "retrying";
    case v1::EVENT_KIND_STEP_IN_DOUBT:
    case v1::EVENT_KIND_STEP_EXPIRED: return undo ? "undo in doubt" : lookup || drains ? "in doubt" : "retrying";
    case v1::EVENT_KIND_STEP_SETTLED:  // if the step was completed, the next event says so
    case v1::EVENT_KIND_STEP_RETRIED: return undo ? "undoing" : lookup ? "in doubt" : "pending";
    default: return nullptr;
  }
}

/// The step does not change by itself, and no operator needs to look at it.
bool at_rest(const std::string& state) {
  return state == "pending" || state == "completed" || state == "undone" || state == "skipped" || state == "passed over" ||
         state == "timed out";
}

/// Cuts each line to `columns` (0: no limit), because a longer line would take two rows.
std::string cut(const std::string& text, std::size_t columns) {
  if (columns == 0) return text;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    out += shortened(std::string_view{text}.substr(at, end - at), columns) + "\n";
    at = end + 1;
  }
  return out;
}

/// The interval at which `stop` is checked.
constexpr duration stop_looked_for_every{500};

/// Follows the task until it ends, `limit` is over (zero: no limit), or the context asks to stop.
status follow(client& to, const cli_context& context, const std::string& id, const std::function<bool(const v1::WatchReply&)>& show,
              duration limit) {
  if (!context.stop) return to.watch(id, 0, show, limit, true);
  return follow_in_parts(
      to, id, [&](const v1::WatchReply& reply) { return show(reply) && !stopped(context); }, {limit, stop_looked_for_every, true},
      [&] { return context.code == exit_ok && !stopped(context); });
}

}  // namespace

status follow_in_parts(client& to, const std::string& id, const std::function<bool(const v1::WatchReply&)>& show, const watch_parts& how,
                       const std::function<bool()>& between) {
  const auto deadline = std::chrono::steady_clock::now() + how.limit;
  std::uint64_t seen = 0;
  bool over = false;  // the task has ended or is parked, or `show` wants no more
  const auto take = [&](const v1::WatchReply& reply) {
    if (!reply.events().empty()) seen = reply.events().rbegin()->sequence();
    const bool goes_on = show(reply);
    over = !goes_on || reply.parked() || has_ended(reply.state());
    return goes_on;
  };
  for (;;) {
    const auto began = std::chrono::steady_clock::now();
    auto part = how.part;
    if (how.limit.count() > 0) part = std::clamp(std::chrono::duration_cast<duration>(deadline - began), duration{1}, part);
    auto watched = to.watch(id, seen, take, part, how.with_progress);
    if (over) return watched;
    // A request without an answer takes longer.
    const bool only_quiet = std::chrono::steady_clock::now() - began < longest_call;
    if (!watched && (watched.failure().code != v1::ERROR_CODE_TIMED_OUT || !only_quiet)) return watched;
    if (how.limit.count() > 0 && std::chrono::steady_clock::now() >= deadline)
      return error{v1::ERROR_CODE_TIMED_OUT, "Task " + id + " has not ended within " + format_duration(how.limit.count()),
                   "The task goes on; wait for it again"};
    if (!between()) return nothing{};
  }
}

void watch_view::take(const v1::WatchReply& reply) {
  if (!reply.step_paths().empty()) paths_.assign(reply.step_paths().begin(), reply.step_paths().end());
  for (const auto& event : reply.events()) {
    if (event.kind() == v1::EVENT_KIND_TASK_UNDOING || event.kind() == v1::EVENT_KIND_TASK_FAILING) drains_ = true;
    if (event.kind() == v1::EVENT_KIND_OPERATOR_RETRY) drains_ = false;
    const auto* state = state_after(event, drains_);
    if (event.step() == 0 || state == nullptr) continue;
    steps_[event.step() - 1] = {state, event.attempt(), event.at_unix_ms(), event.detail()};
  }
  news_.clear();
  std::map<std::string, v1::Progress> told;
  for (const auto& one : reply.progress()) {
    const auto before = progress_.find(one.step());
    if (before == progress_.end() || before->second.at_unix_ms() < one.progress().at_unix_ms()) news_.push_back(one);
    told[one.step()] = one.progress();
  }
  progress_ = std::move(told);
}

/// In the order of the workflow.
std::vector<std::size_t> watch_view::shown_steps(std::size_t most) const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < paths_.size(); ++i) out.push_back(i);
  if (out.size() <= most) return out;
  const auto rank = [this](std::size_t i) {
    const auto found = steps_.find(i);
    if (found == steps_.end()) return std::pair{2, std::int64_t{0}};
    return std::pair{at_rest(found->second.state) ? 1 : 0, -found->second.at_unix_ms};
  };
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  out.resize(most);
  std::sort(out.begin(), out.end());
  return out;
}

/// `… and 30 more steps: 20 completed, 10 pending`; empty if all steps are shown.
std::string watch_view::left_out(const std::vector<std::size_t>& shown) const {
  if (shown.size() >= paths_.size()) return "";
  std::map<std::string, std::size_t> states;
  for (std::size_t i = 0; i < paths_.size(); ++i)
    if (!std::binary_search(shown.begin(), shown.end(), i)) ++states[steps_.count(i) == 0 ? step_view{}.state : steps_.at(i).state];
  const auto count = paths_.size() - shown.size();
  auto out = "… and " + std::to_string(count) + (count == 1 ? " more step" : " more steps");
  auto between = ": ";
  for (const auto& [state, steps] : states) {
    out += between + std::to_string(steps) + " " + state;
    between = ", ";
  }
  return out + "\n";
}

std::string watch_view::table(std::size_t rows, std::size_t columns) const {
  text_table out{{{"STEP"}, {"STATE"}, {"ATTEMPT", align::right}, {"SINCE"}, {"DETAIL"}}};
  // One line is for the titles, and one for the steps that are left out.
  const auto most = rows == 0 || paths_.size() + 1 <= rows ? paths_.size() : std::max<std::size_t>(rows, 3) - 2;
  const auto shown = shown_steps(most);
  for (const auto i : shown) {
    auto found = steps_.find(i);
    const auto step = found == steps_.end() ? step_view{} : found->second;
    const auto told = progress_.find(paths_[i]);
    out.add({paths_[i], step.state, step.attempt == 0 ? "-" : std::to_string(step.attempt), time_cell(step.at_unix_ms),
             shortened(told != progress_.end() ? progress_text(told->second) : step.detail, 50)});
  }
  return cut(out.text() + left_out(shown), columns);
}

std::string watch_view::lines(const v1::WatchReply& reply) const {
  std::string out;
  for (const auto& event : reply.events()) {
    out += exact_time_text(event.at_unix_ms()) + "  " + event_word(event.kind());
    if (auto path = path_of(reply, event); !path.empty()) out += " " + printable(path);
    if (event.direction() != v1::DIRECTION_PERFORM) out += std::string{" "} + direction_word(event.direction());
    if (event.attempt() != 0) out += " attempt " + std::to_string(event.attempt());
    if (!event.who().empty()) out += " by " + printable(event.who());
    if (!event.detail().empty()) out += ": " + printable(event.detail());
    out += "\n";
  }
  for (const auto& one : news_)
    out += exact_time_text(one.progress().at_unix_ms()) + "  step_progress " + printable(one.step()) + "  " +
           progress_text(one.progress()) + "\n";
  return out;
}

std::string end_text(const std::string& id, v1::TaskState state, bool parked, const std::string& reason) {
  auto out = "Task " + printable(id);
  if (parked)
    out += " is parked: " + (reason.empty() ? std::string{"the node gives no reason"} : printable(reason));
  else
    out += std::string{" is "} + core::state_word(state) + (reason.empty() ? "" : ": " + printable(reason));
  return out + (out.back() == '.' ? "\n" : ".\n");
}

void watch_task(cli_context& context, const std::string& id) {
  auto limit = timeout_of(context);
  if (!limit) {
    context.code = fail(limit.failure());
    return;
  }
  auto connected = connect_to_wait(context, longest_call);
  if (!connected) {
    context.code = fail(connected.failure());
    return;
  }
  const bool redraw = !context.json && ::isatty(STDOUT_FILENO) == 1;
  watch_view view;
  std::ptrdiff_t drawn_lines = 0;
  bool completed = false;
  auto show = [&](const v1::WatchReply& reply) {
    view.take(reply);
    if (context.json) {
      std::string lines;
      for (const auto& event : reply.events()) lines += event_json(event, path_of(reply, event)) + "\n";
      for (const auto& one : view.news()) lines += progress_json(one) + "\n";
      print(context, lines);
    } else if (redraw) {
      // One row below the table is for the cursor: rows that have scrolled away cannot be
      // overwritten.
      const auto screen = size_of_terminal();
      // Lines are cut, not broken, and colours would be cut with them.
      auto plain = shown_on();
      plain.width = 0;
      plain.colours = false;
      const show_on drawn{plain};
      auto table = view.table(screen.rows - 1, screen.columns);
      print(context, (drawn_lines > 0 ? "\x1b[" + std::to_string(drawn_lines) + "A\x1b[J" : "") + table);
      drawn_lines = std::count(table.begin(), table.end(), '\n');
    } else {
      print(context, view.lines(reply));
    }
    if (reply.parked() || has_ended(reply.state()))
      print(context, context.json ? end_json(reply) + "\n" : end_text(id, reply.state(), reply.parked(), reply.reason()));
    completed = reply.state() == v1::TASK_STATE_COMPLETED && !reply.parked();
    return context.code == exit_ok;
  };
  auto watched = follow(*connected, context, id, show, limit->value_or(duration{0}));
  if (!watched)
    context.code = fail(watched.failure());
  else if (context.code == exit_ok && !completed)
    context.code = exit_failed;
}

}  // namespace fairlead::app
