#include "app/crontab/import.hpp"

#include <xxhash.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"
#include "app/crontab/words.hpp"
#include "app/files/workflow_file.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t most_script_bytes = 131'071;  // Linux accepts no longer argument
constexpr std::size_t most_prefix_bytes = 64;       // leaves space for the rest of a job's name
constexpr std::size_t most_notes_bytes = 2'000;

/// Any text as one shell word. The job's input is a template, so quotes split every `${`.
std::string shell_quote(std::string_view text) {
  std::string out = "'";
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\'') {
      out += "'\\''";
    } else {
      out += text[at];
      if (text[at] == '$' && at + 1 < text.size() && text[at + 1] == '{') out += "''";
    }
  }
  return out + "'";
}

std::string hash_of(std::string_view text) {
  const auto low = static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size()));
  std::string out(8, '0');
  for (int digit = 0; digit < 8; ++digit) out[static_cast<std::size_t>(digit)] = "0123456789abcdef"[low >> (28 - 4 * digit) & 0xfU];
  return out;
}

bool sets(const crontab_entry& entry, std::string_view name) {
  return std::any_of(entry.environment.begin(), entry.environment.end(), [&](const auto& one) { return one.name == name; });
}

std::string name_of(const crontab_entry& entry, const std::string& prefix, std::map<std::string, int>& used) {
  const auto identity = entry.user + '\0' + entry.schedule + '\0' + entry.zone + '\0' + entry.written;
  const auto name = prefix + crontab_program(entry.command) + "-" + hash_of(identity);
  const auto count = ++used[name];
  return count == 1 ? name : name + "-" + std::to_string(count);
}

std::string notes_of(const std::string& file, const crontab_entry& entry) {
  std::string out = file + ":" + std::to_string(entry.line) + ": " + entry.text;
  for (const auto& comment : entry.comments) out += "\n# " + comment;
  return core::clean_text(out, most_notes_bytes);
}

std::string workflow_yaml(const std::string& agent) {
  return "# The commands of a crontab, as `fairlead job import` made jobs of them.\n"
         "workflow: " +
         agent +
         "\n"
         "on_failure: fail     # as in cron: the next run comes all the same\n"
         "steps:\n"
         "  run:\n"
         "    agent: " +
         agent +
         "\n"
         "    call: run\n"
         "    with: { script: \"${ .input.script }\" }\n"
         "    timeout: 24h\n"
         "    attempts: 1\n"
         "    in_doubt: fail  # a command that was interrupted is not run twice\n"
         "    undo: none\n";
}

std::string agent_yaml(const std::string& user) {
  return "  " + crontab_agent(user) +
         ":\n"
         "    kind: exec\n" +
         (user.empty() ? "    # user: NAME        # without it commands run as the node does\n" : "    user: \"" + user + "\"\n") +
         "    concurrency: 64     # commands at a time\n"
         "    stop_grace: 10s\n"
         "    calls:\n"
         "      run:\n"
         "        command: [/bin/sh, -c, \"{script}\"]\n"
         "        input: none\n"
         "        output: log         # the last 64 KiB are kept: fairlead job logs NAME\n"
         "        exit_codes: { permanent: [1-255, signals] }   # 0 is success, anything else a failure\n";
}

v1::JobSpec job_of(const crontab_entry& entry, const std::string& script) {
  v1::JobSpec job;
  job.set_schedule(entry.schedule);
  job.set_zone(entry.zone);
  job.set_dst(v1::DST_POLICY_VIXIE);
  job.set_workflow(crontab_agent(entry.user));
  std::string input = "{\"script\":";
  core::append_json_string(input, script);
  job.set_input(input + "}");
  // As in cron, a command starts even while the one before still runs, and missed times are not
  // caught up.
  job.set_overlap(v1::OVERLAP_POLICY_ALLOW);
  job.set_catch_up(v1::CATCH_UP_POLICY_NONE);
  job.set_jitter_ms(entry.jitter_ms);
  job.set_alert_after(3);
  return job;
}

}  // namespace

std::string crontab_agents_yaml(const std::vector<crontab_workflow>& workflows) {
  std::string out = "agents:\n";
  for (const auto& workflow : workflows) out += workflow.agent_yaml;
  return out;
}

std::string crontab_agent(const std::string& user) {
  if (user.empty()) return "crontab";
  std::string out = "crontab-";
  bool same = true;
  for (const char c : user) {
    const char small = lower(c);
    const bool fits = is_letter(small) || is_digit(small) || small == '_' || small == '-';
    out += fits ? small : '-';
    same = same && fits && small == c;
  }
  return same ? out : out + "-" + hash_of(user);
}

std::string crontab_script(const crontab_entry& entry, const std::string& default_zone) {
  std::string out;
  const auto give = [&](const std::string& name, const std::string& value) { out += "export " + name + "=" + shell_quote(value) + "\n"; };
  // These lines come first, while PATH is still the agent's. Only `~NAME` finds a user's home
  // without another process.
  if (entry.user.empty()) {
    out += "export LOGNAME=\"$(id -un)\"\n";
  } else {
    give("LOGNAME", entry.user);
  }
  if (!sets(entry, "USER")) out += "export USER=\"$LOGNAME\"\n";
  if (!entry.home) out += (entry.user.empty() ? "eval \"HOME=~$LOGNAME\"" : "HOME=~" + entry.user) + "; export HOME\n";
  if (!sets(entry, "PATH")) give("PATH", "/usr/bin:/bin");
  if (!sets(entry, "SHELL")) give("SHELL", entry.shell);
  // TZ is the zone of the crontab's machine, so commands see its clock on any node.
  if (!sets(entry, "TZ")) give("TZ", default_zone);
  for (const auto& [name, value] : entry.environment) give(name, value);
  // Cron also runs a command if the user's home does not exist. A HOME that the crontab sets must
  // exist.
  out += entry.home ? "cd \"$HOME\" || exit 78\n" : "cd \"$HOME\" 2>/dev/null || cd /\n";
  const auto run = shell_quote(entry.shell) + " -c " + shell_quote(entry.command) + "\n";
  return out + (entry.stdin_text ? "printf %s " + shell_quote(*entry.stdin_text) + " | " : "exec ") + run;
}

crontab_jobs import_jobs(const std::string& file, const std::vector<crontab_entry>& entries, const crontab_import_options& options) {
  crontab_jobs out;
  const bool fits = std::all_of(options.prefix.begin(), options.prefix.end(), [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view{"._:/-"}.find(c) != std::string_view::npos;
  });
  const bool begins = options.prefix.empty() || options.prefix.front() != '-';  // no job's name begins with `-`
  if (!fits || !begins || options.prefix.size() > most_prefix_bytes) {
    out.problems.push_back({file, 0, 0, "", quote(options.prefix) + " cannot begin the name of a job",
                            "use at most 64 letters, digits and . _ : / -, and no - at the beginning"});
    return out;
  }
  std::map<std::string, int> used;
  std::set<std::string> users;
  for (const auto& entry : entries) {
    const auto script = crontab_script(entry, options.default_zone);
    if (script.size() > most_script_bytes) {
      out.problems.push_back({file, entry.line, 1, "", "the command takes more than 128 KiB together with the variables above it",
                              "put the command into a script file"});
      continue;
    }
    auto job = job_of(entry, script);
    job.set_name(name_of(entry, options.prefix, used));
    job.set_notes(notes_of(file, entry));
    out.jobs.push_back(std::move(job));
    out.lines.push_back(entry.line);
    users.insert(entry.user);
  }
  for (const auto& user : users) {
    const auto source = workflow_yaml(crontab_agent(user));
    auto read = parse_workflow(crontab_agent(user) + ".yaml", source, nullptr);
    out.problems.insert(out.problems.end(), read.problems.begin(), read.problems.end());
    out.workflows.push_back({user, std::move(read.definition), source, agent_yaml(user)});
  }
  return out;
}

}  // namespace fairlead::app
