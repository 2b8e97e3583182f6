#include "actors/gateway/requests/cut.hpp"

#include <gtest/gtest.h>

#include "actors/core/cluster/routing.hpp"
#include "actors/gateway/relays.hpp"
#include "actors/gateway/status.hpp"

namespace fairlead {
namespace {

std::string id(int i) { return "t" + std::to_string(i); }

v1::SubmitRequest tasks(int count) {
  v1::SubmitRequest out;
  out.set_notify(true);
  for (int i = 0; i < count; ++i) out.add_items()->set_id(id(i));
  return out;
}

template <class Reply>
Reply missing() {
  Reply out;
  out.mutable_error()->set_code(v1::ERROR_CODE_UNAVAILABLE);
  out.mutable_error()->set_sentence("shard cannot be reached");
  return out;
}

TEST(cut_submission, sends_each_task_to_its_shard_and_keeps_the_order_of_the_results) {
  const auto whole = tasks(100);
  const auto cut = cut_by_shard(whole, 4);
  ASSERT_EQ(cut.parts.size(), 4u);
  std::vector<v1::SubmitReply> answers;
  for (const auto& [shard, part] : cut.parts) {
    EXPECT_TRUE(part.notify());
    answers.emplace_back();
    for (const auto& item : part.items()) {
      EXPECT_EQ(core::shard_of_task(item.id(), 4), shard);
      auto* result = answers.back().add_results();
      result->set_id(item.id());
      result->set_created(true);
    }
  }
  const auto reply = put_together(whole, cut.positions, std::move(answers));
  ASSERT_EQ(reply.results_size(), 100);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(reply.results(i).id(), id(i));
    EXPECT_TRUE(reply.results(i).created());
  }
}

TEST(cut_submission, gives_the_error_of_a_missing_shard_to_its_own_items_alone) {
  const auto whole = tasks(40);
  const auto cut = cut_by_shard(whole, 2);
  ASSERT_EQ(cut.parts.size(), 2u);
  std::vector<v1::SubmitReply> answers(2);
  for (int i = 0; i < cut.parts[0].second.items_size(); ++i) answers[0].add_results()->set_created(true);
  answers[1] = missing<v1::SubmitReply>();
  const auto reply = put_together(whole, cut.positions, std::move(answers));
  EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_OK);
  for (int i = 0; i < 40; ++i) {
    const bool there = core::shard_of_task(id(i), 2) == 0;
    EXPECT_EQ(reply.results(i).created(), there);
    EXPECT_EQ(reply.results(i).error().code(), there ? v1::ERROR_CODE_OK : v1::ERROR_CODE_UNAVAILABLE);
    EXPECT_TRUE(there || reply.results(i).id() == id(i));
  }
}

TEST(cut_submission, does_not_trust_a_shard_that_answers_for_too_few) {
  const auto whole = tasks(10);
  const auto cut = cut_by_shard(whole, 1);
  std::vector<v1::SubmitReply> answers(1);
  answers[0].add_results()->set_created(true);
  const auto reply = put_together(whole, cut.positions, std::move(answers));
  ASSERT_EQ(reply.results_size(), 10);
  for (const auto& one : reply.results()) EXPECT_EQ(one.error().code(), v1::ERROR_CODE_INTERNAL);
}

TEST(cut_states, are_an_error_as_a_whole_when_a_shard_is_missing) {
  v1::StatesRequest what;
  for (int i = 0; i < 20; ++i) what.add_ids(id(i));
  const auto cut = cut_by_shard(what, 2);
  ASSERT_EQ(cut.parts.size(), 2u);
  std::vector<v1::StatesReply> answers(2);
  for (const auto& one : cut.parts[0].second.ids()) {
    auto* item = answers[0].add_items();
    item->set_id(one);
    item->set_state(v1::TASK_STATE_RUNNING);
  }
  answers[1] = missing<v1::StatesReply>();
  EXPECT_EQ(put_together(what, cut.positions, answers).error().code(), v1::ERROR_CODE_UNAVAILABLE);
}

TEST(cut_actions, say_to_each_shard_what_is_done_and_whose_tasks_are_known) {
  v1::OperateRequest what;
  for (int i = 0; i < 20; ++i) what.add_ids(id(i));
  what.mutable_action()->set_verb(v1::OPERATOR_VERB_SIGNAL);
  what.mutable_action()->set_signal("approved");
  what.set_submitted_by("shop");
  const auto cut = cut_by_shard(what, 2);
  ASSERT_EQ(cut.parts.size(), 2u);
  for (const auto& [shard, part] : cut.parts) {
    EXPECT_EQ(part.action().signal(), "approved");
    EXPECT_EQ(part.submitted_by(), "shop");
    for (const auto& one : part.ids()) EXPECT_EQ(core::shard_of_task(one, 2), shard);
  }
}

TEST(cut_acknowledgements, speak_of_each_shards_own_numbers_and_answer_with_the_clusters) {
  v1::AlertAckRequest what;
  for (const std::uint64_t number : {1, 2, 0, 6}) what.add_numbers(number);
  what.set_who("ana");
  const auto cut = cut_by_shard(what, 2);
  ASSERT_EQ(cut.parts.size(), 2u);
  EXPECT_EQ(cut.parts[0].second.numbers(0), 1u);
  ASSERT_EQ(cut.parts[1].second.numbers_size(), 2);
  EXPECT_EQ(cut.parts[1].second.numbers(0), 1u);
  EXPECT_EQ(cut.parts[1].second.numbers(1), 3u);
  EXPECT_EQ(cut.parts[1].second.who(), "ana");
  std::vector<v1::AlertAckReply> answers(2);
  answers[0].add_results()->mutable_alert()->set_number(1);
  answers[1].add_results()->mutable_error()->set_code(v1::ERROR_CODE_NOT_FOUND);
  answers[1].add_results()->mutable_alert()->set_number(3);
  const auto reply = put_together(what, cut, answers, 2);
  EXPECT_EQ(reply.results(0).alert().number(), 1u);
  EXPECT_EQ(reply.results(1).error().sentence(), "there is no alert 2");
  EXPECT_EQ(reply.results(2).error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(reply.results(3).alert().number(), 6u);
}

v1::FinishedNotice ends(const std::vector<std::string>& ids, v1::TaskState state = v1::TASK_STATE_COMPLETED) {
  v1::FinishedNotice out;
  for (const auto& one : ids) {
    auto* end = out.add_items();
    end->set_id(one);
    end->set_state(state);
  }
  return out;
}

TEST(relays, tell_each_client_of_its_own_tasks_once) {
  gateway_relays relays;
  relays.add("a", 1);
  relays.add("b", 2);
  relays.add("c", 1);
  auto told = relays.take(ends({"a", "b", "c", "of nobody"}));
  EXPECT_EQ(told[1].items_size(), 2);
  EXPECT_EQ(told[2].items_size(), 1);
  EXPECT_TRUE(relays.take(ends({"a", "b", "c"})).empty());
  EXPECT_EQ(relays.size(), 0u);
  EXPECT_FALSE(relays.knows_client(1));
}

TEST(relays, keep_a_task_that_is_parked_for_it_may_still_end) {
  gateway_relays relays;
  relays.add("a", 1);
  auto parked = ends({"a"}, v1::TASK_STATE_RUNNING);
  parked.mutable_items(0)->set_parked(true);
  EXPECT_EQ(relays.take(parked).size(), 1u);
  EXPECT_EQ(relays.take(ends({"a"})).size(), 1u);
}

TEST(relays, forget_clients_that_are_gone_and_beyond_their_bound_the_oldest) {
  gateway_relays relays{3};
  for (const auto* task : {"a", "b", "c", "d"}) relays.add(task, 1);
  EXPECT_EQ(relays.size(), 3u);
  EXPECT_TRUE(relays.take(ends({"a"})).empty());
  relays.add("e", 2);
  relays.forget_client(1);
  EXPECT_EQ(relays.size(), 1u);
  relays.forget_task("e", 1);  // another one's
  EXPECT_EQ(relays.take(ends({"e", "c"}))[2].items_size(), 1);
}

shard_answer answered(std::uint32_t shard, bool here, std::uint64_t running) {
  shard_answer out{shard, here ? "n1" : "n2", here, {}};
  out.reply.set_epoch(shard + 10);
  out.reply.mutable_counts()->set_running(running);
  out.reply.set_oldest_due_unix_ms(100 + shard);
  auto* line = out.reply.add_shards();
  line->set_up(true);
  line->set_epoch(shard + 10);
  auto* agent = out.reply.add_agents();
  agent->set_instance("n3/pay");
  agent->set_capacity(4);
  agent->set_held(shard);
  agent->set_away(shard == 1);
  auto* service = out.reply.add_services();
  service->mutable_record()->set_agent("pay");
  service->mutable_record()->set_breaker(shard == 1 ? v1::BREAKER_STATE_OPEN : v1::BREAKER_STATE_CLOSED);
  service->mutable_record()->set_breaker_alert(shard == 1 ? 3 : 0);
  service->set_waiting(5);
  return out;
}

TEST(merged_status, sums_what_shards_say_and_keeps_a_line_for_each) {
  const auto reply = merge_status({answered(0, false, 2), answered(1, true, 3)});
  EXPECT_EQ(reply.counts().running(), 5u);
  EXPECT_EQ(reply.epoch(), 11u);  // of the first one here
  EXPECT_EQ(reply.oldest_due_unix_ms(), 100);
  ASSERT_EQ(reply.shards_size(), 2);
  EXPECT_EQ(reply.shards(0).node(), "n2");
  EXPECT_FALSE(reply.shards(0).here());
  EXPECT_TRUE(reply.shards(1).here());
  ASSERT_EQ(reply.agents_size(), 1);
  EXPECT_EQ(reply.agents(0).capacity(), 8u);
  EXPECT_FALSE(reply.agents(0).away());
  ASSERT_EQ(reply.services_size(), 1);
  EXPECT_EQ(reply.services(0).record().breaker(), v1::BREAKER_STATE_OPEN);
  EXPECT_EQ(reply.services(0).record().breaker_alert(), 6u);  // as the cluster numbers it
  EXPECT_EQ(reply.services(0).waiting(), 10u);
}

TEST(merged_status, shows_a_shard_that_is_missing_and_still_answers) {
  shard_answer gone{1, "", false, missing<v1::StatusReply>()};
  const auto reply = merge_status({answered(0, true, 2), gone});
  EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_OK);
  ASSERT_EQ(reply.shards_size(), 2);
  EXPECT_FALSE(reply.shards(1).up());
  EXPECT_EQ(reply.shards(1).reason(), "shard cannot be reached");
  EXPECT_EQ(reply.counts().running(), 2u);
}

TEST(merged_status, is_an_error_when_nothing_answers_where_something_should) {
  EXPECT_EQ(merge_status({{0, "n1", true, missing<v1::StatusReply>()}}).error().code(), v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_EQ(merge_status({{0, "", false, missing<v1::StatusReply>()}}).error().code(), v1::ERROR_CODE_OK);
}

}  // namespace
}  // namespace fairlead
