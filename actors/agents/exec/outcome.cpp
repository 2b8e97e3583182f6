#include "actors/agents/exec/outcome.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "actors/agents/attempt_results.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::agents {

namespace {

constexpr std::size_t shown_bytes = 300;
constexpr std::size_t shown_lines = 3;

bool among(const std::vector<exit_range>& ranges, int code) {
  return std::any_of(ranges.begin(), ranges.end(), [code](const exit_range& r) { return code >= r.first && code <= r.last; });
}

using meaning = exec_meaning;

meaning meaning_of(const exec_exit_codes& codes, int code) {
  if (among(codes.success, code)) return meaning::success;
  if (among(codes.transient, code)) return meaning::transient;
  if (among(codes.in_doubt, code)) return meaning::in_doubt;
  if (among(codes.permanent, code)) return meaning::permanent;
  // sysexits.h, the only codes with a common meaning.
  if (code == 0) return meaning::success;
  if (code == 75) return meaning::transient;
  if (code >= 64 && code <= 78) return meaning::permanent;
  return meaning::in_doubt;
}

v1::LookupVerdict verdict_of(const exec_lookup& lookup, int code) {
  const auto named = [code](const std::vector<exit_range>& ranges, int otherwise) {
    return ranges.empty() ? code == otherwise : among(ranges, code);
  };
  if (named(lookup.done, 0)) return v1::LOOKUP_VERDICT_DONE;
  if (named(lookup.never_happened, 3)) return v1::LOOKUP_VERDICT_NEVER_HAPPENED;
  if (named(lookup.unknown, 4)) return v1::LOOKUP_VERDICT_UNKNOWN;
  return v1::LOOKUP_VERDICT_UNSPECIFIED;
}

/// Nothing ran. A reason that will be the same at the next attempt on this machine is permanent.
attempt_result not_started(const std::string& program, start_stage stage, int code) {
  const auto why = program + " could not be started: " + std::strerror(code);
  if (stage == start_stage::too_late) return transient_fault("not_started", program + " was not started: the time for the attempt is over");
  switch (code) {
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ETXTBSY:
    case EINTR:
    case EIO: return transient_fault("not_started", why);
    default: break;
  }
  switch (stage) {
    case start_stage::limits:
      return permanent_fault("bad_limits", program + " was not started, because its limits could not be set: " + std::strerror(code));
    case start_stage::groups:
    case start_stage::user:
      return permanent_fault("bad_user", "this node may not run " + program + " as that user: " + std::strerror(code));
    case start_stage::directory:
      return permanent_fault("bad_directory", "the working directory cannot be entered: " + std::string{std::strerror(code)});
    case start_stage::command: break;
    default: return transient_fault("not_started", why);
  }
  switch (code) {
    case ENOENT: return permanent_fault("command_not_found", program + ", or the interpreter that it names, does not exist");
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG: return permanent_fault("command_not_found", why);
    case E2BIG:
      return permanent_fault("arguments_too_long", program + " has more arguments and environment variables than the system allows");
    default: return permanent_fault("command_not_executable", why);
  }
}

std::string as_json_string(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  std::string out;
  core::append_json_string(out, core::clean_text(text, std::string::npos));
  return out;
}

std::string as_json_lines(std::string_view text) {
  std::string out = "[";
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (out.size() > 1) out += ',';
    out += as_json_string(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + "]";
}

/// What is known of stderr, without secrets.
std::string errors_of(const exec_ending& ending, const secrets* known) {
  if (known == nullptr) return ending.errors;
  auto text = known->redact(ending.errors);
  // If the beginning is lost, a secret may have been cut in two there.
  if (ending.errors_cut) text.erase(0, std::min(longest_secret_spelling, text.size()));
  return text;
}

/// nullopt: the output is not JSON as required.
std::optional<std::string> output_of(exec_output form, const std::string& written) {
  switch (form) {
    case exec_output::text: return as_json_string(written);
    case exec_output::lines: return as_json_lines(written);
    case exec_output::log: return "null";
    case exec_output::json: break;
  }
  if (written.find_first_not_of(" \t\r\n") == std::string::npos) return "null";
  if (!core::check_json(written).ok()) return std::nullopt;
  return std::string{core::trim_json(written)};
}

}  // namespace

std::string last_words(const exec_ending& ending, const secrets* known) {
  const auto text = errors_of(ending, known);
  std::string_view rest = text;
  std::string out;
  for (std::size_t lines = 0; lines < shown_lines && !rest.empty();) {
    const auto line_break = rest.find_last_of("\r\n");
    auto line = line_break == std::string_view::npos ? rest : rest.substr(line_break + 1);
    rest = line_break == std::string_view::npos ? std::string_view{} : rest.substr(0, line_break);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    if (line.size() > shown_bytes) line.remove_prefix(line.size() - shown_bytes);
    if (out.size() + line.size() > shown_bytes) break;
    out = std::string{line} + (out.empty() ? "" : " / ") + out;
    ++lines;
  }
  out = core::clean_text(out, 2 * shown_bytes);
  for (auto& c : out)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  return out;
}

namespace {

attempt_result judge(const prepared_command& command, v1::Direction direction, bool calls_back, exec_ending ending, const secrets* known) {
  const bool lookup = direction == v1::DIRECTION_LOOKUP;
  const auto& words = lookup ? command.settings.lookup->command : command.settings.command;
  const auto& program = words.front();
  if (ending.how == exec_ending::kind::not_started) return not_started(program, ending.stage, ending.value);

  const auto message = [&](std::string what) {
    const auto said = last_words(ending, known);
    auto out = program + " " + std::move(what);
    if (!said.empty()) out += ": " + said;
    if (ending.broken_progress > 0) out += " (" + std::to_string(ending.broken_progress) + " of its progress lines could not be read)";
    return out;
  };
  // A look-up changes nothing, so a failure to answer leaves no more in doubt than before.
  const auto unclear = [&](const std::string& code, std::string what) {
    return faulted(lookup ? v1::FAULT_KIND_TRANSIENT : v1::FAULT_KIND_IN_DOUBT, code, message(std::move(what)));
  };

  switch (ending.how) {
    case exec_ending::kind::signalled: {
      const char* name = strsignal(ending.value);
      const auto code = "signal_" + std::to_string(ending.value);
      auto what = "was ended by signal " + std::to_string(ending.value) + (name != nullptr ? std::string{" ("} + name + ")" : "");
      // The agent itself stops a command with a signal; then nobody has said what that means.
      const auto means = lookup || ending.asked ? meaning::in_doubt : command.settings.exit_codes.signals;
      if (means == meaning::permanent) return permanent_fault(code, message(std::move(what)));
      if (means == meaning::transient) return transient_fault(code, message(std::move(what)));
      return unclear(code, std::move(what));
    }
    case exec_ending::kind::too_large: return unclear("output_too_large", "wrote more than max_output and was stopped");
    case exec_ending::kind::timed_out: return unclear("timeout", "did not end in time and was stopped");
    case exec_ending::kind::lost: return unclear("shepherd_lost", "was killed because the process that supervised it ended");
    default: break;
  }

  const auto code = "exit_" + std::to_string(ending.value);
  const auto sentence = "ended with exit code " + std::to_string(ending.value) + (ending.asked ? " when it was asked to stop" : "");
  attempt_result out;
  if (lookup) {
    out.verdict = verdict_of(*command.settings.lookup, ending.value);
    if (out.verdict == v1::LOOKUP_VERDICT_UNSPECIFIED) return unclear(code, sentence);
    if (out.verdict != v1::LOOKUP_VERDICT_DONE) return out;
  } else {
    switch (meaning_of(command.settings.exit_codes, ending.value)) {
      case meaning::success: break;
      case meaning::transient: return transient_fault(code, message(sentence));
      case meaning::permanent: return permanent_fault(code, message(sentence));
      case meaning::in_doubt: return in_doubt_fault(code, message(sentence));
    }
  }
  // The output of the step comes with its callback, so this one is dropped, whatever it is.
  if (calls_back && !lookup) {
    out.output = "null";
    return out;
  }
  // Before the output is split: a value of several lines would be found in no single line.
  if (known != nullptr && command.settings.output != exec_output::json) ending.output = known->redact(std::move(ending.output));
  auto output = output_of(command.settings.output, ending.output);
  if (!output) {
    const auto kind = lookup ? v1::FAULT_KIND_PERMANENT : v1::FAULT_KIND_IN_DOUBT;
    return faulted(kind, "bad_output", message("succeeded, but its output is not JSON"));
  }
  out.output = known != nullptr ? known->redact(std::move(*output)) : std::move(*output);
  return out;
}

}  // namespace

attempt_result conclude(const prepared_command& command, v1::Direction direction, bool calls_back, exec_ending ending,
                        const secrets* known) {
  const auto logged =
      command.settings.output == exec_output::log && direction != v1::DIRECTION_LOOKUP && ending.how != exec_ending::kind::not_started;
  std::string log;
  const auto cut = ending.errors_cut;
  if (logged) log = errors_of(ending, known);
  auto out = judge(command, direction, calls_back, std::move(ending), known);
  if (!logged) return out;
  out.log = core::clean_end(log, core::kept_log_bytes);
  out.log_cut = cut || log.size() > core::kept_log_bytes;
  return out;
}

}  // namespace fairlead::agents
