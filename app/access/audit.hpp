#pragma once
// Who did what over the API, and what was refused: lines of JSON in files of the node, `YYYY-MM-DD-NNN.jsonl`: the day (UTC), and a number that
// rises when the file before has become large. An entry is on the disk before the client has its answer.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

struct audit_entry {
  std::int64_t at_unix_ms = 0;
  std::string kind;        // of the principal; `program`: came over the port between nodes; empty: nobody knows who it was
  std::string who;         // its name
  std::string from;        // address, or empty of a Unix socket
  std::string request_id;  // of the request
  std::string method;
  std::string path;
  std::string verb;    // of an action
  std::string reason;  // given with it
  unsigned status = 0;
  std::string code;  // of the problem; empty: it was done
};

std::string audit_json(const audit_entry& what);

struct audit_page {
  std::vector<std::string> entries;  // as JSON, newest first
  std::vector<std::string> places;   // of the entries: cursors of the lists that go on behind them
  std::string begin;                 // the cursor of this page
  std::string cursor;                // of the next page; empty: this was the last
};

/// Thread-safe.
class audit_log {
 public:
  /// Makes the folder if it is missing. Errors: disk. `most_bytes`: of all files, about; the oldest ones are removed.
  static result<std::unique_ptr<audit_log>> open(std::string folder, std::uint64_t most_bytes, const clock& time,
                                                 std::function<void(const std::string& sentence)> warn);
  audit_log(const audit_log&) = delete;
  audit_log& operator=(const audit_log&) = delete;
  /// What was noted is written first.
  ~audit_log();

  /// Calls `then` from a thread of the log once the entry is on the disk, or cannot be written.
  void note(const audit_entry& what, std::function<void(const status&)> then);

  /// False: the last entry could not be written, and what would have to be noted must not be done. It is tried again every second.
  bool is_sound() const { return sound_; }

  /// Reads from the files: at most `most` entries for which `wanted` holds, about 1 MiB of them, of at most 20,000 that are looked at. `since_day`: the
  /// files of earlier days are not read. Error: invalid_argument for a cursor of another list, or disk.
  result<audit_page> read(const std::string& cursor, std::size_t most, const std::function<bool(std::string_view entry)>& wanted,
                          const std::string& since_day = {}) const;

 private:
  struct waiting {
    std::string day, line;
    std::function<void(const status&)> then;
  };

  audit_log(std::string folder, std::uint64_t most_bytes, const clock& time, std::function<void(const std::string&)> warn)
      : folder_(std::move(folder)), most_bytes_(most_bytes), time_(time), warn_(std::move(warn)) {}
  void run();
  /// All in one write and one sync for each day.
  status write(const std::vector<waiting>& all);
  status append(const std::string& day, const std::string& text);
  status open_part(const std::string& day);
  void remove_oldest() const;
  /// The names of the files without their suffix, in order.
  std::vector<std::string> parts() const;
  std::string path_of(const std::string& part) const;

  const std::string folder_;
  const std::uint64_t most_bytes_;
  const clock& time_;
  const std::function<void(const std::string&)> warn_;
  // Only for the thread.
  std::string part_;  // of fd_
  int fd_ = -1;
  std::uint64_t bytes_ = 0;  // in it
  std::atomic<bool> sound_ = true;
  std::mutex guard_;
  std::vector<waiting> waiting_;
  bool ending_ = false;
  std::condition_variable wakes_;
  std::thread thread_;
};

}  // namespace fairlead::app
