#include "app/metrics/metrics_text.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/app/metrics/metric_reader.hpp"
#include "tests/app/metrics/node_figures_world.hpp"

namespace fairlead::app {
namespace {

using testing::metric_reader;
using testing::well_node;

metric_reader page_of(const node_figures& all) { return metric_reader{metrics_text(all)}; }

v1::Distribution distribution_of(std::initializer_list<std::uint64_t> values) {
  core::distribution out;
  for (const auto value : values) out.add(value);
  return out.to_proto();
}

v1::ShardStatus leading_replica() {
  v1::ShardStatus out;
  out.mutable_store()->set_used_bytes(2'000);
  out.mutable_store()->set_max_bytes(10'000);
  auto& journal = *out.mutable_store()->mutable_journal();
  journal.set_groups(3);
  journal.set_most_segments(16);
  journal.set_kept_by_shard(1);
  auto& own = *out.mutable_replication();
  own.set_role("leader");
  own.set_leader("n1");
  own.set_term(4);
  own.set_last_index(1'000);
  own.set_shown_index(990);
  own.set_contact_ms_ago(20);
  own.set_clock_ahead_ms(-250);
  own.set_may_lose(1);
  own.set_format(1);
  own.mutable_comparison()->set_ended_at_unix_ms(testing::world_now_ms - 90'000);
  auto& late = *own.add_others();
  late.set_node("n2");
  late.set_behind_entries(10);
  late.set_behind_bytes(4'096);
  late.set_behind_ms(1'500);
  late.set_heard_ms_ago(30);
  return out;
}

/// Everything that can be known is.
node_figures full_node() {
  auto all = well_node();
  auto& status = *all.told.status.reply;
  status.set_started_at_unix_ms(testing::world_now_ms - 60'000);
  auto& api = all.api.emplace();
  api.certificate_ends_unix_ms = testing::world_now_ms - 1'500;
  api.token_ends = {{"ben", testing::world_now_ms + 60'000}};
  api.connections = 3;
  api.streams = 1;
  api.workers = 2;
  api.requests = 2;
  api.answers = {{"GET", 200, 7}, {"GET", 403, 2}, {"PUT", 201, 5}};
  api.answer_micros = distribution_of({150, 2'500'000});
  api.audit_entries = 4;
  api.audit_entries_lost = 1;
  auto& peer = *status.add_peers();
  peer.set_node("n2");
  peer.set_connected(true);
  status.add_peers()->set_address("10.0.0.3:7100");
  all.told.tree.reply->set_outside(0);
  auto& reply = *all.told.shards[0].reply;
  auto& shard = *reply.mutable_shards(0);
  *shard.mutable_traffic()->mutable_step_ms() = distribution_of({1, 3, 2'000});
  *shard.mutable_traffic()->mutable_task_ms() = distribution_of({10});
  shard.mutable_commits()->set_commits(9);
  *shard.mutable_commits()->mutable_batches() = distribution_of({1, 64});
  *shard.mutable_commits()->mutable_bytes() = distribution_of({4'096});
  *shard.mutable_commits()->mutable_micros() = distribution_of({150, 250});
  auto& service = *reply.add_services();
  service.mutable_record()->set_agent("payment");
  service.mutable_record()->set_breaker(v1::BREAKER_STATE_OPEN);
  auto& limit = *service.add_limits();
  limit.mutable_policy()->set_call("charge");
  limit.mutable_policy()->set_key(".customer.id");
  limit.mutable_policy()->set_concurrency(2);
  limit.mutable_policy()->set_rate(30);
  limit.mutable_policy()->set_rate_per_ms(60'000);
  *service.add_limits() = limit;
  all.full_in_seconds[0] = 2 * 86'400;
  all.replicas[0] = leading_replica();
  all.process = {12.5, 1'000'000, 42, 1'024, 9};
  return all;
}

TEST(metrics_text, is_what_a_strict_reader_takes_also_of_a_node_of_which_nothing_is_known) {
  EXPECT_GT(page_of(full_node()).types().size(), 60U);
  EXPECT_NO_THROW(page_of(node_figures{}));
  auto silent = well_node();
  silent.told.shards[0] = {std::nullopt, "no answer in time"};
  silent.told.status = {std::nullopt, "no answer in time"};
  silent.told.tree = {std::nullopt, "no answer in time"};
  const auto page = page_of(silent);
  EXPECT_EQ(page.at("fairlead_shard_up{shard=\"0\"}"), 0);
  EXPECT_EQ(page.at("fairlead_healthy"), 0);
  EXPECT_EQ(page.count("fairlead_tasks{"), 0U);
}

TEST(metrics_text, counts_tasks_by_state_and_the_parked_ones_apart) {
  const auto page = page_of(well_node());
  EXPECT_EQ(page.at("fairlead_tasks{shard=\"0\",state=\"pending\"}"), 1);
  EXPECT_EQ(page.at("fairlead_tasks{shard=\"0\",state=\"undone\"}"), 5);
  EXPECT_EQ(page.count("fairlead_tasks{"), 6U);
  EXPECT_EQ(page.at("fairlead_tasks_parked{shard=\"0\"}"), 6);
}

TEST(metrics_text, counts_jobs_and_their_launches) {
  auto all = well_node();
  auto& counts = *all.told.shards[0].reply->mutable_shards(0)->mutable_counts();
  counts.set_jobs(100);
  counts.set_jobs_paused(3);
  counts.set_launches_in_flight(7);
  counts.set_launches_waiting_room(11);
  counts.set_launches_waiting_agents(13);
  counts.set_launches(1'000);
  counts.set_launches_skipped(17);
  const auto page = page_of(all);
  EXPECT_EQ(page.at("fairlead_jobs{shard=\"0\"}"), 100);
  EXPECT_EQ(page.at("fairlead_jobs_paused{shard=\"0\"}"), 3);
  EXPECT_EQ(page.at("fairlead_launches_in_flight{shard=\"0\"}"), 7);
  EXPECT_EQ(page.at("fairlead_launches_waiting{shard=\"0\",reason=\"room\"}"), 11);
  EXPECT_EQ(page.at("fairlead_launches_waiting{shard=\"0\",reason=\"agents\"}"), 13);
  EXPECT_EQ(page.at("fairlead_launches_total{shard=\"0\"}"), 1'000);
  EXPECT_EQ(page.at("fairlead_launches_skipped_total{shard=\"0\"}"), 17);
  EXPECT_EQ(page.type_of("fairlead_launches_total"), "counter");
}

TEST(metrics_text, counts_outcomes_since_the_start_of_the_shard) {
  auto all = well_node();
  auto& traffic = *all.told.shards[0].reply->mutable_shards(0)->mutable_traffic();
  traffic.set_submitted(10);
  traffic.set_completed(7);
  traffic.set_parked(1);
  traffic.set_steps_completed(21);
  traffic.set_steps_expired(2);
  traffic.set_handed_over(25);
  traffic.set_misdirected(3);
  const auto page = page_of(all);
  EXPECT_EQ(page.at("fairlead_submissions_total{shard=\"0\"}"), 10);
  EXPECT_EQ(page.at("fairlead_task_outcomes_total{shard=\"0\",outcome=\"completed\"}"), 7);
  EXPECT_EQ(page.at("fairlead_task_outcomes_total{shard=\"0\",outcome=\"parked\"}"), 1);
  EXPECT_EQ(page.at("fairlead_step_outcomes_total{shard=\"0\",outcome=\"completed\"}"), 21);
  EXPECT_EQ(page.at("fairlead_step_outcomes_total{shard=\"0\",outcome=\"expired\"}"), 2);
  EXPECT_EQ(page.at("fairlead_hand_overs_total{shard=\"0\"}"), 25);
  EXPECT_EQ(page.at("fairlead_messages_misdirected_total{shard=\"0\"}"), 3);
}

TEST(metrics_text, of_a_leader_has_each_replica_beside_the_shard) {
  const auto page = page_of(full_node());
  EXPECT_EQ(page.at("fairlead_replica_leads{shard=\"0\"}"), 1);
  EXPECT_EQ(page.at("fairlead_replica_term{shard=\"0\"}"), 4);
  EXPECT_EQ(page.at("fairlead_replica_last_index{shard=\"0\"}"), 1'000);
  EXPECT_EQ(page.at("fairlead_replica_shown_index{shard=\"0\"}"), 990);
  EXPECT_EQ(page.at("fairlead_replica_contact_seconds{shard=\"0\"}"), 0.02);
  EXPECT_EQ(page.at("fairlead_replica_clock_ahead_seconds{shard=\"0\"}"), -0.25);
  EXPECT_EQ(page.at("fairlead_replica_may_lose_nodes{shard=\"0\"}"), 1);
  EXPECT_EQ(page.at("fairlead_replica_format{shard=\"0\"}"), 1);
  EXPECT_EQ(page.at("fairlead_replica_compared_seconds{shard=\"0\"}"), 90);
  EXPECT_EQ(page.at("fairlead_replica_behind_entries{shard=\"0\",peer=\"n2\"}"), 10);
  EXPECT_EQ(page.at("fairlead_replica_behind_bytes{shard=\"0\",peer=\"n2\"}"), 4'096);
  EXPECT_EQ(page.at("fairlead_replica_behind_seconds{shard=\"0\",peer=\"n2\"}"), 1.5);
  EXPECT_EQ(page.at("fairlead_replica_heard_seconds{shard=\"0\",peer=\"n2\"}"), 0.03);
  EXPECT_EQ(page.at("fairlead_replica_needs_help{shard=\"0\",peer=\"n2\"}"), 0);
  EXPECT_EQ(page.at("fairlead_store_used_bytes{shard=\"0\"}"), 1'000) << "as the shard tells it";
}

TEST(metrics_text, of_a_follower_has_its_own_replica_and_store_and_nothing_that_the_leader_counts) {
  auto all = full_node();
  auto& own = *all.replicas[0].mutable_replication();
  own.set_role("follower");
  own.set_leader("n2");
  own.set_contact_ms_ago(-1);
  own.clear_others();
  all.told.shards.clear();
  auto page = page_of(all);
  EXPECT_EQ(page.at("fairlead_replica_leads{shard=\"0\"}"), 0);
  EXPECT_EQ(page.at("fairlead_replica_knows_leader{shard=\"0\"}"), 1);
  EXPECT_EQ(page.at("fairlead_store_used_bytes{shard=\"0\"}"), 2'000);
  EXPECT_EQ(page.at("fairlead_journal_groups_total"), 3);
  EXPECT_EQ(page.at("fairlead_journal_most_segments"), 16);
  EXPECT_EQ(page.at("fairlead_journal_kept_by_shard{shard=\"1\"}"), 1);
  EXPECT_FALSE(page.has("fairlead_replica_contact_seconds{shard=\"0\"}"));
  EXPECT_FALSE(page.has("fairlead_shard_up{shard=\"0\"}"));
  EXPECT_EQ(page.count("fairlead_tasks{"), 0U);
  own.clear_leader();
  own.set_trouble("two leaders in one term");
  page = page_of(all);
  EXPECT_EQ(page.at("fairlead_replica_knows_leader{shard=\"0\"}"), 0);
  EXPECT_EQ(page.at("fairlead_replica_stands_aside{shard=\"0\"}"), 1);
}

TEST(metrics_text, shows_distributions_as_histograms_in_seconds) {
  const auto page = page_of(full_node());
  EXPECT_EQ(page.type_of("fairlead_step_duration_seconds"), "histogram");
  EXPECT_EQ(page.at("fairlead_step_duration_seconds_bucket{shard=\"0\",le=\"0.001\"}"), 1);
  EXPECT_EQ(page.at("fairlead_step_duration_seconds_bucket{shard=\"0\",le=\"0.005\"}"), 2);
  EXPECT_EQ(page.at("fairlead_step_duration_seconds_bucket{shard=\"0\",le=\"1\"}"), 2);
  EXPECT_EQ(page.at("fairlead_step_duration_seconds_bucket{shard=\"0\",le=\"2\"}"), 3);
  EXPECT_EQ(page.at("fairlead_step_duration_seconds_bucket{shard=\"0\",le=\"+Inf\"}"), 3);
  EXPECT_DOUBLE_EQ(page.at("fairlead_step_duration_seconds_sum{shard=\"0\"}"), 2.004);
  EXPECT_EQ(page.at("fairlead_commit_duration_seconds_bucket{shard=\"0\",le=\"0.0002\"}"), 1);
  EXPECT_EQ(page.at("fairlead_commit_batches_bucket{shard=\"0\",le=\"1\"}"), 1);
}

TEST(metrics_text, counts_what_lies_beyond_all_bounds_in_the_last_bucket) {
  auto all = full_node();
  *all.told.shards[0].reply->mutable_shards(0)->mutable_traffic()->mutable_task_ms() = distribution_of({900'000'000});
  const auto page = page_of(all);
  EXPECT_EQ(page.at("fairlead_task_duration_seconds_bucket{shard=\"0\",le=\"500000\"}"), 0);
  EXPECT_EQ(page.at("fairlead_task_duration_seconds_bucket{shard=\"0\",le=\"+Inf\"}"), 1);
}

TEST(metrics_text, leaves_out_what_is_not_known) {
  const auto page = page_of(well_node());
  EXPECT_EQ(page.count("fairlead_step_duration_seconds"), 0U);
  EXPECT_EQ(page.count("fairlead_commits_total"), 0U);
  EXPECT_EQ(page.count("fairlead_store_days_until_full"), 0U);
  EXPECT_EQ(page_of(full_node()).at("fairlead_store_days_until_full{shard=\"0\"}"), 2);
}

TEST(metrics_text, counts_the_answers_of_the_api_by_method_and_status) {
  const auto page = page_of(full_node());
  EXPECT_EQ(page.at("fairlead_api_requests_total{method=\"GET\",code=\"403\"}"), 2);
  EXPECT_EQ(page.count("fairlead_api_requests_total{"), 3U);
  EXPECT_EQ(page.at("fairlead_api_request_duration_seconds_bucket{le=\"0.0002\"}"), 1);
  EXPECT_EQ(page.at("fairlead_api_request_duration_seconds_count"), 2);
  EXPECT_EQ(page.at("fairlead_api_requests_in_progress"), 2);
  EXPECT_EQ(page.at("fairlead_token_expires_seconds{token=\"ben\"}"), 60);
  EXPECT_EQ(page.at("fairlead_audit_entries_lost_total"), 1);
  EXPECT_EQ(page_of(well_node()).count("fairlead_api_"), 0U) << "it has none";
}

TEST(metrics_text, says_how_long_the_certificate_of_the_api_lasts_if_there_is_one) {
  EXPECT_EQ(page_of(full_node()).at("fairlead_certificate_expires_seconds"), -1.5) << "it has ended";
  EXPECT_EQ(metrics_text(well_node()).find("fairlead_certificate"), std::string::npos);
}

TEST(metrics_text, gives_ages_of_what_is_due_and_none_of_what_lies_ahead) {
  auto all = well_node();
  auto& shard = *all.told.shards[0].reply->mutable_shards(0);
  shard.set_oldest_due_unix_ms(testing::world_now_ms - 1'500);
  EXPECT_EQ(page_of(all).at("fairlead_wake_up_overdue_seconds{shard=\"0\"}"), 1.5);
  shard.set_oldest_due_unix_ms(testing::world_now_ms + 60'000);
  EXPECT_EQ(page_of(all).at("fairlead_wake_up_overdue_seconds{shard=\"0\"}"), 0);
  shard.set_oldest_due_unix_ms(0);
  EXPECT_EQ(page_of(all).at("fairlead_wake_up_overdue_seconds{shard=\"0\"}"), 0);
}

TEST(metrics_text, shows_each_instance_with_load_and_health) {
  auto all = well_node();
  auto& agent = *all.told.shards[0].reply->mutable_agents(0);
  agent.set_sick(true);
  agent.set_error_percent(25);
  agent.set_latency_ms(120);
  all.told.shards[0].reply->add_agents()->set_agent("nobody");  // steps wait, and there is no instance
  const auto page = page_of(all);
  const std::string of = "{shard=\"0\",agent=\"payment\",instance=\"n1/payment\"}";
  EXPECT_EQ(page.at("fairlead_agent_capacity" + of), 64);
  EXPECT_EQ(page.at("fairlead_agent_held" + of), 3);
  EXPECT_EQ(page.at("fairlead_agent_sick" + of), 1);
  EXPECT_EQ(page.at("fairlead_agent_away" + of), 0);
  EXPECT_EQ(page.at("fairlead_agent_silent" + of), 0);
  EXPECT_EQ(page.at("fairlead_agent_error_ratio" + of), 0.25);
  EXPECT_EQ(page.at("fairlead_agent_latency_seconds" + of), 0.12);
  EXPECT_EQ(page.count("fairlead_agent_capacity{"), 1U);
}

TEST(metrics_text, shows_the_breaker_by_state_and_two_limits_of_the_same_call) {
  const auto page = page_of(full_node());
  const std::string of = "{shard=\"0\",agent=\"payment\",";
  EXPECT_EQ(page.at("fairlead_service_breaker" + of + "state=\"open\"}"), 1);
  EXPECT_EQ(page.at("fairlead_service_breaker" + of + "state=\"closed\"}"), 0);
  EXPECT_EQ(page.at("fairlead_service_breaker" + of + "state=\"half_open\"}"), 0);
  EXPECT_EQ(page.at("fairlead_limit_rate" + of + "limit=\"1\",call=\"charge\",key=\".customer.id\"}"), 0.5);
  EXPECT_EQ(page.count("fairlead_limit_concurrency{"), 2U);
}

TEST(metrics_text, shows_each_actor_with_restarts_and_mailbox) {
  auto all = well_node();
  auto& actor = *all.told.tree.reply->mutable_actors(1);
  actor.set_restarts(2);
  actor.set_mailbox(17);
  actor.set_handled(1'000);
  all.told.tree.reply->set_outside(1);
  const auto page = page_of(all);
  const std::string of = "{actor=\"node/shards/0/core/scheduler\"}";
  EXPECT_EQ(page.at("fairlead_actor_restarts_total" + of), 2);
  EXPECT_EQ(page.at("fairlead_actor_mailbox_messages" + of), 17);
  EXPECT_EQ(page.at("fairlead_actor_handled_total" + of), 1'000);
  EXPECT_EQ(page.at("fairlead_actor_running" + of), 1);
  EXPECT_EQ(page.at("fairlead_actors_outside_tree"), 1);
}

TEST(metrics_text, counts_a_peer_once_that_is_configured_and_has_come_by_itself) {
  auto all = full_node();
  auto& again = *all.told.status.reply->add_peers();
  again.set_node("n2");
  again.set_connects(4);
  all.told.status.reply->mutable_peers(1)->set_refused(true);
  const auto page = page_of(all);
  EXPECT_EQ(page.at("fairlead_peer_connected{peer=\"n2\"}"), 1);
  EXPECT_EQ(page.at("fairlead_peer_connects_total{peer=\"n2\"}"), 4);
  EXPECT_EQ(page.at("fairlead_peer_connected{peer=\"10.0.0.3:7100\"}"), 0);
  EXPECT_EQ(page.at("fairlead_peers{state=\"refused\"}"), 1);
}

TEST(metrics_text, escapes_values_of_labels_and_replaces_bytes_that_are_no_text) {
  auto all = well_node();
  all.told.shards[0].reply->mutable_agents(0)->set_instance("a\"b\\c\nd\xff");
  EXPECT_EQ(page_of(all).at("fairlead_agent_held{shard=\"0\",agent=\"payment\",instance=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\"}"), 3);
}

TEST(metrics_text, names_a_series_once_even_when_an_instance_is_told_twice) {
  auto all = well_node();
  *all.told.shards[0].reply->add_agents() = all.told.shards[0].reply->agents(0);
  EXPECT_NO_THROW(page_of(all));
}

TEST(metrics_text, shows_two_shards_of_one_node_apart) {
  auto all = well_node();
  all.told.shards[3].reply = testing::shard_reply(3);
  const auto page = page_of(all);
  EXPECT_EQ(page.at("fairlead_shard_epoch{shard=\"0\"}"), 7);
  EXPECT_EQ(page.at("fairlead_shard_epoch{shard=\"3\"}"), 7);
  EXPECT_EQ(page.count("fairlead_agent_held{"), 2U);
}

TEST(metrics_text, has_every_metric_in_the_manual_and_the_manual_no_other) {
  const auto* source = std::getenv("FAIRLEAD_SOURCE");
  ASSERT_NE(source, nullptr);
  std::ifstream file{std::filesystem::path{source} / "docs" / "operations.md"};
  std::stringstream text;
  text << file.rdbuf();
  const auto manual = text.str();
  std::map<std::string, int> listed;
  static const std::regex row{R"(\n\| `(fairlead_[a-z0-9_]+)` \| (counter|gauge|histogram) \|)"};
  const auto page = page_of(full_node());
  for (std::sregex_iterator at{manual.begin(), manual.end(), row}, end; at != end; ++at) {
    ++listed[(*at)[1]];
    EXPECT_EQ(page.type_of((*at)[1]), (*at)[2]) << (*at)[1];
  }
  for (const auto& [name, type] : page.types()) EXPECT_EQ(listed[name], 1) << name << " is listed " << listed[name] << " times";
}

}  // namespace
}  // namespace fairlead::app
