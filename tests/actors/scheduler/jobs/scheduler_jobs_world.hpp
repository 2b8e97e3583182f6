#pragma once
// What the tests of jobs in the Scheduler share: a node with one workflow, and what owners, operators and the cron would send it.

#include "store/check/check.hpp"
#include "store/rows/job_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {

inline constexpr std::int64_t minute_ms = 60'000;
// The world's clock starts at 22:13:20.
inline constexpr std::int64_t first_minute_ms = start_ms + 40'000;

class scheduler_jobs_test : public scheduler_fixture {
 protected:
  scheduler_jobs_test() { prepare(); }

  /// Whatever a test has done, rows, indexes and counters agree in the end.
  void TearDown() override {
    const auto report = store::check(*store.read());
    for (const auto& finding : report.findings) ADD_FAILURE() << finding;
  }

  void prepare() {
    add_agent(agent("n1/svc"));
    deploy(workflow_of({::fairlead::testing::step("only")}, "report"));
  }

  static v1::JobSpec job(const std::string& name, const std::string& schedule = "* * * * *") {
    v1::JobSpec out;
    out.set_name(name);
    out.set_schedule(schedule);
    out.set_workflow("report");
    return out;
  }

  v1::JobApplyResult apply(const v1::JobSpec& spec, std::uint32_t if_revision = 0) {
    v1::JobApplyRequest request;
    request.set_if_revision(if_revision);
    *request.add_jobs() = spec;
    request.set_who("ann");
    node->shell.answer(request, next_ticket);
    node->settle();
    const auto& reply = out.job_applications.at(next_ticket++);
    EXPECT_FALSE(reply.has_error()) << reply.error().sentence();
    return reply.results(0);
  }

  v1::JobOperateResult operate(v1::JobVerb verb, const std::string& name, std::uint32_t if_revision = 0) {
    v1::JobOperateRequest request;
    request.mutable_action()->set_if_revision(if_revision);
    request.mutable_action()->set_verb(verb);
    request.mutable_action()->set_who("ann");
    request.add_names(name);
    node->shell.answer(request, next_ticket);
    node->settle();
    return out.job_operations.at(next_ticket++).results(0);
  }

  /// What the cron would send now.
  due_jobs due_now() {
    due_jobs out;
    out.look = true;
    const auto view = store.read();
    view->scan(store::table::job_due, {}, {}, [&](std::string_view key, std::string_view) {
      const auto entry = store::keys::decode_job_due(key);
      if (!entry || entry->due_unix_ms > time.now_ms) return false;
      out.names.emplace_back(entry->name);
      return true;
    });
    return out;
  }

  void tick(std::int64_t now_ms) {
    time.now_ms = now_ms;
    node->shell.launch_due(due_now());
    node->settle();
  }

  std::vector<v1::LaunchRecord> launches(const std::string& name) {
    std::vector<v1::LaunchRecord> out;
    store::for_each_launch(*store.read(), name, 0, [&](const v1::LaunchRecord& one) {
      out.push_back(one);
      return true;
    });
    return out;
  }

  v1::JobRecord record(const std::string& name) {
    const auto found = store::load_job(*store.read(), name);
    return found.ok() && *found ? **found : v1::JobRecord{};
  }

  v1::ShardState counts() { return store.read()->get_progress().shard; }
};

}  // namespace fairlead::testing
