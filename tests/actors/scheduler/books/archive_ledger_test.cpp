#include "actors/scheduler/books/archive_ledger.hpp"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

const std::vector<std::uint64_t> two{4, 5};
const auto still_there = [](std::uint64_t) { return false; };

TEST(archive_ledger, a_task_is_leaving_until_that_is_durable) {
  archive_ledger ledger;
  ledger.move({two, 10}, 12);
  EXPECT_TRUE(ledger.leaving(4));
  ledger.committed_up_to(11);
  EXPECT_TRUE(ledger.leaving(5));
  ledger.committed_up_to(12);
  EXPECT_FALSE(ledger.leaving(4));
}

TEST(archive_ledger, a_choice_is_out_of_date_when_its_task_was_undone_after_it_was_read) {
  archive_ledger ledger;
  ledger.reopened(5, 11);
  EXPECT_TRUE(ledger.out_of_date({two, 10}));
  EXPECT_FALSE(ledger.out_of_date({two, 11}));
}

TEST(archive_ledger, what_was_read_before_the_last_move_and_is_gone_has_been_asked_for_twice) {
  archive_ledger ledger;
  EXPECT_FALSE(ledger.asked_twice({two, 10}, [](std::uint64_t) { return true; })) << "nothing has moved so far";
  ledger.move({two, 10}, 12);
  EXPECT_TRUE(ledger.asked_twice({two, 10}, still_there)) << "it is leaving";
  ledger.committed_up_to(12);
  EXPECT_FALSE(ledger.asked_twice({two, 10}, still_there));
  EXPECT_TRUE(ledger.asked_twice({two, 10}, [](std::uint64_t number) { return number == 5; }));
  EXPECT_FALSE(ledger.asked_twice({two, 12}, [](std::uint64_t) { return true; })) << "it was read after that";
}

}  // namespace
}  // namespace fairlead
