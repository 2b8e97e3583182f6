#include <algorithm>

#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

attempt_ended printed(std::uint32_t attempt, std::string log, std::optional<v1::Fault> fault = std::nullopt) {
  attempt_ended out;
  out.attempt = attempt;
  out.fault = std::move(fault);
  out.log = std::move(log);
  return out;
}

v1::Fault busy() {
  v1::Fault out;
  out.set_kind(v1::FAULT_KIND_TRANSIENT);
  out.set_code("busy");
  return out;
}

TEST(task_log, of_a_step_is_that_of_its_latest_attempt_whether_it_failed_or_not) {
  world w{graph({step("a")})};
  w.started();
  w.apply(printed(1, "no \"disk\"\n", busy()));
  EXPECT_EQ(w.at(0).log().text().json(), R"("no \"disk\"\n")");
  EXPECT_EQ(w.at(0).log().attempt(), 1U);
  w.advance_ms(5'000);
  w.apply(task_due{});
  auto last = printed(2, "done\n");
  last.log_cut = true;
  w.apply(last);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(w.at(0).log().text().json(), R"("done\n")");
  EXPECT_EQ(w.at(0).log().attempt(), 2U);
  EXPECT_TRUE(w.at(0).log().cut());
}

TEST(task_log, that_is_long_has_a_row_of_its_own_which_goes_with_it) {
  world w{graph({step("a")})};
  w.started();
  const auto made = w.apply(printed(1, std::string(10'000, 'x'), busy()));
  const auto slot = w.at(0).log().text().slot();
  ASSERT_NE(slot, 0U);
  EXPECT_TRUE(std::any_of(made.payloads.begin(), made.payloads.end(), [&](const auto& one) { return one.slot == slot; }));
  w.advance_ms(5'000);
  w.apply(task_due{});
  const auto next = w.apply(printed(2, "short"));
  EXPECT_EQ(next.dropped_slots, std::vector<std::uint32_t>{slot});
}

TEST(task_log, of_an_attempt_that_nobody_waits_for_is_not_kept) {
  world w{graph({step("a")})};
  w.started();
  w.apply(printed(7, "of another attempt"));
  EXPECT_FALSE(w.at(0).has_log());
}

}  // namespace
}  // namespace fairlead::core::testing
