#include "app/cli/job/job.hpp"

#include "app/cli/attempts/logs.hpp"
#include "app/cli/commands.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

result<std::int64_t> read_utc(const std::string& option, const std::string& text) {
  std::int64_t out = 0;
  if (parse_utc(text, out)) return out;
  return error{v1::ERROR_CODE_INVALID_ARGUMENT, "'" + text + "' is not a valid time for " + option,
               "Write it like 2026-03-28T22:30:00Z, or with an offset: 2026-03-28T23:30:00+01:00"};
}

result<std::int64_t> read_duration(const std::string& option, const std::string& text, std::int64_t least_ms) {
  std::int64_t out = 0;
  if (parse_duration(text, out) && out >= least_ms) return out;
  return error{v1::ERROR_CODE_INVALID_ARGUMENT, "'" + text + "' is not a duration for " + option,
               "Write it like 500ms, 5s, 1m30s, 2h or 7d"};
}

std::string as_remedy(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z' && text.rfind("fairlead ", 0) != 0)
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

void add_job_commands(CLI::App& app, cli_context& context) {
  auto* group = app.add_subcommand("job", "Deploy, show and control jobs: workflows that are launched by a schedule");
  group->require_subcommand(1);
  add_job_deploy(*group, context);
  add_job_add(*group, context);
  add_job_import(*group, context);
  add_job_list(*group, context);
  add_job_show(*group, context);
  add_job_verbs(*group, context);
  add_job_history(*group, context);
  add_job_logs(*group, context);
  add_job_next(*group, context);
}

}  // namespace fairlead::app
