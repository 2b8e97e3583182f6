#include "app/cli/job/add.hpp"
#include "app/json/times.hpp"

#include <charconv>
#include <memory>
#include <utility>

#include "actors/core/job/check.hpp"
#include "actors/system/time_zones.hpp"
#include "app/cli/job/job.hpp"
#include "app/cli/json_argument.hpp"
#include "app/cli/labels.hpp"
#include "app/cli/operator_name.hpp"
#include "app/files/job_file.hpp"
#include "app/files/job_words.hpp"
#include "app/json/words.hpp"

namespace fairlead::app {

namespace {

/// `reports=2`; `reports` alone means one slot.
result<v1::AgentNeed> read_need(const std::string& text) {
  v1::AgentNeed out;
  const auto equals = text.find('=');
  out.set_agent(text.substr(0, equals));
  out.set_slots(1);
  if (equals != std::string::npos) {
    std::uint32_t slots = 0;
    const auto* end = text.data() + text.size();
    const auto [stopped, failure] = std::from_chars(text.data() + equals + 1, end, slots);
    if (failure != std::errc{} || stopped != end || slots == 0) out.clear_agent();
    out.set_slots(slots);
  }
  if (out.agent().empty())
    return invalid("'" + text + "' is not a value for --need",
                   "Write it as AGENT=SLOTS, such as reports=2; labels of instances need a job file");
  return out;
}

status read_durations(const job_options& options, v1::JobSpec& job) {
  const auto read = [](const char* name, const std::optional<std::string>& given, std::int64_t least, auto set) -> status {
    if (!given) return nothing{};
    const auto ms = read_duration(name, *given, least);
    if (!ms) return ms.failure();
    set(*ms);
    return nothing{};
  };
  if (auto done = read("--within", options.within, 1, [&](std::int64_t ms) { job.set_catch_up_window_ms(ms); }); !done) return done;
  if (auto done = read("--start-window", options.start_window, 0, [&](std::int64_t ms) { job.set_start_window_ms(ms); }); !done)
    return done;
  if (auto done = read("--jitter", options.jitter, 0, [&](std::int64_t ms) { job.set_jitter_ms(ms); }); !done) return done;
  return read("--deadline", options.deadline, 1, [&](std::int64_t ms) { job.set_deadline_ms(ms); });
}

status read_policies(const job_options& options, v1::JobSpec& job) {
  if (options.dst) {
    const auto value = value_of_word(dst_words(), *options.dst, "--dst");
    if (!value) return value.failure();
    job.set_dst(*value);
  }
  if (options.overlap) {
    const auto value = value_of_word(overlap_words(), *options.overlap, "--overlap");
    if (!value) return value.failure();
    job.set_overlap(*value);
  }
  job.set_count_parked(options.count_parked);
  if (options.catch_up) {
    const auto value = value_of_word(catch_up_words(), *options.catch_up, "--catch-up");
    if (!value) return value.failure();
    job.set_catch_up(*value);
  }
  return nothing{};
}

/// The option for a key of a job file, for an error message.
std::string option_of(const std::string& field) {
  const auto key = field.substr(0, field.find_first_of(".["));
  if (key == "job") return "NAME";
  if (key == "time_zone") return "--tz";
  if (key == "needs") return "--need";
  if (key == "labels") return "--label";
  if (key == "keep_launches") return "--keep";
  if (field == "catch_up.within") return "--within";
  std::string out = "--" + key;
  for (auto& c : out) c = c == '_' ? '-' : c;
  return out;
}

/// Finds the first problem. The node makes the same checks.
status check(const v1::JobSpec& job) {
  const auto problems = core::check_job(job, time_zones::of_system());
  if (problems.empty()) return nothing{};
  const auto& first = problems.front();
  const auto place = first.position == 0 ? "" : " at position " + std::to_string(first.position);
  return invalid(option_of(first.field) + " is refused" + place + ": " + first.sentence,
                 as_remedy(first.field == "time_zone" ? zone_remedy(job.zone()) : first.remedy));
}

void add(cli_context& context, const job_options& options, const std::string& by) {
  const auto job = job_of(options);
  if (!job) {
    context.code = fail(job.failure());
    return;
  }
  if (const auto sound = check(*job); !sound) {
    context.code = fail(sound.failure());
    return;
  }
  apply_jobs(context, {*job}, by);
}

}  // namespace

result<v1::JobSpec> job_of(const job_options& options) {
  v1::JobSpec out;
  out.set_name(options.name);
  out.set_schedule(options.schedule);
  out.set_zone(options.zone);
  out.set_workflow(options.workflow);
  if (auto read = read_policies(options, out); !read) return read.failure();
  if (auto read = read_durations(options, out); !read) return read.failure();
  if (options.input) {
    auto input = read_json_argument(*options.input, "The input");
    if (!input) return input.failure();
    out.set_input(std::move(*input));
  }
  out.set_priority(options.priority);
  auto labels = parse_labels(options.labels);
  if (!labels) return labels.failure();
  for (auto& label : *labels) *out.add_labels() = std::move(label);
  for (const auto& text : options.needs) {
    auto need = read_need(text);
    if (!need) return need.failure();
    *out.add_needs() = std::move(*need);
  }
  out.set_max_in_flight(options.max_in_flight);
  if (options.alert_after) out.set_alert_after(*options.alert_after);
  out.set_keep_launches(options.keep);
  out.set_notes(options.notes);
  if (options.paused) out.set_paused(true);
  return out;
}

void add_job_add(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("add", "Create or change one job; a new job is launched from its next scheduled time on");
  auto options = std::make_shared<job_options>();
  auto by = std::make_shared<std::string>();
  auto& o = *options;
  command->add_option("NAME", o.name, "Name of the job")->required();
  command->add_option("--schedule", o.schedule, "When to launch the job, such as '30 2 * * MON-FRI'")->type_name("EXPR")->required();
  command->add_option("--workflow", o.workflow, "The workflow to launch")->type_name("WORKFLOW")->required();
  command->add_option("--tz", o.zone, "Time zone of the schedule (default UTC)")->type_name("ZONE");
  command
      ->add_option("--dst", o.dst,
                   "What to do with local times that a clock change skips or repeats: vixie, literal, skip_once (default vixie)")
      ->type_name("POLICY");
  command
      ->add_option("--input", o.input, "Input of the job's tasks; may contain expressions such as ${ .launch.nominal_utc } (default null)")
      ->type_name("JSON|@FILE|@-");
  command->add_flag("--count-parked", o.count_parked, "Parked launches count for the overlap policy and for --max-in-flight");
  command->add_option("--overlap", o.overlap, "What to do while an earlier launch is open: allow, skip, queue, replace (default skip)")
      ->type_name("POLICY");
  command->add_option("--catch-up", o.catch_up, "Which missed times to launch: all, latest, none (default latest)")->type_name("POLICY");
  command->add_option("--within", o.within, "How old a missed time may be to be launched (default 1h)")->type_name("DURATION");
  command->add_option("--start-window", o.start_window, "How late a launch may start; after that it is skipped")->type_name("DURATION");
  command->add_option("--jitter", o.jitter, "Longest random delay of a launch after its scheduled time")->type_name("DURATION");
  command->add_option("--deadline", o.deadline, "How long after its scheduled time a task of the job times out")->type_name("DURATION");
  command->add_option("--priority", o.priority, "Priority of the job's tasks; steps of tasks with a higher priority go first (default 0)")
      ->type_name("N")
      ->check(CLI::Range(-core::max_job_priority, core::max_job_priority));
  command->add_option("--label", o.labels, "Label of the job's tasks (repeatable)")->type_name("KEY=VALUE")->allow_extra_args(false);
  command->add_option("--need", o.needs, "Free slots of an agent that a launch waits for (repeatable)")
      ->type_name("AGENT=SLOTS")
      ->allow_extra_args(false);
  command->add_option("--max-in-flight", o.max_in_flight, "How many tasks of the job may be open at a time")
      ->type_name("N")
      ->check(CLI::Range(1, core::max_open_launches));
  command->add_option("--alert-after", o.alert_after, "Raise an alert after this many failed launches in a row; 0: never (default 1)")
      ->type_name("N");
  command->add_option("--keep", o.keep, "How many launches the history keeps (default 1000)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, core::max_keep_launches));
  command->add_option("--notes", o.notes, "Notes for other operators")->type_name("TEXT");
  command->add_flag("--paused", o.paused, "Pause the job: it is not launched until it is resumed");
  add_operator_option(*command, *by);
  add_client_options(*command, context);
  command->callback([&context, options, by] { add(context, *options, *by); });
}

}  // namespace fairlead::app
