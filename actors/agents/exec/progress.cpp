#include "actors/agents/exec/progress.hpp"

#include <charconv>

#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::agents {

namespace {

/// A number from 0 to 100, its fraction cut off.
std::optional<std::uint32_t> percent_of(std::string_view json) {
  double value = -1;
  const auto read = std::from_chars(json.data(), json.data() + json.size(), value);
  if (read.ec != std::errc{} || read.ptr != json.data() + json.size() || !(value >= 0 && value <= 100)) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

}  // namespace

std::optional<attempt_progress> progress_lines::take(std::string_view bytes) {
  attempt_progress said;
  bool any = false;
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto piece = bytes.substr(0, end);
    if (!skipping_ && unfinished_.size() + piece.size() > longest_line) {
      skipping_ = true;
      ++broken_;
      unfinished_.clear();
    }
    if (!skipping_) unfinished_ += piece;
    if (end == std::string_view::npos) break;
    if (!skipping_) any = read_line(unfinished_, said) || any;
    unfinished_.clear();
    skipping_ = false;
    bytes.remove_prefix(end + 1);
  }
  if (!any) return std::nullopt;
  return said;
}

bool progress_lines::read_line(std::string_view line, attempt_progress& into) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return false;
  const auto broken = [this] {
    ++broken_;
    return false;
  };
  if (!core::check_json(line).ok() || core::trim_json(line).front() != '{') return broken();
  const auto percent = core::json_member(line, "percent");
  const auto note = core::json_member(line, "note");
  const auto checkpoint = core::json_member(line, "checkpoint");
  const auto value = percent ? percent_of(*percent) : std::nullopt;
  if ((percent && !value) || (note && note->front() != '"') || (!percent && !note && !checkpoint)) return broken();
  if (value) into.percent = value;
  if (note) into.note = core::clean_text(core::decode_json_string(*note), longest_note);
  if (checkpoint) into.checkpoint = core::minify_json(*checkpoint);
  return true;
}

}  // namespace fairlead::agents
