#include "app/door/figures.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace fairlead::app::door {
namespace {

/// `GET 200 3`, …
std::vector<std::string> lines_of(const figures& all) {
  std::vector<std::string> out;
  for (const auto& one : all.answers())
    out.push_back(std::string{one.method} + " " + std::to_string(one.status) + " " + std::to_string(one.count));
  return out;
}

TEST(figures_of_a_port, count_answers_by_method_and_status) {
  figures all;
  EXPECT_TRUE(lines_of(all).empty());
  all.on_answer("GET", 200, 150);
  all.on_answer("GET", 200, 2'000);
  all.on_answer("PUT", 201, 1);
  all.on_answer("BREW", 501, 1);
  all.on_answer("", 0, 1);
  all.on_answer("GET", 9'999, 1);
  EXPECT_EQ(lines_of(all), (std::vector<std::string>{"GET 200 2", "GET 599 1", "PUT 201 1", "other 200 1", "other 501 1"}))
      << "however odd, they make no further series";
}

TEST(figures_of_a_port, count_times_in_the_bounds_of_other_durations) {
  figures all;
  core::distribution same;
  for (const std::uint64_t micros : {0ULL, 1ULL, 2ULL, 3ULL, 150ULL, 500'000'000ULL, 500'000'001ULL}) {
    all.on_answer("GET", 200, micros);
    same.add(micros);
  }
  EXPECT_EQ(all.times().SerializeAsString(), same.to_proto().SerializeAsString());
}

TEST(figures_of_a_port, lose_no_count_to_several_threads) {
  figures all;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 10'000; ++n) {
        const counted connection{all.connections};
        all.on_answer("GET", 200, 1);
      }
    });
  threads.clear();
  EXPECT_EQ(lines_of(all), (std::vector<std::string>{"GET 200 40000"}));
  EXPECT_EQ(all.connections, 0);
  const counted stream{all.streams};
  EXPECT_EQ(all.streams, 1);
}

}  // namespace
}  // namespace fairlead::app::door
