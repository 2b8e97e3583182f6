// A node whose stores are damaged: what it notes, what is set aside, and that a start goes on where the last one was cut short.

#include "app/node/rebuild.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/node/replicas.hpp"
#include "store/failpoint.hpp"
#include "store/rows/node_rows.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::app {
namespace {

namespace fs = std::filesystem;

v1::ReplicaHello hello(std::uint32_t shard, std::initializer_list<std::string> names) {
  v1::ReplicaHello out;
  out.set_shard(shard);
  out.set_node("n1");
  out.mutable_nodes()->set_version(3);
  for (const auto& name : names) {
    auto& one = *out.mutable_nodes()->add_nodes();
    one.set_name(name);
    one.set_address("127.0.0.1:1");
  }
  return out;
}

struct rebuild_test : ::testing::Test {
  store::testing::temporary_directory place;
  node_config config;
  node_notes notes{place.path()};
  const std::vector<std::string> here{place.path()};
  const error damage{v1::ERROR_CODE_CORRUPT, "The store is damaged", "Restore it."};

  rebuild_test() {
    config.name = "n1";
    config.store_path = config.data_path = place.path();
    config.journal_path = place / "journal";
    config.store_max_bytes = std::uint64_t{1} << 28;
    config.journal_segment_bytes = std::uint64_t{1} << 20;
    config.journal_max_bytes = std::uint64_t{16} << 20;
  }
  ~rebuild_test() override { EXPECT_TRUE(store::set_failpoints("").ok()); }

  /// A store that one of several nodes holds.
  void make_store() {
    auto stores = store::disk_stores::open(stores_of(config));
    ASSERT_TRUE(stores.ok()) << stores.failure().sentence;
    ASSERT_TRUE((*stores)->at(0).be_replica(5, {}, hello(0, {"n1", "n2"}).nodes().SerializeAsString()).ok());
    ASSERT_TRUE((*stores)->close().ok());
  }
  /// The replica that is there; 0: none.
  std::uint64_t replica() {
    auto stores = store::disk_stores::open(stores_of(config));
    EXPECT_TRUE(stores.ok()) << stores.failure().sentence;
    if (!stores) return 0;
    const auto& own = (*stores)->at(0).replica();
    return own ? own->id : 0;
  }
  v1::RebuildNote plan(std::uint64_t replica) {
    v1::RebuildNote out;
    *out.mutable_why() = damage.to_proto();
    auto& one = *out.add_stores();
    one.set_replica(replica);
    *one.mutable_nodes() = hello(0, {"n1", "n2"}).nodes();
    for (const auto& parts : {store::parts_of_journal(config.journal_path), store::parts_of_store(config.store_path)}) {
      EXPECT_TRUE(parts.ok());
      for (const auto& part : *parts) *out.add_parts() = noted(part);
    }
    return out;
  }
  /// As a start does it.
  status go_on() {
    const auto how = notes.rebuilding();
    if (!how) return how.failure();
    if (auto aside = set_stores_aside(config, notes, **how); !aside.ok()) return aside;
    auto stores = store::disk_stores::open(stores_of(config));
    if (!stores) return stores.failure();
    if (auto made = be_as_agreed((*stores)->at(0), config, 0, **how); !made.ok()) return made;
    if (auto closed = (*stores)->close(); !closed.ok()) return closed;
    return end_rebuilding(config, notes);
  }
  result<v1::RebuildNote> ask() { return agree_to_rebuild(config, notes, damage, {.answer_within = duration{50}, .goes_on = {}}); }
};

TEST_F(rebuild_test, notes_come_back_as_they_were_written) {
  EXPECT_FALSE(others_hold_all(notes.others(), {0}));
  EXPECT_FALSE(*notes.rebuilding());
  ASSERT_TRUE(notes.note_others(hello(0, {"n1", "n2"})).ok());
  ASSERT_TRUE(notes.note_others(hello(1, {"n1"})).ok());
  ASSERT_TRUE(notes.note_others(hello(0, {"n1", "n3"})).ok());
  const auto others = node_notes{place.path()}.others();
  ASSERT_EQ(others.shards_size(), 2);
  EXPECT_EQ(others.shards(0).nodes().nodes(1).name(), "n3");
  EXPECT_TRUE(others_hold_all(others, {0}));
  EXPECT_FALSE(others_hold_all(others, {0, 1})) << "shard 1 is on this node alone";
  EXPECT_FALSE(others_hold_all(others, {0, 2})) << "nothing is known of shard 2";
  ASSERT_TRUE(notes.keep_others({1}).ok());
  EXPECT_FALSE(others_hold_all(notes.others(), {0}));
}

TEST_F(rebuild_test, a_journal_of_which_no_file_can_be_read_is_damaged_and_not_missing) {
  make_store();
  for (const auto& one : fs::directory_iterator{config.journal_path}) {
    if (one.path().extension() != ".seg") continue;
    std::fstream file{one.path(), std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(20);
    file << std::string(2'000, '?');
  }
  const auto opened = store::disk_stores::open(stores_of(config));
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.failure().code, v1::ERROR_CODE_CORRUPT) << opened.failure().sentence;
  fs::remove_all(config.journal_path);
  const auto none = store::disk_stores::open(stores_of(config));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.failure().code, v1::ERROR_CODE_WRONG_STATE) << none.failure().sentence;
}

TEST_F(rebuild_test, a_later_lineage_is_noted_by_shard) {
  EXPECT_FALSE(*notes.later(1));
  for (const std::int64_t made : {5, 7}) {
    v1::Lineage lineage;
    lineage.set_made_unix_ms(made);
    ASSERT_TRUE(notes.note_later(1, lineage).ok());
  }
  ASSERT_TRUE(notes.note_later(0, {}).ok());
  const auto known = node_notes{place.path()}.later(1);
  ASSERT_TRUE(known.ok());
  ASSERT_TRUE(*known);
  EXPECT_EQ((*known)->made_unix_ms(), 7);
  // Without what it says the shard could go on beside the later lineage.
  store::testing::write_text(place / "later", "shards { garbage");
  EXPECT_EQ(notes.later(1).failure().code, v1::ERROR_CODE_WRONG_STATE);
}

TEST_F(rebuild_test, of_two_notes_of_other_nodes_that_come_in_the_wrong_order_the_later_one_stays) {
  auto later = hello(0, {"n1", "n2", "n3"});
  later.mutable_nodes()->set_version(4);
  later.mutable_lineage()->set_made_unix_ms(5);
  ASSERT_TRUE(notes.note_others(later).ok());
  ASSERT_TRUE(notes.note_others(hello(0, {"n1", "n2"})).ok());
  auto without = later;
  without.clear_lineage();
  ASSERT_TRUE(notes.note_others(without).ok());
  EXPECT_EQ(notes.others().shards(0).SerializeAsString(), later.SerializeAsString());
  auto another = hello(0, {"n1", "n2"});
  another.set_replica(9);
  ASSERT_TRUE(notes.note_others(another).ok());
  EXPECT_EQ(notes.others().shards(0).replica(), 9U) << "its former store is gone";
}

TEST_F(rebuild_test, damage_is_noted_of_these_files_and_is_void_once_another_takes_the_place_of_one) {
  EXPECT_FALSE(*notes.damage(here));
  store::testing::write_text(place / "data.mdb", "damaged");
  ASSERT_TRUE(notes.note_damage(damage, here).ok());
  ASSERT_TRUE(*notes.damage(here));
  EXPECT_EQ((*notes.damage(here))->sentence, damage.sentence);
  EXPECT_EQ((*notes.damage(here))->code, v1::ERROR_CODE_CORRUPT);
  EXPECT_EQ(check_not_given_up(place.path()).failure().code, v1::ERROR_CODE_WRONG_STATE);
  EXPECT_TRUE(check_not_given_up(place / "shard-3").ok());
  fs::rename(place / "data.mdb", place / "kept");
  EXPECT_FALSE(*notes.damage(here)) << "it is not there";
  store::testing::write_text(place / "data.mdb", "restored");
  EXPECT_FALSE(*notes.damage(here));
  ASSERT_TRUE(notes.forget_damage(here).ok());
  ASSERT_TRUE(notes.forget_damage(here).ok());
  EXPECT_TRUE(check_not_given_up(place.path()).ok());
  store::testing::write_text(place / "rebuilding", "");
  EXPECT_EQ(check_not_given_up(place.path()).failure().code, v1::ERROR_CODE_WRONG_STATE);
  EXPECT_EQ(check_not_given_up(place / "shard-3").failure().code, v1::ERROR_CODE_WRONG_STATE);
}

TEST_F(rebuild_test, notes_of_a_later_release_and_unreadable_ones_do_no_harm) {
  store::testing::write_text(place / "others", "shards { shard: 0 node: \"n1\" later: 5 nodes { nodes { name: \"n2\" } } }");
  EXPECT_TRUE(others_hold_all(notes.others(), {0}));
  store::testing::write_text(place / "others", "garbage");
  EXPECT_FALSE(others_hold_all(notes.others(), {0}));
  ASSERT_TRUE(notes.note_others(hello(0, {"n1", "n2"})).ok());
  EXPECT_TRUE(others_hold_all(notes.others(), {0}));
  for (const auto* name : {"damaged", "rebuilding"}) {
    store::testing::write_text(place / name, "garbage");
    const auto why = std::string{name} == "damaged" ? notes.damage(here).failure() : notes.rebuilding().failure();
    EXPECT_EQ(why.code, v1::ERROR_CODE_WRONG_STATE);
    EXPECT_EQ(why.sentence, "The file " + (place / name) + " is unreadable.");
  }
}

TEST_F(rebuild_test, a_node_that_holds_a_shard_alone_keeps_its_stores_and_says_what_is_damaged) {
  store::testing::write_text(place / "data.mdb", "damaged");
  config.shards_here = {0, 1};
  ASSERT_TRUE(notes.note_others(hello(0, {"n1", "n2"})).ok());
  const auto refused = ask();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_CORRUPT);
  EXPECT_EQ(refused.failure().sentence, damage.sentence);
  EXPECT_EQ(store::testing::text_of(place / "data.mdb"), "damaged");
}

TEST_F(rebuild_test, a_node_that_reaches_no_other_keeps_its_stores_and_asks_as_long_as_it_may) {
  store::testing::write_text(place / "data.mdb", "damaged");
  ASSERT_TRUE(notes.note_others(hello(0, {"n1", "n2"})).ok());
  std::vector<std::string> waited;
  const auto goes_on = [&](const error& why) {
    waited.push_back(why.sentence);
    return waited.size() < 3;
  };
  const auto refused = agree_to_rebuild(config, notes, damage, {.answer_within = duration{50}, .goes_on = goes_on});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(waited.size(), 3U);
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_NE(refused.failure().sentence.find("The store is damaged. The node did not set its stores aside"), std::string::npos)
      << refused.failure().sentence;
  EXPECT_EQ(store::testing::text_of(place / "data.mdb"), "damaged");
  EXPECT_FALSE(*notes.rebuilding());
}

TEST_F(rebuild_test, a_node_that_knows_no_address_of_the_others_does_not_wait) {
  config.shard_nodes = {"n1", "n2", "n3"};
  const auto refused = ask();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_CORRUPT);
  EXPECT_NE(refused.failure().sentence.find("does not know where the other nodes are"), std::string::npos) << refused.failure().sentence;
}

TEST_F(rebuild_test, a_node_that_has_set_its_stores_aside_an_hour_ago_at_most_needs_an_operator) {
  store::testing::write_text(place / "data.mdb", "damaged");
  fs::create_directory(place / "set-aside");
  ASSERT_TRUE(notes.note_others(hello(0, {"n1", "n2"})).ok());
  const auto refused = ask();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_CORRUPT);
  EXPECT_NE(refused.failure().sentence.find("less than an hour ago"), std::string::npos) << refused.failure().sentence;
  EXPECT_EQ(store::testing::text_of(place / "data.mdb"), "damaged");
}

TEST_F(rebuild_test, wherever_it_was_cut_short_the_next_start_goes_on_and_ends_with_the_agreed_replica) {
  for (const auto* cut : {"rebuild.part=error@1", "rebuild.part=error@2", "rebuild.part=error@3", "rebuild.aside=error",
                          "rebuild.made=error", "rebuild.ending=error"}) {
    SCOPED_TRACE(cut);
    make_store();
    ASSERT_EQ(replica(), 5U);
    ASSERT_TRUE(notes.begin_rebuilding(plan(77)).ok());
    ASSERT_TRUE(store::set_failpoints(cut).ok());
    ASSERT_FALSE(go_on().ok());
    ASSERT_TRUE(store::set_failpoints("").ok());
    ASSERT_TRUE(*notes.rebuilding());
    const auto done = go_on();
    ASSERT_TRUE(done.ok()) << done.failure().sentence;
    EXPECT_FALSE(*notes.rebuilding());
    EXPECT_EQ(replica(), 77U);
    EXPECT_TRUE(fs::exists(place / "set-aside/data.mdb"));
    for (const auto* name : {"data.mdb", "lock.mdb", "set-aside", "journal"}) fs::remove_all(place / name);
  }
}

TEST_F(rebuild_test, a_store_that_an_operator_has_put_there_meanwhile_stays) {
  make_store();
  ASSERT_TRUE(notes.begin_rebuilding(plan(77)).ok());
  for (const auto* name : {"data.mdb", "lock.mdb", "journal"}) fs::rename(place / name, place / (std::string{"former-"} + name));
  {
    auto stores = store::disk_stores::open(stores_of(config));
    ASSERT_TRUE(stores.ok());
    ASSERT_TRUE((*stores)->at(0).claim_shard(0, 1, "another").ok());
    ASSERT_TRUE((*stores)->close().ok());
  }
  const auto done = go_on();
  ASSERT_TRUE(done.ok()) << done.failure().sentence;
  EXPECT_EQ(replica(), 0U);
  auto stores = store::disk_stores::open(stores_of(config));
  ASSERT_TRUE(stores.ok());
  EXPECT_EQ(*(*stores)->at(0).known_shard(0, 1), "another");
}

TEST_F(rebuild_test, an_older_copy_of_the_journal_is_found_before_it_is_written_to) {
  make_store();
  const auto open = [&] {
    auto how = stores_of(config);
    how.check_journal = [&](const store::journal_end& found) { return notes.check_written(found); };
    return store::disk_stores::open(std::move(how));
  };
  const auto copied = place / "copy";
  fs::copy(config.journal_path, copied, fs::copy_options::recursive);
  {
    auto stores = open();
    ASSERT_TRUE(stores.ok()) << stores.failure().sentence;
    ASSERT_TRUE(notes.note_written((*stores)->end_of_journal()).ok());
    ASSERT_TRUE((*stores)->close().ok());
    ASSERT_TRUE(notes.note_written((*stores)->end_of_journal()).ok());
  }
  // What was written last goes on; so does a process that was killed before it noted anything.
  for (int i = 0; i < 2; ++i) {
    auto stores = open();
    ASSERT_TRUE(stores.ok()) << stores.failure().sentence;
    if (i == 1) {
      ASSERT_TRUE(notes.note_written((*stores)->end_of_journal()).ok());
    }
  }
  fs::remove_all(config.journal_path);
  fs::rename(copied, config.journal_path);
  // Starts that are refused do not bring it nearer to what was written.
  for (int i = 0; i < 10; ++i) {
    const auto older = open();
    ASSERT_FALSE(older.ok());
    EXPECT_EQ(older.failure().code, v1::ERROR_CODE_CORRUPT);
    EXPECT_EQ(older.failure().sentence,
              "The stores of this node are an older copy: their journal ends with group 2, and this node has written up to group 6.");
  }
  // Another journal is none.
  fs::remove_all(config.journal_path);
  fs::remove(place / "data.mdb");
  make_store();
  EXPECT_TRUE(open().ok());
}

}  // namespace
}  // namespace fairlead::app
