#pragma once
// A Scheduler over a store of LMDB that goes on from a backup.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "actors/shard/restore.hpp"
#include "store/check/check.hpp"
#include "store/lmdb/store.hpp"
#include "store/rows/job_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::testing {

inline constexpr std::int64_t an_hour_ms = 3'600'000;

class shard_restore_world : public ::testing::Test, public commit_port {
 protected:
  shard_restore_world() { open(); }

  void open() {
    shell.reset();
    store.reset();
    auto opened = store::lmdb_store::open({here / "store", std::uint64_t{1} << 28, false});
    ASSERT_TRUE(opened.ok());
    store = std::move(*opened);
  }
  void start() {
    auto own = store->claim_lineage(lineage_);
    ASSERT_TRUE(own.ok()) << own.failure().sentence;
    scheduler_limits limits;
    limits.lineage = *own;
    shell = std::make_unique<scheduler>(scheduler::ports{&time, store.get(), this, &out, &log, &engine, nullptr}, limits);
    const auto epoch = store->raise_epoch();
    ASSERT_TRUE(shell->open(*epoch).ok());
    while (shell->resume_some()) settle();
    settle();
  }
  void commit(store::batch what) override { waiting.push_back(std::move(what)); }
  void settle() {
    for (;;) {
      if (shell->wants_flush()) {
        shell->flush();
      } else if (!waiting.empty()) {
        const auto sequence = waiting.front().sequence;
        ASSERT_TRUE(store->commit({waiting.front()}).ok());
        waiting.pop_front();
        shell->on_committed(sequence);
      } else {
        return;
      }
    }
  }
  /// `client`: who gets its status events.
  void submit(const std::string& id, const std::string& client = {}) {
    v1::SubmitRequest request;
    auto& item = *request.add_items();
    item = submission(id);
    if (!client.empty()) item.mutable_reply()->set_client(client);
    shell->answer(std::move(request), 1, 0);
    settle();
  }
  void deploy(const v1::WorkflowDefinition& definition = workflow_of({step("a"), step("b", {"a"})})) {
    v1::DeployRequest request;
    *request.mutable_definition() = definition;
    shell->answer(request, 1);
    settle();
  }
  void operate(const std::string& id, v1::OperatorVerb verb, const std::string& of_step = {}) {
    v1::OperateRequest request;
    request.add_ids(id);
    request.mutable_action()->set_verb(verb);
    request.mutable_action()->set_who("ann");
    request.mutable_action()->set_step(of_step);
    shell->answer(request, 3);
    settle();
  }
  void add_agent() {
    shell->add_agent(agent("n1/svc"));
    settle();
  }
  void finish() {
    for (; answered < out.performs.size(); ++answered) {
      auto batch = from("n1/svc", {success(out.performs[answered].what)});
      shell->outcomes(std::move(batch));
      settle();
    }
  }
  v1::TaskRecord task(const std::string& id) {
    const auto view = store->read();
    return **store::load_task(*view, (*store::find_task(*view, id))->number());
  }
  void apply_hourly() {
    v1::JobApplyRequest request;
    request.set_who("ann");
    auto& job = *request.add_jobs();
    job.set_name("hourly");
    job.set_schedule("0 * * * *");
    job.set_workflow("order");
    job.set_overlap(v1::OVERLAP_POLICY_ALLOW);
    job.set_catch_up(v1::CATCH_UP_POLICY_ALL);
    job.set_catch_up_window_ms(100 * an_hour_ms);
    shell->answer(request, 2);
    settle();
    const auto& reply = out.job_applications.at(2);
    ASSERT_EQ(reply.results_size(), 1) << reply.error().sentence();
    ASSERT_FALSE(reply.results(0).has_error()) << reply.results(0).error().sentence();
  }
  restore_report restore(bool relaunch = false) {
    shell.reset();
    waiting.clear();
    const auto done = restore_shard(*store, {time.now_ms, 77, relaunch});
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.failure().sentence);
    const auto report = store::check(*store->read(), {}, 100, nullptr);
    EXPECT_TRUE(report.clean()) << (report.findings.empty() ? "" : report.findings[0]);
    return done.ok() ? *done : restore_report{};
  }

  store::testing::temporary_directory here;
  manual_clock time;
  recorder out;
  quiet_observer log;
  core::declarative_engine engine;
  v1::Lineage lineage_ = [] {
    v1::Lineage first;
    first.set_made_unix_ms(start_ms);
    first.set_bits(5);
    return first;
  }();
  std::deque<store::batch> waiting;
  std::size_t answered = 0;
  std::unique_ptr<store::lmdb_store> store;
  std::unique_ptr<scheduler> shell;
};

}  // namespace fairlead::testing
