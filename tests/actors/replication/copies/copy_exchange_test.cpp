// A leader and a replica that lacks entries bring a copy of the state over a network that loses, doubles, reorders and changes what it carries.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "actors/replication/copies/copy_giver.hpp"
#include "actors/replication/copies/copy_taker.hpp"
#include "store/keys.hpp"
#include "store/memory/memory_archive.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/actors/replication/copies/copy_world.hpp"

namespace fairlead {
namespace {

using testing::replica_world;

struct copy_exchange_test : testing::copy_world {
  void SetUp() override {
    begin_giver();
    begin_taker();
  }

  void begin_giver() {
    giver.emplace(copy_giver::world{&three.it(leader), &three.store_of(leader), &archives[leader], 0, [this] { return three.now_ms; },
                                    [this] { return "copy " + std::to_string(++names); }, sender(), noter(giver_notes),
                                    [](raft::replica_id id) { return "n" + std::to_string(id); }, turn, [this] { ++refusals; }});
  }
  void begin_taker() {
    taker.emplace(copy_taker::world{&three.it(away), &three.store_of(away), &archives[away], [this] { return three.now_ms; }, sender(),
                                    noter(taker_notes), [](const error& why) { ADD_FAILURE() << why.sentence; }});
  }
  std::function<void(v1::ReplicaCopy)> sender() {
    return [this](v1::ReplicaCopy what) { network.push_back(std::move(what)); };
  }
  static std::function<void(const std::string&)> noter(std::vector<std::string>& to) {
    return [&to](const std::string& sentence) { to.push_back(sentence); };
  }

  /// The node that lacks entries is back, with its process's own ends of this.
  void fall_behind_anew() {
    giver.reset();
    taker.reset();
    fall_behind();
    begin_giver();
    begin_taker();
  }

  /// Some ticks, each with all that is under way by then.
  void pass(int ticks) {
    for (int i = 0; i < ticks && needs_a_copy(); ++i) {
      three.pass(250);
      giver->tick();
      taker->tick();
      while (!network.empty() && needs_a_copy()) carry_one();
    }
  }
  void carry_one() {
    const auto at = disorder ? three.random() % network.size() : 0;
    const auto what = network[at];
    if (three.random() % 1000 >= doubled) network.erase(network.begin() + static_cast<std::ptrdiff_t>(at));
    if (three.random() % 1000 < lost) return;
    auto changed = what;
    if (change) change(changed);
    deliver(changed);
  }
  void deliver(const v1::ReplicaCopy& what) {
    carried += what.chunk().data().size();
    what.to() == away ? taker->take(what) : giver->asked(what);
    // The leader has to hear of it, by a message that is no copy.
    if (what.to() == away) three.run();
  }

  static std::string task_key(std::uint64_t number) {
    return std::string{std::string_view{store::keys::task(store::default_namespace, number)}};
  }
  /// A task in an archive, as a move writes it.
  void archived(raft::replica_id of, std::int64_t day, std::uint64_t number) {
    v1::TaskRecord record;
    record.set_id("order-" + std::to_string(number));
    record.set_number(number);
    record.set_state(v1::TASK_STATE_COMPLETED);
    store::batch rows;
    rows.put(store::table::task, task_key(number), record.SerializeAsString());
    ASSERT_TRUE(archives[of].add({day, 0}, rows.bytes()).ok());
  }
  bool has(raft::replica_id of, std::int64_t day, std::uint64_t number) {
    const auto found = archives[of].load(day, task_number{number});
    return found.ok() && found->has_value();
  }

  std::map<raft::replica_id, store::memory_archive> archives;
  std::shared_ptr<copy_turn> turn = std::make_shared<copy_turn>(false);
  std::optional<copy_giver> giver;
  std::optional<copy_taker> taker;
  std::deque<v1::ReplicaCopy> network;
  std::vector<std::string> giver_notes, taker_notes;
  std::function<void(v1::ReplicaCopy&)> change;
  unsigned lost = 0, doubled = 0;  // of 1000
  bool disorder = false;
  int names = 0, refusals = 0;
  std::uint64_t carried = 0;
};

TEST_F(copy_exchange_test, of_the_shards_of_a_node_one_at_a_time_sends_a_copy) {
  turn->store(true);
  fall_behind_anew();
  pass(8);
  EXPECT_EQ(names, 0) << "another shard's is on its way";
  turn->store(false);
  pass(20);
  expect_whole();
  EXPECT_EQ(names, 1);
  giver->tick();
  EXPECT_FALSE(turn->load()) << "the next shard has its turn";
  // One that ends in between gives its turn back.
  fall_behind_anew();
  pass(1);
  EXPECT_TRUE(turn->load());
  giver.reset();
  EXPECT_FALSE(turn->load());
}

TEST_F(copy_exchange_test, brings_a_copy_to_whoever_lacks_entries_and_to_nobody_else) {
  for (int i = 0; i < 8; ++i) {
    three.pass(250);
    giver->tick();
    taker->tick();
  }
  EXPECT_TRUE(network.empty()) << "nobody lacks any";
  fall_behind_anew();
  pass(20);
  expect_whole();
  EXPECT_EQ(names, 1);
  EXPECT_EQ(taker_notes.back(), "the copy of the state is in place");
  EXPECT_EQ(taker->get_progress().of_bytes, 0U);
}

TEST_F(copy_exchange_test, shows_how_much_of_it_was_asked_for) {
  fall_behind_anew();
  three.pass(250);
  giver->tick();
  for (int i = 0; i < 12; ++i) carry_one();
  const auto seen = three.it(leader).view().copy;
  EXPECT_EQ(seen.to, away);
  EXPECT_GT(seen.bytes_asked, 0U);
  EXPECT_LT(seen.bytes_asked, seen.of_bytes);
  EXPECT_EQ(taker->get_progress().of_bytes, seen.of_bytes);
  EXPECT_GE(taker->get_progress().bytes, seen.bytes_asked);
  pass(20);
  EXPECT_FALSE(needs_a_copy());
  giver->tick();
  EXPECT_EQ(three.it(leader).view().copy.to, 0U);
}

TEST_F(copy_exchange_test, needs_no_second_copy_because_the_others_worked_meanwhile) {
  fall_behind_anew();
  three.pass(250);
  giver->tick();
  for (int i = 0; i < 12; ++i) carry_one();
  work(60);
  pass(20);
  expect_whole();
  EXPECT_EQ(names, 1);
}

TEST_F(copy_exchange_test, begins_anew_when_what_came_meanwhile_is_not_kept) {
  fall_behind_anew();
  three.pass(250);
  giver->tick();
  for (int i = 0; i < 12; ++i) carry_one();
  work(8 * 42 + 60);
  pass(60);
  expect_whole();
  EXPECT_GT(names, 1);
}

TEST_F(copy_exchange_test, loss_doubling_and_disorder_only_delay_it) {
  lost = 150;
  doubled = 150;
  disorder = true;
  for (int round = 0; round < 4; ++round) {
    fall_behind_anew();
    pass(1'500);
    expect_whole();
  }
}

TEST_F(copy_exchange_test, a_chunk_that_is_cut_or_changed_is_asked_for_again) {
  const std::vector<std::function<void(v1::ReplicaCopy::Chunk&)>> harms{
      [](auto& chunk) { (*chunk.mutable_data())[chunk.data().size() / 2] ^= 1; },
      [](auto& chunk) { chunk.mutable_data()->pop_back(); },
      [](auto& chunk) { chunk.mutable_data()->push_back('x'); },
      [](auto& chunk) { chunk.set_offset(chunk.offset() + 1); },
      [](auto& chunk) { chunk.set_hash(chunk.hash() + 1); },
      [](auto& chunk) { chunk.clear_data(); },
  };
  fall_behind_anew();
  std::set<std::uint64_t> harmed;
  change = [&](v1::ReplicaCopy& what) {
    if (what.has_chunk() && harmed.insert(what.chunk().offset()).second)
      harms[what.chunk().offset() / copy_taker::chunk_bytes % harms.size()](*what.mutable_chunk());
  };
  pass(2'000);
  expect_whole();
  EXPECT_GT(harmed.size(), 40U);
  EXPECT_EQ(names, 1);
}

TEST_F(copy_exchange_test, a_copy_of_other_rows_than_was_said_is_refused_and_changes_nothing) {
  fall_behind_anew();
  const auto before = three.rows(away);
  change = [](v1::ReplicaCopy& what) {
    if (what.has_offer()) what.mutable_offer()->set_index(what.offer().index() + 1);
  };
  for (int i = 0; i < 12; ++i) pass(1);
  EXPECT_EQ(three.rows(away), before);
  EXPECT_NE(three.it(leader).view().no_copy.find("it does not end with entry"), std::string::npos) << three.it(leader).view().no_copy;
  EXPECT_EQ(names, 1) << "it is not made again at once";
  EXPECT_EQ(refusals, 1);
  change = nullptr;
  pass(30'000 / 250 + 40);
  expect_whole();
  EXPECT_EQ(names, 2);
  EXPECT_EQ(three.it(leader).view().no_copy, "");
}

TEST_F(copy_exchange_test, a_copy_that_cannot_be_put_in_its_place_is_not_made_again_each_second) {
  fall_behind_anew();
  ASSERT_TRUE(store::set_failpoints("install.rows=error").ok());
  for (int i = 0; i < 20; ++i) pass(1);
  EXPECT_EQ(names, 1);
  EXPECT_NE(three.it(leader).view().no_copy.find("is not taken"), std::string::npos) << three.it(leader).view().no_copy;
  ASSERT_TRUE(store::set_failpoints("").ok());
  pass(30'000 / 250 + 40);
  expect_whole();
  EXPECT_EQ(names, 2);
}

TEST_F(copy_exchange_test, what_strangers_and_former_leaders_send_is_passed_over) {
  fall_behind_anew();
  three.pass(250);
  giver->tick();
  for (int i = 0; i < 6; ++i) carry_one();
  ASSERT_FALSE(network.empty());
  const auto begun = taker->get_progress().bytes;
  for (auto forged : network) {
    forged.set_copy("another");
    deliver(forged);
    forged.set_copy("copy 1");
    forged.set_from(3);
    deliver(forged);
  }
  EXPECT_EQ(taker->get_progress().bytes, begun);
  v1::ReplicaCopy empty;
  empty.set_to(away);
  empty.mutable_offer();
  taker->take(empty);
  EXPECT_EQ(taker->get_progress().bytes, begun) << "an offer of nothing ends no copy that comes in";
  pass(20);
  expect_whole();
}

TEST_F(copy_exchange_test, either_end_may_begin_anew_in_the_middle) {
  fall_behind_anew();
  three.pass(250);
  giver->tick();
  for (int i = 0; i < 12; ++i) carry_one();
  begin_giver();
  pass(4);
  for (int i = 0; i < 12 && !network.empty(); ++i) carry_one();
  begin_taker();
  pass(60);
  expect_whole();
}

TEST_F(copy_exchange_test, whoever_has_a_copy_that_is_offered_once_more_gets_a_later_one_within_seconds) {
  fall_behind_anew();
  three.pass(250);
  giver->tick();
  while (taker_notes.empty() || taker_notes.back() != "the copy of the state is in place") {
    ASSERT_FALSE(network.empty());
    carry_one();
    // The leader hears nothing of it.
    if (giver_notes.size() == 1) three.cut_off(away);
  }
  network.clear();
  work(120);
  three.heal();
  three.pass(2 * replica_world::heartbeat_ms);
  ASSERT_TRUE(needs_a_copy());
  EXPECT_EQ(names, 1);
  const auto since_ms = three.now_ms;
  pass(200);
  expect_whole();
  EXPECT_EQ(names, 2);
  EXPECT_LT(three.now_ms - since_ms, 15'000);
  EXPECT_EQ(refusals, 0) << "nobody has to doubt the state";
}

TEST_F(copy_exchange_test, archives_come_along_and_nothing_is_erased_because_the_leader_lacks_it) {
  for (const auto number : {1U, 2U, 3U}) archived(leader, 20'000, number);
  archived(leader, 20'001, 7);
  archived(away, 20'000, 1);
  archived(away, 20'000, 50);
  archived(away, 20'002, 60);
  archived(away, 20'002, 61);
  // The others have deleted one of them while it was away.
  giver.reset();
  taker.reset();
  v1::TaskTombstone deleted;
  deleted.set_number(60);
  deleted.set_deleted_at_unix_ms(1);
  {
    three.it(leader).end_copy();
    three.kill(away);
    ASSERT_TRUE(three.propose_rows(leader, [&](store::batch& to) { store::put_tombstone(to, "order-60", deleted); }));
    three.run();
  }
  fall_behind_anew();
  pass(40);
  expect_whole();
  for (const auto number : {1U, 2U, 3U}) EXPECT_TRUE(has(away, 20'000, number)) << number;
  EXPECT_TRUE(has(away, 20'001, 7));
  EXPECT_TRUE(has(away, 20'000, 50)) << "the leader's archive lacks it, which says nothing";
  EXPECT_TRUE(has(away, 20'002, 61));
  EXPECT_FALSE(has(away, 20'002, 60));
}

TEST_F(copy_exchange_test, what_was_deleted_here_does_not_stay_because_it_came_with_a_copy_that_was_not_taken) {
  v1::TaskTombstone deleted;
  deleted.set_number(60);
  deleted.set_deleted_at_unix_ms(1);
  ASSERT_TRUE(three.propose_rows(leader, [&](store::batch& to) { store::put_tombstone(to, "order-60", deleted); }));
  three.run();
  three.apply(away);
  archived(leader, 20'000, 60);
  archived(leader, 20'000, 61);
  archived(leader, 20'001, 62);
  fall_behind_anew();
  bool came = false;
  change = [&](v1::ReplicaCopy& what) { came = came || what.has_archive_part(); };
  for (int i = 0; i < 400 && !came; ++i) {
    three.pass(250);
    giver->tick();
    taker->tick();
    while (!network.empty() && !came) carry_one();
  }
  ASSERT_TRUE(has(away, 20'000, 60));
  network.clear();
  begin_taker();
  taker->tick();
  EXPECT_FALSE(has(away, 20'000, 60));
  EXPECT_TRUE(has(away, 20'000, 61)) << "it is another replica's, and kept";
  EXPECT_FALSE(archives[away].is_adding());
}

TEST_F(copy_exchange_test, a_large_archive_comes_in_parts_which_may_be_lost_too) {
  for (std::uint64_t number = 1; number <= 40; ++number) {
    archived(leader, 20'000, number);
    store::batch rows;
    store::put_payload(rows, number, 1, '"' + std::string(50'000, 'p') + '"');
    ASSERT_TRUE(archives[leader].add({20'000, 0}, rows.bytes()).ok());
  }
  lost = 100;
  fall_behind_anew();
  // In the middle of a day the replica's process ends.
  int parts = 0;
  change = [&](v1::ReplicaCopy& what) { parts += what.has_archive_part() ? 1 : 0; };
  for (int i = 0; i < 400 && parts < 2; ++i) {
    three.pass(250);
    giver->tick();
    taker->tick();
    while (!network.empty() && parts < 2) carry_one();
  }
  ASSERT_EQ(parts, 2);
  ASSERT_TRUE(needs_a_copy());
  network.clear();
  begin_taker();
  pass(800);
  expect_whole();
  for (std::uint64_t number = 1; number <= 40; ++number) EXPECT_TRUE(has(away, 20'000, number)) << number;
  EXPECT_EQ(*archives[away].summaries(), *archives[leader].summaries());
}

}  // namespace
}  // namespace fairlead
