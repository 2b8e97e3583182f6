#pragma once
// Checks of a store behind its journal that several tests use: as they are, and to show that they notice planted faults.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

#include "store/keys.hpp"
#include "store/lmdb/archive.hpp"
#include "tests/store/any_store.hpp"
#include "tests/store/tables_around.hpp"

namespace fairlead::store::testing {

using contents = std::map<std::pair<table, std::string>, std::string>;
constexpr std::array some_tables{table::task, table::due, table::launch_ready};

/// Tables that call a test back at the moments when another thread could come between.
struct interrupted_tables final : tables_around {
  interrupted_tables() : tables_around(own) {}
  memory_store own;
  mutable std::function<void()> before_read;
  mutable std::function<void()> after_read;
  std::function<void()> before_apply;
  int crash_after_applies = 0;  // the process ends behind the n-th transaction from now
  bool fail = false;

  status apply(const std::vector<operation>& sorted) override {
    if (before_apply) std::exchange(before_apply, {})();
    if (fail) return error{v1::ERROR_CODE_STORE_FULL, "The tables are full.", {}};
    auto done = own.apply(sorted);
    if (crash_after_applies > 0 && --crash_after_applies == 0) throw disk_crash{};
    return done;
  }
  std::unique_ptr<snapshot> read_tables() const override {
    if (before_read) std::exchange(before_read, {})();
    auto out = own.read();
    if (after_read) std::exchange(after_read, {})();
    return out;
  }
};

/// One shard behind a journal, a model of it, and random work on both.
class journaled_world {
 public:
  explicit journaled_world(std::uint64_t seed) : random(seed), disk_(new memory_disk(seed)) { open(); }

  void open() {
    stores.reset();
    auto opened = journaled_stores::open(std::make_unique<lent_disk>(*disk_), {{0, "in memory", &below}}, small_journal());
    ASSERT_TRUE(opened.ok()) << opened.failure().sentence;
    stores = std::move(*opened);
    auto raised = it().raise_epoch();
    ASSERT_TRUE(raised.ok()) << raised.failure().sentence;
    EXPECT_GT(*raised, epoch);
    epoch = *raised;
  }

  /// The process ends without a word. What the tables have stays.
  void crash() {
    stores.reset();
    disk_->reboot();
    open();
  }

  void commit() {
    std::vector<batch> group(1 + random() % 3);
    for (auto& one : group) {
      one.sequence = ++sequence;
      one.epoch = epoch;
      v1::ShardState state;
      state.set_next_task_number(sequence);
      one.shard_state = state.SerializeAsString();
      for (auto operations = random() % 12; operations-- > 0;) {
        const auto where = some_tables[random() % some_tables.size()];
        const auto key = "key " + std::to_string(random() % 60);
        if (random() % 3 == 0) {
          one.erase(where, key);
          model.erase({where, key});
        } else {
          const auto value = "value " + std::to_string(random());
          one.put(where, key, value);
          model[{where, key}] = value;
        }
      }
    }
    const auto done = it().commit(group);
    ASSERT_TRUE(done.ok()) << done.failure().sentence;
    history[sequence] = model;
  }

  journaled_store& it() { return stores->at(0); }

  std::mt19937_64 random;
  interrupted_tables below;
  std::unique_ptr<journaled_stores> stores;
  contents model;
  std::map<std::uint64_t, contents> history{{0, {}}};  // the model at each sequence at which a commit ended
  std::uint64_t sequence = 0;
  std::uint64_t epoch = 0;

 private:
  std::unique_ptr<memory_disk> disk_;
};

/// Everything that a snapshot can be asked, against the model of its moment.
inline void expect_shows(const snapshot& shown, const contents& model, std::uint64_t sequence, std::mt19937_64& random) {
  EXPECT_EQ(shown.get_progress().sequence, sequence);
  if (sequence != 0) {
    EXPECT_EQ(shown.get_progress().shard.next_task_number(), sequence);
  }
  for (const auto where : some_tables) {
    contents all;
    ASSERT_TRUE(shown
                    .scan_all(where,
                              [&](std::string_view key, std::optional<std::string_view> payload) {
                                all[{where, std::string(key)}] = payload.value();
                                return true;
                              })
                    .ok());
    contents wanted;
    for (const auto& [key, value] : model) {
      if (key.first == where) wanted[key] = value;
    }
    ASSERT_EQ(all, wanted);
    EXPECT_EQ(shown.count(where), wanted.size());
    auto from = "key " + std::to_string(random() % 60), to = "key " + std::to_string(random() % 60);
    if (random() % 3 == 0) from.clear();
    if (random() % 3 == 0) to.clear();
    const auto most = 1 + random() % 70;
    std::vector<std::string> forward, backward, forward_wanted, backward_wanted;
    ASSERT_TRUE(shown
                    .scan(where, from, to,
                          [&](std::string_view key, std::string_view) {
                            forward.emplace_back(key);
                            return forward.size() < most;
                          })
                    .ok());
    ASSERT_TRUE(shown
                    .scan_reverse(where, from, to,
                                  [&](std::string_view key, std::string_view) {
                                    backward.emplace_back(key);
                                    return backward.size() < most;
                                  })
                    .ok());
    for (const auto& [key, value] : wanted) {
      if (key.second >= from && (to.empty() || key.second < to)) forward_wanted.push_back(key.second);
    }
    backward_wanted.assign(forward_wanted.rbegin(), forward_wanted.rend());
    forward_wanted.resize(std::min<std::size_t>(forward_wanted.size(), most));
    backward_wanted.resize(std::min<std::size_t>(backward_wanted.size(), most));
    EXPECT_EQ(forward, forward_wanted);
    EXPECT_EQ(backward, backward_wanted);
    const auto key = "key " + std::to_string(random() % 60);
    const auto got = shown.get(where, key);
    ASSERT_TRUE(got.ok());
    const auto known = wanted.find({where, key});
    EXPECT_EQ(got->has_value(), known != wanted.end());
    if (got->has_value() && known != wanted.end()) {
      EXPECT_EQ(**got, known->second);
    }
  }
}

/// A random life of a store: whatever is applied, and whenever, readers see what was committed.
inline void live_and_look(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  journaled_world here(seed);
  struct held {
    std::unique_ptr<snapshot> shown;
    contents model;
    std::uint64_t sequence;
  };
  std::vector<held> older;
  for (int step = 0; step < 120 && !::testing::Test::HasFailure(); ++step) {
    switch (here.random() % 10) {
      case 0: ASSERT_TRUE(here.it().apply().ok()); break;
      case 1: {
        // The applier, a commit after it, and the applier again come between the two halves of a snapshot.
        const auto sequence = here.sequence;
        here.below.before_read = [&] {
          ASSERT_TRUE(here.it().apply().ok());
          if (here.random() % 2 == 0) here.commit();
          if (here.random() % 2 == 0) {
            ASSERT_TRUE(here.it().apply().ok());
          }
        };
        const auto shown = here.it().read();
        const auto at = shown->get_progress().sequence;
        ASSERT_GE(at, sequence);
        expect_shows(*shown, here.history.at(at), at, here.random);
        break;
      }
      case 2: {
        const auto model = here.model;
        const auto sequence = here.sequence;
        here.below.after_read = [&] { ASSERT_TRUE(here.it().apply().ok()); };
        const auto shown = here.it().read();
        expect_shows(*shown, model, sequence, here.random);
        break;
      }
      case 3:
        // A reader, and a commit, while the applier is at work.
        here.below.before_apply = [&] {
          expect_shows(*here.it().read(), here.model, here.sequence, here.random);
          here.commit();
        };
        ASSERT_TRUE(here.it().apply().ok());
        here.below.before_apply = {};
        expect_shows(*here.it().read(), here.model, here.sequence, here.random);
        break;
      case 4: older.push_back({here.it().read(), here.model, here.sequence}); break;
      case 5:
        if (here.random() % 4 != 0) break;
        older.clear();
        here.below.crash_after_applies = static_cast<int>(here.random() % 2);
        try {
          ASSERT_TRUE(here.it().apply().ok());
        } catch (const disk_crash&) {
        }
        here.below.crash_after_applies = 0;
        here.crash();
        if (!here.stores) return;
        break;
      default: here.commit(); break;
    }
  }
  if (::testing::Test::HasFailure()) return;
  expect_shows(*here.it().read(), here.model, here.sequence, here.random);
  for (const auto& one : older) expect_shows(*one.shown, one.model, one.sequence, here.random);
}

/// Tables that refuse to be written: nothing that was acknowledged is lost.
inline void fail_an_apply() {
  journaled_world here(9);
  here.commit();
  here.below.fail = true;
  EXPECT_FALSE(here.it().apply().ok());
  here.below.fail = false;
  here.crash();
  ASSERT_TRUE(here.stores);
  expect_shows(*here.it().read(), here.model, here.sequence, here.random);
}

/// A store and its journal in a directory.
struct on_disk {
  std::string directory;
  std::unique_ptr<lmdb_store> tables;
  std::unique_ptr<journaled_stores> stores;
  std::unique_ptr<archive> archives{};

  status open(const std::string& store = "store", const std::string& journal = "journal") {
    stores.reset();
    tables.reset();
    auto opened = lmdb_store::open({directory + "/" + store, std::uint64_t{1} << 30, false}, true);
    if (!opened) return opened.failure();
    tables = std::move(*opened);
    auto files = disk_files::in(directory + "/" + journal);
    if (!files) return files.failure();
    archives = std::make_unique<archive>(archives_in(directory + "/" + store));
    auto joined = journaled_stores::open(std::move(*files), {{0, directory + "/" + store, tables.get(), archives.get()}}, small_journal());
    if (!joined) return joined.failure();
    stores = std::move(*joined);
    return nothing{};
  }
  void put(const std::string& key) {
    test_shard shard(stores->at(0));
    auto one = shard.next();
    one.put(table::task, key, "value");
    shard.expect_committed(std::move(one));
  }
  std::optional<std::string> get(const std::string& key) { return value_of(stores->at(0), table::task, key); }
};

}  // namespace fairlead::store::testing
