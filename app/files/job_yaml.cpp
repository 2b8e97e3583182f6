// A job's specification as the YAML that app/files/job_file.cpp reads.

#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "actors/core/text/json.hpp"
#include "app/files/job_file.hpp"
#include "app/files/job_words.hpp"
#include "app/yaml/scalar.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

/// Values that are no longer than this stand on the line of their key.
constexpr std::size_t widest_flow = 100;

/// In double quotes. What a file of plain text cannot hold, and what YAML takes for the end of a line, is escaped.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  const auto escape = [&](const char* form, unsigned value) {
    std::array<char, 16> buffer{};
    std::snprintf(buffer.data(), buffer.size(), form, value);
    out += buffer.data();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = [&](std::size_t n) { return i + n < text.size() ? static_cast<unsigned char>(text[i + n]) : 0U; };
    if (byte == '"' || byte == '\\') {
      out += {'\\', text[i]};
    } else if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      escape("\\x%02X", byte);
    } else if (byte == 0xC2 && next(1) >= 0x80 && next(1) < 0xA0) {  // U+0080 to U+009F
      escape("\\u%04X", next(1));
      i += 1;
    } else if (byte == 0xE2 && next(1) == 0x80 && (next(2) == 0xA8 || next(2) == 0xA9)) {  // U+2028 and U+2029
      escape("\\u%04X", 0x2000 + next(2) - 0x80);
      i += 2;
    } else if (byte == 0xEF && ((next(1) == 0xBB && next(2) == 0xBF) || (next(1) == 0xBF && next(2) >= 0xBE))) {  // U+FEFF, U+FFFE, U+FFFF
      escape("\\u%04X", next(1) == 0xBB ? 0xFEFFU : 0xFFC0U + next(2) - 0x80);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out + '"';
}

/// Without quotes where nobody could take it for anything else.
std::string word(std::string_view text) {
  bool plain = !text.empty() && (std::isalpha(static_cast<unsigned char>(text.front())) != 0 || text.front() == '_');
  for (const char c : text)
    plain = plain && (std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view{"_./-"}.find(c) != std::string_view::npos);
  for (const auto* null : {"null", "Null", "NULL"}) plain = plain && text != null;
  return plain && type_of_scalar(text) == scalar_type::text ? std::string{text} : quoted(text);
}

/// Several lines as a block, when a block would say exactly that.
std::string prose(const std::string& text, const std::string& indent) {
  const bool ends = !text.empty() && text.back() == '\n';
  const auto body = ends ? text.substr(0, text.size() - 1) : text;
  bool block = body.find('\n') != std::string::npos && body.front() != ' ' && body.front() != '\n' && body.back() != '\n';
  for (std::size_t i = 0; i < body.size() && block; ++i) {
    const auto byte = static_cast<unsigned char>(body[i]);
    block = byte == '\n' ? body[i - 1] != ' ' && body[i - 1] != '\n' : byte >= 0x20 && byte < 0x7F;
  }
  if (!block || body.back() == ' ') return quoted(text);
  std::string out = ends ? "|\n" + indent : "|-\n" + indent;
  for (const char c : body) out += c == '\n' ? "\n" + indent : std::string{c};
  return out;
}

/// JSON that has been checked, as YAML: numbers keep their spelling.
class json_as_yaml {
 public:
  explicit json_as_yaml(std::string_view json) : at_(json.data()), end_(json.data() + json.size()) {}

  /// What stands behind `key:`, with the blank or the end of the line before it.
  std::string value(const std::string& indent) {
    skip_blanks();
    if (at_ == end_) return " null";
    const auto* begin = at_;
    const auto flow = flow_value();
    if (flow.size() + indent.size() <= widest_flow || flow == "{}" || flow == "[]" || (*begin != '{' && *begin != '[')) return " " + flow;
    at_ = begin;
    return *begin == '{' ? block_map(indent) : block_list(indent);
  }

 private:
  void skip_blanks() {
    while (at_ != end_ && std::isspace(static_cast<unsigned char>(*at_)) != 0) ++at_;
  }

  /// Whether there is a value before the end of this list or map. Passes what stands before it.
  bool another(char end) {
    skip_blanks();
    if (at_ != end_ && *at_ == ',') {
      ++at_;
      skip_blanks();
    }
    if (at_ == end_) return false;
    if (*at_ != end) return true;
    ++at_;
    return false;
  }

  std::string string_here() {
    const auto* begin = at_;
    at_ = core::skip_json_string(at_, end_);
    return core::decode_json_string({begin, static_cast<std::size_t>(at_ - begin)});
  }

  std::string key_here() {
    auto out = string_here();
    skip_blanks();
    if (at_ != end_) ++at_;  // the colon
    return out;
  }

  std::string flow_value() {
    skip_blanks();
    if (at_ == end_) return "null";
    if (*at_ == '"') return quoted(string_here());
    std::string out;
    if (*at_ == '{') {
      ++at_;
      while (another('}')) {
        out += (out.empty() ? "{ " : ", ") + word(key_here()) + ": ";
        out += flow_value();
      }
      return out.empty() ? "{}" : out + " }";
    }
    if (*at_ == '[') {
      ++at_;
      while (another(']')) out += (out.empty() ? "[" : ", ") + flow_value();
      return out.empty() ? "[]" : out + "]";
    }
    while (at_ != end_ && std::string_view{",]} \t\r\n"}.find(*at_) == std::string_view::npos) out += *at_++;
    return out;
  }

  std::string block_map(const std::string& indent) {
    std::string out;
    ++at_;
    while (another('}')) {
      out += "\n" + indent + word(key_here()) + ":";
      out += value(indent + "  ");
    }
    return out;
  }

  std::string block_list(const std::string& indent) {
    std::string out;
    ++at_;
    while (another(']')) out += "\n" + indent + "-" + value(indent + "  ");
    return out;
  }

  const char* at_;
  const char* end_;
};

std::string labels_flow(const google::protobuf::RepeatedPtrField<v1::Label>& labels) {
  std::string out;
  for (const auto& label : labels) out += (out.empty() ? "{ " : ", ") + word(label.key()) + ": " + word(label.value());
  return out + " }";
}

std::string needs_block(const v1::JobSpec& job) {
  std::string out;
  for (const auto& need : job.needs()) {
    out += "\n  - { agent: " + word(need.agent()) + ", slots: " + std::to_string(need.slots());
    if (!need.labels().empty()) out += ", labels: " + labels_flow(need.labels());
    out += " }";
  }
  return out;
}

}  // namespace

std::string job_yaml(const v1::JobSpec& job) {
  std::string out = "job: " + word(job.name()) + "\nschedule: " + quoted(job.schedule()) + "\n";
  const auto add = [&](const char* key, const std::string& value) { out += std::string{key} + ": " + value + "\n"; };
  if (!job.zone().empty()) add("time_zone", word(job.zone()));
  if (job.dst() != v1::DST_POLICY_UNSPECIFIED) add("dst", dst_word(job.dst()));
  add("workflow", word(job.workflow()));
  if (!job.input().empty()) out += "input:" + json_as_yaml{job.input()}.value("  ") + "\n";
  if (job.overlap() != v1::OVERLAP_POLICY_UNSPECIFIED) add("overlap", overlap_word(job.overlap()));
  const bool policy = job.catch_up() != v1::CATCH_UP_POLICY_UNSPECIFIED;
  if (job.catch_up_window_ms() != 0)
    add("catch_up", "{ " + (policy ? std::string{"policy: "} + catch_up_word(job.catch_up()) + ", " : "") +
                        "within: " + format_duration(job.catch_up_window_ms()) + " }");
  else if (policy)
    add("catch_up", catch_up_word(job.catch_up()));
  if (job.has_start_window_ms()) add("start_window", format_duration(job.start_window_ms()));
  if (job.jitter_ms() != 0) add("jitter", format_duration(job.jitter_ms()));
  if (job.deadline_ms() != 0) add("deadline", format_duration(job.deadline_ms()));
  if (job.priority() != 0) add("priority", std::to_string(job.priority()));
  if (!job.labels().empty()) add("labels", labels_flow(job.labels()));
  if (!job.needs().empty()) out += "needs:" + needs_block(job) + "\n";
  if (job.max_in_flight() != 0) add("max_in_flight", std::to_string(job.max_in_flight()));
  if (job.keep_launches() != 0) add("keep_launches", std::to_string(job.keep_launches()));
  if (job.has_alert_after()) add("alert_after", std::to_string(job.alert_after()));
  if (job.has_paused()) add("paused", job.paused() ? "true" : "false");
  if (!job.notes().empty()) add("notes", prose(job.notes(), "  "));
  return out;
}

}  // namespace fairlead::app
