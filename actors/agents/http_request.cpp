#include "actors/agents/http_request.hpp"

#include <algorithm>

#include "actors/agents/http_trace.hpp"
#include "actors/core/json.hpp"
#include "messages/time.hpp"

namespace fairlead::agents {

namespace {

class input_document final : public core::document {
 public:
  explicit input_document(std::string_view input) : input_(input) {}
  std::optional<std::string_view> root(std::string_view name, std::string_view) const override {
    if (name == "input") return input_;
    return std::nullopt;
  }
  std::vector<std::string> members(std::string_view) const override { return {}; }

 private:
  std::string_view input_;
};

using field_values = std::vector<std::pair<std::string_view, std::string>>;

error unfit(std::string sentence) { return {v1::ERROR_CODE_INVALID_ARGUMENT, std::move(sentence), "correct the step's `with`"}; }

result<field_values> read_fields(const http_prepared_call& call, std::string_view input) {
  field_values out;
  for (const auto& field : call.fields) {
    const auto json = core::json_member(input, field);
    if (!json) return unfit("the input has no field '" + field + "'");
    const char first = json->empty() ? 'n' : json->front();
    if (first == 'n' || first == '{' || first == '[') return unfit("the field '" + field + "' is no string, number or boolean");
    // Numbers as they were written.
    out.emplace_back(field, first == '"' ? core::decode_json_string(*json) : std::string{*json});
  }
  return out;
}

const std::string& value_of(const field_values& values, std::string_view name) {
  return std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == name; })->second;
}

result<std::string> render_url(const field_template& url, const field_values& values) {
  std::string out;
  for (const auto& piece : url.pieces()) {
    out += piece.literal;
    if (piece.field.empty()) continue;
    const auto& value = value_of(values, piece.field);
    // `/orders/{id}` with nothing for the id would address the whole collection.
    if (value.empty() && out.find('?') == std::string::npos)
      return unfit("the field '" + piece.field + "' is empty, and stands in the url's path");
    append_percent_encoded(out, value);
  }
  // A dot is not encoded, so that a value could still climb out of its place in the path.
  const auto path_begin = out.find('/', out.find("://") + 3);
  auto path = path_begin == std::string::npos ? std::string_view{} : std::string_view{out}.substr(path_begin);
  path = path.substr(0, path.find('?'));
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto end = std::min(path.find('/'), path.size());
    const auto segment = path.substr(0, end);
    if (segment == "." || segment == "..") return unfit("the url's path has a segment '" + std::string{segment} + "'");
    path.remove_prefix(end);
  }
  return out;
}

bool has_header(const http_request& request, std::string_view lower_name) {
  return std::any_of(request.headers.begin(), request.headers.end(), [&](const auto& h) { return lower_case(h.first) == lower_name; });
}

}  // namespace

result<http_request> build_request(const http_prepared_call& call, const v1::Perform& what) {
  const input_document input{what.input()};
  const auto values = read_fields(call, what.input());
  if (!values.ok()) return values.failure();
  auto url = render_url(call.url, values.value());
  if (!url.ok()) return url.failure();

  http_request out;
  out.method = call.method;
  out.url = std::move(url).value();
  for (const auto& [name, value] : call.headers) {
    std::string text;
    for (const auto& piece : value.pieces()) {
      text += piece.literal;
      if (!piece.field.empty()) text += value_of(values.value(), piece.field);
    }
    if (!valid_header_value(text)) return unfit("the value of header " + name + " would hold a control character");
    out.headers.emplace_back(name, std::move(text));
  }
  if (!valid_header_value(what.idempotency_key())) return unfit("the idempotency key holds a control character");
  out.headers.emplace_back("Idempotency-Key", what.idempotency_key());
  if (what.direction() == v1::DIRECTION_UNDO) {
    // What is undone may never have arrived, or may arrive after this: the service can tell, and refuse that key from now on.
    if (!valid_header_value(what.perform_key())) return unfit("the idempotency key of the perform holds a control character");
    out.headers.emplace_back("Fairlead-Perform-Key", what.perform_key());
    out.headers.emplace_back("Fairlead-In-Doubt", what.in_doubt() ? "true" : "false");
  }
  out.headers.emplace_back("Fairlead-Attempt", std::to_string(what.attempt()));
  out.headers.emplace_back("Fairlead-Complete-By", format_utc(what.complete_by_unix_ms()));
  out.headers.emplace_back("traceparent", trace_parent(what));
  if (!has_header(out, "user-agent")) out.headers.emplace_back("User-Agent", "fairlead");

  switch (call.body) {
    case http_prepared_call::body_kind::none: break;
    case http_prepared_call::body_kind::input: out.body = what.input().empty() ? "null" : what.input(); break;
    case http_prepared_call::body_kind::rendered: {
      auto body = call.body_template->render(input, {});
      if (!body.ok()) return unfit("body: " + body.failure().sentence);
      out.body = std::move(body).value();
      break;
    }
  }
  if (out.body && !has_header(out, "content-type")) out.headers.emplace_back("Content-Type", "application/json");
  return out;
}

}  // namespace fairlead::agents
