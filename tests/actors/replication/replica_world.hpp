#pragma once
// Replicas of one shard in one process: production's replica, journal and store over disks in memory, a network that tests cut, and a clock that
// they drive. Messages travel as bytes.

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "actors/replication/replica.hpp"
#include "actors/replication/wire.hpp"
#include "store/journaled/stores.hpp"
#include "store/memory/memory_disk.hpp"
#include "store/memory/memory_store.hpp"

namespace fairlead::testing {

class replica_world {
 public:
  static constexpr std::int64_t election_ms = 1000;
  static constexpr std::int64_t heartbeat_ms = 100;

  explicit replica_world(std::size_t replicas = 3, std::uint64_t seed = 1, std::uint64_t segment_bytes = std::uint64_t{256} << 10)
      : random(seed), segment_bytes_(segment_bytes) {
    raft::members all;
    for (raft::replica_id id = 1; id <= replicas; ++id) all.voters.push_back(id);
    for (const auto id : all.voters) {
      auto& one = nodes_[id];
      one.world = this;
      one.how.self = id;
      one.how.born_with = all;
      one.how.seed = seed * 100 + id;
      one.how.keep_bytes = keep_bytes;
      one.disk = std::make_unique<store::memory_disk>(seed * 1'000 + id);
    }
    for (const auto id : all.voters) start(id);
  }

  void start(raft::replica_id id) {
    auto& one = nodes_.at(id);
    store::journal_options options;
    options.segment_bytes = segment_bytes_;
    options.max_bytes = options.segment_bytes * 64;
    options.release = "test";
    options.now_unix_ms = [this] { return 1'700'000'000'000 + now_ms; };
    options.boot_ms = [this] { return now_ms; };
    options.random = [this] { return random(); };
    std::vector<store::journaled_stores::member> shards{{0, "replica " + std::to_string(id), &one.tables, nullptr, nodes_.size() > 1}};
    if (one.neighbour) shards.push_back({1, "neighbour of " + std::to_string(id), one.neighbour.get(), nullptr, false});
    auto opened = store::journaled_stores::open(std::make_unique<store::lent_disk>(*one.disk), shards, options);
    ASSERT_TRUE(opened.ok()) << opened.failure().sentence;
    one.stores = std::move(*opened);
    one.time = std::make_unique<lead_clock>(one, [this] { return now_ms; });
    one.it = std::make_unique<replica>(
        one.stores->at(0), one.how, [this] { return now_ms; }, one.time.get());
    one.it->serve(&one);
  }

  /// The process ends without a word. What the tables have stays.
  void kill(raft::replica_id id) {
    auto& one = nodes_.at(id);
    one.it.reset();
    one.stores.reset();
    one.disk->crash();
    one.disk->reboot();
    one.epoch = 0;
  }

  void cut_off(raft::replica_id id) { cut_.insert(id); }
  void heal() { cut_.clear(); }

  replica& it(raft::replica_id id) { return *nodes_.at(id).it; }
  store::journaled_store& store_of(raft::replica_id id) { return nodes_.at(id).stores->at(0); }
  bool up(raft::replica_id id) const { return nodes_.at(id).it != nullptr; }

  /// Everything that is under way arrives and is written.
  void run() {
    for (bool busy = true; busy;) {
      busy = false;
      for (auto& [id, one] : nodes_) {
        if (!one.it || !one.it->wants_settle()) continue;
        settle(id);
        busy = true;
      }
      if (network_.empty()) continue;
      busy = true;
      const auto what = std::move(network_.front());
      network_.pop_front();
      deliver(what);
    }
  }

  void settle(raft::replica_id id) {
    const auto done = it(id).settle();
    ASSERT_TRUE(done.ok()) << done.failure().sentence;
  }

  void pass(std::int64_t ms) {
    for (const auto until = now_ms + ms; now_ms < until;) {
      now_ms += 20;
      for (auto& [id, one] : nodes_) {
        if (!one.it) continue;
        ASSERT_TRUE(one.it->tick().ok());
      }
      run();
    }
  }

  /// Waits for a leader with contact to a majority; 0: none in ten election timeouts.
  raft::replica_id elect() {
    for (int i = 0; i < 10 * election_ms / 20; ++i) {
      for (auto& [id, one] : nodes_)
        if (one.it && one.epoch != 0 && cut_.count(id) == 0) return id;
      pass(20);
    }
    return 0;
  }

  /// Proposes one batch that puts a row.
  bool propose(raft::replica_id id, const std::string& key, const std::string& value) {
    return propose_rows(id, [&](store::batch& to) { to.put(store::table::task, key, value); });
  }
  bool propose_rows(raft::replica_id id, const std::function<void(store::batch&)>& put) {
    auto& one = nodes_.at(id);
    store::batch next;
    next.sequence = one.sequence + 1;
    next.epoch = one.epoch;
    put(next);
    const auto taken = one.it->propose({next});
    if (!taken.ok()) ADD_FAILURE() << taken.failure().sentence;
    if (!taken.ok() || *taken != replica::proposal::taken) return false;
    ++one.sequence;
    return true;
  }

  std::map<std::string, std::string> rows(raft::replica_id id) {
    std::map<std::string, std::string> out;
    EXPECT_TRUE(store_of(id)
                    .read()
                    ->scan_all(store::table::task,
                               [&](std::string_view key, std::optional<std::string_view> payload) {
                                 out[std::string(key)] = payload.value();
                                 return true;
                               })
                    .ok());
    return out;
  }

  void apply(raft::replica_id id) { ASSERT_TRUE(store_of(id).apply_all().ok()); }

  struct node final : replica_port, clock {
    replica_world* world = nullptr;
    replica_settings how;
    std::unique_ptr<store::memory_disk> disk;
    store::memory_store tables;
    std::unique_ptr<store::memory_store> neighbour;  // of a shard of this node alone, in the same journal; null: there is none
    std::unique_ptr<store::journaled_stores> stores;
    moment now() const override {
      const auto skew = world->skew_ms.find(how.self);
      return from_unix_ms(1'700'000'000'000 + world->now_ms + (skew == world->skew_ms.end() ? 0 : skew->second));
    }
    std::unique_ptr<lead_clock> time;  // of the process
    std::unique_ptr<replica> it;
    std::uint64_t epoch = 0;     // told to lead under it
    std::uint64_t sequence = 0;  // of the last batch proposed
    std::uint64_t committed_ = 0;
    std::map<std::uint64_t, bool> answers;  // of confirmed rounds

    void send(std::vector<raft::message> what) override {
      for (auto& one : what) world->network_.push_back(encode(one, 0));
    }
    void committed(std::uint64_t sequence_now) override {
      EXPECT_NE(epoch, 0U) << "what another leader has committed is told to the Scheduler of this one";
      committed_ = sequence_now;
    }
    void leads(std::uint64_t now) override {
      EXPECT_TRUE(world->epochs.insert(now).second) << "two leaders under epoch " << now;
      epoch = now;
      sequence = stores->at(0).sequence();
    }
    void leads_no_longer() override { epoch = committed_ = 0; }
    void confirmed(std::uint64_t ticket, bool led) override { answers[ticket] = led; }
  };
  node& at(raft::replica_id id) { return nodes_.at(id); }
  std::size_t size() const { return nodes_.size(); }

  /// Of 1000 messages.
  unsigned lost = 0;
  unsigned doubled = 0;
  std::mt19937_64 random;
  std::int64_t now_ms = 5'000;
  std::map<raft::replica_id, std::int64_t> skew_ms;  // of wall clocks
  std::set<std::uint64_t> epochs;
  static inline std::size_t keep_bytes = std::size_t{4} << 20;

 private:
  void deliver(const v1::ReplicaMessage& bytes) {
    const auto what = decode(bytes);
    ASSERT_TRUE(what.ok()) << what.failure().sentence;
    if (cut_.count(what->from) + cut_.count(what->to) > 0 || !up(what->to) || random() % 1000 < lost) return;
    if (random() % 1000 < doubled) network_.push_back(bytes);
    ASSERT_TRUE(it(what->to).receive(*what).ok());
  }

  const std::uint64_t segment_bytes_;
  std::map<raft::replica_id, node> nodes_;
  std::set<raft::replica_id> cut_;
  std::deque<v1::ReplicaMessage> network_;
};

}  // namespace fairlead::testing
