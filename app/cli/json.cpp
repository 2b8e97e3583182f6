#include "app/cli/json.hpp"

#include <cstdio>

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
  for (char c : text) {
    switch (c) {
      case '"': out_ += "\\\""; break;
      case '\\': out_ += "\\\\"; break;
      case '\n': out_ += "\\n"; break;
      case '\t': out_ += "\\t"; break;
      case '\r': out_ += "\\r"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char escape[8];
          std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
          out_ += escape;
        } else {
          out_ += c;
        }
    }
  }
  out_ += '"';
  return *this;
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

std::string missing_json(const google::protobuf::RepeatedPtrField<v1::Error>& missing) {
  json_writer out;
  out.begin_array();
  for (const auto& one : missing) out.string(one.sentence());
  return out.end_array().text();
}

}  // namespace fairlead::app
