// One action for all tasks of a filter: they are counted, confirmed, and processed in chunks.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>

#include "actors/core/request_limits.hpp"
#include "app/cli/screen/confirm.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/task/operate.hpp"
#include "app/cli/words.hpp"
#include "app/json/node/task_action.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t tasks_a_request = 500;
constexpr std::size_t tasks_shown = 5;

/// Progress on stderr: one line that is rewritten on a terminal; elsewhere a line every 2 s.
class progress_line {
 public:
  void show(const std::string& text) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + (terminal_ ? std::chrono::milliseconds{100} : std::chrono::milliseconds{2'000});
    std::fputs(((terminal_ ? "\r\x1b[K" : "") + text + (terminal_ ? "" : "\n")).c_str(), stderr);
    std::fflush(stderr);
    drawn_ = terminal_;
  }

  /// Removes the line, before other output is written.
  void clear() {
    if (drawn_) std::fputs("\r\x1b[K", stderr);
    drawn_ = false;
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool drawn_ = false;
  // A short run shows no progress line.
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::seconds{1};
};

struct found_tasks {
  std::vector<std::string> ids;
  std::vector<v1::TaskSummary> first;
  std::uint64_t children = 0;  // left to their parents
};

/// The same request about archived tasks, which have ended; false: none can match.
bool ask_for_archived(v1::TaskListRequest& request) {
  auto& states = *request.mutable_states();
  const auto any = states.empty();
  states.erase(std::remove_if(states.begin(), states.end(), [](int state) { return !has_ended(static_cast<v1::TaskState>(state)); }),
               states.end());
  request.set_archived(true);
  return !request.parked_only() && (any || !states.empty());
}

/// Keeps the ids, so that the action concerns exactly the tasks that were counted and confirmed.
result<found_tasks> find_tasks(client& to, const operation& what) {
  found_tasks out;
  auto request = *what.which;
  request.set_page_size(max_page_size);
  progress_line progress;
  std::set<std::string> known;
  for (;;) {
    auto page = to.list(request);
    if (!page) return page.failure();
    if (auto why = conditions_left_out(request, *page)) return *why;
    for (auto& task : *page->mutable_items()) {
      if (!concerns(what.action.verb(), task) || !known.insert(task.id()).second) continue;
      if (left_to_parent(what.action.verb(), task.id())) {
        ++out.children;
        continue;
      }
      out.ids.push_back(task.id());
      if (out.first.size() < tasks_shown) out.first.push_back(std::move(task));
    }
    progress.show("counted " + std::to_string(out.ids.size()) + (out.ids.size() == 1 ? " task" : " tasks"));
    request.set_cursor(page->cursor());
    if (!page->cursor().empty()) continue;
    if (what.action.verb() != v1::OPERATOR_VERB_DELETE || request.archived() || !ask_for_archived(request)) break;
  }
  progress.clear();
  // A child is deleted after its parent.
  if (what.action.verb() == v1::OPERATOR_VERB_DELETE)
    std::stable_sort(out.ids.begin(), out.ids.end(), [](const auto& one, const auto& other) { return level_of(one) < level_of(other); });
  return out;
}

std::string children_text(const found_tasks& found) {
  if (found.children == 0) return "";
  if (found.children == 1) return "One child that matches is left to the action on its parent.\n";
  return std::to_string(found.children) + " children that match are left to the action on their parents.\n";
}

std::string found_text(const found_tasks& found) {
  text_table table{{{"TASK"}, {"WORKFLOW"}, {"STATE"}, {"CREATED"}, {"WHY", align::left, narrow::below}}};
  for (const auto& task : found.first)
    table.add({task.id(), task.workflow(), task_state_text(task.state(), task.parked(), task.paused()),
               time_cell(task.created_at_unix_ms()), shortened(task.reason(), 160)});
  auto out = (found.ids.size() == 1 ? "One task matches:\n" : std::to_string(found.ids.size()) + " tasks match:\n") + table.text();
  if (found.ids.size() > found.first.size()) out += "and " + std::to_string(found.ids.size() - found.first.size()) + " more\n";
  return out + children_text(found);
}

/// Asks what would become of each task, and leaves out those that go by another version than the one that is left.
result<operate_tally> try_out(client& to, const operation& what, found_tasks& found) {
  std::vector<v1::OperateResult> answers;
  progress_line progress;
  for (std::size_t at = 0; at < found.ids.size(); at += tasks_a_request) {
    v1::OperateRequest request;
    *request.mutable_action() = what.action;
    request.mutable_action()->set_dry_run(true);
    for (auto i = at; i < std::min(at + tasks_a_request, found.ids.size()); ++i) request.add_ids(found.ids[i]);
    auto reply = to.operate(request);
    if (!reply) return reply.failure();
    for (auto& answer : *reply->mutable_results())
      if (answer.error().code() != v1::ERROR_CODE_CHANGED && !answer.repeated()) answers.push_back(std::move(answer));
    progress.show("looked at " + std::to_string(request.ids_size() + at) + " of " + std::to_string(found.ids.size()) + " tasks");
  }
  progress.clear();
  std::set<std::string> meant;
  found.ids.clear();
  operate_tally tally{answers.size()};
  for (const auto& answer : answers) {
    meant.insert(answer.id());
    found.ids.push_back(answer.id());
    tally.add(answer);
  }
  std::erase_if(found.first, [&](const v1::TaskSummary& task) { return !meant.contains(task.id()); });
  return tally;
}

operate_tally send_all(client& to, const operation& what, const found_tasks& found) {
  const auto& ids = found.ids;
  operate_tally tally{ids.size(), found.children};
  progress_line progress;
  for (std::size_t at = 0; at < ids.size();) {
    v1::OperateRequest request;
    *request.mutable_action() = what.action;
    // A child can be deleted once it was answered that its parent is.
    const auto level = level_of(ids[at]);
    const auto to_end = std::min(at + tasks_a_request, ids.size());
    while (at < to_end && (what.action.verb() != v1::OPERATOR_VERB_DELETE || level_of(ids[at]) == level)) request.add_ids(ids[at++]);
    const auto reply = to.operate(request);
    if (!reply) {
      tally.stop(reply.failure());
      break;
    }
    for (const auto& answer : reply->results()) tally.add(answer);
    progress.show("done with " + std::to_string(tally.answered()) + " of " + std::to_string(ids.size()) + " tasks");
  }
  progress.clear();
  return tally;
}

}  // namespace

int operate_on_many(cli_context& context, const operate_options& options, const operation& what) {
  auto connected = connect(context);
  if (!connected) return fail(connected.failure());
  auto found = find_tasks(*connected, what);
  if (!found) return fail(found.failure());
  if (what.action.verb() == v1::OPERATOR_VERB_MIGRATE) {
    const auto tried = try_out(*connected, what, *found);
    if (!tried) return fail(tried.failure());
    if (what.action.dry_run()) {
      print(context, context.json ? tried->json(options.verb, true) + "\n" : tried->text("It would be done"));
      return context.code == exit_ok && !tried->all_done() ? exit_failed : context.code;
    }
    if (!context.json && !options.yes && !found->ids.empty()) std::fputs(tried->text("It would be done").c_str(), stderr);
  }
  if (found->ids.empty()) {
    print(context, context.json           ? operate_tally{0, found->children}.json(options.verb) + "\n"
                   : found->children == 0 ? "No task matches: nothing to do.\n"
                                          : "No task without a parent matches: nothing to do.\n" + children_text(*found) +
                                                "To act on a child alone, name it by its ID.\n");
    return context.code;
  }
  // A program does not need the table.
  if (!context.json || !options.yes) std::fputs(found_text(*found).c_str(), stderr);
  if (!options.yes)
    if (const auto confirmed =
            confirm(options.verb + " " + std::to_string(found->ids.size()) + (found->ids.size() == 1 ? " task" : " tasks"));
        !confirmed)
      return fail(confirmed.failure());
  const auto tally = send_all(*connected, what, *found);
  print(context, context.json ? tally.json(options.verb) + "\n" : tally.text());
  if (tally.stopped()) return fail(*tally.stopped());
  if (context.code != exit_ok) return context.code;
  return tally.all_done() ? exit_ok : exit_failed;
}

}  // namespace fairlead::app
