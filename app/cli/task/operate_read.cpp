// From a command line to what is asked of the node.

#include "actors/core/request_limits.hpp"
#include "app/cli/json_argument.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/task/operate.hpp"
#include "messages/ids.hpp"

namespace fairlead::app {

namespace {

bool blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }

/// What each command is about: whether it names a step, and whether it must say why.
struct verb_shape {
  bool takes_step = false;
  bool needs_step = false;
  bool needs_reason = false;
};

verb_shape shape_of(const std::string& verb) {
  if (verb == "retry") return {true, false, false};
  if (verb == "skip" || verb == "settle") return {true, true, true};
  return {};
}

result<v1::OperatorVerb> verb_of(const operate_options& options) {
  if (options.verb == "retry") return v1::OPERATOR_VERB_RETRY;
  if (options.verb == "skip") return v1::OPERATOR_VERB_SKIP;
  if (options.verb == "undo") return v1::OPERATOR_VERB_UNDO;
  if (options.verb == "cancel") return v1::OPERATOR_VERB_CANCEL;
  if (options.verb == "pause") return v1::OPERATOR_VERB_PAUSE;
  if (options.verb == "resume") return v1::OPERATOR_VERB_RESUME;
  if (options.completed && options.never_happened)
    return invalid("--completed and --never-happened contradict each other", "Say how the step turned out with one of them");
  if (options.completed) return v1::OPERATOR_VERB_SETTLE_COMPLETED;
  if (options.never_happened) return v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED;
  return invalid("How the step turned out is not said", "Give --completed JSON with its output, or --never-happened");
}

/// ID and STEP; with a filter, which stands for the ID, STEP alone.
status read_words(const operate_options& options, const verb_shape& shape, operation& out) {
  auto words = options.words;
  if (options.filter.given()) {
    const std::size_t most = shape.needs_step ? 1 : 0;
    if (words.size() > most) return invalid("Both '" + words.front() + "' and a filter are given", "Name a task, or give a filter");
  } else {
    if (words.empty())
      return invalid("No task is named", "Give its ID, or a filter: --state, --parked, --workflow, --label, --older-than, --younger-than");
    if (!valid_task_id(words.front()))
      return invalid("'" + words.front() + "' is not a task id", "An id has 1 to 256 characters of A-Z a-z 0-9 . _ : @ / -");
    if (options.yes) return invalid("--yes is for filters, and one task is named", "Leave it out");
    out.id = words.front();
    words.erase(words.begin());
  }
  if (!words.empty()) {
    if (words.front().empty()) return invalid("STEP is empty", "'fairlead task show' lists the steps of a task");
    out.action.set_step(words.front());
  }
  if (shape.needs_step && out.action.step().empty()) return invalid("No step is named", "'fairlead task show' lists the steps of a task");
  return nothing{};
}

status read_json(const operate_options& options, operation& out) {
  if (!options.input && !options.completed) return nothing{};
  if (options.input && out.action.step().empty())
    return invalid("--input is for one step, and none is named", "Name the task and its step");
  auto json = options.input ? read_json_argument(*options.input, "The input") : read_json_argument(*options.completed, "The output");
  if (!json) return json.failure();
  out.action.set_json(std::move(*json));
  return nothing{};
}

}  // namespace

result<operation> read_operation(const operate_options& options) {
  const auto shape = shape_of(options.verb);
  operation out;
  const auto verb = verb_of(options);
  if (!verb) return verb.failure();
  out.action.set_verb(*verb);
  if (const auto read = read_words(options, shape, out); !read) return read.failure();
  if (shape.needs_reason && blank(options.reason))
    return invalid("'" + options.verb + "' wants a reason, and none is given",
                   "Say why with --reason TEXT: it stands in the task's history");
  if (options.reason.size() > reason_limit)
    return invalid("The reason is longer than " + std::to_string(reason_limit) + " bytes",
                   "Say it shorter: it stands in the task's history");
  if (const auto read = read_json(options, out); !read) return read.failure();
  if (options.filter.given()) {
    auto which = list_request(options.filter);
    if (!which) return which.failure();
    out.which = std::move(*which);
  }
  out.action.set_reason(options.reason);
  out.action.set_who(operator_name(options.by));
  return out;
}

}  // namespace fairlead::app
