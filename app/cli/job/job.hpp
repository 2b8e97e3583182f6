#pragma once
// The commands about jobs, one short file a kind.

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

/// Makes the jobs what they are here, in messages of bounded size, and tells of each; `by` as of `--by`. With `check_only` a node checks them and
/// nothing is written. Sets context.code: by the first job that was refused.
void apply_jobs(cli_context& context, const std::vector<v1::JobSpec>& jobs, const std::string& by, bool check_only = false);

/// What `apply_jobs` says. `done` has one result for each of the first jobs; more where a message failed are left out.
std::string applied_text(const std::vector<v1::JobApplyResult>& done, bool check_only);
std::string applied_json(const std::vector<v1::JobApplyResult>& done);

/// A moment as an option gives it. Errors: invalid_argument.
result<std::int64_t> read_utc(const std::string& option, const std::string& text);
/// A duration as an option gives it, at least this long. Errors: invalid_argument.
result<std::int64_t> read_duration(const std::string& option, const std::string& text, std::int64_t least_ms);

/// What a problem of a file says behind a semicolon, as a sentence of its own.
std::string as_remedy(std::string text);

}  // namespace fairlead::app
