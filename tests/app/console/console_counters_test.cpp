#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "actors/core/distribution.hpp"
#include "app/console/counters.hpp"

namespace fairlead::app {
namespace {

using std::chrono::seconds;

const counters_memory::moment noon{};

v1::ShardStatus* add_shard(v1::StatusReply& to, std::uint32_t number, std::uint64_t epoch, std::uint64_t completed) {
  auto* out = to.add_shards();
  out->set_shard(number);
  out->set_epoch(epoch);
  out->set_up(true);
  out->mutable_traffic()->set_completed(completed);
  return out;
}

v1::StatusReply one_shard(std::uint64_t epoch, std::uint64_t completed) {
  v1::StatusReply out;
  add_shard(out, 0, epoch, completed);
  return out;
}

const counter_line& line(const counters_view& view, const std::string& name) {
  for (const auto& one : view.counters)
    if (one.name == name) return one;
  throw std::logic_error("no counter " + name);
}

TEST(console_counters, the_first_look_has_totals_and_no_rates) {
  counters_memory memory;
  const auto view = memory.look(one_shard(1, 500), {}, noon);
  EXPECT_EQ(line(view, "completed").total, 500u);
  EXPECT_FALSE(line(view, "completed").per_second);
}

TEST(console_counters, rates_are_since_the_last_look) {
  counters_memory memory;
  memory.look(one_shard(1, 500), {}, noon);
  const auto view = memory.look(one_shard(1, 900), {}, noon + seconds{4});
  EXPECT_EQ(line(view, "completed").since, 400u);
  EXPECT_DOUBLE_EQ(*line(view, "completed").per_second, 100);
  EXPECT_DOUBLE_EQ(*line(memory.look(one_shard(1, 900), {}, noon + seconds{8}), "completed").per_second, 0);
}

TEST(console_counters, a_scheduler_that_was_started_again_counts_from_its_start) {
  counters_memory memory;
  memory.look(one_shard(1, 500), {}, noon);
  const auto view = memory.look(one_shard(2, 600), {}, noon + seconds{10});
  EXPECT_EQ(line(view, "completed").total, 600u);
  EXPECT_EQ(line(view, "completed").since, 600u);
}

TEST(console_counters, a_shard_that_comes_in_later_makes_no_leap) {
  counters_memory memory;
  memory.look(one_shard(1, 10), {}, noon);
  auto both = one_shard(1, 20);
  add_shard(both, 1, 1, 1'000'000);
  EXPECT_EQ(line(memory.look(both, {}, noon + seconds{1}), "completed").since, 10u);
}

TEST(console_counters, a_shard_that_was_away_for_a_look_keeps_its_mark) {
  counters_memory memory;
  memory.look(one_shard(1, 10), {}, noon);
  v1::StatusReply away = one_shard(1, 0);
  away.mutable_shards(0)->set_up(false);
  EXPECT_EQ(line(memory.look(away, {}, noon + seconds{1}), "completed").total, 0u);
  EXPECT_EQ(line(memory.look(one_shard(1, 15), {}, noon + seconds{2}), "completed").since, 5u);
}

TEST(console_counters, one_shard_alone_has_looks_of_its_own) {
  counters_memory memory;
  auto both = one_shard(1, 10);
  add_shard(both, 1, 1, 100);
  memory.look(both, {}, noon);
  const auto view = memory.look(both, 1, noon + seconds{1});
  EXPECT_EQ(line(view, "completed").total, 100u);
  EXPECT_FALSE(line(view, "completed").per_second);
}

TEST(console_counters, tells_bounds_that_shares_of_the_times_do_not_exceed) {
  core::distribution times;
  for (int i = 0; i < 90; ++i) times.add(2);
  for (int i = 0; i < 10; ++i) times.add(700);
  auto reply = one_shard(1, 0);
  *reply.mutable_shards(0)->mutable_traffic()->mutable_step_ms() = times.to_proto();
  counters_memory memory;
  const auto view = memory.look(reply, {}, noon);
  const auto& step = view.latencies.front();
  EXPECT_EQ(step.count, 100u);
  EXPECT_EQ(step.half_ms, 2u);
  EXPECT_EQ(step.ninety_ms, 2u);
  EXPECT_EQ(step.ninety_nine_ms, 1'000u);
  const auto json = nlohmann::json::parse(counters_json(view));
  EXPECT_EQ(json["times"][0]["p99_ms"], 1'000);
  EXPECT_TRUE(json["seconds"].is_null());
  EXPECT_NE(counters_text(view).find("<= 1000 ms"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::app
