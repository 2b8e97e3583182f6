#include "actors/agents/http/request.hpp"

#include <algorithm>
#include <stdexcept>

#include "actors/agents/http/trace.hpp"
#include "actors/core/text/json.hpp"
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

// The obstacle; thrown only within build_request.
struct unfit {
  http_no_request why;
};

[[noreturn]] void refuse(std::string sentence, http_no_request::because why = http_no_request::because::input) {
  throw unfit{{why, std::move(sentence)}};
}

// Builds one request; throws `unfit`.
class builder {
 public:
  builder(const http_prepared_request& from, const v1::Perform& what, const secrets* known)
      : from_(from), what_(what), known_(known), input_(what.input()) {
    read_fields();
  }

  http_request build(const std::string& key_header) {
    out_.method = from_.method;
    out_.url = url();
    add_templates();
    add_own(key_header);
    add_body();
    return std::move(out_);
  }

 private:
  void read_fields() {
    const bool asks_back = what_.direction() != v1::DIRECTION_PERFORM;
    for (const auto& field : from_.fields) {
      if (asks_back && field == "perform_key") {
        values_.emplace_back(field, what_.perform_key());
        continue;
      }
      // Of a step without a callback it is a field like any other.
      if (field == "callback_url" && !what_.callback_url().empty()) {
        values_.emplace_back(field, what_.callback_url());
        continue;
      }
      if (asks_back && field == "key") {
        values_.emplace_back(field, what_.idempotency_key());
        continue;
      }
      const auto json = core::json_member(what_.input(), field);
      if (!json) refuse("the input has no field '" + field + "'");
      const char first = json->empty() ? 'n' : json->front();
      if (first == 'n' || first == '{' || first == '[') refuse("the field '" + field + "' is not a string, number or boolean");
      // Numbers as written in the input.
      values_.emplace_back(field, first == '"' ? core::decode_json_string(*json) : std::string{*json});
    }
  }

  const std::string& value_of(std::string_view name) const {
    return std::find_if(values_.begin(), values_.end(), [&](const auto& v) { return v.first == name; })->second;
  }

  std::string secret(const std::string& reference) const {
    if (known_ == nullptr) refuse(reference + " is used, but this node has no secrets", http_no_request::because::secret);
    auto value = known_->resolve(reference);
    if (!value.ok()) refuse(value.failure().sentence, http_no_request::because::secret);
    return std::move(value).value();
  }

  std::string url() const {
    std::string out;
    for (const auto& piece : from_.url.pieces()) {
      out += piece.literal;
      if (!piece.secret.empty()) add_secret_to_url(out, secret(piece.secret));
      if (piece.field.empty()) continue;
      const auto& value = value_of(piece.field);
      if (in_host(out)) {
        check_host_part(piece.field, value);
        out += value;
        continue;
      }
      // `/orders/{id}` with an empty id would address the whole collection.
      if (value.empty() && out.find('?') == std::string::npos)
        refuse("the field '" + piece.field + "' is empty, but the url's path uses it");
      append_percent_encoded(out, value);
    }
    check_segments(out);
    return out;
  }

  // A secret may be a path with its slashes; in a query a slash is an ordinary character.
  static void add_secret_to_url(std::string& out, std::string_view value) {
    const bool in_query = out.find('?') != std::string::npos;
    while (!in_query && value.find('/') != std::string_view::npos) {
      append_percent_encoded(out, value.substr(0, value.find('/')));
      out += '/';
      value.remove_prefix(value.find('/') + 1);
    }
    append_percent_encoded(out, value);
  }

  static bool in_host(const std::string& begun) {
    const auto host = begun.find("://");
    return host != std::string::npos && begun.find_first_of("/?", host + 3) == std::string::npos;
  }

  // Characters that end a host, or add user info, would lead to another place.
  static void check_host_part(const std::string& field, const std::string& value) {
    const bool good = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    });
    if (!good) refuse("the field '" + field + "' is used in the url's host, but its value cannot be part of a host name");
  }

  // A dot is not encoded, so a value of dots could leave its place in the path.
  static void check_segments(const std::string& url) {
    const auto path_begin = url.find('/', url.find("://") + 3);
    auto path = path_begin == std::string::npos ? std::string_view{} : std::string_view{url}.substr(path_begin);
    path = path.substr(0, path.find('?'));
    while (!path.empty()) {
      path.remove_prefix(1);
      const auto end = std::min(path.find('/'), path.size());
      const auto segment = path.substr(0, end);
      if (segment == "." || segment == "..") refuse("the url's path has a segment '" + std::string{segment} + "'");
      path.remove_prefix(end);
    }
  }

  void add_templates() {
    for (const auto& [name, value] : from_.headers) {
      std::string text;
      for (const auto& piece : value.pieces()) {
        text += piece.literal;
        if (!piece.field.empty()) text += value_of(piece.field);
        if (!piece.secret.empty()) text += secret(piece.secret);
      }
      if (!valid_header_value(text)) refuse("the value of header " + name + " would have a control character");
      if (value.has_secrets()) out_.private_headers.push_back(name);
      out_.headers.emplace_back(name, std::move(text));
    }
  }

  void add_key(const std::string& name, const std::string& key, const char* whose) {
    if (!valid_header_value(key)) refuse(std::string{whose} + " has a control character");
    out_.headers.emplace_back(name, key);
  }

  void add_own(const std::string& key_header) {
    // A look-up has no effect to name: under a key, a service that records answers would repeat the first one for ever.
    if (what_.direction() != v1::DIRECTION_LOOKUP) add_key(key_header, what_.idempotency_key(), "the idempotency key");
    // The perform may never have arrived, or may arrive later: by its key the service can tell, and refuse that key from now on.
    if (what_.direction() != v1::DIRECTION_PERFORM)
      add_key("Fairlead-Perform-Key", what_.perform_key(), "the idempotency key of the perform");
    if (what_.direction() == v1::DIRECTION_UNDO) out_.headers.emplace_back("Fairlead-In-Doubt", what_.in_doubt() ? "true" : "false");
    if (!what_.callback_url().empty()) {
      out_.headers.emplace_back("Fairlead-Callback-Url", what_.callback_url());
      out_.callback = what_.callback();
    }
    out_.headers.emplace_back("Fairlead-Attempt", std::to_string(what_.attempt()));
    out_.headers.emplace_back("Fairlead-Complete-By", format_utc(what_.complete_by_unix_ms()));
    out_.headers.emplace_back("traceparent", trace_parent(what_));
    if (!has_header("user-agent")) out_.headers.emplace_back("User-Agent", "fairlead");
  }

  void add_body() {
    switch (from_.body) {
      case http_prepared_request::body_kind::none: return;
      case http_prepared_request::body_kind::input: out_.body = what_.input().empty() ? "null" : what_.input(); break;
      case http_prepared_request::body_kind::rendered: {
        auto body = from_.body_template->render(input_, {});
        if (!body.ok()) refuse("body: " + body.failure().sentence);
        out_.body = std::move(body).value();
        for (const auto& [mark, reference] : from_.body_secrets) put_in_body(mark, reference);
        if (!from_.body_callback.empty()) put_callback_in_body();
        break;
      }
    }
    if (!has_header("content-type")) out_.headers.emplace_back("Content-Type", "application/json");
  }

  void put_in_body(const std::string& mark, const std::string& reference) {
    std::string escaped;
    core::append_json_string(escaped, secret(reference));
    if (!core::check_json(escaped).ok()) refuse(reference + " is not UTF-8, but a body is JSON", http_no_request::because::secret);
    replace_in_body(mark, escaped.substr(1, escaped.size() - 2));
  }

  void put_callback_in_body() {
    std::string json;
    if (what_.callback_url().empty())
      json = "null";
    else
      core::append_json_string(json, what_.callback_url());
    replace_in_body(from_.body_callback, json);
  }

  void replace_in_body(const std::string& mark, const std::string& value) {
    auto& body = *out_.body;
    for (auto at = body.find(mark); at != std::string::npos; at = body.find(mark, at + value.size())) body.replace(at, mark.size(), value);
  }

  bool has_header(std::string_view lower_name) const {
    return std::any_of(out_.headers.begin(), out_.headers.end(), [&](const auto& h) { return lower_case(h.first) == lower_name; });
  }

  const http_prepared_request& from_;
  const v1::Perform& what_;
  const secrets* known_;
  const input_document input_;
  field_values values_;
  http_request out_;
};

}  // namespace

std::variant<http_request, http_no_request> build_request(const http_prepared_call& call, const v1::Perform& what,
                                                          const secrets* known) try {
  const bool asks = what.direction() == v1::DIRECTION_LOOKUP;
  if (asks && !call.lookup) throw std::logic_error("a call without a lookup was looked up");
  return builder{asks ? call.lookup->request : call.request, what, known}.build(call.idempotency.header);
} catch (const unfit& problem) {
  return problem.why;
}

}  // namespace fairlead::agents
