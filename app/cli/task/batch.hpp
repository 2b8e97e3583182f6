#pragma once
// `submit --batch`: makes tasks of a stream of JSON lines and survives the loss of nodes.
//
// One thread reads lines. Several threads submit chunks of lines; each waits for its
// acknowledgement, which bounds the unacknowledged items. One thread asks for the states of tasks
// whose end was not reported. The caller's thread shows progress. One mutex protects all state.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/client/client.hpp"
#include "app/cli/lines.hpp"
#include "app/cli/progress.hpp"

namespace fairlead::app {

struct batch_options {
  std::string workflow;
  bool wait = false;
  /// How long to continue while no node answers. The client's request_timeout has the same value.
  duration patience = std::chrono::seconds{60};
  std::uint64_t lines = 0;                // in the stream; 0: unknown
  std::vector<v1::Label> labels;          // for every task, in addition to the line's own
  std::optional<std::int32_t> priority;   // for lines without one
  v1::Submission start;                   // start_at or delay, for lines without either
  std::optional<v1::ReplyAddress> reply;  // for lines without one
};

struct batch_refusal {
  std::uint64_t line = 0;
  std::string id;
  error why;
};

struct batch_outcome {
  std::uint64_t submitted = 0;  // newly created
  std::uint64_t already = 0;    // acknowledged, but created before (by an earlier run, or by a repeated request of this run)
  std::uint64_t completed = 0;
  std::uint64_t undone = 0;
  std::uint64_t failed = 0;
  std::uint64_t parked = 0;
  std::vector<v1::TaskEnd> first_parked;  // at most 10 of them, with their reasons
  std::vector<batch_refusal> refusals;    // by line
  double seconds = 0;
  std::optional<error> gave_up;  // no node answered; no count has the unacknowledged items
};

class batch_run {
 public:
  batch_run(client& to, batch_options options);

  /// Submits all lines and, with `wait`, waits for the ends of the tasks. Call once.
  batch_outcome run(line_reader& in, progress_display& display);

 private:
  struct item {
    std::uint64_t line = 0;
    v1::Submission submission;
  };
  /// A task whose end is awaited. Several lines may share one task.
  struct open_task {
    std::uint64_t line = 0;
    int on_their_way = 0;  // lines without an answer yet
    bool acknowledged = false;
    std::optional<v1::TaskEnd> end;  // reported before the acknowledgement
  };

  void read(line_reader& in);
  void enqueue(std::uint64_t line, v1::Submission what);
  void submit();
  std::vector<item> take_chunk();
  bool submit_chunk(std::vector<item>& chunk);
  void take_answer(item& one, const v1::SubmitResult& answer, std::vector<item>& again);

  void poll();
  bool poll_round();
  void on_notice(const v1::FinishedNotice& notice);

  // The caller holds the mutex.
  std::vector<std::string> ids_to_ask();
  void settle(const v1::TaskEnd& end);
  void refuse(std::uint64_t line, const std::string& id, error why);
  void give_up(const error& why);
  bool over() const;
  batch_progress progress() const;

  client& to_;
  batch_options options_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<item> queue_;
  bool all_read_ = false;
  int busy_ = 0;                           // submitters that have a chunk
  std::map<std::string, open_task> open_;  // with `wait`: submitted, end not yet known
  std::string ask_after_;                  // the last id of the last request; empty: start from the beginning
  std::uint64_t ended_ = 0;
  batch_outcome outcome_;
};

}  // namespace fairlead::app
