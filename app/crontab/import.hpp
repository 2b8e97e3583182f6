#pragma once
// Makes jobs of a crontab's entries. Each job passes its command, as one shell script, to a
// workflow with a single step. An exec agent runs the step; the import gives the agent's text for
// the node file. The import reads no file and sends nothing.

#include <string>
#include <vector>

#include "app/crontab/file.hpp"
#include "messages/job.pb.h"
#include "messages/workflow.pb.h"

namespace fairlead::app {

struct crontab_import_options {
  std::string prefix = "crontab/";  // of all job names
  std::string default_zone = "UTC";
};

struct crontab_workflow {
  std::string user;  // empty: the user of the node
  v1::WorkflowDefinition definition;
  std::string source;      // the workflow as YAML
  std::string agent_yaml;  // the entry below `agents:` in a node file
};

struct crontab_jobs {
  std::vector<v1::JobSpec> jobs;  // in the order of the crontab
  std::vector<int> lines;         // the line of each job
  std::vector<crontab_workflow> workflows;
  std::vector<problem> problems;  // about a line; without a line: about the whole crontab
};

/// `file` is the name of the crontab in notes and problems.
crontab_jobs import_jobs(const std::string& file, const std::vector<crontab_entry>& entries, const crontab_import_options& options);

/// The whole script that `/bin/sh -c` runs for an entry: variables, directory, shell, standard
/// input.
std::string crontab_script(const crontab_entry& entry, const std::string& default_zone);

/// A short name for a command: its program, or the script that an interpreter runs. The name leaves
/// out prefixes such as `cd … &&` and `sudo`.
std::string crontab_program(const std::string& command);

/// The agents of these workflows, as text for a node file.
std::string crontab_agents_yaml(const std::vector<crontab_workflow>& workflows);

/// `crontab`, or `crontab-USER`: a valid name for a workflow and an agent, and unique for each
/// user.
std::string crontab_agent(const std::string& user);

}  // namespace fairlead::app
