// `job deploy`: jobs from files.

#include <cstdio>
#include <memory>

#include "actors/system/time_zones.hpp"
#include "app/cli/job/job.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/problems.hpp"
#include "app/files/job_file.hpp"

namespace fairlead::app {

namespace {

struct read_files {
  std::vector<job_file> files;
  std::vector<v1::JobSpec> jobs;
  std::vector<problem> problems;
};

read_files read_all(const std::vector<std::string>& paths) {
  read_files out;
  for (const auto& path : paths) {
    out.files.push_back(read_jobs(path, time_zones::of_system()));
    const auto& read = out.files.back();
    out.problems.insert(out.problems.end(), read.problems.begin(), read.problems.end());
    out.jobs.insert(out.jobs.end(), read.jobs.begin(), read.jobs.end());
  }
  const auto doubled = doubled_jobs(out.files);
  out.problems.insert(out.problems.end(), doubled.begin(), doubled.end());
  return out;
}

std::string checked_json(const read_files& all) {
  json_writer out;
  out.begin_object().key("ok").boolean(all.problems.empty()).key("files").begin_array();
  for (const auto& file : all.files) {
    out.begin_object().key("file").string(file.file).key("ok").boolean(file.problems.empty()).key("jobs").begin_array();
    for (const auto& job : file.jobs) out.string(job.name());
    out.end_array().end_object();
  }
  write_problems(out.end_array(), all.problems);
  return out.end_object().text() + "\n";
}

std::string checked_text(const read_files& all) {
  std::string out;
  for (const auto& file : all.files)
    if (file.problems.empty())
      out += file.file + ": ok, " +
             (file.jobs.size() == 1 ? "job " + file.jobs.front().name() : std::to_string(file.jobs.size()) + " jobs") + "\n";
  return out;
}

/// Deploys nothing if any file has a problem.
void deploy(cli_context& context, const std::vector<std::string>& paths, const std::string& by, bool check_only) {
  const auto all = read_all(paths);
  if (check_only) print(context, context.json ? checked_json(all) : checked_text(all));
  if (!all.problems.empty())
    context.code = fail_with(all.problems);
  else if (!check_only)
    apply_jobs(context, all.jobs, by);
}

}  // namespace

void add_job_deploy(CLI::App& group, cli_context& context) {
  auto* command =
      group.add_subcommand("deploy", "Create or change jobs from job files; a new job is launched from its next scheduled time on");
  auto paths = std::make_shared<std::vector<std::string>>();
  auto by = std::make_shared<std::string>();
  auto check_only = std::make_shared<bool>(false);
  command->add_option("FILE", *paths, "Job files; nothing is deployed if a file has an error")->required();
  command->add_flag("--check", *check_only, "Only check the files, without a node; every error is listed with its line");
  add_operator_option(*command, *by);
  add_client_options(*command, context);
  command->callback([&context, paths, by, check_only] { deploy(context, *paths, *by, *check_only); });
}

}  // namespace fairlead::app
