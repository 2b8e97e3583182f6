#pragma once
// What the Supervisor costs: a scan with nothing due, and a hundred thousand steps that are due at the same moment.

#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::bench {

/// With nothing due, a store of this many tasks that wait for a far moment.
struct quiet_result {
  std::uint64_t waiting = 0;
  double scan_p50_us = 0;
  double scan_p99_us = 0;
  double round_p50_us = 0;  // one turn of the slow round over all live tasks, once a scan period
};

quiet_result run_quiet(const std::string& directory, std::uint64_t waiting);

/// A whole node, with submissions at a steady rate before the moment and after it.
struct burst_result {
  std::uint64_t due = 0;
  double decided_s = 0;      // until every recovery had been asked for, decided, made durable and handed to the agent
  double submit_per_s = 0;   // offered
  double before_p50_ms = 0;  // from the moment at which a submission was to be sent to its acknowledgement
  double before_p99_ms = 0;
  double during_p50_ms = 0;
  double during_p99_ms = 0;
  double during_worst_ms = 0;
};

burst_result run_burst(const std::string& directory, std::uint64_t due);

std::string due_to_json(const std::vector<quiet_result>& quiet, const burst_result& burst);
std::string due_to_table(const std::vector<quiet_result>& quiet, const burst_result& burst);

}  // namespace fairlead::bench
