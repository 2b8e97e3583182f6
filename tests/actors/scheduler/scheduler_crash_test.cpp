// Decide, commit, act: the process is killed at every boundary of every commit, and what left before must rest on what is there after.
// The planted fault, effects that leave before their commit, has to be caught by the same checker.

#include <algorithm>
#include <random>
#include <set>
#include <sstream>

#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

constexpr int tasks = 8;

/// One run of the workload: a store, processes on it one after the other, an agent that outlives them or not, and the ledger of everything
/// that was ever handed over.
class history {
 public:
  history(std::uint64_t seed, planted_faults faults) : chance_(seed), faults_(faults), agent_survives_(seed % 2 == 0) {
    scheduler_limits limits;
    limits.running_tasks = 5;
    start(limits);
  }

  /// Runs until boundary `at`, dies there, and says whether it came so far.
  bool run_until_crash(std::size_t at) {
    std::size_t seen = 0;
    node_->boundary = [&seen, at] {
      if (seen++ == at) throw crashed{};
    };
    try {
      workload();
      return false;
    } catch (const crashed&) {
      collect();
      node_.reset();
      store_.crash();
      return true;
    }
  }

  /// Every hand-over that left must be in the store, as running or later.
  std::vector<std::string> effects_without_a_record() const {
    std::vector<std::string> out;
    const auto view = store_.read();
    for (const auto& sent : ledger_) {
      const auto task = store::load_task(*view, sent.what.task_number());
      const auto there = task.ok() && *task && (*task)->id() == sent.what.task_id();
      const auto* step = there ? &(*task)->steps(static_cast<int>(sent.what.step())) : nullptr;
      if (step == nullptr || step->attempt() < sent.what.attempt() ||
          (step->attempt() == sent.what.attempt() && step->state() == v1::STEP_STATE_PENDING && step->failure_count() < step->attempt()))
        out.push_back(sent.what.task_id() + " step " + std::to_string(sent.what.step()) + " attempt " +
                      std::to_string(sent.what.attempt()));
    }
    return out;
  }

  /// The same for what clients and agents were told.
  std::vector<std::string> promises_without_a_record() const {
    std::vector<std::string> out;
    const auto view = store_.read();
    for (const auto& id : acknowledged_) {
      const auto known = store::find_task(*view, id);
      if (!known.ok() || !*known) out.push_back("submission of " + id);
    }
    for (const auto& ack : recorded_) {
      const auto task = store::load_task(*view, ack.task_number());
      if (!task.ok() || !*task ||
          ((*task)->steps(static_cast<int>(ack.step())).state() == v1::STEP_STATE_RUNNING &&
           (*task)->steps(static_cast<int>(ack.step())).attempt() == ack.attempt()))
        out.push_back("outcome of task " + std::to_string(ack.task_number()));
    }
    return out;
  }

  /// Starts again on what is left and brings everything to its end.
  void finish() {
    start({});
    while (node_->shell.resume_some()) settle();
    for (int round = 0; round < 3'000; ++round) {
      if (!step(true) && quiet()) break;
    }
  }

  void expect_a_consistent_end() const {
    const auto view = store_.read();
    for (const auto& id : acknowledged_) {
      const auto known = store::find_task(*view, id);
      ASSERT_TRUE(known.ok() && *known) << id;
      const auto task = store::load_task(*view, (*known)->number());
      ASSERT_TRUE(task.ok() && *task) << id;
      EXPECT_TRUE((*task)->state() == v1::TASK_STATE_COMPLETED || (*task)->parked()) << id << " is neither done nor parked";
      for (const auto& step : (*task)->steps()) {
        EXPECT_LE(step.failure_count(), step.attempt());
        if ((*task)->state() == v1::TASK_STATE_COMPLETED) {
          EXPECT_EQ(step.state(), v1::STEP_STATE_COMPLETED);
        }
      }
    }
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> newest;
    std::map<std::string, std::set<std::uint64_t>> holders;  // by attempt
    std::map<std::string, std::set<std::string>> keys;       // by step
    for (const auto& sent : ledger_) {
      auto& last = newest[{sent.what.task_number(), sent.what.step()}];
      EXPECT_GE(sent.what.attempt(), last) << "attempts of " << sent.what.task_id() << " fell";
      last = sent.what.attempt();
      const auto step = sent.what.task_id() + "/" + std::to_string(sent.what.step());
      holders[step + "/" + std::to_string(sent.what.attempt())].insert(sent.incarnation);
      keys[step].insert(sent.what.idempotency_key());
    }
    for (const auto& [attempt, incarnations] : holders) EXPECT_EQ(incarnations.size(), 1u) << attempt << " was given to two processes";
    for (const auto& [step, all] : keys) EXPECT_EQ(all.size(), 1u) << step << " has two keys";
    const auto shard = view->get_progress().shard;
    EXPECT_EQ(shard.running(), shard.parked());
    EXPECT_EQ(shard.pending(), 0u);
  }

 private:
  struct sent {
    v1::Perform what;
    std::uint64_t incarnation;
  };

  void start(scheduler_limits limits) {
    node_ = std::make_unique<process>(store_, time_, out_, log_, limits, std::exchange(faults_, {}));
    node_->open();
    if (started_ && !agent_survives_) {
      ++incarnation_;
      held_.clear();
      reported_.clear();
    }
    started_ = true;
    node_->shell.add_agent(agent("n1/svc", 4, incarnation_));
  }

  /// Moves what left into the ledger and to the agent.
  void collect() {
    for (auto& one : out_.performs) {
      ledger_.push_back({one.what, incarnation_});
      const auto key = std::make_tuple(one.what.task_number(), one.what.step(), one.what.attempt());
      if (started_attempts_.emplace(key, incarnation_).second) held_.push_back(one.what);
    }
    out_.performs.clear();
    for (auto& [instance, ack] : out_.acks) {
      if (ack.accepted()) recorded_.push_back(ack);
      std::erase_if(reported_, [&ack = ack](const v1::Outcome& o) {
        return o.task_number() == ack.task_number() && o.step() == ack.step() && o.attempt() == ack.attempt();
      });
    }
    out_.acks.clear();
    for (auto& [ticket, reply] : out_.submits)
      for (const auto& one : reply.results())
        if (one.error().code() == v1::ERROR_CODE_OK) acknowledged_.insert(one.id());
    out_.submits.clear();
  }

  void settle() {
    node_->settle();
    collect();
  }

  bool quiet() const {
    if (!held_.empty() || !reported_.empty() || !out_.asked.empty()) return false;
    return store_.read()->count(store::table::due) == 0 && store_.read()->count(store::table::pending) == 0;
  }

  void workload() {
    v1::DeployRequest deploy;
    *deploy.mutable_definition() =
        workflow_of({::fairlead::testing::step("a"), ::fairlead::testing::step("b", {"a"}, R"({"m":"${ .input.n + 1 }"})"),
                     ::fairlead::testing::step("c", {"a"}, R"({"v":"${ .steps.a.v }"})"), ::fairlead::testing::step("d", {"b", "c"})});
    node_->shell.answer(deploy, 1);
    settle();
    for (int i = 0; i < 400; ++i) step(false);
  }

  /// One thing happens. False when there was nothing to do.
  bool step(bool to_the_end) {
    bool did = true;
    const auto what = chance_() % 10;
    if (!to_the_end && submitted_ < tasks && what < 3) {
      v1::SubmitRequest request;
      *request.add_items() = submission("t" + std::to_string(submitted_++), R"({"n":1})");
      node_->shell.answer(std::move(request), 100 + submitted_, 0);
    } else if (!held_.empty() && what < 8) {
      const auto at = chance_() % held_.size();
      const auto perform = held_[at];
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(at));
      const auto how = to_the_end ? 0 : chance_() % 10;
      if (how < 7) reported_.push_back(success(perform, R"({"v":7})"));
      if (how == 7) reported_.push_back(failure(perform, v1::FAULT_KIND_TRANSIENT));
      if (how == 8) reported_.push_back(failure(perform, v1::FAULT_KIND_IN_DOUBT));  // 9: says nothing, the lease runs out
      if (!reported_.empty()) node_->shell.outcomes(from("n1/svc", reported_, incarnation_));
    } else if (!out_.asked.empty()) {
      v1::EvaluateReply reply;
      reply.set_ticket(out_.asked.front().ticket());
      reply.add_results("2");
      out_.asked.pop_front();
      node_->shell.evaluated(reply);
    } else {
      time_.now_ms += static_cast<std::int64_t>(chance_() % 2'000);
      if (!reported_.empty()) node_->shell.outcomes(from("n1/svc", reported_, incarnation_));
      supervisor watcher{{&time_, &store_, &out_, &log_}};
      EXPECT_TRUE(watcher.scan().ok());
      did = !out_.recoveries.empty() || !reported_.empty();
      for (; !out_.recoveries.empty(); out_.recoveries.pop_front()) node_->shell.recover(out_.recoveries.front());
    }
    // Several messages often share a batch, and several batches are often on their way.
    if (to_the_end || chance_() % 3 == 0)
      settle();
    else if (chance_() % 2 == 0)
      node_->shell.flush();
    collect();
    return did;
  }

  std::mt19937_64 chance_;
  planted_faults faults_;
  bool agent_survives_;
  bool started_ = false;
  std::uint64_t incarnation_ = 1;
  store::memory_store store_{store::memory_store::durability::when_told};
  manual_clock time_;
  recorder out_;
  quiet_observer log_;
  std::unique_ptr<process> node_;
  int submitted_ = 0;
  std::vector<sent> ledger_;
  std::vector<v1::OutcomeAck> recorded_;
  std::set<std::string> acknowledged_;
  std::vector<v1::Perform> held_;
  std::vector<v1::Outcome> reported_;
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, std::uint64_t> started_attempts_;
};

TEST(scheduler, lets_nothing_leave_that_a_crash_could_take_back) {
  std::size_t boundaries = 0;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    for (std::size_t at = 0;; ++at) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", boundary " + std::to_string(at));
      history run{seed, {}};
      if (!run.run_until_crash(at)) break;
      ++boundaries;
      EXPECT_EQ(run.effects_without_a_record(), std::vector<std::string>{});
      EXPECT_EQ(run.promises_without_a_record(), std::vector<std::string>{});
      run.finish();
      run.expect_a_consistent_end();
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
  }
  EXPECT_GT(boundaries, 300u) << "a run with few boundaries shows little";
}

TEST(scheduler, is_caught_by_the_checker_when_effects_leave_before_their_commit) {
  planted_faults planted;
  planted.act_before_commit = true;
  std::size_t caught = 0;
  std::size_t promises = 0;
  for (std::size_t at = 0;; ++at) {
    history run{1, planted};
    if (!run.run_until_crash(at)) break;
    caught += run.effects_without_a_record().empty() ? 0 : 1;
    promises += run.promises_without_a_record().empty() ? 0 : 1;
  }
  EXPECT_GT(caught, 10u) << "the checker would not see an effect that left too early";
  EXPECT_GT(promises, 2u) << "nor an acknowledgement";
}

}  // namespace
}  // namespace fairlead::testing
