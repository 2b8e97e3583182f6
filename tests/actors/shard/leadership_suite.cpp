// What runs where a shard is led, under CAF's deterministic scheduler: it comes and goes with the lead, however the messages fall.

#define CAF_SUITE leadership_suite

#include "actors/shard/leadership.hpp"

#include <caf/test/dsl.hpp>

#include "tests/actors/suite_world.hpp"
#include "tests/actors/supervision/guardian_world.hpp"

using namespace fairlead;

namespace {

using lines = std::vector<std::string>;

struct fixture : test_coordinator_fixture<testing::suite_config> {
  testing::guardian_world_of_tests w{sys};
  guardian_actor shard;
  leadership_actor leadership;
  std::vector<std::string> fatal;
  bool stubborn = false;  // the branch does not end before it is killed

  fixture() {
    guardian_spec around;
    around.id = "shard";
    auto made = start_guardian(w.world, std::move(around), w.on_given_up());
    CAF_REQUIRE(made.ok());
    shard = *made;
    leadership_setup setup;
    setup.where = [this] { return shard; };
    setup.branch = [this](std::function<void(caf::strong_actor_ptr)> started) {
      guardian_spec led;
      led.id = "led";
      led.policy.restarts = 1;
      led.policy.within = std::chrono::minutes{1};
      led.children = {w.child("scheduler", core::restart_kind::permanent, stubborn)};
      auto out = guardian_child(w.world, "shard", std::move(led));
      out.restart = core::restart_kind::temporary;
      out.start = [start = std::move(out.start), started = std::move(started)]() -> result<caf::strong_actor_ptr> {
        auto begun = start();
        if (begun) started(*begun);
        return begun;
      };
      return out;
    };
    setup.on_stop = [this] { w.lines.write("stop"); };
    setup.on_fatal = [this](const error& why) { fatal.push_back(why.sentence); };
    leadership = sys.spawn(run_leadership, std::move(setup));
    consume_messages();
  }

  ~fixture() override {
    caf::anon_send_exit(leadership, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(shard, caf::exit_reason::user_shutdown);
    consume_messages();
    shard = nullptr;
  }

  void lead(bool now) { self->send(leadership, lead_atom_v, now); }
  void settle() {
    consume_messages();
    for (int i = 0; i < 5; ++i) {
      advance_time(std::chrono::milliseconds{50});
      consume_messages();
    }
  }
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(leadership_tests, fixture)

CAF_TEST(the_branch_begins_with_the_lead_and_ends_with_it) {
  lead(false);
  settle();
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"stop"}));
  lead(true);
  settle();
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"+scheduler"}));
  lead(false);
  settle();
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"stop", "-scheduler"}));
  CAF_CHECK(fatal.empty());
}

CAF_TEST(who_leads_again_before_the_former_branch_has_ended_waits_for_that) {
  lead(true);
  settle();
  w.lines.take();
  lead(false);
  lead(true);
  settle();
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"stop", "-scheduler", "+scheduler"}));
  lead(false);
  settle();
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"stop", "-scheduler"}));
}

CAF_TEST(a_branch_that_was_started_for_a_lead_that_is_over_ends_and_another_begins_for_the_next) {
  lead(true);
  CAF_CHECK(consume_message());  // the actor hears of it
  // The guardian has been asked to start it, and has not come to that yet.
  lead(false);
  lead(true);
  settle();
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"+scheduler", "stop", "stop", "-scheduler", "+scheduler"}));
  CAF_CHECK_EQUAL(w.started["scheduler"], 2);
}

CAF_TEST(a_lead_that_is_lost_while_the_branch_is_started_leaves_nothing_behind) {
  lead(true);
  CAF_CHECK(consume_message());  // the actor hears of it
  lead(false);
  settle();
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"+scheduler", "stop", "stop", "-scheduler"}));
}

CAF_TEST(a_scheduler_that_crashes_begins_anew_under_the_same_lead) {
  lead(true);
  settle();
  w.order("scheduler", "throw once");
  settle();
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"+scheduler", "-scheduler", "+scheduler"}));
  CAF_CHECK(fatal.empty());
}

CAF_TEST(a_branch_that_takes_too_long_to_end_is_killed_and_the_next_lead_begins_as_ever) {
  stubborn = true;
  lead(true);
  settle();
  lead(false);
  settle();
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"+scheduler", "stop"}));
  advance_time(std::chrono::seconds{10});
  settle();
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-scheduler"}));
  CAF_CHECK(fatal.empty());
  stubborn = false;
  lead(true);
  settle();
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"+scheduler"}));
}

CAF_TEST(a_branch_that_gives_up_ends_the_node_so_that_another_takes_over) {
  lead(true);
  settle();
  for (int i = 0; i < 2; ++i) {
    w.order("scheduler", "throw again");
    settle();
  }
  CAF_REQUIRE_EQUAL(fatal.size(), 1U);
  CAF_CHECK(fatal[0].find("again") != std::string::npos);
}

CAF_TEST_FIXTURE_SCOPE_END()
