#pragma once
// The cron: finds the jobs whose time has come and tells the Scheduler their names. It reads the index of due jobs, decides nothing and changes
// nothing; any number of them may run, and whatever one says twice the Scheduler finds done. A shell over ports. One thread at a time.

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

  /// The index is read at least this often, because nobody tells when the clock is set; and what was sent is not sent again before.
  static constexpr duration longest_wait{1'000};
  /// How often the Scheduler is told to look at launches that wait for room: what is admitted a second comes in portions of a tenth.
  static constexpr duration room_wait{100};
  /// While there is more than the Scheduler has room for, how long to leave it to itself.
  static constexpr duration burst_pause{5};

  explicit cron(ports world) : world_(world) {}

  /// Sends the names of the jobs that are due, as far as the Scheduler has room. The moment of the next look, which may be now. Costs what is
  /// due, not what exists.
  result<moment> scan();

 private:
  struct found {
    std::vector<std::string> names;
    bool complete = false;  // the pass has come to its end
  };
  void forget(const store::snapshot& view, std::int64_t now_ms);
  result<found> read(const store::snapshot& view, std::int64_t now_ms);
  void send(std::vector<std::string> names, bool look);
  result<moment> next_look(const store::snapshot& view, std::int64_t now_ms, bool complete, std::int64_t look_period_ms) const;

  ports world_;
  // Key of the index -> when it was sent. A key holds name and moment: a job that is due again is another one.
  std::unordered_map<std::string, std::int64_t> sent_;
  std::string pass_from_;  // the pass over what is due: the key to go on with,
  std::string pass_to_;    // and where it ends; empty between two passes
  std::int64_t pass_ms_ = 0;
  bool look_owed_ = false;      // names have been sent since the Scheduler was last told to look
  std::int64_t looked_ms_ = 0;  // when the Scheduler was last told to look
};

}  // namespace fairlead
