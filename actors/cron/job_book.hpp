#pragma once
// The jobs that the Scheduler decides about: the newest version of each that is not yet durable, over the rows of the store. One thread.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "actors/core/job/job.hpp"
#include "messages/job.pb.h"
#include "store/rows/job_rows.hpp"
#include "store/store.hpp"

namespace fairlead {

class job_book {
 public:
  /// A job with the decisions about it that are not yet durable.
  struct entry {
    v1::JobRecord record;
    bool there = false;               // false: the job was deleted, or never existed
    bool crashed = false;             // a decision about it threw: no further decision until its batches are durable
    std::uint64_t last_sequence = 0;  // of the newest batch with a version of the job
    std::map<std::int64_t, std::optional<v1::LaunchRecord>> launches;  // written or erased since the committed state
  };

  /// Never null; `there` says whether the job exists. An error: the store could not be read.
  result<entry*> find(const std::string& name, const store::snapshot& committed);

  /// `name` has been written in the batch with this sequence.
  void written(const std::string& name, entry& what, std::uint64_t sequence);

  /// A decision about `name` threw: no further decision until its batches are durable. `has_crashed` holds until `taken_up`.
  void crashed(const std::string& name, entry& what, std::uint64_t committed_sequence);
  bool has_crashed(const std::string& name) const { return crashed_.count(name) != 0; }
  void taken_up(const std::string& name) { crashed_.erase(name); }

  /// Drops the job if all its batches are durable.
  void forget_if_durable(const std::string& name, std::uint64_t committed_sequence);
  /// Drops all jobs whose batches are durable.
  void committed_up_to(std::uint64_t sequence);

  const std::unordered_map<std::string, std::unique_ptr<entry>>& entries() const noexcept { return entries_; }

 private:
  std::unordered_map<std::string, std::unique_ptr<entry>> entries_;
  std::map<std::uint64_t, std::vector<std::string>> by_sequence_;  // written jobs, by their newest batch at that time
  std::set<std::string> crashed_;
};

/// One job's launches as decided: those of the book over those of the store.
class job_launches final : public core::launch_rows {
 public:
  job_launches(std::string_view job, const job_book::entry& fresh, const store::snapshot& committed)
      : job_(job), fresh_(fresh), committed_(committed) {}
  result<std::optional<v1::LaunchRecord>> at(std::int64_t nominal_unix_ms) const override;
  result<std::vector<v1::LaunchRecord>> from(std::int64_t unix_ms) const override;
  result<std::vector<v1::LaunchRecord>> oldest(std::size_t limit) const override;

 private:
  result<std::vector<v1::LaunchRecord>> some(std::int64_t from_unix_ms, std::size_t limit) const;

  std::string_view job_;
  const job_book::entry& fresh_;
  const store::snapshot& committed_;
};

}  // namespace fairlead
