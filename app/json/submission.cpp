#include "app/json/submission.hpp"

#include <charconv>
#include <functional>
#include <set>

#include "actors/core/text/json.hpp"
#include "actors/replies/outbox.hpp"
#include "app/json/times.hpp"
#include "messages/ids.hpp"

namespace fairlead::app {

namespace {

constexpr const char* fields_of_a_task = "id, input, labels, priority, reply, start_at and delay, all optional";

error bad(const std::string& sentence, const std::string& remedy = {}) { return {v1::ERROR_CODE_INVALID_ARGUMENT, sentence, remedy}; }

/// The end of the JSON value that begins at `at`. `text` must be valid JSON.
std::size_t value_end(std::string_view text, std::size_t at) {
  int depth = 0;
  const char* end = text.data() + text.size();
  while (at < text.size()) {
    switch (text[at]) {
      case '"': at = static_cast<std::size_t>(core::skip_json_string(text.data() + at, end) - text.data()); continue;
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']':
        if (depth == 0) return at;
        --depth;
        break;
      case ',':
        if (depth == 0) return at;
        break;
      default: break;
    }
    ++at;
  }
  return at;
}

using member_visitor = std::function<status(const std::string& name, std::string_view value)>;

/// Visits the members of a valid JSON object in order, including duplicates.
status for_each_member(std::string_view object, const member_visitor& visit) {
  std::size_t at = object.find('{') + 1;
  for (;;) {
    at = object.find_first_of("\"}", at);
    if (at == std::string_view::npos || object[at] == '}') return nothing{};
    auto name_end = static_cast<std::size_t>(core::skip_json_string(object.data() + at, object.data() + object.size()) - object.data());
    auto name = core::decode_json_string(object.substr(at, name_end - at));
    auto begin = object.find(':', name_end) + 1;
    auto end = value_end(object, begin);
    if (auto visited = visit(name, core::trim_json(object.substr(begin, end - begin))); !visited) return visited;
    if (end >= object.size() || object[end] == '}') return nothing{};
    at = end + 1;
  }
}

std::string kind_of(std::string_view value) { return std::string{"found "} + core::json_kind(value); }

/// As a part of a JSON pointer (RFC 6901).
std::string pointer_part(const std::string& name) {
  std::string out;
  for (const char c : name) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return out;
}

status read_labels(std::string_view value, v1::Submission& out, std::string& pointer) {
  if (value.front() != '{') return bad("Field 'labels' must be an object of strings, " + kind_of(value));
  std::set<std::string> seen;
  return for_each_member(value, [&](const std::string& name, std::string_view text) -> status {
    pointer = "/labels/" + pointer_part(name);
    if (text.front() != '"') return bad("Label '" + name + "' must be a string, " + kind_of(text));
    if (!seen.insert(name).second) return bad("Label '" + name + "' is given twice");
    auto* label = out.add_labels();
    label->set_key(name);
    label->set_value(core::decode_json_string(text));
    return nothing{};
  });
}

status read_priority(std::string_view value, v1::Submission& out) {
  std::int32_t priority = 0;
  auto read = std::from_chars(value.data(), value.data() + value.size(), priority);
  if (read.ec != std::errc{} || read.ptr != value.data() + value.size()) return bad("Field 'priority' must be a whole number of 32 bits");
  out.set_priority(priority);
  return nothing{};
}

status read_reply(std::string_view value, v1::Submission& out, std::string& pointer) {
  if (value.front() != '{')
    return bad("Field 'reply' must be an object, " + kind_of(value), "Write {\"client\": NAME} or {\"webhook\": URL}");
  std::set<std::string> seen;
  auto& reply = *out.mutable_reply();
  auto read = for_each_member(value, [&](const std::string& name, std::string_view part) -> status {
    pointer = "/reply/" + pointer_part(name);
    if (!seen.insert(name).second) return bad("Field '" + name + "' of 'reply' is given twice");
    if (name == "steps") {
      if (part != "true" && part != "false") return bad("Field 'steps' of 'reply' must be true or false, " + kind_of(part));
      reply.set_steps(part == "true");
    } else if (name == "client" || name == "webhook") {
      if (part.front() != '"') return bad("Field '" + name + "' of 'reply' must be a string, " + kind_of(part));
      (name == "client" ? reply.mutable_client() : reply.mutable_webhook())->assign(core::decode_json_string(part));
    } else {
      return bad("Unknown field '" + name + "' of 'reply'", "'reply' has the fields client or webhook, and steps");
    }
    return nothing{};
  });
  if (!read) return read;
  pointer = "/reply";
  if (auto problem = check_reply_address(reply)) return bad("Field 'reply': " + problem->sentence, problem->remedy);
  return nothing{};
}

status read_start_field(const std::string& name, std::string_view value, v1::Submission& out) {
  if (value.front() != '"') return bad("Field '" + name + "' must be a string, " + kind_of(value));
  const auto text = core::decode_json_string(value);
  if (out.start_at_unix_ms() != 0 || out.delay_ms() != 0) return bad("Fields 'start_at' and 'delay' are both given", "Give one of the two");
  const auto read = name == "delay" ? read_duration("field 'delay'", text, 1) : read_start("field 'start_at'", text);
  if (!read) return read.failure();
  name == "delay" ? out.set_delay_ms(*read) : out.set_start_at_unix_ms(*read);
  return nothing{};
}

status read_text(const std::string& name, std::string_view value, std::string& out) {
  if (value.front() != '"') return bad("Field '" + name + "' must be a string, " + kind_of(value));
  out = core::decode_json_string(value);
  return nothing{};
}

status read_field(const std::string& name, std::string_view value, bool with_workflow, v1::Submission& out, std::string& pointer) {
  if (name == "input") {
    out.set_input(std::string{value});
    return nothing{};
  }
  if (name == "labels") return read_labels(value, out, pointer);
  if (name == "priority") return read_priority(value, out);
  if (name == "reply") return read_reply(value, out, pointer);
  if (name == "start_at" || name == "delay") return read_start_field(name, value, out);
  if (name == "id") {
    if (auto read = read_text(name, value, *out.mutable_id()); !read) return read;
    if (valid_task_id(out.id())) return nothing{};
    return bad("Field 'id' is not a task id", "An id has 1 to 256 characters of A-Z a-z 0-9 . _ : @ / -");
  }
  if (with_workflow && name == "workflow") return read_text(name, value, *out.mutable_workflow());
  return bad("Unknown field '" + name + "'");
}

result<v1::Submission> read_submission(std::string_view text, const std::string& what, bool with_workflow, std::string& pointer) {
  const auto expected = what + " is one JSON object with " + (with_workflow ? "workflow, and " : "") + fields_of_a_task;
  const auto refused = [&](error why) {
    if (why.remedy.empty()) why.remedy = expected;
    return why;
  };
  pointer.clear();
  if (auto checked = core::check_json(text); !checked) return refused(bad(what + " is not JSON: " + checked.failure().sentence));
  const auto object = core::trim_json(text);
  if (object.front() != '{') return refused(bad(what + " must be a JSON object, " + kind_of(object)));
  v1::Submission out;
  std::set<std::string> seen;
  auto read = for_each_member(object, [&](const std::string& name, std::string_view value) -> status {
    pointer = "/" + pointer_part(name);
    if (!seen.insert(name).second) return bad("Field '" + name + "' is given twice");
    return read_field(name, value, with_workflow, out, pointer);
  });
  if (!read) return refused(read.failure());
  pointer.clear();
  return out;
}

}  // namespace

result<v1::Submission> parse_batch_line(std::string_view line) {
  std::string pointer;
  return read_submission(line, "The line", false, pointer);
}

result<v1::Submission> parse_submission(std::string_view body, std::string& pointer) {
  return read_submission(body, "The body", true, pointer);
}

bool blank_line(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace fairlead::app
