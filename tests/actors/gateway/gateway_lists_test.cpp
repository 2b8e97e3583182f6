#include "actors/gateway/requests/lists.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "actors/core/cluster/alert_numbers.hpp"

namespace fairlead {
namespace {

using texts = std::vector<std::string>;

/// A shard that lists its tasks as list_tasks does: newest first, each with a cursor, in pages.
struct listed_shard {
  std::vector<std::pair<std::string, std::int64_t>> tasks;  // newest first
  int rows_a_page = 1'000;

  static std::string cursor_of(std::size_t at) { return "00" + std::to_string(at + 1); }

  v1::TaskListReply page(const std::string& cursor, int size) const {
    v1::TaskListReply out;
    std::size_t at = cursor.empty() ? 0 : std::stoul(cursor.substr(2));
    for (int seen = 0; at < tasks.size(); ++at) {
      if (out.items_size() == size || seen++ == rows_a_page) break;
      auto* item = out.add_items();
      item->set_id(tasks[at].first);
      item->set_created_at_unix_ms(tasks[at].second);
      item->set_cursor(cursor_of(at));
    }
    if (at < tasks.size()) out.set_cursor("00" + std::to_string(at));
    return out;
  }
};

v1::TaskListReply next_page(const std::vector<listed_shard>& shards, const std::string& cursor, int size) {
  auto places = list_places(cursor, static_cast<std::uint32_t>(shards.size()));
  EXPECT_TRUE(places.ok()) << cursor;
  std::vector<v1::TaskListReply> answers;
  for (std::size_t i = 0; i < shards.size(); ++i)
    if (!(*places)[i].over) answers.push_back(shards[i].page((*places)[i].cursor, size));
  v1::TaskListRequest what;
  what.set_page_size(static_cast<std::uint32_t>(size));
  return merge_tasks(what, std::move(*places), std::move(answers));
}

TEST(merged_task_list, goes_from_new_to_old_over_all_shards) {
  const std::vector<listed_shard> shards{{{{"a9", 9}, {"a3", 3}, {"a1", 1}}}, {{{"b8", 8}, {"b7", 7}}}, {}};
  auto page = next_page(shards, "", 3);
  texts seen;
  for (const auto& one : page.items()) seen.push_back(one.id());
  EXPECT_EQ(seen, (texts{"a9", "b8", "b7"}));
  EXPECT_EQ(page.items(0).cursor(), "");
  ASSERT_NE(page.cursor(), "");
  page = next_page(shards, page.cursor(), 3);
  ASSERT_EQ(page.items_size(), 2);
  EXPECT_EQ(page.items(0).id(), "a3");
  EXPECT_EQ(page.items(1).id(), "a1");
  EXPECT_EQ(page.cursor(), "");
}

TEST(merged_task_list, shows_every_task_once_whatever_the_sizes_of_pages_and_shards) {
  std::mt19937 random{7};
  for (int round = 0; round < 200; ++round) {
    std::vector<listed_shard> shards(1 + random() % 5);
    std::vector<std::pair<std::int64_t, std::string>> all;
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const auto count = random() % 20;
      shards[i].rows_a_page = 1 + static_cast<int>(random() % 8);
      std::int64_t at = 1'000;
      for (std::size_t k = 0; k < count; ++k) {
        at -= static_cast<std::int64_t>(random() % 5);  // some at the same moment
        shards[i].tasks.emplace_back("s" + std::to_string(i) + "-" + std::to_string(k), at);
        all.emplace_back(at, shards[i].tasks.back().first);
      }
    }
    std::vector<std::pair<std::int64_t, std::string>> seen;
    std::string cursor;
    int pages = 0;
    do {
      const auto page = next_page(shards, cursor, 1 + static_cast<int>(random() % 6));
      for (const auto& one : page.items()) seen.emplace_back(one.created_at_unix_ms(), one.id());
      cursor = page.cursor();
      ASSERT_LT(++pages, 1'000);
    } while (!cursor.empty());
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.first > b.first; }));
    std::sort(seen.begin(), seen.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(seen, all);
  }
}

TEST(merged_task_list, says_how_many_tasks_all_shards_have_looked_at) {
  std::vector<v1::TaskListReply> answers(3);
  answers[0].set_looked_at(20'000);
  answers[0].set_cursor("00ff");
  answers[1].set_looked_at(7);
  // A node of an earlier release does not say.
  for (const auto* id : {"a", "b"}) answers[2].add_items()->set_id(id);
  const auto page = merge_tasks({}, std::vector<list_place>(3), answers);
  EXPECT_EQ(page.looked_at(), 20'009u);
  EXPECT_EQ(page.items_size(), 0) << "the first may have newer ones";
  EXPECT_NE(page.cursor(), "");
}

TEST(merged_task_list, leaves_out_what_a_node_of_an_earlier_release_lists_beyond_the_asked_time) {
  v1::TaskListRequest what;
  what.set_ended_since_unix_ms(5);
  what.set_ended_until_unix_ms(10);
  v1::TaskListReply answer;
  for (const std::int64_t at : {12, 10, 9, 5}) {
    answer.add_items()->set_id(std::to_string(at));
    answer.mutable_items()->rbegin()->set_finished_at_unix_ms(at);
  }
  answer.set_kept_from_unix_ms(3);
  const auto page = merge_tasks(what, std::vector<list_place>(1), {answer});
  ASSERT_EQ(page.items_size(), 2);
  EXPECT_EQ(page.items(0).id(), "9");
  EXPECT_EQ(page.kept_from_unix_ms(), 3);
}

TEST(task_list_request, may_have_conditions_that_a_node_of_an_earlier_release_does_not_know) {
  v1::TaskListRequest what;
  what.set_workflow("order");
  what.set_ended_since_unix_ms(5);
  EXPECT_FALSE(may_be_unknown(what));
  auto until = what, job = what;
  until.set_ended_until_unix_ms(10);
  EXPECT_TRUE(may_be_unknown(until));
  job.set_job("nightly");
  EXPECT_TRUE(may_be_unknown(job));
  auto top_level = what, children = what;
  top_level.set_top_level(true);
  EXPECT_TRUE(may_be_unknown(top_level));
  children.set_parent("order-7");
  EXPECT_TRUE(may_be_unknown(children));
}

TEST(merged_task_list, goes_by_the_end_where_the_shards_do) {
  v1::TaskListRequest what;
  what.add_states(v1::TASK_STATE_COMPLETED);
  std::vector<v1::TaskListReply> answers(2);
  for (int i = 0; i < 2; ++i) {
    auto* item = answers[static_cast<std::size_t>(i)].add_items();
    item->set_id(i == 0 ? "old and slow" : "young and quick");
    item->set_created_at_unix_ms(i == 0 ? 1 : 5);
    item->set_finished_at_unix_ms(i == 0 ? 9 : 6);
  }
  const auto page = merge_tasks(what, std::vector<list_place>(2), answers);
  EXPECT_EQ(page.items(0).id(), "old and slow");
}

TEST(merged_task_list, goes_by_the_ids_where_they_led_and_refuses_a_shard_that_cannot_tell_them) {
  v1::TaskListRequest what;
  what.set_id_prefix("a");
  std::vector<v1::TaskListReply> answers(2);
  for (int i = 0; i < 2; ++i) {
    answers[static_cast<std::size_t>(i)].set_by("id_prefix");
    auto* item = answers[static_cast<std::size_t>(i)].add_items();
    item->set_id(i == 0 ? "a1" : "a2");
    item->set_created_at_unix_ms(i == 0 ? 9 : 1);
  }
  const auto page = merge_tasks(what, std::vector<list_place>(2), answers);
  ASSERT_EQ(page.items_size(), 2);
  EXPECT_EQ(page.items(0).id(), "a2");
  EXPECT_EQ(page.by(), "id_prefix");
  answers[1].clear_by();
  EXPECT_EQ(merge_tasks(what, std::vector<list_place>(2), answers).error().code(), v1::ERROR_CODE_UNAVAILABLE) << "it lists all tasks";
  what.set_partial(true);
  const auto part = merge_tasks(what, std::vector<list_place>(2), answers);
  EXPECT_EQ(part.items_size(), 1);
  EXPECT_EQ(part.missing_size(), 1);
}

TEST(merged_task_list, of_the_children_of_a_task_asks_one_shard_page_after_page) {
  v1::TaskListRequest what;
  what.set_parent("o-1");
  what.set_page_size(1);
  auto places = list_places("", 3, 1);
  ASSERT_TRUE(places.ok());
  EXPECT_TRUE((*places)[0].over && !(*places)[1].over && (*places)[2].over);
  v1::TaskListReply answer;
  answer.set_by("parent");
  answer.set_cursor("0012");
  answer.add_items()->set_id("o-1/ship~2");
  answer.mutable_items(0)->set_cursor("0012");
  auto page = merge_tasks(what, *places, {answer});
  ASSERT_EQ(page.items_size(), 1);
  EXPECT_EQ(page.cursor(), "m3.-.0012.-");
  places = list_places(page.cursor(), 3, 1);
  ASSERT_TRUE(places.ok());
  EXPECT_EQ((*places)[1].cursor, "0012");
  answer.clear_cursor();
  page = merge_tasks(what, *places, {answer});
  EXPECT_EQ(page.items_size(), 1);
  EXPECT_EQ(page.cursor(), "");
  for (const auto* foreign : {"m3.0012.0012.-", "m3.-.-.0012", "m3.-.-.-"}) EXPECT_FALSE(list_places(foreign, 3, 1).ok()) << foreign;
  answer.clear_by();
  EXPECT_EQ(merge_tasks(what, *list_places("", 3, 1), {answer}).error().code(), v1::ERROR_CODE_UNAVAILABLE) << "it lists all tasks";
}

TEST(merged_task_list, says_which_shard_is_missing_and_shows_no_part_of_the_truth) {
  std::vector<v1::TaskListReply> answers(2);
  answers[0].add_items()->set_id("a");
  answers[1].mutable_error()->set_code(v1::ERROR_CODE_UNAVAILABLE);
  answers[1].mutable_error()->set_sentence("shard 1 cannot be reached");
  const auto page = merge_tasks({}, std::vector<list_place>(2), answers);
  EXPECT_EQ(page.error().code(), v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_EQ(page.error().sentence(), "shard 1 cannot be reached");
  EXPECT_EQ(page.items_size(), 0);
}

v1::TaskListReply away(const std::string& sentence) {
  v1::TaskListReply out;
  out.mutable_error()->set_code(v1::ERROR_CODE_UNAVAILABLE);
  out.mutable_error()->set_sentence(sentence);
  return out;
}

TEST(partial_task_list, goes_on_without_the_shards_that_are_away_and_names_them) {
  const std::vector<listed_shard> shards{{{{"a9", 9}, {"a3", 3}, {"a1", 1}}}, {}, {{{"c5", 5}}}};
  v1::TaskListRequest what;
  what.set_partial(true);
  what.set_page_size(2);
  auto page = merge_tasks(what, std::vector<list_place>(3), {shards[0].page("", 2), away("shard 1 is away"), shards[2].page("", 2)});
  ASSERT_EQ(page.items_size(), 2);
  EXPECT_EQ(page.items(1).id(), "c5");
  ASSERT_EQ(page.missing_size(), 1);
  EXPECT_EQ(page.missing(0).sentence(), "shard 1 is away");
  EXPECT_FALSE(page.has_error());
  // With the next page the shard is asked again, from its beginning.
  const auto places = list_places(page.cursor(), 3);
  ASSERT_TRUE(places.ok());
  EXPECT_FALSE((*places)[1].over);
  EXPECT_EQ((*places)[1].cursor, "");
  std::vector<v1::TaskListReply> next{shards[0].page((*places)[0].cursor, 2), away("shard 1 is away")};
  page = merge_tasks(what, *places, next);
  EXPECT_EQ(page.items_size(), 2);
  EXPECT_EQ(page.cursor(), "") << "no page comes for the sake of a shard that is away alone";
}

TEST(partial_task_list, of_no_shard_at_all_is_an_error_and_so_is_any_other_error) {
  v1::TaskListRequest what;
  what.set_partial(true);
  EXPECT_EQ(merge_tasks(what, std::vector<list_place>(2), {away("one"), away("two")}).error().sentence(), "one");
  auto damaged = away("damaged");
  damaged.mutable_error()->set_code(v1::ERROR_CODE_CORRUPT);
  EXPECT_EQ(merge_tasks(what, std::vector<list_place>(2), {v1::TaskListReply{}, damaged}).error().sentence(), "damaged");
}

TEST(list_cursor, is_read_back_as_it_was_and_no_other_is) {
  const auto text = list_cursor({{false, "0a1b"}, {true, ""}, {false, ""}});
  const auto back = list_places(text, 3);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ((*back)[0].cursor, "0a1b");
  EXPECT_TRUE((*back)[1].over);
  EXPECT_FALSE((*back)[2].over);
  EXPECT_EQ((*back)[2].cursor, "");
  EXPECT_EQ(list_cursor({{true, ""}, {true, ""}}), "");
  for (const std::string foreign : {"0a1b", "m2.0a.0b", "m3.0a.0b", "m3.0a.0b.0c.0d", "m3.0a.xy.", "m3.-.-.-", "m3", "M3...", "m3.0A.."})
    EXPECT_FALSE(list_places(foreign, 3).ok()) << foreign;
}

TEST(alert_numbers, name_one_alert_of_the_cluster_each) {
  std::map<std::uint64_t, int> seen;
  for (std::uint32_t shard = 0; shard < 3; ++shard)
    for (std::uint64_t number = 1; number <= 50; ++number) {
      const auto outside = core::alert_number({shard, number}, 3);
      ++seen[outside];
      const auto back = core::alert_of_number(outside, 3);
      EXPECT_EQ(back.shard, shard);
      EXPECT_EQ(back.number, number);
    }
  EXPECT_EQ(seen.size(), 150u);
  EXPECT_EQ(core::alert_number({0, 7}, 1), 7u);
  EXPECT_EQ(core::alert_of_number(7, 1).number, 7u);
  EXPECT_EQ(core::alert_number({2, 0}, 3), 0u);
}

/// Alerts of a shard by number from 1 on, with the moments at which they were raised.
v1::AlertListReply alerts_of(const std::vector<std::int64_t>& raised, const v1::AlertListRequest& what, std::size_t page) {
  v1::AlertListReply out;
  for (auto number = raised.size(); number > 0; --number) {
    if (what.before() != 0 && number >= what.before()) continue;
    if (what.raised_before_unix_ms() != 0 && raised[number - 1] >= what.raised_before_unix_ms()) continue;
    if (static_cast<std::size_t>(out.items_size()) == page) {
      out.set_before(number + 1);
      break;
    }
    auto* item = out.add_items();
    item->set_number(number);
    item->set_raised_at_unix_ms(raised[number - 1]);
  }
  return out;
}

TEST(merged_alert_list, shows_every_alert_once_by_time_over_pages_that_go_on_by_one_number) {
  std::mt19937 random{3};
  for (int round = 0; round < 200; ++round) {
    const auto count = static_cast<std::uint32_t>(2 + random() % 3);
    std::vector<std::vector<std::int64_t>> shards(count);
    std::size_t total = 0;
    for (auto& shard : shards) {
      std::int64_t at = 100;
      for (auto n = random() % 15; n > 0; --n) shard.push_back(at += static_cast<std::int64_t>(random() % 3));
      total += shard.size();
    }
    std::vector<std::int64_t> times;
    std::map<std::uint64_t, int> seen;
    v1::AlertListRequest what;
    do {
      what.set_page_size(static_cast<std::uint32_t>(1 + random() % 5));
      const auto last = core::alert_of_number(what.before(), count);
      const auto raised_at = what.before() == 0 ? 0 : shards[last.shard][last.number - 1];
      std::vector<alert_source> sources;
      for (std::uint32_t shard = 0; shard < count; ++shard) {
        const auto answer = alerts_of(shards[shard], alerts_behind(what, shard, count, raised_at), what.page_size());
        sources.push_back({shard, {answer.items().begin(), answer.items().end()}, 0, answer.before()});
      }
      v1::AlertListReply page;
      // Each shard gave as many as the page holds, so nothing has to be asked for.
      ASSERT_FALSE(fill_page(page, sources, what.page_size(), count));
      for (const auto& one : page.items()) {
        times.push_back(one.raised_at_unix_ms());
        ++seen[one.number()];
      }
      what.set_before(more_alerts(sources) ? page.items().rbegin()->number() : 0);
    } while (what.before() != 0);
    EXPECT_TRUE(std::is_sorted(times.rbegin(), times.rend()));
    EXPECT_EQ(times.size(), total);
    EXPECT_EQ(seen.size(), total);
  }
}

TEST(merged_alert_list, asks_a_shard_on_whose_page_held_nothing_and_was_not_the_last) {
  std::vector<alert_source> sources{{0, {}, 0, 40}, {1, {v1::AlertRecord{}}, 0, 0}};
  v1::AlertListReply page;
  const auto dry = fill_page(page, sources, 10, 2);
  ASSERT_TRUE(dry);
  EXPECT_EQ(*dry, 0u);
  EXPECT_EQ(page.items_size(), 0);
}

v1::RepliesReply events(std::vector<std::pair<std::uint64_t, std::int64_t>> positions_and_moments) {
  v1::RepliesReply out;
  for (const auto& [position, at] : positions_and_moments) {
    auto* event = out.add_events();
    event->set_position(position);
    event->set_at_unix_ms(at);
  }
  return out;
}

TEST(merged_replies, come_oldest_first_and_say_whose_outbox_they_are_of) {
  v1::RepliesRequest what;
  what.set_page_size(3);
  const auto reply = merge_replies(what, {{0, events({{7, 10}, {9, 30}})}, {1, events({{7, 20}, {8, 40}})}});
  ASSERT_EQ(reply.events_size(), 3);
  EXPECT_EQ(reply.events(0).shard(), 0u);
  EXPECT_EQ(reply.events(1).shard(), 1u);
  EXPECT_EQ(reply.events(1).position(), 7u);
  EXPECT_EQ(reply.events(2).position(), 9u);
}

TEST(merged_replies, name_a_missing_shard_only_once_the_others_have_nothing_more) {
  v1::RepliesReply missing;
  missing.mutable_error()->set_code(v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_FALSE(merge_replies({}, {{0, events({{1, 1}})}, {1, missing}}).has_error());
  EXPECT_EQ(merge_replies({}, {{0, events({})}, {1, missing}}).error().code(), v1::ERROR_CODE_UNAVAILABLE);
}

TEST(merged_replies, tell_each_shard_its_own_position) {
  v1::RepliesRequest what;
  for (const auto& [shard, position] : std::map<std::uint32_t, std::uint64_t>{{0, 5}, {2, 6}}) {
    auto* one = what.add_positions();
    one->set_shard(shard);
    one->set_acknowledged(position);
  }
  EXPECT_EQ(replies_of_shard(what, 0).acknowledged(), 5u);
  EXPECT_EQ(replies_of_shard(what, 1).acknowledged(), 0u);
  EXPECT_EQ(replies_of_shard(what, 2).acknowledged(), 6u);
  EXPECT_EQ(replies_of_shard(what, 2).positions_size(), 0);
}

v1::AgentOperateReply operated(v1::ErrorCode code, std::uint32_t held = 0) {
  v1::AgentOperateReply out;
  if (code != v1::ERROR_CODE_OK) out.mutable_error()->set_code(code);
  out.set_held(held);
  return out;
}

TEST(merged_agent_operations, are_done_when_every_shard_that_knows_the_instance_has_done_them) {
  const auto ok = v1::ERROR_CODE_OK;
  const auto unknown = v1::ERROR_CODE_NOT_FOUND;
  const auto missing = v1::ERROR_CODE_UNAVAILABLE;
  EXPECT_EQ(merge(v1::AgentOperateRequest{}, {operated(ok, 2), operated(ok, 3)}).held(), 5u);
  EXPECT_EQ(merge(v1::AgentOperateRequest{}, {operated(ok, 2), operated(unknown)}).error().code(), ok);
  EXPECT_EQ(merge(v1::AgentOperateRequest{}, {operated(unknown), operated(unknown)}).error().code(), unknown);
  EXPECT_EQ(merge(v1::AgentOperateRequest{}, {operated(ok), operated(missing)}).error().code(), missing);
  EXPECT_EQ(merge(v1::AgentOperateRequest{}, {operated(unknown), operated(missing)}).error().code(), missing);
}

TEST(merged_doctors, list_so_many_effects_without_a_task_and_count_the_others) {
  std::vector<v1::DoctorReply> answers(5);
  for (auto& one : answers) {
    for (int i = 0; i < 256; ++i) one.add_effects();
    one.set_effects_dropped(2);
  }
  const auto merged = merge_doctors(std::move(answers));
  EXPECT_EQ(merged.effects_size(), 1'000);
  EXPECT_EQ(merged.effects_dropped(), 5u * 256 - 1'000 + 10);
}

v1::WorkflowListReply workflows_with(std::vector<std::pair<std::string, std::uint64_t>> live) {
  v1::WorkflowListReply out;
  auto& item = *out.add_items();
  item.set_name("order");
  item.set_content_hash("new");
  for (const auto& [hash, tasks] : live) {
    auto& version = *item.add_all();
    version.set_content_hash(hash);
    version.set_deployed_at_unix_ms(hash == "old" ? 1 : 2);
    version.set_live_tasks(tasks);
    version.set_parked_tasks(1);
  }
  return out;
}

TEST(merged_workflows, have_the_tasks_of_all_shards_by_version_the_current_one_first) {
  const v1::WorkflowListRequest what;
  const auto merged =
      merge(what, {workflows_with({{"old", 2}, {"new", 1}}), workflows_with({{"new", 4}}), workflows_with({{"new", 0}, {"mid", 7}})});
  ASSERT_EQ(merged.items_size(), 1);
  std::string text;
  for (const auto& one : merged.items(0).all())
    text += one.content_hash() + " " + std::to_string(one.live_tasks()) + "/" + std::to_string(one.parked_tasks()) + " ";
  EXPECT_EQ(text, "new 5/3 mid 7/1 old 2/1 ");
}

TEST(merged_workflows, are_listed_without_counts_where_a_shard_has_not_counted) {
  const v1::WorkflowListRequest what;
  v1::WorkflowListReply away;
  away.mutable_error()->set_code(v1::ERROR_CODE_UNAVAILABLE);
  for (const auto& silent : {away, workflows_with({})})
    for (const auto& answers : {std::vector{silent, workflows_with({{"new", 3}})}, std::vector{workflows_with({{"new", 3}}), silent}}) {
      const auto merged = merge(what, answers);
      EXPECT_EQ(merged.error().code(), v1::ERROR_CODE_OK);
      ASSERT_EQ(merged.items_size(), 1);
      EXPECT_EQ(merged.items(0).all_size(), 0);
    }
  EXPECT_EQ(merge(what, {away, away}).error().code(), v1::ERROR_CODE_UNAVAILABLE);
}

}  // namespace
}  // namespace fairlead
