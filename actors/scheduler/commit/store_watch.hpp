#pragma once
// Checks whether the store has room for new tasks, and keeps the alert that says when it has none. Bytes that running tasks will still
// write count as used. One thread.

#include <cstdint>
#include <unordered_set>

#include "actors/alerts/book.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/scheduler/commit/pipeline.hpp"
#include "messages/error.hpp"

namespace fairlead {

class store_watch {
 public:
  /// `full_percent`: of the store's size; above this there is no room. The other arguments must outlive the store_watch.
  store_watch(commit_pipeline& batches, alert_book& alerts, observer& log, std::uint32_t full_percent)
      : batches_(batches), alerts_(alerts), log_(log), full_percent_(full_percent) {}

  /// The task with an input of so many bytes runs, or stops running. It counts once: what sleeps over a start is known when it is looked at.
  void runs(std::uint64_t task, std::uint64_t input_bytes);
  void runs_no_more(std::uint64_t task, std::uint64_t input_bytes);

  std::uint64_t reserved_bytes() const;
  bool full() const;
  /// The answer to a request for something new while the store is full.
  error refusal() const;

  /// Raises the alert if the store is full, and resolves it when there is room again.
  status look();
  /// A request was refused: raises the alert unless it is open.
  void tell();

 private:
  core::store_room room() const { return batches_.room(reserved_bytes()); }

  commit_pipeline& batches_;
  alert_book& alerts_;
  observer& log_;
  std::uint32_t full_percent_;
  std::unordered_set<std::uint64_t> running_;  // numbers of the tasks that count
  std::uint64_t input_bytes_ = 0;              // of these
};

}  // namespace fairlead
