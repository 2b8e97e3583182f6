// The cron as an actor: its reminders, under CAF's deterministic scheduler.

#define CAF_SUITE cron_suite

#include "tests/actors/gateway/gateway_world.hpp"

#include "actors/cron/actor.hpp"
#include "store/keys.hpp"

using namespace fairlead;

namespace {

struct fixture : testing::asking_fixture {
  testing::manual_clock time;
  store::memory_store store;
  std::uint64_t epoch = *store.raise_epoch();
  std::shared_ptr<testing::made_up> seen = std::make_shared<testing::made_up>();
  scheduler_actor scheduler = sys.spawn(testing::made_up_scheduler, 0u, seen);
  std::optional<error> failure;
  cron_actor cron = sys.spawn(run_cron, cron_setup{&time, &store, scheduler, [this](const error& why) { failure = why; }});

  ~fixture() override {
    caf::anon_send_exit(cron, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(scheduler, caf::exit_reason::user_shutdown);
    consume_messages();
  }

  void set_due(const std::string& job, std::int64_t due_ms) {
    store::batch rows;
    rows.epoch = epoch;
    rows.sequence = store.read()->get_progress().sequence + 1;
    rows.put(store::table::job_due, store::keys::job_due(store::default_namespace, due_ms, store::launch_order(0), job), {});
    const auto kept = store.commit({std::move(rows)});
    CAF_REQUIRE(kept.ok());
  }

  /// Both clocks go on, and everything that comes of it is done.
  void pass(std::int64_t ms) {
    time.now_ms += ms;
    advance_time(std::chrono::milliseconds{ms});
    consume_messages();
  }

  std::vector<std::string> told() const {
    std::vector<std::string> out;
    for (const auto& one : seen->due) out.insert(out.end(), one.names.begin(), one.names.end());
    return out;
  }
  using names = std::vector<std::string>;
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(cron_tests, fixture)

CAF_TEST(a_job_is_named_at_its_moment_without_anybody_asking) {
  set_due("nightly", time.now_ms + 2'345);
  pass(0);
  for (int i = 0; i < 2; ++i) pass(1'000);
  pass(344);
  CAF_CHECK_EQUAL(told(), names{});
  pass(1);
  CAF_CHECK_EQUAL(told(), names{"nightly"});
  CAF_CHECK(!failure);
}

CAF_TEST(news_of_an_earlier_job_brings_the_look_forward) {
  pass(0);
  set_due("at-once", time.now_ms + 50);
  caf::anon_send(cron, job_due_at{from_unix_ms(time.now_ms + 50)});
  consume_messages();
  pass(49);
  CAF_CHECK_EQUAL(told(), names{});
  pass(1);
  CAF_CHECK_EQUAL(told(), names{"at-once"});
}

CAF_TEST(however_often_it_is_told_it_looks_no_more_than_once_a_moment_and_then_once_a_second_again) {
  pass(0);
  for (int i = 0; i < 100; ++i) caf::anon_send(cron, job_due_at{from_unix_ms(time.now_ms + 50)});
  caf::anon_send(cron, job_due_at{from_unix_ms(time.now_ms + 86'400'000)});
  consume_messages();
  const auto before = seen->due.size();
  for (int i = 0; i < 10; ++i) pass(1'000);
  // Nothing is due, so that all it says is `look`, once a second.
  CAF_CHECK_EQUAL(seen->due.size(), before + 10);
}

CAF_TEST(a_clock_that_jumps_ahead_is_seen_within_a_second) {
  set_due("tomorrow", time.now_ms + 86'400'000);
  pass(0);
  time.now_ms += 90'000'000;
  advance_time(std::chrono::milliseconds{1'000});
  consume_messages();
  CAF_CHECK_EQUAL(told(), names{"tomorrow"});
}

CAF_TEST_FIXTURE_SCOPE_END()
