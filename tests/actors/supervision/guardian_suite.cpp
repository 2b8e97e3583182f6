// Guardians over actors that run only when the test lets them: what is stopped and started, in which order, and what is said of it.

#define CAF_SUITE guardian_suite

#include <caf/test/dsl.hpp>

#include "tests/actors/supervision/guardian_world.hpp"

using namespace fairlead;
using std::chrono::seconds;

namespace {

using lines = std::vector<std::string>;
using core::restart_kind;
using core::restart_strategy;

struct fixture : test_coordinator_fixture<> {
  testing::guardian_world_of_tests w{sys};
  guardian_actor root;

  ~fixture() override {
    if (root) caf::anon_send_exit(root, caf::exit_reason::user_shutdown);
    consume_messages();
    // Whoever has to be killed in a test that failed is, too.
    for (int i = 0; i < 20; ++i) sleep(seconds{10});
    root = nullptr;
  }

  /// CAF's clock, which the reminders go by.
  void sleep(duration time) {
    advance_time(time);
    consume_messages();
  }

  guardian_spec spec(const std::string& id, restart_strategy strategy, std::vector<child_spec> children) {
    guardian_spec out;
    out.id = id;
    out.policy.strategy = strategy;
    out.policy.restarts = 2;
    out.policy.within = seconds{10};
    out.children = std::move(children);
    return out;
  }

  void start(guardian_spec what) {
    auto made = start_guardian(w.world, std::move(what), w.on_given_up());
    CAF_REQUIRE(made.ok());
    root = *made;
    consume_messages();
  }

  void start_three(restart_strategy strategy) {
    start(spec("node", strategy, {w.child("a"), w.child("b"), w.child("c")}));
    CAF_CHECK_EQUAL(w.lines.take(), (lines{"+a", "+b", "+c"}));
  }

  void order(const std::string& name, const std::string& what) {
    w.order(name, what);
    consume_messages();
  }

  void end(const guardian_actor& which) {
    caf::anon_send_exit(which, caf::exit_reason::user_shutdown);
    consume_messages();
  }

  std::string add(const guardian_actor& whom, child_spec what) {
    auto waiting = self->request(whom, caf::infinite, add_child{std::move(what)});
    consume_messages();
    std::string out;
    waiting.receive([&](std::string& got) { out = std::move(got); }, [&](const caf::error& why) { out = sys.render(why); });
    return out;
  }

  // By value: the checks keep what they are given.
  std::string path_of(const std::string& path) const { return w.shown(path).path(); }
  std::string state_of(const std::string& path) const { return w.shown(path).state(); }
  std::string reason_of(const std::string& path) const { return w.shown(path).last_reason(); }
  std::string strategy_of(const std::string& path) const { return w.shown(path).strategy(); }

  void plant(const std::string& path) {
    CAF_CHECK(w.tree.plant_crash(path));
    consume_messages();
  }
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(guardian_tests, fixture)

CAF_TEST(one_for_one_starts_the_one_that_crashed_and_leaves_the_others_alone) {
  start_three(restart_strategy::one_for_one);
  order("b", "throw out of luck");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b", "+b"}));
  const auto shown = w.shown("node/b");
  CAF_CHECK_EQUAL(shown.state(), "running");
  CAF_CHECK_EQUAL(shown.restarts(), 1U);
  CAF_CHECK_EQUAL(shown.last_reason(), "internal error in the worker: out of luck");
  CAF_CHECK_EQUAL(w.shown("node/a").restarts(), 0U);
  CAF_CHECK_EQUAL(w.log.count(note_level::warning, {"node/b", "out of luck", "once", "2 allowed"}), 1);
  order("b", "throw again");
  CAF_CHECK_EQUAL(w.log.count(note_level::warning, {"node/b", "again", "2 times"}), 1);
  CAF_CHECK_EQUAL(w.tree.restarts(), 2U);
}

CAF_TEST(one_for_all_stops_the_others_in_reverse_and_starts_all_in_order_once_all_have_ended) {
  start_three(restart_strategy::one_for_all);
  order("b", "throw x");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b", "-c", "-a", "+a", "+b", "+c"}));
  CAF_CHECK_EQUAL(w.shown("node/a").restarts(), 1U);
}

CAF_TEST(rest_for_one_takes_along_what_was_started_later) {
  start_three(restart_strategy::rest_for_one);
  order("b", "throw x");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b", "-c", "+b", "+c"}));
}

CAF_TEST(each_kind_comes_back_as_it_should) {
  start(spec("node", restart_strategy::one_for_one,
             {w.child("p"), w.child("t", restart_kind::transient), w.child("once", restart_kind::temporary)}));
  w.lines.take();
  order("p", "quit");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-p", "+p"}));
  order("t", "fail no good");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-t", "+t"}));
  order("t", "quit");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-t"}));
  order("once", "fail as well");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-once"}));
  CAF_CHECK_EQUAL(state_of("node/t"), "stopped");
  CAF_CHECK_EQUAL(reason_of("node/once"), "as well");
  CAF_CHECK(w.given_up.empty());
}

CAF_TEST(one_that_ended_for_good_stays_away_when_its_group_is_started_again) {
  start(spec("node", restart_strategy::one_for_all, {w.child("a"), w.child("t", restart_kind::transient)}));
  order("t", "quit");
  w.lines.take();
  order("a", "throw x");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-a", "+a"}));
}

CAF_TEST(too_many_restarts_within_the_window_end_everything_in_reverse_and_say_why) {
  start_three(restart_strategy::one_for_one);
  for (int i = 0; i < 6; ++i) {
    order("b", "throw now and then");
    w.time.pass(seconds{6});
  }
  CAF_CHECK(w.given_up.empty());
  w.time.pass(seconds{11});
  for (int i = 0; i < 2; ++i) order("b", "throw too often");
  w.lines.take();
  CAF_CHECK(w.given_up.empty());
  order("b", "throw too often");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b", "-c", "-a"}));
  CAF_REQUIRE_EQUAL(w.given_up.size(), 1U);
  for (const auto* word : {"node/b", "3 times", "10s", "too often"}) CAF_CHECK(w.given_up[0].find(word) != std::string::npos);
  CAF_CHECK_EQUAL(w.log.count(note_level::error, {"node has given up", "node/b"}), 1);
  CAF_CHECK_EQUAL(state_of("node"), "given_up");
  CAF_CHECK_EQUAL(state_of("node/b"), "given_up");
}

CAF_TEST(a_branch_that_gives_up_is_started_again_by_the_one_above_until_that_gives_up_too) {
  auto inner = guardian_child(w.world, "node", spec("core", restart_strategy::one_for_one, {w.child("a"), w.child("b")}));
  start(spec("node", restart_strategy::one_for_one, {w.child("first"), std::move(inner)}));
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"+first", "+a", "+b"}));
  CAF_CHECK_EQUAL(strategy_of("node/core"), "one_for_one");
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) order("a", "throw broken for good");
    CAF_CHECK_EQUAL(w.lines.take(), (lines{"-a", "+a", "-a", "+a", "-a", "-b", "+a", "+b"}));
    CAF_CHECK(w.given_up.empty());
  }
  CAF_CHECK_EQUAL(w.shown("node/core").restarts(), 2U);
  CAF_CHECK(reason_of("node/core").find("broken for good") != std::string::npos);
  for (int i = 0; i < 3; ++i) order("a", "throw broken for good");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-a", "+a", "-a", "+a", "-a", "-b", "-first"}));
  CAF_REQUIRE_EQUAL(w.given_up.size(), 1U);
  for (const auto* word : {"node/core", "node/core/a", "broken for good"}) CAF_CHECK(w.given_up[0].find(word) != std::string::npos);
}

CAF_TEST(a_child_that_does_not_end_is_killed_when_its_time_is_over) {
  auto stubborn = w.child("a", restart_kind::permanent, true);
  stubborn.shutdown = seconds{3};
  start(spec("node", restart_strategy::one_for_all, {std::move(stubborn), w.child("b")}));
  w.lines.take();
  order("b", "throw x");
  sleep(seconds{2});
  // Nobody is started beside one that still lives.
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b"}));
  CAF_CHECK_EQUAL(state_of("node/b"), "restarting");
  sleep(seconds{2});
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-a", "+a", "+b"}));
  CAF_CHECK_EQUAL(w.log.count(note_level::warning, {"node/a", "3s", "killed"}), 1);
}

CAF_TEST(an_orderly_stop_goes_in_reverse_through_the_branches_and_waits_for_each) {
  auto inner = guardian_child(w.world, "node",
                              spec("core", restart_strategy::one_for_all, {w.child("b", restart_kind::permanent, true), w.child("c")}));
  start(spec("node", restart_strategy::one_for_one, {w.child("a"), std::move(inner), w.child("d")}));
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"+a", "+b", "+c", "+d"}));
  end(root);
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-d", "-c"}));
  sleep(seconds{6});
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b", "-a"}));
  for (const auto& one : w.tree.describe()) CAF_CHECK_EQUAL(state_of(one.path()), "stopped");
  CAF_CHECK(w.given_up.empty());
}

CAF_TEST(a_second_crash_in_the_middle_of_a_restart_becomes_part_of_it) {
  start(spec("node", restart_strategy::rest_for_one, {w.child("a"), w.child("b"), w.child("c", restart_kind::permanent, true)}));
  w.lines.take();
  order("b", "throw x");
  order("a", "throw y");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b", "-a"}));
  sleep(seconds{6});
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-c", "+a", "+b", "+c"}));
}

CAF_TEST(a_stable_address_keeps_requests_during_a_restart_and_answers_them_with_an_error_when_all_is_over) {
  const auto address = std::make_shared<stable_address>(sys);
  auto scheduler = w.child("scheduler");
  scheduler.address = address;
  start(spec("node", restart_strategy::one_for_all, {w.child("store", restart_kind::permanent, true), std::move(scheduler)}));
  const auto ask = [&] { return self->request(address->as<testing::worker_actor>(), caf::infinite, caf::get_atom_v); };
  const auto take = [&](auto& waiting) {
    int out = 0;
    waiting.receive([&](int number) { out = number; }, [&](const caf::error&) { out = -1; });
    return out;
  };
  auto before = ask();
  consume_messages();
  CAF_CHECK_EQUAL(take(before), 1);
  order("scheduler", "throw x");
  auto during = ask();
  consume_messages();
  CAF_CHECK(self->mailbox().empty());
  sleep(seconds{6});
  CAF_CHECK_EQUAL(take(during), 2);
  end(root);
  sleep(seconds{6});
  auto after = ask();
  CAF_CHECK_EQUAL(take(after), -1);
}

CAF_TEST(an_address_below_a_branch_that_is_started_again_stays_open_and_is_closed_with_the_root) {
  const auto address = std::make_shared<stable_address>(sys);
  auto leaf = w.child("leaf");
  leaf.address = address;
  start(spec("node", restart_strategy::one_for_one,
             {guardian_child(w.world, "node", spec("core", restart_strategy::one_for_one, {std::move(leaf)}))}));
  const auto ask = [&] {
    auto waiting = self->request(address->as<testing::worker_actor>(), caf::infinite, caf::get_atom_v);
    consume_messages();
    int out = 0;
    waiting.receive([&](int number) { out = number; }, [&](const caf::error&) { out = -1; });
    return out;
  };
  CAF_CHECK_EQUAL(ask(), 1);
  plant("node/core");
  CAF_CHECK_EQUAL(ask(), 2);
  end(root);
  CAF_CHECK_EQUAL(ask(), -1);
}

CAF_TEST(a_planted_crash_restarts_its_child_and_the_tree_shows_reason_and_count) {
  start_three(restart_strategy::one_for_one);
  plant("node/b");
  order("b", "anything");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b", "+b"}));
  CAF_CHECK_EQUAL(w.shown("node/b").restarts(), 1U);
  CAF_CHECK_EQUAL(reason_of("node/b"), "internal error in the worker: an exception that a drill has planted");
}

CAF_TEST(a_guardian_that_crashes_takes_its_children_along_and_the_one_above_starts_the_whole_branch_again) {
  auto inner = guardian_child(w.world, "node",
                              spec("core", restart_strategy::one_for_one, {w.child("a", restart_kind::permanent, true), w.child("b")}));
  start(spec("node", restart_strategy::one_for_one, {std::move(inner), w.child("c")}));
  w.lines.take();
  plant("node/core");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b"}));
  sleep(seconds{6});
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-a", "+a", "+b"}));
  CAF_CHECK_EQUAL(w.shown("node/core").restarts(), 1U);
  CAF_CHECK_EQUAL(state_of("node/core"), "running");
  CAF_CHECK(reason_of("node/core").find("an exception that a drill has planted") != std::string::npos);
  CAF_CHECK(w.given_up.empty());
  order("a", "throw x");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-a", "+a"}));
}

CAF_TEST(a_guardian_that_crashes_over_the_end_of_a_child_does_not_wait_for_that_end) {
  auto inner = guardian_child(w.world, "node", spec("core", restart_strategy::one_for_one, {w.child("a"), w.child("b")}));
  start(spec("node", restart_strategy::one_for_one, {std::move(inner), w.child("c")}));
  w.lines.take();
  w.order("a", "throw x");
  sched.run_once();
  CAF_CHECK_EQUAL(w.lines.take(), lines{"-a"});
  // The news is on its way by now, and meets the exception.
  plant("node/core");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b", "+a", "+b"}));
  CAF_CHECK(w.given_up.empty());
}

CAF_TEST(a_root_that_crashes_stops_everything_and_says_so) {
  start_three(restart_strategy::one_for_one);
  plant("node");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-c", "-b", "-a"}));
  CAF_REQUIRE_EQUAL(w.given_up.size(), 1U);
  CAF_CHECK(w.given_up[0].find("an exception that a drill has planted") != std::string::npos);
}

CAF_TEST(a_guardian_that_is_killed_takes_along_all_that_hangs_below_it) {
  auto inner = guardian_child(w.world, "node", spec("core", restart_strategy::one_for_one, {w.child("a", restart_kind::permanent, true)}));
  start(spec("node", restart_strategy::one_for_one, {std::move(inner), w.child("b")}));
  w.lines.take();
  caf::anon_send_exit(root, caf::exit_reason::kill);
  consume_messages();
  auto ended = w.lines.take();
  std::sort(ended.begin(), ended.end());
  CAF_CHECK_EQUAL(ended, (lines{"-a", "-b"}));
}

CAF_TEST(a_start_that_fails_counts_as_a_crash_and_is_tried_again) {
  for (const auto by_exception : {false, true}) {
    w.throws = by_exception;
    start_three(restart_strategy::one_for_one);
    w.refusals["b"] = 1;
    order("b", "throw x");
    CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b", "!b", "+b"}));
    CAF_CHECK_EQUAL(reason_of("node/b"), "node/b could not be started: no room for b");
    CAF_CHECK(w.given_up.empty());
    w.refusals["b"] = 100;
    order("b", "throw x");
    CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b", "-c", "-a"}));
    CAF_REQUIRE_EQUAL(w.given_up.size(), 1U);
    w.given_up.clear();
    w.refusals.clear();
    w.time.pass(seconds{60});
  }
}

CAF_TEST(a_branch_that_cannot_be_started_again_escalates) {
  auto inner = guardian_child(w.world, "node", spec("core", restart_strategy::one_for_one, {w.child("a"), w.child("b")}));
  start(spec("node", restart_strategy::one_for_one, {std::move(inner)}));
  w.lines.take();
  w.refusals["b"] = 1;
  plant("node/core");
  // The first try leaves nothing of itself behind.
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b", "-a", "+a", "!b", "-a", "+a", "+b"}));
  CAF_CHECK_EQUAL(w.shown("node/core").restarts(), 2U);
  CAF_CHECK(w.given_up.empty());
}

CAF_TEST(a_child_that_is_added_is_the_last_and_is_guarded_like_the_others) {
  start(spec("node", restart_strategy::one_for_all, {w.child("a")}));
  CAF_CHECK_EQUAL(add(root, w.child("b")), "");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"+a", "+b"}));
  order("a", "throw x");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-a", "-b", "+a", "+b"}));
  CAF_CHECK(add(root, w.child("b")).find("node/b") != std::string::npos);
  CAF_CHECK(add(root, w.child("no/good")).find("no/good") != std::string::npos);
  w.refusals["c"] = 1;
  CAF_CHECK_EQUAL(add(root, w.child("c")), "node/c could not be started: no room for c");
  CAF_CHECK_EQUAL(path_of("node/c"), "");
  CAF_CHECK_EQUAL(add(root, w.child("c")), "");
  end(root);
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"!c", "+c", "-c", "-b", "-a"}));
}

CAF_TEST(a_child_that_was_added_to_a_branch_comes_back_with_it) {
  guardian_actor inner_now;
  auto inner = guardian_child(w.world, "node", spec("core", restart_strategy::one_for_one, {w.child("a")}));
  inner.start = [&inner_now, start = inner.start] {
    auto made = start();
    inner_now = caf::actor_cast<guardian_actor>(*made);
    return made;
  };
  start(spec("node", restart_strategy::one_for_one, {std::move(inner)}));
  CAF_CHECK_EQUAL(add(inner_now, w.child("b")), "");
  CAF_CHECK_EQUAL(add(inner_now, w.child("once", restart_kind::temporary)), "");
  w.lines.take();
  plant("node/core");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-once", "-b", "-a", "+a", "+b"}));
}

CAF_TEST(one_that_was_added_for_once_leaves_the_tree_and_its_name_when_it_ends) {
  start(spec("node", restart_strategy::one_for_one, {w.child("a")}));
  CAF_CHECK_EQUAL(add(root, w.child("once", restart_kind::temporary)), "");
  CAF_CHECK_EQUAL(state_of("node/once"), "running");
  order("once", "quit");
  CAF_CHECK_EQUAL(path_of("node/once"), "");
  CAF_CHECK_EQUAL(add(root, w.child("once", restart_kind::temporary)), "");
  CAF_CHECK_EQUAL(state_of("node/once"), "running");
}

CAF_TEST(a_child_that_may_leave_is_forgotten_when_it_ends_by_itself_and_started_again_when_it_crashes) {
  auto leaver = w.child("b");
  leaver.may_leave = true;
  guardian_actor inner_now;
  auto inner = guardian_child(w.world, "node", spec("core", restart_strategy::one_for_one, {w.child("a"), leaver}));
  inner.start = [&inner_now, start = inner.start] {
    auto made = start();
    inner_now = caf::actor_cast<guardian_actor>(*made);
    return made;
  };
  start(spec("node", restart_strategy::one_for_one, {std::move(inner)}));
  w.lines.take();
  order("b", "throw by accident");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b", "+b"}));
  order("b", "quit");
  CAF_CHECK_EQUAL(path_of("node/core/b"), "");
  w.lines.take();
  plant("node/core");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-a", "+a"}));
  CAF_CHECK_EQUAL(add(inner_now, w.child("b")), "");
}

CAF_TEST(a_child_that_is_added_in_the_middle_of_a_restart_waits_for_its_end) {
  start(spec("node", restart_strategy::one_for_all, {w.child("a", restart_kind::permanent, true), w.child("b")}));
  w.lines.take();
  order("b", "throw x");
  auto waiting = self->request(root, caf::infinite, add_child{w.child("c")});
  consume_messages();
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b"}));
  sleep(seconds{6});
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-a", "+a", "+b", "+c"}));
  std::string answer = "none";
  waiting.receive([&](std::string& got) { answer = std::move(got); }, [&](const caf::error& why) { answer = sys.render(why); });
  CAF_CHECK_EQUAL(answer, "");
}

// `w.child(…, true)`: it ends only when it is killed.
CAF_TEST(a_child_is_removed_for_good_however_it_ends_and_its_name_is_free_then) {
  start(spec("node", restart_strategy::one_for_one, {w.child("a"), w.child("b", restart_kind::permanent, true)}));
  const auto remove = [&](const std::string& id) {
    auto waiting = self->request(root, caf::infinite, remove_child{id});
    consume_messages();
    sleep(seconds{6});
    std::string answer = "none";
    waiting.receive([&](std::string& got) { answer = std::move(got); }, [&](const caf::error& why) { answer = sys.render(why); });
    return answer;
  };
  w.lines.take();
  CAF_CHECK_EQUAL(remove("b"), "");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-b"}));
  CAF_CHECK_EQUAL(path_of("node/b"), "");
  CAF_CHECK_EQUAL(remove("b"), "node/b does not run");
  CAF_CHECK_EQUAL(add(root, w.child("b")), "");
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"+b"}));
}

CAF_TEST(what_is_asked_while_a_child_is_removed_waits_for_its_end) {
  start(spec("node", restart_strategy::one_for_all, {w.child("a"), w.child("b", restart_kind::permanent, true)}));
  w.lines.take();
  auto removed = self->request(root, caf::infinite, remove_child{"b"});
  consume_messages();
  order("a", "throw x");
  auto added = self->request(root, caf::infinite, add_child{w.child("b")});
  consume_messages();
  sleep(seconds{6});
  CAF_CHECK_EQUAL(w.lines.take(), (lines{"-a", "-b", "+a", "+b"}));
  for (auto* waiting : {&removed, &added}) {
    std::string answer = "none";
    waiting->receive([&](std::string& got) { answer = std::move(got); }, [&](const caf::error& why) { answer = sys.render(why); });
    CAF_CHECK_EQUAL(answer, "");
  }
}

CAF_TEST(an_actor_that_no_guardian_has_started_is_counted_while_it_lives) {
  const auto before = outside_actors().load();
  start_three(restart_strategy::one_for_one);
  CAF_CHECK_EQUAL(outside_actors().load(), before);
  auto outside = sys.spawn(testing::run_worker, testing::worker_setup{});
  consume_messages();
  CAF_CHECK_EQUAL(outside_actors().load(), before + 1);
  caf::anon_send_exit(outside, caf::exit_reason::user_shutdown);
  consume_messages();
  outside = nullptr;
  CAF_CHECK_EQUAL(outside_actors().load(), before);
}

CAF_TEST(the_tree_counts_what_each_actor_handles) {
  start_three(restart_strategy::one_for_one);
  const auto before = w.shown("node/a").handled();
  for (int i = 0; i < 3; ++i) order("a", "nothing");
  CAF_CHECK_EQUAL(w.shown("node/a").handled(), before + 3);
  CAF_CHECK_EQUAL(w.shown("node/a").actor_id(), w.now.at("a")->id());
}

CAF_TEST_FIXTURE_SCOPE_END()
