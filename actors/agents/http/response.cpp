#include "actors/agents/http/response.hpp"

#include <algorithm>
#include <optional>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/http/retry_after.hpp"
#include "actors/agents/http/status.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::agents {

namespace {

constexpr std::size_t quoted_body_bytes = 200;

bool blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

// Some services write a byte order mark before their UTF-8. It has no meaning, and a reader may skip it (RFC 8259, 8.1).
std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.substr(0, mark.size()) == mark ? text.substr(mark.size()) : text;
}

bool is_plain_text(const http_answer& answer) {
  return std::any_of(answer.headers.begin(), answer.headers.end(), [](const auto& h) {
    const auto type = lower_case(h.second);
    return h.first == "content-type" && type.rfind("text/plain", 0) == 0 && (type.size() == 10 || type[10] == ';' || type[10] == ' ');
  });
}

// An answer and the values derived from it on demand: most calls need only the status.
class exchange {
 public:
  explicit exchange(http_answer answer) : answer_(std::move(answer)) {}

  const http_answer& answer() const { return answer_; }
  /// The body as JSON text; nullopt: it is not JSON and is not declared as plain text.
  const std::optional<std::string_view>& body() {
    if (!read_) read_body();
    read_ = true;
    return body_;
  }
  const core::document& document() {
    if (!document_) document_.emplace(answer_.status, answer_.headers, body());
    return *document_;
  }
  std::string status_text() const { return "status " + std::to_string(answer_.status); }

  // The status is valid whatever happened to the body, which is only quoted.
  std::string quoted() const {
    auto out = std::to_string(answer_.status);
    if (!answer_.reason.empty()) out += " " + printable(answer_.reason, 80);
    if (answer_.status >= 300 && answer_.status < 400) {
      for (const auto& [name, value] : answer_.headers)
        if (name == "location" && !value.empty()) out += ", a redirect to " + printable(value, quoted_body_bytes);
    }
    if (!answer_.message.empty()) return out + ", " + answer_.message;
    if (!blank(answer_.body)) out += ": " + printable(answer_.body, quoted_body_bytes);
    return out;
  }
  std::string why_cut() const {
    if (answer_.cut == http_answer::damage::too_large)
      return status_text() + ", but " + (answer_.message.empty() ? "the response is larger than max_response" : answer_.message);
    return status_text() + ", but the response broke off" + (answer_.message.empty() ? "" : ": " + answer_.message);
  }

  /// The first rule that fits. nullopt with `unclear` set: a rule needs the body, which is incomplete.
  const http_prepared_rule* first_rule(const std::vector<http_prepared_rule>& rules, bool& unclear) {
    for (const auto& rule : rules) {
      if (!rule.written.status.empty() && !names_status(rule.written.status, answer_.status)) continue;
      if (needs_body(rule) && answer_.cut != http_answer::damage::none) {
        unclear = true;
        return nullptr;
      }
      if (!rule.path || fits(rule, answer_.status, document())) return &rule;
    }
    return nullptr;
  }

  /// The output made from the answer; the error says why there is none.
  result<std::string> output(const std::optional<core::input_template>& from, bool needs_json) {
    if (!body() && needs_json) {
      return error{v1::ERROR_CODE_INVALID_ARGUMENT,
                   status_text() + ", but the body is " + why_unread_ + ": " + printable(answer_.body, quoted_body_bytes), ""};
    }
    if (!from) return body()->data() == answer_.body.data() ? std::move(answer_.body) : std::string{*body()};
    // An output that does not use the body can be made from an answer without JSON.
    if (!body()) body_ = "null";
    auto out = from->render(document(), {});
    if (!out.ok()) return error{out.failure().code, status_text() + ", but output: " + as_written(out.failure().sentence), ""};
    return out;
  }

 private:
  void read_body() {
    const auto text = without_mark(answer_.body);
    if (blank(text)) {
      body_ = "null";
    } else if (const auto checked = core::check_json(text); checked.ok()) {
      body_ = text;
    } else if (is_plain_text(answer_)) {
      core::append_json_string(as_string_, text);
      if (core::check_json(as_string_).ok()) body_ = as_string_;  // else it is not UTF-8
    } else {
      why_unread_ = checked.failure().sentence;
    }
  }

  http_answer answer_;
  bool read_ = false;
  std::optional<std::string_view> body_;
  std::string why_unread_ = "not UTF-8";
  std::string as_string_;
  std::optional<response_document> document_;
};

std::int64_t asked_pause_ms(const http_answer& answer, std::int64_t now_unix_ms) {
  // A date is by the service's clock, which its answer shows: this machine's clock may be hours away.
  auto answered_at = now_unix_ms;
  for (const auto& [name, value] : answer.headers)
    if (name == "date") answered_at = http_date_unix_ms(value, now_unix_ms).value_or(now_unix_ms);
  std::int64_t out = 0;
  for (const auto& [name, value] : answer.headers)
    if (name == "retry-after") out = std::max(out, retry_after_ms(value, answered_at));
  return out;
}

attempt_result success(const http_prepared_call& call, exchange& it, const http_circumstances& around) {
  if (around.calls_back) return completed("null");
  if (it.answer().cut == http_answer::damage::too_large) return in_doubt_fault("response_too_large", it.why_cut());
  auto output = it.output(call.output_template, call.needs_json_body);
  if (!output.ok()) return in_doubt_fault("bad_response", output.failure().sentence);
  return completed(std::move(output).value());
}

attempt_result fault_of(http_meaning meaning, const http_prepared_rule* rule, bool repeated, exchange& it) {
  const auto status = it.answer().status;
  auto code =
      status == 409 && repeated && meaning == http_meaning::in_doubt && rule == nullptr ? "http_409_repeated" : status_code_word(status);
  auto message = it.quoted();
  if (rule != nullptr && (rule->code || rule->message)) {
    if (auto own = code_of(*rule, it.document())) code = std::move(*own);
    if (auto own = message_of(*rule, it.document())) message = std::move(*own);
  }
  return faulted(fault_kind_of(meaning), std::move(code), std::move(message));
}

attempt_result judge(const http_prepared_call& call, exchange& it, const http_circumstances& around) {
  const auto& answer = it.answer();
  switch (answer.how) {
    case http_answer::ending::not_sent: return transient_fault(answer.code, answer.message);
    case http_answer::ending::refused: return permanent_fault(answer.code, answer.message);
    case http_answer::ending::lost: return in_doubt_fault(answer.code, answer.message);
    case http_answer::ending::answered: break;
  }
  // A service that broke off in the middle of an answer may have broken off in the middle of the work.
  if (answer.cut == http_answer::damage::truncated) return in_doubt_fault("bad_response", it.why_cut());
  bool unclear = false;
  const auto* rule = it.first_rule(call.rules, unclear);
  if (unclear) return in_doubt_fault("response_too_large", it.why_cut());
  if (rule != nullptr) {
    return rule->written.is == http_meaning::success ? success(call, it, around) : fault_of(rule->written.is, rule, around.repeated, it);
  }
  const auto listed = listed_meaning(call.statuses, answer.status);
  if (listed) return *listed == http_meaning::success ? success(call, it, around) : fault_of(*listed, nullptr, false, it);
  const auto meaning = default_meaning(answer.status, around.repeated);
  return meaning == http_meaning::success ? success(call, it, around) : fault_of(meaning, nullptr, around.repeated, it);
}

http_meaning lookup_meaning(const http_prepared_lookup& lookup, int status) {
  if (names_status(lookup.done, status)) return http_meaning::done;
  if (names_status(lookup.never_happened, status)) return http_meaning::never_happened;
  const auto meaning = default_meaning(status, false);
  // A status that would leave a perform in doubt says nothing here: asking again costs nothing.
  return meaning == http_meaning::transient || meaning == http_meaning::in_doubt ? http_meaning::transient : http_meaning::unknown;
}

attempt_result judge_lookup(const http_prepared_lookup& lookup, exchange& it) {
  const auto& answer = it.answer();
  switch (answer.how) {
    case http_answer::ending::refused: return permanent_fault(answer.code, answer.message);
    case http_answer::ending::not_sent:
    case http_answer::ending::lost: return transient_fault(answer.code, answer.message);
    case http_answer::ending::answered: break;
  }
  if (answer.cut == http_answer::damage::truncated) return transient_fault("bad_response", it.why_cut());
  bool unclear = false;
  const auto* rule = it.first_rule(lookup.rules, unclear);
  const auto meaning = rule != nullptr ? rule->written.is : lookup_meaning(lookup, answer.status);
  if (unclear || (meaning == http_meaning::done && answer.cut == http_answer::damage::too_large))
    return permanent_fault("response_too_large", it.why_cut());
  switch (meaning) {
    case http_meaning::never_happened: return never_happened();
    case http_meaning::unknown: return not_known();
    case http_meaning::transient: return fault_of(meaning, rule, false, it);
    default: break;
  }
  // An unreadable answer would be the same the next time.
  auto output = it.output(lookup.output_template, lookup.needs_json_body);
  if (!output.ok()) return permanent_fault("bad_response", output.failure().sentence);
  return looked_up_done(std::move(output).value());
}

void add_pause(attempt_result& out, const http_answer& answer, const http_circumstances& around) {
  if (!out.fault || answer.how != http_answer::ending::answered) return;
  out.fault->set_retry_after_ms(asked_pause_ms(answer, around.now_unix_ms));
}

}  // namespace

attempt_result conclude(const http_prepared_call& call, http_answer answer, const http_circumstances& around) {
  const auto sends = answer.sends;
  exchange it{std::move(answer)};
  auto out = judge(call, it, around);
  out.tries = std::max<std::uint32_t>(1, sends);
  add_pause(out, it.answer(), around);
  if (sends > 1 && out.fault && out.fault->kind() != v1::FAULT_KIND_IN_DOUBT) {
    // "Nothing happened" applies only to the last sending; the one before was lost.
    out.fault->set_kind(v1::FAULT_KIND_IN_DOUBT);
    out.fault->set_message(out.fault->message() + " (an earlier request of this attempt was lost)");
  }
  // The service would repeat this answer as long as the key is the same.
  if (call.idempotency.replays_errors && out.fault && out.fault->kind() != v1::FAULT_KIND_IN_DOUBT &&
      it.answer().how == http_answer::ending::answered)
    out.fault->set_key_spent(true);
  return out;
}

attempt_result conclude_lookup(const http_prepared_lookup& lookup, http_answer answer, const http_circumstances& around) {
  const auto sends = answer.sends;
  exchange it{std::move(answer)};
  auto out = judge_lookup(lookup, it);
  out.tries = std::max<std::uint32_t>(1, sends);
  add_pause(out, it.answer(), around);
  return out;
}

}  // namespace fairlead::agents
