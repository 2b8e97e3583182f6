#include "actors/protocol/reminders.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace fairlead {
namespace {

class set_clock final : public clock {
 public:
  moment now() const override { return from_unix_ms(ms); }
  std::int64_t ms = 1'700'000'000'000;
};

/// As much of an actor as sends itself messages.
struct actor_stand_in {
  struct mailbox_clock {
    std::chrono::steady_clock::time_point now() const { return at; }
    std::chrono::steady_clock::time_point at{std::chrono::hours{5}};
  };
  mailbox_clock& clock() { return time; }
  void delayed_send(actor_stand_in*, duration wait, int) { sent.push_back(wait); }

  mailbox_clock time;
  std::vector<duration> sent;
};

TEST(reminders, of_a_moment_of_the_wall_clock_come_in_time_though_that_fell_by_an_hour_and_was_put_right) {
  set_clock wall;
  actor_stand_in self;
  reminders noted;
  wall.ms -= 3'600'000;
  remind_at(from_unix_ms(wall.ms + 3'600'000 + 200), wall, self, noted, 1);
  ASSERT_EQ(self.sent.size(), 1u);
  EXPECT_LE(self.sent[0], longest_wall_wait) << "it looks at the clock again before that";
  wall.ms += 3'600'000;
  remind_at(from_unix_ms(wall.ms + 200), wall, self, noted, 1);
  ASSERT_EQ(self.sent.size(), 2u) << "the one that is on its way comes later";
  EXPECT_EQ(self.sent[1], duration{200});
  remind_at(from_unix_ms(wall.ms + 300), wall, self, noted, 1);
  EXPECT_EQ(self.sent.size(), 2u);
}

}  // namespace
}  // namespace fairlead
