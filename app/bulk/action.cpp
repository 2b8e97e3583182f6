#include "app/bulk/action.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <unordered_set>

#include "actors/core/request_limits.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"
#include "app/files/workflow_file.hpp"
#include "app/json/node/task_action.hpp"
#include "app/json/node/task_filters.hpp"
#include "app/json/submission.hpp"
#include "app/json/words.hpp"
#include "app/json/writer.hpp"
#include "messages/task_states.hpp"
#include "store/content_hash.hpp"

namespace fairlead::app::bulk {

namespace {

constexpr std::int64_t confirmation_ms = 3'600'000;

/// `heartbeat`: an operation whose node has died is gone on with elsewhere after so long.
constexpr const char* source_of_workflow = R"(# The actions on many tasks. Made by Fairlead; another text is replaced by this one.
workflow: fairlead-operation
on_failure: park
steps:
  act:
    agent: fairlead.operations
    call: act
    timeout: 30d
    heartbeat: 8s
    retry_for: 30d
    backoff: { first: 1s, factor: 2, max: 30s }
    undo: none
)";

/// `{"state": […], "workflow": …}`: the conditions of a list of tasks. At least one.
status read_filter(std::string_view json, v1::TaskListRequest& out, std::string& pointer) {
  if (json.front() != '{')
    return invalid("Field 'filter' must be an object, " + found_kind(json), "Give an object of conditions, such as {\"parked\": true}.");
  std::vector<std::string> states;
  const auto base = pointer;
  std::vector<json_field> fields{{"state", texts_into(states, max_filter_states)}, {"labels", labels_into(*out.mutable_labels())}};
  for (const auto& one : task_texts)
    fields.push_back({one.name, [&out, one](const std::string& field, std::string_view value, std::string& at) -> status {
                        auto& text = *(out.*one.of)();
                        if (auto read = text_into(text)(field, value, at); !read) return read;
                        if (text.empty()) return invalid(field + " is empty", "Give a value, or leave it out.");
                        return nothing{};
                      }});
  for (const auto& one : task_flags)
    fields.push_back({one.name, [&out, one](const std::string& field, std::string_view value, std::string& at) {
                        bool on = false;
                        auto read = flag_into(on)(field, value, at);
                        (out.*one.set)(on);
                        return read;
                      }});
  for (const auto& one : task_times)
    fields.push_back({one.name, [&out, one](const std::string& field, std::string_view value, std::string& at) {
                        std::int64_t ms = 0;
                        auto read = (one.is_moment ? moment_into(ms) : duration_into(ms, 1))(field, value, at);
                        (out.*one.set)(ms);
                        return read;
                      }});
  if (auto read = read_json_object(json, "Field 'filter'", fields, pointer, " of 'filter'"); !read) return read;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto state = task_state_from_word(states[i]);
    pointer = base + "/state/" + std::to_string(i);
    if (!state) return invalid("There is no state '" + states[i] + "'.", "States are " + task_state_words() + ".");
    out.add_states(*state);
  }
  pointer = base;
  if (out.labels_size() > max_filter_labels) return too_many_filters();
  if (out.archived() && out.ended_since_unix_ms() != 0)
    return invalid("Fields 'archived' and 'ended_since' of 'filter' are both given.", "Give one of the two.");
  if (auto why = misfit_of_parents(out, "Field 'parent' of 'filter'", "'top_level'")) {
    pointer = base + "/parent";
    return *why;
  }
  auto besides = out;
  besides.clear_top_level();
  if (out.top_level() && besides.ByteSizeLong() == 0)
    return invalid("Field 'filter' has no condition but 'top_level'.", "Give another one, too: no action is meant for all tasks.");
  if (out.ByteSizeLong() == 0) return invalid("Field 'filter' has no condition.", "Give at least one: no action is meant for all tasks.");
  return nothing{};
}

std::string seal_of(std::string_view input) { return store::to_hex(store::content_hash(input).substr(0, 12)); }

/// What a confirmation is bound to, part by part, in the words of a refusal.
struct bound_part {
  const char* another;
  std::string text;
};
std::vector<bound_part> bound_parts_of(const action& one) {
  auto what = one.what;
  what.clear_reason();
  what.clear_who();
  auto tasks = one.filter;
  for (const auto& id : one.ids) tasks += id + "\n";
  return {{"another verb, step, output, now or version", what.SerializeAsString()},
          {one.ids.empty() ? "another filter" : "other ids", std::move(tasks)},
          {"another reason", one.what.reason()},
          {"another rate", std::to_string(one.rate)},
          {"another client", one.what.who()}};
}

constexpr std::size_t mark_size = 4;
std::string mark_of(const bound_part& one) { return store::to_hex(store::content_hash(one.text).substr(0, mark_size / 2)); }

/// `given for another rate`; empty: the marks are those of the action.
std::string difference(std::string_view marks, const action& one) {
  const auto parts = bound_parts_of(one);
  std::string out;
  if (marks.size() != parts.size() * mark_size) return out;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (marks.substr(i * mark_size, mark_size) != mark_of(parts[i]))
      out += (out.empty() ? "given for " : " and ") + std::string{parts[i].another};
  return out;
}

/// The number in front of the next dot, which is taken away, too.
template <class Number>
bool take_part(std::string_view& text, Number& out) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return false;
  const auto read = std::from_chars(text.data(), text.data() + dot, out);
  const auto sound = read.ec == std::errc{} && read.ptr == text.data() + dot;
  text.remove_prefix(dot + 1);
  return sound;
}

}  // namespace

result<action> read_action(std::string_view json, const std::vector<json_field>& more, std::string& pointer) {
  action out;
  asked_action asked;
  auto fields = asked.fields();
  fields.push_back({"filter", [&out](const std::string&, std::string_view value, std::string& at) {
                      out.filter = core::minify_json(value);
                      return read_filter(value, out.which, at);
                    }});
  fields.push_back({"ids", texts_into(out.ids, max_request_items)});
  fields.push_back({"rate", number_into(out.rate)});
  fields.insert(fields.end(), more.begin(), more.end());
  if (auto read = read_json_object(json, "The body", fields, pointer); !read) return read.failure();
  auto what = asked.read(pointer);
  if (!what) return what.failure();
  out.what = std::move(*what);
  // One that is named twice is one task: its operator confirms how many there are.
  std::unordered_set<std::string> seen;
  std::erase_if(out.ids, [&seen](const std::string& id) { return !seen.insert(id).second; });
  // White space is no part of it, whichever way it comes.
  if (out.what.has_json()) out.what.set_json(core::minify_json(out.what.json()));
  if (out.filter.empty() == out.ids.empty()) {
    pointer = "/filter";
    return invalid(out.filter.empty() ? "The body has neither 'filter' nor 'ids'." : "The body has both 'filter' and 'ids'.",
                   "Say which tasks are meant, in one of the two ways.");
  }
  if (out.rate < 1 || out.rate > max_rate) {
    pointer = "/rate";
    return invalid("Field 'rate' is not between 1 and " + std::to_string(max_rate) + ".", "Give the number of tasks a second.");
  }
  if (!asked.input.empty()) {
    pointer = "/input";
    return invalid("Field 'input' is only for an action on one task.", "Leave it out.");
  }
  return out;
}

std::string input_of(const action& one) {
  json_writer out;
  out.begin_object().key("verb").string(core::verb_word(v1::OperatorVerb_Name(one.what.verb())));
  if (!one.what.step().empty()) out.key("step").string(one.what.step());
  if (one.what.has_json()) out.key("output").raw(one.what.json());
  if (one.what.at_once()) out.key("now").boolean(true);
  if (!one.what.from_hash().empty()) out.key("from").string(store::to_hex(one.what.from_hash()));
  if (!one.what.to_hash().empty()) out.key("to").string(store::to_hex(one.what.to_hash()));
  if (!one.what.reason().empty()) out.key("reason").string(one.what.reason());
  if (!one.filter.empty()) out.key("filter").raw(one.filter);
  if (!one.ids.empty()) {
    out.key("ids").begin_array();
    for (const auto& id : one.ids) out.string(id);
    out.end_array();
  }
  out.key("rate").number(one.rate).key("by").string(one.what.who());
  return out.key("as_of_unix_ms").number(one.as_of_unix_ms).key("count").number(one.count).end_object().text();
}

result<action> action_of_input(std::string_view json) {
  std::string pointer, who;
  std::int64_t as_of = 0;
  std::uint64_t count = 0;
  auto out = read_action(
      json, {{"by", text_into(who), true}, {"as_of_unix_ms", number_into(as_of), true}, {"count", number_into(count), true}}, pointer);
  if (!out) return out.failure();
  out->what.set_who(who);
  out->as_of_unix_ms = as_of;
  out->count = count;
  return out;
}

std::string confirmation_of(const action& one) {
  std::string marks;
  for (const auto& part : bound_parts_of(one)) marks += mark_of(part);
  return std::to_string(one.count) + "." + std::to_string(one.as_of_unix_ms) + "." + marks + "." + seal_of(input_of(one));
}

result<std::string> take_confirmation(const std::string& text, std::int64_t now_unix_ms, action& one) {
  std::string_view left = text;
  const auto wrong = [](const std::string& why) {
    return invalid("The confirmation is not one of this action" + (why.empty() ? "." : ": it was " + why + "."),
                   "Ask for a dry run of exactly this action, and send its `confirm`.");
  };
  if (!take_part(left, one.count) || !take_part(left, one.as_of_unix_ms)) return wrong("");
  const auto dot = left.find('.');
  if (dot == std::string_view::npos) return wrong("");
  auto input = input_of(one);
  if (left.substr(dot + 1) != seal_of(input)) return wrong(difference(left.substr(0, dot), one));
  if (one.as_of_unix_ms <= now_unix_ms && now_unix_ms - one.as_of_unix_ms <= confirmation_ms) return input;
  return invalid("The confirmation is older than an hour.", "Ask for another dry run, and look at what it finds.");
}

std::string id_of(std::string_view input) { return std::string{id_prefix} + seal_of(input); }

v1::DeployRequest workflow() {
  auto file = parse_workflow(workflow_name, source_of_workflow, nullptr);
  v1::DeployRequest out;
  *out.mutable_definition() = std::move(file.definition);
  out.set_source(std::move(file.source));
  out.set_by_node(true);
  return out;
}

}  // namespace fairlead::app::bulk
