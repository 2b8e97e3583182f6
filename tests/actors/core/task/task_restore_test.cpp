// What a restore makes of tasks, and how they go on from there.

#include "actors/core/task/restore.hpp"
#include "actors/core/task/standing.hpp"
#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

constexpr std::int64_t hour_ms = 3'600'000;

/// The shard goes on from a backup of an hour ago: nobody is there yet, and nothing is held.
world restored(world w) {
  const auto backup_ms = w.now_ms;
  w.advance_ms(hour_ms);
  for (auto& [name, one] : w.agents.instances) one.held = 0;
  w.agents.holders.clear();
  EXPECT_TRUE(restore_task(w.record, backup_ms, from_unix_ms(w.now_ms)));
  return w;
}

std::vector<std::string> sent(const decision& made) {
  std::vector<std::string> out;
  for (const auto& one : made.performs)
    out.push_back(std::string{direction_text(one.message.direction())} + " " + one.message.step_path() + " " +
                  std::to_string(one.message.attempt()) + " " + one.message.idempotency_key());
  return out;
}

using texts = std::vector<std::string>;

decision resumed(world& w) { return w.apply(task_resumed{}); }

decision looked_up(world& w, std::uint32_t attempt, v1::LookupVerdict verdict, std::string output = {}) {
  attempt_ended e;
  e.direction = v1::DIRECTION_LOOKUP;
  e.attempt = attempt;
  e.tries = 1;
  e.verdict = verdict;
  e.output = std::move(output);
  return w.apply(e);
}

TEST(task_restore, what_was_out_is_in_doubt_and_is_sent_again_under_its_key_by_a_number_that_was_never_given_out) {
  world before{graph({step("a")})};
  before.started();
  ASSERT_TRUE(attempt_out(before.at(0)));
  auto w = restored(std::move(before));
  EXPECT_FALSE(attempt_out(w.at(0)));
  EXPECT_TRUE(w.at(0).doubtful());
  EXPECT_EQ(w.at(0).fault().code(), restored_code);
  EXPECT_EQ(w.record.due_unix_ms(), w.now_ms);
  EXPECT_EQ(sent(resumed(w)), texts{"perform a 4602 t1/a/perform/0"});
  EXPECT_FALSE(w.outcome(0, 1).accepted) << "what the lost time says of it comes too late";
  w.outcome(0, 4'602);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
}

TEST(task_restore, leaves_as_many_attempts_as_there_were) {
  world before{graph({step("a")})};
  before.started();
  before.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  auto w = restored(std::move(before));
  EXPECT_EQ(sent(resumed(w)), texts{"perform a 4602 t1/a/perform/0"});
  w.fault(0, 4'602, v1::FAULT_KIND_TRANSIENT);
  w.advance_ms(60'000);
  EXPECT_EQ(sent(w.recover(0)), texts{"perform a 4603 t1/a/perform/0"});
  w.fault(0, 4'603, v1::FAULT_KIND_TRANSIENT);
  EXPECT_TRUE(w.at(0).given_up()) << "three were allowed, and three there were";
}

TEST(task_restore, a_step_that_had_not_begun_counts_as_possibly_performed_and_is_looked_up_where_it_can_be) {
  world before{graph({step("a", {}, R"({"n":"${ .input.n }"})")})};
  before.submit();
  auto w = restored(std::move(before));
  EXPECT_EQ(w.record.due_unix_ms(), 0) << "it waits for its turn as before";
  w.agents.lookups.insert("do_a");
  const auto asked = w.apply(task_admitted{});
  EXPECT_EQ(sent(asked), texts{"look up a 4601 t1/a/lookup/0"});
  EXPECT_EQ(asked.performs.at(0).message.input(), R"({"n":1})") << "with the input that it would have been performed with";
  EXPECT_EQ(asked.performs.at(0).message.perform_key(), "t1/a/perform/0");
  looked_up(w, 4'601, v1::LOOKUP_VERDICT_DONE, R"({"v":3})");
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(w.at(0).output().json(), R"({"v":3})");
}

TEST(task_restore, what_never_happened_is_performed_under_a_fresh_key) {
  world before{graph({step("a")})};
  before.submit();
  auto w = restored(std::move(before));
  w.agents.lookups.insert("do_a");
  w.apply(task_admitted{});
  EXPECT_EQ(sent(looked_up(w, 4'601, v1::LOOKUP_VERDICT_NEVER_HAPPENED)), texts{"perform a 4601 t1/a/perform/1"});
}

TEST(task_restore, the_key_behind_one_that_was_never_used_may_have_been_used_since_the_backup) {
  world before{graph({step("a")})};
  before.submit();
  auto w = restored(std::move(before));
  w.agents.lookups.insert("do_a");
  w.apply(task_admitted{});
  looked_up(w, 4'601, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  EXPECT_TRUE(w.at(0).doubtful());
  EXPECT_EQ(sent(w.fault(0, 4'601, v1::FAULT_KIND_PERMANENT)), texts{"look up a 4602 t1/a/lookup/1"})
      << "what it asks for may stand all the same";
  EXPECT_EQ(sent(looked_up(w, 4'602, v1::LOOKUP_VERDICT_NEVER_HAPPENED)), texts{"perform a 4602 t1/a/perform/2"});
  EXPECT_FALSE(w.at(0).doubtful()) << "and that is the end of it";
}

TEST(task_restore, a_key_behind_one_that_was_never_used_is_looked_up_as_well_where_the_service_may_have_forgotten_it) {
  world before{graph({step("a")})};
  before.submit();
  auto w = restored(std::move(before));
  w.agents.lookups.insert("do_a");
  w.agents.key_valid_for["do_a"] = hour_ms / 2;
  EXPECT_EQ(sent(w.apply(task_admitted{})), texts{"look up a 4601 t1/a/lookup/0"});
  const auto next = looked_up(w, 4'601, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  EXPECT_EQ(sent(next), texts{"look up a 4602 t1/a/lookup/1"});
  EXPECT_EQ(next.performs.at(0).message.perform_key(), "t1/a/perform/1");
  looked_up(w, 4'602, v1::LOOKUP_VERDICT_DONE, R"({"v":3})");
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
}

TEST(task_restore, a_key_behind_one_that_was_never_used_is_looked_up_as_well_where_doubt_is_for_an_operator) {
  auto a = step("a");
  a.set_in_doubt(v1::IN_DOUBT_PARK);
  world before{graph({a})};
  before.submit();
  auto w = restored(std::move(before));
  w.agents.lookups.insert("do_a");
  w.apply(task_admitted{});
  EXPECT_EQ(sent(looked_up(w, w.at(0).lookup().made(), v1::LOOKUP_VERDICT_NEVER_HAPPENED)).at(0).substr(0, 8), "look up ");
}

TEST(task_restore, a_step_whose_key_was_gone_before_the_backup_is_known_by_its_fault_to_be_restored) {
  world before{graph({step("a")})};
  before.started();
  before.record.mutable_steps(0)->mutable_fault()->set_code(std::string{key_expired_code});
  const auto w = restored(std::move(before));
  EXPECT_EQ(w.at(0).fault().code(), restored_key_code);
}

TEST(task_restore, a_step_that_failed_after_its_key_was_gone_is_looked_up_before_it_is_sent_under_a_new_key) {
  world before{graph({step("a")})};
  before.started();
  before.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  before.record.mutable_steps(0)->mutable_fault()->set_code(std::string{key_expired_code});
  auto w = restored(std::move(before));
  w.agents.lookups.insert("do_a");
  EXPECT_EQ(sent(resumed(w)).at(0).substr(0, 8), "look up ");
}

TEST(task_restore, before_a_task_is_undone_the_next_key_is_looked_up_as_well) {
  world before{graph({undoable(step("a"))})};
  before.started();
  auto w = restored(std::move(before));
  w.agents.lookups.insert("do_a");
  resumed(w);
  w.operate(v1::OPERATOR_VERB_CANCEL);
  EXPECT_EQ(sent(looked_up(w, 4'601, v1::LOOKUP_VERDICT_NEVER_HAPPENED)), texts{"look up a 4602 t1/a/lookup/1"});
  EXPECT_EQ(sent(looked_up(w, 4'602, v1::LOOKUP_VERDICT_DONE, R"({"v":3})")), texts{"undo a 4601 t1/a/undo/1"});
}

TEST(task_restore, a_step_without_attempts_left_is_looked_up_under_the_next_key_before_it_counts_as_failed) {
  auto a = step("a");
  a.set_attempts(1);
  world before{graph({a})};
  before.started();
  auto w = restored(std::move(before));
  w.agents.lookups.insert("do_a");
  resumed(w);
  EXPECT_EQ(sent(looked_up(w, 4'601, v1::LOOKUP_VERDICT_NEVER_HAPPENED)), texts{"look up a 4602 t1/a/lookup/1"});
  looked_up(w, 4'602, v1::LOOKUP_VERDICT_DONE, R"({"v":3})");
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
}

TEST(task_restore, what_a_look_up_of_the_backup_was_about_may_have_been_performed_under_the_next_key_since) {
  auto a = step("a");
  a.set_attempts(1);
  world before{graph({a})};
  before.agents.lookups.insert("do_a");
  before.started();
  before.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  ASSERT_EQ(before.at(0).direction(), v1::DIRECTION_LOOKUP);
  auto w = restored(std::move(before));
  w.agents.lookups.insert("do_a");
  EXPECT_EQ(sent(resumed(w)), texts{"look up a 4602 t1/a/lookup/0"});
  EXPECT_EQ(sent(looked_up(w, 4'602, v1::LOOKUP_VERDICT_NEVER_HAPPENED)), texts{"look up a 4603 t1/a/lookup/1"});
}

TEST(task_restore, numbers_rise_so_that_a_second_restore_of_the_same_backup_gives_out_none_of_the_first) {
  const auto after = [](std::int64_t age_ms) { return restored_rise{start_ms, from_unix_ms(start_ms + age_ms)}.numbers; };
  EXPECT_GE(after(0), std::uint64_t{1} << 24);
  EXPECT_GT(after(hour_ms + 100), after(hour_ms) + 6'000) << "more than a tenth of a second can have used";
  EXPECT_EQ(after(-5), after(0)) << "by a clock that is behind the backup";
}

TEST(task_restore, what_its_agent_does_not_know_is_sent_again_under_its_key) {
  world before{graph({step("a")})};
  before.submit();
  auto w = restored(std::move(before));
  w.agents.lookups.insert("do_a");
  w.apply(task_admitted{});
  EXPECT_EQ(sent(looked_up(w, 4'601, v1::LOOKUP_VERDICT_UNKNOWN)), texts{"perform a 4601 t1/a/perform/0"});
  w.outcome(0, 4'601);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
}

TEST(task_restore, the_next_key_stays_in_doubt_though_the_step_was_sent_again_under_its_own_meanwhile) {
  world before{graph({step("a")})};
  before.submit();
  auto w = restored(std::move(before));
  w.agents.lookups.insert("do_a");
  w.apply(task_admitted{});
  looked_up(w, 4'601, v1::LOOKUP_VERDICT_UNKNOWN);
  EXPECT_EQ(sent(w.fault(0, 4'601, v1::FAULT_KIND_PERMANENT)), texts{"look up a 4602 t1/a/lookup/0"});
  EXPECT_EQ(sent(looked_up(w, 4'602, v1::LOOKUP_VERDICT_NEVER_HAPPENED)), texts{"perform a 4602 t1/a/perform/1"});
  EXPECT_TRUE(w.at(0).doubtful()) << "the lost time may have gone on under this key";
  EXPECT_EQ(sent(w.fault(0, 4'602, v1::FAULT_KIND_PERMANENT)), texts{"look up a 4603 t1/a/lookup/1"});
  EXPECT_EQ(sent(looked_up(w, 4'603, v1::LOOKUP_VERDICT_NEVER_HAPPENED)), texts{"perform a 4603 t1/a/perform/2"});
  EXPECT_FALSE(w.at(0).doubtful()) << "and that is the end of it";
}

TEST(task_restore, a_step_whose_workflow_keeps_doubt_for_an_operator_parks) {
  auto a = step("a");
  a.set_in_doubt(v1::IN_DOUBT_PARK);
  world before{graph({a})};
  before.submit();
  auto w = restored(std::move(before));
  EXPECT_EQ(sent(w.apply(task_admitted{})), texts{});
  EXPECT_TRUE(w.record.parked());
  EXPECT_EQ(w.record.parked_reason().find("step a is in doubt (restored) and its workflow says in_doubt: park"), 0u)
      << w.record.parked_reason();
  EXPECT_EQ(w.agents.text(), "n1/svc=0 ") << "and keeps no slot";
  EXPECT_EQ(sent(w.operate(v1::OPERATOR_VERB_RETRY, "a")), texts{"perform a 4601 t1/a/perform/0"}) << "until one says otherwise";
}

TEST(task_restore, a_key_that_the_service_may_have_forgotten_since_the_backup_parks_the_task) {
  world before{graph({step("a")})};
  before.submit();
  auto w = restored(std::move(before));
  w.agents.key_valid_for["do_a"] = hour_ms / 2;
  EXPECT_EQ(sent(w.apply(task_admitted{})), texts{});
  EXPECT_TRUE(w.record.parked());
  EXPECT_EQ(w.at(0).fault().code(), restored_key_code);
}

TEST(task_restore, a_key_that_outlives_the_backup_is_used_again) {
  world before{graph({step("a")})};
  before.submit();
  auto w = restored(std::move(before));
  w.agents.key_valid_for["do_a"] = 2 * hour_ms;
  EXPECT_EQ(sent(w.apply(task_admitted{})), texts{"perform a 4601 t1/a/perform/0"});
}

TEST(task_restore, the_next_attempt_after_a_spent_key_goes_under_the_key_that_it_would_have_had) {
  world before{graph({step("a")})};
  before.started();
  attempt_ended spent;
  spent.attempt = 1;
  spent.fault.emplace();
  spent.fault->set_kind(v1::FAULT_KIND_TRANSIENT);
  spent.fault->set_code("http_409");
  spent.fault->set_key_spent(true);
  before.apply(spent);
  auto w = restored(std::move(before));
  EXPECT_EQ(sent(resumed(w)), texts{"perform a 4602 t1/a/perform/1"});
}

TEST(task_restore, what_was_being_undone_is_undone_again_under_its_key) {
  auto definition = graph({undoable(step("a")), undoable(step("b", {"a"}))});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world before{std::move(definition)};
  before.started();
  before.outcome(0, 1);
  before.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(before.at(0).state(), v1::STEP_STATE_UNDOING);
  auto w = restored(std::move(before));
  EXPECT_EQ(sent(resumed(w)), texts{"undo a 4602 t1/a/undo/0"});
  EXPECT_TRUE(w.at(0).undo_doubtful());
  attempt_ended undone;
  undone.direction = v1::DIRECTION_UNDO;
  undone.attempt = 4'602;
  w.apply(undone);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
}

TEST(task_restore, after_a_pivot_that_may_have_happened_since_nothing_is_undone_by_itself) {
  auto ship = with_undo_none(step("ship", {"a"}));
  ship.set_pivot(true);
  auto definition = graph({undoable(step("a")), ship});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world before{std::move(definition)};
  before.started();
  auto w = restored(std::move(before));
  resumed(w);
  w.fault(0, 4'602, v1::FAULT_KIND_PERMANENT);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_RUNNING);
  EXPECT_TRUE(w.record.parked());
}

TEST(task_restore, a_parked_task_stays_parked_and_one_that_is_over_stays_as_it_is) {
  world before{graph({step("a")})};
  before.started();
  before.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  auto w = restored(std::move(before));
  EXPECT_TRUE(w.record.parked());
  EXPECT_EQ(w.record.due_unix_ms(), 0);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_IN_DOUBT) << "an operator may have had it performed since";
  EXPECT_EQ(sent(w.operate(v1::OPERATOR_VERB_RETRY, "a")), texts{"perform a 4602 t1/a/perform/0"});
  w.outcome(0, 4'602);
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
  const auto over = bytes_of(w.record);
  EXPECT_FALSE(restore_task(w.record, start_ms, from_unix_ms(w.now_ms)));
  EXPECT_EQ(bytes_of(w.record), over);
}

/// The shard goes on from a replica. What was written from `counted_ms` on may never have counted.
world recovered(world w, std::int64_t counted_ms) {
  w.advance_ms(hour_ms);
  for (auto& [name, one] : w.agents.instances) one.held = 0;
  w.agents.holders.clear();
  EXPECT_TRUE(restore_task(w.record, counted_ms, from_unix_ms(w.now_ms), {}, counted_ms));
  return w;
}

TEST(task_restore, a_cancel_that_may_never_have_counted_undoes_what_the_others_may_have_performed_since) {
  world before{graph({undoable(step("a")), undoable(step("b", {"a"}))})};
  before.submit();
  before.operate(v1::OPERATOR_VERB_CANCEL);
  ASSERT_EQ(before.record.state(), v1::TASK_STATE_UNDONE);
  auto w = recovered(before, before.now_ms);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDOING);
  EXPECT_EQ(w.record.finished_at_unix_ms(), 0);
  EXPECT_EQ(w.record.due_unix_ms(), w.now_ms);
  EXPECT_EQ(sent(resumed(w)), texts{"undo b 4601 t1/b/undo/0"});
  w.undone(1);
  w.undone(0);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_UNDONE);
}

TEST(task_restore, one_that_counted_stays_as_it_is) {
  world w{graph({undoable(step("a"))})};
  w.submit();
  w.operate(v1::OPERATOR_VERB_CANCEL);
  const auto over = bytes_of(w.record);
  EXPECT_FALSE(restore_task(w.record, start_ms, from_unix_ms(w.now_ms + hour_ms), {}, w.now_ms + 1));
  EXPECT_EQ(bytes_of(w.record), over);
}

TEST(task_restore, of_a_task_whose_undo_may_never_have_counted_the_other_steps_are_in_doubt_as_well) {
  world before{graph({undoable(step("a")), undoable(step("b", {"a"}))})};
  before.started();
  before.advance_ms(1'000);
  before.operate(v1::OPERATOR_VERB_CANCEL);
  before.outcome(0, 1);
  ASSERT_EQ(before.record.state(), v1::TASK_STATE_UNDOING);
  EXPECT_EQ(recovered(before, before.now_ms).at(1).state(), v1::STEP_STATE_IN_DOUBT);
  EXPECT_EQ(recovered(before, before.now_ms + 1).at(1).state(), v1::STEP_STATE_PENDING);
}

TEST(task_restore, past_a_pivot_that_may_have_happened_since_a_cancel_that_may_never_have_counted_waits_for_an_operator) {
  auto ship = with_undo_none(step("ship"));
  ship.set_pivot(true);
  world before{graph({ship})};
  before.submit();
  before.operate(v1::OPERATOR_VERB_CANCEL);
  auto w = recovered(before, before.now_ms);
  EXPECT_EQ(sent(resumed(w)), texts{});
  EXPECT_TRUE(w.record.parked());
  EXPECT_NE(w.record.parked_reason().find("cannot be undone any more"), std::string::npos) << w.record.parked_reason();
  w.operate(v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED, "ship");
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
}

TEST(task_restore, of_a_step_without_undo_an_agent_is_asked_before_an_operator_is) {
  world before{graph({step("a")})};
  before.submit();
  before.operate(v1::OPERATOR_VERB_CANCEL);
  auto w = recovered(before, before.now_ms);
  w.agents.lookups.insert("do_a");
  EXPECT_EQ(sent(resumed(w)), texts{"look up a 4601 t1/a/lookup/0"});
  looked_up(w, 4'601, v1::LOOKUP_VERDICT_DONE, R"({"v":3})");
  EXPECT_TRUE(w.record.parked());
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_COMPLETED);
}

TEST(task_restore, the_end_of_a_failed_task_names_what_may_have_been_performed_since_if_it_may_never_have_counted) {
  world before{graph({undoable(step("a"))})};
  before.submit();
  before.operate(v1::OPERATOR_VERB_TERMINATE);
  ASSERT_EQ(before.record.state(), v1::TASK_STATE_FAILED);
  auto w = recovered(before, before.now_ms);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_FAILED);
  EXPECT_EQ(w.record.due_unix_ms(), 0);
  EXPECT_EQ(standing_of(w.record).in_doubt, texts{"a"});
  EXPECT_EQ(sent(w.operate(v1::OPERATOR_VERB_UNDO)), texts{"undo a 4601 t1/a/undo/0"});
}

/// `a`, and behind it `b`, which is left out by `when`; restored while `a` is out, and resumed.
world restored_before_a_condition(const std::string& when) {
  auto b = undoable(step("b", {"a"}));
  b.set_when_json(when);
  world before{graph({undoable(step("a")), b})};
  before.submit(R"({"yes":false})");
  before.apply(task_admitted{});
  auto w = restored(std::move(before));
  resumed(w);
  return w;
}

TEST(task_restore, a_step_that_the_input_leaves_out_was_left_out_in_the_lost_time_too) {
  auto w = restored_before_a_condition(R"("${ .input.yes }")");
  EXPECT_TRUE(w.at(1).doubtful());
  w.outcome(0, w.at(0).attempt());
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_SKIPPED);
  EXPECT_FALSE(w.at(1).doubtful());
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
  EXPECT_FALSE(w.operate(v1::OPERATOR_VERB_UNDO).refused);
  w.undone(0);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
}

TEST(task_restore, a_step_that_is_left_out_by_what_another_gave_may_have_been_performed_in_the_lost_time) {
  auto w = restored_before_a_condition(R"("${ .steps.a.yes }")");
  EXPECT_TRUE(w.outcome(0, w.at(0).attempt(), R"({"yes":false})").parked);
  EXPECT_EQ(w.record.parked_reason(), "step b: `when` gives false, and the step may have been carried out since the backup");
  w.operate(v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED, "b");
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_SKIPPED);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
}

TEST(task_restore, a_step_that_may_never_have_been_passed_over_is_in_doubt_and_one_that_was_stays_failed) {
  for (const bool counted : {true, false}) {
    auto a = undoable(step("a"));
    a.set_on_failure(v1::ON_FAILURE_CONTINUE);
    auto definition = graph({a, undoable(step("b", {"a"}))});
    definition.set_on_failure(v1::ON_FAILURE_UNDO);
    world w{definition};
    w.started();
    const auto before_ms = w.now_ms;
    w.advance_ms(1'000);
    w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
    ASSERT_TRUE(w.at(0).passed_over());
    w.operate(v1::OPERATOR_VERB_CANCEL);
    w.advance_ms(hour_ms);
    for (auto& [name, one] : w.agents.instances) one.held = 0;
    w.agents.holders.clear();
    EXPECT_TRUE(restore_task(w.record, before_ms, from_unix_ms(w.now_ms), {}, counted ? w.now_ms : before_ms));
    EXPECT_EQ(w.at(0).state(), counted ? v1::STEP_STATE_FAILED : v1::STEP_STATE_IN_DOUBT);
    EXPECT_EQ(sent(resumed(w)).empty(), false);
  }
}

TEST(task_restore, done_twice_because_it_was_cut_short_asks_for_the_same) {
  world before{graph({step("a")})};
  before.started();
  auto w = restored(std::move(before));
  ASSERT_TRUE(restore_task(w.record, start_ms, from_unix_ms(w.now_ms)));
  EXPECT_EQ(sent(resumed(w)), texts{"perform a 9202 t1/a/perform/0"});
  EXPECT_EQ(w.record.steps(0).fault().message().find("its last fault before"), std::string::npos);
}

TEST(task_refused, an_attempt_that_its_agent_has_not_begun_does_not_count) {
  world w{graph({step("a")})};
  w.started();
  const auto made = w.apply(attempt_refused{0, v1::DIRECTION_PERFORM, 1});
  EXPECT_TRUE(made.accepted);
  EXPECT_EQ(sent(made), texts{"perform a 2 t1/a/perform/0"});
  EXPECT_FALSE(w.at(0).doubtful());
  EXPECT_EQ(w.at(0).failure_count(), 0u);
  EXPECT_EQ(w.at(0).attempt() - w.at(0).excused(), 1u);
  EXPECT_FALSE(w.apply(attempt_refused{0, v1::DIRECTION_PERFORM, 1}).accepted) << "said twice";
}

TEST(task_refused, an_attempt_that_was_given_back_does_not_count_either) {
  world w{graph({step("a")})};
  w.started();
  const auto made = w.apply(attempt_refused{0, v1::DIRECTION_PERFORM, 1, true});
  EXPECT_TRUE(made.accepted);
  EXPECT_EQ(sent(made), texts{"perform a 2 t1/a/perform/0"});
  EXPECT_EQ(w.at(0).failure_count(), 0u);
  EXPECT_EQ(w.at(0).attempt() - w.at(0).excused(), 1u);
}

TEST(task_refused, where_nobody_else_is_there_the_step_waits) {
  world w{graph({step("a")})};
  w.started();
  w.agents.instances.at("n1/svc").capacity = 0;
  EXPECT_EQ(sent(w.apply(attempt_refused{0, v1::DIRECTION_PERFORM, 1})), texts{});
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_PENDING);
  EXPECT_EQ(w.agents.text(), "n1/svc=0 ");
}

}  // namespace
}  // namespace fairlead::core::testing
