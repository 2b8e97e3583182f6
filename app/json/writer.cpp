#include "app/json/writer.hpp"

#include <strings.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "messages/time.hpp"

namespace fairlead::app {

void json_writer::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

json_writer& json_writer::begin_object() {
  separate();
  out_ += '{';
  first_ = true;
  return *this;
}

json_writer& json_writer::end_object() {
  out_ += '}';
  first_ = false;
  return *this;
}

json_writer& json_writer::begin_array() {
  separate();
  out_ += '[';
  first_ = true;
  return *this;
}

json_writer& json_writer::end_array() {
  out_ += ']';
  first_ = false;
  return *this;
}

json_writer& json_writer::key(std::string_view name) {
  string(name);
  out_ += ':';
  first_ = true;
  return *this;
}

json_writer& json_writer::string(std::string_view text) {
  separate();
  out_ += '"';
  const auto is_special = [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; };
  for (auto from = text.begin();; ++from) {
    const auto to = std::find_if(from, text.end(), is_special);
    out_.append(from, to);
    if (to == text.end()) break;
    add_escaped(*to);
    from = to;
  }
  out_ += '"';
  return *this;
}

void json_writer::add_escaped(char special) {
  switch (special) {
    case '"': out_ += "\\\""; break;
    case '\\': out_ += "\\\\"; break;
    case '\n': out_ += "\\n"; break;
    case '\t': out_ += "\\t"; break;
    case '\r': out_ += "\\r"; break;
    default: {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(special));
      out_ += escape;
    }
  }
}

json_writer& json_writer::text_or_null(std::string_view text) { return text.empty() ? null() : string(text); }

json_writer& json_writer::texts_or_null(const std::optional<std::vector<std::string>>& texts) {
  if (!texts) return null();
  begin_array();
  for (const auto& one : *texts) string(one);
  return end_array();
}

json_writer& json_writer::number(std::int64_t value) { return raw(std::to_string(value)); }
json_writer& json_writer::number(std::uint64_t value) { return raw(std::to_string(value)); }

json_writer& json_writer::seconds(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3f", value);
  return raw(text);
}

json_writer& json_writer::boolean(bool value) { return raw(value ? "true" : "false"); }
json_writer& json_writer::null() { return raw("null"); }

json_writer& json_writer::raw(std::string_view json) {
  separate();
  out_ += json.empty() ? std::string_view{"null"} : json;
  return *this;
}

json_writer& json_writer::moment(std::int64_t unix_ms) { return unix_ms == 0 ? null() : string(format_utc(unix_ms)); }

void write_labels(json_writer& out, const google::protobuf::RepeatedPtrField<v1::Label>& labels) {
  out.key("labels").begin_object();
  for (const auto& label : labels) out.key(label.key()).string(label.value());
  out.end_object();
}

std::string missing_json(const google::protobuf::RepeatedPtrField<v1::Error>& missing) {
  json_writer out;
  out.begin_array();
  for (const auto& one : missing) out.string(one.sentence());
  return out.end_array().text();
}

namespace {

/// A word that no reader of YAML takes for something else; all other strings are quoted as in JSON.
bool is_plain(const std::string& text) {
  static constexpr std::string_view letters{"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/"};
  static constexpr std::string_view more{"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/0123456789.@+-"};
  static constexpr std::array others{"y", "n", "yes", "no", "on", "off", "true", "false", "null"};
  if (text.empty() || letters.find(text.front()) == std::string_view::npos || text.find_first_not_of(more) != std::string::npos)
    return false;
  return std::none_of(others.begin(), others.end(), [&text](const char* other) { return ::strcasecmp(text.c_str(), other) == 0; });
}

std::string scalar_of(const nlohmann::ordered_json& value) {
  return value.is_string() && is_plain(value.get_ref<const std::string&>()) ? value.get<std::string>() : value.dump();
}

void add_yaml(std::string& out, const nlohmann::ordered_json& value, const std::string& indent) {
  const auto add_value = [&](const nlohmann::ordered_json& one) {
    const bool in_place = !one.is_structured() || one.empty();
    out += in_place ? " " + scalar_of(one) + "\n" : "\n";
    if (!in_place) add_yaml(out, one, indent + "  ");
  };
  if (value.is_object()) {
    for (const auto& [key, one] : value.items()) {
      out += indent + (is_plain(key) ? key : nlohmann::ordered_json(key).dump()) + ":";
      add_value(one);
    }
  } else {
    for (const auto& one : value) {
      const auto begin = out.size();
      if (one.is_structured() && !one.empty())
        add_yaml(out, one, indent + "  ");
      else
        out += indent + "  " + scalar_of(one) + "\n";
      out[begin + indent.size()] = '-';  // in place of the first blank of the item's own indentation
    }
  }
}

}  // namespace

std::string yaml_of_json(const std::string& json) {
  const auto value = nlohmann::ordered_json::parse(json, nullptr, false);
  if (value.is_discarded()) return json + "\n";
  std::string out = "---\n";
  if (!value.is_structured() || value.empty()) return out + scalar_of(value) + "\n";
  add_yaml(out, value, "");
  return out;
}

}  // namespace fairlead::app
