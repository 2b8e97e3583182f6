#pragma once
// What the tests of the job machine share: one job, a gate that lets in what the test says, the rows of its launches, a clock that stands still,
// and one line of text for each thing a decision says. Times of day are of 2026-03-02, a Monday, in UTC.

#include <gtest/gtest.h>

#include <cctz/time_zone.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "actors/core/job/job.hpp"
#include "actors/core/planted_faults.hpp"

namespace fairlead::core::testing {

inline constexpr std::int64_t monday_ms = 1'772'409'600'000;

/// `10:05`, `10:05:30` or `10:05:30.250`; `+1 10:05` is the next day, `-1 …` the one before.
inline std::int64_t at(const std::string& text) {
  int day = 0, hour = 0, minute = 0, second = 0, ms = 0;
  const auto* rest = text.c_str();
  if (*rest == '+' || *rest == '-') {
    day = std::atoi(rest);
    rest = std::strchr(rest, ' ') + 1;
  }
  std::sscanf(rest, "%d:%d:%d.%d", &hour, &minute, &second, &ms);
  return monday_ms + (((day * 24LL + hour) * 60 + minute) * 60 + second) * 1000 + ms;
}

inline std::string clock_text(std::int64_t unix_ms) {
  if (unix_ms == 0) return "-";
  auto text = format_utc(unix_ms);  // 2026-03-02T10:05:00.000Z
  const auto same_day = text.compare(0, 10, "2026-03-02") == 0;
  auto time = text.substr(11, 12);
  if (time.compare(8, 4, ".000") == 0) time.resize(8);
  if (time.size() == 8 && time.compare(5, 3, ":00") == 0) time.resize(5);
  return same_day ? time : text.substr(5, 5) + " " + time;
}

class system_zones final : public zone_source {
 public:
  const cctz::time_zone* find(std::string_view name) const override {
    auto& known = zones_[std::string{name}];
    if (!name.empty() && !cctz::load_time_zone(std::string{name}, &known)) return nullptr;
    return &known;
  }

 private:
  mutable std::map<std::string, cctz::time_zone> zones_;
};

class test_gate final : public launch_gate {
 public:
  launch_verdict verdict;
  int room = 1'000'000;  // launches that are let in before it says `room`
  launch_verdict admit(const v1::JobRecord&, const v1::OpenLaunch&) override {
    if (verdict.what != launch_verdict::kind::go) return verdict;
    if (room == 0) return {launch_verdict::kind::wait, v1::LAUNCH_WAIT_ROOM, {}, {}};
    --room;
    return {};
  }
  std::string refused;  // the only input that the workflow does not take
  std::optional<error> refuse_input(const v1::JobSpec& job, std::string_view input) override {
    if (refused.empty() || input != refused) return std::nullopt;
    return invalid("the input does not fit the schema of workflow " + job.workflow() + ": /n: is missing", "correct the input");
  }
  void wait_for(v1::LaunchWait what) { verdict = {launch_verdict::kind::wait, what, {}, {}}; }
  void skip(v1::SkipReason why, const std::string& reason) { verdict = {launch_verdict::kind::skip, {}, why, reason}; }
  void open() { verdict = {}; }
};

class test_rows final : public launch_rows {
 public:
  std::map<std::int64_t, v1::LaunchRecord> all;
  bool broken = false;
  result<std::optional<v1::LaunchRecord>> at(std::int64_t nominal_unix_ms) const override {
    if (broken) return error{v1::ERROR_CODE_DISK, "the disk refused", ""};
    const auto found = all.find(nominal_unix_ms);
    return found == all.end() ? std::optional<v1::LaunchRecord>{} : std::optional{found->second};
  }
  result<std::vector<v1::LaunchRecord>> from(std::int64_t unix_ms) const override {
    std::vector<v1::LaunchRecord> out;
    for (const auto& [nominal, row] : all)
      if (std::max(nominal, row.last_nominal_unix_ms()) >= unix_ms) out.push_back(row);
    return out;
  }
  result<std::vector<v1::LaunchRecord>> oldest(std::size_t limit) const override {
    std::vector<v1::LaunchRecord> out;
    for (const auto& [nominal, row] : all)
      if (out.size() < limit) out.push_back(row);
    return out;
  }
};

class job_world {
 public:
  v1::JobSpec spec;
  v1::JobRecord record;
  test_gate gate;
  test_rows rows;
  system_zones zones;
  planted_faults faults;
  std::int64_t now_ms = monday_ms;
  std::uint64_t next_task = 1;
  std::vector<std::string> inputs;  // of the tasks, in order

  job_world() {
    spec.set_name("job");
    spec.set_schedule("*/5 * * * *");
    spec.set_workflow("report");
  }

  void create(const std::string& time) {
    now_ms = at(time);
    record = create_job(spec, spec.SerializeAsString(), "anna", context());
  }

  /// What a decision says, a line each, after it has been carried out as the Scheduler would.
  std::string decided(const job_event& what) {
    const auto before = record;
    auto made = decide(record, what, context());
    EXPECT_FALSE(made.fatal);
    if (made.refused) {
      EXPECT_EQ(record.SerializeAsString(), before.SerializeAsString()) << "a refusal changes nothing";
      return "refused: " + made.refused->sentence;
    }
    if (!made.changed) {
      EXPECT_EQ(record.SerializeAsString(), before.SerializeAsString()) << "nothing is lost that is not written";
    }
    return carried_out(std::move(made));
  }

  std::string carried_out(job_decision made) {
    std::string out;
    for (const auto& start : made.starts) {
      inputs.push_back(start.input);
      for (auto& open : *record.mutable_open())
        if (open.nominal_unix_ms() == start.nominal_unix_ms) open.set_task_number(next_task);
      for (auto& row : made.rows)
        if (row.nominal_unix_ms() == start.nominal_unix_ms) row.set_task_number(next_task);
      ++next_task;
      last_deadline_ms = start.deadline_unix_ms;
    }
    for (const auto nominal : made.erased_rows) {
      EXPECT_EQ(rows.all.erase(nominal), 1U) << "only what is there is erased";
      out += "erased " + clock_text(nominal) + "\n";
    }
    for (auto& row : made.rows) {
      out += text(row) + "\n";
      rows.all[row.nominal_unix_ms()] = row;
    }
    for (const auto& cancel : made.cancels) out += "cancel task " + std::to_string(cancel.task_number) + "\n";
    if (made.resolve_alert) {
      out += "alert resolved\n";
      record.set_alert(0);
    }
    if (made.restated) out += "alert says: " + made.restated->sentence() + "\n";
    if (made.alert) {
      out += "alert: " + made.alert->sentence() + "\n";
      record.set_alert(7);
    }
    if (made.more) out += "more\n";
    answer = made.answer;
    if (!made.answer.sentence().empty()) out += "answer: " + made.answer.sentence() + "\n";
    check();
    return out;
  }

  std::string due(const std::string& time) {
    now_ms = at(time);
    return decided(job_due{});
  }
  std::string ended(const std::string& time, const std::string& nominal, v1::TaskState end = v1::TASK_STATE_COMPLETED) {
    now_ms = at(time);
    return decided(launch_ended{at(nominal), end});
  }
  std::string held(const std::string& time, const std::string& nominal, bool parked = true) {
    now_ms = at(time);
    return decided(launch_held{at(nominal), parked});
  }
  std::string change(const std::string& time) {
    now_ms = at(time);
    return decided(job_changed{spec, spec.SerializeAsString(), "ben"});
  }
  std::string give_up(const std::string& time, const std::vector<launch_ended>& ended) {
    now_ms = at(time);
    auto made = core::give_up(record, ended, context());
    return made.fatal ? "fatal: " + made.fatal->sentence : carried_out(std::move(made));
  }
  std::string operate(const std::string& time, v1::JobAction action) {
    now_ms = at(time);
    action.set_who("ben");
    // As the Scheduler does; not the hash itself counts, but that it is of the whole.
    auto content = action;
    content.clear_token();
    auto hash = action.token().empty() ? std::string{} : content.SerializeAsString();
    return decided(job_operated{std::move(action), std::move(hash)});
  }
  std::string operate(const std::string& time, v1::JobVerb verb) {
    v1::JobAction action;
    action.set_verb(verb);
    return operate(time, action);
  }

  std::string text(const v1::LaunchRecord& row) const {
    auto out = clock_text(row.nominal_unix_ms());
    if (row.last_nominal_unix_ms() != 0) out += " to " + clock_text(row.last_nominal_unix_ms()) + " (" + std::to_string(row.count()) + ")";
    auto state = v1::LaunchState_Name(row.state()).substr(13);
    std::transform(state.begin(), state.end(), state.begin(), ::tolower);
    out += " " + state;
    auto word = row.state() == v1::LAUNCH_STATE_SKIPPED   ? v1::SkipReason_Name(row.skip()).substr(12)
                : row.state() == v1::LAUNCH_STATE_WAITING ? v1::LaunchWait_Name(row.waits_for()).substr(12)
                                                          : std::string{};
    std::transform(word.begin(), word.end(), word.begin(), ::tolower);
    if (!word.empty()) out += " " + word;
    return out;
  }

  /// What is due next, as the index has it.
  std::string next_look() const { return clock_text(record.due_indexed_unix_ms()); }
  std::string mark() const { return clock_text(record.mark_unix_ms()); }

  std::int64_t last_deadline_ms = 0;
  v1::JobOperateResult answer;  // of the latest decision

 private:
  job_context context() {
    job_context out;
    out.now = from_unix_ms(now_ms);
    out.zones = &zones;
    out.gate = &gate;
    out.rows = &rows;
    out.planted = &faults;
    return out;
  }

  /// What holds after every decision.
  void check() const {
    EXPECT_EQ(record.kept_launches(), rows.all.size());
    EXPECT_LE(record.mark_unix_ms(), record.decided_until_unix_ms());
    std::int64_t before = 0;
    for (const auto& open : record.open()) {
      EXPECT_LT(before, open.nominal_unix_ms()) << "open launches stand by time";
      before = open.nominal_unix_ms();
      const auto found = rows.all.find(open.nominal_unix_ms());
      ASSERT_NE(found, rows.all.end()) << "an open launch has its record";
      EXPECT_EQ(found->second.state(), open.state());
      EXPECT_EQ(open.state() == v1::LAUNCH_STATE_STARTED, open.task_number() != 0);
    }
    std::int64_t end = 0;
    for (const auto& [nominal, row] : rows.all) {
      // Those by hand are beside the schedule, and may lie within a run of skips.
      if (nominal % 1000 != 0) continue;
      EXPECT_GT(nominal, end) << "records do not reach over one another";
      end = std::max(nominal, row.last_nominal_unix_ms());
    }
  }
};

}  // namespace fairlead::core::testing
