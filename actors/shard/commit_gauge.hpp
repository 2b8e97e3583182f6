#pragma once
// Measures the commits of a shard: the store actor writes, the description of the node reads, each on its own thread.

#include <chrono>
#include <cstdint>
#include <mutex>

#include "actors/core/distribution.hpp"

namespace fairlead {

class commit_gauge {
 public:
  /// A commit of `batches` of the Scheduler has become durable after `took`.
  void committed(std::size_t batches, std::size_t bytes, std::chrono::microseconds took) {
    const std::lock_guard hold{guard_};
    ++commits_;
    batches_.add(batches);
    bytes_.add(bytes);
    micros_.add(static_cast<std::uint64_t>(took.count()));
  }

  v1::CommitStatus to_proto() const {
    const std::lock_guard hold{guard_};
    v1::CommitStatus out;
    out.set_commits(commits_);
    *out.mutable_batches() = batches_.to_proto();
    *out.mutable_bytes() = bytes_.to_proto();
    *out.mutable_micros() = micros_.to_proto();
    return out;
  }

 private:
  mutable std::mutex guard_;
  std::uint64_t commits_ = 0;
  core::distribution batches_;
  core::distribution bytes_;
  core::distribution micros_;
};

}  // namespace fairlead
