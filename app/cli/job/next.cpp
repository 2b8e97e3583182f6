#include "app/cli/job/next.hpp"

#include <cstdio>
#include <memory>

#include "actors/system/time_zones.hpp"
#include "app/cli/job/job.hpp"
#include "app/cli/words.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

void ask(cli_context& context, const next_question& what) {
  const auto answer = coming_instants(what, time_zones::of_system(), now_unix_ms());
  if (!answer) {
    context.code = fail(answer.failure());
    return;
  }
  print(context, context.json ? next_json(*answer) + "\n" : next_text(*answer));
  if (!answer->remark.empty()) std::fprintf(stderr, "note: %s\n", as_sentence(answer->remark).c_str());
}

}  // namespace

std::string next_text(const next_answer& answer) {
  std::string out;
  for (const auto& one : answer.instants) out += one.utc + "  " + one.local + "\n";
  return out;
}

void add_job_next(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("next", "Show the next times of a cron expression, in UTC and local time; needs no node");
  auto what = std::make_shared<next_question>();
  command->add_option("EXPR", what->expression, "The expression, such as '30 2 * * MON-FRI'")->required();
  command->add_option("--tz", what->zone, "Time zone of the expression (default UTC)")->type_name("ZONE");
  command->add_option("--after", what->after, "Only times after this one, such as 2026-03-28T22:30:00Z (default now)")->type_name("UTC");
  command->add_option("--count", what->count, "How many times to show")
      ->type_name("N")
      ->check(CLI::Range(1U, max_coming))
      ->capture_default_str();
  command->add_option("--name", what->job, "Name of the job, from which ? in the expression takes its value")->type_name("JOB");
  command->add_option("--dst", what->dst, "What to do with local times that a clock change skips or repeats: vixie, literal, skip_once")
      ->type_name("POLICY")
      ->capture_default_str();
  command->add_flag("--json", context.json, "Print a JSON array and nothing else, for programs");
  command->callback([&context, what] { ask(context, *what); });
}

}  // namespace fairlead::app
