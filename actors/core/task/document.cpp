#include "actors/core/task/document.hpp"

#include <algorithm>

#include "actors/core/job/launch_input.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::core {

namespace {

/// A failed step that was not passed over waits for another attempt, until its task goes forward no more.
bool may_be_tried_again(const v1::TaskRecord& record) { return record.state() == v1::TASK_STATE_RUNNING && !record.failing(); }

/// `.status.NAME` of a step that has ended; null before that.
const char* status_word(const v1::TaskRecord& record, const v1::StepRecord& step) {
  // Whatever becomes of it: who reads it must not take it for one that it can build on.
  if (step.dropped()) return "dropped";
  // Also while it is in doubt again, because the task is undone.
  if (step.passed_over()) return "failed";
  switch (step.state()) {
    case v1::STEP_STATE_COMPLETED:
    case v1::STEP_STATE_UNDOING:
    case v1::STEP_STATE_UNDONE: return step.has_output() ? "completed" : "failed";
    case v1::STEP_STATE_SKIPPED: return step.timed_out() ? "timed_out" : "skipped";
    case v1::STEP_STATE_FAILED: return may_be_tried_again(record) ? nullptr : "failed";
    default: return nullptr;
  }
}

/// `.errors.NAME`: a step keeps the fault of an attempt after which another one succeeded.
bool has_error(const v1::TaskRecord& record, const v1::StepRecord& step) {
  const auto* word = status_word(record, step);
  return step.has_fault() && word != nullptr && std::string_view{word} == "failed";
}

/// The end that the task is about to take.
const char* end_word(const v1::TaskRecord& record) {
  if (record.state() == v1::TASK_STATE_UNDOING) return "undone";
  return record.failing() ? "failed" : "completed";
}

std::string quote_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace

std::optional<std::string_view> task_document::text_of(const v1::Payload& payload) const {
  if (payload.slot() == 0) {
    if (payload.json().empty()) return std::string_view{"null"};
    return std::string_view{payload.json()};
  }
  for (const auto& fresh : fresh_)
    if (fresh.slot == payload.slot()) return std::string_view{fresh.json};
  auto loaded = payloads_.load(record_, payload.slot());
  if (!loaded) {
    if (!failure_) failure_ = loaded.failure();
    return std::nullopt;
  }
  return *loaded;
}

const v1::StepRecord* task_document::find(std::string_view path) const {
  for (const auto& step : record_.steps())
    if (step.path() == path) return &step;
  return nullptr;
}

bool task_document::is_null(const v1::StepRecord& step) const {
  if (step.dropped() && !view_.dropped_too) return true;
  if (hides_rounds(step)) return true;
  return step.state() == v1::STEP_STATE_SKIPPED || step.passed_over();
}

/// What a round gave counts only once the step has ended well; without joins, and before the end, nobody but the step itself reads it before.
bool task_document::hides_rounds(const v1::StepRecord& step) const {
  if ((!view_.joins && !view_.of_end) || step.rounds() == 0 || &step == &record_.steps(static_cast<int>(view_.reader))) return false;
  return step.state() == v1::STEP_STATE_PENDING || step.state() == v1::STEP_STATE_RUNNING || step.state() == v1::STEP_STATE_IN_DOUBT ||
         step.state() == v1::STEP_STATE_FAILED;
}

/// Most inputs read the task's id, so this is made for most attempts, without a string for each part.
void task_document::write_task() const {
  task_ = "{\"id\":";
  append_json_string(task_, record_.id());
  task_ += ",\"workflow\":";
  append_json_string(task_, record_.workflow());
  task_ += ",\"priority\":";
  task_ += std::to_string(record_.priority());
  task_ += ",\"labels\":{";
  for (const auto& label : record_.labels()) {
    if (task_.back() != '{') task_ += ',';
    append_json_string(task_, label.key());
    task_ += ':';
    append_json_string(task_, label.value());
  }
  task_ += '}';
  if (view_.of_end) task_ += std::string{",\"end\":\""} + end_word(record_) + '"';
  task_ += '}';
}

std::optional<std::string_view> task_document::root(std::string_view name, std::string_view member) const {
  if (name == "input") return text_of(record_.input());
  if (name == "task") {
    if (task_.empty()) write_task();
    return std::string_view{task_};
  }
  if (name == "launch") {
    if (launch_.empty()) launch_ = record_.has_launch() ? launch_document(record_.launch()) : "null";
    return std::string_view{launch_};
  }
  const auto* step = find(member);
  if (step == nullptr) return std::nullopt;
  if (auto found = of_step(name, *step)) return found;
  // At the end of a task any step may never have been performed.
  return view_.of_end && !failure_ ? std::optional{std::string_view{"null"}} : std::nullopt;
}

std::optional<std::string_view> task_document::of_step(std::string_view name, const v1::StepRecord& step) const {
  if (name == "steps") {
    if (is_null(step)) return std::string_view{"null"};
    // Also while the step is undone: its undo may need the output.
    if (step.has_output()) return text_of(step.output());
    return view_.joins ? std::optional{std::string_view{"null"}} : std::nullopt;
  }
  if (name == "status") {
    const auto* word = status_word(record_, step);
    if (word == nullptr) return view_.joins ? std::optional{std::string_view{"null"}} : std::nullopt;
    return std::string_view{made_.emplace_back(quote_json(word))};
  }
  if (name == "errors" && has_error(record_, step)) {
    return std::string_view{
        made_.emplace_back("{\"code\":" + quote_json(step.fault().code()) + ",\"message\":" + quote_json(step.fault().message()) + "}")};
  }
  return std::nullopt;
}

std::vector<std::string> item_document::members(std::string_view name) const {
  auto out = outer_.members(name);
  if (own_ == nullptr) return out;
  for (auto& one : own_->members(name))
    if (std::find(out.begin(), out.end(), one) == out.end()) out.push_back(std::move(one));
  return out;
}

std::vector<std::string> task_document::members(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& step : record_.steps()) {
    const auto there = name == "steps"    ? step.has_output() || is_null(step)
                       : name == "status" ? status_word(record_, step) != nullptr
                                          : name == "errors" && has_error(record_, step);
    if (there) out.push_back(step.path());
  }
  return out;
}

}  // namespace fairlead::core
