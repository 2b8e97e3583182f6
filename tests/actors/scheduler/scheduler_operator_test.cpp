// What operators ask of the Scheduler, what it tells them, and the brake on mass undo.

#include "store/rows/alert_rows.hpp"
#include "store/rows/archive_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class operator_test : public scheduler_fixture {
 protected:
  operator_test() {
    add_agent(agent("n1/svc"));
    auto definition = workflow_of({undoable("a"), undoable("b", {"a"})});
    definition.set_on_failure(v1::ON_FAILURE_UNDO);
    deploy(definition);
    deploy(workflow_of({::fairlead::testing::step("only")}, "plain"));
  }

  static v1::StepDefinition undoable(const std::string& name, const std::vector<std::string>& needs = {}) {
    auto out = ::fairlead::testing::step(name, needs);
    out.mutable_undo()->set_call("do");
    out.mutable_undo()->set_timeout_ms(5'000);
    out.mutable_undo()->set_attempts(2);
    *out.mutable_undo()->mutable_backoff() = out.backoff();
    return out;
  }

  v1::OperateReply operate(v1::OperatorVerb verb, const std::vector<std::string>& ids, const std::string& step = {}) {
    v1::OperateRequest request;
    request.mutable_action()->set_verb(verb);
    request.mutable_action()->set_step(step);
    request.mutable_action()->set_who("ann");
    request.mutable_action()->set_reason("she had to");
    for (const auto& id : ids) request.add_ids(id);
    node->shell.answer(request, next_ticket);
    node->settle();
    return out.operations.at(next_ticket++);
  }

  v1::OperateResult ask(const v1::OperatorAction& action, const std::string& id) {
    v1::OperateRequest request;
    *request.mutable_action() = action;
    request.mutable_action()->set_who("ann");
    request.add_ids(id);
    node->shell.answer(request, next_ticket);
    node->settle();
    return out.operations.at(next_ticket++).results(0);
  }

  const v1::Perform& last() const { return out.performs.back().what; }

  /// A task of `plain` that is parked.
  void park(const std::string& id) {
    submit(submission(id, "1", "plain"));
    answer(failure(last(), v1::FAULT_KIND_PERMANENT));
    ASSERT_TRUE(stored(id)->parked());
  }

  std::optional<v1::AlertRecord> alert_of(const std::string& id) {
    const auto task = stored(id);
    if (!task || task->alert() == 0) return std::nullopt;
    return alert(task->alert());
  }

  std::optional<v1::AlertRecord> alert(std::uint64_t number) {
    const auto found = store::load_alert(*store.read(), number);
    return found.ok() ? *found : std::nullopt;
  }

  /// What an archiver says that has chosen a completed task as it stands now.
  archive_rows archiving(const std::string& id) {
    archive_rows out;
    out.numbers = {stored(id)->number()};
    out.read_at_sequence = store.read()->get_progress().sequence;
    out.rows.epoch = node->shell.epoch();
    store::put_move(out.rows, *stored(id), {100, 0});
    out.ended[v1::TASK_STATE_COMPLETED] = 1;
    return out;
  }
};

TEST_F(operator_test, a_parked_task_has_an_open_alert_that_is_resolved_when_it_goes_on) {
  park("t1");
  const auto raised = alert_of("t1");
  ASSERT_TRUE(raised.has_value());
  EXPECT_EQ(raised->state(), v1::ALERT_STATE_OPEN);
  EXPECT_EQ(raised->task_id(), "t1");
  EXPECT_EQ(status().counts().unresolved_alerts(), 1u);

  const auto reply = operate(v1::OPERATOR_VERB_RETRY, {"t1"});
  EXPECT_EQ(reply.results(0).error().code(), v1::ERROR_CODE_OK) << reply.results(0).error().sentence();
  EXPECT_FALSE(reply.results(0).parked());
  EXPECT_EQ(alert(raised->number())->state(), v1::ALERT_STATE_RESOLVED);
  EXPECT_EQ(status().counts().unresolved_alerts(), 0u);
  answer(success(last()));
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(operator_test, the_alert_of_a_task_that_stays_parked_says_what_it_waits_for_now) {
  deploy(workflow_of({::fairlead::testing::step("one"), ::fairlead::testing::step("other")}, "two"));
  submit(submission("t1", "1", "two"));
  const auto first = out.performs.at(out.performs.size() - 2).what, second = out.performs.back().what;
  answer(failure(first, v1::FAULT_KIND_PERMANENT));
  answer(failure(second, v1::FAULT_KIND_PERMANENT));
  const auto raised = *alert_of("t1");
  EXPECT_NE(raised.sentence().find("step one"), std::string::npos) << raised.sentence();
  EXPECT_TRUE(operate(v1::OPERATOR_VERB_SKIP, {"t1"}, "one").results(0).parked());
  const auto now = *alert_of("t1");
  EXPECT_EQ(now.number(), raised.number()) << "nobody is told a second time";
  EXPECT_EQ(now.sentence(), "task t1 is parked: " + stored("t1")->parked_reason());
  EXPECT_NE(now.sentence().find("step other"), std::string::npos) << now.sentence();
}

TEST_F(operator_test, who_did_what_and_why_stands_in_the_history) {
  park("t1");
  operate(v1::OPERATOR_VERB_RETRY, {"t1"});
  const auto task = *stored("t1");
  const auto found = std::find_if(task.recent().begin(), task.recent().end(),
                                  [](const v1::HistoryEvent& event) { return event.kind() == v1::EVENT_KIND_OPERATOR_RETRY; });
  ASSERT_NE(found, task.recent().end());
  EXPECT_EQ(found->who(), "ann");
  EXPECT_EQ(found->detail(), "she had to");
}

TEST_F(operator_test, each_task_of_a_request_answers_for_itself) {
  park("t1");
  submit(submission("t2", "1", "plain"));
  const auto reply = operate(v1::OPERATOR_VERB_RETRY, {"t1", "nobody", "t2"});
  ASSERT_EQ(reply.results_size(), 3);
  EXPECT_EQ(reply.results(0).error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(reply.results(1).error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(reply.results(2).error().code(), v1::ERROR_CODE_WRONG_STATE);
}

TEST_F(operator_test, whoever_sees_only_its_own_tasks_acts_on_no_others) {
  auto mine = submission("t1", "1", "plain");
  mine.set_submitted_by("shop");
  submit(mine);
  auto other = submission("t2", "1", "plain");
  other.set_submitted_by("desk");
  submit(other);
  submit(submission("t3", "1", "plain"));
  v1::OperateRequest request;
  request.mutable_action()->set_verb(v1::OPERATOR_VERB_PAUSE);
  request.mutable_action()->set_who("shop");
  request.set_submitted_by("shop");
  for (const auto* id : {"t1", "t2", "t3", "nobody"}) request.add_ids(id);
  node->shell.answer(request, next_ticket);
  node->settle();
  const auto reply = out.operations.at(next_ticket++);
  ASSERT_EQ(reply.results_size(), 4);
  EXPECT_EQ(reply.results(0).error().code(), v1::ERROR_CODE_OK);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(reply.results(i).error().code(), v1::ERROR_CODE_NOT_FOUND) << i;
  EXPECT_EQ(reply.results(1).error().sentence(), "there is no task t2") << "as of a task that there is not";
  EXPECT_FALSE(stored("t2")->paused());
  EXPECT_FALSE(stored("t3")->paused());
}

TEST_F(operator_test, what_is_refused_changes_nothing) {
  park("t1");
  const auto before = stored("t1")->SerializeAsString();
  for (const auto verb : {v1::OPERATOR_VERB_RESUME, v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED, v1::OPERATOR_VERB_UNSPECIFIED})
    EXPECT_NE(operate(verb, {"t1"}, "only").results(0).error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(operate(v1::OPERATOR_VERB_SKIP, {"t1"}, "nowhere").results(0).error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(stored("t1")->SerializeAsString(), before);
}

TEST_F(operator_test, an_action_that_comes_again_under_its_key_is_done_once) {
  park("t1");
  v1::OperatorAction retry;
  retry.set_verb(v1::OPERATOR_VERB_RETRY);
  retry.set_token("k1");
  const auto first = ask(retry, "t1");
  EXPECT_EQ(first.error().code(), v1::ERROR_CODE_OK) << first.error().sentence();
  EXPECT_FALSE(first.repeated());
  answer(failure(last(), v1::FAULT_KIND_PERMANENT));
  ASSERT_TRUE(stored("t1")->parked());
  const auto sequence = stored("t1")->history_size();
  restart();
  const auto again = ask(retry, "t1");
  EXPECT_EQ(again.error().code(), v1::ERROR_CODE_OK) << again.error().sentence();
  EXPECT_TRUE(again.repeated());
  EXPECT_TRUE(again.parked());
  EXPECT_EQ(stored("t1")->history_size(), sequence) << "nothing has happened";
  auto other = retry;
  other.set_reason("for another reason");
  EXPECT_EQ(ask(other, "t1").error().code(), v1::ERROR_CODE_KEY_REUSED);
  other.set_token("k2");
  EXPECT_FALSE(ask(other, "t1").repeated());
  EXPECT_FALSE(stored("t1")->parked());
  other.set_token(std::string(65, 'x'));
  EXPECT_EQ(ask(other, "t1").error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
}

TEST_F(operator_test, a_key_that_is_not_utf8_is_refused_and_the_record_can_still_be_read) {
  submit(submission("t1", "1", "plain"));
  v1::OperatorAction pause;
  pause.set_verb(v1::OPERATOR_VERB_PAUSE);
  pause.set_token("\xff\xfe");
  EXPECT_EQ(ask(pause, "t1").error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  restart();
  ASSERT_TRUE(stored("t1"));
  EXPECT_FALSE(stored("t1")->paused());
  pause.set_token("\xc3\xa9");
  EXPECT_EQ(ask(pause, "t1").error().code(), v1::ERROR_CODE_OK);
}

TEST_F(operator_test, a_task_remembers_the_keys_of_its_latest_actions) {
  submit(submission("t1", "1", "plain"));
  v1::OperatorAction turn;
  for (int i = 0; i < 40; ++i) {
    turn.set_verb(i % 2 == 0 ? v1::OPERATOR_VERB_PAUSE : v1::OPERATOR_VERB_RESUME);
    turn.set_token(std::to_string(i));
    ASSERT_EQ(ask(turn, "t1").error().code(), v1::ERROR_CODE_OK) << i;
  }
  ASSERT_EQ(stored("t1")->actions_size(), 32);
  EXPECT_EQ(stored("t1")->actions(0).token(), "8");
}

TEST_F(operator_test, an_action_on_a_task_that_has_changed_since_is_refused) {
  park("t1");
  v1::OperatorAction retry;
  retry.set_verb(v1::OPERATOR_VERB_RETRY);
  retry.set_if_sequence(stored("t1")->history_size() - 1);
  const auto late = ask(retry, "t1");
  EXPECT_EQ(late.error().code(), v1::ERROR_CODE_CHANGED);
  EXPECT_EQ(late.sequence(), stored("t1")->history_size());
  EXPECT_TRUE(stored("t1")->parked());
  retry.set_if_sequence(late.sequence());
  const auto done = ask(retry, "t1");
  EXPECT_EQ(done.error().code(), v1::ERROR_CODE_OK) << done.error().sentence();
  EXPECT_EQ(done.sequence(), stored("t1")->history_size());
  // The key goes first: an answer that was lost is given again.
  retry.set_token("k");
  retry.set_if_sequence(0);
  retry.set_verb(v1::OPERATOR_VERB_PAUSE);
  ASSERT_EQ(ask(retry, "t1").error().code(), v1::ERROR_CODE_OK);
  retry.set_if_sequence(1);
  EXPECT_TRUE(ask(retry, "t1").repeated());
}

TEST_F(operator_test, a_request_must_say_who_asks) {
  park("t1");
  v1::OperateRequest request;
  request.mutable_action()->set_verb(v1::OPERATOR_VERB_RETRY);
  request.add_ids("t1");
  node->shell.answer(request, 999);
  node->settle();
  EXPECT_EQ(out.operations.at(999).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
}

TEST_F(operator_test, the_answer_waits_for_the_disk) {
  park("t1");
  v1::OperateRequest request;
  request.mutable_action()->set_verb(v1::OPERATOR_VERB_RETRY);
  request.mutable_action()->set_who("ann");
  request.add_ids("t1");
  node->shell.answer(request, 7);
  node->shell.flush();
  EXPECT_EQ(out.operations.count(7), 0u);
  node->settle();
  EXPECT_EQ(out.operations.count(7), 1u);
}

TEST_F(operator_test, a_completed_task_is_undone_when_someone_asks_and_its_archiving_is_dropped) {
  submit(submission("t1"));
  finish_everything();
  ASSERT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
  auto moved = archiving("t1");

  EXPECT_EQ(operate(v1::OPERATOR_VERB_UNDO, {"t1"}).results(0).state(), v1::TASK_STATE_UNDOING);
  node->shell.archive(moved);
  node->settle();
  ASSERT_TRUE(stored("t1").has_value()) << "a task that lives again was archived";
  finish_everything();
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_UNDONE);
  EXPECT_EQ(status().counts().undone(), 1u);
  EXPECT_EQ(status().counts().completed(), 0u);
}

TEST_F(operator_test, who_waits_for_a_task_is_told_why_it_was_undone) {
  submit(submission("t1"), 7);
  EXPECT_EQ(operate(v1::OPERATOR_VERB_CANCEL, {"t1"}).results(0).error().sentence(), "");
  finish_everything();
  ASSERT_EQ(stored("t1")->state(), v1::TASK_STATE_UNDONE);
  ASSERT_EQ(out.notices.size(), 1u);
  EXPECT_EQ(out.notices[0].second.state(), v1::TASK_STATE_UNDONE);
  EXPECT_EQ(out.notices[0].second.reason(), stored("t1")->undo_reason());
  EXPECT_EQ(out.notices[0].second.reason().rfind("cancelled by ", 0), 0u) << out.notices[0].second.reason();
}

TEST_F(operator_test, a_task_on_its_way_to_the_archive_is_not_brought_back) {
  submit(submission("t1"));
  finish_everything();
  auto moved = archiving("t1");
  node->shell.archive(moved);
  EXPECT_EQ(operate(v1::OPERATOR_VERB_UNDO, {"t1"}).results(0).error().code(), v1::ERROR_CODE_WRONG_STATE);
  ASSERT_TRUE(stored("t1").has_value()) << "it is moved by whoever applies the batch";
  EXPECT_EQ(operate(v1::OPERATOR_VERB_UNDO, {"t1"}).results(0).error().code(), v1::ERROR_CODE_WRONG_STATE) << "also once it is durable";
  restart();
  sweep();
  EXPECT_EQ(operate(v1::OPERATOR_VERB_UNDO, {"t1"}).results(0).error().code(), v1::ERROR_CODE_WRONG_STATE) << "and after a restart";
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(operator_test, what_was_archived_for_a_scheduler_before_this_one_takes_no_task_that_lives_again) {
  submit(submission("t1"));
  finish_everything();
  const auto moved = archiving("t1");
  EXPECT_EQ(operate(v1::OPERATOR_VERB_UNDO, {"t1"}).results(0).state(), v1::TASK_STATE_UNDOING);
  restart();
  sweep();
  node->shell.archive(moved);
  node->settle();
  ASSERT_TRUE(stored("t1").has_value()) << "only the Scheduler that has ended knew that it lives";
  EXPECT_EQ(status().counts().archived(), 0u);
}

TEST_F(operator_test, what_an_archiver_that_was_started_anew_says_again_is_counted_once) {
  submit(submission("t1"));
  submit(submission("t2"));
  finish_everything();
  const auto moved = archiving("t1");
  const auto of_another = archiving("t2");
  node->shell.archive(moved);
  node->shell.archive(moved);
  node->settle();
  node->shell.archive(moved);
  node->settle();
  EXPECT_EQ(status().counts().archived(), 1u);
  EXPECT_EQ(status().counts().completed(), 1u);
  node->shell.archive(of_another);
  node->settle();
  EXPECT_EQ(status().counts().archived(), 2u) << "none of it had been archived";
}

TEST_F(operator_test, paused_tasks_take_no_place_among_those_that_run) {
  scheduler_limits limits;
  limits.running_tasks = 1;
  restart(limits);
  sweep();
  add_agent(agent("n1/svc"));
  submit(submission("t1"));
  submit(submission("t2"));
  EXPECT_EQ(stored("t2")->state(), v1::TASK_STATE_PENDING);
  operate(v1::OPERATOR_VERB_PAUSE, {"t1"});
  EXPECT_EQ(status().counts().paused(), 1u);
  EXPECT_EQ(stored("t2")->state(), v1::TASK_STATE_RUNNING);
  operate(v1::OPERATOR_VERB_RESUME, {"t1"});
  EXPECT_EQ(status().counts().paused(), 0u);
}

TEST_F(operator_test, acknowledging_says_who_and_leaves_the_task_parked) {
  park("t1");
  v1::AlertAckRequest request;
  request.add_numbers(alert_of("t1")->number());
  request.add_numbers(4'711);
  request.set_who("ann");
  node->shell.answer(request, 5);
  node->settle();
  const auto& reply = out.acknowledgements.at(5);
  EXPECT_EQ(reply.results(0).alert().state(), v1::ALERT_STATE_ACKNOWLEDGED);
  EXPECT_EQ(reply.results(1).error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(alert_of("t1")->acknowledged_by(), "ann");
  EXPECT_TRUE(stored("t1")->parked());
}

TEST_F(operator_test, the_submitter_is_told_in_order_and_durably) {
  auto item = submission("t1");
  item.mutable_reply()->set_client("shop");
  item.mutable_reply()->set_steps(true);
  submit(item);
  answer(success(last()));
  answer(failure(last(), v1::FAULT_KIND_PERMANENT));
  finish_everything();
  std::vector<std::string> told;
  std::uint64_t sequence = 0;
  const auto scanned = store.read()->scan(store::table::outbox, {}, {}, [&](std::string_view, std::string_view row) {
    v1::StatusEvent event;
    if (!event.ParseFromArray(row.data(), static_cast<int>(row.size()))) return false;
    EXPECT_EQ(event.sequence(), ++sequence);
    EXPECT_EQ(event.task_id(), "t1");
    told.push_back(v1::StatusKind_Name(event.kind()).substr(12) + (event.step().empty() ? "" : " " + event.step()));
    return true;
  });
  EXPECT_TRUE(scanned.ok());
  EXPECT_EQ(told, (std::vector<std::string>{"RECEIVED", "STEP a", "STEP a", "STEP b", "STEP b", "UNDOING", "STEP a", "STEP a", "UNDONE"}));
  EXPECT_EQ(status().counts().outbox_events(), told.size());
}

class brake_test : public operator_test {
 protected:
  brake_test() {
    scheduler_limits limits;
    limits.brake = {true, 50, std::chrono::minutes{10}, 3};
    restart(limits);
    sweep();
    add_agent(agent("n1/svc"));
  }

  void fail(const std::string& id) {
    submit(submission(id));
    answer(failure(last(), v1::FAULT_KIND_PERMANENT));
  }
};

TEST_F(brake_test, holds_undo_when_too_many_tasks_fail_with_one_alert) {
  for (const auto* id : {"t1", "t2", "t3"}) fail(id);
  EXPECT_EQ(stored("t2")->state(), v1::TASK_STATE_UNDONE) << "before the brake";
  EXPECT_NE(status().counts().undo_brake_since_unix_ms(), 0);
  for (const auto* id : {"t4", "t5"}) fail(id);
  EXPECT_TRUE(stored("t4")->undo_held());
  EXPECT_EQ(stored("t4")->state(), v1::TASK_STATE_RUNNING);
  EXPECT_EQ(status().counts().undo_held(), 2u);
  EXPECT_EQ(status().counts().unresolved_alerts(), 1u);
}

TEST_F(brake_test, stays_on_through_a_restart_and_lets_go_when_released) {
  for (const auto* id : {"t1", "t2", "t3", "t4"}) fail(id);
  restart();
  sweep();
  add_agent(agent("n1/svc", 1'000, 2));
  EXPECT_TRUE(stored("t4")->undo_held());

  v1::BrakeReleaseRequest request;
  request.set_who("ann");
  node->shell.answer(request, 9);
  node->settle();
  EXPECT_EQ(out.releases.at(9).held(), 1u);
  EXPECT_EQ(status().counts().unresolved_alerts(), 0u);
  time.now_ms += 60'000;
  supervisor watcher{{&time, &store, &out, &log}, std::chrono::seconds{1}};
  ASSERT_TRUE(watcher.scan().ok());
  for (; !out.recoveries.empty(); out.recoveries.pop_front()) node->shell.recover(out.recoveries.front());
  node->settle();
  EXPECT_EQ(stored("t4")->state(), v1::TASK_STATE_UNDONE);

  node->shell.answer(request, 10);
  node->settle();
  EXPECT_EQ(out.releases.at(10).error().code(), v1::ERROR_CODE_WRONG_STATE);
}

TEST_F(brake_test, does_not_hold_what_an_operator_has_mended) {
  for (const auto* id : {"t1", "t2", "t3", "t4"}) fail(id);
  operate(v1::OPERATOR_VERB_RETRY, {"t4"});
  finish_everything();
  answer(success(last()));
  EXPECT_EQ(stored("t4")->state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(status().counts().undo_held(), 0u);
}

TEST_F(brake_test, does_not_strike_among_many_that_complete) {
  for (int i = 0; i < 8; ++i) {
    submit(submission("good" + std::to_string(i)));
    answer(success(last()));
    answer(success(last()));
  }
  for (const auto* id : {"t1", "t2", "t3", "t4"}) fail(id);
  EXPECT_EQ(status().counts().undo_brake_since_unix_ms(), 0);
}

}  // namespace
}  // namespace fairlead::testing
