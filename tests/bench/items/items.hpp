#pragma once
// What a long list costs those beside it: orders at a fixed rate, at first alone and then beside one task with `for_each`, in the same node.

#include <cstdint>
#include <string>

namespace fairlead::bench {

struct items_plan {
  std::string directory;  // of the store; must not exist
  std::uint32_t items = 10'000;
  std::uint32_t at_once = 100;
  std::uint32_t orders_per_s = 100;
  std::uint32_t alone_s = 10;
};

/// Latencies of orders, from the moment at which each was due to be submitted.
struct items_result {
  double alone_p50_us = 0, alone_p99_us = 0;
  double beside_p50_us = 0, beside_p99_us = 0;
  std::uint64_t orders_beside = 0;
  double list_s = 0;           // from the submission of the list to its end
  double item_cpu_us = 0;      // of this process, less what the orders cost alone
  double item_bytes = 0;       // handed to the disk, likewise
  double item_operations = 0;  // keys written, likewise
};

items_result run_items(const items_plan& plan);

}  // namespace fairlead::bench
