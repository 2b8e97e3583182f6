#include "app/api/work/attempts.hpp"

#include <optional>
#include <utility>

#include "actors/agent_host/heartbeats.hpp"
#include "actors/agents/http/trace.hpp"
#include "actors/core/request_limits.hpp"
#include "app/api/work/registration.hpp"
#include "app/json/words.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app::api {

namespace {

using session = agents::worker_session;

constexpr std::size_t most_code_bytes = 64;
constexpr std::size_t most_message_bytes = 1'024;
constexpr std::int64_t a_day_ms = 24LL * 3'600'000;

struct verdict_row {
  std::string_view word;
  v1::LookupVerdict verdict;
};
constexpr verdict_row verdict_rows[] = {
    {"done", v1::LOOKUP_VERDICT_DONE}, {"never_happened", v1::LOOKUP_VERDICT_NEVER_HAPPENED}, {"unknown", v1::LOOKUP_VERDICT_UNKNOWN}};

/// A text of at most so many bytes.
json_taker short_text_into(std::string& out, std::size_t most) {
  return [&out, most](const std::string& field, std::string_view value, std::string& pointer) -> status {
    if (auto read = text_into(out)(field, value, pointer); !read) return read;
    if (out.size() <= most) return nothing{};
    return invalid(field + " has " + std::to_string(out.size()) + " bytes; at most " + std::to_string(most) + " are taken",
                   "Give a shorter text.");
  };
}

/// Any JSON of at most so many bytes.
json_taker payload_into(std::string& out, std::size_t most, bool& too_large) {
  return [&out, &too_large, most](const std::string& field, std::string_view value, std::string&) -> status {
    too_large = value.size() > most;
    if (too_large)
      return invalid(field + " has " + std::to_string(value.size()) + " bytes; at most " + std::to_string(most) + " are taken",
                     "Keep large data elsewhere, and give its address.");
    out = std::string{value};
    return nothing{};
  };
}

/// Null changes nothing.
json_taker unless_null(json_taker take) {
  return [take = std::move(take)](const std::string& field, std::string_view value, std::string& pointer) -> status {
    if (value == "null") return nothing{};
    return take(field, value, pointer);
  };
}

status read_beat(std::string_view value, session::beat& out, bool& too_large, std::string& pointer) {
  std::uint32_t percent = 0;
  bool has_percent = false;
  const auto take_percent = [&](const std::string& field, std::string_view text, std::string& at) {
    has_percent = true;
    return number_into(percent, 0, 100)(field, text, at);
  };
  auto read = read_json_object(value, "Each item",
                               {{"ticket", ticket_into(out.ticket), true},
                                {"sequence", unless_null(number_into(out.sequence))},
                                {"percent", unless_null(take_percent)},
                                {"note", unless_null(short_text_into(out.progress.note, progress_note_limit))},
                                {"checkpoint", unless_null(payload_into(out.progress.checkpoint, checkpoint_limit, too_large))}},
                               pointer, " of 'items'");
  if (has_percent) out.progress.percent = percent;
  return read;
}

status read_fault(std::string_view value, v1::Fault& out, std::string& pointer) {
  std::string kind;
  bool key_spent = false;
  std::int64_t retry_after_ms = 0;
  const auto base = pointer;
  auto read = read_json_object(value, "Field 'fault'",
                               {{"kind", text_into(kind), true},
                                {"code", short_text_into(*out.mutable_code(), most_code_bytes), true},
                                {"message", short_text_into(*out.mutable_message(), most_message_bytes)},
                                {"key_spent", flag_into(key_spent)},
                                {"retry_after_ms", unless_null(number_into(retry_after_ms, 0, a_day_ms))}},
                               pointer, " of 'fault'");
  if (!read) return read;
  out.set_key_spent(key_spent);
  out.set_retry_after_ms(retry_after_ms);
  for (const auto one : {v1::FAULT_KIND_TRANSIENT, v1::FAULT_KIND_PERMANENT, v1::FAULT_KIND_IN_DOUBT})
    if (kind == fault_kind_word(one)) out.set_kind(one);
  if (out.kind() == v1::FAULT_KIND_UNSPECIFIED) {
    pointer = base + "/kind";
    return invalid(
        "There is no kind of fault '" + kind + "'",
        "Give transient (nothing happened, and another try may succeed), permanent (nothing happened) or in_doubt (it may have happened).");
  }
  if (out.code().empty()) {
    pointer = base + "/code";
    return invalid("Field 'code' of 'fault' is empty", "Give a short word, such as timeout.");
  }
  pointer = base;
  return nothing{};
}

status read_report(std::string_view value, session::report& out, bool& too_large, std::string& pointer) {
  std::optional<v1::Fault> fault;
  std::string verdict;
  auto& result = out.result;
  const auto base = pointer;
  const auto take_fault = [&fault](const std::string&, std::string_view text, std::string& at) {
    return read_fault(text, fault.emplace(), at);
  };
  if (auto read = read_json_object(value, "Each item",
                                   {{"ticket", ticket_into(out.ticket), true},
                                    {"output", payload_into(result.output, max_output_bytes, too_large)},
                                    {"fault", take_fault},
                                    {"verdict", text_into(verdict)}},
                                   pointer, " of 'items'");
      !read)
    return read;
  const auto refused = [&](const char* at, std::string sentence, std::string remedy) {
    pointer = base + at;
    return invalid(std::move(sentence), std::move(remedy));
  };
  for (const auto& one : verdict_rows)
    if (verdict == one.word) result.verdict = one.verdict;
  if (!verdict.empty() && result.verdict == v1::LOOKUP_VERDICT_UNSPECIFIED)
    return refused("/verdict", "There is no verdict '" + verdict + "'", "Give done, never_happened or unknown.");
  const auto is_lookup = result.verdict != v1::LOOKUP_VERDICT_UNSPECIFIED;
  if (fault && (is_lookup || !result.output.empty()))
    return refused("/fault", "An item has a fault, and an output or a verdict", "Give one of these.");
  if (!fault && !is_lookup && result.output.empty())
    return refused("", "An item has no output, no fault and no verdict",
                   "Give one of these. An attempt without an output has \"output\": null.");
  if (is_lookup && result.verdict != v1::LOOKUP_VERDICT_DONE && !result.output.empty())
    return refused("/output", "An item has an output, and its verdict is not done",
                   "Give the output of what was carried out, or leave it out.");
  result.fault = std::move(fault);
  return nothing{};
}

template <class Item, class Read>
std::vector<json_field> items_into(asked_items<Item>& out, Read read) {
  const auto take = [&out, read](std::size_t, std::string_view value, std::string& pointer) {
    return read(value, out.items.emplace_back(), out.too_large, pointer);
  };
  return {{"items", each_into(agents::most_worker_items, take), true}};
}

void write_attempt(json_writer& out, const session::attempt& one) {
  const auto& what = one.what;
  const auto is_undo = what.direction() == v1::DIRECTION_UNDO;
  const auto is_lookup = what.direction() == v1::DIRECTION_LOOKUP;
  out.begin_object().key("ticket").string(what.ticket()).key("task").string(what.task_id()).key("workflow").string(what.workflow());
  out.key("step").string(what.step_path()).key("direction").string(direction_word(what.direction()));
  out.key("attempt").number(what.attempt()).key("call").string(what.call()).key("input").raw(what.input());
  out.key("idempotency_key").string(what.idempotency_key());
  out.key("perform_key").text_or_null(is_undo || is_lookup ? what.perform_key() : "");
  out.key("in_doubt");
  // Only a perform in doubt is looked up.
  is_undo || is_lookup ? out.boolean(is_lookup || what.in_doubt()) : out.null();
  out.key("perform_output").raw(is_undo ? what.perform_output() : "").key("checkpoint").raw(what.checkpoint());
  out.key("callback_url").text_or_null(what.callback_url());
  out.key("lease_ms").number(one.lease_ms).key("heartbeat_ms");
  what.heartbeat_ms() > 0 ? out.number(what.heartbeat_ms()) : out.null();
  out.key("traceparent").string(agents::trace_parent(what)).end_object();
}

const char* report_word(session::report_result result) {
  switch (result) {
    case session::report_result::accepted: return "accepted";
    case session::report_result::repeated: return "repeated";
    default: return "not_held";
  }
}

}  // namespace

std::vector<json_field> fields_of(session::take_request& out) {
  const auto take_wait = [&out](const std::string& field, std::string_view value, std::string& pointer) -> status {
    std::int64_t wait_ms = 0;
    auto read = number_into(wait_ms, 0, agents::longest_take.count())(field, value, pointer);
    out.wait = duration{wait_ms};
    return read;
  };
  return {{"max", number_into(out.most, 1, agents::most_worker_attempts)}, {"wait_ms", take_wait}, {"after", number_into(out.after), true}};
}

std::vector<json_field> fields_of(asked_beats& out) { return items_into(out, &read_beat); }
std::vector<json_field> fields_of(asked_reports& out) { return items_into(out, &read_report); }

std::string take_json(const session::take_answer& what) {
  json_writer out;
  out.begin_object().key("answer").number(what.number).key("waited_ms").number(what.waited_ms).key("draining").boolean(what.draining);
  out.key("attempts").begin_array();
  for (const auto& one : what.attempts) write_attempt(out, one);
  return out.end_array().end_object().text();
}

std::string beats_json(const asked_beats& asked, const std::vector<session::beat_answer>& answers) {
  json_writer out;
  out.begin_object().key("items").begin_array();
  for (std::size_t i = 0; i < asked.items.size() && i < answers.size(); ++i) {
    out.begin_object().key("ticket").string(asked.items[i].ticket).key("held").boolean(answers[i].held);
    out.key("lease_ms").number(answers[i].lease_ms).key("cancel").boolean(!answers[i].held).end_object();
  }
  return out.end_array().end_object().text();
}

std::string reports_json(const asked_reports& asked, const std::vector<session::report_answer>& answers) {
  json_writer out;
  out.begin_object().key("items").begin_array();
  for (std::size_t i = 0; i < asked.items.size() && i < answers.size(); ++i) {
    out.begin_object().key("ticket").string(asked.items[i].ticket).key("result").string(report_word(answers[i].result));
    out.key("why").text_or_null(answers[i].why).end_object();
  }
  return out.end_array().end_object().text();
}

}  // namespace fairlead::app::api
