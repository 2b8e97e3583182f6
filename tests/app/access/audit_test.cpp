#include "app/access/audit.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>

namespace fairlead::app {
namespace {

constexpr std::int64_t day_ms = 86'400'000;
constexpr std::int64_t noon_ms = 20'000 * day_ms + day_ms / 2;

class still_clock : public clock {
 public:
  moment now() const override { return from_unix_ms(noon_ms); }
};

class audit_test : public ::testing::Test {
 protected:
  audit_test() : folder_(std::filesystem::temp_directory_path() / ("audit-" + std::to_string(::getpid()))) {}
  ~audit_test() override {
    log_.reset();
    std::filesystem::remove_all(folder_);
  }
  void open(std::uint64_t most_bytes = 1 << 20) {
    log_.reset();
    auto made = audit_log::open(folder_, most_bytes, time_, [this](note_level level, const std::string& sentence) {
      (level == note_level::warning ? warned_ : said_).push_back(sentence);
    });
    ASSERT_TRUE(made.ok()) << made.failure().sentence;
    log_ = std::move(*made);
  }
  /// Whether it is on the disk.
  bool note(const std::string& who, std::int64_t at_ms = noon_ms, const std::string& reason = {}, const std::string& code = {}) {
    audit_entry what;
    what.at_unix_ms = at_ms;
    what.who = who;
    what.reason = reason;
    what.code = code;
    std::mutex guard;
    std::condition_variable done;
    std::optional<bool> good;
    log_->note(what, [&](const status& written) {
      const std::lock_guard lock{guard};
      good = written.ok();
      done.notify_all();
    });
    std::unique_lock lock{guard};
    done.wait(lock, [&] { return good.has_value(); });
    return *good;
  }
  static std::string who_of(const std::string& entry) {
    const auto at = entry.find("\"who\":\"") + 7;
    return entry.substr(at, entry.find('"', at) - at);
  }
  /// The names of all entries, by pages of `size`.
  std::vector<std::string> whos(std::size_t size) {
    std::vector<std::string> out;
    std::string cursor;
    do {
      const auto page = log_->read(cursor, size, [](std::string_view) { return true; });
      EXPECT_TRUE(page.ok());
      for (const auto& one : page->entries) out.push_back(who_of(one));
      cursor = page->cursor;
    } while (!cursor.empty());
    return out;
  }

  std::filesystem::path folder_;
  still_clock time_;
  std::vector<std::string> warned_, said_;  // read once the log has ended
  std::unique_ptr<audit_log> log_;
};

TEST_F(audit_test, gives_entries_newest_first_over_days_and_pages) {
  open();
  std::vector<std::string> wanted;
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(note("n" + std::to_string(i), noon_ms + i / 10 * day_ms));
    wanted.insert(wanted.begin(), "n" + std::to_string(i));
  }
  for (const std::size_t size : {1U, 3U, 10U, 29U, 30U, 100U}) EXPECT_EQ(whos(size), wanted) << size;
  const auto some = log_->read("", 100, [](std::string_view entry) { return entry.find("\"n7\"") != std::string_view::npos; });
  ASSERT_EQ(some->entries.size(), 1U);
  EXPECT_FALSE(log_->read("x", 1, [](std::string_view) { return true; }).ok());
  EXPECT_FALSE(log_->read("2026-11-24-000:", 1, [](std::string_view) { return true; }).ok());
}

TEST_F(audit_test, reads_entries_that_lie_over_the_blocks_that_it_reads) {
  open(std::uint64_t{1} << 30);
  std::vector<std::string> wanted;
  for (int i = 0; i < 300; ++i) {
    EXPECT_TRUE(note("n" + std::to_string(i), noon_ms, std::string(static_cast<std::size_t>(i * 7 % 1'000), 'r')));
    wanted.insert(wanted.begin(), "n" + std::to_string(i));
  }
  EXPECT_EQ(whos(1'000), wanted);
  EXPECT_EQ(whos(7), wanted);
}

TEST_F(audit_test, goes_on_behind_half_an_entry) {
  open();
  EXPECT_TRUE(note("before"));
  log_.reset();
  const auto file = std::filesystem::directory_iterator { folder_ } -> path();
  std::ofstream{file, std::ios::app} << "{\"who\":\"ha";
  open();
  EXPECT_TRUE(note("after"));
  EXPECT_EQ(whos(1), (std::vector<std::string>{"after", "before"}));
}

TEST_F(audit_test, removes_its_oldest_files_also_within_a_day) {
  open(40'000);
  for (int i = 0; i < 400; ++i) EXPECT_TRUE(note("n" + std::to_string(i), noon_ms, std::string(200, 'r')));
  std::uint64_t bytes = 0;
  for (const auto& one : std::filesystem::directory_iterator{folder_}) bytes += one.file_size();
  EXPECT_LT(bytes, 40'000U + 2 * 5'000);
  EXPECT_GT(bytes, 30'000U);
  const auto left = whos(7);
  ASSERT_GT(left.size(), 50U);
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_EQ(left[i], "n" + std::to_string(399 - i)) << "the newest ones, without a gap";
}

TEST_F(audit_test, begins_another_file_when_somebody_has_moved_or_removed_the_one_in_use) {
  open();
  EXPECT_TRUE(note("one"));
  const auto file = std::filesystem::directory_iterator { folder_ } -> path();
  std::filesystem::rename(file, file.string() + ".1");
  EXPECT_TRUE(note("two"));
  EXPECT_EQ(whos(10), (std::vector<std::string>{"two"}));
  std::filesystem::remove(file);
  EXPECT_TRUE(note("three"));
  EXPECT_EQ(whos(10), (std::vector<std::string>{"three"}));
}

TEST_F(audit_test, says_that_nothing_can_be_written_and_finds_out_when_it_can_again) {
  open();
  EXPECT_TRUE(note("one"));
  std::filesystem::rename(folder_, folder_.string() + ".away");
  EXPECT_FALSE(note("two", noon_ms + day_ms)) << "another day needs another file";
  EXPECT_FALSE(log_->is_sound());
  std::filesystem::rename(folder_.string() + ".away", folder_);
  for (int i = 0; i < 10'000 && !log_->is_sound(); ++i) ::usleep(1'000);
  EXPECT_TRUE(log_->is_sound());
  EXPECT_TRUE(note("three", noon_ms + day_ms));
  EXPECT_EQ(whos(10), (std::vector<std::string>{"three", "one"}));
  EXPECT_EQ(log_->lost(), 1U);
  EXPECT_EQ(log_->written(), 2U);
  log_.reset();
  EXPECT_EQ(warned_.size(), 2U);
}

TEST_F(audit_test, tells_the_log_of_each_change_and_of_some_refusals_a_minute) {
  open();
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(note("ana"));
    EXPECT_TRUE(note("ben", noon_ms, {}, "forbidden"));
  }
  log_.reset();
  EXPECT_EQ(said_.size(), 30U);
  EXPECT_EQ(warned_.size(), 20U);
}

TEST(audit_sentences, say_in_one_line_who_did_what) {
  audit_entry what;
  what.kind = "token";
  what.who = "ben";
  what.token = "Ab3dEf6hIj9k";
  what.from = "10.0.0.7";
  what.request_id = "r-1";
  what.method = "POST";
  what.path = "/v1/tasks/order-1/actions";
  what.object = "order-1";
  what.verb = "skip";
  what.reason = "done by hand";
  what.state_after = "running";
  EXPECT_EQ(
      audit_sentence(what),
      "token ben (Ab3dEf6hIj9k) from 10.0.0.7: POST /v1/tasks/order-1/actions skip: done, now running; reason: done by hand; request r-1");
  what = {};
  what.method = "POST";
  what.path = "/v1/alerts:ack";
  what.object = "12";
  what.code = "unauthenticated";
  what.request_id = "r-2";
  EXPECT_EQ(audit_sentence(what), "somebody unknown: POST /v1/alerts:ack 12: refused, unauthenticated; request r-2");
}

TEST(audit_objects, are_what_a_path_names) {
  EXPECT_EQ(audit_object("/v1/tasks/orders%2F7/actions"), "orders/7");
  EXPECT_EQ(audit_object("/v1/jobs/nightly"), "nightly");
  EXPECT_EQ(audit_object("/v1/alerts:ack"), "");
  EXPECT_EQ(audit_object("/v1/requests/OperateRequest"), "");
  EXPECT_EQ(audit_object("/v1/tasks/%zz"), "");
  EXPECT_EQ(audit_object("/"), "");
}

}  // namespace
}  // namespace fairlead::app
