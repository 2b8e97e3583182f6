#include "app/dev/agent.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "actors/agents/attempt_results.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::app {

namespace {

using time_point = std::chrono::steady_clock::time_point;

constexpr std::uint32_t scripted_capacity = 1'000;

class scripted_backend final : public agents::backend {
 public:
  scripted_backend(std::string name, std::vector<std::string> calls, std::shared_ptr<const scripts> told)
      : name_(std::move(name)), calls_(std::move(calls)), told_(std::move(told)), sleeper_([this] { wake_sleepers(); }) {}

  ~scripted_backend() override { shut_down(); }

  void start(const v1::Perform& what, agents::completion done) override {
    const auto key = agents::key_of(what);
    auto action = action_for(what);
    if (!action) {
      done(key, agents::permanent_fault("bad_script", action.failure().sentence));
    } else if (action->what == script_action::kind::sleep) {
      const std::lock_guard lock{mutex_};
      if (over_) return;
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds{action->sleep_ms};
      sleeping_.emplace(until, sleeper{key, what.input(), std::move(done)});
      changed_.notify_one();
    } else {
      done(key, answer(*action, what));
    }
  }

  void stop(const agents::attempt_key& which) override {
    const std::lock_guard lock{mutex_};
    for (auto it = sleeping_.begin(); it != sleeping_.end();) it = it->second.key == which ? sleeping_.erase(it) : std::next(it);
  }

  std::vector<std::string> calls() const override { return calls_; }
  std::uint32_t capacity() const override { return scripted_capacity; }

  void shut_down() override {
    {
      const std::lock_guard lock{mutex_};
      over_ = true;
      sleeping_.clear();
      changed_.notify_one();
    }
    if (sleeper_.joinable()) sleeper_.join();
  }

 private:
  struct sleeper {
    agents::attempt_key key;
    std::string input;
    agents::completion done;
  };

  result<script_action> action_for(const v1::Perform& what) const {
    if (const auto own = core::json_member(what.input(), script_field); own && *own != "null") {
      if (own->front() != '"')
        return error{v1::ERROR_CODE_INVALID_ARGUMENT, "$script in the input is " + std::string{core::json_kind(*own)} + ", not a text", ""};
      auto parsed = parse_script(core::decode_json_string(*own));
      if (!parsed) {
        auto why = parsed.failure();
        why.sentence = "$script in the input, " + why.sentence + (why.remedy.empty() ? "" : "; " + why.remedy);
        return why;
      }
      return action_of(*parsed, what.attempt());
    }
    const auto found = told_->find({name_, what.call()});
    if (found == told_->end()) return script_action{};
    return action_of(found->second, what.attempt());
  }

  static agents::attempt_result answer(const script_action& action, const v1::Perform& what) {
    if (action.what == script_action::kind::fail) return agents::faulted(action.fault, action.code, "the fault that the script asks for");
    return agents::completed(action.what == script_action::kind::give ? action.output : what.input());
  }

  void wake_sleepers() {
    std::unique_lock lock{mutex_};
    while (!over_) {
      if (sleeping_.empty()) {
        changed_.wait(lock);
        continue;
      }
      const auto first = sleeping_.begin();
      if (first->first > std::chrono::steady_clock::now()) {
        changed_.wait_until(lock, time_point{first->first});
        continue;
      }
      auto woken = std::move(first->second);
      sleeping_.erase(first);
      // The lock is held during the call, so that nothing completes after shut_down.
      woken.done(woken.key, agents::completed(std::move(woken.input)));
    }
  }

  const std::string name_;
  const std::vector<std::string> calls_;
  const std::shared_ptr<const scripts> told_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::multimap<time_point, sleeper> sleeping_;
  std::thread sleeper_;  // last, because the thread uses the other members
};

}  // namespace

std::shared_ptr<agents::backend> make_scripted_backend(std::string name, std::vector<std::string> calls,
                                                       std::shared_ptr<const scripts> told) {
  return std::make_shared<scripted_backend>(std::move(name), std::move(calls), std::move(told));
}

}  // namespace fairlead::app
