#include "app/metrics/metrics_source.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <thread>

#include "tests/app/metrics/metric_reader.hpp"
#include "tests/app/metrics/node_figures_world.hpp"

namespace fairlead::app {
namespace {

class manual_clock final : public clock {
 public:
  moment now() const override { return from_unix_ms(testing::world_now_ms); }
  moment steady() const override { return moment{duration{ms_.load()}}; }
  void advance(duration by) { ms_ += by.count(); }

 private:
  std::atomic<std::int64_t> ms_{5'000};
};

class metrics_source_test : public ::testing::Test {
 protected:
  metrics_source_test() {
    auto well = testing::well_node();
    answers_ = well.told;
  }
  metrics_source make() {
    return metrics_source{{"n1", "1.2.3", {0}, &clock_, [this](const std::vector<std::uint32_t>& shards, duration limit) {
                             ++asked_;
                             EXPECT_EQ(shards, std::vector<std::uint32_t>{0});
                             EXPECT_LE(limit, std::chrono::seconds{2});
                             return answers_;
                           }}};
  }
  v1::StoreStatus& store() { return *answers_.shards[0].reply->mutable_shards(0)->mutable_store(); }

  manual_clock clock_;
  node_answers answers_;
  int asked_ = 0;
};

TEST_F(metrics_source_test, asks_the_node_once_a_second_however_often_it_is_asked) {
  auto source = make();
  auto handlers = source.handlers();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(handlers["/metrics"]().status, 200U);
    EXPECT_EQ(handlers["/healthz"]().status, 200U);
    EXPECT_EQ(handlers["/readyz"]().status, 200U);
    EXPECT_TRUE(source.healthy());
  }
  EXPECT_EQ(asked_, 1);
  clock_.advance(std::chrono::milliseconds{999});
  source.look();
  EXPECT_EQ(asked_, 1);
  clock_.advance(std::chrono::milliseconds{1});
  source.look();
  EXPECT_EQ(asked_, 2);
}

TEST_F(metrics_source_test, serves_a_page_that_a_strict_reader_takes) {
  auto source = make();
  const auto answer = source.handlers()["/metrics"]();
  EXPECT_EQ(answer.content_type, "text/plain; version=0.0.4; charset=utf-8");
  const testing::metric_reader page{answer.body};
  EXPECT_EQ(page.at("fairlead_shard_epoch{shard=\"0\"}"), 7);
  EXPECT_GT(page.at("fairlead_process_resident_bytes"), 1'000'000);
  EXPECT_GT(page.at("fairlead_process_open_fds"), 2);
  EXPECT_GE(page.at("fairlead_process_threads"), 1);
}

TEST_F(metrics_source_test, answers_503_with_reasons_in_json) {
  answers_.shards[0] = {std::nullopt, "no answer in time"};
  auto source = make();
  const auto health = source.handlers()["/healthz"]();
  EXPECT_EQ(health.status, 503U);
  EXPECT_EQ(health.content_type, "application/json");
  EXPECT_EQ(health.body, "{\"node\":\"n1\",\"reasons\":[\"shard 0 does not answer: no answer in time\"],\"status\":\"not healthy\"}\n");
  EXPECT_EQ(source.handlers()["/readyz"]().status, 503U);
  EXPECT_FALSE(source.healthy());
}

TEST_F(metrics_source_test, goes_on_with_an_older_status_of_the_node_for_ten_seconds_while_another_node_hangs) {
  auto source = make();
  source.look();
  answers_.status = {std::nullopt, "no answer in time"};
  for (int second = 1; second < 10; ++second) {
    clock_.advance(std::chrono::seconds{1});
    EXPECT_TRUE(ready(*source.look()).good()) << second;
  }
  clock_.advance(std::chrono::seconds{1});
  EXPECT_FALSE(ready(*source.look()).good());
  EXPECT_TRUE(source.healthy()) << "what another node does says nothing about this one";
}

TEST_F(metrics_source_test, tells_when_the_store_will_be_full_once_it_has_seen_it_grow) {
  auto source = make();
  store().set_max_bytes(10'000'000);
  for (int minute = 0; minute < 10; ++minute) {
    store().set_used_bytes(static_cast<std::uint64_t>(minute) * 100'000);
    EXPECT_TRUE(source.look()->full_in_seconds.empty());
    clock_.advance(std::chrono::minutes{1});
  }
  store().set_used_bytes(1'000'000);
  // Full is 90 %: eight million more, at a hundred thousand a minute.
  EXPECT_NEAR(source.look()->full_in_seconds.at(0), 80 * 60, 1);
}

TEST_F(metrics_source_test, counts_what_is_reserved_for_running_tasks_as_full) {
  auto source = make();
  store().set_max_bytes(10'000'000);
  store().set_used_bytes(3'800'000);
  store().set_reserved_bytes(5'300'000);
  EXPECT_EQ(source.look()->full_in_seconds.at(0), 0) << "new tasks are refused already";
}

TEST_F(metrics_source_test, is_not_ready_and_asks_nobody_once_it_is_told_to_stop) {
  auto source = make();
  EXPECT_EQ(source.handlers()["/readyz"]().status, 200U);
  source.stop();
  EXPECT_EQ(source.handlers()["/readyz"]().status, 503U);
  EXPECT_EQ(source.handlers()["/healthz"]().status, 200U);
  EXPECT_EQ(source.handlers()["/metrics"]().status, 200U);
  clock_.advance(std::chrono::minutes{1});
  source.look();
  EXPECT_EQ(asked_, 1);
}

TEST_F(metrics_source_test, can_be_stopped_while_the_node_does_not_answer) {
  std::mutex guard;
  std::condition_variable changed;
  bool asked = false;
  bool answered = false;
  metrics_source source{{"n1", "1.2.3", {0}, &clock_, [&](const std::vector<std::uint32_t>&, duration) {
                           std::unique_lock lock{guard};
                           asked = true;
                           changed.notify_all();
                           changed.wait_for(lock, std::chrono::seconds{20}, [&] { return answered; });
                           EXPECT_TRUE(answered) << "stop() has waited for the answer";
                           return answers_;
                         }}};
  std::shared_ptr<const node_figures> seen;
  std::thread scraper{[&] { seen = source.look(); }};
  {
    std::unique_lock lock{guard};
    changed.wait_for(lock, std::chrono::seconds{20}, [&] { return asked; });
  }
  source.stop();
  {
    const std::lock_guard lock{guard};
    answered = true;
  }
  changed.notify_all();
  scraper.join();
  ASSERT_NE(seen, nullptr);
  EXPECT_TRUE(seen->stopping);
}

}  // namespace
}  // namespace fairlead::app
