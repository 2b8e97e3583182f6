#pragma once
// A decision that crashes: in some runs the engine throws while it decides about a task, once or for a while, or the zone of a job cannot be read. That
// task is to be parked, and that job paused, with its alert, and nothing else may notice.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/core/job/job.hpp"
#include "actors/core/workflow/declarative.hpp"
#include "actors/system/time_zones.hpp"
#include "messages/task.pb.h"
#include "store/store.hpp"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

/// What has crashed, and what has to come of it. Rule: poison_unparked.
class bug_book {
 public:
  explicit bug_book(world& in) : world_(in), any_(in.bugs.chance(120) && in.settings.has(concern::bugs)) {}

  /// Throws when this decision is one that crashes.
  void decide(const v1::TaskRecord& record);
  /// Whether the log may speak of an error now: once for each crash.
  bool explains(std::string_view note);
  bool about(const std::string& id) const { return crashed_.count(id) != 0; }
  /// Until the next call: decisions are about these jobs, whose time has come.
  void jobs_are_due(std::vector<std::string> names) { due_ = std::move(names); }
  /// Throws when the decision about a job crashes here.
  void read_zone();
  bool about_job(const std::string& name) const { return crashed_jobs_.count(name) != 0; }
  void committed(const v1::TaskRecord& record);
  /// At a moment when all that is decided is durable.
  /// What comes is decided by that core.
  void at(std::uint64_t core) { core_ = core; }
  void look(std::uint64_t core, const store::snapshot& durable);

 private:
  struct crash {
    std::uint64_t number = 0;
    std::int64_t at_us = 0;
    std::uint64_t core = 0;     // as of the look before
    std::uint64_t history = 0;  // events that were durable then
  };

  world& world_;
  const bool any_;
  std::uint64_t core_ = 0;  // as of the last look
  std::uint64_t unexplained_ = 0;
  std::set<std::string> crashed_;
  std::set<std::string> stays_;            // tasks about which each decision crashes while there is trouble
  std::map<std::string, crash> unparked_;  // nobody has seen them parked yet
  std::vector<std::string> due_;
  std::set<std::string> crashed_jobs_;
  std::map<std::string, crash> unpaused_;         // jobs that nobody has seen paused yet
  std::map<std::string, std::uint64_t> durable_;  // events
  std::set<std::string> settled_;                 // parked or over, durably
};

class buggy_engine final : public core::workflow_engine {
 public:
  explicit buggy_engine(bug_book& book) : book_(book) {}

  void begin(const core::workflow& definition, v1::TaskRecord& record) const override { engine_.begin(definition, record); }
  void next(const core::workflow& definition, const v1::TaskRecord& record, core::next_steps& out) const override {
    book_.decide(record);
    engine_.next(definition, record, out);
  }
  void next_undo(const core::workflow& definition, const v1::TaskRecord& record, core::next_steps& out) const override {
    book_.decide(record);
    engine_.next_undo(definition, record, out);
  }
  void next_dropped(const core::workflow& definition, const v1::TaskRecord& record, core::next_steps& out) const override {
    book_.decide(record);
    engine_.next_dropped(definition, record, out);
  }

 private:
  core::declarative_engine engine_;
  bug_book& book_;
};

class buggy_zones final : public core::zone_source {
 public:
  explicit buggy_zones(bug_book& book) : book_(book) {}

  const cctz::time_zone* find(std::string_view name) const override {
    book_.read_zone();
    return time_zones::of_system().find(name);
  }

 private:
  bug_book& book_;
};

}  // namespace fairlead::simulation
