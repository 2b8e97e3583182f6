#pragma once
// The threads behind a node's journal: one applies what the stores have committed, the other keeps files ready for the journal.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
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
};

class applier {
 public:
  /// Called on one of the threads with the first error; the process has to end then.
  using fatal = std::function<void(const error&)>;

  /// `stores` outlive the applier.
  applier(journaled_stores& stores, applier_options options, fatal on_fatal);
  /// Ends the threads. What is not applied stays in the journal.
  ~applier();
  applier(const applier&) = delete;

 private:
  void apply_forever();
  void keep_files_ready();
  bool pause(std::chrono::milliseconds how_long);
  bool wait_for_work();
  bool much_to_apply() const;

  journaled_stores& stores_;
  const applier_options options_;
  const fatal on_fatal_;
  std::mutex guard_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::atomic<bool> work_{false};  // a store has something to apply
  std::thread applying_;
  std::thread files_;
};

}  // namespace fairlead::store
