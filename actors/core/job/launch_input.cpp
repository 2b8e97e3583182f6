#include "actors/core/job/launch_input.hpp"

#include <cctz/time_zone.h>

#include "actors/core/cron/next.hpp"
#include "actors/core/expression/check.hpp"
#include "actors/core/expression/expression.hpp"
#include "actors/core/expression/lexer.hpp"
#include "actors/core/expression/path.hpp"
#include "actors/core/job/job.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::core {

namespace {

/// The document of a job's input: the launch, and nothing of a task, which does not exist yet.
class launch_view final : public document {
 public:
  explicit launch_view(std::string json) : json_(std::move(json)) {}

  std::optional<std::string_view> root(std::string_view name, std::string_view) const override {
    if (name != "launch") return std::nullopt;
    return std::string_view{json_};
  }
  std::vector<std::string> members(std::string_view) const override { return {}; }

 private:
  std::string json_;
};

error at_fault(std::string_view expression, const std::string& sentence, const std::string& remedy) {
  return {v1::ERROR_CODE_EXPRESSION,
          "expression ${ " + std::string{expression.substr(0, 60)} + (expression.size() > 60 ? "…" : "") + " }: " + sentence, remedy};
}

/// Renders an input from its template.
class rendering {
 public:
  explicit rendering(const document& doc) : doc_(doc) {}

  result<std::string> run(std::string_view json);

 private:
  status add_string(std::string_view raw, bool is_key);
  status add_text(std::string_view text, std::string_view raw);
  result<std::string> value_of(std::string_view embedded) const;

  const document& doc_;
  std::string out_;
};

bool blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

result<std::string> rendering::run(std::string_view json) {
  const char* const end = json.data() + json.size();
  for (const char* p = json.data(); p < end;) {
    if (*p != '"') {
      if (!blank(*p)) out_ += *p;
      ++p;
      continue;
    }
    const char* const start = p;
    p = skip_json_string(p, end);
    const char* after = p;
    while (after < end && blank(*after)) ++after;
    auto done = add_string(std::string_view(start, static_cast<std::size_t>(p - start)), after < end && *after == ':');
    if (!done.ok()) return done.failure();
    if (out_.size() > max_input_bytes) {
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the input of the launch is larger than 256 KiB",
                   "Keep large data elsewhere and give a reference to it."};
    }
  }
  return std::move(out_);
}

status rendering::add_string(std::string_view raw, bool is_key) {
  // `$` and `{` may be escaped, so the decoded string counts.
  const auto text = decode_json_string(raw);
  if (text.find("${") == std::string::npos) {
    out_ += raw;
    return nothing{};
  }
  if (is_key) {
    return error{v1::ERROR_CODE_EXPRESSION, "the key " + std::string{raw} + " has an expression, but keys are not evaluated",
                 "Give the key a fixed name and put the expression into its value."};
  }
  const auto inner = trim_json(text);
  if (inner.substr(0, 2) != "${" || end_of_embedded(inner) != inner.size()) return add_text(text, raw);
  auto value = value_of(inner);
  if (!value.ok()) return value.failure();
  out_ += *value;
  return nothing{};
}

/// Text with expressions; `$${` stands for `${`, so that shell variables can be written.
status rendering::add_text(std::string_view text, std::string_view raw) {
  std::string said;
  while (!text.empty()) {
    const auto at = text.find("${");
    if (at == std::string_view::npos) break;
    if (at > 0 && text[at - 1] == '$') {
      said += text.substr(0, at - 1);
      said += "${";
      text.remove_prefix(at + 2);
      continue;
    }
    said += text.substr(0, at);
    text.remove_prefix(at);
    const auto size = end_of_embedded(text);
    if (size == std::string_view::npos) {
      return error{v1::ERROR_CODE_EXPRESSION, "the string " + std::string{raw} + " begins an expression that does not end",
                   "End it with `}`, or write $${ for ${ as text."};
    }
    const auto expression = text.substr(0, size);
    text.remove_prefix(size);
    const auto value = value_of(expression);
    if (!value.ok()) return value.failure();
    const auto first = value->front();
    if (first == '{' || first == '[' || first == 'n') {
      return at_fault(trim_json(expression.substr(2, size - 3)), std::string{"inside text it gives "} + json_kind(*value),
                      "Inside a text only strings, numbers and booleans can be used; for other values let ${ } be the whole string.");
    }
    said += first == '"' ? decode_json_string(*value) : *value;
  }
  said += text;
  append_json_string(out_, said);
  return nothing{};
}

/// `embedded` with its `${` and `}`.
result<std::string> rendering::value_of(std::string_view embedded) const {
  static constexpr const char* plain_only =
      "The input of a job can only have plain paths below .launch, such as ${ .launch.nominal_utc }. Use jq and data of the task in the "
      "steps of the workflow. Write $${ for ${ as text.";
  const auto text = trim_json(embedded.substr(2, embedded.size() - 3));
  if (text.size() > max_expression_bytes) return at_fault(text, "it is longer than 4096 bytes", plain_only);
  const auto path = parse_plain_path(text);
  if (!path) return at_fault(text, "it is not a plain path", plain_only);
  if (auto why = refuse_root(path->parts); !why.empty()) return at_fault(text, why, plain_only);
  if (path->parts[0].key != "launch") return at_fault(text, "only .launch is known when a job is launched", plain_only);
  if (const auto found = find_path(*path, doc_)) return std::string{*found};
  if (path->optional) return std::string{"null"};
  return at_fault(text, explain_missing(*path, doc_), plain_only);
}

}  // namespace

std::string launch_document(const v1::LaunchOf& launch) {
  const auto id = launch_id(launch.job(), launch.nominal_unix_ms());
  const auto in_second = ((launch.nominal_unix_ms() % 1000) + 1000) % 1000;
  const auto unix_s = (launch.nominal_unix_ms() - in_second) / 1000;
  const auto utc = id.substr(launch.job().size() + 1);
  // The offset was stored with the launch, so that another zone database does not change the text.
  auto local = format_local(unix_s, cctz::fixed_time_zone(std::chrono::seconds{launch.utc_offset_s()}));
  // Launches by hand differ by their milliseconds, in both texts.
  constexpr std::size_t end_of_seconds = sizeof("2026-03-29T01:00:00") - 1;
  if (in_second != 0 && utc.size() > end_of_seconds + 1)
    local.insert(end_of_seconds, utc.substr(end_of_seconds, utc.size() - end_of_seconds - 1));
  std::string out = "{\"job\":";
  append_json_string(out, launch.job());
  out += ",\"id\":";
  append_json_string(out, id);
  out += ",\"nominal_utc\":";
  append_json_string(out, utc);
  out += ",\"nominal_local\":";
  append_json_string(out, local);
  out += ",\"nominal_unix_s\":" + std::to_string(unix_s) + ",\"zone\":";
  append_json_string(out, launch.zone().empty() ? std::string_view{"UTC"} : std::string_view{launch.zone()});
  out += ",\"trigger\":";
  append_json_string(out, launch.trigger());
  return out + '}';
}

status check_job_input(std::string_view input) {
  if (trim_json(input).empty()) return nothing{};
  if (auto valid = check_json(input); !valid.ok()) return valid.failure();
  // All launches have the same fields, so an input that fits one launch fits every launch.
  v1::LaunchOf any;
  any.set_job("job");
  any.set_zone("UTC");
  any.set_trigger("schedule");
  const auto rendered = render_job_input(input, any);
  if (!rendered.ok()) return rendered.failure();
  return nothing{};
}

result<std::string> render_job_input(std::string_view input, const v1::LaunchOf& launch) {
  if (trim_json(input).empty()) return std::string{"null"};
  // Most inputs hold no expression, not even behind an escape.
  if (input.find('$') == std::string_view::npos && input.find("\\u") == std::string_view::npos) return minify_json(input);
  return rendering{launch_view{launch_document(launch)}}.run(input);
}

}  // namespace fairlead::core
