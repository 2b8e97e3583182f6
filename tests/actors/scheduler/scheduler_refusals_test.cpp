// What the Scheduler refuses, by name and without storing anything.

#include "store/rows/alert_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class scheduler_refusals_test : public scheduler_fixture {
 protected:
  scheduler_refusals_test() {
    deploy(workflow_of({step("a"), step("b", {"a"}, R"({"v":"${ .steps.a.v }"})")}));
    add_agent(agent("n1/svc"));
  }
};

TEST_F(scheduler_refusals_test, refuses_another_content_under_a_known_id) {
  submit(submission("t1"));
  const auto conflict = [this](const v1::Submission& what) { return submit(what).error().code() == v1::ERROR_CODE_CONFLICT; };
  EXPECT_TRUE(conflict(submission("t1", R"({"n":2})")));
  deploy(workflow_of({step("a")}, "other"));
  EXPECT_TRUE(conflict(submission("t1", R"({"n":1})", "other")));
  auto labelled = submission("t1");
  auto* label = labelled.add_labels();
  label->set_key("shop");
  label->set_value("berlin");
  EXPECT_TRUE(conflict(labelled));
  auto urgent = submission("t1");
  urgent.set_priority(5);
  EXPECT_TRUE(conflict(urgent));
  EXPECT_FALSE(conflict(submission("t1")));
  restart();
  EXPECT_TRUE(conflict(submission("t1", R"({"n":2})"))) << "known from the store";
}

TEST_F(scheduler_refusals_test, refuses_bad_submissions_by_name_and_stores_nothing) {
  struct row {
    v1::Submission what;
    v1::ErrorCode code;
    const char* says;
  };
  const auto with = [](auto&& change) {
    auto out = submission("t1");
    change(out);
    return out;
  };
  const auto label = [&with](const std::string& key, const std::string& value) {
    return with([&](v1::Submission& s) {
      auto* one = s.add_labels();
      one->set_key(key);
      one->set_value(value);
    });
  };
  const row rows[] = {
      {submission(""), v1::ERROR_CODE_INVALID_ARGUMENT, "task id"},
      {submission("has space"), v1::ERROR_CODE_INVALID_ARGUMENT, "'has space'"},
      {submission(std::string(257, 'x')), v1::ERROR_CODE_INVALID_ARGUMENT, "task id"},
      {submission("t1", "{\"n\":"), v1::ERROR_CODE_INVALID_ARGUMENT, "not JSON"},
      {submission("t1", "\"" + std::string(256 * 1024, 'x') + "\""), v1::ERROR_CODE_INVALID_ARGUMENT, "limit is 262144"},
      {submission("t1", "1", "nowhere"), v1::ERROR_CODE_NOT_FOUND, "no workflow nowhere"},
      {submission("t1", "1", ""), v1::ERROR_CODE_INVALID_ARGUMENT, "workflow"},
      {label("", "x"), v1::ERROR_CODE_INVALID_ARGUMENT, "label"},
      {label("a=b", "x"), v1::ERROR_CODE_INVALID_ARGUMENT, "label 'a=b'"},
      {label(std::string(129, 'k'), "x"), v1::ERROR_CODE_INVALID_ARGUMENT, "label"},
      {label("k", std::string(257, 'v')), v1::ERROR_CODE_INVALID_ARGUMENT, "label"},
      {label("k", "a\nb"), v1::ERROR_CODE_INVALID_ARGUMENT, "label"},
      {with([](v1::Submission& s) {
         for (int i = 0; i < 33; ++i) s.add_labels()->set_key("k" + std::to_string(i));
       }),
       v1::ERROR_CODE_INVALID_ARGUMENT, "32 labels"},
      {with([](v1::Submission& s) { s.set_priority(1'001); }), v1::ERROR_CODE_INVALID_ARGUMENT, "between -1000 and 1000"},
      {with([](v1::Submission& s) { s.set_priority(-1'001); }), v1::ERROR_CODE_INVALID_ARGUMENT, "between -1000 and 1000"},
  };
  const auto before = store.read()->get_progress().sequence;
  for (const auto& [what, code, says] : rows) {
    const auto got = submit(what);
    EXPECT_EQ(got.error().code(), code) << says;
    EXPECT_NE(got.error().sentence().find(says), std::string::npos) << got.error().sentence();
    EXPECT_FALSE(got.created());
  }
  EXPECT_EQ(store.read()->get_progress().sequence, before);
  EXPECT_EQ(store.read()->count(store::table::task), 0u);
}

TEST_F(scheduler_refusals_test, refuses_the_bad_one_of_many_and_takes_the_others) {
  const auto ticket = offer({submission("t1"), submission("b a d"), submission("t2")});
  node->settle();
  const auto& results = out.submits.at(ticket).results();
  EXPECT_TRUE(results[0].created());
  EXPECT_EQ(results[1].error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_TRUE(results[2].created());
  const auto whole = offer(std::vector<v1::Submission>(1'001, submission("t3")));
  node->settle();
  EXPECT_EQ(out.submits.at(whole).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
}

TEST_F(scheduler_refusals_test, refuses_new_tasks_while_too_many_are_pending_and_still_knows_the_old) {
  scheduler_limits limits;
  limits.running_tasks = 1;
  limits.pending_tasks = 2;
  restart(limits);
  EXPECT_TRUE(submit(submission("t1")).created());
  EXPECT_TRUE(submit(submission("t2")).created());
  EXPECT_TRUE(submit(submission("t3")).created());
  EXPECT_EQ(submit(submission("t4")).error().code(), v1::ERROR_CODE_OVERLOADED);
  EXPECT_EQ(submit(submission("t2")).error().code(), v1::ERROR_CODE_OK);
}

TEST_F(scheduler_refusals_test, refuses_new_tasks_while_too_much_waits_for_the_disk) {
  scheduler_limits limits;
  limits.uncommitted_bytes = 2'000;
  restart(limits);
  const auto first = offer({submission("t1", "\"" + std::string(2'000, 'x') + "\"")});
  node->shell.flush();
  const auto second = offer({submission("t2")});
  node->settle();
  EXPECT_TRUE(out.submits.at(first).results(0).created());
  EXPECT_EQ(out.submits.at(second).results(0).error().code(), v1::ERROR_CODE_OVERLOADED);
  EXPECT_TRUE(submit(submission("t2")).created()) << "once the disk has caught up";
}

TEST_F(scheduler_refusals_test, refuses_everything_new_while_draining_and_hands_nothing_over) {
  submit(submission("t1"));
  node->shell.drain();
  EXPECT_EQ(submit(submission("t2")).error().code(), v1::ERROR_CODE_UNAVAILABLE);
  v1::DeployRequest request;
  *request.mutable_definition() = workflow_of({step("a")}, "late");
  node->shell.answer(request, 900);
  node->settle();
  EXPECT_EQ(out.deploys.at(900).error().code(), v1::ERROR_CODE_UNAVAILABLE);
  answer(success(out.performs[0].what, R"({"v":1})"));
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_COMPLETED) << "what was achieved is recorded";
  EXPECT_EQ(out.performs.size(), 1u);
  EXPECT_TRUE(node->shell.settled());
}

TEST(scheduler, refuses_new_tasks_when_the_store_is_nearly_full_and_lets_what_runs_go_on) {
  store::memory_store small{store::memory_store::durability::when_told, 200'000};
  manual_clock time;
  recorder out;
  quiet_observer log;
  process first{small, time, out, log};
  first.open();
  v1::DeployRequest deploy;
  *deploy.mutable_definition() = workflow_of({step("a")});
  first.shell.answer(deploy, 1);
  first.shell.add_agent(agent("n1/svc"));
  const auto submit = [&out](process& to, int number, std::uint64_t ticket) {
    v1::SubmitRequest request;
    *request.add_items() = submission("t" + std::to_string(number), "\"" + std::string(3'500, 'x') + "\"");
    to.shell.answer(request, ticket, 0);
    to.settle();
    return out.submits.at(ticket).results(0);
  };
  int taken = 0;
  v1::SubmitResult last;
  while (taken < 1'000 && (last = submit(first, taken, 100 + static_cast<std::uint64_t>(taken))).created()) ++taken;
  EXPECT_GT(taken, 5);
  EXPECT_EQ(last.error().code(), v1::ERROR_CODE_STORE_FULL) << last.error().sentence();
  EXPECT_EQ(submit(first, 0, 5'000).error().code(), v1::ERROR_CODE_OK) << "what is known stays known";
  for (std::size_t i = 0; i < out.performs.size(); ++i) {
    first.shell.outcomes(from("n1/svc", {success(out.performs[i].what, "\"" + std::string(3'500, 'y') + "\"")}));
    first.settle();
    EXPECT_TRUE(out.acks.back().second.accepted());
  }
  EXPECT_EQ(out.acks.size(), static_cast<std::size_t>(taken)) << "everything taken found room to end";

  for (int number = 2'000; submit(first, number, static_cast<std::uint64_t>(number) + 10'000).created(); ++number) ASSERT_LT(number, 3'000);
  process second{small, time, out, log};
  second.open();
  while (second.shell.resume_some()) second.settle();
  EXPECT_EQ(submit(second, 9'000, 20'000).error().code(), v1::ERROR_CODE_STORE_FULL)
      << "what runs has its room reserved after a restart too";
}

TEST(scheduler, says_what_the_store_is_full_of_and_raises_an_alert_for_as_long_as_it_is) {
  store::memory_store small{store::memory_store::durability::when_told, 200'000};
  manual_clock time;
  recorder out;
  quiet_observer log;
  process first{small, time, out, log};
  first.open();
  while (first.shell.resume_some()) first.settle();
  v1::DeployRequest deploy;
  *deploy.mutable_definition() = workflow_of({step("a")});
  first.shell.answer(deploy, 1);
  first.shell.add_agent(agent("n1/svc"));
  first.settle();
  const auto full_alert = [&small] {
    const auto view = small.read();
    const auto shard = view->get_progress().shard;
    if (shard.full_alert() == 0) return v1::AlertRecord{};
    return **store::load_alert(*view, shard.full_alert());
  };
  EXPECT_EQ(full_alert().number(), 0U);

  const std::string input = "\"" + std::string(3'500, 'x') + "\"";
  v1::SubmitResult last;
  std::uint64_t taken = 0;
  for (;; ++taken) {
    v1::SubmitRequest request;
    *request.add_items() = submission("t" + std::to_string(taken), input);
    first.shell.answer(request, 100 + taken, 0);
    first.settle();
    last = out.submits.at(100 + taken).results(0);
    if (!last.created()) break;
    ASSERT_LT(taken, 1'000U);
  }
  const auto sentence = last.error().sentence();
  EXPECT_EQ(sentence.find("new tasks are refused because the store is 9"), 0U) << sentence;
  EXPECT_NE(sentence.find(" of 195.3 KiB are used and "), std::string::npos) << sentence;
  EXPECT_NE(sentence.find(" are reserved for " + std::to_string(taken) + " running tasks"), std::string::npos) << sentence;
  v1::StatusReply status;
  first.shell.describe(status);
  EXPECT_EQ(status.store().reserved_bytes(), 2 * taken * input.size());
  EXPECT_LT(small.get_usage().used_bytes, 100'000U) << "what is used alone would not say it";

  const auto alert = full_alert();
  EXPECT_EQ(alert.kind(), v1::ALERT_KIND_STORE_FULL);
  EXPECT_EQ(alert.state(), v1::ALERT_STATE_OPEN);
  EXPECT_NE(alert.sentence().find("are reserved for"), std::string::npos) << alert.sentence();

  for (std::size_t i = 0; i < out.performs.size(); ++i) {
    first.shell.outcomes(from("n1/svc", {success(out.performs[i].what, "1")}));
    first.settle();
  }
  EXPECT_EQ(full_alert().number(), 0U) << "what they had reserved is free again";
  EXPECT_EQ((**store::load_alert(*small.read(), alert.number())).state(), v1::ALERT_STATE_RESOLVED);
}

TEST_F(scheduler_refusals_test, what_sleeps_over_a_start_gives_back_no_room_of_others) {
  v1::StepDefinition night;
  night.set_name("night");
  night.set_kind(v1::STEP_KIND_WAIT);
  night.set_with_json(R"("1d")");
  night.mutable_undo()->set_none(true);
  deploy(workflow_of({night}, "night"));
  const std::string input = "\"" + std::string(3'500, 'x') + "\"";
  submit(submission("t1", input));
  submit(submission("t2", input, "night"));
  ASSERT_EQ(status().store().reserved_bytes(), 4 * input.size());
  restart();
  add_agent(agent("n1/svc"));
  sweep();
  v1::OperateRequest end;
  end.add_ids("t2");
  end.mutable_action()->set_verb(v1::OPERATOR_VERB_TERMINATE);
  end.mutable_action()->set_who("ann");
  node->shell.answer(end, next_ticket++);
  node->settle();
  ASSERT_EQ(stored("t2")->state(), v1::TASK_STATE_FAILED);
  EXPECT_EQ(status().store().reserved_bytes(), 2 * input.size()) << "t1 runs still";
}

}  // namespace
}  // namespace fairlead::testing
