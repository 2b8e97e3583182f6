#include "app/library/workflow_yaml.hpp"

#include <array>
#include <charconv>

#include "actors/core/text/json.hpp"
#include "app/json/words.hpp"
#include "messages/time.hpp"

namespace fairlead::detail {

namespace {

std::string quoted(const std::string& text) {
  std::string out;
  core::append_json_string(out, text);
  return out;
}

/// The shortest spelling that is read as the same value.
std::string number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string text_of(const v1::Backoff& backoff) {
  return "{ first: " + format_duration(backoff.first_ms()) + ", factor: " + number(backoff.factor()) +
         ", max: " + format_duration(backoff.max_ms()) + " }";
}

class writer {
 public:
  std::string take() { return std::move(out_); }

  void line(int depth, const std::string& key, const std::string& value) {
    out_.append(static_cast<std::size_t>(depth) * 2, ' ');
    out_ += key + ":" + (value.empty() ? "" : " " + value) + "\n";
  }

  void comment(int depth, const std::string& text) {
    out_.append(static_cast<std::size_t>(depth) * 2, ' ');
    out_ += "# " + text + "\n";
  }

  /// timeout, attempts and backoff: the same for performing and for undoing.
  template <class Definition>
  void patience(int depth, const Definition& of) {
    line(depth, "timeout", format_duration(of.timeout_ms()));
    if (of.attempts() != 0) line(depth, "attempts", std::to_string(of.attempts()));
    if (of.retry_for_ms() != 0) line(depth, "retry_for", format_duration(of.retry_for_ms()));
    line(depth, "backoff", text_of(of.backoff()));
  }

  void rules(int depth, const v1::StepDefinition& step) {
    if (step.retry_size() == 0) return;
    line(depth, "retry", "");
    for (const auto& rule : step.retry()) {
      std::string codes;
      for (const auto& code : rule.on()) codes += (codes.empty() ? "" : ", ") + quoted(code);
      out_.append(static_cast<std::size_t>(depth) * 2 + 2, ' ');
      out_ += "- { on: [" + codes + "]";
      if (rule.attempts() != 0) out_ += ", attempts: " + std::to_string(rule.attempts());
      if (rule.retry_for_ms() != 0) out_ += ", retry_for: " + format_duration(rule.retry_for_ms());
      if (rule.has_backoff()) out_ += ", backoff: " + text_of(rule.backoff());
      out_ += " }\n";
    }
  }

  void step(const v1::StepDefinition& step) {
    line(1, step.name(), "");
    std::string needs;
    for (const auto& need : step.needs()) needs += (needs.empty() ? "" : ", ") + need;
    if (!needs.empty()) line(2, "needs", "[" + needs + "]");
    if (step.join() > 0) line(2, "join", step.join() == 1 ? "any" : std::to_string(step.join()));
    if (!step.when_json().empty()) line(2, "when", step.when_json());
    if (step.finally() != v1::FINALLY_NO) line(2, "finally", step.finally() == v1::FINALLY_AFTER_FAILURE ? "after_failure" : "true");
    switch (step.kind()) {
      case v1::STEP_KIND_VALUE:
        line(2, "with", step.with_json());
        failure(step);
        break;
      case v1::STEP_KIND_WAIT:
        line(2, "wait", step.with_json());
        failure(step);
        break;
      case v1::STEP_KIND_SIGNAL:
        line(2, "signal", step.signal());
        line(2, "timeout", format_duration(step.timeout_ms()));
        if (step.goes_on_untimely()) line(2, "on_timeout", "continue");
        failure(step);
        break;
      case v1::STEP_KIND_WORKFLOW: child(step); break;
      default: perform(step); break;
    }
  }

 private:
  void child(const v1::StepDefinition& step) {
    line(2, "workflow", step.workflow());
    items(step);
    if (!step.with_json().empty()) line(2, "with", step.with_json());
    if (step.timeout_ms() != 0) line(2, "timeout", format_duration(step.timeout_ms()));
    failure(step);
    if (step.pivot()) line(2, "pivot", "true");
    if (step.has_undo()) undo(step.undo());
  }

  void perform(const v1::StepDefinition& step) {
    line(2, "agent", quoted(step.agent()));
    line(2, "call", quoted(step.call()));
    items(step);
    if (!step.with_json().empty()) line(2, "with", step.with_json());
    patience(2, step);
    rules(2, step);
    if (step.heartbeat_ms() != 0) line(2, "heartbeat", format_duration(step.heartbeat_ms()));
    std::string labels;
    for (const auto& label : step.labels()) labels += (labels.empty() ? "" : ", ") + quoted(label.key()) + ": " + quoted(label.value());
    if (!labels.empty()) line(2, "labels", "{ " + labels + " }");
    if (step.in_doubt() == v1::IN_DOUBT_PARK) line(2, "in_doubt", "park");
    if (step.in_doubt() == v1::IN_DOUBT_FAIL) line(2, "in_doubt", "fail");
    failure(step);
    if (step.callback_ms() != 0) line(2, "callback", "{ timeout: " + format_duration(step.callback_ms()) + " }");
    if (step.has_repeat())
      line(2, "repeat",
           "{ until: " + step.repeat().until_json() + ", every: " + format_duration(step.repeat().every_ms()) +
               ", max: " + std::to_string(step.repeat().most()) + " }");
    if (step.pivot()) line(2, "pivot", "true");
    // The descriptors came from code, so there is no file that `types` could name.
    if (!step.input_type().empty()) comment(2, "input_type: " + step.input_type());
    if (!step.output_type().empty()) comment(2, "output_type: " + step.output_type());
    if (step.has_undo()) undo(step.undo());
  }

  void items(const v1::StepDefinition& step) {
    if (!step.has_for_each()) return;
    const auto& each = step.for_each();
    line(2, "for_each",
         "{ items: " + each.list_json() + ", at_once: " + std::to_string(each.at_once()) +
             ", failures: " + app::failures_word(each.collect()) + " }");
  }

  void failure(const v1::StepDefinition& step) {
    if (step.on_failure() != v1::ON_FAILURE_UNSPECIFIED) line(2, "on_failure", app::on_failure_word(step.on_failure()));
    if (step.cool_off_ms() != 0) line(2, "cool_off", format_duration(step.cool_off_ms()));
  }

  void undo(const v1::UndoDefinition& undo) {
    line(2, "undo", undo.none() ? "none" : "");
    if (undo.none()) return;
    line(3, "call", quoted(undo.call()));
    if (!undo.with_json().empty()) line(3, "with", undo.with_json());
    patience(3, undo);
    if (undo.also_if_failed()) line(3, "also_if_failed", "true");
  }

  std::string out_;
};

}  // namespace

std::string yaml_of(const v1::WorkflowDefinition& definition) {
  writer out;
  out.line(0, "workflow", definition.name());
  if (definition.timeout_ms() != 0) out.line(0, "timeout", format_duration(definition.timeout_ms()));
  if (definition.keep_days() != 0) out.line(0, "retention", std::to_string(definition.keep_days()) + "d");
  out.line(0, "on_failure", app::on_failure_word(definition.on_failure()));
  if (definition.cool_off_ms() != 0) out.line(0, "cool_off", format_duration(definition.cool_off_ms()));
  if (definition.ends_failed()) out.line(0, "end", "failed");
  if (!definition.input_schema_json().empty()) out.line(0, "input", definition.input_schema_json());
  if (!definition.output_json().empty()) out.line(0, "output", definition.output_json());
  out.line(0, "steps", "");
  for (const auto& step : definition.steps()) out.step(step);
  return out.take();
}

}  // namespace fairlead::detail
