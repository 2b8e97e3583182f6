#include "app/json/submission.hpp"

#include <set>
#include <vector>

#include "actors/core/text/json.hpp"
#include "actors/replies/outbox.hpp"
#include "app/json/fields.hpp"
#include "messages/ids.hpp"

namespace fairlead::app {

namespace {

status read_labels(std::string_view value, google::protobuf::RepeatedPtrField<v1::Label>& out, std::string& pointer) {
  if (value.front() != '{')
    return invalid("Field 'labels' must be an object of strings, " + found_kind(value), "Give an object: {\"KEY\": \"VALUE\"}.");
  std::set<std::string> seen;
  const auto base = pointer;
  return for_each_json_member(value, [&](const std::string& name, std::string_view text) -> status {
    pointer = base + "/" + pointer_part(name);
    if (text.front() != '"') return invalid("Label '" + name + "' must be a string, " + found_kind(text), give_text);
    if (!seen.insert(name).second) return invalid("Label '" + name + "' is given twice", "Give it once.");
    auto* label = out.Add();
    label->set_key(name);
    label->set_value(core::decode_json_string(text));
    return nothing{};
  });
}

status read_reply(std::string_view value, v1::Submission& out, std::string& pointer) {
  if (value.front() != '{')
    return invalid("Field 'reply' must be an object, " + found_kind(value), "Write {\"client\": NAME} or {\"webhook\": URL}");
  auto& reply = *out.mutable_reply();
  bool steps = false;
  const auto base = pointer;
  if (auto read = read_json_object(
          value, "Field 'reply'",
          {{"client", text_into(*reply.mutable_client())}, {"webhook", text_into(*reply.mutable_webhook())}, {"steps", flag_into(steps)}},
          pointer, " of 'reply'");
      !read)
    return read;
  reply.set_steps(steps);
  pointer = base;
  if (auto problem = check_reply_address(reply)) return invalid("Field 'reply': " + problem->sentence, problem->remedy);
  return nothing{};
}

status read_id(std::string_view value, v1::Submission& out, std::string& pointer) {
  if (auto read = text_into(*out.mutable_id())("Field 'id'", value, pointer); !read) return read;
  if (valid_task_id(out.id())) return nothing{};
  return invalid("Field 'id' is not a task id", "An id has 1 to 256 characters of A-Z a-z 0-9 . _ : @ / -");
}

/// `pointer`: of the object, and then of what is wrong in it.
result<v1::Submission> read_submission(std::string_view text, const std::string& what, bool with_workflow, std::string& pointer) {
  v1::Submission out;
  std::string input;
  std::int32_t priority = 0;
  std::int64_t start_at_unix_ms = 0, delay_ms = 0;
  std::vector<json_field> fields{
      {"id", [&](const std::string&, std::string_view value, std::string& at) { return read_id(value, out, at); }},
      {"input", json_into(input)},
      {"labels", labels_into(*out.mutable_labels())},
      {"priority", number_into(priority)},
      {"reply", [&](const std::string&, std::string_view value, std::string& at) { return read_reply(value, out, at); }},
      {"start_at", moment_into(start_at_unix_ms)},
      {"delay", duration_into(delay_ms, 1)},
  };
  if (with_workflow) fields.insert(fields.begin(), {"workflow", text_into(*out.mutable_workflow()), true});
  const auto base = pointer;
  if (auto read = read_json_object(text, what, fields, pointer); !read) return read.failure();
  if (start_at_unix_ms != 0 && delay_ms != 0) {
    pointer = base + "/delay";
    return invalid("Fields 'start_at' and 'delay' are both given", "Give one of the two");
  }
  out.set_input(std::move(input));
  out.set_priority(priority);
  out.set_start_at_unix_ms(start_at_unix_ms);
  out.set_delay_ms(delay_ms);
  return out;
}

}  // namespace

json_taker labels_into(google::protobuf::RepeatedPtrField<v1::Label>& out) {
  return [&out](const std::string&, std::string_view value, std::string& at) { return read_labels(value, out, at); };
}

result<v1::Submission> parse_batch_line(std::string_view line) {
  std::string pointer;
  return read_submission(line, "The line", false, pointer);
}

result<v1::Submission> parse_submission(std::string_view body, std::string& pointer) {
  return read_submission(body, "The body", true, pointer);
}

bool blank_line(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace fairlead::app
