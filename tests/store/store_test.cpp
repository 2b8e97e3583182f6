// What both stores promise alike.

#include "store/store.hpp"

#include <map>
#include <random>

#include "tests/store/any_store.hpp"

namespace fairlead::store {
namespace {

using testing::any_store;
using testing::store_kinds;
using testing::test_shard;
using testing::value_of;

TYPED_TEST_SUITE(any_store, store_kinds);

batch make(std::uint64_t sequence, std::uint64_t epoch) {
  batch out;
  out.sequence = sequence;
  out.epoch = epoch;
  return out;
}

std::vector<std::string> keys_between(const snapshot& of, std::string_view from, std::string_view to, bool reverse,
                                      std::size_t limit = 100) {
  std::vector<std::string> out;
  const auto visit = [&](std::string_view key, std::string_view) {
    out.emplace_back(key);
    return out.size() < limit;
  };
  EXPECT_TRUE((reverse ? of.scan_reverse(table::task_id, from, to, visit) : of.scan(table::task_id, from, to, visit)).ok());
  return out;
}

using words = std::vector<std::string>;

TYPED_TEST(any_store, begins_at_sequence_and_epoch_zero) {
  const auto progress = this->it->read()->get_progress();
  EXPECT_EQ(progress.sequence, 0u);
  EXPECT_EQ(progress.epoch, 0u);
  EXPECT_EQ(this->it->read()->count(table::task), 0u);
}

TYPED_TEST(any_store, gives_back_what_was_put_and_forgets_what_was_erased) {
  const auto epoch = *this->it->raise_epoch();
  auto one = make(1, epoch);
  one.put(table::task, "a", "alpha");
  one.put(table::task, "b", "");
  ASSERT_TRUE(this->it->commit({one}).ok());
  EXPECT_EQ(value_of(*this->it, table::task, "a"), "alpha");
  EXPECT_EQ(value_of(*this->it, table::task, "b"), "");
  EXPECT_EQ(value_of(*this->it, table::due, "a"), std::nullopt);
  EXPECT_EQ(this->it->read()->count(table::task), 2u);
  auto two = make(2, epoch);
  two.erase(table::task, "a");
  two.erase(table::task, "never there");
  two.put(table::task, "b", "beta");
  ASSERT_TRUE(this->it->commit({two}).ok());
  EXPECT_EQ(value_of(*this->it, table::task, "a"), std::nullopt);
  EXPECT_EQ(value_of(*this->it, table::task, "b"), "beta");
  EXPECT_EQ(this->it->read()->count(table::task), 1u);
}

TYPED_TEST(any_store, writes_progress_and_counters_with_each_group) {
  const auto epoch = *this->it->raise_epoch();
  v1::ShardState counters;
  counters.set_running(3);
  auto one = make(1, epoch), two = make(2, epoch);
  two.shard_state = counters.SerializeAsString();
  ASSERT_TRUE(this->it->commit({one, two}).ok());
  const auto progress = this->it->read()->get_progress();
  EXPECT_EQ(progress.sequence, 2u);
  EXPECT_EQ(progress.epoch, epoch);
  EXPECT_EQ(progress.shard.running(), 3u);
}

TYPED_TEST(any_store, refuses_a_batch_out_of_sequence_and_writes_nothing_of_its_group) {
  const auto epoch = *this->it->raise_epoch();
  auto one = make(1, epoch), three = make(3, epoch);
  one.put(table::task, "a", "1");
  auto refused = this->it->commit({one, three});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_INTERNAL);
  EXPECT_NE(refused.failure().sentence.find("sequence 3"), std::string::npos);
  EXPECT_EQ(value_of(*this->it, table::task, "a"), std::nullopt);
  EXPECT_TRUE(this->it->commit({one}).ok());
  EXPECT_FALSE(this->it->commit({one}).ok()) << "the same batch twice";
}

TYPED_TEST(any_store, refuses_a_batch_of_an_older_or_unknown_epoch) {
  const auto old = *this->it->raise_epoch();
  const auto epoch = *this->it->raise_epoch();
  EXPECT_EQ(epoch, old + 1);
  for (auto wrong : {old, epoch + 1}) {
    auto refused = this->it->commit({make(1, wrong)});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_STALE_EPOCH);
  }
  EXPECT_TRUE(this->it->commit({make(1, epoch)}).ok());
}

TYPED_TEST(any_store, keeps_progress_and_counters_when_the_epoch_rises) {
  v1::ShardState counters;
  counters.set_pending(5);
  auto one = make(1, *this->it->raise_epoch());
  one.shard_state = counters.SerializeAsString();
  ASSERT_TRUE(this->it->commit({one}).ok());
  const auto raised = this->it->raise_epoch();
  ASSERT_TRUE(raised.ok());
  EXPECT_GT(*raised, one.epoch);
  const auto progress = this->it->read()->get_progress();
  EXPECT_EQ(progress.sequence, 1u);
  EXPECT_EQ(progress.epoch, *raised);
  EXPECT_EQ(progress.shard.pending(), 5u);
}

TYPED_TEST(any_store, lets_the_last_operation_of_a_group_on_a_key_win) {
  const auto epoch = *this->it->raise_epoch();
  auto one = make(1, epoch), two = make(2, epoch);
  one.put(table::task, "a", "first");
  one.put(table::task, "b", "first");
  one.erase(table::task, "c");
  two.put(table::task, "a", "second");
  two.erase(table::task, "b");
  two.put(table::task, "c", "second");
  ASSERT_TRUE(this->it->commit({one, two}).ok());
  EXPECT_EQ(value_of(*this->it, table::task, "a"), "second");
  EXPECT_EQ(value_of(*this->it, table::task, "b"), std::nullopt);
  EXPECT_EQ(value_of(*this->it, table::task, "c"), "second");
}

TYPED_TEST(any_store, scans_a_range_in_both_directions) {
  auto one = make(1, *this->it->raise_epoch());
  for (const char* key : {"a", "b", "c", "d", "e"}) one.put(table::task_id, key, key);
  ASSERT_TRUE(this->it->commit({one}).ok());
  const auto now = this->it->read();
  EXPECT_EQ(keys_between(*now, "b", "d", false), (words{"b", "c"}));
  EXPECT_EQ(keys_between(*now, "b", "d", true), (words{"c", "b"}));
  EXPECT_EQ(keys_between(*now, "", "", false), (words{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(keys_between(*now, "", "", true), (words{"e", "d", "c", "b", "a"}));
  EXPECT_EQ(keys_between(*now, "bb", "dd", false), (words{"c", "d"}));
  EXPECT_EQ(keys_between(*now, "bb", "dd", true), (words{"d", "c"}));
  EXPECT_EQ(keys_between(*now, "f", "", false), words{});
  EXPECT_EQ(keys_between(*now, "", "a", true), words{});
  EXPECT_EQ(keys_between(*now, "", "zz", true, 2), (words{"e", "d"}));
  EXPECT_EQ(keys_between(*now, "", "", false, 2), (words{"a", "b"}));
}

TYPED_TEST(any_store, a_snapshot_keeps_showing_the_state_it_was_taken_at) {
  const auto epoch = *this->it->raise_epoch();
  auto one = make(1, epoch), two = make(2, epoch);
  one.put(table::task, "a", "old");
  ASSERT_TRUE(this->it->commit({one}).ok());
  const auto before = this->it->read();
  two.put(table::task, "a", "new");
  two.put(table::task, "b", "new");
  ASSERT_TRUE(this->it->commit({two}).ok());
  EXPECT_EQ(**before->get(table::task, "a"), "old");
  EXPECT_FALSE(before->get(table::task, "b")->has_value());
  EXPECT_EQ(before->count(table::task), 1u);
  EXPECT_EQ(before->get_progress().sequence, 1u);
  EXPECT_EQ(value_of(*this->it, table::task, "a"), "new");
}

TYPED_TEST(any_store, an_empty_group_is_nothing) {
  EXPECT_TRUE(this->it->commit({}).ok());
  EXPECT_EQ(this->it->read()->get_progress().sequence, 0u);
}

TYPED_TEST(any_store, reports_how_much_it_holds) {
  const auto before = this->it->get_usage();
  auto one = make(1, *this->it->raise_epoch());
  one.put(table::payload, "a", std::string(1 << 17, 'x'));
  ASSERT_TRUE(this->it->commit({one}).ok());
  const auto after = this->it->get_usage();
  EXPECT_GE(after.used_bytes, before.used_bytes + (1 << 17));
  EXPECT_GT(after.max_bytes, after.used_bytes);
}

TYPED_TEST(any_store, agrees_with_a_plain_map_over_random_groups) {
  std::mt19937_64 random(7);
  std::map<std::pair<int, std::string>, std::string> model;
  const auto epoch = *this->it->raise_epoch();
  std::uint64_t sequence = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<batch> group;
    for (std::uint64_t i = 0, batches = 1 + random() % 3; i < batches; ++i) {
      auto one = make(++sequence, epoch);
      for (std::uint64_t j = 0, operations = random() % 60; j < operations; ++j) {
        const auto where = static_cast<table>(1 + random() % (table_count - 1));
        const auto key = "key" + std::to_string(random() % 200);
        if (random() % 3 == 0) {
          one.erase(where, key);
          model.erase({static_cast<int>(where), key});
        } else {
          const auto value = std::string(random() % (random() % 10 == 0 ? 9'000 : 300), static_cast<char>('a' + random() % 26));
          one.put(where, key, value);
          model[{static_cast<int>(where), key}] = value;
        }
      }
      group.push_back(std::move(one));
    }
    ASSERT_TRUE(this->it->commit(group).ok());
  }
  std::map<std::pair<int, std::string>, std::string> found;
  const auto now = this->it->read();
  for (int i = 1; i < table_count; ++i) {
    ASSERT_TRUE(now->scan(static_cast<table>(i), {}, {},
                          [&](std::string_view key, std::string_view payload) {
                            found[{i, std::string(key)}] = std::string(payload);
                            return true;
                          })
                    .ok());
  }
  EXPECT_GT(found.size(), 100u);
  EXPECT_TRUE(found == model);
}

}  // namespace
}  // namespace fairlead::store
