#pragma once
// Whether the store has room for new tasks, and the alert that says when it has not. What tasks that run will still write counts as used. One thread.

#include <cstdint>

#include "actors/alerts/book.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/scheduler/commit/pipeline.hpp"
#include "messages/error.hpp"

namespace fairlead {

class store_watch {
 public:
  /// `full_percent`: of the store's size; beyond this there is no room. The others have to outlive it.
  store_watch(commit_pipeline& batches, alert_book& alerts, observer& log, std::uint32_t full_percent)
      : batches_(batches), alerts_(alerts), log_(log), full_percent_(full_percent) {}

  /// A task with an input of so many bytes runs from now on, or does no more.
  void runs(std::uint64_t input_bytes) { input_bytes_ += input_bytes; }
  void runs_no_more(std::uint64_t input_bytes);

  std::uint64_t reserved_bytes() const;
  bool full() const;
  /// What whoever asks for something new is told while it is full.
  error refusal() const;

  /// Raises the alert once it is full, and resolves it when there is room again.
  status look();
  /// Somebody has been refused: raises the alert, unless it is there.
  void tell();

 private:
  core::store_room room() const { return batches_.room(reserved_bytes()); }

  commit_pipeline& batches_;
  alert_book& alerts_;
  observer& log_;
  std::uint32_t full_percent_;
  std::uint64_t input_bytes_ = 0;  // of tasks that run
};

}  // namespace fairlead
