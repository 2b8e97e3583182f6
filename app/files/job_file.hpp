#pragma once
// Jobs as a person writes them: YAML to JobSpec and back, with the place of every key kept, so that what core finds is shown with its line.
// docs/cron.md is the reference of the keys.

#include <string>
#include <vector>

#include "actors/core/job/job.hpp"
#include "app/yaml/document.hpp"
#include "messages/job.pb.h"

namespace fairlead::app {

struct job_file {
  std::string file;
  std::vector<v1::JobSpec> jobs;  // one a document, all sound when there are no problems
  std::vector<problem> problems;  // in the order of the file
};

/// Reads all documents of a file and checks everything that can be known without a node.
job_file read_jobs(const std::string& path, const core::zone_source& zones);
/// `name`: of a job whose document does not say it; empty: each has to.
job_file parse_jobs(const std::string& file, const std::string& text, const core::zone_source& zones, const std::string& name = {});

/// Jobs of one name in different places, each of which would undo what the other one says.
std::vector<problem> doubled_jobs(const std::vector<job_file>& files);

/// One document, without `---`, that reads back as the same specification: only what differs from the defaults stands in it.
std::string job_yaml(const v1::JobSpec& job);

/// `did you mean Europe/Berlin?`, or how to find a name; without a full stop.
std::string zone_remedy(const std::string& unknown);

}  // namespace fairlead::app
