// What people are shown of steps with `for_each`.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/cli/task/text.hpp"
#include "app/json/task.hpp"
#include "app/json/waits.hpp"
#include "messages/items.hpp"
#include "tests/app/order_task.hpp"

namespace fairlead::app {
namespace {

/// `charge` is carried out for 12,000 items; `states` are those that have begun.
v1::TaskShowReply order_with_items(const std::vector<std::pair<item_state, std::size_t>>& states) {
  auto out = order_task();
  auto& charge = *out.mutable_definition()->mutable_steps(1);
  charge.mutable_for_each()->set_list_json(R"("${ .input.all }")");
  charge.mutable_for_each()->set_at_once(10);
  step_of(out, 0).set_state(v1::STEP_STATE_COMPLETED);
  auto& step = step_of(out, 1);
  step.set_kind(v1::STEP_KIND_WORKFLOW);
  step.set_state(v1::STEP_STATE_RUNNING);
  step.mutable_child();
  auto& items = *step.mutable_items();
  items.set_count(12'000);
  for (const auto& [state, count] : states) items.mutable_states()->append(count, static_cast<char>(state));
  items.set_rounds(std::string(items.states().size(), '\1'));
  return out;
}

TEST(task_items, are_counted_in_text_and_in_json) {
  auto reply = order_with_items({{item_state::completed, 1'980},
                                 {item_state::failed, 1},
                                 {item_state::left_behind, 2},
                                 {item_state::running, 8},
                                 {item_state::parked, 1}});
  step_of(reply, 1).mutable_child()->set_id("o-1/charge~1.1992");
  EXPECT_NE(task_show_text(reply, {}).find("\nitems     charge 12000: 1,980 completed, 3 failed, 9 in progress, 10,008 to begin\n"),
            std::string::npos)
      << task_show_text(reply, {});
  const auto shown = nlohmann::json::parse(task_show_json(reply, {}));
  EXPECT_TRUE(shown.at("steps").at(0).at("items").is_null());
  EXPECT_EQ(
      shown.at("steps").at(1).at("items"),
      nlohmann::json(
          {{"count", 12'000}, {"begun", 1'992}, {"in_progress", 9}, {"parked", 1}, {"completed", 1'980}, {"failed", 3}, {"undone", 0}}));
  EXPECT_EQ(shown.at("steps").at(1).at("child"), "o-1/charge~1.1992") << "the item that needs a look";
}

TEST(task_items, are_what_the_step_waits_for) {
  EXPECT_EQ(waits_for(order_with_items({{item_state::running, 9}}), 1, {}), "waits for 9 items");
  EXPECT_EQ(waits_for(order_with_items({{item_state::completed, 9}, {item_state::running, 1}}), 1, {}), "waits for 1 item");
  EXPECT_EQ(waits_for(order_with_items({{item_state::running, 7}, {item_state::parked, 1}}), 1, {}),
            "waits for 8 items, of which 1 is parked");
  EXPECT_EQ(waits_for(order_with_items({{item_state::parked, 2}}), 1, {}), "waits for 2 items, of which 2 are parked");
  auto undone = order_with_items({{item_state::undone, 5}, {item_state::undoing, 3}});
  step_of(undone, 1).set_state(v1::STEP_STATE_UNDOING);
  undone.mutable_task()->set_state(v1::TASK_STATE_UNDOING);
  EXPECT_EQ(waits_for(undone, 1, {}), "waits for 3 items");
}

}  // namespace
}  // namespace fairlead::app
