#pragma once
// What the tests of replies share: a store with an outbox, something that commits what couriers want as the Scheduler does, and a port whose
// posts end when the test says so.

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/replies/courier.hpp"
#include "actors/replies/outbox.hpp"
#include "store/content_hash.hpp"
#include "store/memory/memory_store.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::replies_testing {

inline constexpr std::int64_t start_ms = 1'700'000'000'000;

class manual_clock final : public clock {
 public:
  moment now() const override { return from_unix_ms(now_ms); }
  std::int64_t now_ms = start_ms;
};

class quiet_observer final : public observer {
 public:
  void on_transition(const transition&) override {}
  void on_note(note_level, std::string_view, std::string_view sentence) override { notes.emplace_back(sentence); }
  std::vector<std::string> notes;
};

inline v1::ReplyAddress client_address(const std::string& name) {
  v1::ReplyAddress out;
  out.set_client(name);
  return out;
}

inline v1::ReplyAddress webhook_address(const std::string& url) {
  v1::ReplyAddress out;
  out.set_webhook(url);
  return out;
}

/// Posts that wait for the test to end them.
class held_posts final : public webhook_port {
 public:
  void post(webhook_post what, std::function<void(status)> done) override {
    ++begun[what.url];
    open.push_back({std::move(what), std::move(done)});
  }

  struct held {
    webhook_post what;
    std::function<void(status)> done;
  };

  /// The post under way to `url`, which is then over; nullptr when there is none.
  std::unique_ptr<held> take(const std::string& url) {
    for (auto it = open.begin(); it != open.end(); ++it) {
      if (it->what.url != url) continue;
      auto out = std::make_unique<held>(std::move(*it));
      open.erase(it);
      return out;
    }
    return nullptr;
  }
  /// Ends it; the body that it had, empty when there was no post to `url`.
  std::string succeed(const std::string& url) {
    auto one = take(url);
    if (!one) return "";
    one->done(nothing{});
    return one->what.body;
  }
  std::string fail(const std::string& url, const std::string& why = "it answered 503") {
    auto one = take(url);
    if (!one) return "";
    one->done(error{v1::ERROR_CODE_UNAVAILABLE, why, ""});
    return one->what.body;
  }
  bool posting(const std::string& url) const {
    for (const auto& one : open)
      if (one.what.url == url) return true;
    return false;
  }

  std::deque<held> open;
  std::map<std::string, int> begun;  // posts so far, by URL
};

/// One process over a store that may outlive it.
class reply_process {
 public:
  reply_process(store::memory_store& on, manual_clock& time, duration give_up_after = std::chrono::hours{24})
      : store_(on), shard(on), outbox(on), time_(time) {
    reply_courier::world world;
    world.time = &time;
    world.reads = &on;
    world.posts = &posts;
    world.outbox = &outbox;
    world.log = &log;
    world.commit = [this](courier_rows rows) { waiting.push_back(std::move(rows)); };
    world.wake = [this] { ++woken; };
    courier = std::make_unique<reply_courier>(std::move(world), reply_courier::settings{"one", give_up_after});
  }

  /// Events of one task, each in a batch of its own.
  void put(const v1::ReplyAddress& to, const std::string& task, std::uint64_t first, std::uint64_t last) {
    auto batch = shard.next();
    for (auto n = first; n <= last; ++n) {
      v1::StatusEvent event;
      event.set_task_id(task);
      event.set_sequence(n);
      event.set_at_unix_ms(time_.now_ms);
      event.set_kind(v1::STATUS_KIND_RECEIVED);
      event.set_state(v1::TASK_STATE_RUNNING);
      put_status(batch, shard.state(), to, std::move(event));
    }
    if (keeps_time) shard.state().set_retention_unix_ms(time_.now_ms);
    shard.expect_committed(std::move(batch));
  }

  /// Retention time reads this from now on.
  void retention_reads(std::int64_t unix_ms) {
    if (shard.state().retention_unix_ms() == unix_ms) return;
    shard.state().set_retention_unix_ms(unix_ms);
    shard.expect_committed(shard.next());
  }

  /// As the Scheduler does with what couriers send.
  void commit_all() {
    while (!waiting.empty()) {
      auto rows = std::move(waiting.front());
      waiting.pop_front();
      auto batch = shard.next();
      batch.append(rows.rows);
      ASSERT_GE(shard.state().outbox_events(), rows.delivered_events);
      shard.state().set_outbox_events(shard.state().outbox_events() - rows.delivered_events);
      for (auto& alert : rows.alerts) alerts.push_back(std::move(alert));
      shard.expect_committed(std::move(batch));
    }
  }

  /// The Scheduler dies before it has written what it was told, and another one takes its place.
  void replace_scheduler() {
    waiting.clear();
    std::destroy_at(&shard);
    std::construct_at(&shard, store_);
  }

  duration look() {
    const auto pause = courier->look();
    EXPECT_TRUE(pause.ok()) << (pause.ok() ? "" : pause.failure().sentence);
    if (keeps_time && shard.state().retention_unix_ms() != 0) retention_reads(time_.now_ms);
    return pause.ok() ? *pause : duration{0};
  }

  std::uint64_t rows() const { return store_.read()->count(store::table::outbox); }
  std::uint64_t failing_rows() const { return store_.read()->count(store::table::reply_address); }
  /// The counter that the status shows is what is there.
  void expect_counted() const { EXPECT_EQ(shard_state().outbox_events(), rows()); }
  const v1::ShardState& shard_state() const { return const_cast<store::testing::test_shard&>(shard).state(); }

 private:
  store::memory_store& store_;

 public:
  store::testing::test_shard shard;
  held_posts posts;
  quiet_observer log;
  reply_outbox outbox;
  std::deque<courier_rows> waiting;
  std::vector<v1::AlertRecord> alerts;
  int woken = 0;
  bool keeps_time = true;  // retention time is what the clock shows, as it was at the last look or event
  std::unique_ptr<reply_courier> courier;

 private:
  manual_clock& time_;
};

}  // namespace fairlead::replies_testing
