#include "actors/core/cluster/hello.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace fairlead::core {
namespace {

v1::Hello node_named(const std::string& name, const std::vector<std::uint32_t>& shards = {}) {
  v1::Hello out;
  out.set_protocol(protocol_version);
  out.set_least_protocol(least_protocol_version);
  out.set_cluster("blue");
  out.set_node(name);
  out.set_node_id("id-" + name);
  out.set_incarnation(7);
  out.set_run_id("run-" + name);
  out.set_version("1.2.3");
  out.set_listens_on("127.0.0.1:7100");
  out.add_roles("shard");
  out.set_shard_count(4);
  for (const auto shard : shards) {
    auto* claim = out.add_shards();
    claim->set_shard(shard);
    claim->set_store_id("store-" + name);
    claim->set_epoch(1);
  }
  return out;
}

struct desk {
  v1::Hello me = node_named("a", {0});
  std::vector<v1::Hello> connected;
  std::map<std::string, seen_process> seen;
  std::map<std::uint32_t, v1::Lineage> lineages;
  std::map<std::string, std::string> names;
  std::uint32_t shard_count = 4;

  hello_judgement judge(const v1::Hello& you) const {
    hello_view view{me, shard_count, {}, seen, lineages, names};
    for (const auto& one : connected) view.connected.push_back(&one);
    return judge_hello(you, view);
  }
  std::string refusal(const v1::Hello& you) const {
    const auto out = judge(you);
    EXPECT_EQ(out.verdict, hello_verdict::refuse);
    EXPECT_EQ(out.why.code, v1::ERROR_CODE_CONFLICT);
    EXPECT_FALSE(out.why.remedy.empty());
    EXPECT_FALSE(out.senseless);
    return out.why.sentence;
  }
};

TEST(hello, nodes_of_one_cluster_with_shards_of_their_own_join) {
  desk d;
  const auto out = d.judge(node_named("b", {1, 2}));
  EXPECT_EQ(out.verdict, hello_verdict::join);
  EXPECT_TRUE(out.replaced.empty());
}

TEST(hello, a_node_without_shards_joins_whatever_the_count) {
  desk d;
  auto you = node_named("b");
  you.set_shard_count(0);
  EXPECT_EQ(d.judge(you).verdict, hello_verdict::join);
  d.me = you;
  d.shard_count = 0;
  EXPECT_EQ(d.judge(node_named("c", {1})).verdict, hello_verdict::join);
}

TEST(hello, another_cluster_is_refused_naming_both) {
  desk d;
  auto you = node_named("b");
  you.set_cluster("red");
  EXPECT_EQ(d.refusal(you), "node b is of cluster red, node a of cluster blue");
}

TEST(hello, a_protocol_that_neither_speaks_is_refused_naming_both_releases) {
  desk d;
  auto you = node_named("b");
  you.set_protocol(protocol_version + 2);
  you.set_least_protocol(protocol_version + 1);
  you.set_version("3.0.0");
  EXPECT_EQ(d.refusal(you), "node b (release 3.0.0) speaks protocol 3 to 4, node a (release 1.2.3) speaks protocol 2");
  you.set_protocol(least_protocol_version - 1);
  you.set_least_protocol(1);
  EXPECT_EQ(d.refusal(you), "node b (release 3.0.0) speaks protocol 1, node a (release 1.2.3) speaks protocol 2");
}

TEST(hello, the_next_and_the_last_release_are_spoken_with) {
  desk d;
  auto you = node_named("b");
  you.set_protocol(protocol_version + 1);
  you.set_least_protocol(protocol_version);
  EXPECT_EQ(d.judge(you).verdict, hello_verdict::join);
  d.me.set_protocol(3);
  d.me.set_least_protocol(2);
  you.set_protocol(2);
  you.set_least_protocol(2);
  EXPECT_EQ(d.judge(you).verdict, hello_verdict::join);
}

TEST(hello, a_later_release_is_refused_by_its_protocol_even_when_it_says_what_this_one_does_not_understand) {
  desk d;
  auto you = node_named("b", {200});
  you.set_protocol(9);
  you.set_least_protocol(8);
  you.set_shard_count(100'000);
  EXPECT_NE(d.refusal(you).find("protocol 8 to 9"), std::string::npos);
}

TEST(hello, another_number_of_shards_is_refused) {
  desk d;
  auto you = node_named("b", {1});
  you.set_shard_count(8);
  EXPECT_EQ(d.refusal(you), "node b has a cluster with 8 shards, node a 4");
}

TEST(hello, a_process_that_reaches_itself_is_told_apart_from_a_copy_of_its_folder) {
  desk d;
  EXPECT_EQ(d.judge(d.me).verdict, hello_verdict::itself);
  auto copy = d.me;
  copy.set_run_id("another");
  EXPECT_EQ(d.refusal(copy), "node a runs twice: two processes have the same node_id, so one data folder is a copy of the other");
  copy.set_node("z");
  EXPECT_EQ(d.refusal(copy), "nodes a and z are one: two processes have the same node_id, so one data folder is a copy of the other");
}

TEST(hello, a_name_that_another_node_bears_is_refused_while_that_one_is_connected) {
  desk d;
  auto mine = node_named("a");
  mine.set_node_id("other");
  EXPECT_EQ(d.refusal(mine), "another node named a is already in the cluster, with another data folder");

  auto second = node_named("b");
  second.set_node_id("other");
  EXPECT_EQ(d.judge(second).verdict, hello_verdict::join);
  d.connected = {node_named("b")};
  EXPECT_EQ(d.refusal(second), "another node named b is already in the cluster, with another data folder");
}

TEST(hello, two_processes_of_one_incarnation_are_refused_while_the_first_is_connected) {
  desk d;
  auto copy = node_named("b");
  copy.set_run_id("another");
  EXPECT_EQ(d.judge(copy).verdict, hello_verdict::join);
  d.connected = {node_named("b")};
  EXPECT_NE(d.refusal(copy).find("node b runs twice"), std::string::npos);
  EXPECT_EQ(d.judge(node_named("b")).verdict, hello_verdict::join) << "the same process on another connection";
}

TEST(hello, a_higher_incarnation_takes_the_place_of_the_earlier_process_also_under_a_new_name) {
  desk d;
  d.connected = {node_named("b", {1})};
  d.seen["id-b"] = {7, "run-b"};
  auto restarted = node_named("b", {1});
  restarted.set_incarnation(8);
  restarted.set_run_id("next");
  EXPECT_EQ(d.judge(restarted).verdict, hello_verdict::join);
  EXPECT_EQ(d.judge(restarted).replaced, std::vector<std::string>{"b"});
  restarted.set_node("renamed");
  EXPECT_EQ(d.judge(restarted).replaced, std::vector<std::string>{"b"});
}

TEST(hello, an_incarnation_below_one_that_was_seen_is_refused_also_when_nobody_is_connected) {
  desk d;
  d.seen["id-b"] = {8, "next"};
  EXPECT_EQ(d.refusal(node_named("b")),
            "node b shows incarnation 7, but its incarnation 8 was connected before: its data folder is an older copy");
  EXPECT_NE(d.judge(node_named("b")).why.remedy.find("run fairlead node forget b"), std::string::npos);
  d.seen["id-b"] = {7, "run-b"};
  EXPECT_EQ(d.judge(node_named("b")).verdict, hello_verdict::join);
  d.seen["id-b"] = {7, "run of before"};
  EXPECT_EQ(d.refusal(node_named("b")),
            "node b shows incarnation 7, but another process with that incarnation was connected before: its data folder is an older copy");
}

v1::Lineage lineage(std::int64_t made_unix_ms, std::uint64_t bits = 1) {
  v1::Lineage out;
  out.set_made_unix_ms(made_unix_ms);
  out.set_bits(bits);
  return out;
}

v1::Hello node_of(const std::string& name, std::uint32_t shard, const v1::Lineage& of) {
  auto out = node_named(name, {shard});
  *out.mutable_shards(0)->mutable_lineage() = of;
  return out;
}

TEST(hello, a_later_lineage_of_a_shard_takes_the_place_of_an_earlier_one_whatever_their_epochs) {
  desk d;
  d.connected = {node_of("c", 2, lineage(1'000))};
  d.connected[0].mutable_shards(0)->set_epoch(99);
  d.lineages[2] = lineage(1'000);
  const auto out = d.judge(node_of("b", 2, lineage(2'000)));
  EXPECT_EQ(out.verdict, hello_verdict::join);
  EXPECT_EQ(out.outlived, std::vector<std::string>{"c"});
}

TEST(hello, a_node_whose_lineage_is_over_is_refused_by_name_and_told_how_to_go_on) {
  desk d;
  d.connected = {node_of("c", 2, lineage(2'000))};
  EXPECT_EQ(
      d.refusal(node_of("b", 2, lineage(1'000))),
      "shard 2 of node b is of an earlier lineage (of 1970-01-01T00:00:01.000Z (0000000000000001)) than the one that node c holds (of "
      "1970-01-01T00:00:02.000Z (0000000000000001))");
  d.connected.clear();
  d.lineages[2] = lineage(2'000);
  EXPECT_NE(d.refusal(node_of("b", 2, lineage(1'000))).find("than the one that was here before"), std::string::npos)
      << "also when nobody is connected";
  EXPECT_NE(d.judge(node_of("b", 2, lineage(1'000))).why.remedy.find("fairlead restore STORE"), std::string::npos);
  EXPECT_EQ(d.judge(node_of("b", 2, lineage(2'000))).verdict, hello_verdict::join);
  EXPECT_EQ(d.judge(node_of("b", 2, lineage(2'001))).verdict, hello_verdict::join) << "which is what fairlead restore makes of it";
}

TEST(hello, two_lineages_of_one_moment_are_two_truths_and_refused_as_such) {
  desk d;
  d.lineages[2] = lineage(1'000, 1);
  EXPECT_NE(d.refusal(node_of("b", 2, lineage(1'000, 2))).find("they began apart from each other"), std::string::npos);
  d.lineages.clear();
  d.connected = {node_of("c", 2, lineage(1'000, 1))};
  EXPECT_EQ(d.refusal(node_of("b", 2, lineage(1'000, 2))),
            "shard 2 is held by node c, and node b claims it too in another lineage, which began apart from it");
}

TEST(hello, a_node_does_not_work_with_whoever_has_gone_on_with_its_own_shard) {
  desk d;
  *d.me.mutable_shards(0)->mutable_lineage() = lineage(1'000);
  EXPECT_EQ(d.refusal(node_of("b", 0, lineage(2'000))).find("shard 0 of node a is of an earlier lineage"), 0u);
  const auto out = d.judge(node_of("b", 0, lineage(2'000)));
  ASSERT_TRUE(out.later) << "so that what this node serves can end";
  EXPECT_EQ(out.later->lineage().made_unix_ms(), 2'000);
}

TEST(hello, a_claim_of_a_release_without_lineages_is_judged_as_before) {
  desk d;
  d.lineages[2] = lineage(1'000);
  EXPECT_EQ(d.judge(node_named("b", {2})).verdict, hello_verdict::join);
}

TEST(hello, a_shard_that_is_held_already_is_refused_by_whoever_knows_its_holder) {
  desk d;
  EXPECT_EQ(d.refusal(node_named("b", {0})), "shard 0 is held by node a, and node b claims it too with another store");
  d.connected = {node_named("c", {2, 3})};
  EXPECT_EQ(d.refusal(node_named("b", {1, 3})), "shard 3 is held by node c, and node b claims it too with another store");
  auto copy = node_named("b", {3});
  copy.mutable_shards(0)->set_store_id("store-c");
  EXPECT_EQ(d.refusal(copy), "shard 3 is held by node c, and node b claims it too with a copy of the same store");
}

TEST(hello, a_replicated_shard_may_be_claimed_by_its_former_leader_beside_the_present_one) {
  desk d;
  auto& mine = *d.me.mutable_shards(0);
  mine.mutable_lineage()->set_made_unix_ms(5);
  mine.mutable_lineage()->set_several(true);
  auto you = node_named("b", {0});
  auto& yours = *you.mutable_shards(0);
  yours = mine;
  yours.set_epoch(9);
  EXPECT_EQ(d.judge(you).verdict, hello_verdict::join);
  yours.set_store_id("another");
  EXPECT_NE(d.refusal(you).find("with another store"), std::string::npos);
  yours = mine;
  yours.mutable_lineage()->set_several(false);
  EXPECT_NE(d.refusal(you).find("node b claims to hold it alone"), std::string::npos) << "a copy from before others could join";
  yours.mutable_lineage()->set_made_unix_ms(9);
  EXPECT_NE(d.refusal(you).find("node b claims to hold it alone"), std::string::npos);
  yours = mine;
  yours.mutable_lineage()->set_made_unix_ms(4);
  EXPECT_NE(d.refusal(you).find("which began apart from it"), std::string::npos);
  mine.mutable_lineage()->set_bits(0xffff);
  EXPECT_NE(d.refusal(you).find("earlier lineage"), std::string::npos) << "what is here was restored";
}

TEST(hello, whoever_holds_a_shard_alone_does_not_speak_for_one_that_several_nodes_hold) {
  desk d;
  auto alone = node_of("b", 2, lineage(9'000, 2));
  auto one_of_several = node_of("c", 2, lineage(1'000));
  one_of_several.mutable_shards(0)->mutable_lineage()->set_several(true);
  // It is refused beside one of them, and also while none is connected.
  d.connected = {one_of_several};
  EXPECT_EQ(d.refusal(alone), "shard 2 is held by several nodes, as the one that node c holds, and node b claims to hold it alone");
  d.connected.clear();
  learn(d.lineages, one_of_several.shards(0));
  learn(d.lineages, alone.shards(0));
  EXPECT_EQ(d.refusal(alone), "shard 2 is held by several nodes, as the one that was here before, and node b claims to hold it alone");
  // Who took it for the shard lets it go when one of the several comes.
  d.lineages.clear();
  learn(d.lineages, alone.shards(0));
  d.connected = {alone};
  EXPECT_EQ(d.judge(one_of_several).outlived, (std::vector<std::string>{"b"}));
  d.me = alone;
  d.connected.clear();
  EXPECT_EQ(d.refusal(one_of_several),
            "shard 2 is held by several nodes, as the one that node c holds, and node b claims to hold it alone");
}

TEST(hello, a_shard_that_has_lived_on_one_node_alone_goes_on_as_one_of_several) {
  desk d;
  auto before = node_of("b", 2, lineage(1'000));
  learn(d.lineages, before.shards(0));
  auto now = before;
  now.mutable_shards(0)->mutable_lineage()->set_several(true);
  EXPECT_EQ(d.judge(now).verdict, hello_verdict::join);
  learn(d.lineages, now.shards(0));
  EXPECT_NE(d.refusal(before).find("node b claims to hold it alone"), std::string::npos) << "a copy from before";
  // Of two such neither counts more, but one that was restored.
  now.mutable_shards(0)->mutable_lineage()->set_made_unix_ms(900);
  EXPECT_NE(d.refusal(now).find("they began apart from each other"), std::string::npos);
  now.mutable_shards(0)->mutable_lineage()->set_made_unix_ms(2'000);
  EXPECT_NE(d.refusal(now).find("they began apart from each other"), std::string::npos);
  now.mutable_shards(0)->mutable_lineage()->set_bits(0xffff);
  EXPECT_EQ(d.judge(now).verdict, hello_verdict::join) << "restored";
}

TEST(hello, what_no_release_says_is_senseless_and_is_not_repeated) {
  const std::vector<std::function<void(v1::Hello&)>> ways{
      [](v1::Hello& h) { h.Clear(); },
      [](v1::Hello& h) { h.set_node("no name\n"); },
      [](v1::Hello& h) { h.set_node(std::string(65, 'n')); },
      [](v1::Hello& h) { h.set_cluster(""); },
      [](v1::Hello& h) { h.set_node_id(""); },
      [](v1::Hello& h) { h.set_node_id(std::string(1'000, 'x')); },
      [](v1::Hello& h) { h.set_run_id(""); },
      [](v1::Hello& h) { h.set_protocol(0); },
      [](v1::Hello& h) { h.set_least_protocol(h.protocol() + 1); },
      [](v1::Hello& h) { h.set_incarnation(0); },
      [](v1::Hello& h) { h.set_version(std::string(1'000, 'x')); },
      [](v1::Hello& h) { h.set_listens_on("a\x1b[31m"); },
      [](v1::Hello& h) { h.set_shard_count(max_shards + 1); },
      [](v1::Hello& h) { h.mutable_shards(0)->set_shard(4); },
      [](v1::Hello& h) { *h.add_shards() = h.shards(0); },
      [](v1::Hello& h) { h.mutable_shards(0)->set_store_id(""); },
      [](v1::Hello& h) { h.set_shard_count(0); },
      [](v1::Hello& h) {
        for (int i = 0; i < 100; ++i) h.add_roles("shard");
      },
  };
  desk d;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    auto you = node_named("b", {1});
    ways[i](you);
    const auto out = d.judge(you);
    EXPECT_EQ(out.verdict, hello_verdict::refuse) << i;
    EXPECT_TRUE(out.senseless) << i;
    EXPECT_LT(out.why.sentence.size(), 200U) << i;
    for (const char c : out.why.sentence) EXPECT_GE(c, ' ') << i;
  }
}

TEST(reconnect_delay, grows_to_its_bound_within_the_upper_half_and_differs_between_nodes) {
  const duration first{100};
  const duration longest{5'000};
  std::set<std::int64_t> tenth;
  for (int n = 0; n < 50; ++n) {
    const auto seed = "node-" + std::to_string(n);
    std::int64_t whole = 100;
    for (std::uint32_t failures = 1; failures <= 20; ++failures) {
      const auto wait = reconnect_delay(first, longest, failures, seed).count();
      EXPECT_GE(wait, whole / 2);
      EXPECT_LE(wait, whole);
      EXPECT_EQ(wait, reconnect_delay(first, longest, failures, seed).count());
      whole = std::min<std::int64_t>(whole * 2, 5'000);
    }
    tenth.insert(reconnect_delay(first, longest, 10, seed).count());
  }
  EXPECT_GT(tenth.size(), 40U);
}

TEST(hello, a_name_stays_with_the_folder_that_had_it_until_that_is_forgotten) {
  desk d;
  d.names["b"] = "id-b";
  EXPECT_EQ(d.judge(node_named("b", {1})).verdict, hello_verdict::join);
  auto other = node_named("b", {1});
  other.set_node_id("another");
  EXPECT_NE(d.refusal(other).find("fairlead node forget b lets this one take its name"), std::string::npos);
  d.connected.push_back(node_named("b", {1}));
  EXPECT_NE(d.refusal(other).find("another node named b is already in the cluster"), std::string::npos)
      << "what stands in its way now is said first";
  EXPECT_NE(d.judge(other).why.remedy.find("fairlead node forget b"), std::string::npos);
  d.connected.clear();
  d.names.clear();
  EXPECT_EQ(d.judge(other).verdict, hello_verdict::join);
}

}  // namespace
}  // namespace fairlead::core
