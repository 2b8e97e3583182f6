#include "actors/core/types/typed_json_scalars.hpp"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "actors/core/text/json.hpp"
#include "actors/core/text/nearest.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::core {

namespace {

namespace pb = google::protobuf;
using field_type = pb::FieldDescriptor;

bool is_number(std::string_view json) { return json.front() == '-' || (json.front() >= '0' && json.front() <= '9'); }
bool is_string(std::string_view json) { return json.front() == '"'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string expected(const std::string& what, std::string_view json) {
  return "expected " + what + ", found " + (is_number(json) ? shown(json) : std::string{json_kind(json)});
}

/// Whether the text is a number by JSON's grammar; numbers in quotes must follow it, too.
bool spells_number(std::string_view text) {
  std::size_t i = 0;
  const auto digits = [&] {
    const auto from = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i > from;
  };
  if (i < text.size() && text[i] == '-') ++i;
  const auto from = i;
  if (!digits() || (text[from] == '0' && i - from > 1)) return false;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (!digits()) return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (!digits()) return false;
  }
  return i == text.size();
}

/// The digits of a whole number, without sign, point and exponent (`1.5e1` is 15); nullopt: it has a fraction, or too many digits for any
/// type. Exact, unlike a conversion through double.
std::optional<std::string> whole_digits(std::string_view number) {
  constexpr std::int64_t most_digits = 40;
  if (!number.empty() && number.front() == '-') number.remove_prefix(1);
  const auto e = number.find_first_of("eE");
  const auto mantissa = number.substr(0, e);
  std::int64_t exponent = 0;
  if (e != std::string_view::npos) {
    auto text = number.substr(e + 1);
    const bool minus = text.front() == '-';
    if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
    for (const char c : text) exponent = std::min<std::int64_t>(exponent * 10 + (c - '0'), 1'000'000);
    if (minus) exponent = -exponent;
  }
  const auto point = mantissa.find('.');
  std::string digits{mantissa.substr(0, point)};
  if (point != std::string_view::npos) {
    digits += mantissa.substr(point + 1);
    exponent -= static_cast<std::int64_t>(mantissa.size() - point - 1);
  }
  const auto first = digits.find_first_not_of('0');
  if (first == std::string::npos) return std::string{"0"};
  digits.erase(0, first);
  while (exponent < 0 && digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  if (exponent < 0 || static_cast<std::int64_t>(digits.size()) + exponent > most_digits) return std::nullopt;
  digits.append(static_cast<std::size_t>(exponent), '0');
  return digits;
}

template <class Integer>
std::string refuse_integer(std::string_view json, const char* name) {
  const std::string decoded = is_string(json) ? decode_json_string(json) : std::string{};
  const std::string_view text = is_string(json) ? std::string_view{decoded} : json;
  if (!is_string(json) && !is_number(json)) return expected(name, json);
  if (!spells_number(text)) return std::string{"expected "} + name + ", found the text \"" + shown(text) + "\"";
  const auto digits = whole_digits(text);
  if (!digits) return std::string{"expected "} + name + ", found " + shown(text);
  const auto whole = (text.front() == '-' && *digits != "0" ? "-" : "") + *digits;
  Integer value{};
  const auto [end, failure] = std::from_chars(whole.data(), whole.data() + whole.size(), value);
  if (failure == std::errc{} && end == whole.data() + whole.size()) return {};
  return shown(text) + " is not between " + std::to_string(std::numeric_limits<Integer>::min()) + " and " +
         std::to_string(std::numeric_limits<Integer>::max()) + ", the range of " + name;
}

std::string refuse_floating(std::string_view json, const char* name, double largest) {
  std::string text{json};
  if (is_string(json)) {
    text = decode_json_string(json);
    if (text == "NaN" || text == "Infinity" || text == "-Infinity") return {};
    if (!spells_number(text)) return std::string{"expected "} + name + ", found the text \"" + shown(text) + "\"";
  } else if (!is_number(json)) {
    return expected(name, json);
  }
  const double value = std::strtod(text.c_str(), nullptr);
  if (value > largest || value < -largest) return shown(text) + " is beyond the range of " + name;
  return {};
}

std::string refuse_bytes(std::string_view json) {
  if (!is_string(json)) return expected("bytes as a base64 string", json);
  auto text = decode_json_string(json);
  std::size_t padding = 0;
  while (!text.empty() && text.back() == '=') {
    text.pop_back();
    ++padding;
  }
  const bool letters = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/' || c == '-' || c == '_';
  });
  const bool length = text.size() % 4 != 1 && (padding == 0 || (padding <= 2 && (text.size() + padding) % 4 == 0));
  return letters && length ? std::string{} : "this text is not base64";
}

std::string refuse_enum(std::string_view json, const pb::EnumDescriptor& type) {
  if (type.full_name() == "google.protobuf.NullValue")
    return json == "null" || json == "\"NULL_VALUE\"" || json == "0" ? "" : expected("null", json);
  if (is_string(json)) {
    const auto name = decode_json_string(json);
    if (type.FindValueByName(name) != nullptr) return {};
    std::vector<std::string> names;
    for (int i = 0; i < type.value_count(); ++i) names.push_back(type.value(i)->name());
    const auto close = nearest(name, names);
    return type.full_name() + " has no value " + shown(name) + (close.empty() ? std::string{} : "; nearest: " + close);
  }
  if (!is_number(json)) return expected("a value of " + type.full_name(), json);
  if (auto why = refuse_integer<std::int32_t>(json, "int32"); !why.empty()) return why;
  // Only proto3 keeps numbers that the enum does not name.
  if (type.file()->syntax() == pb::FileDescriptor::SYNTAX_PROTO3) return {};
  std::int32_t value = 0;
  const auto digits = whole_digits(json).value_or("");
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return type.FindValueByNumber(json.front() == '-' ? -value : value) != nullptr ? "" : type.full_name() + " has no value " + shown(json);
}

/// Whether `text` has the form of `pattern`: `9` is any digit, every other character itself.
bool looks_like(std::string_view text, std::string_view pattern) {
  return text.size() == pattern.size() &&
         std::equal(text.begin(), text.end(), pattern.begin(), [](char c, char p) { return p == '9' ? is_digit(c) : c == p; });
}

int number_in(std::string_view text, std::size_t at, std::size_t size) {
  int out = 0;
  for (const char c : text.substr(at, size)) out = out * 10 + (c - '0');
  return out;
}

/// RFC 3339 as the mapping requires: a `Z` or an offset, at most nine digits of a second.
bool is_timestamp(std::string_view text) {
  if (text.size() < 20 || !looks_like(text.substr(0, 19), "9999-99-99T99:99:99")) return false;
  const int year = number_in(text, 0, 4);
  const int month = number_in(text, 5, 2);
  const int day = number_in(text, 8, 2);
  if (year < 1 || month < 1 || month > 12 || day < 1 || number_in(text, 11, 2) > 23 || number_in(text, 14, 2) > 59 ||
      number_in(text, 17, 2) > 59)
    return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  constexpr std::array<int, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (day > days.at(static_cast<std::size_t>(month - 1)) + (month == 2 && leap ? 1 : 0)) return false;
  auto rest = text.substr(19);
  if (rest.front() == '.') {
    const auto end = rest.find_first_not_of("0123456789", 1);
    if (end == std::string_view::npos || end < 2 || end > 10) return false;
    rest.remove_prefix(end);
  }
  if (rest == "Z") return true;
  if (!looks_like(rest, "+99:99") && !looks_like(rest, "-99:99")) return false;
  return number_in(rest, 1, 2) <= 23 && number_in(rest, 4, 2) <= 59;
}

/// `-1.5s`: seconds within ten thousand years, at most nine digits of a second.
bool is_duration(std::string_view text) {
  if (text.size() < 2 || text.back() != 's') return false;
  text.remove_suffix(1);
  if (text.front() == '-') text.remove_prefix(1);
  const auto point = text.find('.');
  const auto seconds = text.substr(0, point);
  const auto all_digits = [](std::string_view part) { return !part.empty() && std::all_of(part.begin(), part.end(), is_digit); };
  if (!all_digits(seconds) || seconds.size() > 12) return false;
  if (std::strtoll(std::string{seconds}.c_str(), nullptr, 10) > 315'576'000'000) return false;
  return point == std::string_view::npos || (all_digits(text.substr(point + 1)) && text.size() - point - 1 <= 9);
}

}  // namespace

std::string shown(std::string_view text, std::size_t most_bytes) {
  auto out = clean_text(text, most_bytes);
  for (auto& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text.size() > most_bytes ? out + "…" : out;
}

std::string type_words(const pb::FieldDescriptor& field) {
  switch (field.type()) {
    case field_type::TYPE_MESSAGE:
    case field_type::TYPE_GROUP: return field.message_type()->full_name();
    case field_type::TYPE_ENUM: return field.enum_type()->full_name();
    default: return field.type_name();
  }
}

std::string refuse_scalar(std::string_view json, const pb::FieldDescriptor& field) {
  switch (field.type()) {
    case field_type::TYPE_BOOL: return json == "true" || json == "false" ? std::string{} : expected("true or false", json);
    case field_type::TYPE_STRING: return is_string(json) ? std::string{} : expected("a string", json);
    case field_type::TYPE_BYTES: return refuse_bytes(json);
    case field_type::TYPE_ENUM: return refuse_enum(json, *field.enum_type());
    case field_type::TYPE_DOUBLE: return refuse_floating(json, "double", std::numeric_limits<double>::max());
    case field_type::TYPE_FLOAT: return refuse_floating(json, "float", static_cast<double>(std::numeric_limits<float>::max()));
    case field_type::TYPE_INT32:
    case field_type::TYPE_SINT32:
    case field_type::TYPE_SFIXED32: return refuse_integer<std::int32_t>(json, field.type_name());
    case field_type::TYPE_UINT32:
    case field_type::TYPE_FIXED32: return refuse_integer<std::uint32_t>(json, field.type_name());
    case field_type::TYPE_INT64:
    case field_type::TYPE_SINT64:
    case field_type::TYPE_SFIXED64: return refuse_integer<std::int64_t>(json, field.type_name());
    default: return refuse_integer<std::uint64_t>(json, field.type_name());
  }
}

std::string refuse_map_key(const std::string& key, const pb::FieldDescriptor& key_field) {
  if (key_field.type() == field_type::TYPE_STRING) return {};
  if (key_field.type() == field_type::TYPE_BOOL)
    return key == "true" || key == "false" ? std::string{} : "the map's keys are true and false";
  std::string quoted;
  append_json_string(quoted, key);
  return refuse_scalar(quoted, key_field);
}

bool is_wrapper(const pb::Descriptor& type) {
  static const std::vector<std::string> names{"DoubleValue", "FloatValue", "Int64Value",  "UInt64Value", "Int32Value",
                                              "UInt32Value", "BoolValue",  "StringValue", "BytesValue"};
  // A type in a client's set may have such a name and another structure.
  const auto* value = type.FindFieldByNumber(1);
  return type.file()->package() == "google.protobuf" && std::find(names.begin(), names.end(), type.name()) != names.end() &&
         value != nullptr && type.field_count() == 1 && value->type() != field_type::TYPE_MESSAGE &&
         value->type() != field_type::TYPE_GROUP && !value->is_repeated();
}

std::optional<std::string> refuse_known_text(std::string_view json, const std::string& full_name) {
  const auto text = [&] { return is_string(json) ? decode_json_string(json) : std::string{}; };
  if (full_name == "google.protobuf.Timestamp")
    return is_timestamp(text()) ? std::string{} : expected("a time such as \"2026-03-29T01:00:00Z\"", json);
  if (full_name == "google.protobuf.Duration") return is_duration(text()) ? std::string{} : expected("a duration such as \"1.5s\"", json);
  if (full_name == "google.protobuf.FieldMask") return is_string(json) ? std::string{} : expected("field names in one string", json);
  return std::nullopt;
}

}  // namespace fairlead::core
