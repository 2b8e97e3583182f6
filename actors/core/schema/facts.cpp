#include "actors/core/schema/facts.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "actors/core/text/json.hpp"
#include "actors/core/text/json_cursor.hpp"
#include "actors/core/text/nearest.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::core {

namespace {

constexpr std::size_t most_shown_values = 8;
constexpr std::size_t most_shown_bytes = 60;
constexpr std::size_t most_compared_names = 64;  // for a suggestion
// The canonical text of a value scans each level of it again. That is at most 64 scans, and for inputs as they are in use far fewer than 16.
constexpr std::size_t looks_of_canonical = 16;

/// `an integer`, `null`: how a sentence calls a type.
std::string with_article(const std::string& type) {
  if (type == "null") return "null";
  if (type == "boolean") return "true or false";
  return (type == "integer" || type == "object" || type == "array" ? "an " : "a ") + type;
}

enum class value_kind { null, boolean, number, text, array, object };

value_kind kind_of(std::string_view json) {
  switch (json.front()) {
    case 'n': return value_kind::null;
    case 't':
    case 'f': return value_kind::boolean;
    case '"': return value_kind::text;
    case '[': return value_kind::array;
    case '{': return value_kind::object;
    default: return value_kind::number;
  }
}

std::string found(std::string_view value) {
  switch (kind_of(value)) {
    case value_kind::null: return "null";
    case value_kind::boolean: return "true or false";
    case value_kind::number: return decimal::read(value).is_whole() ? "an integer" : "a number that is no integer";
    case value_kind::text: return "a string";
    case value_kind::array: return "an array";
    case value_kind::object: return "an object";
  }
  return "";
}

bool is_of(const std::string& type, std::string_view value) {
  switch (kind_of(value)) {
    case value_kind::null: return type == "null";
    case value_kind::boolean: return type == "boolean";
    case value_kind::number: return type == "number" || (type == "integer" && decimal::read(value).is_whole());
    case value_kind::text: return type == "string";
    case value_kind::array: return type == "array";
    case value_kind::object: return type == "object";
  }
  return false;
}

std::uint64_t elements_in(std::string_view array) {
  std::uint64_t out = 0;
  std::string_view one;
  for (json_cursor all{array}; all.next_element(one);) ++out;
  return out;
}

std::vector<std::string> names_in(std::string_view object) {
  std::vector<std::string> out;
  std::string_view name, value;
  for (json_cursor all{object}; all.next_member(name, value);) out.push_back(decode_json_string(name));
  return out;
}

std::uint64_t distinct_names_in(std::string_view object) {
  const auto names = names_in(object);
  return std::set<std::string_view>{names.begin(), names.end()}.size();
}

void append_sized(std::string& out, const std::string& text) { out += std::to_string(text.size()) + ':' + text; }

/// The recursion is as deep as the JSON, which check_json bounds. Each level is scanned again, so a byte is read as often as it is deep.
void append_canonical(std::string& out, std::string_view json) {
  std::string_view name, value;
  switch (kind_of(json)) {
    case value_kind::object: {
      std::map<std::string, std::string_view> sorted;
      for (json_cursor all{json}; all.next_member(name, value);) sorted[decode_json_string(name)] = value;
      out += '{';
      for (const auto& [key, one] : sorted) {
        append_sized(out, key);
        append_canonical(out, one);
      }
      out += '}';
      break;
    }
    case value_kind::array:
      out += '[';
      for (json_cursor all{json}; all.next_element(value);) append_canonical(out, value);
      out += ']';
      break;
    case value_kind::text:
      out += '"';
      append_sized(out, decode_json_string(json));
      break;
    case value_kind::number: out += decimal::read(json).text() + ','; break;
    default: out += json;
  }
}

std::string shown(std::string_view json) { return clean_text(json, most_shown_bytes) + (json.size() > most_shown_bytes ? "…" : ""); }

std::vector<std::string> strings_in(std::string_view array) {
  std::vector<std::string> out;
  std::string_view one;
  for (json_cursor all{array}; all.next_element(one);) out.push_back(decode_json_string(one));
  return out;
}

std::uint64_t characters_in(const std::string& text) {
  return static_cast<std::uint64_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

std::string canonical_json(std::string_view json) {
  std::string out;
  append_canonical(out, json);
  return out;
}

/// Collects misfits, whose sentences are only made if somebody wants them.
class value_facts::verdict {
 public:
  explicit verdict(misfits* out) : out_(out) {}

  template <class Words>
  void refuse(const std::string& name, Words words) {
    fits_ = false;
    if (out_ != nullptr) out_->all.push_back({name, words()});
  }
  bool fits() const { return fits_; }
  bool is_over() const { return !fits_ && (out_ == nullptr || out_->all.size() >= out_->most); }
  bool suggests() const { return out_ != nullptr && out_->suggests; }

 private:
  misfits* out_;
  bool fits_ = true;
};

value_facts value_facts::read(std::string_view schema) {
  value_facts out;
  out.nothing_fits_ = schema == "false";
  if (schema.front() != '{') return out;
  std::string_view name, value;
  for (json_cursor all{schema}; all.next_member(name, value);) out.read_keyword(decode_json_string(name), value);
  out.weight_ += out.required_.size() + out.known_.size();
  for (const auto& [given, others] : out.beside_) out.weight_ += 1 + others.size();
  for (const auto looks : {!out.values_words_.empty(), !out.constant_words_.empty(), out.unique_})
    out.looks_ += looks ? looks_of_canonical : 0;
  const auto counted = out.properties_.least || out.properties_.most;
  if (counted || out.closed_ || !out.required_.empty() || !out.beside_.empty()) ++out.looks_;
  return out;
}

void value_facts::read_keyword(const std::string& name, std::string_view value) {
  const auto number = [&] { return bound{decimal::read(value), shown(value)}; };
  const auto count = [&] { return decimal::read(value).count(); };
  std::string_view one, key;
  if (name == "type") {
    types_ = value.front() == '[' ? strings_in(value) : std::vector<std::string>{decode_json_string(value)};
  } else if (name == "enum") {
    std::string words;
    std::size_t size = 0;
    for (json_cursor all{value}; all.next_element(one); ++size) {
      values_.insert(canonical_json(one));
      if (size < most_shown_values) words += (size == 0 ? "" : ", ") + shown(one);
    }
    values_words_ = size == 1                   ? "must be " + words
                    : size <= most_shown_values ? "must be one of " + words
                                                : "must be one of " + std::to_string(size) + " values, such as " + words;
  } else if (name == "const") {
    constant_ = canonical_json(value);
    constant_words_ = "must be " + shown(value);
  } else if (name == "minimum") {
    minimum_ = number();
  } else if (name == "maximum") {
    maximum_ = number();
  } else if (name == "exclusiveMinimum") {
    above_ = number();
  } else if (name == "exclusiveMaximum") {
    below_ = number();
  } else if (name == "multipleOf") {
    divisor_ = number();
  } else if (name == "minLength") {
    length_.least = count();
  } else if (name == "maxLength") {
    length_.most = count();
  } else if (name == "minItems") {
    items_.least = count();
  } else if (name == "maxItems") {
    items_.most = count();
  } else if (name == "minProperties") {
    properties_.least = count();
  } else if (name == "maxProperties") {
    properties_.most = count();
  } else if (name == "uniqueItems") {
    unique_ = value == "true";
  } else if (name == "required") {
    required_ = strings_in(value);
  } else if (name == "additionalProperties") {
    closed_ = value == "false";
  } else if (name == "properties") {
    for (json_cursor all{value}; all.next_member(key, one);) known_.insert(decode_json_string(key));
  } else if (name == "dependencies") {
    for (json_cursor all{value}; all.next_member(key, one);)
      if (one.front() == '[') beside_.emplace_back(decode_json_string(key), strings_in(one));
  }
}

bool value_facts::fit(std::string_view value, misfits* out) const {
  verdict so_far{out};
  if (nothing_fits_) so_far.refuse("", [] { return "must not be given"; });
  if (!so_far.is_over()) fit_type(value, so_far);
  // A value of another type has no size that would be of interest.
  if (!so_far.fits()) return false;
  if (!values_words_.empty() && values_.count(canonical_json(value)) == 0) so_far.refuse("", [this] { return values_words_; });
  if (!constant_words_.empty() && canonical_json(value) != constant_) so_far.refuse("", [this] { return constant_words_; });
  if (so_far.is_over()) return false;
  switch (kind_of(value)) {
    case value_kind::number:
      if (minimum_ || maximum_ || above_ || below_ || divisor_) fit_number(decimal::read(value), so_far);
      break;
    case value_kind::text:
      if (length_.least || length_.most) fit_size(characters_in(decode_json_string(value)), length_, "character", "characters", so_far);
      break;
    case value_kind::array:
      if (items_.least || items_.most) fit_size(elements_in(value), items_, "element", "elements", so_far);
      if (unique_ && !so_far.is_over()) fit_unique(value, so_far);
      break;
    case value_kind::object:
      if (properties_.least || properties_.most) fit_size(distinct_names_in(value), properties_, "property", "properties", so_far);
      if (!so_far.is_over()) fit_object(value, so_far);
      break;
    default: break;
  }
  return so_far.fits();
}

void value_facts::fit_type(std::string_view value, verdict& out) const {
  if (types_.empty() || std::any_of(types_.begin(), types_.end(), [&](const auto& one) { return is_of(one, value); })) return;
  out.refuse("", [&] {
    std::string words;
    for (std::size_t i = 0; i < types_.size(); ++i)
      words += (i == 0 ? "" : i + 1 == types_.size() ? " or " : ", ") + with_article(types_[i]);
    return "must be " + words + ", found " + found(value);
  });
}

void value_facts::fit_number(const decimal& number, verdict& out) const {
  const auto refuse = [&](const char* words, const bound& by) { out.refuse("", [&] { return std::string{words} + by.shown; }); };
  if (minimum_ && number < minimum_->value) refuse("must be at least ", *minimum_);
  if (maximum_ && number > maximum_->value) refuse("must be at most ", *maximum_);
  if (above_ && number <= above_->value) refuse("must be more than ", *above_);
  if (below_ && number >= below_->value) refuse("must be less than ", *below_);
  if (divisor_ && !number.is_multiple_of(divisor_->value)) refuse("must be a multiple of ", *divisor_);
}

void value_facts::fit_size(std::uint64_t size, const sizes& allowed, const char* one, const char* many, verdict& out) {
  const auto refuse = [&](const char* words, std::uint64_t bound) {
    out.refuse("", [&] {
      return std::string{words} + std::to_string(bound) + " " + (bound == 1 ? one : many) + ", found " + std::to_string(size);
    });
  };
  if (allowed.least && size < *allowed.least) refuse("must have at least ", *allowed.least);
  if (allowed.most && size > *allowed.most) refuse("must have at most ", *allowed.most);
}

void value_facts::fit_object(std::string_view value, verdict& out) const {
  if (required_.empty() && !closed_ && beside_.empty()) return;
  const auto names = names_in(value);
  const std::set<std::string_view> there{names.begin(), names.end()};
  for (const auto& name : required_) {
    if (out.is_over()) return;
    if (there.count(name) == 0) out.refuse(name, [] { return "is missing"; });
  }
  for (const auto& [name, others] : beside_) {
    if (out.is_over()) return;
    if (there.count(name) == 0) continue;
    for (const auto& other : others) {
      if (out.is_over()) return;
      if (there.count(other) == 0) out.refuse(other, [&, &of = name] { return "is missing, although " + shown(of) + " is given"; });
    }
  }
  if (!closed_) return;
  for (const auto& name : names) {
    if (out.is_over()) return;
    if (known_.count(name) != 0) continue;
    out.refuse(name, [&] {
      const auto compares = out.suggests() && known_.size() <= most_compared_names;
      const auto close = compares ? nearest(name, {known_.begin(), known_.end()}) : std::string{};
      return "is not a property that the schema allows" + (close.empty() ? "" : " (did you mean " + close + "?)");
    });
  }
}

void value_facts::fit_unique(std::string_view value, verdict& out) {
  std::vector<std::string> elements;
  std::string_view one;
  for (json_cursor all{value}; all.next_element(one);) elements.push_back(canonical_json(one));
  std::vector<std::size_t> order(elements.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return std::tie(elements[a], a) < std::tie(elements[b], b); });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (elements[order[i - 1]] != elements[order[i]]) continue;
    return out.refuse("", [&] {
      return "must not have equal elements, found them at " + std::to_string(order[i - 1]) + " and " + std::to_string(order[i]);
    });
  }
}

}  // namespace fairlead::core
