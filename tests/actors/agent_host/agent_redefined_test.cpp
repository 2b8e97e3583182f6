// A definition that changes while the host works: what has begun ends by the former one.

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "actors/agents/secrets/vault.hpp"
#include "tests/actors/agent_host/agent_host_world.hpp"

namespace fairlead::testing {
namespace {

class agent_redefined_test : public agent_host_test {
 protected:
  struct ending_backend : agents::backend {
    void start(const v1::Perform& what, agents::completion) override { started.push_back(what); }
    void stop(const agents::attempt_key& which) override { stopped.push_back(which); }
    std::vector<std::string> calls() const override { return {"do", "more"}; }
    std::uint32_t capacity() const override { return 9; }
    void shut_down() override { ++shut; }
    std::vector<v1::Perform> started;
    std::vector<agents::attempt_key> stopped;
    /// Waits for it: a backend is shut down on a thread of its own.
    bool shuts() const {
      for (int i = 0; i < 2'000 && shut == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds{5});
      return shut == 1;
    }
    std::atomic<int> shut{0};
  };
  std::shared_ptr<ending_backend> redefine(agents::agent_settings settings = {}, std::shared_ptr<const agents::secrets> secrets = nullptr) {
    auto next = std::make_shared<ending_backend>();
    host().redefine({"exec", std::move(settings), std::move(secrets)}, next);
    return next;
  }
};

TEST_F(agent_redefined_test, registers_by_the_new_definition_under_the_same_incarnation) {
  const auto before = host().registration(0);
  agents::agent_settings settings;
  auto& label = settings.labels.emplace_back();
  label.set_key("zone");
  label.set_value("eu");
  const auto next = redefine(settings);
  const auto after = host().registration(0);
  EXPECT_EQ(after.incarnation(), before.incarnation());
  EXPECT_EQ(after.kind(), "exec");
  EXPECT_EQ(after.capacity(), 9U);
  EXPECT_EQ(after.calls_size(), 2);
  EXPECT_EQ(after.labels(0).value(), "eu");
}

TEST_F(agent_redefined_test, begins_by_the_new_and_ends_by_the_former) {
  hand_over({attempt(1)});
  const auto next = redefine();
  hand_over({attempt(2)});
  EXPECT_EQ(backend.started.size(), 1U);
  ASSERT_EQ(next->started.size(), 1U);
  EXPECT_EQ(next->started[0].task_number(), 2U);
  finish(1);
  EXPECT_EQ(last().output(), "7");
  pass(5'000);
  ASSERT_EQ(next->stopped.size(), 1U) << "each is stopped where it began";
  EXPECT_EQ(next->stopped[0].task_number, 2U);
  EXPECT_TRUE(backend.stopped.empty());
}

TEST_F(agent_redefined_test, tries_again_where_the_attempt_began) {
  agents::agent_settings settings;
  settings.retry.tries = 2;
  settings.retry.backoff.set_first_ms(100);
  settings.retry.backoff.set_max_ms(100);
  restart(settings);
  hand_over({attempt(1)});
  const auto next = redefine();
  v1::Fault fault;
  fault.set_kind(v1::FAULT_KIND_TRANSIENT);
  finish(1, 1, {"", fault});
  pass(100);
  EXPECT_EQ(backend.started.size(), 2U) << "the same attempt has the same settings";
  EXPECT_TRUE(next->started.empty());
}

TEST_F(agent_redefined_test, ends_a_former_backend_after_its_last_attempt_and_not_earlier) {
  const auto second = redefine();
  hand_over({attempt(1), attempt(2)});
  const auto third = redefine();
  EXPECT_EQ(second->shut, 0);
  finish(1);
  EXPECT_EQ(second->shut, 0);
  pass(5'000);
  EXPECT_EQ(second->stopped.size(), 1U);
  EXPECT_TRUE(second->shuts()) << "the second was stopped at the end of its lease";
  EXPECT_EQ(third->shut, 0);
  redefine();
  EXPECT_TRUE(third->shuts()) << "it had nothing to do";
}

TEST_F(agent_redefined_test, goes_on_while_a_former_backend_takes_its_time_to_end) {
  struct slow_backend final : ending_backend {
    void shut_down() override {
      std::unique_lock lock{guard};
      may_end.wait(lock, [this] { return released; });
      ++shut;
    }
    void release() {
      const std::lock_guard lock{guard};
      released = true;
      may_end.notify_all();
    }
    std::mutex guard;
    std::condition_variable may_end;
    bool released = false;
  };
  const auto slow = std::make_shared<slow_backend>();
  host().redefine({"exec", {}, nullptr}, slow);
  const auto next = redefine();
  hand_over({attempt(1)});
  EXPECT_EQ(next->started.size(), 1U) << "the host does not wait";
  EXPECT_EQ(slow->shut, 0);
  slow->release();
  host().shut_down();
  EXPECT_EQ(slow->shut, 1) << "but it does at its own end";
}

TEST_F(agent_redefined_test, hides_the_secrets_that_the_attempt_knew) {
  const auto vault = [](const char* value) {
    auto out = std::make_shared<agents::secret_vault>();
    EXPECT_TRUE(out->add_value("K", value).ok());
    return out;
  };
  restart({}, vault("former-secret"));
  hand_over({attempt(1)});
  redefine({}, vault("present-secret"));
  finish(1, 1, {R"("former-secret")", std::nullopt});
  EXPECT_EQ(last().output(), R"("[secret K]")");
}

TEST_F(agent_redefined_test, is_idle_once_every_outcome_is_acknowledged) {
  EXPECT_TRUE(host().idle());
  hand_over({attempt(1)});
  EXPECT_FALSE(host().idle());
  finish(1);
  EXPECT_FALSE(host().idle());
  acknowledge(1);
  EXPECT_TRUE(host().idle());
}

}  // namespace
}  // namespace fairlead::testing
