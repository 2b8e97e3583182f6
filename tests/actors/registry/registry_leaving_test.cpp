// An instance whose node file does not name it any more, whose node is not connected, or whose worker is silent.

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

TEST_F(registry_leaving_test, tells_a_silent_worker_from_one_that_drains) {
  auto what = agent("n1/svc", 0);
  what.set_draining(true);
  what.set_silent(true);
  it->add(what);
  EXPECT_FALSE(claim_or_wait(1));
  EXPECT_TRUE(instance("n1/svc").silent());
  EXPECT_FALSE(instance("n1/svc").draining());
  EXPECT_EQ(reasons(), (std::vector<std::string>{"all instances are silent: their processes send no requests"}));
  EXPECT_EQ(operate(v1::AGENT_VERB_DRAIN, "n1/svc").error().code(), v1::ERROR_CODE_OK);
  EXPECT_TRUE(instance("n1/svc").draining());
  EXPECT_EQ(operate(v1::AGENT_VERB_RESUME, "n1/svc").error().code(), v1::ERROR_CODE_OK);
  EXPECT_TRUE(instance("n1/svc").silent());
  what = agent("n1/svc", 10);
  it->add(what);
  EXPECT_FALSE(instance("n1/svc").silent());
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{1}));
}

TEST_F(registry_leaving_test, learns_nothing_of_a_service_from_leases_that_end_while_nobody_could_hear_of_it) {
  it->add(agent("n1/svc", 100));
  for (std::uint64_t task = 1; task <= 30; ++task) EXPECT_NE(claimed(task), "none");
  EXPECT_TRUE(it->set_away("n1/svc", 1));
  for (std::uint64_t task = 1; task <= 30; ++task) end(task, slot_end::expired);
  EXPECT_NE(service().record().breaker(), v1::BREAKER_STATE_OPEN) << "its node was not connected";
  EXPECT_FALSE(instance("n1/svc").sick());

  restart();
  for (std::uint64_t task = 1; task <= 30; ++task) hold("n1/svc", task);
  for (std::uint64_t task = 1; task <= 30; ++task) end(task, slot_end::expired);
  EXPECT_NE(service().record().breaker(), v1::BREAKER_STATE_OPEN) << "its instance had not registered with the new Scheduler yet";

  it->add(agent("n1/svc", 100));
  for (std::uint64_t task = 1; task <= 30; ++task) {
    EXPECT_NE(claimed(task), "none");
    end(task, slot_end::expired);
    if (service().record().breaker() == v1::BREAKER_STATE_OPEN) return;
  }
  FAIL() << "an instance that is there and says nothing speaks against its service";
}

TEST_F(registry_leaving_test, counts_time_behind_a_breaker_only_while_there_is_an_instance) {
  it->add(agent("n1/svc", 100));
  break_it();
  const auto before_ms = it->blocked_ms("svc");
  pass(1'000);
  EXPECT_EQ(it->blocked_ms("svc") - before_ms, 1'000);
  it->set_away("n1/svc", 1);
  pass(3'600'000);
  EXPECT_EQ(it->blocked_ms("svc") - before_ms, 1'000) << "nobody could have taken a step";
  it->add(agent("n1/svc", 100, 2));
  pass(1'000);
  EXPECT_EQ(it->blocked_ms("svc") - before_ms, 2'000);
}

}  // namespace
}  // namespace fairlead::testing
