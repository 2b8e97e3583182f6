#pragma once
// The threads behind a node's journal: one applies what the stores have committed, the other keeps files ready for the journal.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "store/journaled/stores.hpp"

namespace fairlead::store {

struct applier_options {
  /// A generation is applied after so long, or when one store has gathered so much.
  std::chrono::milliseconds period{100};
  std::size_t bytes = std::size_t{8} << 20;
  std::size_t operations = 32'768;
  /// After so long without a commit an empty group proves that the last one was durable.
  std::chrono::milliseconds seal_after{1'000};
  /// A write of the journal, or a step of the work on its files, that takes so long is told, and one that takes so long ends the process:
  /// the disk will not come back, and whoever waits for the node would wait for ever.
  std::chrono::milliseconds stall_told_after{5'000};
  std::chrono::milliseconds stall_fatal_after{30'000};
  /// The same of a transaction of a store's tables, which may write much at once. Commits go on meanwhile.
  std::chrono::milliseconds apply_told_after{30'000};
  std::chrono::milliseconds apply_fatal_after{300'000};
  /// `on_fatal` of a stall may itself wait for the disk, as a log does. The process has so long to end by it.
  std::chrono::milliseconds last_word_within{2'000};
  std::chrono::milliseconds watch_period{1'000};
};

class applier {
 public:
  /// Called on one of the threads with the first error; nothing can be committed any more, and the process has to end.
  using fatal = std::function<void(const error&)>;

  /// What people should know: a warning, or that its reason is gone. On one of the threads.
  using note = std::function<void(bool warning, const std::string& sentence)>;

  /// `stores` outlive the applier. `on_hung`: `on_fatal` was called for a stall and the process has not ended by it; it has to end without
  /// writing anything. `on_note` and `on_hung` may be empty.
  applier(journaled_stores& stores, applier_options options, fatal on_fatal, note on_note = {}, fatal on_hung = {});
  /// Ends the threads. What is not applied stays in the journal.
  ~applier();
  applier(const applier&) = delete;

 private:
  void end_with(const error& why);
  void apply_forever();
  void keep_files_ready();
  void tell(const journal_usage& now);
  void watch();
  void say(std::function<void()> what);
  void end_hung(const error& why);
  bool pause(std::chrono::milliseconds how_long);
  bool wait_for_work();
  bool much_to_apply() const;

  journaled_stores& stores_;
  const applier_options options_;
  const fatal on_fatal_;
  const note on_note_;
  const fatal on_hung_;
  std::mutex guard_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::atomic<bool> told_{false};  // on_fatal was called
  std::atomic<bool> work_{false};  // a store has something to apply
  std::atomic<std::uint64_t> applies_begun_{0};
  std::atomic<std::uint64_t> applies_ended_{0};
  bool crowded_ = false;  // of the thread of the files
  std::thread applying_;
  std::thread files_;
  std::thread watching_;  // touches no disk, so it goes on when the disk does not
  std::atomic<bool> speaking_{false};
  std::thread speaker_;  // of the thread that watches
};

}  // namespace fairlead::store
