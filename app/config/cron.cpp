// The section of the node file that limits launches of jobs.

#include "app/config/parts.hpp"

namespace fairlead::app {

namespace {

constexpr std::uint64_t most_in_flight = 100'000'000;
constexpr std::uint64_t most_starts_per_second = 1'000'000;

}  // namespace

void read_cron(const yaml_node& node, node_config& out) {
  yaml_section section{node};
  if (section.integer("in_flight", out.cron_in_flight, 0, most_in_flight) && out.cron_in_flight != 0 &&
      out.cron_in_flight < out.shard_count) {
    const auto shards = std::to_string(out.shard_count);
    section.find("in_flight")
        ->complain("this limit is divided among the " + shards + " shards of the cluster (shards.count), and some shards would get 0",
                   "set it to at least " + shards + ", or 0 for no limit");
  }
  section.integer("starts_per_second", out.cron_starts_per_second, 0, most_starts_per_second);
  section.finish();
}

}  // namespace fairlead::app
