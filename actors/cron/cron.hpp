#pragma once
// The cron: finds due jobs and sends their names to the Scheduler. It reads the index of due jobs and changes nothing. Any number of crons
// may run: the Scheduler ignores names whose work is done. A shell over ports. One thread at a time.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/protocol/ports.hpp"
#include "store/store.hpp"

namespace fairlead {

class cron {
 public:
  struct ports {
    const clock* time = nullptr;
    const store::store* reads = nullptr;
    cron_outbox* out = nullptr;
  };

  /// The index is read at least this often, because nothing reports a change of the clock. A name is not sent again within this time.
  static constexpr duration longest_wait{1'000};
  /// How often the Scheduler is told to look at launches that wait for room: a second's admissions come in portions of a tenth.
  static constexpr duration room_wait{100};
  /// Pause for the Scheduler while more jobs are due than it has room for.
  static constexpr duration burst_pause{5};

  explicit cron(ports world) : world_(world) {}

  /// Sends the names of due jobs, as far as the Scheduler has room. Returns the moment of the next look, which may be now. The cost is that
  /// of due jobs, not of all.
  result<moment> scan();

 private:
  struct found {
    std::vector<std::string> names;
    bool complete = false;  // the pass has reached its end
  };
  void forget(const store::snapshot& view, std::int64_t now_ms);
  result<found> read(const store::snapshot& view, std::int64_t now_ms);
  void send(std::vector<std::string> names, bool look);
  result<moment> next_look(const store::snapshot& view, std::int64_t now_ms, bool complete, std::int64_t look_period_ms) const;

  ports world_;
  // Key of the index -> sending time. A key holds name and moment: a job that is due again has another key.
  std::unordered_map<std::string, std::int64_t> sent_;
  std::string pass_from_;  // the pass over due jobs: the next key,
  std::string pass_to_;    // and the last one; empty between two passes
  std::int64_t pass_ms_ = 0;
  bool look_owed_ = false;      // names have been sent since the Scheduler was last told to look
  std::int64_t looked_ms_ = 0;  // when the Scheduler was last told to look
};

}  // namespace fairlead
