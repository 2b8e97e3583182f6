#pragma once
// A workflow described in C++. Equivalent C++ and YAML definitions have the same content hash and the same defaults (docs/workflows.md
// explains every word and its default).
//
//   fairlead::workflow order{"order"};
//   order.timeout(2min).on_failure(fairlead::on_failure::undo);
//   order.step("reserve").agent("inventory").call("reserve")
//       .with(R"({"order": "${ .task.id }", "items": "${ .input.items }"})")
//       .timeout(5s).attempts(4).backoff(200ms, 2, 10s)
//       .undo("release", R"({"order": "${ .task.id }"})");
//   order.step("approved").needs("reserve").signal("approve").timeout(24h);

#include <fairlead/v1/workflow.pb.h>
#include <fairlead/error.hpp>
#include <fairlead/time.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace google::protobuf {
class Descriptor;
}

namespace fairlead {

/// `go_on` is `continue` in YAML.
enum class on_failure { undo, park, cool_off, fail, go_on };
enum class in_doubt { retry, park, fail };
/// Of a step that waits for a signal. `go_on` is `continue` in YAML.
enum class on_timeout { fail, go_on };
/// Of a step with for_each, once an item has failed: nothing new begins and the step fails, or all items are carried out and the step
/// completes.
enum class item_failures { stop, collect };

struct workflow_problem {
  std::string step;   // empty: the workflow itself
  std::string field;  // as in YAML: `needs`, `backoff.first`, `undo.with`
  std::string sentence;
  std::string remedy;  // may be empty
};

/// How another call of the same agent undoes a step. Defaults are those of a step.
class undo_call {
 public:
  explicit undo_call(std::string call);
  undo_call& with(std::string json_template);
  undo_call& timeout(duration how_long);
  /// The most attempts. Without `retry_for` they alone count, and the time has no limit.
  undo_call& attempts(std::uint32_t how_many);
  /// How long to retry: the sum of the waits between attempts. Default: one hour, if `attempts` is not given either.
  undo_call& retry_for(duration how_long);
  /// Default of `max`: one minute, or `first` if that is longer.
  undo_call& backoff(duration first, double factor = 2, std::optional<duration> max = std::nullopt);
  /// The step is undone also if its attempts have failed: they may have left something behind. `with` cannot read the step itself then.
  undo_call& also_if_failed();

  const v1::UndoDefinition& definition() const { return definition_; }
  /// The problem of the template; empty: none.
  const std::string& problem() const { return problem_; }

 private:
  v1::UndoDefinition definition_;
  std::string problem_;
  bool retry_for_given_ = false;
};

/// How a step is retried after faults with certain codes, in place of what the step says for all others.
class retry_rule {
 public:
  /// The code of a fault, such as "http_502". One that ends with `*` stands for all codes that begin so.
  explicit retry_rule(std::string code);
  /// Another code.
  retry_rule& on(std::string code);
  /// As for an undo. With 1 such a fault is not retried.
  retry_rule& attempts(std::uint32_t how_many);
  retry_rule& retry_for(duration how_long);
  /// Default: the step's.
  retry_rule& backoff(duration first, double factor = 2, std::optional<duration> max = std::nullopt);

  const v1::RetryRule& definition() const { return definition_; }

 private:
  v1::RetryRule definition_;
  bool retry_for_given_ = false;
};

namespace detail {
struct workflow_state;
}

/// A step under construction; it keeps its workflow alive. Without agent, call, wait, signal and sub-workflow it computes a value: what
/// `with` gives, or null.
class workflow_step {
 public:
  workflow_step& needs(const std::string& step);
  template <class... More>
  workflow_step& needs(const std::string& step, const More&... more) {
    needs(step);
    return needs(more...);
  }
  /// The step starts when this many of its needs are completed. What then nothing needs any more is undone.
  workflow_step& join(std::uint32_t completed);
  /// The same with one.
  workflow_step& join_any() { return join(1); }
  workflow_step& agent(std::string name);
  workflow_step& call(std::string name);
  /// The step waits this long, counted from the moment at which all that it needs is over.
  workflow_step& wait(duration how_long);
  /// A duration ("10m"), a time ("2026-12-24T18:00:00Z"), or an expression that gives one of them ("${ .input.remind_at }").
  workflow_step& wait(std::string text);
  /// The step waits for a signal of this name; the signal's data are its output. It needs a timeout.
  workflow_step& signal(std::string name);
  /// Another workflow carries the step out, in a task of its own: `workflow` in YAML. Its input is what `with` gives, its output is the
  /// step's, and it is undone with the step.
  workflow_step& sub_workflow(std::string name);
  /// What happens without a signal in time; default: the step fails.
  workflow_step& on_timeout(fairlead::on_timeout what);
  /// Such as "${ .input.express }": the step is skipped if that gives false. It must give true or false.
  workflow_step& when(const std::string& expression);
  /// JSON template: a string that is wholly "${ EXPRESSION }" stands for the expression's result. Without a template an agent and a
  /// sub-workflow get the task's input (with for_each: the item), and a computed value is null.
  workflow_step& with(std::string json_template);
  workflow_step& timeout(duration how_long);
  /// As for an undo.
  workflow_step& attempts(std::uint32_t how_many);
  workflow_step& retry_for(duration how_long);
  workflow_step& backoff(duration first, double factor = 2, std::optional<duration> max = std::nullopt);
  /// Adds a rule. The first one that names the code of a fault counts.
  workflow_step& retry(const retry_rule& rule);
  workflow_step& heartbeat(duration at_least_every);
  /// The instance that performs it must carry this label.
  workflow_step& label(std::string key, std::string value);
  workflow_step& in_doubt(fairlead::in_doubt what);
  workflow_step& on_failure(fairlead::on_failure what);
  workflow_step& cool_off(duration how_long);
  /// The agent only accepts the work, and the output comes later over HTTP: see context::callback_url. `timeout`: from the acceptance to the
  /// callback, at most 3660 days.
  workflow_step& callback(duration timeout);
  /// The step is performed again until the expression gives true, such as "${ .steps.poll.done }": it may read the step's own output. `every`:
  /// from the end of a round to the next. After `max` rounds the step fails.
  workflow_step& repeat(const std::string& until, duration every = duration{0}, std::uint32_t max = 1'000);
  /// The call, or the sub-workflow, is carried out once for each item of a list, by a task of its own for each. `items`: an expression that
  /// gives the list ("${ .input.parcels }"), or a list as JSON. `with` and the `with` of the undo can read .item and .index; without `with`
  /// the item itself is the input. `at_once`: items in progress at the same time.
  workflow_step& for_each(const std::string& items, std::uint32_t at_once = 10, item_failures failures = item_failures::stop);
  workflow_step& undo(const undo_call& how);
  workflow_step& undo(std::string call, std::string json_template);
  /// The step has nothing to undo.
  workflow_step& undo_none();
  /// A step of the end: it is performed when no other step is performed any more, before the task completes, fails, or is undone.
  workflow_step& finally();
  /// As `finally`, but only before a task fails, or after it was undone.
  workflow_step& finally_after_failure();
  /// Once this step has happened, the task is not undone any more.
  workflow_step& pivot();

  /// Protobuf types of input and output: checked at deployment and at each step.
  template <class Input, class Output>
  workflow_step& types() {
    return input_type<Input>().template output_type<Output>();
  }
  template <class Input>
  workflow_step& input_type() {
    return set_type(Input::descriptor(), true);
  }
  template <class Output>
  workflow_step& output_type() {
    return set_type(Output::descriptor(), false);
  }

  /// Another step of the same workflow.
  workflow_step step(std::string name) const;

 private:
  friend class workflow;
  workflow_step(std::shared_ptr<detail::workflow_state> of, int index) : of_(std::move(of)), index_(index) {}
  workflow_step& set_type(const google::protobuf::Descriptor* type, bool input);
  v1::StepDefinition& definition() const;
  /// The step, and that this key was set.
  v1::StepDefinition& set(const char* key);

  std::shared_ptr<detail::workflow_state> of_;
  int index_;
};

/// Copies are the same workflow.
class workflow {
 public:
  explicit workflow(std::string name);

  workflow& timeout(duration how_long);
  workflow& on_failure(fairlead::on_failure what);
  workflow& cool_off(duration how_long);
  /// Where a step was passed over (`on_failure::go_on`), the task ends as failed and not as completed.
  workflow& end_failed();
  /// JSON Schema of the tasks' input, of the part of draft 7 that docs/workflows.md lists. Default: any JSON.
  workflow& input_schema(std::string json_schema);
  /// JSON template of the task's output, evaluated when everything is done. It may read every step. Default: tasks have no output.
  workflow& output(std::string json_template);
  /// How many days finished tasks are kept; default: as the node says.
  workflow& keep_days(std::uint32_t days);

  /// Adds a step.
  workflow_step step(std::string name);

  /// All problems that can be found without a node; empty: the workflow may run.
  std::vector<workflow_problem> problems() const;

  /// The equivalent YAML file, for operators: the `source` of a deploy request. Types appear in it as comments.
  std::string yaml() const;

  /// For client::deploy. The error (invalid_argument) names every problem.
  result<v1::WorkflowDefinition> definition() const;

 private:
  std::shared_ptr<detail::workflow_state> state_;
};

}  // namespace fairlead
