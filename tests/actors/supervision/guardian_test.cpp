// Guardians over real threads: what waits for others, and what hangs.

#include "actors/supervision/guardian.hpp"

#include <gtest/gtest.h>

#include <future>

#include "tests/actors/supervision/guardian_world.hpp"

namespace fairlead {
namespace {

using core::restart_kind;
using core::restart_strategy;
using lines = std::vector<std::string>;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct guardian_test : ::testing::Test {
  guardian_spec spec(const std::string& id, restart_strategy strategy, std::vector<child_spec> children) {
    guardian_spec out;
    out.id = id;
    out.policy.strategy = strategy;
    out.children = std::move(children);
    return out;
  }

  /// Says in the journal that it has given up.
  result<guardian_actor> start(guardian_spec what) {
    return start_guardian(w.world, std::move(what), [this](const error& why) {
      given_up.set_value(why.sentence);
      w.lines.write("given up");
    });
  }

  /// On its own thread; the order `work` hangs until the test lets it go.
  child_spec hanging(const std::string& name) {
    child_spec out;
    out.id = name;
    out.shutdown = milliseconds{30};
    out.start = [this, name]() -> result<caf::strong_actor_ptr> {
      w.lines.write("+" + name);
      testing::worker_setup setup;
      setup.at_order = [this] {
        w.lines.write("hangs");
        let_go.get_future().wait();
      };
      const auto made = system.spawn<caf::detached>(testing::run_worker, std::move(setup));
      w.now[name] = made;
      return caf::actor_cast<caf::strong_actor_ptr>(made);
    };
    return out;
  }

  caf::actor_system_config config;
  std::promise<void> let_go;
  std::promise<std::string> given_up;
  caf::actor_system system{config};
  testing::guardian_world_of_tests w{system};
};

TEST_F(guardian_test, starts_all_before_it_returns_and_stops_all_in_reverse) {
  auto inner = guardian_child(w.world, "node", spec("core", restart_strategy::one_for_all, {w.child("b"), w.child("c")}));
  auto root = start(spec("node", restart_strategy::one_for_one, {w.child("a"), std::move(inner), w.child("d")}));
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(w.lines.take(), (lines{"+a", "+b", "+c", "+d"}));
  EXPECT_TRUE(stop_guardian(w.world, *root, seconds{20}));
  EXPECT_EQ(w.lines.take(), (lines{"-d", "-c", "-b", "-a"}));
}

TEST_F(guardian_test, a_first_start_that_fails_gives_its_error_and_has_stopped_what_was_started) {
  for (const auto by_exception : {false, true}) {
    w.throws = by_exception;
    w.refusals["c"] = 1;
    auto inner = guardian_child(w.world, "node", spec("core", restart_strategy::one_for_all, {w.child("b"), w.child("c"), w.child("x")}));
    const auto root = start(spec("node", restart_strategy::one_for_one, {w.child("a"), std::move(inner), w.child("d")}));
    ASSERT_FALSE(root.ok());
    EXPECT_EQ(root.failure().sentence, "node/core/c could not be started: no room for c");
    if (!by_exception) {
      EXPECT_EQ(root.failure().code, v1::ERROR_CODE_DISK);
      EXPECT_EQ(root.failure().remedy, "Make room.");
    }
    EXPECT_EQ(w.lines.take(), (lines{"+a", "+b", "!c", "-b", "-a"}));
  }
}

TEST_F(guardian_test, a_branch_whose_first_start_failed_is_not_started_again_though_it_has_ended_before_the_root_ends) {
  w.refusals["c"] = 1;
  auto inner = guardian_child(w.world, "node", spec("core", restart_strategy::one_for_all, {w.child("b"), w.child("c")}));
  inner.start = [start = inner.start]() -> result<caf::strong_actor_ptr> {
    auto made = start();
    std::promise<void> ended;
    (*made)->get()->attach_functor([&ended] { ended.set_value(); });
    EXPECT_EQ(ended.get_future().wait_for(seconds{20}), std::future_status::ready);
    return made;
  };
  const auto root = start(spec("node", restart_strategy::one_for_one, {w.child("a"), std::move(inner)}));
  ASSERT_FALSE(root.ok());
  EXPECT_EQ(root.failure().sentence, "node/core/c could not be started: no room for c");
  EXPECT_EQ(w.lines.take(), (lines{"+a", "+b", "!c", "-b", "-a"}));
}

TEST_F(guardian_test, names_that_are_none_or_stand_twice_are_refused) {
  for (const auto& names : std::vector<std::vector<std::string>>{{"a", "a"}, {"a", ""}, {"a", "b/c"}}) {
    std::vector<child_spec> children;
    for (const auto& name : names) children.push_back(w.child(name));
    const auto root = start(spec("node", restart_strategy::one_for_one, std::move(children)));
    ASSERT_FALSE(root.ok());
    EXPECT_EQ(root.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
    EXPECT_EQ(w.lines.take(), (lines{"+a", "-a"}));
  }
  EXPECT_FALSE(start(spec("", restart_strategy::one_for_one, {})).ok());
}

TEST_F(guardian_test, a_crash_on_another_thread_is_answered_by_a_restart) {
  auto root = start(spec("node", restart_strategy::one_for_one, {w.child("a")}));
  ASSERT_TRUE(root.ok());
  w.lines.take();
  w.order("a", "throw x");
  EXPECT_TRUE(w.lines.wait_for("+a"));
  EXPECT_TRUE(stop_guardian(w.world, *root, seconds{20}));
  EXPECT_EQ(w.lines.take(), (lines{"-a", "+a", "-a"}));
}

TEST_F(guardian_test, one_that_hangs_in_its_handler_is_waited_for_no_longer_than_twice_its_time_and_then_all_ends) {
  auto inner = guardian_child(w.world, "node", spec("core", restart_strategy::one_for_all, {hanging("store"), w.child("scheduler")}));
  auto root = start(spec("node", restart_strategy::one_for_one, {w.child("first"), std::move(inner)}));
  ASSERT_TRUE(root.ok());
  w.order("store", "work");
  ASSERT_TRUE(w.lines.wait_for("hangs"));
  w.order("scheduler", "throw x");
  ASSERT_TRUE(w.lines.wait_for("given up"));
  const auto why = given_up.get_future().get();
  EXPECT_NE(why.find("node/core/store has not ended within 30ms, nor after it was killed"), std::string::npos) << why;
  // No second store beside the one that hangs, neither by its guardian nor by the one above.
  EXPECT_EQ(w.lines.read(), (lines{"+first", "+store", "+scheduler", "hangs", "-scheduler", "-first", "given up"}));
  let_go.set_value();
}

TEST_F(guardian_test, a_stop_says_when_something_had_to_be_killed) {
  auto stubborn = w.child("a", restart_kind::permanent, true);
  stubborn.shutdown = milliseconds{20};
  auto root = start(spec("node", restart_strategy::one_for_one, {std::move(stubborn), w.child("b")}));
  ASSERT_TRUE(root.ok());
  EXPECT_FALSE(stop_guardian(w.world, *root, seconds{20}));
  EXPECT_EQ(w.lines.take(), (lines{"+a", "+b", "-b", "-a"}));
}

TEST_F(guardian_test, a_stop_that_takes_too_long_kills_what_is_left) {
  auto inner = guardian_child(w.world, "node", spec("core", restart_strategy::one_for_one, {w.child("a", restart_kind::permanent, true)}));
  auto root = start(spec("node", restart_strategy::one_for_one, {std::move(inner), w.child("b")}));
  ASSERT_TRUE(root.ok());
  EXPECT_FALSE(stop_guardian(w.world, *root, milliseconds{50}));
  EXPECT_TRUE(w.lines.wait_for("-a"));
}

TEST_F(guardian_test, the_words_of_a_reason_are_those_for_people) {
  EXPECT_EQ(reason_text(system, caf::error{}), "it has ended by itself");
  EXPECT_EQ(reason_text(system, caf::exit_reason::kill), "it was killed");
  EXPECT_EQ(reason_text(system, caf::exit_reason::user_shutdown), "it was told to stop");
  EXPECT_EQ(reason_text(system, caf::make_error(caf::sec::runtime_error, "the \"disk\" is gone")), "the \"disk\" is gone");
  EXPECT_NE(reason_text(system, caf::sec::request_timeout).find("request_timeout"), std::string::npos);
}

}  // namespace
}  // namespace fairlead
