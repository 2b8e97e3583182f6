#include "tests/simulation/checker/values.hpp"

#include <cctype>
#include <charconv>
#include <utility>

namespace fairlead::simulation {

namespace {

class reader {
 public:
  explicit reader(std::string_view text) : rest_(text) {}

  std::optional<value> whole() {
    auto out = any();
    skip();
    if (!out || !rest_.empty()) return std::nullopt;
    return out;
  }

 private:
  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
  }
  bool take(std::string_view what) {
    skip();
    if (!rest_.starts_with(what)) return false;
    rest_.remove_prefix(what.size());
    return true;
  }

  std::optional<value> any() {
    skip();
    if (rest_.empty()) return std::nullopt;
    if (rest_.front() == '{') return object();
    if (rest_.front() == '[') return list();
    if (rest_.front() == '"') {
      auto text = quoted();
      if (!text) return std::nullopt;
      return text_value(std::move(*text));
    }
    value out;
    if (take("null")) return out;
    out.is = value::kind::truth;
    out.truth = rest_.starts_with("true");
    if (take("true") || take("false")) return out;
    out.is = value::kind::number;
    const auto [end, wrong] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out.number);
    if (wrong != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (!rest_.empty() && std::string_view{".eE"}.find(rest_.front()) != std::string_view::npos) return std::nullopt;
    return out;
  }

  std::optional<std::string> quoted() {
    if (!take("\"")) return std::nullopt;
    std::string out;
    while (true) {
      const auto end = rest_.find_first_of("\"\\");
      if (end == std::string_view::npos) return std::nullopt;
      out += rest_.substr(0, end);
      const auto is_over = rest_[end] == '"';
      rest_.remove_prefix(end + 1);
      if (is_over) return out;
      // Words of faults have quotes; what else is escaped stays as it is written.
      if (rest_.empty()) return std::nullopt;
      if (rest_.front() != '"' && rest_.front() != '\\') out += '\\';
      out += rest_.front();
      rest_.remove_prefix(1);
    }
  }

  std::optional<value> list() {
    value out;
    out.is = value::kind::list;
    take("[");
    if (take("]")) return out;
    do {
      auto one = any();
      if (!one) return std::nullopt;
      out.items.push_back(std::move(*one));
    } while (take(","));
    if (!take("]")) return std::nullopt;
    return out;
  }

  std::optional<value> object() {
    value out;
    out.is = value::kind::object;
    take("{");
    if (take("}")) return out;
    do {
      auto name = quoted();
      if (!name || !take(":")) return std::nullopt;
      auto one = any();
      if (!one) return std::nullopt;
      out.members[std::move(*name)] = std::move(*one);
    } while (take(","));
    if (!take("}")) return std::nullopt;
    return out;
  }

  std::string_view rest_;
};

/// WHOLE := SUM [ > SUM ], SUM := PRODUCT { + PRODUCT }, PRODUCT := ATOM { * ATOM },
/// ATOM := number | `[` SUM { , SUM } `]` | .name.name… [?]
class calculator {
 public:
  calculator(std::string_view text, const value& document) : rest_(text), document_(document) {}

  std::optional<value> whole() {
    auto out = sum();
    if (out && take('>')) {
      const auto other = sum();
      if (!other) return std::nullopt;
      const auto are_numbers = out->is == value::kind::number && other->is == value::kind::number;
      if (!are_numbers && out->is == other->is && out->is != value::kind::null) return std::nullopt;
      // As in jq, whose order of kinds is that of value::kind.
      out = truth_value(are_numbers ? out->number > other->number : out->is > other->is);
    }
    skip();
    if (!rest_.empty()) return std::nullopt;
    return out;
  }

 private:
  void skip() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool take(char what) {
    skip();
    if (rest_.empty() || rest_.front() != what) return false;
    rest_.remove_prefix(1);
    return true;
  }

  template <class Part, class How>
  std::optional<value> chain(char sign, Part part, How how) {
    auto out = part();
    while (out && take(sign)) {
      const auto next = part();
      if (!next) return std::nullopt;
      // As in jq.
      if (sign == '+' && next->is == value::kind::null) continue;
      if (sign == '+' && out->is == value::kind::null) {
        out = next;
        continue;
      }
      if (out->is != value::kind::number || next->is != value::kind::number) return std::nullopt;
      out->number = how(out->number, next->number);
    }
    return out;
  }
  std::optional<value> sum() {
    return chain(
        '+', [this] { return product(); }, [](std::int64_t a, std::int64_t b) { return a + b; });
  }
  std::optional<value> product() {
    return chain(
        '*', [this] { return atom(); }, [](std::int64_t a, std::int64_t b) { return a * b; });
  }

  std::optional<value> atom() {
    skip();
    if (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front())) != 0) {
      std::int64_t number = 0;
      const auto [end, wrong] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      return number_value(number);
    }
    if (take('[')) return list();
    return path();
  }

  std::optional<value> list() {
    value out;
    out.is = value::kind::list;
    do {
      auto one = sum();
      if (!one) return std::nullopt;
      out.items.push_back(std::move(*one));
    } while (take(','));
    return take(']') ? std::optional{std::move(out)} : std::nullopt;
  }

  std::optional<value> path() {
    const value* at = &document_;
    skip();
    if (rest_.empty() || rest_.front() != '.') return std::nullopt;
    while (!rest_.empty() && rest_.front() == '.') {
      rest_.remove_prefix(1);
      std::size_t size = 0;
      while (size < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[size])) != 0 || rest_[size] == '_')) ++size;
      const std::string name{rest_.substr(0, size)};
      rest_.remove_prefix(size);
      if (at == nullptr || at->is != value::kind::object) {
        at = nullptr;
        continue;
      }
      const auto found = at->members.find(name);
      at = found == at->members.end() ? nullptr : &found->second;
    }
    const auto may_be_missing = !rest_.empty() && rest_.front() == '?';
    if (may_be_missing) rest_.remove_prefix(1);
    if (at != nullptr) return *at;
    if (may_be_missing) return value{};
    return std::nullopt;
  }

  std::string_view rest_;
  const value& document_;
};

bool fill(value& what, const value& document) {
  if (what.is == value::kind::text) {
    std::string_view text = what.text;
    if (!text.starts_with("${") || !text.ends_with("}")) return true;
    auto filled = evaluate_expression(text.substr(2, text.size() - 3), document);
    if (!filled) return false;
    what = std::move(*filled);
    return true;
  }
  for (auto& one : what.items)
    if (!fill(one, document)) return false;
  for (auto& [name, one] : what.members)
    if (!fill(one, document)) return false;
  return true;
}

}  // namespace

std::optional<value> parse_value(std::string_view text) { return reader{text}.whole(); }

value text_value(std::string text) {
  value out;
  out.is = value::kind::text;
  out.text = std::move(text);
  return out;
}

value truth_value(bool truth) {
  value out;
  out.is = value::kind::truth;
  out.truth = truth;
  return out;
}

value number_value(std::int64_t number) {
  value out;
  out.is = value::kind::number;
  out.number = number;
  return out;
}

std::optional<value> evaluate_expression(std::string_view expression, const value& document) {
  return calculator{expression, document}.whole();
}

std::optional<value> fill_template(const std::string& with_json, const value& document) {
  auto out = parse_value(with_json.empty() ? R"("${ .input }")" : with_json);
  if (!out || !fill(*out, document)) return std::nullopt;
  return out;
}

}  // namespace fairlead::simulation
