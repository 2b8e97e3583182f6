// Nobody overtakes a step that has waited longer and may go on, and what comes back unbegun lets no more go than a rate allows.

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

TEST_F(registry_order_test, keeps_to_a_rate_where_much_that_nobody_has_begun_comes_back_at_once) {
  it->add(limited(agent("n1/svc", 100), "", "", 0, 1));
  for (std::uint64_t task = 1; task <= 3; ++task) {
    EXPECT_TRUE(claim_or_wait(task));
    pass(1'000);
  }
  end(1, slot_end::unused);
  EXPECT_TRUE(claim_or_wait(1));
  end(2, slot_end::unused);
  EXPECT_FALSE(claim_or_wait(2));
  end(3, slot_end::unused);
  EXPECT_FALSE(claim_or_wait(3));
  pass(1'000);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{2}));
  pass(1'000);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{3}));
}

TEST_F(registry_order_test, gives_a_rate_nothing_back_for_what_an_earlier_process_handed_over) {
  it->add(limited(agent("n1/svc", 100), "", "", 0, 1));
  hold("n1/svc", 1);
  EXPECT_TRUE(claim_or_wait(2));
  end(1, slot_end::unused);
  EXPECT_FALSE(claim_or_wait(1));
}

TEST_F(registry_order_test, gives_back_to_a_rate_what_the_same_process_has_handed_over_and_was_told_of_again) {
  it->add(limited(agent("n1/svc", 100), "", "", 0, 1));
  EXPECT_TRUE(claim_or_wait(1));
  hold("n1/svc", 1);
  end(1, slot_end::unused);
  EXPECT_TRUE(claim_or_wait(1));
}

}  // namespace
}  // namespace fairlead::testing
