// What operators ask for, from the gateway to the store and back, over real actors.

#define CAF_SUITE operate_suite

#include "tests/actors/suite_world.hpp"

using namespace fairlead;

namespace {

struct fixture : testing::asking_fixture {
  testing::suite_shard shard{sys, false, false};

  fixture() {
    consume_messages();
    ask<v1::DeployReply>(shard.scheduler, testing::suite_shard::two_steps());
    ask<v1::SubmitReply>(shard.gateway, testing::suite_shard::order("t1"));
  }

  ~fixture() override {
    shard.end();
    consume_messages();
  }

  static v1::OperateRequest request(v1::OperatorVerb verb, const std::vector<std::string>& ids) {
    v1::OperateRequest out;
    out.mutable_action()->set_verb(verb);
    out.mutable_action()->set_who("ana");
    out.mutable_action()->set_reason("because");
    for (const auto& id : ids) out.add_ids(id);
    return out;
  }

  v1::OperateReply operate(const v1::OperateRequest& what) { return ask<v1::OperateReply>(shard.gateway, what); }

  v1::TaskRecord stored(const std::string& id) {
    const auto view = shard.store.read();
    const auto tombstone = store::find_task(*view, id);
    CAF_REQUIRE(tombstone.ok() && tombstone->has_value());
    auto task = store::load_task(*view, (*tombstone)->number());
    CAF_REQUIRE(task.ok() && task->has_value());
    return **task;
  }

  /// A request that is refused as a whole: nothing of it reaches the Scheduler.
  void refused(const v1::OperateRequest& what) {
    const auto before = stored("t1").version();
    auto waiting = self->request(shard.gateway, caf::infinite, what);
    expect((v1::OperateRequest), from(self).to(shard.gateway));
    v1::OperateReply reply;
    CAF_REQUIRE(!self->mailbox().empty());
    waiting.receive([&reply](v1::OperateReply& got) { reply = std::move(got); },
                    [this](const caf::error& why) { CAF_FAIL(sys.render(why)); });
    CAF_CHECK_EQUAL(reply.error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
    CAF_CHECK(!reply.error().sentence().empty());
    CAF_CHECK_EQUAL(reply.results_size(), 0);
    CAF_CHECK_EQUAL(stored("t1").version(), before);
  }
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(operate_tests, fixture)

CAF_TEST(who_waits_for_an_answer_when_the_scheduler_ends_hears_so_at_once) {
  auto waiting = self->request(shard.scheduler, caf::infinite, testing::suite_shard::order("t2"));
  expect((v1::SubmitRequest), from(self).to(shard.scheduler));
  CAF_REQUIRE(self->mailbox().empty());
  caf::anon_send_exit(shard.scheduler, caf::exit_reason::kill);
  consume_messages();
  CAF_REQUIRE(!self->mailbox().empty());
  caf::error why;
  waiting.receive([](const v1::SubmitReply&) { CAF_FAIL("it was not stored"); }, [&why](const caf::error& said) { why = said; });
  CAF_CHECK_EQUAL(why, caf::sec::request_receiver_down);
}

CAF_TEST(each_task_answers_alone_and_the_answer_comes_after_the_commit) {
  const auto reply = operate(request(v1::OPERATOR_VERB_PAUSE, {"t1", "nobody"}));
  CAF_CHECK_EQUAL(reply.error().code(), v1::ERROR_CODE_OK);
  CAF_REQUIRE_EQUAL(reply.results_size(), 2);
  CAF_CHECK_EQUAL(reply.results(0).id(), "t1");
  CAF_CHECK_EQUAL(reply.results(0).error().sentence(), "");
  CAF_CHECK(reply.results(0).paused());
  CAF_CHECK_EQUAL(reply.results(1).error().code(), v1::ERROR_CODE_NOT_FOUND);
  const auto task = stored("t1");
  CAF_CHECK(task.paused());
  const auto& last = task.recent(task.recent_size() - 1);
  CAF_CHECK_EQUAL(last.kind(), v1::EVENT_KIND_OPERATOR_PAUSE);
  CAF_CHECK_EQUAL(last.who(), "ana");
  CAF_CHECK_EQUAL(last.detail(), "because");
}

CAF_TEST(what_does_not_fit_is_refused_and_changes_nothing) {
  const auto before = stored("t1").version();
  const auto reply = operate(request(v1::OPERATOR_VERB_RESUME, {"t1"}));
  CAF_CHECK_EQUAL(reply.results(0).error().code(), v1::ERROR_CODE_WRONG_STATE);
  CAF_CHECK_EQUAL(stored("t1").version(), before);
}

CAF_TEST(the_gateway_refuses_requests_that_name_no_task_an_empty_one_or_too_many) {
  refused(request(v1::OPERATOR_VERB_PAUSE, {}));
  refused(request(v1::OPERATOR_VERB_PAUSE, {"t1", ""}));
  refused(request(v1::OPERATOR_VERB_PAUSE, std::vector<std::string>(1'001, "t1")));
  CAF_CHECK_EQUAL(operate(request(v1::OPERATOR_VERB_PAUSE, std::vector<std::string>(1'000, "t1"))).results_size(), 1'000);
}

CAF_TEST(the_gateway_refuses_what_no_release_or_only_a_later_one_knows) {
  refused(request(v1::OPERATOR_VERB_UNSPECIFIED, {"t1"}));
  refused(request(static_cast<v1::OperatorVerb>(99), {"t1"}));
}

CAF_TEST(a_brake_that_is_not_on_cannot_be_released) {
  v1::BrakeReleaseRequest what;
  what.set_who("ana");
  const auto reply = ask<v1::BrakeReleaseReply>(shard.gateway, what);
  CAF_CHECK_EQUAL(reply.error().code(), v1::ERROR_CODE_WRONG_STATE);
}

CAF_TEST_FIXTURE_SCOPE_END()
