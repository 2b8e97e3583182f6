#include "app/access/audit_list.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <vector>

namespace fairlead::app {
namespace {

constexpr std::int64_t a_day_ms = 86'400'000;
constexpr std::int64_t first_ms = 20'000 * a_day_ms + a_day_ms / 2;

class audit_list_test : public ::testing::Test {
 protected:
  audit_list_test() : folder_(std::filesystem::temp_directory_path() / ("audit-list-" + std::to_string(::getpid()))) {
    auto made = audit_log::open(folder_, 1 << 26, time_, [](note_level, const std::string&) {});
    EXPECT_TRUE(made.ok());
    log_ = std::move(*made);
  }
  ~audit_list_test() override {
    log_.reset();
    std::filesystem::remove_all(folder_);
  }
  void note(const std::string& who, std::int64_t at_ms, const std::string& code = {}) {
    audit_entry what;
    what.at_unix_ms = at_ms;
    what.kind = "token";
    what.who = who;
    what.token = "id-of-" + who;
    what.object = who;
    what.state_after = "running";
    what.method = "POST";
    what.path = "/v1/tasks/" + who + "/actions";
    what.verb = "skip";
    what.reason = "\"by hand\"";
    what.status = code.empty() ? 200 : 403;
    what.code = code;
    std::promise<bool> written;
    log_->note(what, [&](const status& done) { written.set_value(done.ok()); });
    EXPECT_TRUE(written.get_future().get());
  }
  std::vector<std::string> whos(v1::AuditListRequest what) const {
    std::vector<std::string> out;
    for (int pages = 0; pages < 100; ++pages) {
      const auto page = read_audit(*log_, what);
      EXPECT_FALSE(page.has_error()) << page.error().sentence();
      for (const auto& one : page.items()) out.push_back(one.who());
      if (page.cursor().empty()) break;
      what.set_cursor(page.cursor());
    }
    return out;
  }

  std::filesystem::path folder_;
  system_clock time_;
  std::unique_ptr<audit_log> log_;
};

using names = std::vector<std::string>;

TEST_F(audit_list_test, says_everything_that_is_noted) {
  note("ben", first_ms + 250, "forbidden");
  const auto page = read_audit(*log_, {});
  ASSERT_EQ(page.items_size(), 1);
  const auto& one = page.items(0);
  EXPECT_EQ(one.at_unix_ms(), first_ms + 250);
  EXPECT_EQ(one.kind(), "token");
  EXPECT_EQ(one.who(), "ben");
  EXPECT_EQ(one.token(), "id-of-ben");
  EXPECT_EQ(one.object(), "ben");
  EXPECT_EQ(one.state_after(), "running");
  EXPECT_EQ(one.from(), "");
  EXPECT_EQ(one.method(), "POST");
  EXPECT_EQ(one.path(), "/v1/tasks/ben/actions");
  EXPECT_EQ(one.verb(), "skip");
  EXPECT_EQ(one.reason(), "\"by hand\"");
  EXPECT_EQ(one.status(), 403U);
  EXPECT_EQ(one.code(), "forbidden");
}

TEST_F(audit_list_test, takes_only_what_is_asked_for) {
  for (int day = 0; day < 4; ++day)
    for (const auto* const who : {"ana", "ben"}) note(who + std::to_string(day), first_ms + day * a_day_ms, day == 2 ? "forbidden" : "");
  v1::AuditListRequest what;
  what.set_who("ben1");
  EXPECT_EQ(whos(what), (names{"ben1"}));
  what = {};
  what.set_path("/v1/tasks/ana3/actions");
  EXPECT_EQ(whos(what), (names{"ana3"}));
  what = {};
  what.set_object("ana3");
  EXPECT_EQ(whos(what), (names{"ana3"}));
  what.set_token("id-of-ana2");
  EXPECT_EQ(whos(what), names{});
  what.set_object("");
  EXPECT_EQ(whos(what), (names{"ana2"}));
  what.set_verb("retry");
  EXPECT_EQ(whos(what), names{});
  what = {};
  what.set_code("forbidden");
  what.set_page_size(1);
  EXPECT_EQ(whos(what), (names{"ben2", "ana2"}));
  what = {};
  what.set_since_unix_ms(first_ms + a_day_ms);
  what.set_until_unix_ms(first_ms + 2 * a_day_ms);
  for (const auto size : {1U, 10U}) {
    what.set_page_size(size);
    EXPECT_EQ(whos(what), (names{"ben1", "ana1"})) << "of that moment or later, and before that moment";
  }
  what.set_until_unix_ms(first_ms + 2 * a_day_ms + 1);
  EXPECT_EQ(whos(what), (names{"ben2", "ana2", "ben1", "ana1"}));
}

TEST_F(audit_list_test, goes_on_behind_each_entry_and_at_the_place_where_it_began) {
  for (const auto* const who : {"a", "b", "c", "d"}) note(who, first_ms);
  const auto page = read_audit(*log_, {});
  ASSERT_EQ(page.items_size(), 4);
  EXPECT_EQ(page.cursor(), "");
  note("later", first_ms);
  v1::AuditListRequest what;
  what.set_cursor(page.begin());
  EXPECT_EQ(whos(what), (names{"d", "c", "b", "a"})) << "what was added meanwhile is not in it";
  what.set_cursor(page.items(1).place());
  EXPECT_EQ(whos(what), (names{"b", "a"}));
  what.set_cursor(page.items(3).place());
  EXPECT_EQ(whos(what), names{});
  what.set_cursor("n1");
  EXPECT_EQ(read_audit(*log_, what).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
}

TEST_F(audit_list_test, has_each_thing_that_one_request_did) {
  audit_entry request;
  request.kind = "token";
  request.who = "ana";
  request.path = "/v1/requests/OperateRequest";
  std::vector<audit_entry> all;
  for (int i = 0; i < 30; ++i) {
    noted_request one;
    one.entry.set_at_unix_ms(first_ms);
    one.entry.set_path("/v1/tasks/t-" + std::to_string(i) + "/actions");
    if (i == 29) one.end = v1::ERROR_CODE_NOT_FOUND;
    all.push_back(with_deed(request, one));
  }
  std::promise<bool> written;
  note_all(*log_, all, [&](const status& done) { written.set_value(done.ok()); });
  EXPECT_TRUE(written.get_future().get());
  const auto page = read_audit(*log_, {});
  ASSERT_EQ(page.items_size(), 30);
  EXPECT_EQ(page.items(0).path(), "/v1/tasks/t-29/actions");
  EXPECT_EQ(page.items(0).code(), "not_found");
  EXPECT_EQ(page.items(0).status(), 404U);
  EXPECT_EQ(page.items(1).who(), "ana");
  EXPECT_EQ(page.items(1).status(), 200U);
}

TEST_F(audit_list_test, has_pages_that_fit_into_a_message) {
  for (int i = 0; i < 100; ++i) {
    audit_entry what;
    what.at_unix_ms = first_ms;
    what.reason = std::string(30'000, 'r');
    what.who = std::to_string(i);
    std::promise<void> written;
    log_->note(what, [&](const status&) { written.set_value(); });
    written.get_future().get();
  }
  v1::AuditListRequest what;
  what.set_page_size(1'000);
  const auto page = read_audit(*log_, what);
  EXPECT_LT(page.items_size(), 60);
  EXPECT_GT(page.items_size(), 20);
  EXPECT_NE(page.cursor(), "");
}

}  // namespace
}  // namespace fairlead::app
