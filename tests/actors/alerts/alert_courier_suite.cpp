// The alert courier as an actor: its reminders, and the way of its rows through the Scheduler to the store.

#define CAF_SUITE alert_courier_suite

#include "actors/alerts/courier_actor.hpp"
#include "actors/shard/store_actor.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/alert_rows.hpp"
#include "tests/actors/suite_world.hpp"

using namespace fairlead;

namespace {

class held_posts final : public webhook_port {
 public:
  void post(webhook_post what, std::function<void(status)> done) override {
    posts.push_back(std::move(what));
    waiting = std::move(done);
  }
  std::vector<webhook_post> posts;
  std::function<void(status)> waiting;
};

struct fixture : test_coordinator_fixture<testing::suite_config> {
  store::memory_store store;
  testing::manual_clock time;
  testing::quiet_observer log;
  core::declarative_engine engine;
  held_posts posts;
  store_actor commits;
  scheduler_actor scheduler;
  courier_actor courier;

  ~fixture() override {
    caf::anon_send_exit(courier, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(scheduler, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(commits, caf::exit_reason::user_shutdown);
    courier = nullptr;
    consume_messages();
  }

  /// A shard whose store holds one open alert.
  void start() {
    const auto fatal = [](const error& why) { CAF_FAIL(why.sentence); };
    store::batch first;
    first.epoch = *store.raise_epoch();
    first.sequence = 1;
    v1::AlertRecord alert;
    alert.set_number(1);
    alert.set_state(v1::ALERT_STATE_OPEN);
    store::put_alert(first, alert);
    v1::ShardState state;
    state.set_next_task_number(1);
    state.set_next_alert(1);
    state.set_unresolved_alerts(1);
    first.shard_state = state.SerializeAsString();
    CAF_REQUIRE(store.commit({first}).ok());

    commits = sys.spawn(run_store, static_cast<store::store*>(&store), fatal, static_cast<commit_gauge*>(nullptr));
    scheduler_setup setup;
    setup.time = &time;
    setup.reads = &store;
    setup.log = &log;
    setup.engine = &engine;
    setup.commits = commits;
    setup.evaluate = [](const scheduler_actor&, v1::EvaluateRequest) { return std::weak_ptr<const void>{}; };
    setup.on_fatal = fatal;
    setup.epoch = *store.raise_epoch();
    scheduler = sys.spawn(run_scheduler, std::move(setup));
    consume_messages();

    alert_courier_setup with;
    with.time = &time;
    with.reads = &store;
    with.webhooks = &posts;
    with.log = &log;
    with.scheduler = scheduler;
    with.node = "n1";
    alert_target ops;
    ops.name = "ops";
    ops.url = "http://ops/";
    with.targets = {ops};
    with.on_fatal = fatal;
    courier = sys.spawn(run_alert_courier, std::move(with));
    // The first look notes the target; what is told follows from the next on.
    consume_messages();
    CAF_REQUIRE(posts.posts.empty());
    advance_time(std::chrono::milliseconds{250});
  }

  std::optional<std::uint64_t> cursor() const {
    const auto view = store.read();
    const auto row = view->get(store::table::meta, store::keys::meta("alert_cursor/ops"));
    if (!row.ok() || !*row) return std::nullopt;
    return store::meta::decode_u64(**row);
  }
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(alert_courier_tests, fixture)

CAF_TEST(an_alert_is_posted_and_the_Scheduler_commits_that_it_has_arrived) {
  start();
  consume_messages();
  CAF_REQUIRE_EQUAL(posts.posts.size(), 1u);
  CAF_CHECK_EQUAL(posts.posts[0].url, "http://ops/");
  CAF_CHECK_EQUAL(cursor().value_or(99), 0u);
  posts.waiting(nothing{});
  consume_messages();
  CAF_CHECK_EQUAL(cursor().value_or(99), 1u);
  CAF_CHECK_EQUAL(posts.posts.size(), 1u);
}

CAF_TEST(deliveries_that_end_add_no_reminder_to_the_one_there_is) {
  start();
  consume_messages();
  for (int i = 0; i < 3; ++i) {
    posts.waiting(error{v1::ERROR_CODE_UNAVAILABLE, "it answered 503", ""});
    consume_messages();
    time.now_ms += 300'000;
    // One period on, the one reminder begins the next try, and arms itself again.
    advance_time(std::chrono::milliseconds{250});
    expect((deliver_atom), from(courier).to(courier));
    disallow((deliver_atom), from(courier).to(courier));
    consume_messages();
    CAF_CHECK_EQUAL(posts.posts.size(), static_cast<std::size_t>(i + 2));
  }
}

CAF_TEST(a_post_that_outlives_the_courier_wakes_nobody) {
  start();
  consume_messages();
  caf::anon_send_exit(courier, caf::exit_reason::user_shutdown);
  consume_messages();
  posts.waiting(nothing{});
  consume_messages();
  CAF_CHECK_EQUAL(cursor().value_or(99), 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
