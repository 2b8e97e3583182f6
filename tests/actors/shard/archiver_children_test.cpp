// Children that have aged, and that their parents keep.

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "actors/shard/archiver.hpp"
#include "store/keys.hpp"
#include "store/memory/memory_store.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::testing {
namespace {

namespace fixture = store::testing;

using rows_read = std::map<std::string, int>;

class counting_snapshot final : public store::snapshot {
 public:
  counting_snapshot(std::unique_ptr<store::snapshot> of, rows_read& read) : of_(std::move(of)), read_(read) {}

  result<std::optional<std::string_view>> get(store::table where, std::string_view key) const override {
    if (where == store::table::task) ++read_[std::string{key}];
    return of_->get(where, key);
  }
  status scan(store::table where, std::string_view from, std::string_view to, const visitor& visit) const override {
    return of_->scan(where, from, to, visit);
  }
  status scan_reverse(store::table where, std::string_view from, std::string_view to, const visitor& visit) const override {
    return of_->scan_reverse(where, from, to, visit);
  }
  status scan_all(store::table where, const inspector& visit) const override { return of_->scan_all(where, visit); }
  std::uint64_t count(store::table where) const override { return of_->count(where); }
  store::progress get_progress() const override { return of_->get_progress(); }

 private:
  std::unique_ptr<store::snapshot> of_;
  rows_read& read_;
};

class counting_store final : public fairlead::store::store {
 public:
  explicit counting_store(fairlead::store::store& of) : of_(of) {}

  status commit(const std::vector<fairlead::store::batch>& group) override { return of_.commit(group); }
  result<std::uint64_t> raise_epoch() override { return of_.raise_epoch(); }
  std::unique_ptr<fairlead::store::snapshot> read() const override { return std::make_unique<counting_snapshot>(of_.read(), rows_); }
  fairlead::store::usage get_usage() const override { return of_.get_usage(); }

  /// How often the row of the task was read since the last question.
  int reads_of(std::uint64_t number) const {
    const auto key = fairlead::store::keys::task(fairlead::store::default_namespace, number);
    return std::exchange(rows_[std::string{std::string_view{key}}], 0);
  }

 private:
  fairlead::store::store& of_;
  mutable rows_read rows_;
};

class archiver_children_test : public ::testing::Test {
 protected:
  static constexpr std::int64_t hour_ms = 3'600'000, day_ms = 24 * hour_ms;

  archiver_children_test() : archives(std::make_shared<store::archive>(folder / "archive")), mover(time, counted, archives, policy()) {
    time.now_ms = 100 * day_ms;
    shard.state().set_retention_unix_ms(time.now_ms);
    shard.expect_committed(shard.next());
    shard.deploy_order();
  }

  static retention_policy policy() { return {std::chrono::hours{1}, std::chrono::hours{48}}; }

  void finish(std::uint64_t number) {
    shard.change(number, [&](v1::TaskRecord& task) { fixture::complete(task, time.now_ms - 2 * hour_ms); });
  }

  void finished_child(std::uint64_t number, std::uint64_t parent) {
    auto task = fixture::running_order(number, "t" + std::to_string(parent) + "/s~" + std::to_string(number));
    task.mutable_parent()->set_number(parent);
    task.mutable_parent()->set_id("t" + std::to_string(parent));
    shard.create(task);
    finish(number);
  }

  /// The tasks that one pass moves; they are moved then.
  std::vector<std::uint64_t> pass() {
    auto moved = mover.pass();
    EXPECT_TRUE(moved.ok());
    if (!moved->moved) return {};
    for (const auto& [state, tasks] : moved->moved->ended) store::move_to_archive(shard.state(), state, tasks);
    auto one = shard.next();
    one.append(moved->moved->rows);
    shard.expect_committed(std::move(one));
    auto done = shard.next();
    EXPECT_TRUE(archives->carry_out(*store.read(), done).ok());
    shard.expect_committed(std::move(done));
    return moved->moved->numbers;
  }

  using numbers = std::vector<std::uint64_t>;

  fixture::temporary_directory folder;
  store::memory_store store;
  counting_store counted{store};
  fixture::test_shard shard{store};
  std::shared_ptr<store::archive> archives;
  manual_clock time;
  archiver mover;
};

TEST_F(archiver_children_test, are_looked_at_once_while_their_parent_is_stored) {
  shard.create(fixture::running_order(1, "t1"));
  finished_child(2, 1);
  finished_child(3, 1);
  EXPECT_EQ(pass(), numbers{});
  EXPECT_EQ(counted.reads_of(2), 1);
  EXPECT_EQ(counted.reads_of(3), 1);
  EXPECT_EQ(pass(), numbers{});
  EXPECT_EQ(counted.reads_of(2) + counted.reads_of(3), 0);
  counted.reads_of(1);
  EXPECT_EQ(pass(), numbers{});
  EXPECT_EQ(counted.reads_of(1), 1) << "once for all its children";
}

TEST_F(archiver_children_test, follow_their_parent) {
  shard.create(fixture::running_order(1, "t1"));
  shard.create(fixture::running_order(5, "t5"));
  finished_child(2, 1);
  finished_child(3, 1);
  finished_child(6, 5);
  EXPECT_EQ(pass(), numbers{});
  finish(1);
  EXPECT_EQ(pass(), numbers{1});
  EXPECT_EQ(pass(), (numbers{2, 3}));
  counted.reads_of(6);
  EXPECT_EQ(pass(), numbers{});
  EXPECT_EQ(counted.reads_of(6), 0) << "its own parent is there";
}

TEST_F(archiver_children_test, are_read_once_as_they_are_moved) {
  finished_child(2, 1);
  EXPECT_EQ(pass(), numbers{2}) << "its parent has left before";
  EXPECT_EQ(counted.reads_of(2), 1);
}

TEST_F(archiver_children_test, are_looked_at_again_by_the_next_leader) {
  shard.create(fixture::running_order(1, "t1"));
  finished_child(2, 1);
  EXPECT_EQ(pass(), numbers{});
  counted.reads_of(2);
  fixture::test_shard next{store};
  EXPECT_TRUE(mover.pass().ok());
  EXPECT_EQ(counted.reads_of(2), 1);
}

}  // namespace
}  // namespace fairlead::testing
