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

#include "actors/protocol/ports.hpp"
#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

struct audit_entry {
  std::int64_t at_unix_ms = 0;
  std::string kind;        // of the principal; `program`: came over the port between nodes; empty: nobody knows who it was
  std::string who;         // its name
  std::string token;       // its id; empty: no token was sent
  std::string from;        // address, or empty of a Unix socket
  std::string request_id;  // of the request
  std::string method;
  std::string path;
  std::string object;       // the one thing that it is about, by name or number; empty: none, or many
  std::string verb;         // of an action
  std::string reason;       // given with it
  std::string state_after;  // of the task, once the action was done; empty: not known
  unsigned status = 0;
  std::string code;  // of the problem; empty: it was done
};

std::string audit_json(const audit_entry& what);
/// For the node's log, which keeps it in one line. No payload is in it.
std::string audit_sentence(const audit_entry& what);
/// What a path is about: what is behind `/v1/tasks/`, `/v1/jobs/` and the like, decoded. Empty: nothing is.
std::string audit_object(std::string_view path);

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
  /// `say`: for the node's log, from a thread of this; it gets a line for each entry, of refusals only some a minute.
  using say = std::function<void(note_level level, const std::string& sentence)>;
  static result<std::unique_ptr<audit_log>> open(std::string folder, std::uint64_t most_bytes, const clock& time, say to_log);
  audit_log(const audit_log&) = delete;
  audit_log& operator=(const audit_log&) = delete;
  /// What was noted is written first.
  ~audit_log();

  /// Calls `then` from a thread of the log once the entry is on the disk, or cannot be written.
  void note(const audit_entry& what, std::function<void(const status&)> then);

  /// False: the last entry could not be written, and what would have to be noted must not be done. It is tried again every second.
  bool is_sound() const { return sound_; }
  /// Entries since it was opened: those that are on the disk, and those that could not be written.
  std::uint64_t written() const { return written_; }
  std::uint64_t lost() const { return lost_; }

  /// Reads from the files: at most `most` entries for which `wanted` holds, about 1 MiB of them, of at most 20,000 that are looked at. `since_day`: the
  /// files of earlier days are not read. Error: invalid_argument for a cursor of another list, or disk.
  result<audit_page> read(const std::string& cursor, std::size_t most, const std::function<bool(std::string_view entry)>& wanted,
                          const std::string& since_day = {}) const;

 private:
  struct waiting {
    std::string day, line, sentence;
    bool is_refused = false;
    std::function<void(const status&)> then;
  };

  audit_log(std::string folder, std::uint64_t most_bytes, const clock& time, say to_log)
      : folder_(std::move(folder)), most_bytes_(most_bytes), time_(time), say_(std::move(to_log)) {}
  void run();
  void say_all(const std::vector<waiting>& all);
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
  const say say_;
  // Only for the thread.
  std::string part_;  // of fd_
  int fd_ = -1;
  std::uint64_t bytes_ = 0;  // in it
  std::int64_t minute_ = 0;  // of the refusals that the log has
  std::uint64_t refused_in_it_ = 0;
  std::atomic<std::uint64_t> written_ = 0, lost_ = 0;
  std::atomic<bool> sound_ = true;
  std::mutex guard_;
  std::vector<waiting> waiting_;
  bool ending_ = false;
  std::condition_variable wakes_;
  std::thread thread_;
};

}  // namespace fairlead::app
