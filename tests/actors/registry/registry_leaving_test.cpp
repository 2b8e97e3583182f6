// An instance whose node file does not name it any more.

#include "tests/actors/registry/registry_world.hpp"

namespace fairlead::testing {
namespace {

class registry_leaving_test : public registry_fixture {};

TEST_F(registry_leaving_test, forgets_an_instance_that_leaves_once_it_holds_nothing) {
  it->add(agent("n1/svc", 2));
  EXPECT_TRUE(claim_or_wait(1));
  auto leaving = agent("n1/svc", 2);
  leaving.set_draining(true);
  leaving.set_leaving(true);
  it->add(leaving);
  EXPECT_TRUE(it->set_away("n1/svc", 1));
  EXPECT_TRUE(it->find("n1/svc")) << "its attempt may still count";
  end(1);
  EXPECT_FALSE(it->find("n1/svc"));
  EXPECT_FALSE(claim_or_wait(2));
  it->add(agent("n1/svc", 2, 7));
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{2})) << "the name may come back";
  EXPECT_EQ(it->find("n1/svc")->incarnation, 7U);
}

TEST_F(registry_leaving_test, keeps_an_instance_that_came_back_before_it_had_left) {
  auto leaving = agent("n1/svc", 2);
  leaving.set_leaving(true);
  it->add(leaving);
  it->add(agent("n1/svc", 2));
  EXPECT_TRUE(it->set_away("n1/svc", 1));
  EXPECT_TRUE(it->find("n1/svc"));
}

}  // namespace
}  // namespace fairlead::testing
