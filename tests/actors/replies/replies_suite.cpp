// Status events from the Scheduler to those who submitted, over real actors under CAF's deterministic scheduler.

#define CAF_SUITE replies_suite

#include <deque>

#include "actors/replies/courier_actor.hpp"
#include "actors/replies/waiters_actor.hpp"
#include "tests/actors/suite_world.hpp"

using namespace fairlead;

namespace {

/// Keeps posts until the test ends them.
class kept_posts final : public webhook_port {
 public:
  void post(webhook_post what, std::function<void(status)> done) override { open.emplace_back(std::move(what), std::move(done)); }
  std::deque<std::pair<webhook_post, std::function<void(status)>>> open;
};

struct fixture : test_coordinator_fixture<testing::suite_config> {
  std::unique_ptr<testing::suite_shard> shard;
  std::shared_ptr<reply_outbox> outbox;
  std::shared_ptr<kept_posts> posts = std::make_shared<kept_posts>();
  replies_actor replies;
  courier_actor courier;

  ~fixture() override {
    // Both rearm their reminders for ever.
    caf::anon_send_exit(replies, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(courier, caf::exit_reason::user_shutdown);
    shard->end();
    consume_messages();
  }

  fixture() {
    shard = std::make_unique<testing::suite_shard>(sys, true, false);
    outbox = std::make_shared<reply_outbox>(shard->store);
    const auto fatal = [this](const error& why) { shard->failure = why; };
    replies = sys.spawn(run_replies, replies_setup{&shard->time, &shard->store, outbox, shard->scheduler, fatal});
    reply_courier_setup setup;
    setup.time = &shard->time;
    setup.reads = &shard->store;
    setup.log = &shard->log;
    setup.posts = posts;
    setup.outbox = outbox;
    setup.scheduler = shard->scheduler;
    setup.settings = {"n1", std::chrono::hours{24}};
    setup.on_fatal = fatal;
    courier = sys.spawn(run_reply_courier, std::move(setup));
    consume_messages();
    auto deployed = self->request(shard->scheduler, caf::infinite, testing::suite_shard::two_steps());
    consume_messages();
    deployed.receive([](v1::DeployReply&) {}, [this](const caf::error& why) { CAF_FAIL(sys.render(why)); });
  }

  void submit(const std::string& id, const v1::ReplyAddress& to) {
    auto request = testing::suite_shard::order(id);
    *request.mutable_items(0)->mutable_reply() = to;
    auto waiting = self->request(shard->scheduler, caf::infinite, std::move(request));
    consume_messages();
    waiting.receive([](v1::SubmitReply& reply) { CAF_REQUIRE_EQUAL(reply.results(0).error().sentence(), ""); },
                    [this](const caf::error& why) { CAF_FAIL(sys.render(why)); });
  }

  void pass(std::int64_t ms) {
    shard->time.now_ms += ms;
    advance_time(std::chrono::milliseconds{ms});
    consume_messages();
  }

  static v1::RepliesRequest fetch(const std::string& client, std::uint64_t acknowledged, std::int64_t wait_ms) {
    v1::RepliesRequest out;
    out.set_client(client);
    out.set_acknowledged(acknowledged);
    out.set_wait_ms(wait_ms);
    return out;
  }

  std::uint64_t rows() const { return shard->store.read()->count(store::table::outbox); }
  std::uint64_t counted() const { return shard->store.read()->get_progress().shard.outbox_events(); }
};

v1::ReplyAddress client(const std::string& name) {
  v1::ReplyAddress out;
  out.set_client(name);
  return out;
}

}  // namespace

CAF_TEST_FIXTURE_SCOPE(replies_tests, fixture)

CAF_TEST(a_client_that_waits_is_answered_when_its_task_goes_on_and_takes_its_events_off) {
  auto waiting = self->request(replies, caf::infinite, fetch("shop", 0, 10'000));
  consume_messages();
  pass(500);
  CAF_CHECK(self->mailbox().empty());
  submit("t1", client("shop"));
  pass(100);
  v1::RepliesReply reply;
  waiting.receive([&reply](v1::RepliesReply& got) { reply = std::move(got); },
                  [this](const caf::error& why) { CAF_FAIL(sys.render(why)); });
  CAF_REQUIRE_EQUAL(reply.events_size(), 2);
  CAF_CHECK_EQUAL(reply.events(0).kind(), v1::STATUS_KIND_RECEIVED);
  CAF_CHECK_EQUAL(reply.events(0).sequence(), 1u);
  CAF_CHECK_EQUAL(reply.events(1).kind(), v1::STATUS_KIND_COMPLETED);
  CAF_CHECK_EQUAL(reply.events(1).sequence(), 2u);
  CAF_CHECK_EQUAL(rows(), 2u);

  auto next = self->request(replies, caf::infinite, fetch("shop", reply.events(1).position(), 0));
  consume_messages();
  next.receive([](v1::RepliesReply& got) { CAF_CHECK_EQUAL(got.events_size(), 0); },
               [this](const caf::error& why) { CAF_FAIL(sys.render(why)); });
  CAF_CHECK_EQUAL(rows(), 0u);
  CAF_CHECK_EQUAL(counted(), 0u);
}

CAF_TEST(a_client_that_waits_in_vain_is_answered_in_time) {
  auto waiting = self->request(replies, caf::infinite, fetch("shop", 0, 1'000));
  consume_messages();
  for (int i = 0; i < 9; ++i) pass(100);
  CAF_CHECK(self->mailbox().empty());
  pass(100);
  waiting.receive([](v1::RepliesReply& got) { CAF_CHECK_EQUAL(got.events_size(), 0); },
                  [this](const caf::error& why) { CAF_FAIL(sys.render(why)); });
}

CAF_TEST(a_webhook_gets_its_events_and_the_steps_when_asked_and_the_outbox_is_empty_after) {
  v1::ReplyAddress to;
  to.set_webhook("http://host/hook");
  to.set_steps(true);
  submit("t1", to);
  for (int i = 0; i < 11; ++i) pass(100);
  CAF_REQUIRE_EQUAL(posts->open.size(), 1u);
  auto [what, done] = std::move(posts->open.front());
  posts->open.pop_front();
  CAF_CHECK_EQUAL(what.url, "http://host/hook");
  for (const auto* part : {"\"node\":\"n1\"", "\"task\":\"t1\"", "\"kind\":\"received\"", "\"kind\":\"step\"", "\"step\":\"b\"",
                           "\"step_state\":\"completed\"", "\"kind\":\"completed\""})
    CAF_CHECK(what.body.find(part) != std::string::npos);
  done(nothing{});
  consume_messages();
  CAF_CHECK_EQUAL(rows(), 0u);
  CAF_CHECK_EQUAL(counted(), 0u);
  for (int i = 0; i < 30; ++i) pass(100);
  CAF_CHECK(posts->open.empty());
}

CAF_TEST(the_courier_looks_on_and_on_and_its_reminders_do_not_breed) {
  caf::anon_send_exit(shard->agent, caf::exit_reason::user_shutdown);  // its beacons would count
  for (int i = 0; i < 50; ++i) caf::anon_send(courier, deliver_atom_v);
  consume_messages();
  std::size_t looks = 0;
  for (int i = 0; i < 20; ++i) {
    shard->time.now_ms += 1'000;
    advance_time(std::chrono::milliseconds{1'000});
    looks += consume_messages();
  }
  CAF_CHECK_GREATER_OR_EQUAL(looks, 19u);
  CAF_CHECK_LESS_OR_EQUAL(looks, 25u);
}

CAF_TEST_FIXTURE_SCOPE_END()
