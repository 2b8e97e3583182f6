// `job import`: jobs from a crontab.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>

#include "actors/system/time_zones.hpp"
#include "app/cli/job/job.hpp"
#include "app/cli/job/prune.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/problems.hpp"
#include "app/cli/screen/screen.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/workflow/workflow_show.hpp"
#include "app/crontab/import.hpp"
#include "app/files/job_file.hpp"
#include "app/json/node/workflows.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {

namespace {

struct import_options {
  std::string path;
  std::string zone;
  std::string prefix = crontab_import_options{}.prefix;
  std::string by;
  bool user_column = false;
  bool skip_refused = false;
  bool print_only = false;
  bool prune = false;
};

struct imported {
  std::string file;  // the name in problems
  crontab_jobs made;
  std::vector<problem> problems;
  std::vector<problem> notices;
};

std::optional<std::string> text_of(const std::string& path, std::vector<problem>& problems) {
  if (path != "-") return read_text_file(path, problems);
  // Reads one byte more than allowed; read_crontab() then refuses the text.
  std::string out(max_crontab_bytes + 1, '\0');
  std::cin.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<std::size_t>(std::cin.gcount()));
  return out;
}

imported read_import(const import_options& options) {
  imported out;
  out.file = options.path == "-" ? "standard input" : options.path;
  const auto text = text_of(options.path, out.problems);
  if (!text) return out;
  crontab_options how;
  how.user_column = options.user_column;
  if (!options.zone.empty()) how.default_zone = options.zone;
  how.zone_known = [](const std::string& name) { return time_zones::of_system().find(name) != nullptr; };
  auto read = read_crontab(out.file, *text, how);
  crontab_import_options into;
  into.prefix = options.prefix;
  into.default_zone = how.default_zone;
  out.made = import_jobs(out.file, read.entries, into);
  out.notices = std::move(read.notices);
  if (options.zone.empty() &&
      std::any_of(read.entries.begin(), read.entries.end(), [&](const auto& entry) { return entry.zone == how.default_zone; }))
    out.notices.push_back(
        {out.file, 0, 0, "", "the times of lines without CRON_TZ are taken as UTC", "Give --tz ZONE for another time zone"});
  out.problems = std::move(read.problems);
  out.problems.insert(out.problems.end(), out.made.problems.begin(), out.made.problems.end());
  std::stable_sort(out.problems.begin(), out.problems.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  return out;
}

void tell(const char* what, const std::vector<problem>& of) {
  for (const auto& one : of) std::fprintf(stderr, "%s: %s\n", what, printable(to_text(one)).c_str());
}

/// Jobs, workflows and agents in one stream of YAML documents, for an operator to read or to split.
std::string printed(const imported& what) {
  std::string out = "# Jobs, for `fairlead job deploy`.\n";
  for (const auto& job : what.made.jobs) out += "---\n" + job_yaml(job);
  for (const auto& workflow : what.made.workflows) out += "---\n# For `fairlead workflow deploy`.\n" + workflow.source;
  if (!what.made.workflows.empty()) out += "---\n# For the node file.\n" + crontab_agents_yaml(what.made.workflows);
  return out;
}

void write_notes(json_writer& out, const imported& what) {
  write_problems(out, what.problems, "refused");
  write_problems(out, what.notices, "notices");
}

std::string printed_json(const imported& what) {
  json_writer out;
  out.begin_object().key("jobs").begin_array();
  for (std::size_t i = 0; i < what.made.jobs.size(); ++i) {
    const auto& job = what.made.jobs[i];
    out.begin_object().key("job").string(job.name()).key("line").number(std::int32_t{what.made.lines[i]});
    out.key("yaml").string(job_yaml(job)).end_object();
  }
  out.end_array().key("workflows").begin_array();
  for (const auto& workflow : what.made.workflows)
    out.begin_object().key("workflow").string(workflow.definition.name()).key("yaml").string(workflow.source).end_object();
  out.end_array().key("agents_yaml").string(what.made.workflows.empty() ? "" : crontab_agents_yaml(what.made.workflows));
  write_notes(out, what);
  return out.end_object().text() + "\n";
}

/// The workflows whose call no connected agent offers.
std::vector<crontab_workflow> without_agent(client& to, const std::vector<crontab_workflow>& workflows) {
  std::vector<crontab_workflow> out;
  const auto status = to.status_of_node({});
  for (const auto& workflow : workflows) {
    const auto& step = workflow.definition.steps(0);
    const auto offers = [&](const v1::AgentStatus& agent) {
      return agent.agent() == step.agent() && std::find(agent.calls().begin(), agent.calls().end(), step.call()) != agent.calls().end();
    };
    // Without an answer all workflows are listed: the agents may be missing.
    if (!status || std::none_of(status->agents().begin(), status->agents().end(), offers)) out.push_back(workflow);
  }
  return out;
}

/// Deploys the workflows before the jobs, because a job without its workflow causes a warning.
/// False: context.code has the error. Writes members into the object that is open in `out`.
bool deploy_workflows(cli_context& context, const imported& what, json_writer& out) {
  auto connected = connect(context);
  if (!connected) {
    context.code = fail(connected.failure());
    return false;
  }
  out.key("deployed").begin_array();
  std::string text;
  std::optional<error> failed;
  for (const auto& workflow : what.made.workflows) {
    v1::DeployRequest request;
    *request.mutable_definition() = workflow.definition;
    request.set_source(workflow.source);
    const auto reply = connected->deploy(request);
    if (!reply) {
      failed = reply.failure();
      failed->sentence = "Workflow " + workflow.definition.name() + ": " + failed->sentence;
      break;
    }
    write_deployed(out, workflow.definition.name(), *reply);
    text += deployed_text(workflow.definition.name(), *reply);
  }
  const auto missing = failed ? std::vector<crontab_workflow>{} : without_agent(*connected, what.made.workflows);
  out.end_array().key("missing_agents_yaml").string(missing.empty() ? "" : crontab_agents_yaml(missing));
  write_notes(out, what);
  if (!missing.empty())
    text += "No agent runs these commands yet. Add the following to a node file, then run 'fairlead node reload NODE':\n\n" +
            crontab_agents_yaml(missing) + "\n";
  if (!context.json) print(context, text);
  if (failed) context.code = fail(*failed);
  return !failed && context.code == exit_ok;
}

/// Collects the JSON of another command, so that it becomes part of one object.
class kept_output final : public command_output {
 public:
  bool say(const std::string& text) override {
    said_ += text;
    return true;
  }
  void complain(const std::string& text) override { std::fputs(text.c_str(), stderr); }
  const std::string& said() const { return said_; }

 private:
  std::string said_;
};

tidied tidy(cli_context& context, const imported& what, const import_options& options) {
  auto connected = connect(context);
  tidy_requests to;
  to.list = [&connected](const v1::JobListRequest& request) -> result<v1::JobListReply> {
    if (!connected) return connected.failure();
    return connected->jobs(request);
  };
  to.operate = [&connected](const v1::JobOperateRequest& request) { return connected->operate_jobs(request); };
  return tidy_jobs(context, to, {what.made.jobs, what.file, options.prefix, operator_name(options.by), options.prune});
}

void deploy(cli_context& context, const imported& what, const import_options& options) {
  json_writer out;
  out.begin_object();
  kept_output kept;
  const bool deployed = deploy_workflows(context, what, out);
  if (deployed) {
    if (context.json) {
      const speak_to here{kept};
      const auto yaml = std::exchange(context.yaml, false);  // the whole is converted at the end
      apply_jobs(context, what.made.jobs, options.by);
      context.yaml = yaml;
    } else {
      apply_jobs(context, what.made.jobs, options.by);
    }
  }
  if (options.prune && context.code != exit_ok)
    std::fputs("notice: Nothing is deleted because the import is not complete. Correct the errors, then import with --prune again.\n",
               stderr);
  // With an empty prefix, imported jobs cannot be distinguished from other jobs.
  const auto rest = deployed && !options.prefix.empty() ? tidy(context, what, options) : tidied{};
  if (!context.json) return;
  out.key("others").begin_array();
  for (const auto& name : rest.others) out.string(name);
  out.end_array();
  write_pruned(out, rest.done);
  const auto end = kept.said().find_last_not_of('\n');
  print(context, out.key("applied").raw(kept.said().substr(0, end + 1)).end_object().text() + "\n");
}

/// Deploys nothing if a line has a problem, unless --skip-refused is given.
void import_crontab(cli_context& context, const import_options& options) {
  show_as_written();  // parts of files
  if (!options.zone.empty() && time_zones::of_system().find(options.zone) == nullptr) {
    context.code = fail({v1::ERROR_CODE_INVALID_ARGUMENT, "'" + options.zone + "' is not a known time zone", zone_remedy(options.zone)});
    return;
  }
  if (options.prune)
    if (const auto fits = check_prune_prefix(options.prefix); !fits) {
      context.code = fail(fits.failure());
      return;
    }
  const auto what = read_import(options);
  if (!context.json) tell("notice", what.notices);
  // A problem without a line concerns the whole crontab, so the import stops.
  const bool whole = std::any_of(what.problems.begin(), what.problems.end(), [](const problem& one) { return one.line == 0; });
  const bool refused = whole || (!what.problems.empty() && !options.skip_refused);
  if (options.print_only && (context.json || !refused)) print(context, context.json ? printed_json(what) : printed(what));
  if (refused) {
    context.code =
        whole ? fail_with(what.problems)
              : fail_with(what.problems, options.prune ? "Correct the errors listed above"
                                                       : "Correct the errors listed above, or leave these lines out with --skip-refused");
    return;
  }
  if (options.prune)
    if (const auto safe = check_prune({what.file, options.prefix, what.made.jobs.size(), what.problems.size()}); !safe) {
      tell("refused", what.problems);
      context.code = fail(safe.failure());
      return;
    }
  if (!context.json) tell("left out", what.problems);
  if (options.print_only) return;
  if (what.made.jobs.empty() && !context.json) {
    print(context, what.file + ": the crontab has no entries; nothing is deployed\n");
  } else {
    deploy(context, what, options);
  }
}

}  // namespace

void add_job_import(CLI::App& group, cli_context& context) {
  auto* command =
      group.add_subcommand("import", "Create jobs from the lines of a crontab, and deploy the workflows that run their commands");
  auto options = std::make_shared<import_options>();
  command->add_option("CRONTAB", options->path, "The crontab file, or - for standard input")->required();
  command->add_flag("--user-column", options->user_column, "Each line has a user before the command, as in /etc/crontab");
  command->add_option("--tz", options->zone, "Time zone of lines without CRON_TZ, and TZ for the commands (default UTC)")
      ->type_name("ZONE");
  command->add_option("--prefix", options->prefix, "Prefix of the jobs' names (default crontab/)")->type_name("TEXT");
  command->add_flag("--skip-refused", options->skip_refused,
                    "Import the other lines when some are refused; without it nothing is imported then");
  auto* print = command->add_flag("--print", options->print_only, "Print the jobs, workflows and agents as YAML and deploy nothing");
  command
      ->add_flag("--prune", options->prune,
                 "After the import, delete jobs whose names begin with the prefix and that are not in this crontab")
      ->excludes(print);
  add_operator_option(*command, options->by);
  add_client_options(*command, context);
  command->callback([&context, options] { import_crontab(context, *options); });
}

}  // namespace fairlead::app
