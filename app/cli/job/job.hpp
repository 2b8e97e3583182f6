#pragma once
// The commands about jobs, one file for each.

#include <string>
#include <vector>

#include "app/cli/context.hpp"
#include "messages/job.pb.h"

namespace fairlead::app {

void add_job_deploy(CLI::App& group, cli_context& context);   // deploy.cpp
void add_job_add(CLI::App& group, cli_context& context);      // add.cpp
void add_job_import(CLI::App& group, cli_context& context);   // import.cpp
void add_job_list(CLI::App& group, cli_context& context);     // list.cpp
void add_job_show(CLI::App& group, cli_context& context);     // show.cpp
void add_job_verbs(CLI::App& group, cli_context& context);    // operate.cpp: pause, resume, run, backfill, delete, rewind
void add_job_history(CLI::App& group, cli_context& context);  // list.cpp
void add_job_next(CLI::App& group, cli_context& context);     // next.cpp

/// Creates or changes the jobs on a node, in messages of bounded size, and prints the results. `by`
/// is the value of `--by`. With `check_only` the node checks the jobs and writes nothing. Sets
/// context.code to the error of the first refused job.
void apply_jobs(cli_context& context, const std::vector<v1::JobSpec>& jobs, const std::string& by, bool check_only = false);

/// The output of `apply_jobs` as text. `done` has the results of the first jobs in order. If a message
/// failed, later jobs have no result.
std::string applied_text(const std::vector<v1::JobApplyResult>& done, bool check_only);

}  // namespace fairlead::app
