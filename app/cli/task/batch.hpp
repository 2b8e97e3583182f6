#pragma once
// `submit --batch`: a stream of JSON lines to tasks, through the loss of nodes.
//
// Threads: one reads lines, a few submit chunks of them (each waits for its acknowledgement, which bounds what is on its way), one asks
// for the states of tasks whose end was not heard of, the caller's shows progress. All state is behind one mutex.

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
  /// How long to go on without an answer of any node. The client's request_timeout is the same.
  duration patience = std::chrono::seconds{60};
  std::uint64_t lines = 0;                // in the stream; 0: not known
  std::vector<v1::Label> labels;          // for every task, beside the line's own
  std::optional<std::int32_t> priority;   // for lines that give none
  std::optional<v1::ReplyAddress> reply;  // for lines that give none
};

struct batch_refusal {
  std::uint64_t line = 0;
  std::string id;
  error why;
};

struct batch_outcome {
  std::uint64_t submitted = 0;  // newly created
  std::uint64_t already = 0;    // acknowledged, but there before (by an earlier run, or by a repetition of this one)
  std::uint64_t completed = 0;
  std::uint64_t undone = 0;
  std::uint64_t parked = 0;
  std::vector<v1::TaskEnd> first_parked;  // at most 10 of them, with their reasons
  std::vector<batch_refusal> refusals;    // by line
  double seconds = 0;
  std::optional<error> gave_up;  // no node answered; what was not acknowledged is in no count
};

class batch_run {
 public:
  batch_run(client& to, batch_options options);

  /// Submits all lines and, with `wait`, waits for the ends. Once.
  batch_outcome run(line_reader& in, progress_display& display);

 private:
  struct item {
    std::uint64_t line = 0;
    v1::Submission submission;
  };
  /// A task that is to be waited for. Lines may share one.
  struct open_task {
    std::uint64_t line = 0;
    int on_their_way = 0;  // lines without an answer yet
    bool acknowledged = false;
    std::optional<v1::TaskEnd> end;  // heard before the acknowledgement
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

  // With the mutex held.
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
  int busy_ = 0;                           // submitters with a chunk
  std::map<std::string, open_task> open_;  // with wait: submitted and not known to have ended
  std::string ask_after_;                  // the id that the last question ended with; empty: begin anew
  std::uint64_t ended_ = 0;
  batch_outcome outcome_;
};

}  // namespace fairlead::app
