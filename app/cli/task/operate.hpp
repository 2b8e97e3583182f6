#pragma once
// What an operator does to tasks (the verbs of app/json/node/task_verbs.hpp), to one task or to all tasks of a filter.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/context.hpp"
#include "app/cli/task/filter.hpp"

namespace fairlead::app {

/// The options of one of these commands, as typed.
struct operate_options {
  std::string verb;                // the command's word in task_verbs
  std::vector<std::string> words;  // ID, STEP
  std::optional<std::string> input;
  std::optional<std::string> completed;
  std::optional<std::string> output;  // of the task
  bool never_happened = false;
  bool now = false;  // terminate
  std::string reason;
  std::string by;
  task_filter filter;
  bool yes = false;
};

/// The request that the options describe.
struct operation {
  v1::OperatorAction action;
  std::string id;  // empty: all tasks of `which`
  std::optional<v1::TaskListRequest> which;
};

/// Makes all checks that need no node, before any request is sent. Errors: invalid_argument.
result<operation> read_operation(const operate_options& options);

/// Collects the answers about many tasks. Refusals with the same reason are counted together; the
/// task's id in the sentence is ignored.
class operate_tally {
 public:
  /// `children`: that were left to their parents.
  explicit operate_tally(std::uint64_t tasks, std::uint64_t children = 0) : tasks_(tasks), children_(children) {}

  void add(const v1::OperateResult& answer);
  /// The command stops: no further request is sent.
  void stop(const error& why) { stopped_ = why; }

  std::uint64_t answered() const { return done_ + refusals_.size(); }
  bool all_done() const { return done_ == tasks_; }
  const std::optional<error>& stopped() const { return stopped_; }

  /// `done`: how the sentence begins.
  std::string text(const std::string& done = "Done") const;
  std::string json(const std::string& verb, bool dry_run = false) const;

 private:
  struct group {
    std::uint64_t tasks = 0;
    std::string example;
    std::string sentence;  // the sentence about the example
  };
  struct refusal {
    std::string id;
    error why;
  };

  std::uint64_t tasks_;
  std::uint64_t children_;
  std::uint64_t done_ = 0;
  std::vector<refusal> refusals_;
  std::map<std::string, group> groups_;
  std::optional<error> stopped_;
};

/// Operates on all tasks of the operation's filter: counts them, asks for confirmation, sends
/// requests in chunks. Returns the exit code.
int operate_on_many(cli_context& context, const operate_options& options, const operation& what);  // operate_many.cpp

void add_operate_commands(CLI::App& group, cli_context& context);
void add_task_doctor(CLI::App& group, cli_context& context);  // doctor.cpp

}  // namespace fairlead::app
