#include "app/workflow_test/answers.hpp"

#include <utility>

namespace fairlead::app {

namespace {

const std::vector<std::pair<std::string, v1::FaultKind>> fault_words{
    {"transient", v1::FAULT_KIND_TRANSIENT}, {"permanent", v1::FAULT_KIND_PERMANENT}, {"in_doubt", v1::FAULT_KIND_IN_DOUBT}};
const std::vector<std::pair<std::string, v1::LookupVerdict>> verdict_words{
    {"done", v1::LOOKUP_VERDICT_DONE}, {"never_happened", v1::LOOKUP_VERDICT_NEVER_HAPPENED}, {"unknown", v1::LOOKUP_VERDICT_UNKNOWN}};

/// What the answers of a key are for.
struct asked_of {
  bool lookup = false;
  bool callback = false;  // the step awaits one
  bool child = false;     // the step begins one
  step_or_item of{};      // empty: all steps with the call
};

/// The keys `fault`, `kind`, `message` and `retry_after`.
std::optional<v1::Fault> read_fault(yaml_section& section, bool of_callback) {
  const auto code = section.find("fault");
  if (!code) return std::nullopt;
  v1::Fault out;
  if (const auto text = code->text()) out.set_code(*text);
  auto kind = v1::FAULT_KIND_PERMANENT;
  if (section.require("kind", of_callback ? "transient or permanent" : "transient, permanent or in_doubt"))
    section.word("kind", kind, fault_words);
  if (of_callback && kind == v1::FAULT_KIND_IN_DOUBT)
    section.node().complain("a callback says what has become of the work", "use kind: transient or kind: permanent");
  out.set_kind(kind);
  std::string message;
  if (section.text("message", message)) out.set_message(message);
  if (of_callback) return out;
  std::int64_t retry_after_ms = 0;
  if (section.duration_ms("retry_after", retry_after_ms, 0, longest_in_tests_ms)) out.set_retry_after_ms(retry_after_ms);
  return out;
}

rehearsed_callback read_callback(const yaml_node& node) {
  rehearsed_callback out;
  yaml_section section{node};
  section.duration_ms("after", out.after_ms, 0, longest_in_tests_ms);
  const auto has_output = section.json("output", out.output);
  out.fault = read_fault(section, true);
  if (has_output && out.fault) node.complain("a callback has an output or a fault, not both", "remove one of them");
  section.finish();
  return out;
}

rehearsed_answer read_answer(const yaml_node& node, const asked_of& what) {
  rehearsed_answer out;
  if (!node.is_map()) {
    node.expected("an answer, such as { output: { id: 7 } } or { fault: http_503, kind: transient }");
    return out;
  }
  yaml_section section{node};
  const auto has_after = section.duration_ms("after", out.after_ms, 0, longest_in_tests_ms);
  section.boolean("no_answer", out.never);
  const auto has_output = section.json("output", out.output);
  out.fault = read_fault(section, false);
  bool has_verdict = false;
  if (what.lookup) {
    has_verdict = section.word("verdict", out.verdict, verdict_words);
    if (!has_verdict && !out.fault && !out.never)
      node.complain("expected what the look-up says", "add verdict: done, never_happened or unknown");
    if (has_output && out.verdict != v1::LOOKUP_VERDICT_DONE) node.complain("only a step that is done has an output", "add verdict: done");
  } else {
    section.refuse("verdict", "only a look-up has a verdict", "use it below \"lookup of STEP\"");
  }
  if (out.never && (has_after || has_output || out.fault || has_verdict))
    node.complain("nothing is answered, and the answer is given as well", "remove no_answer, or what stands beside it");
  if (!out.never && has_output + has_verdict * !has_output + out.fault.has_value() > 1)
    node.complain("an answer has an output or a fault, not both", "remove one of them");
  if (what.callback) {
    if (const auto callback = section.find("callback")) out.callback = read_callback(*callback);
    if (out.callback && out.fault) node.complain("a step that fails is not called back for", "remove fault or callback");
  } else {
    section.refuse("callback", "no step that is answered here awaits a callback", "give the output: output");
  }
  section.finish();
  return out;
}

rehearsed_child read_child(const yaml_node& node) {
  rehearsed_child out;
  if (!node.is_map()) {
    node.expected("the end of a child, such as { output: { id: 7 } } or { undone: the parcel was lost }");
    return out;
  }
  yaml_section section{node};
  section.duration_ms("after", out.after_ms, 0, longest_in_tests_ms);
  const auto completes = section.json("output", out.output);
  const auto ends = [&](const char* key, child_end end) {
    const auto said = section.text(key, out.reason);
    if (said) out.ends = end;
    return said;
  };
  const auto fails = ends("failed", child_end::failed), is_undone = ends("undone", child_end::undone);
  if (completes + fails + is_undone > 1) node.complain("a child has one end", "keep one of output, failed and undone");
  if (fails)
    section.boolean("stands", out.stands);
  else
    section.refuse("stands", "only of a child that fails something stands", "add failed: REASON, or remove this key");
  if (std::string why; section.text("parked", why)) {
    out.parked = why;
    if (std::int64_t ms = 0; section.duration_ms("resumed_after", ms, 0, longest_in_tests_ms)) out.resumed_ms = ms;
    if (!out.resumed_ms && (completes || fails || is_undone))
      node.complain("a child that stays parked does not end", "add resumed_after, or remove its end");
  } else {
    section.refuse("resumed_after", "the child does not park", "add parked: REASON, or remove this key");
  }
  section.word("undo", out.refuses_undo, std::vector<std::pair<std::string, bool>>{{"ok", false}, {"refused", true}});
  section.finish();
  return out;
}

std::optional<asked_of> asked_by(const std::string& key, const yaml_node& node, const workflow_names& names) {
  const auto of = [&](const std::string& prefix) -> std::optional<std::string> {
    if (key.rfind(prefix, 0) != 0) return std::nullopt;
    return key.substr(prefix.size());
  };
  const auto undone = of(undo_of), looked_up = of(lookup_of);
  if (undone || looked_up) {
    const auto named = names.step_or_item_of(node, undone ? *undone : *looked_up);
    if (!named) return std::nullopt;
    const auto& step = named->step;
    const auto& definition = *names.step(step);
    if (definition.kind() != v1::STEP_KIND_CALL) {
      node.complain("step " + step + " asks no agent", undone && definition.kind() == v1::STEP_KIND_WORKFLOW
                                                           ? "say below " + step + " how its child is undone: undo: ok, or undo: refused"
                                                           : "remove this key");
      return std::nullopt;
    }
    if (undone && (!definition.has_undo() || definition.undo().none())) {
      node.complain("step " + step + " has no undo that an agent is asked for", "remove this key");
      return std::nullopt;
    }
    return asked_of{looked_up.has_value(), false, false, *named};
  }
  if (names.has_call(key)) return asked_of{false, names.has_callback(key)};
  if (const auto* step = names.step(key.substr(0, key.find('[')))) {
    const auto named = names.step_or_item_of(node, key);
    if (!named) return std::nullopt;
    if (step->kind() == v1::STEP_KIND_CALL) return asked_of{false, step->callback_ms() != 0, false, *named};
    if (step->kind() == v1::STEP_KIND_WORKFLOW) return asked_of{false, false, true, *named};
    node.complain("step " + key + " asks no agent",
                  step->kind() == v1::STEP_KIND_SIGNAL ? "give the signal below events" : "remove this key");
    return std::nullopt;
  }
  auto known = names.calls();
  known.insert(known.end(), names.steps().begin(), names.steps().end());
  node.complain("workflow " + names.definition().name() + " has no call and no step " + key, names_remedy(key, known, "calls and steps"));
  return std::nullopt;
}

}  // namespace

std::vector<answer_script> read_answers(const yaml_node& node, const workflow_names& names) {
  std::vector<answer_script> out;
  const auto entries = node.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& [key, value] = entries[i];
    const auto what = asked_by(key, at_key(node, i, value), names);
    if (!what) continue;
    auto& script = out.emplace_back();
    script.key = key;
    script.at = {value.line(), value.column()};
    script.step = what->of.step;
    script.item = what->of.item;
    const auto read = [&](const yaml_node& one) {
      if (what->child)
        script.children.push_back(read_child(one));
      else
        script.answers.push_back(read_answer(one, *what));
    };
    if (!value.is_list()) {
      read(value);
      continue;
    }
    for (const auto& item : value.items()) read(item);
    if (script.size() == 0) value.complain("the list is empty", "give at least one answer");
  }
  return out;
}

}  // namespace fairlead::app
