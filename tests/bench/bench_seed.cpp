#include "tests/bench/bench_seed.hpp"

#include <cstdio>
#include <stdexcept>

#include "actors/core/task/task.hpp"
#include "actors/core/workflow/declarative.hpp"
#include "actors/scheduler/books/workflow_catalog.hpp"
#include "messages/time.hpp"
#include "store/content_hash.hpp"
#include "store/lmdb/store.hpp"
#include "store/rows/counters.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::bench {

namespace {

constexpr std::uint64_t batch_tasks = 20'000;
constexpr std::int64_t far_ms = 10LL * 86'400'000;

v1::TaskRecord finished_task(const v1::WorkflowDefinition& definition, const std::string& hash, std::uint64_t number, std::int64_t now_ms) {
  v1::TaskRecord task;
  task.set_number(number);
  task.set_id("seed-" + std::to_string(number));
  task.set_name_space("default");
  task.set_workflow(definition.name());
  task.set_workflow_hash(hash);
  task.set_content_hash(store::content_hash(task.id()));
  task.set_state(v1::TASK_STATE_COMPLETED);
  task.mutable_input()->set_json(R"({"order_id":1,"amount_cents":4400,"items":[],"address":{"city":"Reims"},"note":")" +
                                 std::string(115, 'x') + "\"}");
  task.set_created_at_unix_ms(now_ms - 10'000);
  task.set_finished_at_unix_ms(now_ms);
  task.set_version(4);
  std::uint32_t index = 0;
  for (const auto& source : definition.steps()) {
    auto* step = task.add_steps();
    step->set_path(source.name());
    step->set_definition(index++);
    step->set_state(v1::STEP_STATE_COMPLETED);
    step->set_attempt(1);
    step->set_tries(1);
    step->set_instance("seed");
    step->mutable_output()->set_json("{\"receipt\":\"" + std::string(85, 'r') + "\"}");
  }
  task.set_history_size(1);
  auto* event = task.add_recent();
  event->set_sequence(1);
  event->set_at_unix_ms(now_ms);
  event->set_kind(v1::EVENT_KIND_TASK_SUBMITTED);
  return task;
}

void make_live(v1::TaskRecord& task, std::int64_t due_ms) {
  task.set_state(v1::TASK_STATE_RUNNING);
  task.clear_finished_at_unix_ms();
  for (auto& step : *task.mutable_steps()) {
    step.set_state(v1::STEP_STATE_PENDING);
    step.clear_attempt();
    step.clear_output();
  }
  task.mutable_steps(0)->set_state(v1::STEP_STATE_FAILED);
  task.mutable_steps(0)->set_attempt(1);
  task.mutable_steps(0)->set_failure_count(1);
  task.mutable_steps(0)->set_not_before_unix_ms(due_ms);
  task.set_due_unix_ms(due_ms);
}

}  // namespace

void seed_store(const std::string& directory, const v1::WorkflowDefinition& definition, std::uint64_t finished, std::uint64_t live,
                std::int64_t live_due_unix_ms) {
  auto opened = store::lmdb_store::open({directory, std::uint64_t{64} << 30, false});
  if (!opened) throw std::runtime_error(opened.failure().sentence);
  auto& target = **opened;
  const auto epoch = target.raise_epoch();
  if (!epoch) throw std::runtime_error(epoch.failure().sentence);
  const auto now_ms = to_unix_ms(system_clock{}.now());
  const auto due_ms = live_due_unix_ms != 0 ? live_due_unix_ms : now_ms + far_ms;
  const auto hash = store::definition_hash(definition);
  workflow_catalog catalog;

  auto sequence = target.read()->get_progress().sequence;
  v1::ShardState shard;
  std::uint64_t number = 1;
  const auto total = finished + live;
  while (number <= total) {
    store::batch batch;
    batch.sequence = ++sequence;
    batch.epoch = *epoch;
    if (number == 1 && !catalog.deploy(definition, "", now_ms, &batch)) throw std::logic_error("the bench's workflow does not deploy");
    for (std::uint64_t i = 0; i < batch_tasks && number <= total; ++i, ++number) {
      auto task = finished_task(definition, hash, number, now_ms);
      if (number > finished) make_live(task, due_ms);
      store::put_task(batch, store::task_index_state{}, task);
      store::move_counters(shard, {}, store::index_state_of(task));
    }
    shard.set_next_task_number(number);
    store::seal_counters(batch, shard);
    const auto done = target.commit({batch});
    if (!done.ok()) throw std::runtime_error(done.failure().sentence);
    if (number % 1'000'000 < batch_tasks)
      std::fprintf(stderr, "seeded %llu of %llu tasks\n", static_cast<unsigned long long>(number - 1),
                   static_cast<unsigned long long>(total));
  }
}

}  // namespace fairlead::bench
