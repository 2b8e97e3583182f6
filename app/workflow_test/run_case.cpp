#include "app/workflow_test/run_case.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "actors/core/alert_words.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/text.hpp"
#include "app/json/words.hpp"
#include "app/workflow_test/matching.hpp"
#include "app/workflow_test/names.hpp"
#include "app/workflow_test/scripted_agents.hpp"
#include "messages/items.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t most_shown_bytes = 400;
constexpr std::size_t most_told = 400;

std::string shown(const std::string& json) {
  return json.size() <= most_shown_bytes ? json : core::clean_text(json, most_shown_bytes) + "…";
}

std::string reason_of(const v1::TaskRecord& record) {
  if (record.parked()) return record.parked_reason();
  return record.state() == v1::TASK_STATE_FAILED || record.failing() ? record.failed_reason() : record.undo_reason();
}

class judge {
 public:
  judge(const virtual_run& run, const test_case& what, const std::optional<error>& refused, case_result& out)
      : run_(run), expect_(what.expect), what_(what), refused_(refused), out_(out) {}

  void run() {
    judge_end();
    judge_actions();
    if (refused_) return;
    judge_texts("expect", expect_.output, expect_.output_has, "output", record().has_output(), run_.text_of(record().output()));
    judge_names();
    judge_time();
    for (const auto& step : expect_.steps) judge_step(step);
  }

 private:
  const v1::TaskRecord& record() const { return run_.record(); }

  void fails(const file_place& at, std::string where, std::string sentence, std::string remedy = {}) {
    out_.failures.push_back({at, std::move(where), std::move(sentence), std::move(remedy)});
  }

  void judge_end() {
    const auto why = refused_ ? refused_->sentence : reason_of(record());
    if (expect_.end.value != out_.end)
      fails(expect_.end.at, "expect.end", "expected " + expect_.end.value + ", was " + out_.end + (why.empty() ? "" : ": " + why));
    if (expect_.reason && why.find(expect_.reason->value) == std::string::npos)
      fails(expect_.reason->at, "expect.reason",
            "expected words with \"" + expect_.reason->value + "\", was " + (why.empty() ? "no reason" : "\"" + why + "\""));
  }

  void judge_texts(const std::string& where, const std::optional<expected_text>& equal, const std::optional<expected_text>& part,
                   const std::string& key, bool there, const std::string& text) {
    const auto was = there ? shown(text) : "nothing";
    if (equal && (!there || !json_is(equal->value, text)))
      fails(equal->at, where + "." + key, "expected " + shown(equal->value) + ", was " + was);
    if (part && (!there || !json_has(part->value, text)))
      fails(part->at, where + "." + key + "_has", "expected at least " + shown(part->value) + ", was " + was);
  }

  void judge_list(const std::optional<expected_names>& of, const char* key, const std::vector<std::string>& names, bool in_order) {
    if (!of || (in_order ? names_match(of->value, names) : same_names(of->value, names))) return;
    fails(of->at, std::string{"expect."} + key, "expected " + list_words(of->value) + ", was " + list_words(names));
  }

  std::vector<std::string> steps_of(v1::EventKind kind) const {
    std::vector<std::string> out;
    for (const auto& event : record().recent())
      if (event.kind() == kind && event.step() > 0) out.push_back(record().steps(static_cast<int>(event.step()) - 1).path());
    return out;
  }

  void judge_names() {
    std::vector<std::string> performed, skipped, dropped, alerts;
    for (const auto& one : run_.attempts())
      if (one.direction == v1::DIRECTION_PERFORM && std::find(performed.begin(), performed.end(), one.step) == performed.end())
        performed.push_back(one.step);
    for (const auto& step : record().steps()) {
      if (step.state() == v1::STEP_STATE_SKIPPED) skipped.push_back(step.path());
      if (step.dropped()) dropped.push_back(step.path());
    }
    for (const auto& alert : run_.alerts()) alerts.emplace_back(core::alert_kind_word(alert.kind()));
    judge_list(expect_.performed, "performed", performed, true);
    judge_list(expect_.completed, "completed", steps_of(v1::EVENT_KIND_STEP_COMPLETED), true);
    judge_list(expect_.undone, "undone", steps_of(v1::EVENT_KIND_STEP_UNDONE), true);
    judge_list(expect_.skipped, "skipped", skipped, false);
    judge_list(expect_.dropped, "dropped", dropped, false);
    judge_list(expect_.alerts, "alerts", alerts, false);
  }

  void judge_time() {
    const auto was = ", was " + format_duration(run_.took_ms());
    if (expect_.least_ms && run_.took_ms() < expect_.least_ms->value)
      fails(expect_.least_ms->at, "expect.takes.least", "expected at least " + format_duration(expect_.least_ms->value) + was);
    if (expect_.most_ms && run_.took_ms() > expect_.most_ms->value)
      fails(expect_.most_ms->at, "expect.takes.most", "expected at most " + format_duration(expect_.most_ms->value) + was);
  }

  static std::string where_of(const step_expectation& of) {
    return "expect.steps." + of.step + (of.item ? "[" + std::to_string(*of.item) + "]" : "");
  }

  void judge_step(const step_expectation& of) {
    const auto where = where_of(of);
    const auto& all = record().steps();
    const auto found = std::find_if(all.begin(), all.end(), [&](const v1::StepRecord& one) { return one.path() == of.step; });
    if (found == all.end()) return fails(what_.at, where, "the task has no such step");
    const auto& step = *found;
    std::string state = core::shown_state(record(), step), code = step.fault().code();
    std::optional<std::string> output;
    if (step.has_output()) output = run_.text_of(step.output());
    if (of.item) {
      if (!step.has_items() && step.state() != v1::STEP_STATE_COMPLETED)
        return fails(of.at, where, "step " + of.step + " has not begun, and its list is not known", "remove it");
      if (*of.item >= step.items().count()) {
        const auto [why, remedy] = beyond_list({of.step, of.item}, step.items().count());
        return fails(of.at, where, why, remedy);
      }
      const auto item = run_.item(step, *of.item);
      state = item ? item->state : "pending";
      code = item ? item->fault : std::string{};
      output = item ? item->output : std::nullopt;
    } else {
      judge_items(of, step, where);
    }
    if (of.state && of.state->value != state) fails(of.state->at, where + ".state", "expected " + of.state->value + ", was " + state);
    if (of.fault && of.fault->value != code)
      fails(of.fault->at, where + ".fault", "expected " + of.fault->value + ", was " + (code.empty() ? "no fault" : code));
    judge_count(of.attempts, where + ".attempts", of, v1::DIRECTION_PERFORM);
    judge_count(of.undo_attempts, where + ".undo_attempts", of, v1::DIRECTION_UNDO);
    judge_count(of.lookups, where + ".lookups", of, v1::DIRECTION_LOOKUP);
    const auto* performed = latest(of, v1::DIRECTION_PERFORM);
    const auto* undone = latest(of, v1::DIRECTION_UNDO);
    judge_texts(where, of.input, of.input_has, "input", performed != nullptr, performed != nullptr ? performed->input : "");
    judge_texts(where, of.undo_input, of.undo_input_has, "undo_input", undone != nullptr, undone != nullptr ? undone->input : "");
    if (of.cancelled && of.cancelled->value != run_.was_cancelled(of.step, of.item))
      fails(of.cancelled->at, where + ".cancelled",
            of.cancelled->value ? "expected that its child is cancelled, and it was not" : "its child was cancelled");
    judge_texts(where, of.output, of.output_has, "output", output.has_value(), output.value_or(""));
  }

  /// Of the whole step.
  void judge_items(const step_expectation& of, const v1::StepRecord& step, const std::string& where) {
    if (of.items && of.items->value != step.items().count())
      fails(of.items->at, where + ".items",
            "expected " + std::to_string(of.items->value) + ", was " + std::to_string(step.items().count()));
    const auto judge = [&](const std::optional<expected_items>& expected, const char* key, const std::vector<item_state>& states) {
      if (!expected) return;
      std::vector<std::uint32_t> was;
      for (std::uint32_t i = 0; i < begun_items(step.items()); ++i)
        if (std::find(states.begin(), states.end(), item_state_of(step.items(), i)) != states.end()) was.push_back(i);
      if (was != expected->value)
        fails(expected->at, where + "." + key, "expected " + items_words(expected->value) + ", was " + items_words(was));
    };
    judge(of.completed_items, "completed_items", {item_state::completed});
    judge(of.failed_items, "failed_items", {item_state::failed, item_state::left_behind, item_state::not_begun});
    judge(of.undone_items, "undone_items", {item_state::undone});
  }

  static std::string items_words(const std::vector<std::uint32_t>& items) {
    std::vector<std::string> names;
    for (const auto one : items) names.push_back(std::to_string(one));
    return list_words(names);
  }

  static bool is_about(const step_expectation& of, const rehearsed_attempt& one, v1::Direction direction) {
    return one.step == of.step && one.direction == direction && (!of.item || one.item == of.item);
  }

  const rehearsed_attempt* latest(const step_expectation& of, v1::Direction direction) const {
    const rehearsed_attempt* out = nullptr;
    for (const auto& one : run_.attempts())
      if (is_about(of, one, direction)) out = &one;
    return out;
  }

  void judge_count(const std::optional<expected_number>& of, const std::string& where, const step_expectation& whose,
                   v1::Direction direction) {
    if (!of) return;
    const auto& all = run_.attempts();
    const auto count = std::count_if(all.begin(), all.end(), [&](const auto& one) { return is_about(whose, one, direction); });
    if (count != of->value) fails(of->at, where, "expected " + std::to_string(of->value) + ", was " + std::to_string(count));
  }

  void judge_actions() {
    for (std::size_t i = 0; i < what_.actions.size(); ++i) {
      const auto& planned = what_.actions[i];
      const auto& done = run_.actions()[i];
      const auto where = "events[" + std::to_string(i) + "]";
      if (!done.given)
        fails(planned.at, where,
              "nothing happened any more at " + format_duration(planned.at_ms) + ": the task ended or stopped after " +
                  format_duration(run_.took_ms()),
              "give it an earlier time, or remove it");
      else if (done.refused && !planned.refused)
        fails(planned.at, where, "it was refused: " + done.refused->sentence, done.refused->remedy);
      else if (!done.refused && planned.refused)
        fails(planned.at, where, "it was expected to be refused, and was done");
    }
  }

  const virtual_run& run_;
  const case_expectation& expect_;
  const test_case& what_;
  const std::optional<error>& refused_;
  case_result& out_;
};

std::string story_words(const virtual_run& run, const story_entry& entry) {
  const auto& event = *entry.event;
  const auto& record = run.record(entry.task);
  std::optional<std::uint32_t> item;
  if (entry.task != 0) item = record.parent().item() - 1;
  std::string out = event_word(event.kind());
  if (event.step() == 0 && item) out += " " + record.id();
  if (event.step() > 0) {
    const auto& path = record.steps(static_cast<int>(event.step()) - 1).path();
    out += " " + path + (item ? "[" + std::to_string(*item) + "]" : "");
    if (event.attempt() > 0) {
      if (event.direction() != v1::DIRECTION_PERFORM) out += std::string{", "} + direction_word(event.direction());
      out += " attempt " + std::to_string(event.attempt());
    }
    if (event.kind() == v1::EVENT_KIND_STEP_STARTED) {
      const auto& all = run.attempts();
      const auto found = std::find_if(all.begin(), all.end(), [&](const rehearsed_attempt& one) {
        return one.step == path && one.item == item && one.direction == event.direction() && one.attempt == event.attempt();
      });
      if (found != all.end())
        out += ": " + (found->agent.empty() ? "workflow " : found->agent + ".") + found->call + " " + shown(found->input);
    }
  }
  if (!event.detail().empty()) out += ": " + event.detail();
  if (out.ends_with(": ")) out.resize(out.size() - 2);  // a fault without a message
  if (!event.who().empty() && event.who() != "test") out += " (by " + event.who() + ")";
  return out;
}

/// What the events of an item's step do not say already.
bool is_worth_telling(const story_entry& one) {
  if (one.task == 0 || !one.event) return true;
  const auto kind = one.event->kind();
  return kind != v1::EVENT_KIND_TASK_SUBMITTED && kind != v1::EVENT_KIND_TASK_STARTED && kind != v1::EVENT_KIND_TASK_COMPLETED;
}

/// Of a long story the beginning and the end.
void tell(const virtual_run& run, case_result& out) {
  std::vector<story_entry> all;
  std::copy_if(run.story().begin(), run.story().end(), std::back_inserter(all), is_worth_telling);
  const auto left_out = all.size() > most_told ? all.size() - most_told : 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (left_out != 0 && i == most_told / 2) {
      out.story.emplace_back(all[i].at_ms, "… (" + std::to_string(left_out) + " events are left out)");
      i += left_out;
    }
    out.story.emplace_back(all[i].at_ms, all[i].event ? story_words(run, all[i]) : all[i].words);
  }
}

/// Of an answer of an item that the step's list does not have: that.
std::optional<std::pair<std::string, std::string>> beyond_list_of(const virtual_run& run, const answer_script& script) {
  if (!script.item) return std::nullopt;
  for (const auto& step : run.record().steps())
    if (step.path() == script.step && (step.has_items() || step.state() == v1::STEP_STATE_COMPLETED) &&
        *script.item >= step.items().count())
      return beyond_list({script.step, script.item}, step.items().count());
  return std::nullopt;
}

void judge_unused(const virtual_run& run, const scripted_agents& agents, case_result& out) {
  for (const auto& one : agents.unused()) {
    if (const auto beyond = beyond_list_of(run, *one.script)) {
      out.failures.push_back({one.script->at, "agents." + one.script->key, beyond->first, beyond->second});
      continue;
    }
    const auto all = one.script->size();
    const auto sentence = one.given == 0 ? "nothing asked for this answer"
                                         : std::to_string(one.given) + " of its " + std::to_string(all) + " answers were asked for";
    const auto begun =
        one.given == 0 ? "no child has begun" : std::to_string(one.given) + " of its " + std::to_string(all) + " children have begun";
    out.failures.push_back(
        {one.script->at, "agents." + one.script->key, one.script->children.empty() ? sentence : begun, "remove what is not given"});
  }
}

}  // namespace

case_result run_case(const test_file& of, const test_case& what, const std::shared_ptr<const core::workflow>& definition,
                     const virtual_run::evaluator& evaluate) {
  case_result out;
  out.name = what.name;
  out.at = what.at;
  scripted_agents agents{of, what};
  run_settings settings;
  settings.start_unix_ms = what.start_unix_ms;
  settings.stop_at_ms = what.stop_at_ms;
  virtual_run run{definition, agents, evaluate, settings};
  for (const auto& one : what.actions) run.plan(one.at_ms, one.action, one.item);
  rehearsed_task task;
  task.id = what.id;
  task.input = what.input;
  task.labels = what.labels;
  task.priority = what.priority;
  std::optional<error> refused;
  if (const auto submitted = run.submit(std::move(task)); !submitted.ok()) refused = submitted.failure();
  const auto done = refused ? status{nothing{}} : run.run();
  out.took_ms = run.took_ms();
  tell(run, out);
  if (!done.ok()) {
    out.failures.push_back({what.at, "", done.failure().sentence, done.failure().remedy});
    return out;
  }
  out.end = refused ? refused_word : run.state_word();
  judge{run, what, refused, out}.run();
  judge_unused(run, agents, out);
  return out;
}

}  // namespace fairlead::app
