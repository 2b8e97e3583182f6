#include <limits>

#include "tests/actors/agent_host/agent_host_world.hpp"

namespace fairlead::testing {
namespace {

/// A machine whose wall clock anybody may set, and whose other clock nobody does.
class two_clocks final : public clock {
 public:
  moment now() const override { return from_unix_ms(wall_ms); }
  moment steady() const override { return from_unix_ms(steady_ms); }
  void pass(std::int64_t ms) {
    wall_ms += ms;
    steady_ms += ms;
  }
  std::int64_t wall_ms = 1'700'000'000'000;
  std::int64_t steady_ms = 50'000;
};

constexpr std::int64_t an_hour = 3'600'000;

/// A host and the shards that it serves, each with a wall clock of its own.
class agent_shards_test : public ::testing::Test {
 protected:
  /// What the clock of the shard shows.
  std::int64_t wall_of(std::uint32_t shard) const { return time.wall_ms + ahead[shard]; }

  v1::Perform attempt(std::uint64_t task, std::uint32_t shard = 0, std::int64_t lease_ms = 5'000) const {
    v1::Perform out;
    out.set_task_number(task);
    out.set_attempt(1);
    out.set_call("do");
    out.set_complete_by_unix_ms(wall_of(shard) + lease_ms);
    return out;
  }

  v1::Perform beating(std::uint64_t task, std::int64_t heartbeat_ms, std::int64_t lease_ms) const {
    auto one = attempt(task, 0, lease_ms);
    one.set_heartbeat_ms(heartbeat_ms);
    one.set_heartbeat_by_unix_ms(wall_of(0) + heartbeat_ms);
    return one;
  }

  /// As it leaves the shard now. `beacon_late_ms`: how long the last beacon was on its way there.
  v1::PerformBatch batch(const std::vector<v1::Perform>& items, std::uint32_t shard = 0, std::uint64_t epoch = 1,
                         std::int64_t beacon_late_ms = 0) const {
    v1::PerformBatch what;
    what.set_epoch(epoch);
    what.set_shard(shard);
    what.set_sent_unix_ms(wall_of(shard));
    what.set_anchor_ms(time.steady_ms - beacon_late_ms);
    for (const auto& one : items) *what.add_items() = one;
    return what;
  }

  void take(v1::PerformBatch what) {
    host.perform(std::move(what));
    host.flush();
  }

  void say_the_time(std::uint32_t shard = 0, std::int64_t beacon_late_ms = 0) {
    v1::BeaconAck what;
    what.set_shard(shard);
    what.set_known(true);
    what.set_sent_unix_ms(wall_of(shard));
    what.set_anchor_ms(time.steady_ms - beacon_late_ms);
    host.acknowledged(what);
  }

  bool welcome(std::uint32_t shard, std::uint64_t epoch = 1) {
    v1::AgentWelcome what;
    what.set_shard(shard);
    what.set_epoch(epoch);
    what.set_sent_unix_ms(wall_of(shard));
    what.set_anchor_ms(time.steady_ms);
    const auto done = host.welcomed(what);
    host.flush();
    return done;
  }

  void pass(std::int64_t ms) {
    time.pass(ms);
    host.expire();
    host.flush();
  }

  void finish(std::uint64_t task, std::uint32_t shard = 0) {
    host.finished({task, 0, v1::DIRECTION_PERFORM, 1, shard}, {"7", std::nullopt, 1});
    host.flush();
  }

  void acknowledge(std::uint64_t task, std::uint32_t shard) {
    v1::OutcomeAckBatch what;
    what.set_shard(shard);
    auto* one = what.add_items();
    one->set_task_number(task);
    one->set_attempt(1);
    one->set_accepted(true);
    host.acknowledged(what);
  }

  void confirm(std::uint64_t task, std::uint64_t sequence) {
    v1::HeartbeatAckBatch what;
    auto* one = what.add_items();
    one->set_task_number(task);
    one->set_attempt(1);
    one->set_sequence(sequence);
    one->set_held(true);
    host.acknowledged(what);
  }

  two_clocks time;
  std::int64_t ahead[3] = {0, 0, 0};
  fake_backend backend;
  fake_outbox out;
  agent_host host{agent_host::identity{"svc", "n1/svc", 4, "native", {}, {}}, backend, time, out};
};

// ---- time ----

TEST_F(agent_shards_test, holds_a_lease_for_as_long_as_it_is_however_the_clocks_differ) {
  for (const auto skew : {std::int64_t{0}, an_hour, -an_hour}) {
    ahead[0] = skew;
    const auto stopped = backend.stopped.size();
    take(batch({attempt(100 + stopped)}));
    ASSERT_EQ(backend.started.size(), stopped + 1) << "skew " << skew;
    EXPECT_EQ(backend.started.back().complete_by_unix_ms(), time.wall_ms + 5'000) << "told by the agent's own clock";
    EXPECT_EQ(backend.started.back().try_until_unix_ms(), time.wall_ms + 5'000);
    pass(4'999);
    EXPECT_EQ(backend.stopped.size(), stopped) << "skew " << skew;
    pass(1);
    EXPECT_EQ(backend.stopped.size(), stopped + 1) << "skew " << skew;
  }
}

TEST_F(agent_shards_test, does_not_mind_when_its_own_wall_clock_is_set) {
  take(batch({attempt(1)}));
  time.wall_ms += an_hour;
  ahead[0] -= an_hour;
  say_the_time();
  pass(4'999);
  EXPECT_TRUE(backend.stopped.empty());
  time.wall_ms -= 2 * an_hour;
  pass(1);
  EXPECT_EQ(backend.stopped.size(), 1u);
}

TEST_F(agent_shards_test, counts_a_batch_that_was_under_way_for_long_from_when_it_left) {
  auto what = batch({attempt(1, 0, 5'000), attempt(2, 0, 15'000)});
  what.mutable_items(1)->set_budget_ms(15'000);
  time.pass(10'000);  // on a link that stood still
  take(std::move(what));
  ASSERT_EQ(backend.started.size(), 1u) << "the lease of the first has ended on the way";
  EXPECT_EQ(backend.started[0].task_number(), 2u);
  EXPECT_EQ(backend.started[0].budget_ms(), 5'000);
  EXPECT_EQ(backend.started[0].complete_by_unix_ms(), time.wall_ms + 5'000);
  pass(5'000);
  EXPECT_EQ(backend.stopped.size(), 1u);
}

TEST_F(agent_shards_test, ends_a_lease_too_early_by_what_a_beacon_took_and_never_too_late) {
  take(batch({attempt(1)}, 0, 1, 2'000));
  pass(2'999);
  EXPECT_TRUE(backend.stopped.empty());
  pass(1);
  EXPECT_EQ(backend.stopped.size(), 1u);
}

TEST_F(agent_shards_test, takes_a_beacon_that_was_held_up_for_a_clock_that_went_forward) {
  take(batch({attempt(1)}));
  pass(2'000);
  say_the_time(0, 2'000);
  say_the_time();
  pass(999);
  EXPECT_TRUE(backend.stopped.empty());
  pass(1);
  EXPECT_EQ(backend.stopped.size(), 1u) << "too early by what the beacon took: later ones give nothing back";
}

TEST_F(agent_shards_test, counts_on_where_beacons_are_lost) {
  take(batch({attempt(1, 0, 60'000)}));
  pass(30'000);  // no beacon has come since; the shard goes on from the last one by its own monotonic clock
  take(batch({attempt(2, 0, 5'000)}));
  pass(5'000);
  ASSERT_EQ(backend.stopped.size(), 1u);
  EXPECT_EQ(backend.stopped[0].task_number, 2u);
}

TEST_F(agent_shards_test, goes_by_its_own_clock_while_the_shard_has_no_beacon) {
  auto what = batch({attempt(1)});
  what.set_anchor_ms(0);
  take(std::move(what));
  pass(4'999);
  EXPECT_TRUE(backend.stopped.empty());
  pass(1);
  EXPECT_EQ(backend.stopped.size(), 1u);
}

TEST_F(agent_shards_test, ends_leases_earlier_when_the_clock_of_the_shard_goes_forward) {
  take(batch({attempt(1, 0, 60'000), attempt(2, 0, 15'000)}));
  take(batch({attempt(3, 1, 15'000)}, 1));
  ahead[0] += 20'000;
  say_the_time();
  pass(1);
  ASSERT_EQ(backend.stopped.size(), 1u) << "by that clock the second is over";
  EXPECT_EQ(backend.stopped[0].task_number, 2u);
  pass(14'998);
  EXPECT_EQ(backend.stopped.size(), 1u) << "the other shard's clock is as it was";
  pass(1);
  EXPECT_EQ(backend.stopped.size(), 2u);
  pass(24'999);
  EXPECT_EQ(backend.stopped.size(), 2u);
  pass(1);
  ASSERT_EQ(backend.stopped.size(), 3u) << "40 s after it began instead of 60";
  EXPECT_EQ(backend.stopped[2].task_number, 1u);
}

TEST_F(agent_shards_test, has_tries_end_with_the_lease_that_ends_earlier) {
  v1::Fault fault;
  fault.set_kind(v1::FAULT_KIND_TRANSIENT);
  fault.set_code("away");
  agents::agent_settings settings;
  settings.retry.tries = 5;
  settings.retry.backoff.set_first_ms(15'000);
  agent_host own{agent_host::identity{"svc", "n1/svc", 4, "native", settings, {}}, backend, time, out};
  own.perform(batch({attempt(1, 0, 30'000)}));
  ahead[0] += 20'000;
  v1::BeaconAck what;
  what.set_sent_unix_ms(wall_of(0));
  what.set_anchor_ms(time.steady_ms);
  own.acknowledged(what);
  own.finished({1, 0, v1::DIRECTION_PERFORM, 1, 0}, {"", fault, 1});
  own.flush();
  ASSERT_EQ(out.sent.size(), 1u) << "no other try could end in time";
  EXPECT_EQ(out.sent[0].items(0).fault().code(), "away");
}

TEST_F(agent_shards_test, gives_nobody_more_time_when_the_clock_of_the_shard_goes_back) {
  take(batch({attempt(1, 0, 10'000)}));
  ahead[0] -= an_hour;
  say_the_time();
  take(batch({attempt(2, 0, 10'000)}));
  EXPECT_EQ(backend.started.size(), 2u) << "what is handed over then counts by the clock as it is then";
  ahead[0] += an_hour;
  say_the_time();
  pass(9'999);
  // The second was to end within ten seconds of a clock that has gone on by an hour since.
  ASSERT_EQ(backend.stopped.size(), 1u);
  EXPECT_EQ(backend.stopped[0].task_number, 2u);
  pass(1);
  EXPECT_EQ(backend.stopped.size(), 2u);
}

TEST_F(agent_shards_test, does_not_mind_clocks_that_are_slewed_and_beacons_that_waver) {
  take(batch({attempt(1, 0, 10'000)}));
  ahead[0] += 200;
  say_the_time();
  say_the_time(0, 40);
  pass(9'999);
  EXPECT_TRUE(backend.stopped.empty());
}

TEST_F(agent_shards_test, takes_the_time_that_is_left_from_heartbeats_too) {
  take(batch({beating(1, 9'000, 60'000)}));
  pass(3'000);
  ASSERT_EQ(out.beats.size(), 1u);
  ahead[0] += 4'000;
  say_the_time();
  // The renewal was made durable before the clock went forward, and is over sooner by as much.
  confirm(1, 1);
  pass(4'999);
  EXPECT_TRUE(backend.stopped.empty());
  pass(1);
  EXPECT_EQ(backend.stopped.size(), 1u) << "3 s + 9 s - 4 s after it began";
}

TEST_F(agent_shards_test, takes_all_of_the_time_from_a_renewal_though_the_hand_over_was_reckoned_too_short) {
  take(batch({beating(1, 9'000, 60'000)}, 0, 1, 2'000));
  pass(3'000);
  ASSERT_EQ(out.beats.size(), 1u);
  say_the_time();  // by a beacon that took no time
  confirm(1, 1);
  ahead[0] += 4'000;
  say_the_time();
  pass(4'999);
  EXPECT_TRUE(backend.stopped.empty());
  pass(1);
  EXPECT_EQ(backend.stopped.size(), 1u) << "3 s + 9 s - 4 s after it began";
}

TEST_F(agent_shards_test, notices_that_the_clock_went_forward_by_less_than_the_hand_over_was_reckoned_too_short) {
  take(batch({beating(1, 9'000, 60'000)}, 0, 1, 2'000));
  pass(3'000);
  say_the_time();
  confirm(1, 1);
  ahead[0] += 1'500;
  say_the_time();
  pass(7'499);
  EXPECT_TRUE(backend.stopped.empty());
  pass(1);
  EXPECT_EQ(backend.stopped.size(), 1u) << "3 s + 9 s - 1.5 s after it began";
}

TEST_F(agent_shards_test, does_not_count_on_renewals_from_a_clock_that_had_gone_back_when_it_is_put_right) {
  take(batch({beating(1, 9'000, 60'000)}));
  ahead[0] -= an_hour;
  say_the_time();
  pass(3'000);
  ASSERT_EQ(out.beats.size(), 1u);
  // The shard has stored nothing: the moment that it knew was later by its clock.
  confirm(1, 1);
  pass(3'000);
  confirm(1, 2);
  EXPECT_TRUE(backend.stopped.empty());
  ahead[0] += an_hour;
  say_the_time();
  pass(1);
  EXPECT_EQ(backend.stopped.size(), 1u);
}

TEST_F(agent_shards_test, says_nothing_of_what_it_had_not_finished_when_the_process_was_stopped_meanwhile) {
  take(batch({attempt(1, 0, 5'000), beating(2, 3'000, 60'000)}));
  time.pass(1'000);
  host.expire();  // a heartbeat is due and made, and then the process stands still
  EXPECT_TRUE(host.wants_flush());
  time.pass(90'000);
  host.flush();
  EXPECT_TRUE(out.beats.empty());
  finish(1);
  EXPECT_TRUE(out.sent.empty());
  host.expire();
  host.flush();
  EXPECT_TRUE(out.sent.empty());
  EXPECT_EQ(host.held(), 0u);
}

TEST_F(agent_shards_test, does_not_begin_again_what_it_has_stopped) {
  const auto one = attempt(1, 0, 5'000);
  take(batch({one}, 0, 1, 2'000));
  pass(3'000);
  ASSERT_EQ(backend.stopped.size(), 1u);
  take(batch({one}, 0, 1));  // by a better beacon there would be two seconds left
  EXPECT_EQ(backend.started.size(), 1u);
}

TEST_F(agent_shards_test, survives_moments_that_make_no_sense) {
  for (const auto wrong : {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    auto what = batch({attempt(1), attempt(2)});
    what.set_sent_unix_ms(wrong);
    what.mutable_items(0)->set_complete_by_unix_ms(wrong);
    take(what);
    what.set_sent_unix_ms(wall_of(0));
    what.set_anchor_ms(wrong);
    take(what);
    what.set_shard(4'000'000'000);
    take(what);
  }
  pass(1'000);
  take(batch({attempt(3)}, 2));
  EXPECT_EQ(backend.started.back().task_number(), 3u);
}

// ---- several shards ----

TEST_F(agent_shards_test, tells_apart_what_has_the_same_numbers_at_two_shards) {
  take(batch({attempt(1, 0)}, 0));
  take(batch({attempt(1, 1)}, 1));
  ASSERT_EQ(backend.started.size(), 2u);
  EXPECT_EQ(host.held(0), 1u);
  EXPECT_EQ(host.held(1), 1u);
  finish(1, 1);
  ASSERT_EQ(out.sent.size(), 1u);
  EXPECT_EQ(out.sent[0].shard(), 1u);
  EXPECT_EQ(host.held(0), 1u);
  EXPECT_EQ(host.held(1), 0u);
  acknowledge(1, 0);
  pass(2'000);
  ASSERT_EQ(out.sent.size(), 2u) << "the other shard's acknowledgement is none";
  acknowledge(1, 1);
  pass(2'000);
  EXPECT_EQ(out.sent.size(), 2u);
  finish(1, 0);
  ASSERT_EQ(out.sent.size(), 3u);
  EXPECT_EQ(out.sent[2].shard(), 0u);
}

TEST_F(agent_shards_test, sends_each_shard_a_batch_of_its_own) {
  backend.at_once = true;
  host.perform(batch({attempt(1, 0), attempt(2, 0)}, 0));
  host.perform(batch({attempt(1, 2)}, 2));
  host.flush();
  ASSERT_EQ(out.sent.size(), 2u);
  EXPECT_EQ(out.sent[0].shard(), 0u);
  EXPECT_EQ(out.sent[0].items_size(), 2);
  EXPECT_EQ(out.sent[1].shard(), 2u);
  EXPECT_EQ(out.sent[1].items_size(), 1);
}

TEST_F(agent_shards_test, fences_the_epochs_of_each_shard_by_themselves) {
  take(batch({attempt(1, 0)}, 0, 9));
  take(batch({attempt(1, 1)}, 1, 2));
  EXPECT_EQ(backend.started.size(), 2u) << "another shard's epochs count for themselves";
  take(batch({attempt(2, 0)}, 0, 8));
  EXPECT_EQ(backend.started.size(), 2u);
  EXPECT_TRUE(welcome(1, 3));
  take(batch({attempt(2, 1)}, 1, 2));
  EXPECT_EQ(backend.started.size(), 2u) << "a welcome tells of an epoch as orders do";
  EXPECT_FALSE(welcome(0, 8));
}

TEST_F(agent_shards_test, keeps_an_outcome_while_its_shard_is_away_and_says_it_when_it_is_back) {
  take(batch({attempt(1, 0), attempt(2, 0)}, 0));
  take(batch({attempt(1, 1)}, 1));
  finish(1, 0);
  finish(1, 1);
  out.sent.clear();  // they went nowhere
  time.pass(700);
  EXPECT_TRUE(welcome(0));
  ASSERT_EQ(out.sent.size(), 1u) << "at once, and to the one that is back alone";
  EXPECT_EQ(out.sent[0].shard(), 0u);
  ASSERT_EQ(out.sent[0].items_size(), 1);
  EXPECT_EQ(out.sent[0].items(0).task_number(), 1u);
  take(batch({attempt(1, 0), attempt(2, 0)}, 0));  // as a shard sends again what its records say
  EXPECT_EQ(backend.started.size(), 3u) << "carried out once";
  ASSERT_EQ(out.sent.size(), 2u) << "and answered once more with what it was";
  EXPECT_EQ(out.sent[1].items(0).output(), "7");
}

TEST_F(agent_shards_test, renews_its_leases_at_once_when_a_shard_is_back) {
  take(batch({beating(1, 9'000, 60'000)}));
  pass(3'000);
  out.beats.clear();  // it went nowhere
  pass(1'000);
  EXPECT_TRUE(out.beats.empty());
  welcome(0);
  ASSERT_EQ(out.beats.size(), 1u);
  EXPECT_EQ(out.beats[0].sequence(), 2u);
}

}  // namespace
}  // namespace fairlead::testing
