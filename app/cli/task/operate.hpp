#pragma once
// What an operator does to tasks: retry, skip, settle, undo, cancel, pause and resume, to one task or to all that a filter finds.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/context.hpp"
#include "app/cli/task/filter.hpp"

namespace fairlead::app {

/// The command line of one of these commands, as it was given.
struct operate_options {
  std::string verb;                // its word in task_verbs
  std::vector<std::string> words;  // ID, STEP
  std::optional<std::string> input;
  std::optional<std::string> completed;
  bool never_happened = false;
  std::string reason;
  std::string by;
  task_filter filter;
  bool yes = false;
};

/// What the command line asks for.
struct operation {
  v1::OperatorAction action;
  std::string id;  // empty: all that `which` finds
  std::optional<v1::TaskListRequest> which;
};

/// Everything that can be refused without a node is refused here: nothing has been sent then. Errors: invalid_argument.
result<operation> read_operation(const operate_options& options);

/// The answers about many tasks, gathered. Refusals with the same reason are counted together, whatever task each names.
class operate_tally {
 public:
  explicit operate_tally(std::uint64_t tasks) : tasks_(tasks) {}

  void add(const v1::OperateResult& answer);
  /// No further tasks are asked about.
  void stop(const error& why) { stopped_ = why; }

  std::uint64_t answered() const { return done_ + refusals_.size(); }
  bool all_done() const { return done_ == tasks_; }
  const std::optional<error>& stopped() const { return stopped_; }

  std::string text() const;
  std::string json(const std::string& verb) const;

 private:
  struct group {
    std::uint64_t tasks = 0;
    std::string example;
    std::string sentence;  // of the example
  };
  struct refusal {
    std::string id;
    error why;
  };

  std::uint64_t tasks_;
  std::uint64_t done_ = 0;
  std::vector<refusal> refusals_;
  std::map<std::string, group> groups_;
  std::optional<error> stopped_;
};

/// All tasks that the operation's filter finds: counted, confirmed, done in chunks. Returns the exit code.
int operate_on_many(cli_context& context, const operate_options& options, const operation& what);  // operate_many.cpp

void add_operate_commands(CLI::App& group, cli_context& context);
void add_task_doctor(CLI::App& group, cli_context& context);  // doctor.cpp

}  // namespace fairlead::app
