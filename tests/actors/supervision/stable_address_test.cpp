// Real threads: senders that race with a change of direction.

#include "actors/supervision/stable_address.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace fairlead {
namespace {

using std::chrono::seconds;
using desk_actor = caf::typed_actor<caf::replies_to<int>::with<int>>;

/// Answers with the number plus its own.
desk_actor::behavior_type run_desk(desk_actor::pointer, int own) {
  return {[own](int number) { return own + number; }};
}

struct stable_address_test : ::testing::Test {
  caf::strong_actor_ptr desk(int own) { return caf::actor_cast<caf::strong_actor_ptr>(system.spawn(run_desk, own)); }
  void end(const caf::strong_actor_ptr& which) {
    self->monitor(which);
    end_watched(which);
  }
  void end_watched(const caf::strong_actor_ptr& which) {
    caf::anon_send_exit(which, caf::exit_reason::user_shutdown);
    self->receive([](const caf::down_msg&) {}, caf::after(seconds{20}) >> [] { FAIL() << "it did not end"; });
  }
  /// The answer, or -1 with the error in `refusal`.
  template <class Waiting>
  int take(Waiting&& waiting) {
    int out = -1;
    waiting.receive([&](int got) { out = got; }, [&](caf::error& why) { refusal = std::move(why); });
    return out;
  }
  int ask(const stable_address& whom, int number) { return take(self->request(whom.as<desk_actor>(), seconds{20}, number)); }

  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  caf::error refusal;
};

TEST_F(stable_address_test, passes_on_to_whoever_is_there_now) {
  stable_address address{system};
  const auto first = desk(100);
  address.lead_to(first);
  EXPECT_EQ(ask(address, 1), 101);
  const auto second = desk(200);
  address.lead_to(second);
  EXPECT_EQ(ask(address, 2), 202);
  end(first);
  EXPECT_EQ(ask(address, 3), 203);
  end(second);
}

TEST_F(stable_address_test, keeps_what_comes_while_nobody_is_there_in_order) {
  stable_address address{system};
  std::vector<decltype(self->request(address.as<desk_actor>(), seconds{20}, 0))> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(self->request(address.as<desk_actor>(), seconds{20}, i));
  const auto there = desk(10);
  address.lead_to(there);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(take(waiting[static_cast<std::size_t>(i)]), 10 + i);
  end(there);
}

TEST_F(stable_address_test, keeps_what_comes_between_the_end_of_one_and_the_next_though_nobody_has_told_it) {
  stable_address address{system};
  const auto first = desk(100);
  // As a guardian does. CAF tells whoever attached itself last first: once this one hears of the end, the address has.
  self->monitor(first);
  address.lead_to(first);
  end_watched(first);
  auto waiting = self->request(address.as<desk_actor>(), seconds{20}, 1);
  const auto second = desk(200);
  address.lead_to(second);
  EXPECT_EQ(take(waiting), 201);
  end(second);
}

TEST_F(stable_address_test, refuses_a_request_beyond_what_it_keeps) {
  stable_address address{system, 2};
  auto a = self->request(address.as<desk_actor>(), seconds{20}, 1);
  auto b = self->request(address.as<desk_actor>(), seconds{20}, 2);
  EXPECT_EQ(ask(address, 3), -1);
  EXPECT_EQ(refusal.code(), static_cast<std::uint8_t>(caf::sec::runtime_error));
  EXPECT_NE(caf::to_string(refusal).find("2 messages wait already"), std::string::npos) << caf::to_string(refusal);
  const auto there = desk(10);
  address.lead_to(there);
  EXPECT_EQ(take(a), 11);
  EXPECT_EQ(take(b), 12);
  end(there);
}

TEST_F(stable_address_test, answers_all_that_waits_and_all_that_comes_once_it_is_closed_and_tells_who_watches) {
  stable_address address{system};
  self->monitor(address.handle());
  auto waiting = self->request(address.as<desk_actor>(), seconds{20}, 1);
  address.close();
  EXPECT_EQ(take(waiting), -1);
  EXPECT_TRUE(refusal == caf::sec::request_receiver_down) << caf::to_string(refusal);
  EXPECT_EQ(ask(address, 2), -1);
  EXPECT_TRUE(refusal == caf::sec::request_receiver_down) << caf::to_string(refusal);
  caf::actor_addr gone;
  self->receive([&](const caf::down_msg& what) { gone = what.source; }, caf::after(seconds{20}) >> [] {});
  EXPECT_EQ(gone, address.handle()->address());
  const auto there = desk(10);
  address.lead_to(there);
  EXPECT_EQ(ask(address, 3), -1);
  end(there);
}

TEST_F(stable_address_test, is_not_ended_by_a_message_and_does_not_end_who_stands_behind_it) {
  stable_address address{system};
  const auto there = desk(10);
  address.lead_to(there);
  caf::anon_send_exit(address.handle(), caf::exit_reason::kill);
  self->send_exit(address.handle(), caf::exit_reason::user_shutdown);
  EXPECT_EQ(ask(address, 1), 11);
  end(there);
}

TEST_F(stable_address_test, is_found_by_its_id_while_it_lives) {
  caf::actor_id id = 0;
  {
    stable_address address{system};
    id = address.handle()->id();
    EXPECT_EQ(system.registry().get(id), address.handle());
  }
  EXPECT_EQ(system.registry().get(id), nullptr);
}

TEST_F(stable_address_test, survives_the_way_through_bytes) {
  stable_address address{system};
  std::vector<char> bytes;
  auto handle = address.as<desk_actor>();
  caf::binary_serializer write{system, bytes};
  ASSERT_FALSE(write(handle));
  desk_actor back;
  caf::binary_deserializer read{system, bytes};
  ASSERT_FALSE(read(back));
  EXPECT_EQ(back, handle);
}

using sink_actor = caf::typed_actor<caf::reacts_to<int, int>>;

/// What arrived, by sender. Written by one actor at a time.
struct arrivals {
  std::array<std::vector<int>, 4> by_sender;
  std::atomic<int> count{0};
};

sink_actor::behavior_type run_sink(sink_actor::pointer, std::shared_ptr<arrivals> into) {
  return {[into](int sender, int number) {
    into->by_sender.at(static_cast<std::size_t>(sender)).push_back(number);
    ++into->count;
  }};
}

TEST_F(stable_address_test, keeps_the_order_of_each_sender_while_it_is_led_back_and_forth) {
  constexpr int each = 20'000;
  stable_address address{system};
  const auto into = std::make_shared<arrivals>();
  const auto there = caf::actor_cast<caf::strong_actor_ptr>(system.spawn(run_sink, into));
  std::atomic<int> done{0};
  std::vector<std::thread> senders;
  for (int sender = 0; sender < 4; ++sender)
    senders.emplace_back([&, sender] {
      for (int i = 0; i < each; ++i) caf::anon_send(address.as<sink_actor>(), sender, i);
      ++done;
    });
  while (done < 4) {
    address.lead_to(nullptr);
    address.lead_to(there);
  }
  for (auto& one : senders) one.join();
  address.lead_to(there);
  const auto deadline = std::chrono::steady_clock::now() + seconds{20};
  while (into->count < 4 * each && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  end(there);
  ASSERT_EQ(into->count, 4 * each);
  for (const auto& one : into->by_sender) {
    EXPECT_EQ(one.size(), static_cast<std::size_t>(each));
    EXPECT_TRUE(std::is_sorted(one.begin(), one.end()));
  }
}

}  // namespace
}  // namespace fairlead
