// A registry against a plain model of it: whoever is named is the first of those that may go on, and while somebody may, somebody is named.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "actors/registry/registry.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class model {
 public:
  explicit model(std::uint32_t seed) : random_(seed) {
    for (int i = 0; i < 3; ++i) enlist(i, 1);
  }

  void step() {
    const auto dice = random_() % 100;
    if (dice < 45) {
      submit();
    } else if (dice < 85) {
      end();
    } else if (dice < 90) {
      withdraw();
    } else if (dice < 94) {
      drain();
    } else if (dice < 97) {
      enlist(static_cast<int>(random_() % 3), instances_[random_() % 3].incarnation);
    } else {
      lose();
    }
    serve();
    check_shown();
  }

  /// Ends all that is out until nothing waits any more.
  void run_dry() {
    for (auto& one : instances_)
      if (one.drained) toggle(one);
    serve();
    while (!out_.empty()) {
      end();
      serve();
    }
    EXPECT_TRUE(waiting_.empty()) << waiting_.size() << " wait though nothing is out";
    EXPECT_EQ(it_.held(), 0u);
    const auto shown = status();
    for (const auto& limit : shown.services(0).limits()) {
      EXPECT_EQ(limit.held(), 0u);
      EXPECT_EQ(limit.waiting(), 0u);
    }
  }

  std::size_t served = 0;
  std::size_t most_waiting = 0;

 private:
  struct task {
    std::uint64_t number = 0;
    std::uint64_t order = 0;
    bool undoing = false;
    std::string call;
    bool labelled = false;
    int customer = 0;
    int merchant = 0;
    std::string instance;  // that holds it
    std::uint64_t incarnation = 0;
    std::string words() const {
      return std::to_string(number) + " (" + (undoing ? "undo " : "") + call + (labelled ? " in eu" : "") + " order " +
             std::to_string(order) + " customer " + std::to_string(customer) + " merchant " + std::to_string(merchant) + ")";
    }
    bool better_than(const task& other) const {
      return std::tuple(!undoing, order, number) < std::tuple(!other.undoing, other.order, other.number);
    }
  };
  struct instance {
    std::string name;
    std::uint64_t incarnation = 0;
    std::uint32_t capacity = 0;
    bool drained = false;
    bool eu = false;
  };

  void enlist(int which, std::uint64_t incarnation) {
    auto& one = instances_[which];
    one.name = "n" + std::to_string(which) + "/svc";
    if (one.incarnation < incarnation) one.drained = false;
    one.incarnation = std::max(one.incarnation, incarnation);
    one.capacity = 1 + random_() % 4;
    one.eu = which != 0;
    auto what = agent(one.name, one.capacity, one.incarnation);
    what.clear_calls();
    what.mutable_breaker()->set_off(true);
    if (one.eu) {
      auto& label = *what.add_labels();
      label.set_key("zone");
      label.set_value("eu");
    }
    const auto limit = [&](const std::string& call, const std::string& key, std::uint32_t concurrency) {
      auto& policy = *what.add_limits();
      policy.set_call(call);
      policy.set_key(key);
      policy.set_concurrency(concurrency);
    };
    limit("", "", 7);
    limit("charge", "", 4);
    limit("", ".customer", 2);
    limit("charge", ".merchant", 2);
    it_.add(what);
  }

  bool may_go(const task& one) const {
    const auto count = [this](auto&& like) {
      return std::count_if(out_.begin(), out_.end(), [&](const auto& of) { return like(of.second); });
    };
    if (count([](const task&) { return true; }) >= 7) return false;
    if (count([&](const task& of) { return of.customer == one.customer; }) >= 2) return false;
    if (one.call == "charge") {
      if (count([](const task& of) { return of.call == "charge"; }) >= 4) return false;
      if (count([&](const task& of) { return of.call == "charge" && of.merchant == one.merchant; }) >= 2) return false;
    }
    return std::any_of(std::begin(instances_), std::end(instances_),
                       [&](const instance& at) { return !at.drained && (at.eu || !one.labelled) && held_at(at) < at.capacity; });
  }
  std::uint32_t held_at(const instance& at) const {
    return static_cast<std::uint32_t>(std::count_if(out_.begin(), out_.end(), [&](const auto& of) {
      return of.second.instance == at.name && of.second.incarnation == at.incarnation;
    }));
  }

  core::slot_answer ask(const task& one) {
    google::protobuf::RepeatedPtrField<v1::Label> labels;
    auto& label = *labels.Add();
    label.set_key("zone");
    label.set_value("eu");
    const auto input = "{\"customer\":" + std::to_string(one.customer) + ",\"merchant\":" + std::to_string(one.merchant) + "}";
    return it_.claim({{one.number, 0}, "svc", one.call, one.labelled ? &labels : nullptr, input});
  }
  void start(task one, const core::agent_instance& at) {
    const auto found = std::find_if(std::begin(instances_), std::end(instances_), [&](const instance& of) { return of.name == at.name; });
    ASSERT_NE(found, std::end(instances_));
    EXPECT_FALSE(found->drained);
    EXPECT_TRUE(found->eu || !one.labelled);
    EXPECT_LT(held_at(*found), found->capacity);
    one.instance = at.name;
    one.incarnation = at.incarnation;
    out_[one.number] = one;
    ++served;
  }

  void submit() {
    task one;
    one.number = ++numbers_;
    one.order = random_() % 1'000;
    one.undoing = random_() % 8 == 0;
    one.call = random_() % 3 == 0 ? "refund" : "charge";
    one.labelled = random_() % 2 == 0;
    one.customer = static_cast<int>(random_() % 6);
    one.merchant = static_cast<int>(random_() % 3);
    const auto answer = ask(one);
    if (answer.instance) {
      EXPECT_TRUE(may_go(one)) << "a limit is exceeded";
      start(one, *answer.instance);
      return;
    }
    EXPECT_FALSE(may_go(one)) << "nobody who may go on waited before it";
    waiting_[one.number] = one;
    most_waiting = std::max(most_waiting, waiting_.size());
    it_.wait(answer.queue, one.number, one.order, one.undoing);
  }
  void end(core::slot_end how = core::slot_end::succeeded) {
    if (out_.empty()) return;
    auto one = out_.begin();
    std::advance(one, static_cast<std::ptrdiff_t>(random_() % out_.size()));
    const auto number = one->first;
    out_.erase(one);
    it_.release({number, 0}, {how, 1, 5});
  }
  void withdraw() {
    if (waiting_.empty()) return;
    auto one = waiting_.begin();
    std::advance(one, static_cast<std::ptrdiff_t>(random_() % waiting_.size()));
    it_.forget(one->first);
    waiting_.erase(one);
  }
  void drain() { toggle(instances_[random_() % 3]); }
  void toggle(instance& which) {
    which.drained = !which.drained;
    v1::AgentOperateRequest request;
    request.set_verb(which.drained ? v1::AGENT_VERB_DRAIN : v1::AGENT_VERB_RESUME);
    request.set_instance(which.name);
    EXPECT_EQ(it_.operate(request).error().code(), v1::ERROR_CODE_OK);
  }
  /// A new process takes the name; what the old one held is settled at once or a little later.
  void lose() {
    const auto which = static_cast<int>(random_() % 3);
    enlist(which, instances_[which].incarnation + 1);
    if (random_() % 2 == 0) return;
    for (auto one = out_.begin(); one != out_.end();) {
      if (one->second.instance == instances_[which].name && one->second.incarnation < instances_[which].incarnation) {
        it_.release({one->first, 0}, {core::slot_end::lost, 1, 0});
        one = out_.erase(one);
      } else {
        ++one;
      }
    }
  }

  const task* best() const {
    const task* out = nullptr;
    for (const auto& [number, one] : waiting_)
      if (may_go(one) && (out == nullptr || one.better_than(*out))) out = &one;
    return out;
  }
  void serve() {
    for (;;) {
      const auto* expected = best();
      const auto next = it_.next_waiting();
      ASSERT_EQ(next.has_value(), expected != nullptr) << "task " << (next ? *next : expected->number);
      if (!next) return;
      ASSERT_EQ(*next, expected->number) << "instead of " << expected->words() << " came " << waiting_[*next].words();
      const auto one = *expected;
      waiting_.erase(*next);
      const auto answer = ask(one);
      ASSERT_TRUE(answer.instance.has_value()) << "task " << *next << " was named for nothing";
      start(one, *answer.instance);
    }
  }

  v1::StatusReply status() const {
    v1::StatusReply out;
    it_.describe(out);
    return out;
  }
  void check_shown() {
    if (random_() % 50 != 0) return;
    const auto shown = status();
    EXPECT_EQ(shown.services(0).waiting(), waiting_.size());
    EXPECT_EQ(shown.services(0).limits(0).held(), out_.size());
    EXPECT_EQ(shown.services(0).reasons().empty(), waiting_.empty());
  }

  std::mt19937 random_;
  manual_clock time_;
  registry it_{time_, {}};
  instance instances_[3];
  std::map<std::uint64_t, task> waiting_;
  std::map<std::uint64_t, task> out_;
  std::uint64_t numbers_ = 0;
};

TEST(registry_random, does_what_a_plain_model_does) {
  std::size_t served = 0;
  std::size_t most_waiting = 0;
  for (std::uint32_t seed = 1; seed <= 40 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    model one(seed);
    for (int i = 0; i < 1'500 && !::testing::Test::HasFailure(); ++i) one.step();
    one.run_dry();
    served += one.served;
    most_waiting = std::max(most_waiting, one.most_waiting);
  }
  EXPECT_GT(served, 15'000u);
  EXPECT_GT(most_waiting, 20u) << "it was never crowded";
}

}  // namespace
}  // namespace fairlead::testing
