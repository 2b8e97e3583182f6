#include "actors/core/expression/path.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "actors/core/expression/lexer.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::core {
namespace {

/// Reads the parts of a path from a text; every function returns false if the text is no path.
class reader {
 public:
  explicit reader(std::string_view text) : text_(text) {}

  bool path(plain_path& out) {
    if (text_.empty() || text_[0] != '.') return false;
    while (at_ < text_.size() && text_[at_] != '?') {
      path_part part;
      if (text_[at_] == '.' && at_ + 1 < text_.size() && begins_name(text_[at_ + 1])) {
        const auto start = ++at_;
        while (at_ < text_.size() && in_name(text_[at_])) ++at_;
        part.key = std::string(text_.substr(start, at_ - start));
      } else if (text_[at_] == '[' || (at_ == 0 && text_.substr(0, 2) == ".[")) {
        if (at_ == 0) ++at_;
        ++at_;
        if (!bracketed(part)) return false;
      } else {
        return false;
      }
      out.parts.push_back(std::move(part));
    }
    out.optional = at_ + 1 == text_.size();
    return at_ == text_.size() || out.optional;
  }

 private:
  bool bracketed(path_part& part) {
    if (at_ < text_.size() && text_[at_] == '"') {
      const char* const start = text_.data() + at_;
      const char* const stop = skip_json_string(start, text_.data() + text_.size());
      const std::string_view raw(start, static_cast<std::size_t>(stop - start));
      // An interpolation `\(` is left to jq.
      if (raw.size() < 2 || raw.back() != '"' || !check_json(raw).ok()) return false;
      part.key = decode_json_string(raw);
      at_ += raw.size();
    } else {
      part.is_key = false;
      const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), part.index);
      if (read.ec != std::errc{}) return false;
      at_ = static_cast<std::size_t>(read.ptr - text_.data());
    }
    return at_ < text_.size() && text_[at_++] == ']';
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<std::string_view> step_down(std::string_view value, const path_part& part) {
  return part.is_key ? json_member(value, part.key) : json_element(value, part.index);
}

std::optional<std::string_view> find_root(const plain_path& path, const document& doc, std::size_t size) {
  const auto found = doc.root(path.parts[0].key, size == 2 ? std::string_view(path.parts[1].key) : std::string_view());
  if (!found) return std::nullopt;
  return trim_json(*found);
}

}  // namespace

bool is_root_of_item(std::string_view name) { return name == "item" || name == "index"; }

std::size_t root_size(std::string_view name) {
  if (name == "input" || name == "task" || name == "launch" || is_root_of_item(name)) return 1;
  if (name == "steps" || name == "status" || name == "errors") return 2;
  return 0;
}

std::string refuse_root(const std::vector<path_part>& parts) {
  static constexpr const char* roots =
      "expressions can read .input, .task, .launch, .steps.NAME, .status.NAME and .errors.NAME, and in a step with `for_each` .item and "
      ".index";
  if (!parts[0].is_key) return std::string("the document is an object, not an array: ") + roots;
  const auto& name = parts[0].key;
  if (root_size(name) == 0) return "there is no " + spell_json_key(name) + ": " + roots;
  if (parts.size() < 2) return {};
  if (name == "index") return "there is no " + spell_path(parts, 2) + ": .index is a number, that of the item in its list";
  if (root_size(name) == 2 && !parts[1].is_key) return "." + name + " is an object of step names, not an array";
  if (name == "task") {
    const auto& field = parts[1].key;
    if (field != "id" && field != "workflow" && field != "priority" && field != "labels" && field != "end") {
      return "there is no " + spell_path(parts, 2) + ": a task has id, workflow, priority and labels, and in steps with `finally` end";
    }
  }
  if (name == "launch") {
    static constexpr std::string_view fields[] = {"job", "id", "nominal_utc", "nominal_local", "nominal_unix_s", "zone", "trigger"};
    if (std::find(std::begin(fields), std::end(fields), parts[1].key) == std::end(fields)) {
      return "there is no " + spell_path(parts, 2) + ": a launch has job, id, nominal_utc, nominal_local, nominal_unix_s, zone and trigger";
    }
  }
  return {};
}

std::optional<plain_path> parse_plain_path(std::string_view text) {
  plain_path out;
  if (!reader(text).path(out) || out.parts.empty()) return std::nullopt;
  // An unknown root is a plain path as well, so that its refusal is that of a path.
  if (out.parts[0].is_key && out.parts.size() < root_size(out.parts[0].key)) return std::nullopt;
  return out;
}

std::optional<std::string_view> find_path(const plain_path& path, const document& doc) {
  const auto size = root_size(path.parts[0].key);
  auto value = find_root(path, doc, size);
  for (auto i = size; value && i < path.parts.size(); ++i) value = step_down(*value, path.parts[i]);
  return value;
}

std::string explain_missing(const plain_path& path, const document& doc) {
  const auto size = root_size(path.parts[0].key);
  auto value = find_root(path, doc, size);
  if (!value) return spell_path(path.parts, size) + " is missing";
  for (auto i = size; i < path.parts.size(); ++i) {
    const auto below = step_down(*value, path.parts[i]);
    if (below) {
      value = below;
      continue;
    }
    const bool fits = value->front() == (path.parts[i].is_key ? '{' : '[');
    if (fits) return spell_path(path.parts, i + 1) + " is missing";
    return spell_path(path.parts, i) + " is " + json_kind(*value) + ", not " + (path.parts[i].is_key ? "an object" : "an array");
  }
  return spell_path(path.parts, path.parts.size()) + " is there";
}

std::string spell_path(const std::vector<path_part>& parts, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count && i < parts.size(); ++i) {
    auto part = parts[i].is_key ? spell_json_key(parts[i].key) : "[" + std::to_string(parts[i].index) + "]";
    if (i == 0 && part[0] == '[') part.insert(0, ".");
    out += part;
  }
  return out;
}

}  // namespace fairlead::core
