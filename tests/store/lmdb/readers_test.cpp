// Readers beside a writer: what one of them has seen, it sees from then on.

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/store/lmdb/lmdb_fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

constexpr auto stand_still_signal = SIGUSR1;

/// The thread stands still where it is, for longer than a commit takes.
void stand_still(int) {
  const timespec some{0, 500'000};
  nanosleep(&some, nullptr);
}

/// LMDB alone shows a reader that stands still while its transaction begins a state whose commit has not ended, and the state before it next.
TEST_F(lmdb, a_reader_never_sees_an_older_state_again) {
  constexpr std::uint64_t commits = 3'000;
  auto raw = env::open({path, std::uint64_t{1} << 30, false});
  ASSERT_TRUE(raw.ok());
  const auto write = [&](std::uint64_t number) {
    auto txn = (*raw)->write();
    ASSERT_TRUE(txn->put(table::task, "newest", std::to_string(number)).ok());
    ASSERT_TRUE(txn->commit().ok());
  };
  write(1);
  struct sigaction stops {};
  stops.sa_handler = stand_still;
  struct sigaction before {};
  ASSERT_EQ(sigaction(stand_still_signal, &stops, &before), 0);
  std::atomic<bool> ended{false};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 4; ++reader) {
    readers.emplace_back([&] {
      for (std::uint64_t last = 1; !ended && !::testing::Test::HasFailure();) {
        const auto shown = (*raw)->read();
        const auto newest = shown.get(table::task, "newest");
        ASSERT_TRUE(newest.ok() && newest->has_value());
        const auto number = std::stoull(std::string(**newest));
        EXPECT_GE(number, last) << "an older state was shown again";
        last = number;
      }
    });
  }
  for (std::uint64_t number = 2; number <= commits && !::testing::Test::HasFailure(); ++number) {
    write(number);
    pthread_kill(readers[number % readers.size()].native_handle(), stand_still_signal);
  }
  ended = true;
  for (auto& one : readers) one.join();
  sigaction(stand_still_signal, &before, nullptr);
}

}  // namespace
}  // namespace fairlead::store
