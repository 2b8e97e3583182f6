// The history of a task that goes on for months: what attempts did is folded, what matters for ever is kept, and each decision pays a little.

#include "store/rows/history_rows.hpp"

#include <algorithm>
#include <functional>

#include "store/rows/task_rows.hpp"
#include "tests/store/check/check_fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

/// Counts what is read of the history, chunk by chunk.
class counting_snapshot final : public snapshot {
 public:
  explicit counting_snapshot(const memory_store& of) : of_(of.read()) {}
  mutable std::size_t chunks = 0;

  result<std::optional<std::string_view>> get(table where, std::string_view key) const override {
    if (where == table::history) ++chunks;
    return of_->get(where, key);
  }
  status scan(table where, std::string_view from, std::string_view to, const visitor& visit) const override {
    return of_->scan(where, from, to, counted(where, visit));
  }
  status scan_reverse(table where, std::string_view from, std::string_view to, const visitor& visit) const override {
    return of_->scan_reverse(where, from, to, counted(where, visit));
  }
  status scan_all(table where, const inspector& visit) const override { return of_->scan_all(where, visit); }
  std::uint64_t count(table where) const override { return of_->count(where); }
  progress get_progress() const override { return of_->get_progress(); }

 private:
  visitor counted(table where, const visitor& visit) const {
    return [this, where, &visit](std::string_view key, std::string_view payload) {
      if (where == table::history) ++chunks;
      return visit(key, payload);
    };
  }
  std::unique_ptr<snapshot> of_;
};

struct long_histories : checked_store {
  /// As the Scheduler writes a task: fold, then put.
  void write(v1::TaskRecord& record, const std::function<void(v1::TaskRecord&)>& change) {
    const auto before = index_state_of(record);
    change(record);
    auto one = shard.next();
    if (history_is_long(record)) {
      const counting_snapshot view{it};
      ASSERT_TRUE(fold_history(one, record, view).ok());
      EXPECT_LE(view.chunks, 4u) << "a decision pays for a few chunks only";
    }
    put_task(one, before, record);
    shard.expect_committed(std::move(one));
  }

  /// A task that tries, fails and waits; with each hundredth attempt nobody knows how it ended, and sometimes an operator has a hand in it.
  void try_for_months(v1::TaskRecord& record, std::uint64_t events) {
    while (record.history_size() < events) {
      write(record, [](v1::TaskRecord& task) {
        const auto turn = task.history_size();
        const auto doubt = turn % 400 < 4;
        add_event(task, v1::EVENT_KIND_STEP_STARTED, static_cast<std::int64_t>(turn));
        add_event(task, doubt ? v1::EVENT_KIND_STEP_IN_DOUBT : v1::EVENT_KIND_STEP_FAILED, static_cast<std::int64_t>(turn));
        if (doubt) add_event(task, v1::EVENT_KIND_STEP_SETTLED, static_cast<std::int64_t>(turn));
        if (turn % 1000 < 4) add_event(task, v1::EVENT_KIND_OPERATOR_RETRY, static_cast<std::int64_t>(turn));
        add_event(task, v1::EVENT_KIND_STEP_COOLING_OFF, static_cast<std::int64_t>(turn));
        add_event(task, v1::EVENT_KIND_STEP_RETRIED, static_cast<std::int64_t>(turn));
      });
    }
  }

  std::vector<v1::HistoryEvent> history(const v1::TaskRecord& record, std::uint64_t after = 0) {
    auto loaded = load_history(*it.read(), record, after);
    EXPECT_TRUE(loaded.ok());
    return loaded.ok() ? *loaded : std::vector<v1::HistoryEvent>{};
  }

  void expect_sound() {
    for (const auto& finding : report().findings) ADD_FAILURE() << finding;
  }

  v1::TaskRecord stored() { return **load_task(*it.read(), 1); }
};

bool never_folds(const v1::HistoryEvent& event) {
  return event.kind() == v1::EVENT_KIND_TASK_SUBMITTED || event.kind() == v1::EVENT_KIND_STEP_IN_DOUBT ||
         event.kind() == v1::EVENT_KIND_STEP_SETTLED || event.kind() == v1::EVENT_KIND_OPERATOR_RETRY;
}

TEST_F(long_histories, keep_their_newest_events_and_all_that_matters_for_ever) {
  auto record = stored();
  std::vector<std::uint64_t> kept;
  std::uint64_t seen = 0;
  for (std::uint64_t events = 1'000; events <= 30'000; events += 1'000) {
    try_for_months(record, events);
    for (const auto& event : history(record, seen))
      if (never_folds(event)) kept.push_back(event.sequence());
    seen = record.history_size();
  }
  expect_sound();

  const auto all = history(record);
  const auto* folded = folded_events(record);
  ASSERT_NE(folded, nullptr);
  EXPECT_LE(record.history_size() - folded->sequence(), history_limit);
  EXPECT_GT(record.history_size() - folded->sequence(), history_limit - 100) << "no more is folded than has to be";
  EXPECT_LT(all.size(), history_limit + kept.size() + 50);
  std::uint64_t last = 0;
  std::uint64_t stands_for = 0;
  std::vector<std::uint64_t> found;
  for (const auto& event : all) {
    EXPECT_GE(event.sequence(), last);
    last = event.sequence();
    if (event.kind() == v1::EVENT_KIND_HISTORY_FOLDED) stands_for += folded_count(event);
    if (never_folds(event)) found.push_back(event.sequence());
  }
  EXPECT_EQ(found, kept);
  EXPECT_EQ(stands_for + all.size() - 1, record.history_size()) << "each event is there or is counted";
}

TEST_F(long_histories, are_not_folded_up_to_the_limit) {
  auto record = stored();
  try_for_months(record, history_limit - 10);
  EXPECT_EQ(folded_events(record), nullptr);
  EXPECT_EQ(history(record).size(), record.history_size());
}

TEST_F(long_histories, of_nothing_but_what_operators_did_are_all_kept) {
  auto record = stored();
  while (record.history_size() < history_limit + 500)
    write(record, [](v1::TaskRecord& task) {
      for (int i = 0; i < 10; ++i) add_event(task, v1::EVENT_KIND_OPERATOR_PAUSE, i);
    });
  ASSERT_NE(folded_events(record), nullptr);
  EXPECT_LT(folded_count(*folded_events(record)), 5u) << "its two first attempts";
  EXPECT_EQ(history(record).size() - 1 + folded_count(*folded_events(record)), record.history_size());
  expect_sound();
}

TEST_F(long_histories, of_an_earlier_release_get_shorter_bit_by_bit) {
  auto record = stored();
  while (record.history_size() < 3 * history_limit) {
    const auto before = index_state_of(record);
    for (int i = 0; i < 20; ++i) add_event(record, v1::EVENT_KIND_STEP_RETRIED, i);
    auto one = shard.next();
    put_task(one, before, record);
    shard.expect_committed(std::move(one));
  }
  const auto chunks = it.read()->count(table::history);
  for (int i = 0; i < 250; ++i) write(record, [](v1::TaskRecord& task) { add_event(task, v1::EVENT_KIND_STEP_RETRIED, 7); });
  EXPECT_FALSE(history_is_long(record));
  EXPECT_LT(it.read()->count(table::history), chunks / 2);
  expect_sound();
}

TEST_F(long_histories, wait_with_folding_for_chunks_that_are_not_durable_yet) {
  auto record = stored();
  const auto nothing_yet = it.read();
  const auto before = index_state_of(record);
  auto one = shard.next();
  for (std::uint64_t i = 0; i < history_limit + 100; ++i) {
    add_event(record, v1::EVENT_KIND_STEP_RETRIED, 7);
    move_events(one, record);
  }
  ASSERT_TRUE(history_is_long(record));
  ASSERT_TRUE(fold_history(one, record, *nothing_yet).ok());
  EXPECT_EQ(folded_events(record), nullptr);
  put_task(one, before, record);
  shard.expect_committed(std::move(one));
  write(record, [](v1::TaskRecord& task) { add_event(task, v1::EVENT_KIND_STEP_RETRIED, 7); });
  EXPECT_NE(folded_events(record), nullptr);
  expect_sound();
}

TEST_F(long_histories, are_read_from_where_a_watcher_stands) {
  auto record = stored();
  try_for_months(record, 12'000);
  const counting_snapshot view{it};
  for (const std::uint64_t behind : {1u, 7u, 60u}) {
    view.chunks = 0;
    const auto news = load_history(view, record, record.history_size() - behind);
    ASSERT_TRUE(news.ok());
    ASSERT_EQ(news->size(), behind);
    EXPECT_EQ((*news)[0].sequence(), record.history_size() - behind + 1);
    EXPECT_LE(view.chunks, behind / 20 + 2);
    if (behind < 8) {
      EXPECT_EQ(view.chunks, 0u) << "what stands in the row needs no other";
    }
  }
  // From any point on nothing is left out and nothing is told twice.
  const auto all = history(record);
  for (const std::uint64_t after : {0u, 1u, 399u, 400u, 1'999u, 2'100u, 5'000u}) {
    const auto rest = history(record, after);
    const auto expected = std::count_if(all.begin(), all.end(), [&](const auto& one) { return one.sequence() > after; });
    EXPECT_EQ(rest.size(), static_cast<std::size_t>(expected)) << after;
  }
}

TEST_F(long_histories, that_were_folded_are_checked_to_the_last_event) {
  auto record = stored();
  try_for_months(record, 12'000);
  expect_sound();
  const auto through = folded_events(record)->sequence();
  plant_row(1, [](v1::TaskRecord& task) { task.mutable_recent(0)->set_detail("3 events"); });
  expect_found("task", "key 1", "gap in its history");
  plant_row(1, [&](v1::TaskRecord& task) { *task.mutable_recent(0) = record.recent(0); });
  expect_sound();
  plant([&](batch& one) { one.erase(table::history, keys::history(1, 1, 1)); });
  expect_found("task", "key 1", "gap in its history");
  plant_row(1, [&](v1::TaskRecord& task) { task.mutable_recent(0)->set_sequence(through - 1); });
  expect_found("task", "key 1", "gap in its history");
}

}  // namespace
}  // namespace fairlead::store
