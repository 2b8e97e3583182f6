// Keys as text, for error sentences and the findings of a check.

#include "messages/holds.hpp"
#include "store/content_hash.hpp"
#include "store/keys.hpp"

namespace fairlead::store::keys {

namespace {

std::string of_task(std::uint64_t number) { return " of task " + std::to_string(number); }

std::string of_job(std::string_view name) { return " of job `" + std::string(name) + "`"; }

std::string readable(table where, std::string_view key) {
  switch (where) {
    case table::meta:
      if (auto k = decode_meta(key)) return std::string(*k);
      break;
    case table::task:
      if (auto k = decode_task(key)) return std::to_string(k->number);
      break;
    case table::task_id:
      if (auto k = decode_task_id(key)) return "`" + std::string(k->name) + "`";
      break;
    case table::due:
      if (auto k = decode_due(key)) return std::to_string(k->due_unix_ms) + of_task(k->number);
      break;
    case table::pending:
      if (auto k = decode_pending(key)) return std::to_string(k->order) + of_task(k->number);
      break;
    case table::held:
      if (auto k = decode_held(key))
        for (const auto& one : holds)
          if (held_why{one.index} == k->why) return one.word + of_task(k->number);
      break;
    case table::finished:
      if (auto k = decode_finished(key)) return std::to_string(k->finished_at_unix_ms) + of_task(k->number);
      break;
    case table::by_workflow:
      if (auto k = decode_by_workflow(key)) return "`" + std::string(k->workflow) + "`" + of_task(k->number);
      break;
    case table::by_label:
      if (auto k = decode_by_label(key)) return "`" + std::string(k->key) + "=" + std::string(k->value) + "`" + of_task(k->number);
      break;
    case table::history:
      if (auto k = decode_history(key)) return "chunk " + std::to_string(k->chunk) + of_task(k->number);
      break;
    case table::payload:
      if (auto k = decode_payload(key)) return "slot " + std::to_string(k->slot) + of_task(k->number);
      break;
    case table::workflow:
      if (auto k = decode_workflow(key)) return "`" + std::string(k->name) + "`";
      break;
    case table::service:
      if (auto k = decode_service(key)) return "`" + std::string(k->name) + "`";
      break;
    case table::workflow_version:
      if (auto k = decode_workflow_version(key)) return "`" + std::string(k->name) + "` " + to_hex(k->hash);
      break;
    case table::alert:
    case table::unresolved_alert:
      if (auto k = decode_alert(key)) return std::to_string(k->number);
      break;
    case table::outbox:
      if (auto k = decode_outbox(key)) return "event " + std::to_string(k->position) + " for address " + to_hex(k->address);
      break;
    case table::reply_address:
      if (auto k = decode_reply_address(key)) return to_hex(k->address);
      break;
    case table::job:
      if (auto k = decode_job(key)) return "`" + std::string(k->name) + "`";
      break;
    case table::job_due:
      if (auto k = decode_job_due(key)) return std::to_string(k->due_unix_ms) + of_job(k->name);
      break;
    case table::launch:
      if (auto k = decode_launch(key)) return std::to_string(k->nominal_unix_ms) + of_job(k->job);
      break;
    case table::launch_ready:
      if (auto k = decode_launch_ready(key)) {
        return std::string(k->what == ready_for::room ? "for room, " : "for agents, ") + std::to_string(k->nominal_unix_ms) +
               of_job(k->job);
      }
      break;
  }
  return {};
}

}  // namespace

bool decodes(table where, std::string_view key) { return !readable(where, key).empty(); }

std::string describe(table where, std::string_view key) {
  auto text = readable(where, key);
  return std::string(table_name(where)) + " " + (text.empty() ? "0x" + to_hex(key) : text);
}

}  // namespace fairlead::store::keys
