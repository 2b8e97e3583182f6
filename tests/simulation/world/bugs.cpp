#include "tests/simulation/world/bugs.hpp"

#include <algorithm>
#include <stdexcept>

#include "store/rows/job_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t parked_within_us = 2 * second;
constexpr std::int64_t paused_within_us = 5 * second;  // once it is due again

}  // namespace

void bug_book::decide(const v1::TaskRecord& record) {
  if (!any_) return;
  const auto stays = stays_.count(record.id()) != 0 && world_.troubled(concern::bugs);
  if (!stays && !world_.strikes(concern::bugs, world_.bugs, 25)) return;
  if (world_.bugs.chance(300)) stays_.insert(record.id());
  ++unexplained_;
  crashed_.insert(record.id());
  // One that is parked or over durably stays so: what has crashed was an order that would have let it go on.
  if (settled_.count(record.id()) == 0) unparked_[record.id()] = {record.number(), world_.now_us(), core_, durable_[record.id()]};
  world_.count("decisions that crashed");
  world_.tell("fate", "", record.number(), [&] { return "has a decision about " + record.id() + " crash"; });
  throw std::logic_error{"a bug that was planted"};
}

void bug_book::read_zone() {
  if (!any_ || due_.size() != 1 || !world_.strikes(concern::bugs, world_.bugs, 15)) return;
  ++unexplained_;
  world_.count("decisions about jobs that crashed");
  world_.tell("fate", "", 0, [] { return "has a decision about a job crash"; });
  throw std::logic_error{"a bug that was planted"};
}

bool bug_book::explains(std::string_view note) {
  if (unexplained_ == 0) return false;
  --unexplained_;
  // The zone of one job may be read while another one is due.
  constexpr std::string_view about = "job ";
  if (!note.starts_with(about)) return true;
  const std::string name{note.substr(about.size(), note.find(':') - about.size())};
  crashed_jobs_.insert(name);
  unpaused_[name] = {0, world_.now_us(), core_, 0};
  return true;
}

void bug_book::committed(const v1::TaskRecord& record) {
  durable_[record.id()] = record.history_size();
  if (!record.parked() && !has_ended(record.state())) {
    settled_.erase(record.id());
    // It may have been parked and let go again within one group of commits.
    const auto crashed = unparked_.find(record.id());
    if (crashed == unparked_.end()) return;
    const auto parked = std::any_of(record.recent().begin(), record.recent().end(), [&](const v1::HistoryEvent& one) {
      return one.kind() == v1::EVENT_KIND_TASK_PARKED && one.sequence() > crashed->second.history;
    });
    if (parked) unparked_.erase(crashed);
    return;
  }
  settled_.insert(record.id());
  unparked_.erase(record.id());
}

void bug_book::look(std::uint64_t core, const store::snapshot& durable) {
  core_ = core;
  for (auto it = unparked_.begin(); it != unparked_.end();) {
    auto& one = it->second;
    const auto record = store::load_task(durable, one.number);
    // What a Scheduler knew of it went with it: its successor meets the bug anew, or does not.
    if (one.core != core || !record.ok() || !*record || (*record)->id() != it->first) {
      it = unparked_.erase(it);
      continue;
    }
    if (world_.now_us() - one.at_us > parked_within_us)
      world::broken("poison_unparked", "a decision about " + it->first + " crashed " +
                                           std::to_string((world_.now_us() - one.at_us) / millisecond) + " ms ago, and it is not parked");
    ++it;
  }
  std::erase_if(unpaused_, [&](const auto& one) {
    const auto job = store::load_job(durable, one.first);
    // A look that came after it has seen it paused, or somebody has let it go on since.
    if (one.second.core != core || !job.ok() || !*job || (*job)->paused_reason() == "internal error") return true;
    return false;
  });
  for (const auto& [name, one] : unpaused_)
    if (world_.now_us() - one.at_us > paused_within_us)
      world::broken("poison_unparked", "a decision about job " + name + " crashed " +
                                           std::to_string((world_.now_us() - one.at_us) / millisecond) + " ms ago, and it is not paused");
}

}  // namespace fairlead::simulation
