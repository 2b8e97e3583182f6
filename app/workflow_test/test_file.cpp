#include "app/workflow_test/test_file.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "actors/core/text/nearest.hpp"
#include "app/workflow_test/answers.hpp"
#include "app/workflow_test/expectations.hpp"
#include "app/yaml/labels.hpp"
#include "app/yaml/reader.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

constexpr const char* default_start = "2026-01-01T00:00:00Z";

const std::vector<std::pair<std::string, v1::OperatorVerb>> operator_words{
    {"cancel", v1::OPERATOR_VERB_CANCEL}, {"retry", v1::OPERATOR_VERB_RETRY},   {"settle", v1::OPERATOR_VERB_SETTLE_COMPLETED},
    {"skip", v1::OPERATOR_VERB_SKIP},     {"undo", v1::OPERATOR_VERB_UNDO},     {"terminate", v1::OPERATOR_VERB_TERMINATE},
    {"pause", v1::OPERATOR_VERB_PAUSE},   {"resume", v1::OPERATOR_VERB_RESUME},
};

class test_reader {
 public:
  test_reader(test_file& out, yaml_document& document) : out_(out), document_(document) {}

  void run() {
    const auto root = yaml_node::root(document_);
    yaml_section section{root};
    const auto of = section.require("test", "the workflow file to test, such as order.yaml");
    if (of) read_workflow_of(*of);
    // Without the workflow nothing in the cases can be checked, and what is asked for is known all the same.
    const auto start = section.find("clock");
    if (start) read_start(*start, defaults_.start_unix_ms);
    if (const auto input = section.find("input"))
      if (const auto json = input->json()) defaults_.input = *json;
    const auto agents = section.find("agents");
    const auto cases = section.require("cases", "a list of cases, each with a name and what is expected");
    section.finish();
    if (!names_) return;
    if (agents) out_.agents = read_answers(*agents, *names_);
    if (!cases) return;
    const auto all = cases->items();
    if (cases->is_list() && all.empty()) cases->complain("the list is empty", "give at least one case");
    for (const auto& item : all) read_case(item);
  }

 private:
  void read_workflow_of(const yaml_node& node) {
    const auto path = node.text();
    if (!path) return;
    const auto whole = std::filesystem::path{out_.file}.parent_path() / *path;
    out_.workflow = read_workflow(whole.lexically_normal().string(), nullptr);
    if (!out_.workflow.problems.empty()) {
      if (out_.workflow.source.empty()) node.complain("the workflow file cannot be read", "its path counts from the folder of this file");
      return;
    }
    names_.emplace(out_.workflow.definition);
  }

  static void read_start(const yaml_node& node, std::int64_t& out) {
    const auto text = node.text();
    if (text && !parse_utc(*text, out)) node.expected("a time such as 2026-12-24T18:00:00Z");
  }

  void read_case(const yaml_node& node) {
    auto one = defaults_;
    one.at = {node.line(), node.column()};
    yaml_section section{node};
    if (const auto name = section.require("name", "the name of the case"))
      if (const auto text = name->text()) {
        one.name = *text;
        if (!case_names_.insert(*text).second) name->complain("another case has this name", "give each case a name of its own");
      }
    if (const auto id = section.find("id"))
      if (const auto text = id->text()) one.id = *text;
    section.json("input", one.input);
    if (const auto labels = section.find("labels")) one.labels = read_labels(*labels);
    section.integer("priority", one.priority, -1000, 1000);
    if (const auto start = section.find("clock")) read_start(*start, one.start_unix_ms);
    section.duration_ms("stop_at", one.stop_at_ms, 1, longest_in_tests_ms);
    if (const auto agents = section.find("agents")) one.agents = read_answers(*agents, *names_);
    if (const auto actions = section.find("events"))
      for (const auto& item : actions->items()) read_action(item, one);
    if (const auto expect = section.require("expect", "what is expected, such as { end: completed }"))
      one.expect = read_expectation(*expect, *names_);
    section.finish();
    out_.cases.push_back(std::move(one));
  }

  void read_action(const yaml_node& node, test_case& of) {
    test_action out;
    out.at = {node.line(), node.column()};
    yaml_section section{node};
    if (section.require("at", "the time since the submission, such as 3s")) section.duration_ms("at", out.at_ms, 0, longest_in_tests_ms);
    const auto signal = section.find("signal");
    const auto does = section.find("operator");
    if (signal.has_value() == does.has_value())
      node.complain("expected either a signal or what an operator does", "{ at: 3s, signal: NAME }, or { at: 3s, operator: cancel }");
    out.action.set_who("test");
    if (signal) read_signal(section, *signal, out.action);
    if (does) read_operator(section, out);
    section.boolean("refused", out.refused);
    if (const auto why = section.find("reason"))
      if (const auto text = why->text()) out.action.set_reason(*text);
    section.finish();
    of.actions.push_back(std::move(out));
  }

  void read_signal(yaml_section& section, const yaml_node& signal, v1::OperatorAction& out) {
    out.set_verb(v1::OPERATOR_VERB_SIGNAL);
    if (const auto name = signal.text()) {
      out.set_signal(*name);
      names_->check_signal(signal, *name);
    }
    std::string data;
    if (section.json("data", data)) out.set_json(data);
  }

  void read_step_of(const yaml_node& step, const std::string& name, test_action& to) {
    const auto found = names_->step_or_item_of(step, name);
    if (!found) return;
    to.item = found->item;
    // The undo of an item is that of its task.
    if (to.action.verb() != v1::OPERATOR_VERB_UNDO || to.item) to.action.set_step(found->step);
    if (to.item && names_->step(found->step)->kind() == v1::STEP_KIND_WORKFLOW)
      step.complain("what becomes of the task of an item with a sub-workflow is said below agents",
                    "remove this event, and say it below " + name + ", such as { parked: REASON, resumed_after: 1h }");
    if (to.action.verb() == v1::OPERATOR_VERB_UNDO && !to.item)
      step.complain("a task is undone as a whole", "remove step, or name an item, such as STEP[0]");
  }

  void read_operator(yaml_section& section, test_action& to) {
    auto& out = to.action;
    v1::OperatorVerb verb{};
    if (!section.word("operator", verb, operator_words)) return;
    out.set_verb(verb);
    const auto needs_step = verb == v1::OPERATOR_VERB_SKIP || verb == v1::OPERATOR_VERB_SETTLE_COMPLETED;
    if (needs_step || verb == v1::OPERATOR_VERB_RETRY || verb == v1::OPERATOR_VERB_UNDO) {
      const auto step = needs_step ? section.require("step", "the name of a step") : section.find("step");
      if (step)
        if (const auto name = step->text()) read_step_of(*step, *name, to);
    }
    std::string json;
    if (verb == v1::OPERATOR_VERB_RETRY && section.json("input", json)) out.set_json(json);
    if (verb == v1::OPERATOR_VERB_TERMINATE) {
      bool now = false;
      if (section.boolean("now", now)) out.set_at_once(now);
    }
    if (verb == v1::OPERATOR_VERB_SETTLE_COMPLETED) read_settle(section, out);
  }

  static void read_settle(yaml_section& section, v1::OperatorAction& out) {
    std::string json;
    bool never = false;
    const auto completed = section.json("completed", json);
    section.boolean("never_happened", never);
    if (completed == never)
      section.node().complain("expected what has become of the step", "add completed: with its output, or never_happened: true");
    if (completed) out.set_json(json);
    if (never) out.set_verb(v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED);
  }

  test_file& out_;
  yaml_document& document_;
  std::optional<workflow_names> names_;
  test_case defaults_ = [] {
    test_case out;
    parse_utc(default_start, out.start_unix_ms);
    return out;
  }();
  std::set<std::string> case_names_;
};

}  // namespace

test_file parse_test_file(const std::string& file, const std::string& text) {
  test_file out;
  out.file = file;
  auto document = parse_yaml(file, text);
  if (document.root) test_reader{out, document}.run();
  out.problems = std::move(document.problems);
  std::stable_sort(out.problems.begin(), out.problems.end(),
                   [](const problem& a, const problem& b) { return std::tie(a.line, a.column) < std::tie(b.line, b.column); });
  out.problems.insert(out.problems.end(), out.workflow.problems.begin(), out.workflow.problems.end());
  return out;
}

test_file read_test_file(const std::string& path) {
  std::vector<problem> problems;
  if (const auto text = read_text_file(path, problems)) return parse_test_file(path, *text);
  test_file out;
  out.file = path;
  out.problems = std::move(problems);
  return out;
}

}  // namespace fairlead::app
