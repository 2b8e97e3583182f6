#include "actors/replies/message.hpp"

#include "actors/core/task/task.hpp"
#include "actors/core/text/json.hpp"
#include "messages/time.hpp"

namespace fairlead {

namespace {

void add_text(std::string& out, const char* key, const std::string& text, bool applies) {
  out += std::string{",\""} + key + "\":";
  if (applies)
    core::append_json_string(out, text);
  else
    out += "null";
}

}  // namespace

const char* status_word(v1::StatusKind kind) {
  switch (kind) {
    case v1::STATUS_KIND_RECEIVED: return "received";
    case v1::STATUS_KIND_STEP: return "step";
    case v1::STATUS_KIND_COMPLETED: return "completed";
    case v1::STATUS_KIND_UNDOING: return "undoing";
    case v1::STATUS_KIND_UNDONE: return "undone";
    case v1::STATUS_KIND_PARKED: return "parked";
    case v1::STATUS_KIND_UNPARKED: return "unparked";
    case v1::STATUS_KIND_FAILED: return "failed";
    default: return "unknown";
  }
}

std::string event_json(const v1::StatusEvent& event) {
  const bool of_step = event.kind() == v1::STATUS_KIND_STEP;
  std::string out = "{\"task\":";
  core::append_json_string(out, event.task_id());
  out += ",\"sequence\":" + std::to_string(event.sequence());
  add_text(out, "at", format_utc(event.at_unix_ms()), true);
  add_text(out, "kind", status_word(event.kind()), true);
  add_text(out, "state", core::state_word(event.state()), true);
  add_text(out, "step", event.step(), of_step);
  add_text(out, "step_state", core::state_word(event.step_state()), of_step);
  add_text(out, "reason", event.reason(), !event.reason().empty());
  return out + ",\"output\":" + (event.output().empty() ? "null" : event.output()) + "}";
}

std::string events_json(const std::string& node, const std::vector<v1::StatusEvent>& events) {
  std::string out = "{\"node\":";
  core::append_json_string(out, node);
  out += ",\"events\":[";
  for (std::size_t i = 0; i < events.size(); ++i) out += (i == 0 ? "" : ",") + event_json(events[i]);
  return out + "]}";
}

std::string receiver_name(const v1::ReplyAddress& address) {
  if (address.webhook().empty()) return "client " + address.client();
  const auto query = address.webhook().find('?');
  return "webhook " + (query == std::string::npos ? address.webhook() : address.webhook().substr(0, query) + "?...");
}

}  // namespace fairlead
