// Workers over HTTP: incarnations and sessions, tickets, attempts that are given back.

#include "messages/tickets.hpp"
#include "store/rows/worker_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

constexpr std::int64_t day_of_ms = 86'400'000;

class scheduler_workers_test : public scheduler_fixture {
 protected:
  scheduler_workers_test() { deploy(workflow_of({step("a")})); }

  static v1::WorkerSessionRequest beginning(const std::string& instance) {
    v1::WorkerSessionRequest out;
    out.set_name("svc");
    out.set_instance(instance);
    out.set_who("anna");
    return out;
  }
  static v1::WorkerSessionRequest taking_over(const std::string& instance, bool vouched = false) {
    auto out = beginning(instance);
    out.set_take_over(true);
    out.set_vouched(vouched);
    return out;
  }
  static v1::WorkerSessionRequest keyed(v1::WorkerSessionRequest what, const std::string& key) {
    what.set_key(key);
    return what;
  }
  static v1::WorkerSessionRequest going_on(const std::string& instance, const std::string& session) {
    auto out = beginning(instance);
    out.set_session(session);
    return out;
  }

  v1::WorkerSessionReply ask(const v1::WorkerSessionRequest& what) {
    const auto ticket = next_ticket++;
    node->shell.answer(what, ticket);
    node->settle();
    return out.sessions.at(ticket);
  }
  v1::ErrorCode code_of(const v1::WorkerSessionRequest& what) { return ask(what).error().code(); }

  static v1::RegisterAgent worker(const std::string& instance, const v1::WorkerSessionReply& as, std::uint32_t capacity = 1) {
    auto out = agent(instance, capacity, as.incarnation());
    out.set_kind(std::string{worker_kind});
    out.set_session(as.session());
    return out;
  }
  v1::AgentWelcome registered(const v1::RegisterAgent& what, bool reconnected = false) {
    incarnations_[what.instance()] = std::max(incarnations_[what.instance()], what.incarnation());
    auto welcome = node->shell.add_agent(what, reconnected);
    node->settle();
    return welcome;
  }
  /// A session and a registration; the reply to the first.
  v1::WorkerSessionReply present(const std::string& instance, std::uint32_t capacity = 1) {
    auto reply = ask(beginning(instance));
    EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_OK) << reply.error().sentence();
    EXPECT_EQ(registered(worker(instance, reply, capacity)).error().code(), v1::ERROR_CODE_OK);
    return reply;
  }
  void leave(const std::string& instance, const v1::WorkerSessionReply& as) {
    auto what = worker(instance, as, 0);
    what.set_draining(true);
    what.set_leaving(true);
    what.set_revision(1);
    registered(what);
    node->shell.agent_away(instance, as.incarnation(), "it has ended");
    node->settle();
  }

  std::map<std::string, v1::WorkerRecord> rows() {
    std::map<std::string, v1::WorkerRecord> out;
    const auto done = store::for_each_worker(*store.read(), [&](std::string_view instance, const v1::WorkerRecord& one) {
      out.emplace(instance, one);
      return true;
    });
    EXPECT_TRUE(done.ok());
    return out;
  }
};

TEST_F(scheduler_workers_test, have_an_incarnation_that_is_durable_before_the_answer) {
  node->shell.answer(beginning("w/1"), next_ticket);
  node->shell.flush();
  EXPECT_TRUE(out.sessions.empty());
  ASSERT_TRUE(node->commit_one());
  ASSERT_EQ(out.sessions.size(), 1U);
  const auto reply = out.sessions.at(next_ticket);
  EXPECT_EQ(reply.incarnation(), static_cast<std::uint64_t>(start_ms));
  EXPECT_EQ(rows().at("w/1").incarnation(), reply.incarnation());
  EXPECT_EQ(rows().at("w/1").agent(), "svc");
  const auto session = read_session(reply.session());
  ASSERT_TRUE(session);
  EXPECT_EQ(session->agent, "svc");
  EXPECT_EQ(session->instance, "w/1");
  EXPECT_EQ(session->incarnation, reply.incarnation());
}

TEST_F(scheduler_workers_test, get_higher_incarnations_even_when_the_clock_is_set_back) {
  const auto first = ask(beginning("w/1"));
  time.jump(-day_of_ms);
  const auto second = ask(taking_over("w/1"));
  EXPECT_EQ(second.incarnation(), first.incarnation() + 1);
  restart();
  const auto third = ask(taking_over("w/1"));
  EXPECT_EQ(third.incarnation(), second.incarnation() + 1);
  EXPECT_EQ(ask(beginning("w/2")).incarnation(), static_cast<std::uint64_t>(time.now_ms)) << "another instance has its own";
}

TEST_F(scheduler_workers_test, do_not_take_the_name_of_one_that_may_live) {
  present("w/1");
  const auto refused = ask(beginning("w/1"));
  EXPECT_EQ(refused.error().code(), v1::ERROR_CODE_CONFLICT);
  EXPECT_NE(refused.error().sentence().find("Another process is registered as worker instance w/1"), std::string::npos);
  EXPECT_TRUE(refused.session().empty());
  restart();
  EXPECT_EQ(code_of(beginning("w/1")), v1::ERROR_CODE_CONFLICT) << "it may register again in a moment";
  add_agent(agent("n1/svc"));
  EXPECT_EQ(code_of(taking_over("n1/svc", true)), v1::ERROR_CODE_CONFLICT) << "it is no worker";
}

TEST_F(scheduler_workers_test, are_taken_over_once_they_are_away_or_somebody_vouches) {
  const auto first = present("w/1");
  EXPECT_EQ(code_of(taking_over("w/1")), v1::ERROR_CODE_CONFLICT) << "it was heard lately";
  const auto vouched = ask(taking_over("w/1", true));
  EXPECT_EQ(vouched.error().code(), v1::ERROR_CODE_OK);
  EXPECT_GT(vouched.incarnation(), first.incarnation());
  EXPECT_EQ(registered(worker("w/1", vouched)).error().code(), v1::ERROR_CODE_OK);
  node->shell.agent_away("w/1", vouched.incarnation(), "it has ended");
  EXPECT_EQ(code_of(beginning("w/1")), v1::ERROR_CODE_CONFLICT) << "it is away, and may be at work for other shards";
  EXPECT_GT(ask(taking_over("w/1")).incarnation(), vouched.incarnation());
}

TEST_F(scheduler_workers_test, get_the_same_session_for_a_copy_of_the_request_that_began_it) {
  const auto first = ask(keyed(beginning("w1"), "k1"));
  EXPECT_EQ(registered(worker("w1", first)).error().code(), v1::ERROR_CODE_OK);
  const auto copy = ask(keyed(beginning("w1"), "k1"));
  EXPECT_EQ(copy.error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(copy.session(), first.session());
  EXPECT_EQ(code_of(keyed(beginning("w1"), "k2")), v1::ERROR_CODE_CONFLICT);
  EXPECT_EQ(code_of(beginning("w1")), v1::ERROR_CODE_CONFLICT);
  auto of_another = keyed(beginning("w1"), "k1");
  of_another.set_who("ben");
  EXPECT_EQ(code_of(of_another), v1::ERROR_CODE_CONFLICT);
  // A copy that comes late takes nothing over.
  const auto later = ask(keyed(taking_over("w1", true), "k3"));
  EXPECT_GT(later.incarnation(), first.incarnation());
  EXPECT_EQ(ask(keyed(taking_over("w1", true), "k3")).incarnation(), later.incarnation());
}

TEST_F(scheduler_workers_test, are_refused_under_the_key_of_another_registration) {
  const auto saying = [](v1::WorkerSessionRequest what, const std::string& digest) {
    what.set_digest(digest);
    return what;
  };
  const auto first = ask(saying(keyed(beginning("w1"), "k1"), "one"));
  restart();
  EXPECT_EQ(ask(saying(keyed(beginning("w1"), "k1"), "one")).session(), first.session());
  const auto other = ask(saying(keyed(beginning("w1"), "k1"), "other"));
  EXPECT_EQ(other.error().code(), v1::ERROR_CODE_KEY_REUSED);
  EXPECT_TRUE(other.session().empty());
  EXPECT_EQ(code_of(saying(keyed(taking_over("w1", true), "k1"), "other")), v1::ERROR_CODE_KEY_REUSED) << "nor does it take over";
  EXPECT_EQ(rows().at("w1").incarnation(), first.incarnation());
  EXPECT_EQ(ask(keyed(beginning("w1"), "k1")).session(), first.session()) << "a gateway of an earlier release knows no digest";
  EXPECT_EQ(code_of(saying(keyed(going_on("w1", first.session()), "k1"), "other")), v1::ERROR_CODE_OK)
      << "a session that goes on begins nothing";
  registered(worker("w1", first));
  leave("w1", first);
  EXPECT_EQ(code_of(saying(keyed(beginning("w1"), "k1"), "other")), v1::ERROR_CODE_OK) << "the session of the key has ended";
}

TEST_F(scheduler_workers_test, give_their_name_back_when_they_leave) {
  const auto first = present("w/1");
  leave("w/1", first);
  EXPECT_TRUE(rows().at("w/1").left());
  restart();
  EXPECT_GT(ask(beginning("w/1")).incarnation(), first.incarnation());
  EXPECT_FALSE(rows().at("w/1").left());
}

TEST_F(scheduler_workers_test, give_their_name_back_when_the_last_attempt_of_one_that_leaves_has_ended) {
  const auto first = present("w/1");
  submit(submission("t1"));
  ASSERT_EQ(out.performs.size(), 1U);
  leave("w/1", first);
  EXPECT_FALSE(rows().at("w/1").left()) << "it holds an attempt";
  answer(success(out.performs[0].what), "w/1");
  EXPECT_TRUE(rows().at("w/1").left());
}

TEST_F(scheduler_workers_test, go_on_with_a_session_under_the_same_incarnation) {
  const auto first = present("w/1");
  node->shell.agent_away("w/1", first.incarnation(), "its node has ended");
  restart();
  const auto again = ask(going_on("w/1", first.session()));
  EXPECT_EQ(again.error().code(), v1::ERROR_CODE_OK) << again.error().sentence();
  EXPECT_EQ(again.incarnation(), first.incarnation());
  EXPECT_EQ(again.session(), first.session());
  leave("w/1", first);
  EXPECT_EQ(ask(going_on("w/1", first.session())).incarnation(), first.incarnation());
  EXPECT_FALSE(rows().at("w/1").left());
}

TEST_F(scheduler_workers_test, go_on_with_no_session_but_their_own) {
  const auto one = ask(beginning("w/1")).session();
  ask(beginning("w/2"));
  EXPECT_EQ(code_of(going_on("w/2", one)), v1::ERROR_CODE_FORBIDDEN);
  auto of_another_agent = going_on("w/1", one);
  of_another_agent.set_name("other");
  EXPECT_EQ(code_of(of_another_agent), v1::ERROR_CODE_FORBIDDEN);
  EXPECT_EQ(code_of(going_on("w/1", "nonsense")), v1::ERROR_CODE_FORBIDDEN);
  EXPECT_EQ(code_of(going_on("w/1", make_session(std::string(32, 'x'), 0, "svc", "w/1", start_ms))), v1::ERROR_CODE_FORBIDDEN);
  EXPECT_EQ(code_of(going_on("w/3", make_session(work_key, 0, "svc", "w/3", 1))), v1::ERROR_CODE_FORBIDDEN) << "no such instance";
  EXPECT_EQ(code_of(going_on("w/1", one)), v1::ERROR_CODE_OK);
  ask(taking_over("w/1"));
  EXPECT_EQ(code_of(going_on("w/1", one)), v1::ERROR_CODE_CONFLICT) << "a later process has the name";
}

TEST_F(scheduler_workers_test, register_with_a_session_that_counts) {
  const auto first = present("w/1");
  auto wrong = worker("w/1", first);
  wrong.set_incarnation(first.incarnation() + 1);
  EXPECT_TRUE(registered(wrong).superseded());
  wrong = worker("w/2", first);
  EXPECT_EQ(registered(wrong).error().code(), v1::ERROR_CODE_FORBIDDEN);
  ask(taking_over("w/1", true));
  const auto refused = registered(worker("w/1", first));
  EXPECT_EQ(refused.error().code(), v1::ERROR_CODE_CONFLICT);
  EXPECT_TRUE(refused.superseded()) << "although the later process has not registered yet";
  auto elsewhere = worker("w/9", first);
  elsewhere.set_session(make_session("?", 1, "svc", "w/9", first.incarnation()));
  EXPECT_EQ(registered(elsewhere).error().code(), v1::ERROR_CODE_OK) << "a session of another shard cannot be checked here";
}

TEST_F(scheduler_workers_test, learn_that_a_later_process_or_carrier_has_registered) {
  auto first = agent("w/1", 1, 5);
  first.set_kind(std::string{worker_kind});
  first.set_revision(7);
  EXPECT_FALSE(registered(first).superseded());
  auto earlier_carrier = first;
  earlier_carrier.set_revision(6);
  EXPECT_TRUE(registered(earlier_carrier).superseded());
  auto earlier_process = first;
  earlier_process.set_incarnation(4);
  const auto refused = registered(earlier_process);
  EXPECT_TRUE(refused.superseded());
  EXPECT_NE(refused.error().code(), v1::ERROR_CODE_OK);
  auto of_another_agent = first;
  of_another_agent.set_agent("other");
  of_another_agent.set_incarnation(9);
  EXPECT_EQ(registered(of_another_agent).error().code(), v1::ERROR_CODE_CONFLICT) << "its incarnations say nothing about this one's";
}

TEST_F(scheduler_workers_test, have_sessions_of_one_lineage_of_the_shard) {
  scheduler_limits limits;
  limits.lineage.set_made_unix_ms(1);
  work_key = std::string(32, 'a');
  restart(limits);
  const auto first = ask(beginning("w/1"));
  EXPECT_TRUE(is_session_of(work_key, first.session()));
  work_key = std::string(32, 'b');
  restart(limits);
  EXPECT_EQ(code_of(going_on("w/1", first.session())), v1::ERROR_CODE_OK) << "the key stays";
  limits.lineage.set_made_unix_ms(2);
  restart(limits);
  EXPECT_EQ(code_of(going_on("w/1", first.session())), v1::ERROR_CODE_FORBIDDEN) << "whoever got it, the backup does not know";
  const auto later = ask(taking_over("w/1"));
  EXPECT_GT(later.incarnation(), first.incarnation());
  EXPECT_TRUE(is_session_of(work_key, later.session()));
}

TEST_F(scheduler_workers_test, get_no_session_where_nothing_can_be_signed) {
  work_key.clear();
  restart();
  EXPECT_EQ(code_of(beginning("w/1")), v1::ERROR_CODE_UNAVAILABLE);
}

TEST_F(scheduler_workers_test, get_a_ticket_with_each_attempt) {
  add_agent(agent("n1/svc", 1));
  submit(submission("t1"));
  const auto worker_session = present("w/1");
  submit(submission("t2"));
  ASSERT_EQ(out.performs.size(), 2U);
  EXPECT_TRUE(out.performs[0].what.ticket().empty()) << "it is no worker";
  const auto& given = out.performs[1].what;
  EXPECT_EQ(out.performs[1].instance, "w/1");
  EXPECT_TRUE(is_ticket_of(work_key, given.ticket(), "w/1", worker_session.incarnation()));
  const auto named = read_ticket(given.ticket());
  ASSERT_TRUE(named);
  EXPECT_EQ(named->task_number, given.task_number());
  EXPECT_EQ(named->step, given.step());
  EXPECT_EQ(named->attempt, given.attempt());
  EXPECT_EQ(named->direction, given.direction());
}

TEST_F(scheduler_workers_test, hand_a_ticket_out_once_its_key_is_durable) {
  auto elsewhere = agent("w/1", 1, 5);
  elsewhere.set_kind(std::string{worker_kind});
  registered(elsewhere);
  submit(submission("t1"));
  ASSERT_EQ(out.performs.size(), 1U);
  const auto key = store::load_work_key(*store.read());
  ASSERT_TRUE(key.ok() && *key);
  EXPECT_TRUE(is_ticket_of((*key)->key(), out.performs[0].what.ticket(), "w/1", 5)) << "at a shard that knows no session of it";
}

TEST_F(scheduler_workers_test, give_an_attempt_back_that_nobody_has_begun) {
  const auto first = present("w/1");
  submit(submission("t1"));
  ASSERT_EQ(out.performs.size(), 1U);
  present("w/2");
  auto no_room = worker("w/1", first, 0);
  no_room.set_revision(1);
  registered(no_room);
  auto returned = failure(out.performs[0].what, v1::FAULT_KIND_TRANSIENT, "not_begun");
  returned.set_not_begun(true);
  answer(returned, "w/2");
  EXPECT_EQ(out.performs.size(), 1U) << "only its holder gives it back";
  answer(returned, "w/1");
  ASSERT_EQ(out.performs.size(), 2U) << "at once, without a pause";
  EXPECT_EQ(out.performs[1].instance, "w/2");
  ASSERT_FALSE(out.acks.empty());
  EXPECT_TRUE(out.acks.back().second.accepted());
  answer(returned, "w/1");
  EXPECT_EQ(out.performs.size(), 2U) << "said twice";
  EXPECT_EQ(stored("t1")->steps(0).failure_count(), 0U);
  const auto now = status();
  for (const auto& one : now.agents()) EXPECT_FALSE(one.away()) << one.instance();
  answer(success(out.performs[1].what), "w/2");
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(scheduler_workers_test, give_nothing_back_that_another_host_of_theirs_may_have_passed_on) {
  const auto first = present("w/1");
  submit(submission("t1"));
  ASSERT_EQ(out.performs.size(), 1U);
  present("w/2");
  auto later_host = worker("w/1", first, 1);
  later_host.set_revision(2);
  registered(later_host, true);
  ASSERT_EQ(out.performs.size(), 2U) << "to the later host, too";
  auto returned = failure(out.performs[1].what, v1::FAULT_KIND_TRANSIENT, "not_begun");
  returned.set_not_begun(true);
  answer(returned, "w/1");
  EXPECT_EQ(out.performs.size(), 2U);
  ASSERT_FALSE(out.acks.empty());
  EXPECT_FALSE(out.acks.back().second.accepted());
  answer(success(out.performs[1].what), "w/1");
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(scheduler_workers_test, give_nothing_back_that_an_earlier_scheduler_may_have_handed_to_another_host) {
  const auto first = present("w/1");
  submit(submission("t1"));
  ASSERT_EQ(out.performs.size(), 1U);
  for (const std::int64_t lineage : {0, 7}) {
    scheduler_limits limits;
    limits.lineage.set_made_unix_ms(lineage);
    restart(limits);
    sweep();
    const auto before = out.performs.size();
    auto again = worker("w/1", first, 1);
    again.clear_session();  // sessions are of one lineage
    registered(again);
    const auto handed = out.performs.size();
    ASSERT_GT(handed, before);
    auto returned = failure(out.performs.back().what, v1::FAULT_KIND_TRANSIENT, "not_begun");
    returned.set_not_begun(true);
    auto what = from("w/1", {returned}, first.incarnation());
    *what.mutable_lineage() = limits.lineage;
    node->shell.outcomes(what);
    node->settle();
    ASSERT_FALSE(out.acks.empty());
    EXPECT_FALSE(out.acks.back().second.accepted()) << "lineage " << lineage;
    EXPECT_EQ(out.performs.size(), handed) << "lineage " << lineage;
    out.acks.clear();
  }
}

TEST_F(scheduler_workers_test, are_forgotten_after_a_day) {
  const auto gone = present("w/1");
  present("w/2");
  ask(beginning("w/3"));
  leave("w/1", gone);
  time.now_ms += day_of_ms - 1;
  ask(beginning("w/4"));
  EXPECT_EQ(rows().size(), 4U);
  time.now_ms += 1;
  ask(beginning("w/5"));
  const auto left = rows();
  EXPECT_EQ(left.count("w/1"), 0U);
  EXPECT_EQ(left.count("w/2"), 1U) << "it is registered";
  EXPECT_EQ(left.count("w/3"), 0U) << "nothing was heard of it";
  EXPECT_EQ(left.count("w/4"), 1U);
}

}  // namespace
}  // namespace fairlead::testing
