#include "actors/core/task/transitions.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "actors/core/task/record.hpp"

namespace fairlead::core {
namespace {

v1::TaskRecord record_in(v1::TaskState task, v1::StepState step) {
  v1::TaskRecord out;
  out.set_state(task);
  auto& one = *out.add_steps();
  one.set_path("charge");
  one.set_state(step);
  return out;
}

TEST(transition_of_a_step, leads_from_its_sources_alone) {
  for (const auto* by : step_moves::all)
    for (int from = v1::StepState_MIN; from <= v1::StepState_MAX; ++from) {
      auto record = record_in(v1::TASK_STATE_RUNNING, static_cast<v1::StepState>(from));
      const auto before = record.SerializeAsString();
      decision out;
      if (by->may_leave(static_cast<v1::StepState>(from))) {
        move_step(record, 0, *by, moment{}, out);
        EXPECT_EQ(record.steps(0).state(), by->to) << by->name;
        EXPECT_EQ(out.transitions.size(), 1U);
      } else {
        EXPECT_THROW(move_step(record, 0, *by, moment{}, out), std::logic_error) << by->name << " from " << from;
        EXPECT_EQ(record.SerializeAsString(), before);
        EXPECT_FALSE(out.changed);
      }
    }
}

TEST(transition_of_a_task, leads_from_its_sources_alone) {
  for (const auto* by : task_moves::all)
    for (int from = v1::TaskState_MIN; from <= v1::TaskState_MAX; ++from) {
      auto record = record_in(static_cast<v1::TaskState>(from), v1::STEP_STATE_PENDING);
      decision out;
      if (by->may_leave(static_cast<v1::TaskState>(from))) {
        move_task(record, *by, moment{}, out);
        EXPECT_EQ(record.state(), by->to) << by->name;
      } else {
        EXPECT_THROW(move_task(record, *by, moment{}, out), std::logic_error) << by->name << " from " << from;
        EXPECT_EQ(record.state(), from);
      }
    }
}

TEST(transition_of_a_step, that_is_impossible_is_named_with_the_step_and_its_state) {
  auto record = record_in(v1::TASK_STATE_RUNNING, v1::STEP_STATE_COMPLETED);
  decision out;
  try {
    move_step(record, 0, step_moves::start, moment{}, out);
    FAIL();
  } catch (const std::logic_error& why) {
    EXPECT_STREQ(why.what(), "step charge is completed, and no transition `start` leads from there");
  }
}

TEST(transition_of_a_step, has_a_name_of_its_own_and_never_leads_back_where_it_began) {
  std::set<std::string> names;
  for (const auto* by : step_moves::all) {
    EXPECT_TRUE(names.insert(by->name).second) << by->name;
    EXPECT_FALSE(by->may_leave(by->to)) << by->name;
  }
}

}  // namespace
}  // namespace fairlead::core
