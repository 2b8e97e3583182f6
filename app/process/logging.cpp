#include "app/process/logging.hpp"

#include "actors/core/text/text.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <nlohmann/json.hpp>

namespace fairlead::app {

namespace {

spdlog::level::level_enum level_of(note_level level) {
  switch (level) {
    case note_level::debug: return spdlog::level::debug;
    case note_level::info: return spdlog::level::info;
    case note_level::warning: return spdlog::level::warn;
    case note_level::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

// Keeps a line one line, and sends a terminal nothing but text.
void append_clean(std::string& out, std::string_view text) {
  constexpr std::array<char, 17> hex{"0123456789abcdef"};
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += "\\x";
      out += hex[byte >> 4U];
      out += hex[byte & 0xfU];
    }
  }
}

void append_field(std::string& out, const char* key, std::string_view value) {
  if (!out.empty()) out += ',';
  out += '"';
  out += key;
  out += "\":";
  out += nlohmann::json(std::string{value}).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The pattern's %l would write `warn`; the names in JSON are a promise to programs.
class level_word final : public spdlog::custom_flag_formatter {
 public:
  explicit level_word(bool padded) : padded_(padded) {}
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/, spdlog::memory_buf_t& out) override {
    std::string_view word = "info";
    if (message.level == spdlog::level::debug) word = "debug";
    if (message.level == spdlog::level::warn) word = "warning";
    if (message.level == spdlog::level::err) word = "error";
    out.append(word.data(), word.data() + word.size());
    constexpr std::string_view spaces = "       ";
    if (padded_) out.append(spaces.data(), spaces.data() + (spaces.size() - word.size()));
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<level_word>(padded_); }

 private:
  bool padded_;
};

}  // namespace

struct transition_log::sink {
  log_config config;
  std::shared_ptr<spdlog::sinks::dist_sink_mt> to = std::make_shared<spdlog::sinks::dist_sink_mt>();  // leads to the file, which may change
  spdlog::logger logger{"fairlead", to};

  /// Opens stderr, or the file, whatever has become of the former one.
  status open() {
    spdlog::sink_ptr next;
    try {
      if (!config.file.empty()) {
        next = std::make_shared<spdlog::sinks::basic_file_sink_mt>(config.file, false);
      } else if (config.json) {
        next = std::make_shared<spdlog::sinks::stderr_sink_mt>();
      } else {
        next = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
      }
    } catch (const spdlog::spdlog_ex& failure) {
      return error{v1::ERROR_CODE_DISK, std::string{"the log file cannot be opened: "} + failure.what(), "check log.file in the node file"};
    }
    auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
    formatter->add_flag<level_word>('*', !config.json);
    formatter->set_pattern(config.json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%*",%v})" : "%Y-%m-%dT%H:%M:%S.%eZ %^%*%$ %v");
    next->set_formatter(std::move(formatter));
    to->set_sinks({std::move(next)});
    return nothing{};
  }
};

transition_log::transition_log(std::unique_ptr<sink> to) : sink_(std::move(to)) {}

transition_log::~transition_log() = default;

result<std::unique_ptr<transition_log>> transition_log::open(const log_config& config) {
  auto out = std::make_unique<sink>();
  out->config = config;
  if (const auto opened = out->open(); !opened.ok()) return opened.failure();
  out->logger.set_level(level_of(config.level));
  out->logger.flush_on(spdlog::level::trace);
  return std::unique_ptr<transition_log>{new transition_log{std::move(out)}};
}

status transition_log::reopen() { return sink_->config.file.empty() ? nothing{} : sink_->open(); }

result<std::string> transition_log::set_level(const std::string& name) {
  constexpr std::array<std::pair<const char*, note_level>, 4> names{
      {{"debug", note_level::debug}, {"info", note_level::info}, {"warning", note_level::warning}, {"error", note_level::error}}};
  std::string before = "info";
  for (const auto& [known, level] : names)
    if (level_of(level) == sink_->logger.level()) before = known;
  if (name.empty()) return before;
  for (const auto& [known, level] : names) {
    if (name != known) continue;
    sink_->logger.set_level(level_of(level));
    return before;
  }
  return error{v1::ERROR_CODE_INVALID_ARGUMENT, "there is no log level " + core::clean_text(name, 40), "use debug, info, warning or error"};
}

void transition_log::set_level(note_level level) { sink_->logger.set_level(level_of(level)); }

bool transition_log::wants_transitions() const { return sink_->logger.should_log(spdlog::level::info); }

void transition_log::on_transition(const transition& what) {
  if (!wants_transitions()) return;
  std::string line;
  line.reserve(160);
  if (sink_->config.json) {
    append_field(line, "component", "task");
    append_field(line, "task", what.task_id);
    if (!what.step.empty()) append_field(line, "step", what.step);
    append_field(line, "from", what.from);
    append_field(line, "to", what.to);
    if (what.attempt != 0) line += ",\"attempt\":" + std::to_string(what.attempt);
    if (!what.detail.empty()) append_field(line, "detail", what.detail);
  } else {
    line += "task ";
    append_clean(line, what.task_id);
    if (!what.step.empty()) {
      line += " step ";
      append_clean(line, what.step);
    }
    line += ": ";
    if (!what.from.empty()) {
      append_clean(line, what.from);
      line += " -> ";
    }
    append_clean(line, what.to);
    if (what.attempt != 0) line += ", attempt " + std::to_string(what.attempt);
    if (!what.detail.empty()) {
      line += ", ";
      append_clean(line, what.detail);
    }
  }
  sink_->logger.log(spdlog::level::info, spdlog::string_view_t{line});
}

void transition_log::on_note(note_level level, std::string_view component, std::string_view sentence) {
  if (!sink_->logger.should_log(level_of(level))) return;
  std::string line;
  if (sink_->config.json) {
    append_field(line, "component", component);
    append_field(line, "message", sentence);
  } else {
    append_clean(line, component);
    line += ": ";
    append_clean(line, sentence);
  }
  sink_->logger.log(level_of(level), spdlog::string_view_t{line});
}

std::string in_one_line(const error& why) {
  auto out = why.sentence;
  while (!out.empty() && out.back() == '.') out.pop_back();
  return why.remedy.empty() ? out : out + ". " + why.remedy;
}

}  // namespace fairlead::app
