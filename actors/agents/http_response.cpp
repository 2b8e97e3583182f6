#include "actors/agents/http_response.hpp"

#include <algorithm>
#include <array>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/http_status.hpp"
#include "actors/core/json.hpp"

namespace fairlead::agents {

namespace {

constexpr std::size_t quoted_body_bytes = 200;
constexpr std::array<std::string_view, 3> response_roots{"status", "headers", "body"};

// The root that a path begins with: `.body.id` gives `body`; empty when it is none of ours.
std::string_view root_of(std::string_view path) {
  path.remove_prefix(std::min(path.find_first_not_of(" \t"), path.size()));
  if (path.empty() || path.front() != '.') return {};
  path.remove_prefix(1);
  for (const auto root : response_roots) {
    if (path.substr(0, root.size()) != root) continue;
    const auto next = path.size() > root.size() ? path[root.size()] : ' ';
    if (next == '.' || next == '[' || next == '?' || next == ' ' || next == '\t' || next == '}') return root;
  }
  return {};
}

// Turns `.input.body` in a sentence of the template's back into what was written.
std::string as_written(std::string sentence) {
  for (const auto root : response_roots) {
    const auto inside = ".input." + std::string{root};
    for (auto at = sentence.find(inside); at != std::string::npos; at = sentence.find(inside, at)) sentence.erase(at, 6);
  }
  return sentence;
}

class response_document final : public core::document {
 public:
  response_document(const http_answer& answer, std::string_view body_json) {
    text_ = "{\"status\":" + std::to_string(answer.status) + ",\"headers\":{";
    std::vector<std::pair<std::string, std::string>> merged;
    for (const auto& [name, value] : answer.headers) {
      auto key = name;
      std::replace(key.begin(), key.end(), '-', '_');
      const auto same = std::find_if(merged.begin(), merged.end(), [&](const auto& m) { return m.first == key; });
      if (same == merged.end()) {
        merged.emplace_back(std::move(key), value);
      } else {
        same->second += ", " + value;
      }
    }
    for (std::size_t i = 0; i < merged.size(); ++i) {
      if (i > 0) text_ += ',';
      // Header bytes beyond ASCII have no known encoding; they would not be JSON.
      core::append_json_string(text_, printable(merged[i].first, merged[i].first.size()));
      text_ += ':';
      core::append_json_string(text_, printable(merged[i].second, merged[i].second.size()));
    }
    text_ += "},\"body\":";
    text_ += body_json;
    text_ += "}";
  }
  std::optional<std::string_view> root(std::string_view name, std::string_view) const override {
    if (name == "input") return text_;
    return std::nullopt;
  }
  std::vector<std::string> members(std::string_view) const override { return {}; }

 private:
  std::string text_;
};

bool blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

bool is_plain_text(const http_answer& answer) {
  return std::any_of(answer.headers.begin(), answer.headers.end(), [](const auto& h) {
    const auto type = lower_case(h.second);
    return h.first == "content-type" && type.rfind("text/plain", 0) == 0 && (type.size() == 10 || type[10] == ';' || type[10] == ' ');
  });
}

// The body of a success as JSON text; nullopt when it is none and does not say that it is plain text.
std::optional<std::string> body_as_json(http_answer& answer) {
  if (blank(answer.body)) return "null";
  if (core::check_json(answer.body).ok()) return std::move(answer.body);
  if (!is_plain_text(answer)) return std::nullopt;
  std::string quoted;
  core::append_json_string(quoted, answer.body);
  if (!core::check_json(quoted).ok()) return std::nullopt;  // not UTF-8
  return quoted;
}

attempt_result success(const http_prepared_call& call, http_answer& answer) {
  const auto status = "status " + std::to_string(answer.status);
  if (answer.cut == http_answer::damage::too_large) {
    return in_doubt_fault("response_too_large", status + ", but the response is larger than max_response");
  }
  if (answer.cut == http_answer::damage::truncated) {
    return in_doubt_fault("bad_response", status + ", but the connection was lost within the response");
  }
  auto body = body_as_json(answer);
  if (!body && call.needs_json_body) {
    return in_doubt_fault("bad_response", status + ", but the body is not JSON: " + printable(answer.body, quoted_body_bytes));
  }
  if (!call.output_template) return completed(std::move(*body));
  const response_document document{answer, body ? std::string_view{*body} : std::string_view{"null"}};
  auto output = call.output_template->render(document, {});
  if (!output.ok()) return in_doubt_fault("bad_response", status + ", but output: " + as_written(output.failure().sentence));
  return completed(std::move(output).value());
}

attempt_result judge(const http_prepared_call& call, http_answer& answer) {
  switch (answer.how) {
    case http_answer::ending::not_sent: return transient_fault(answer.code, answer.message);
    case http_answer::ending::impossible: return permanent_fault(answer.code, answer.message);
    case http_answer::ending::lost: return in_doubt_fault(answer.code, answer.message);
    case http_answer::ending::answered: break;
  }
  const auto meaning = meaning_of(call.statuses, answer.status);
  if (meaning == status_meaning::success) return success(call, answer);
  // The status stands whatever became of the body: that is only quoted.
  auto message = std::to_string(answer.status);
  if (!answer.reason.empty()) message += " " + printable(answer.reason, 80);
  if (!blank(answer.body)) message += ": " + printable(answer.body, quoted_body_bytes);
  return faulted(fault_kind_of(meaning), status_code_word(answer.status), std::move(message));
}

}  // namespace

attempt_result conclude(const http_prepared_call& call, http_answer answer) {
  const auto sends = answer.sends;
  auto out = judge(call, answer);
  out.tries = std::max<std::uint32_t>(1, sends);
  if (sends > 1 && out.fault && out.fault->kind() != v1::FAULT_KIND_IN_DOUBT) {
    // "Nothing happened" is said of the last sending only; the one before it was lost without a word.
    out.fault->set_kind(v1::FAULT_KIND_IN_DOUBT);
    out.fault->set_message(out.fault->message() + " (an earlier sending of this attempt was lost)");
  }
  return out;
}

result<compiled_output> compile_output(std::string_view output_json) {
  std::string inside;
  bool mentions_body = false;
  std::size_t at = 0;
  for (auto opening = output_json.find("\"${"); opening != std::string_view::npos; opening = output_json.find("\"${", at)) {
    const auto rest = output_json.substr(opening + 3);
    const auto root = root_of(rest);
    if (root.empty()) {
      return error{v1::ERROR_CODE_INVALID_ARGUMENT,
                   "${" + std::string{rest.substr(0, rest.find_first_of("}\""))} + "} does not begin with .status, .headers or .body",
                   "an output is made of the response by plain paths"};
    }
    mentions_body = mentions_body || root == "body";
    const auto dot = opening + 3 + rest.find('.');
    inside += output_json.substr(at, dot - at);
    inside += ".input";
    at = dot;
  }
  inside += output_json.substr(at);
  auto compiled = core::input_template::compile(inside);
  if (!compiled.ok()) return error{compiled.failure().code, as_written(compiled.failure().sentence), compiled.failure().remedy};
  if (!compiled->plain()) {
    return error{v1::ERROR_CODE_INVALID_ARGUMENT,
                 "${ " + as_written(compiled->worker_expressions().front()) + " } is more than a plain path",
                 "take the value as it is, and compute in a later step's `with`"};
  }
  return compiled_output{std::move(compiled).value(), mentions_body};
}

}  // namespace fairlead::agents
