#include "actors/core/task/migration/migration.hpp"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/core/task/restore.hpp"
#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

std::shared_ptr<const workflow> compiled(v1::WorkflowDefinition definition) {
  auto out = workflow::compile(std::move(definition), "other");
  return out ? *out : nullptr;
}

/// Another value in a field of the step. False: the test does not know how, or the value it has is that already.
bool change(v1::StepDefinition& step, const google::protobuf::FieldDescriptor& field) {
  using type = google::protobuf::FieldDescriptor;
  const auto& of = *step.GetReflection();
  const std::string name{field.name()};
  switch (field.cpp_type()) {
    case type::CPPTYPE_MESSAGE: field.is_repeated() ? of.AddMessage(&step, &field) : of.MutableMessage(&step, &field); break;
    case type::CPPTYPE_STRING: {
      const auto text = name.ends_with("_json") ? R"("${ .input.n }")" : "another";
      if (field.is_repeated()) return false;  // `needs` is about other steps
      of.SetString(&step, &field, text);
      break;
    }
    case type::CPPTYPE_BOOL: of.SetBool(&step, &field, !of.GetBool(step, &field)); break;
    case type::CPPTYPE_UINT32: of.SetUInt32(&step, &field, of.GetUInt32(step, &field) + 1); break;
    case type::CPPTYPE_INT64: of.SetInt64(&step, &field, of.GetInt64(step, &field) + 1); break;
    case type::CPPTYPE_ENUM: of.SetEnumValue(&step, &field, of.GetEnumValue(step, &field) == 1 ? 2 : 1); break;
    default: return false;
  }
  return true;
}

class migration_test : public ::testing::Test {
 protected:
  migration_test() {
    w.started();
    w.outcome(0, 1);
  }

  /// What stands in the way if the step is another one there.
  std::vector<unfit_step> unfit_with(int at, const v1::StepDefinition& step) {
    auto other = w.definition().definition();
    *other.mutable_steps(at) = step;
    const auto to = compiled(other);
    // Types that are not there, and the like.
    return to == nullptr ? std::vector<unfit_step>{{"", "unlawful"}} : unfit_steps(w.record, w.definition(), *to);
  }

  /// `a` has ended, `b` is in progress, `c` has not begun.
  world w{graph({undoable(step("a")), with_undo_none(step("b", {"a"})), with_undo_none(step("c", {"b"}))})};
};

TEST_F(migration_test, holds_every_field_of_a_step_that_has_begun_to_be_the_same_but_for_those_that_nothing_reads_any_more) {
  const std::set<std::string> free{"with_json", "timeout_ms", "attempts", "in_doubt",    "on_failure",       "cool_off_ms", "input_type",
                                   "signal",    "repeat",     "retry",    "callback_ms", "goes_on_untimely", "when_json",   "retry_for_ms"};
  std::set<std::string> tried;
  const auto& all = *v1::StepDefinition::descriptor();
  for (int i = 0; i < all.field_count(); ++i) {
    const auto& field = *all.field(i);
    const std::string name{field.name()};
    for (const int at : {0, 1, 2}) {
      auto step = w.definition().definition().steps(at);
      const auto before = step.SerializeAsString();
      if (name == "name" || !change(step, field) || step.SerializeAsString() == before) continue;
      const auto unfit = unfit_with(at, step);
      if (!unfit.empty() && unfit.front().why == "unlawful") continue;
      tried.insert(name);
      const auto may_differ = at == 2 || (at == 0 && free.contains(name));
      EXPECT_EQ(unfit.empty(), may_differ) << name << " of step " << step.name() << (unfit.empty() ? "" : ": " + unfit.front().why);
      if (!unfit.empty()) {
        EXPECT_EQ(unfit.front().step, step.name()) << name;
      }
    }
  }
  EXPECT_GE(tried.size(), 15u) << "the test sees few fields";
  EXPECT_TRUE(tried.contains("join") && tried.contains("finally") && tried.contains("agent") && tried.contains("pivot"));
}

TEST_F(migration_test, takes_a_step_that_waited_for_nothing_but_a_slot_for_one_that_has_not_begun) {
  v1::StepRecord step = w.at(2);
  EXPECT_FALSE(has_begun(step));
  step.set_wanted(true);
  step.set_blocked_seen_ms(7);
  EXPECT_FALSE(has_begun(step));
  EXPECT_TRUE(has_begun(w.at(0)));
  EXPECT_TRUE(has_begun(w.at(1)));
  step.set_input_edited(true);
  EXPECT_TRUE(has_begun(step)) << "an operator has been there";
}

TEST_F(migration_test, needs_a_place_for_what_has_begun_and_nothing_new_in_front_of_it) {
  const auto& old = w.definition().definition();
  const auto why = [&](const std::vector<v1::StepDefinition>& steps) {
    const auto to = compiled(graph(steps));
    if (to == nullptr) return std::string{"unlawful"};
    std::string out;
    for (const auto& one : unfit_steps(w.record, w.definition(), *to)) out += one.step + ": " + one.why + "\n";
    return out;
  };
  const auto fresh = with_undo_none(step("fresh"));
  EXPECT_EQ(why({old.steps(0), old.steps(1), fresh, old.steps(2)}), "");
  EXPECT_EQ(why({old.steps(0), old.steps(1)}), "") << "what has not begun may go";
  auto alone = old.steps(1);
  alone.clear_needs();
  EXPECT_EQ(why({alone}),
            "a: has begun, and the other version has no such step\n"
            "b: has begun, and its 'needs' differs\n");
  EXPECT_EQ(why({old.steps(0), fresh, old.steps(1)}), "b: has begun as number 2 of the file's steps, and is number 3 there\n");
  auto behind = old.steps(0);
  behind.add_needs("fresh");
  EXPECT_EQ(why({behind, old.steps(1), fresh}), "a: has begun, and waits there for step fresh, which has not ended\n");
}

TEST(migration, keeps_the_join_that_has_left_a_step_over) {
  auto last = with_undo_none(step("last", {"a", "b"}));
  last.set_agent("away");
  last.set_join(1);
  const auto definition = graph({undoable(step("a")), undoable(step("b")), last});
  world w{definition};
  w.started();
  w.outcome(0, 1);
  ASSERT_TRUE(w.at(1).dropped());
  ASSERT_FALSE(has_begun(w.at(2)));
  const auto unfit_if = [&](const auto& change) {
    auto other = definition;
    change(*other.mutable_steps(2));
    const auto to = compiled(other);
    std::string out;
    for (const auto& one : unfit_steps(w.record, w.definition(), *to)) out += one.step + ": " + one.why + "\n";
    return out;
  };
  EXPECT_EQ(unfit_if([](v1::StepDefinition& one) { one.set_timeout_ms(7'000); }), "");
  EXPECT_EQ(unfit_if([](v1::StepDefinition& one) { one.clear_join(); }),
            "b: was left over by the join of step last, which differs there\n");
  EXPECT_EQ(unfit_if([](v1::StepDefinition& one) { one.set_join(2); }), "b: was left over by the join of step last, which differs there\n");
}

TEST(migration, a_step_that_is_new_to_a_restored_task_may_have_been_performed_before) {
  auto b = with_undo_none(step("b", {"a"}));
  b.set_in_doubt(v1::IN_DOUBT_PARK);
  world w{graph({with_undo_none(step("a"))})};
  w.started();
  for (auto& [name, one] : w.agents.instances) one.held = 0;
  w.agents.holders.clear();
  ASSERT_TRUE(restore_task(w.record, w.now_ms - 60'000, from_unix_ms(w.now_ms)));
  ASSERT_TRUE(w.migrate(graph({with_undo_none(step("a")), b})).migrated);
  ASSERT_EQ(w.at(0).state(), v1::STEP_STATE_RUNNING) << "sent again under its key";
  EXPECT_TRUE(w.outcome(0, w.at(0).attempt()).performs.empty());
  EXPECT_TRUE(w.record.parked());
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_IN_DOUBT);
}

TEST(migration, a_step_that_is_new_to_a_task_that_was_restored_before_its_start_has_not_been_performed) {
  auto b = with_undo_none(step("b", {"a"}));
  b.set_in_doubt(v1::IN_DOUBT_PARK);
  world w{graph({with_undo_none(step("a"))})};
  w.delay_ms = 3'600'000;
  w.submit();
  ASSERT_TRUE(restore_task(w.record, w.now_ms - 60'000, from_unix_ms(w.now_ms)));
  w.advance_ms(3'600'000);
  w.apply(task_due{});
  ASSERT_EQ(w.apply(task_admitted{}).performs.size(), 1U);
  ASSERT_TRUE(w.migrate(graph({with_undo_none(step("a")), b})).migrated);
  EXPECT_EQ(w.outcome(0, w.at(0).attempt()).performs.size(), 1U);
  EXPECT_FALSE(w.at(1).doubtful());
}

TEST(migration, a_restore_begins_no_step_that_the_scheduler_itself_carries_out) {
  v1::StepDefinition wait;
  wait.set_name("wait");
  wait.add_needs("a");
  wait.set_kind(v1::STEP_KIND_WAIT);
  wait.set_with_json(R"("3h")");
  wait.mutable_undo()->set_none(true);
  world w{graph({with_undo_none(step("a")), wait, with_undo_none(step("b", {"a"}))})};
  w.started();
  ASSERT_TRUE(restore_task(w.record, w.now_ms - 60'000, from_unix_ms(w.now_ms)));
  EXPECT_FALSE(has_begun(w.at(1)));
  EXPECT_TRUE(has_begun(w.at(2))) << "it may have been performed since the backup";
}

}  // namespace
}  // namespace fairlead::core::testing
