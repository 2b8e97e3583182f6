// Callbacks at the Scheduler: which texts are its own, what becomes of one that comes again, and restarts and restores in between.

#include "messages/tickets.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class scheduler_callbacks_test : public scheduler_fixture {
 protected:
  scheduler_callbacks_test() {
    add_agent(agent("n1/svc"));
    auto later = ::fairlead::testing::step("sign");
    later.set_callback_ms(60'000);
    auto then = ::fairlead::testing::step("then", {"sign"}, R"("${ .steps.sign }")");
    deploy(workflow_of({later, then}));
  }

  static v1::OperatorAction action(const std::string& callback, const std::string& output) {
    v1::OperatorAction out;
    out.set_verb(v1::OPERATOR_VERB_CALLBACK);
    out.set_callback(callback);
    out.set_json(output);
    out.set_who("service");
    return out;
  }

  v1::OperateResult call_back(const v1::OperatorAction& what, const std::string& id = "t1") {
    v1::OperateRequest request;
    *request.mutable_action() = what;
    request.add_ids(id);
    node->shell.answer(request, next_ticket);
    node->settle();
    return out.operations.at(next_ticket++).results(0);
  }
  v1::OperateResult call_back(const std::string& callback, const std::string& output) { return call_back(action(callback, output)); }

  const v1::Perform& last() const { return out.performs.back().what; }
  v1::StepState state() { return stored("t1")->steps(0).state(); }
};

TEST_F(scheduler_callbacks_test, a_perform_has_the_callback_of_its_step) {
  submit(submission("t1"));
  const auto named = read_callback(last().callback());
  ASSERT_TRUE(named);
  EXPECT_EQ(named->task_id, "t1");
  EXPECT_EQ(named->step, 0U);
  answer(success(last()));
  EXPECT_EQ(state(), v1::STEP_STATE_IN_DOUBT);
  EXPECT_EQ(call_back(last().callback(), R"({"by": "ana"})").error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(state(), v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(last().step_path(), "then");
  EXPECT_EQ(last().input(), R"({"by":"ana"})");
  EXPECT_TRUE(last().callback().empty()) << "nobody answers this step later";
}

TEST_F(scheduler_callbacks_test, what_an_attempt_gives_as_its_output_may_be_anything) {
  submit(submission("t1"));
  answer(success(last(), "queued as 17"));
  ASSERT_TRUE(stored("t1")->steps(0).awaits_callback());
  EXPECT_EQ(call_back(last().callback(), "1").error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(last().step_path(), "then");
  answer(success(last(), "queued as 17"));
  EXPECT_EQ(stored("t1")->steps(1).fault().code(), "output_not_json") << "of another step";
}

TEST_F(scheduler_callbacks_test, one_that_comes_again_changes_nothing) {
  submit(submission("t1"));
  const auto callback = last().callback();
  answer(success(last()));
  EXPECT_FALSE(call_back(callback, "1").repeated());
  const auto before = stored("t1")->version();
  EXPECT_TRUE(call_back(callback, "1").repeated());
  EXPECT_EQ(call_back(callback, "2").error().code(), v1::ERROR_CODE_KEY_REUSED);
  EXPECT_EQ(stored("t1")->version(), before);
}

TEST_F(scheduler_callbacks_test, one_that_overtakes_the_agents_answer_is_kept) {
  submit(submission("t1"));
  const auto first = last();
  const auto kept = call_back(first.callback(), R"("early")");
  EXPECT_TRUE(kept.kept());
  EXPECT_EQ(state(), v1::STEP_STATE_RUNNING);
  restart();
  sweep();
  add_agent(agent("n1/svc"));
  answer(success(first));
  EXPECT_EQ(state(), v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(last().input(), R"("early")");
}

TEST_F(scheduler_callbacks_test, steps_that_wait_for_an_instance_go_on_waiting_when_one_is_kept) {
  auto later = ::fairlead::testing::step("sign");
  later.set_callback_ms(60'000);
  deploy(workflow_of({later, ::fairlead::testing::step("beside")}));
  auto instance = agent("n1/svc", 1);
  instance.set_revision(1);
  add_agent(instance);
  submit(submission("t1"));
  ASSERT_EQ(out.performs.size(), 1U) << "the instance has one slot";
  EXPECT_TRUE(call_back(last().callback(), "1").kept());
  instance.set_capacity(2);
  instance.set_revision(2);
  add_agent(instance);
  ASSERT_EQ(out.performs.size(), 2U);
  EXPECT_EQ(last().step_path(), "beside");
}

TEST_F(scheduler_callbacks_test, texts_that_it_has_not_made_are_unknown) {
  submit(submission("t1"));
  submit(submission("t2"));
  const auto mine = out.performs.at(0).what.callback(), other = out.performs.at(1).what.callback();
  const auto named = *read_callback(mine);
  answer(success(out.performs.at(0).what));
  const auto code = [&](const std::string& text, const std::string& id = "t1") { return call_back(action(text, "1"), id).error().code(); };
  EXPECT_EQ(code(other), v1::ERROR_CODE_NOT_FOUND) << "of another task";
  EXPECT_EQ(code(mine, "t2"), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(code(make_callback(std::string(32, 'x'), named)), v1::ERROR_CODE_NOT_FOUND) << "signed by somebody else";
  EXPECT_EQ(code(make_callback(std::string(32, 'k'), {7, named.step, named.generation, "t1"})), v1::ERROR_CODE_NOT_FOUND)
      << "of another shard";
  EXPECT_EQ(code(make_callback(std::string(32, 'k'), {named.shard, 1, 0, "t1"})), v1::ERROR_CODE_NOT_FOUND) << "of a step without callback";
  EXPECT_EQ(code(make_callback(std::string(32, 'k'), {named.shard, 9, 0, "t1"})), v1::ERROR_CODE_NOT_FOUND) << "of no step";
  EXPECT_EQ(code("", "t1"), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(state(), v1::STEP_STATE_IN_DOUBT);
}

TEST_F(scheduler_callbacks_test, a_restart_keeps_callbacks_that_were_given_out) {
  submit(submission("t1"));
  const auto callback = last().callback();
  answer(success(last()));
  work_key = std::string(32, 'n');
  restart();
  sweep();
  EXPECT_EQ(call_back(callback, "1").error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(state(), v1::STEP_STATE_COMPLETED);
}

TEST_F(scheduler_callbacks_test, after_a_fault_the_next_attempt_has_another_callback) {
  submit(submission("t1"));
  const auto first = last().callback();
  answer(success(last()));
  auto failed = action(first, "");
  failed.clear_json();
  failed.mutable_fault()->set_kind(v1::FAULT_KIND_TRANSIENT);
  failed.mutable_fault()->set_code("busy");
  EXPECT_EQ(call_back(failed).error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(state(), v1::STEP_STATE_FAILED);
  EXPECT_TRUE(call_back(failed).repeated());
  time.now_ms += 1'000;
  v1::RecoverBatch due;
  *due.add_items() = out.hints.back().recover();
  node->shell.recover(due);
  node->settle();
  EXPECT_NE(last().callback(), first);
  answer(success(last()));
  EXPECT_EQ(call_back(first, "1").error().code(), v1::ERROR_CODE_KEY_REUSED) << "the first performance has been answered";
  EXPECT_EQ(state(), v1::STEP_STATE_IN_DOUBT);
  EXPECT_EQ(call_back(last().callback(), "1").error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(state(), v1::STEP_STATE_COMPLETED);
}

}  // namespace
}  // namespace fairlead::testing
