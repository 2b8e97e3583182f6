// Nobody overtakes a step that has waited longer and may go on.

#include "tests/actors/registry/registry_world.hpp"

namespace fairlead::testing {
namespace {

class registry_order_test : public registry_fixture {};

TEST_F(registry_order_test, lets_nobody_overtake_what_waits_for_a_rate_that_has_just_opened) {
  it->add(limited(agent("n1/svc", 100), "", "", 0, 1));  // one a second
  EXPECT_EQ(claimed(1), "n1/svc#1");
  EXPECT_FALSE(claim_or_wait(2));
  time.now_ms += 1'000;  // nobody has been woken yet
  EXPECT_FALSE(claim_or_wait(3)) << "task 2 has waited longer";
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{2}));
}

TEST_F(registry_order_test, gives_a_task_that_is_named_for_one_service_no_precedence_at_another) {
  it->add(agent("n1/svc", 1));
  auto other = agent("n1/other", 1);
  other.set_agent("other");
  it->add(other);
  EXPECT_TRUE(claim_or_wait(1));
  EXPECT_TRUE(claim_or_wait(2, {"other", "do", {}, {}}));
  EXPECT_FALSE(claim_or_wait(3));
  EXPECT_FALSE(claim_or_wait(4));
  it->wait(try_claim(4, {"other", "do", {}, {}}, 2).queue, 4, 1, false);
  end(1);
  end(2);
  EXPECT_EQ(it->next_waiting(), 4u) << "for the other service it is the first of all";
  EXPECT_FALSE(try_claim(4).instance) << "for this one task 3 is";
  EXPECT_TRUE(try_claim(4, {"other", "do", {}, {}}, 2).instance);
  EXPECT_EQ(it->next_waiting(), 3u);
  EXPECT_EQ(claimed(3), "n1/svc#1");
}

}  // namespace
}  // namespace fairlead::testing
