// Twenty instances of one agent, some slow, some sick, some dying, and tasks of several classes. Judged only by what the tasks got and by what
// the instances themselves saw.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <set>

#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

constexpr std::uint32_t capacity = 5;
constexpr std::int64_t lease_ms = 2'500;

enum class kind { good, slow, sick, dying };

/// Who sees how an attempt goes that an instance works at.
struct instance_view {
  kind what = kind::good;
  std::string name;
  bool eu = false;
  bool dead = false;
  std::uint64_t incarnation = 1;
  std::uint64_t begun = 0;
  std::uint64_t done = 0;
  std::map<std::pair<std::uint64_t, std::uint32_t>, v1::Perform> busy;  // by task and attempt
  std::vector<std::int64_t> begun_at;
  std::uint32_t most = 0;
};

struct task_view {
  std::string group;
  std::int64_t submitted_at = 0;
  std::int64_t ended_at = 0;
};

class fleet : public scheduler_fixture {
 protected:
  fleet() {
    const auto plain = [](const std::string& name, const std::string& call, bool eu) {
      auto one = step("a", {}, R"("${ .input }")");
      one.set_call(call);
      one.set_timeout_ms(lease_ms);
      one.set_attempts(20);
      if (eu) {
        auto& label = *one.add_labels();
        label.set_key("zone");
        label.set_value("eu");
      }
      return workflow_of({one}, name);
    };
    deploy(plain("anywhere", "do", false));
    deploy(plain("europe", "do", true));
    deploy(plain("customers", "charge", false));
  }

  void at(std::int64_t when_ms, std::function<void()> what) { events_.push({when_ms, next_event_++, std::move(what)}); }
  void in(std::int64_t delay_ms, std::function<void()> what) { at(time.now_ms + delay_ms, std::move(what)); }
  /// Since the start of the test.
  std::int64_t now() const { return time.now_ms - start_ms; }

  void enlist(instance_view& which) {
    auto what = agent(which.name, capacity, which.incarnation);
    what.add_calls("charge");
    auto& label = *what.add_labels();
    label.set_key("zone");
    label.set_value(which.eu ? "eu" : "us");
    auto& limit = *what.add_limits();
    limit.set_call("charge");
    limit.set_key(".customer");
    limit.set_concurrency(2);
    add_agent(what);
    look();
  }

  void found_fleet(int good, int slow, int sick, int dying) {
    int number = 0;
    for (const auto& [what, count] : {std::pair{kind::good, good}, {kind::slow, slow}, {kind::sick, sick}, {kind::dying, dying}})
      for (int i = 0; i < count; ++i) {
        instance_view one;
        one.what = what;
        one.name = "n" + std::to_string(++number) + "/svc";
        one.eu = number % 3 == 0;
        instances_[one.name] = one;
      }
    for (auto& [name, one] : instances_) enlist(one);
  }

  void begin_task(const std::string& group, const std::string& workflow, int priority = 0, const std::string& customer = "none") {
    const auto id = group + "-" + std::to_string(++next_task_);
    auto what = submission(id, R"({"customer":")" + customer + "\"}", workflow);
    what.set_priority(priority);
    tasks_[id] = {group, time.now_ms, 0};
    submit(what, 1);
    look();
  }

  // ---- what an instance does ----

  void begin(instance_view& by, const v1::Perform& what) {
    const std::pair key{what.task_number(), what.attempt()};
    if (!by.busy.emplace(key, what).second) return;  // sent again
    ++by.begun;
    by.begun_at.push_back(now());
    by.most = std::max(by.most, static_cast<std::uint32_t>(by.busy.size()));
    EXPECT_LE(by.busy.size(), capacity) << by.name << " was given more than it takes";
    if (what.call() == "charge") {
      auto& out = charging_[what.input()];
      EXPECT_LE(++out, 2) << "too many at a time for " << what.input();
    }
    if (what.workflow() == "europe") {
      EXPECT_TRUE(by.eu) << by.name << " is not in Europe";
    }
    const auto incarnation = by.incarnation;
    // The lease ends for the agent too, and then the Scheduler looks at the task.
    at(what.complete_by_unix_ms(), [this, &by, key, incarnation] {
      if (by.incarnation == incarnation) leave(by, key);
    });
    wake_at(what.task_number(), what.complete_by_unix_ms());
    if (by.dead) return;
    auto took = static_cast<std::int64_t>(50 + random_() % 50);
    if (by.what == kind::slow) took *= 10;
    in(took, [this, &by, key, incarnation, took] {
      const auto found = by.busy.find(key);
      if (found == by.busy.end() || by.incarnation != incarnation || by.dead) return;
      const auto what = found->second;
      leave(by, key);
      ++by.done;
      auto outcome = by.what == kind::sick && random_() % 100 < 80 ? failure(what, v1::FAULT_KIND_TRANSIENT) : success(what, "{}");
      outcome.set_busy_ms(took);
      node->shell.outcomes(from(by.name, {outcome}, incarnation));
      node->settle();
      look();
    });
  }
  void leave(instance_view& by, const std::pair<std::uint64_t, std::uint32_t>& key) {
    const auto found = by.busy.find(key);
    if (found == by.busy.end()) return;
    if (found->second.call() == "charge") --charging_[found->second.input()];
    by.busy.erase(found);
  }
  void die(instance_view& which) { which.dead = true; }
  void come_back(instance_view& which) {
    for (auto copy = which.busy; const auto& [key, what] : copy) leave(which, key);
    which.dead = false;
    ++which.incarnation;
    enlist(which);
  }

  // ---- the world between ----

  void wake_at(std::uint64_t number, std::int64_t when_ms) {
    at(when_ms, [this, number] {
      v1::RecoverBatch batch;
      batch.add_items()->set_task_number(number);
      node->shell.recover(batch);
      node->settle();
      look();
    });
  }

  /// Takes up all that has left the Scheduler.
  void look() {
    for (; seen_performs_ < out.performs.size(); ++seen_performs_) {
      const auto sent = out.performs[seen_performs_];
      begin(instances_.at(sent.instance), sent.what);
    }
    for (; seen_hints_ < out.hints.size(); ++seen_hints_)
      wake_at(out.hints[seen_hints_].recover().task_number(), out.hints[seen_hints_].due_unix_ms());
    for (; seen_notices_ < out.notices.size(); ++seen_notices_) {
      const auto& end = out.notices[seen_notices_].second;
      EXPECT_EQ(end.state(), v1::TASK_STATE_COMPLETED) << end.id() << ": " << end.reason();
      tasks_.at(end.id()).ended_at = time.now_ms;
    }
  }

  void run_until(std::int64_t end_ms) {
    while (!HasFailure()) {
      const auto offer = node->shell.next_offer();
      const auto offer_at = offer ? std::max(to_unix_ms(*offer), time.now_ms) : INT64_MAX;
      const auto event_at = events_.empty() ? INT64_MAX : events_.top().when_ms;
      if (std::min(offer_at, event_at) > start_ms + end_ms) break;
      if (offer_at < event_at) {
        time.now_ms = offer_at;
        node->shell.offer();
        node->settle();
        look();
        continue;
      }
      auto next = events_.top();
      events_.pop();
      time.now_ms = std::max(time.now_ms, next.when_ms);
      next.what();
    }
    time.now_ms = std::max(time.now_ms, start_ms + end_ms);
  }

  // ---- judging ----

  /// Of the tasks in the group that were submitted within these times.
  std::vector<std::int64_t> latencies(const std::string& group, std::int64_t from_ms = 0, std::int64_t to_ms = INT64_MAX) const {
    std::vector<std::int64_t> out;
    for (const auto& [id, one] : tasks_)
      if (one.group == group && one.submitted_at - start_ms >= from_ms && one.submitted_at - start_ms < to_ms)
        out.push_back(one.ended_at == 0 ? INT64_MAX : one.ended_at - one.submitted_at);
    std::sort(out.begin(), out.end());
    return out;
  }
  static std::int64_t percentile(const std::vector<std::int64_t>& sorted, int percent) {
    return sorted.at((sorted.size() - 1) * static_cast<std::size_t>(percent) / 100);
  }
  void expect_all_completed() const {
    std::size_t lost = 0;
    for (const auto& [id, one] : tasks_) lost += one.ended_at == 0 ? 1 : 0;
    EXPECT_EQ(lost, 0u) << "of " << tasks_.size() << " tasks";
    for (const auto& [name, one] : instances_) EXPECT_TRUE(one.busy.empty()) << name;
  }
  std::uint64_t done_by(kind what) const {
    std::uint64_t out = 0;
    for (const auto& [name, one] : instances_) out += one.what == what ? one.done : 0;
    return out;
  }
  std::size_t begun_between(const instance_view& by, std::int64_t from_ms, std::int64_t to_ms) const {
    return static_cast<std::size_t>(
        std::count_if(by.begun_at.begin(), by.begun_at.end(), [&](std::int64_t when) { return when >= from_ms && when < to_ms; }));
  }

  struct event {
    std::int64_t when_ms = 0;
    std::uint64_t number = 0;
    std::function<void()> what;
    bool operator<(const event& other) const { return std::tie(other.when_ms, other.number) < std::tie(when_ms, number); }
  };
  std::priority_queue<event> events_;
  std::uint64_t next_event_ = 0;
  std::uint64_t next_task_ = 0;
  std::mt19937 random_{20};
  std::map<std::string, instance_view> instances_;
  std::map<std::string, task_view> tasks_;
  std::map<std::string, int> charging_;  // attempts under way by the customer's input
  std::size_t seen_performs_ = 0;
  std::size_t seen_hints_ = 0;
  std::size_t seen_notices_ = 0;
};

// Twelve good ones take some 800 attempts a second. 300 tasks a second come for eight seconds.
TEST_F(fleet, gives_its_work_to_those_that_do_it_well) {
  found_fleet(12, 4, 2, 2);
  for (std::int64_t ms = 0; ms < 8'000; ms += 10) {
    at(start_ms + ms, [this] { begin_task("anywhere", "anywhere"); });
    if (ms % 20 == 0) at(start_ms + ms, [this] { begin_task("europe", "europe"); });
    if (ms % 20 == 10) at(start_ms + ms, [this] { begin_task("urgent", "anywhere", 10); });
    if (ms % 20 == 0) at(start_ms + ms, [this, ms] { begin_task("customers", "customers", 0, "c" + std::to_string(ms / 10 % 20)); });
  }
  at(start_ms + 4'000, [this] {
    for (auto& [name, one] : instances_)
      if (one.what == kind::dying) die(one);
  });
  at(start_ms + 6'500, [this] {
    for (auto& [name, one] : instances_)
      if (one.what == kind::dying) come_back(one);
  });
  run_until(40'000);
  expect_all_completed();

  // Who got the work, once it was known how they do.
  std::map<kind, std::size_t> late;
  std::size_t all_late = 0;
  for (const auto& [name, one] : instances_) {
    const auto count = begun_between(one, 2'500, 8'000);
    late[one.what] += count;
    all_late += count;
    if (one.what == kind::sick) {
      EXPECT_LE(count, 12u) << name << " fails four times in five";
      EXPECT_GE(count, 3u) << name << " could never recover";
    }
    if (one.what == kind::slow) {
      EXPECT_LE(count, 14u) << name << " takes ten times as long";
      EXPECT_GE(count, 3u) << name;
    }
    if (one.what == kind::dying) {
      EXPECT_LE(begun_between(one, 4'000, 6'500), 3 * capacity) << name << " answered nothing";
      EXPECT_GE(begun_between(one, 7'000, 8'000), 8u) << name << " is well again and takes its share";
    }
  }
  EXPECT_GE(static_cast<double>(late[kind::good]), 0.8 * static_cast<double>(all_late));
  std::vector<std::uint64_t> shares;
  for (const auto& [name, one] : instances_)
    if (one.what == kind::good && !one.eu) shares.push_back(one.done);
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  EXPECT_LE(*most, *least * 3 / 2) << "equals share evenly";

  // What the tasks got. While instances die their tasks wait for the end of a lease; no others do.
  for (const auto* group : {"anywhere", "urgent", "europe", "customers"}) {
    const auto before = latencies(group, 2'500, 3'800);
    ASSERT_GT(before.size(), 50u);
    EXPECT_LE(percentile(before, 50), 110) << group;
    EXPECT_LE(percentile(before, 95), 300) << group;
    const auto all = latencies(group);
    EXPECT_LE(percentile(all, 50), 110) << group;
    EXPECT_LE(percentile(all, 95), 1'000) << group;
    EXPECT_LE(all.back(), 4 * lease_ms) << group << ": nothing starves";
  }
}

// Three hundred at once, in three classes, on instances that do some 330 a second.
TEST_F(fleet, serves_the_urgent_first_and_lets_nobody_starve) {
  found_fleet(5, 0, 0, 0);
  at(start_ms, [this] {
    for (int i = 0; i < 100; ++i) {
      begin_task("low", "anywhere", -5);
      begin_task("normal", "anywhere");
      begin_task("urgent", "anywhere", 5);
    }
  });
  // Others go on coming, nearly as many as can be done.
  for (std::int64_t ms = 100; ms < 6'000; ms += 4) at(start_ms + ms, [this] { begin_task("later", "anywhere", 0); });
  run_until(40'000);
  expect_all_completed();
  const auto urgent = latencies("urgent");
  const auto normal = latencies("normal");
  const auto low = latencies("low");
  EXPECT_LE(percentile(urgent, 95), 600);
  EXPECT_LT(percentile(urgent, 95), percentile(normal, 50)) << "they came first";
  EXPECT_LT(percentile(normal, 95), percentile(low, 80));
  EXPECT_LE(low.back(), 12'000) << "their turn comes";
}

// One customer sends far more than it may have at a time.
TEST_F(fleet, does_not_let_one_customer_hold_up_the_others) {
  found_fleet(4, 0, 0, 0);
  at(start_ms, [this] {
    for (int i = 0; i < 100; ++i) begin_task("greedy", "customers", 0, "greedy");
  });
  for (std::int64_t ms = 0; ms < 3'000; ms += 20)
    at(start_ms + ms, [this, ms] { begin_task("modest", "customers", 0, "m" + std::to_string(ms / 20 % 10)); });
  run_until(40'000);
  expect_all_completed();
  EXPECT_LE(percentile(latencies("modest"), 99), 250);
  // Two at a time, 75 ms each.
  const auto greedy = latencies("greedy");
  EXPECT_GE(greedy.back(), 100 / 2 * 60);
  EXPECT_LE(greedy.back(), 100 / 2 * 95) << "and its own limit is used to the full";
}

}  // namespace
}  // namespace fairlead::testing
