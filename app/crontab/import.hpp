#pragma once
// The entries of a crontab as jobs. A job hands its command, as one shell script, to a workflow with a single step; that step's agent is an
// exec agent of the node file, for which this gives the text. Nothing is read or sent here.

#include <string>
#include <vector>

#include "app/crontab/file.hpp"
#include "messages/job.pb.h"
#include "messages/workflow.pb.h"

namespace fairlead::app {

struct crontab_import_options {
  std::string prefix = "crontab/";  // of the jobs' names
  std::string default_zone = "UTC";
};

struct crontab_workflow {
  std::string user;  // empty: whoever the node runs as
  v1::WorkflowDefinition definition;
  std::string source;      // its YAML
  std::string agent_yaml;  // what stands under `agents:` of a node file
};

struct crontab_jobs {
  std::vector<v1::JobSpec> jobs;  // in the order of the file
  std::vector<int> lines;         // of each job
  std::vector<crontab_workflow> workflows;
  std::vector<problem> problems;  // of single lines, or, without a line, of all
};

/// `file` is what notes and problems call the crontab.
crontab_jobs import_jobs(const std::string& file, const std::vector<crontab_entry>& entries, const crontab_import_options& options);

/// The whole of what `/bin/sh -c` is to do for an entry: variables, directory, shell, standard input.
std::string crontab_script(const crontab_entry& entry, const std::string& default_zone);

/// What a command is called for short: the program, or the script that an interpreter is given, behind `cd … &&`, `sudo` and the like.
std::string crontab_program(const std::string& command);

/// For a node file: the agents of these workflows.
std::string crontab_agents_yaml(const std::vector<crontab_workflow>& workflows);

/// `crontab`, or `crontab-USER`: fit for a workflow and an agent, and different for different users.
std::string crontab_agent(const std::string& user);

}  // namespace fairlead::app
