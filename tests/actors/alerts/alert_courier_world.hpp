#pragma once
// A courier of alerts over a port that the test holds in its hands.

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "actors/alerts/courier.hpp"
#include "store/rows/alert_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::testing {

using texts = std::vector<std::string>;

/// Keeps what was posted or run until the test says how it ended.
class held_port final : public webhook_port, public command_port {
 public:
  struct held {
    std::string where;
    std::string body;
    std::string key;
    command_run run;
    std::function<void(status)> done;
  };

  void post(webhook_post what, std::function<void(status)> done) override {
    EXPECT_EQ(what.headers.size(), 1u);
    held one;
    one.where = what.url;
    one.body = what.body;
    if (!what.headers.empty()) {
      EXPECT_EQ(what.headers[0].first, "Idempotency-Key");
      one.key = what.headers[0].second;
    }
    one.done = std::move(done);
    out.push_back(std::move(one));
  }

  void run(command_run what, std::function<void(status)> done) override {
    held one;
    one.where = what.run.front();
    one.body = what.input;
    one.run = std::move(what);
    one.done = std::move(done);
    out.push_back(std::move(one));
  }

  /// Ends the oldest delivery to `where` that is under way; what it was.
  std::string end(const std::string& where, const status& how = nothing{}) {
    for (auto at = out.begin(); at != out.end(); ++at) {
      if (at->where != where) continue;
      const auto one = std::move(*at);
      out.erase(at);
      one.done(how);
      return one.key;
    }
    ADD_FAILURE() << "nothing is on its way to " << where;
    return {};
  }

  std::deque<held> out;
};

inline const std::string ops_url = "http://ops/";
inline const std::string chat_url = "http://chat/";
inline const error away{v1::ERROR_CODE_UNAVAILABLE, "it answered 503", ""};

inline alert_target ops() {
  alert_target out;
  out.name = "ops";
  out.url = ops_url;
  return out;
}

inline alert_target chat() {
  alert_target out;
  out.name = "chat";
  out.url = chat_url;
  return out;
}

class alert_courier_test : public ::testing::Test {
 protected:
  /// A courier as a start of the node makes it; what an earlier one still had under way is never heard of again.
  void start(const std::vector<alert_target>& targets = {ops()}) {
    make(targets);
    look();
    commit();
  }

  void make(const std::vector<alert_target>& targets = {ops()}) {
    port.out.clear();
    alert_courier::ports world;
    world.time = &time;
    world.reads = &store;
    world.webhooks = &port;
    world.commands = &port;
    world.log = &log;
    world.record = [this](courier_rows what) { recorded.push_back(std::move(what)); };
    world.wake = [this] { ++woken; };
    courier.emplace(std::move(world), from, targets);
  }

  std::uint64_t raise(v1::AlertState state = v1::ALERT_STATE_OPEN, v1::AlertKind kind = v1::ALERT_KIND_TASK_PARKED) {
    v1::AlertRecord alert;
    alert.set_number(shard.state().next_alert() + 1);
    alert.set_kind(kind);
    alert.set_task_id("order-" + std::to_string(alert.number()));
    alert.set_sentence("Step charge has failed 4 times.");
    alert.set_raised_at_unix_ms(time.now_ms);
    set_state(alert, state);
    return alert.number();
  }

  void resolve(std::uint64_t number) {
    auto alert = *store::load_alert(*store.read(), number);
    set_state(*alert, v1::ALERT_STATE_RESOLVED);
  }

  void look() {
    const auto looked = courier->look();
    ASSERT_TRUE(looked.ok()) << looked.failure().sentence;
  }

  /// Makes durable what the courier has recorded, as the Scheduler does.
  void commit() {
    for (auto& one : recorded) {
      auto batch = shard.next();
      batch.append(one.rows);
      shard.expect_committed(std::move(batch));
    }
    recorded.clear();
  }

  /// Delivers whatever there is until nothing more goes out at this moment; the keys in order.
  texts deliver_all(const std::string& where = ops_url) {
    texts out;
    for (look(); on_its_way(where); look()) out.push_back(port.end(where));
    commit();
    return out;
  }

  bool on_its_way(const std::string& where) const {
    return std::any_of(port.out.begin(), port.out.end(), [&](const auto& one) { return one.where == where; });
  }

  static std::string key(std::uint64_t number) { return "fairlead-alert/n1/" + std::to_string(number); }
  static std::string end_of(std::uint64_t number) { return key(number) + "/resolved"; }

  store::memory_store store;
  store::testing::test_shard shard{store};
  manual_clock time;
  quiet_observer log;
  held_port port;
  std::vector<courier_rows> recorded;
  int woken = 0;
  alert_origin from{"n1", 0, 1};
  std::optional<alert_courier> courier;

 private:
  void set_state(v1::AlertRecord& alert, v1::AlertState state) {
    alert.set_state(state);
    if (state == v1::ALERT_STATE_RESOLVED) alert.set_resolved_at_unix_ms(time.now_ms);
    auto batch = shard.next();
    store::put_alert(batch, alert);
    shard.state().set_next_alert(std::max(shard.state().next_alert(), alert.number()));
    shard.expect_committed(std::move(batch));
  }
};

}  // namespace fairlead::testing
