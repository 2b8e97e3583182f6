// Cron against its oracle (cron_oracle.hpp): a year of instants in many zones, each year with a change of the clocks in it, for all
// policies. FAIRLEAD_CRON_SEEDS widens the random part; each seed is a zone, a year and a dozen expressions.

#include <cctz/time_zone.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <stdexcept>

#include "actors/core/cron/expression.hpp"
#include "actors/core/cron/next.hpp"
#include "tests/actors/core/cron/cron_cases.hpp"
#include "tests/actors/core/cron/cron_oracle.hpp"

namespace fairlead::core {
namespace {

using oracle::local_seconds;
using oracle::policy;
using oracle::timeline;

constexpr std::int64_t minute_s = 60, hour_s = 3600, day_s = 86400;

std::uint64_t seeds() {
  const char* wanted = std::getenv("FAIRLEAD_CRON_SEEDS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 24;
}

struct policy_pair {
  policy theirs;
  dst_policy ours;
  const char* name;
};
constexpr policy_pair policies[] = {{policy::vixie, dst_policy::vixie, "vixie"},
                                    {policy::literal, dst_policy::literal, "literal"},
                                    {policy::skip_once, dst_policy::skip_once, "skip_once"}};

// A year in a zone, and what has to be looked at more closely in it.
struct place {
  oracle::zone theirs;
  cctz::time_zone ours;
  timeline year;
  timeline quiet;                 // two days
  std::vector<timeline> around;   // each change of the clocks, a day and more before and after it
  std::vector<timeline> closely;  // the same, a minute and more before and after it and each end of its gap or overlap

  place(const std::string& name, std::int64_t from_utc_s)
      : theirs{name, oracle::on_the_wall(from_utc_s).year + 3},
        year{theirs, from_utc_s, from_utc_s + 366 * day_s},
        quiet{theirs, from_utc_s + 20 * day_s, from_utc_s + 22 * day_s} {
    if (!cctz::load_time_zone(name, &ours)) throw std::runtime_error{"cctz has no " + name};
    for (const auto move : year.moves()) {
      const auto size = std::abs(theirs.local(move) - theirs.local(move - 1) - 1);
      around.emplace_back(theirs, move - size - 26 * hour_s, move + size + 26 * hour_s);
      for (const auto edge : {move - size, move, move + size}) closely.emplace_back(theirs, edge - 70, edge + 70);
    }
  }
  place(const place&) = delete;
};

std::string shown(const place& at, std::optional<std::int64_t> instant) {
  return instant ? written(at.theirs, *instant) + " (" + std::to_string(*instant) + ")" : "never";
}

class cron_oracle : public ::testing::Test {
 protected:
  // False when the two disagreed.
  bool agree(const std::string& text, const cron_expression& ours, const oracle::expression& theirs, const place& at) {
    const auto a_day = at.quiet.fires(theirs).literal.size() / 2;
    std::vector<const timeline*> lines;
    if (a_day <= often_) lines.push_back(&at.year);
    if (a_day > often_ && a_day <= 3000) lines.push_back(&at.quiet);
    // Every second of days would be too much; near the moves it is enough.
    for (const auto& one : a_day > 3000 ? at.closely : at.around) lines.push_back(&one);
    for (const auto* line : lines) {
      const auto expected = line->fires(theirs);
      for (const auto& by : policies) {
        if (!agree_on(text, ours, expected.of(by.theirs), by, at, *line)) return false;
      }
    }
    return true;
  }

  void agree(const std::string& text, const place& at) {
    if (differences_ >= 10) return;
    const auto parsed = cron_expression::parse(text, "job");
    const auto theirs = oracle::parse(text);
    const auto* ours = std::get_if<cron_expression>(&parsed);
    ASSERT_TRUE(theirs) << text << ": the oracle does not know it";
    ASSERT_TRUE(ours) << text << ": " << std::get<cron_problem>(parsed).sentence;
    agree(text, *ours, *theirs, at);
  }

  std::mt19937_64 random_{1};
  std::size_t often_ = seeds() > 1000 ? 100 : 9;  // a day: what is due more often is compared near changes and on quiet days only
  int differences_ = 0;
  std::uint64_t compared_ = 0;

 private:
  bool agree_on(const std::string& text, const cron_expression& ours, const std::vector<std::int64_t>& expected, const policy_pair& by,
                const place& at, const timeline& line) {
    const auto same = [&](std::int64_t after) {
      const auto behind = std::upper_bound(expected.begin(), expected.end(), after);
      const auto got = next_instant(ours, at.ours, by.ours, after);
      ++compared_;
      if (behind == expected.end() ? !got || *got >= line.to() : got && *got == *behind) return true;
      ++differences_;
      std::string near;
      for (const auto move : line.moves()) near += "\n  the clocks move at   " + shown(at, move - 1) + " -> " + shown(at, move);
      ADD_FAILURE() << "'" << text << "' in " << at.theirs.name() << ", " << by.name << "\n  after                " << shown(at, after)
                    << "\n  the oracle says      " << (behind == expected.end() ? "not before " + shown(at, line.to()) : shown(at, *behind))
                    << "\n  the implementation   " << shown(at, got) << near;
      return false;
    };
    if (!same(line.from() - 1)) return false;
    for (const auto due : expected) {
      if (!same(due)) return false;
    }
    for (const auto move : line.moves()) {
      for (const auto away : {-hour_s, -minute_s - 1, -minute_s, std::int64_t{-2}, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1},
                              minute_s - 1, minute_s, hour_s}) {
        if (move + away >= line.from() && move + away < line.to() && !same(move + away)) return false;
      }
    }
    for (int i = 0; i < 5; ++i) {
      if (!same(std::uniform_int_distribution<std::int64_t>{line.from(), line.to() - 1}(random_))) return false;
    }
    return true;
  }
};

TEST_F(cron_oracle, agrees_on_a_year_in_fifty_places) {
  for (const auto& [zone, year, month] : oracle::places) {
    const place at{zone, local_seconds(year, month, 1)};
    if (std::string{zone} != "UTC") {
      ASSERT_FALSE(at.year.moves().empty()) << "the clocks of " << zone << " never move in that year";
    }
    for (const char* text : oracle::fixed_expressions) agree(text, at);
  }
  std::cout << compared_ << " answers compared\n";
}

oracle::texts all_zones() {
  oracle::texts out;
  const std::string root = "/usr/share/zoneinfo/";
  for (const auto& one : std::filesystem::recursive_directory_iterator{root}) {
    const auto name = one.path().string().substr(root.size());
    if (!one.is_regular_file() || name.rfind("right/", 0) == 0 || name.rfind("posix/", 0) == 0) continue;
    std::string start(4, ' ');
    std::ifstream{one.path(), std::ios::binary}.read(start.data(), 4);
    if (start == "TZif") out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST_F(cron_oracle, agrees_on_random_expressions_around_random_changes_of_clocks) {
  const auto zones = all_zones();
  ASSERT_GT(zones.size(), 300u);
  for (std::uint64_t seed = 0; seed < seeds() && differences_ < 10; ++seed) {
    oracle::cron_writer write{seed};
    random_.seed(seed);
    const auto& name = zones[write.below(zones.size())];
    std::vector<std::int64_t> moves;
    // One in six lies so far ahead that only the rule for ever, and not the library's table of it, knows the change.
    const bool far = write.below(6) == 0;
    const oracle::zone where{name, far ? 9999 : 2520};
    const auto first = local_seconds(far ? 2400 : 1840, 1, 1), last = local_seconds(far ? 9998 : 2110, 1, 1);
    for (const auto& one : where.stretches()) {
      if (one.begin > first && one.begin < last) moves.push_back(one.begin);
    }
    // Some months before a change, so that it lies in the year; a second within the minute at random.
    const auto from =
        moves.empty() ? local_seconds(2026, 1, 1) : moves[write.below(moves.size())] - static_cast<std::int64_t>(write.below(300 * day_s));
    const place at{name, from};
    for (int i = 0; i < 12; ++i) {
      const auto text = write.expression();
      SCOPED_TRACE("seed " + std::to_string(seed));
      agree(text, at);
    }
  }
  std::cout << compared_ << " answers compared\n";
}

TEST_F(cron_oracle, agrees_on_what_never_matches) {
  for (const char* text :
       {"0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 L-29 2 *", "0 0 L-28 2 *", "0 0 30W 2 *", "0 0 29W 2 *", "0 0 29 2 */7", "0 0 30 2 SUN",
        "0 0 31 2 MON#5", "0 0 */31 2 *", "0 0 */31 2 *,1", "0 0 L-30 4 */2", "0 0 LW 2 *", "@every 10s"}) {
    EXPECT_EQ(ever_matches(std::get<cron_expression>(cron_expression::parse(text, "job"))), some_day_matches(*oracle::parse(text))) << text;
  }
  oracle::cron_writer write{3};
  for (int i = 0; i < 200; ++i) {
    const auto text = write.expression();
    const auto parsed = cron_expression::parse(text, "job");
    ASSERT_TRUE(std::holds_alternative<cron_expression>(parsed)) << text << ": " << std::get<cron_problem>(parsed).sentence;
    EXPECT_EQ(ever_matches(std::get<cron_expression>(parsed)), some_day_matches(*oracle::parse(text))) << text;
  }
}

TEST_F(cron_oracle, agrees_on_years_of_waiting) {
  struct row {
    const char *text, *zone;
    int year, years;
  };
  for (const auto& [text, zone, year, years] :
       {row{"0 0 29 2 *", "UTC", 1896, 9}, row{"0 0 29 2 *", "Europe/Berlin", 1896, 9}, row{"0 0 29 2 *", "America/New_York", 2096, 9},
        row{"30 2 29 2 */7", "Asia/Kathmandu", 2005, 29}, row{"59 59 23 L-28 2 *", "Pacific/Chatham", 2096, 9},
        row{"0 3 31W 12 *", "Asia/Tokyo", 2026, 2}}) {
    cctz::time_zone ours;
    ASSERT_TRUE(cctz::load_time_zone(zone, &ours));
    const auto what = std::get<cron_expression>(cron_expression::parse(text, "job"));
    const oracle::zone theirs{zone};
    for (const auto& by : policies) {
      const auto after = local_seconds(year, 3, 1);
      EXPECT_EQ(next_instant(what, ours, by.ours, after), next_after(*oracle::parse(text), theirs, by.theirs, after, years))
          << text << " in " << zone << ", " << by.name;
    }
  }
}

TEST_F(cron_oracle, agrees_on_the_rarest_days_of_four_centuries) {
  oracle::cron_writer write{5};
  const auto one_of = [&write](const oracle::texts& all) { return all[write.below(all.size())]; };
  for (std::uint64_t i = 0; i < seeds(); ++i) {
    const auto text = one_of({"30 2", "0 0", "59 59 23", "15,45 1-2", "*/20 2"}) + " " +
                      one_of({"*/28", "*/29", "*/30", "L", "L-28", "L-30", "29W", "30W", "31W", "LW", "*"}) + " " +
                      one_of({"2", "2", "3", "4,6", "10", "11"}) + " " + one_of({"*/7", "*/6", "*/5", "*", "*/4"});
    const std::string zone = one_of({"UTC", "Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca"});
    cctz::time_zone ours;
    ASSERT_TRUE(cctz::load_time_zone(zone, &ours));
    const auto what = std::get<cron_expression>(cron_expression::parse(text, "job"));
    const auto their_what = *oracle::parse(text);
    const oracle::zone theirs{zone};
    const auto after = local_seconds(1850 + static_cast<int>(write.below(250)), 3, 1) + static_cast<std::int64_t>(write.below(400 * day_s));
    for (const auto& by : policies) {
      EXPECT_EQ(next_instant(what, ours, by.ours, after), next_after(their_what, theirs, by.theirs, after, 402))
          << text << " in " << zone << ", " << by.name << ", after " << written(theirs, after);
    }
  }
}

// Half past two on the last Sunday of March is skipped every year, and the rule goes on for ever.
TEST_F(cron_oracle, agrees_on_a_time_that_is_in_a_gap_every_year) {
  cctz::time_zone berlin;
  ASSERT_TRUE(cctz::load_time_zone("Europe/Berlin", &berlin));
  const std::string text = "30 2 * 3 SUNL";
  const auto what = std::get<cron_expression>(cron_expression::parse(text, "job"));
  const auto after = local_seconds(2026, 4, 1);
  EXPECT_TRUE(ever_matches(what));
  EXPECT_EQ(next_instant(what, berlin, dst_policy::literal, after), std::nullopt);
  EXPECT_EQ(next_instant(what, berlin, dst_policy::skip_once, after), std::nullopt);
  const oracle::zone theirs{"Europe/Berlin"};
  EXPECT_EQ(next_instant(what, berlin, dst_policy::vixie, after), next_after(*oracle::parse(text), theirs, policy::vixie, after, 2));
  EXPECT_EQ(next_after(*oracle::parse(text), theirs, policy::literal, after, 30), std::nullopt);
}

TEST_F(cron_oracle, agrees_on_what_is_an_expression) {
  oracle::cron_writer write{11};
  const std::string letters = "0123456789*/,-LW# \tSUNJA";
  int refused = 0, accepted = 0;
  const auto from = local_seconds(2026, 1, 1);
  const place at{"America/Havana", from};
  for (int i = 0; i < 20'000 && differences_ < 10; ++i) {
    auto text = write.expression();
    for (auto edits = 1 + write.below(2); edits > 0; --edits) {
      const auto where = write.below(text.size());
      switch (write.below(3)) {
        case 0: text.erase(where, 1); break;
        case 1: text.insert(where, 1, letters[write.below(letters.size())]); break;
        default: text[where] = letters[write.below(letters.size())];
      }
      if (text.empty()) text = "*";
    }
    const auto parsed = cron_expression::parse(text, "job");
    const auto theirs = oracle::parse(text);
    const auto* ours = std::get_if<cron_expression>(&parsed);
    ++(theirs ? accepted : refused);
    if (bool(ours) != theirs.has_value()) {
      ++differences_;
      ADD_FAILURE() << "'" << text << "': the oracle says " << (theirs ? "yes" : "no") << ", the implementation "
                    << (ours ? "yes" : std::get<cron_problem>(parsed).sentence);
    } else if (ours && i % 40 == 0) {
      agree(text, *ours, *theirs, at);
    }
  }
  EXPECT_GT(refused, 2000);
  EXPECT_GT(accepted, 2000);
}

TEST_F(cron_oracle, finds_a_question_mark_to_be_one_of_its_values) {
  struct row {
    const char *with, *before, *behind;  // `before` n `behind` is what it may mean
    int first, last;
  };
  const place at{"Europe/Berlin", local_seconds(2026, 1, 1)};
  for (const auto& [with, before, behind, first, last] :
       {row{"? 3 * * *", "", " 3 * * *", 0, 59}, row{"?(0-29) 2 * * *", "", " 2 * * *", 0, 29},
        row{"?/15 * * * *", "", "-59/15 * * * *", 0, 14}, row{"0 ?(1-4)/2 * * *", "0 ", "-4/2 * * *", 1, 2},
        row{"0 ? * * *", "0 ", " * * *", 0, 23}, row{"0 0 ? * *", "0 0 ", " * *", 1, 28}, row{"0 0 ? * MON", "0 0 ", " * MON", 1, 28},
        row{"0 0 * * ?", "0 0 * * ", "", 0, 6}, row{"0 0 1 ? *", "0 0 1 ", " *", 1, 12}, row{"0 0 1 ?/3 *", "0 0 1 ", "-12/3 *", 1, 3},
        row{"0 0 ?W * *", "0 0 ", "W * *", 1, 28}, row{"0 0 * * ?#2", "0 0 * * ", "#2", 0, 6}, row{"0 0 * * ?L", "0 0 * * ", "L", 0, 6},
        row{"? 0 2 * * *", "", " 0 2 * * *", 0, 59}, row{"?/20 0 2 * * *", "", "-59/20 0 2 * * *", 0, 19}}) {
    for (const char* job : {"backup", "pukcab", "billing-0042"}) {
      const auto parsed = cron_expression::parse(with, job);
      const auto* ours = std::get_if<cron_expression>(&parsed);
      ASSERT_TRUE(ours) << with << ": " << std::get<cron_problem>(parsed).sentence;
      std::vector<std::int64_t> due;
      for (auto next = next_instant(*ours, at.ours, dst_policy::vixie, at.year.from() - 1); next && *next < at.year.to();
           next = next_instant(*ours, at.ours, dst_policy::vixie, *next)) {
        due.push_back(*next);
      }
      int meanings = 0;
      for (int n = first; n <= last; ++n) {
        meanings += at.year.fires(*oracle::parse(before + std::to_string(n) + behind)).vixie == due;
      }
      EXPECT_EQ(meanings, 1) << with << " of " << job;
    }
  }
}

TEST_F(cron_oracle, agrees_on_how_instants_are_written) {
  for (const auto& [zone, year, month] : oracle::places) {
    const place at{zone, local_seconds(year, month, 1)};
    for (const auto move : at.year.moves()) {
      for (const auto instant : {move - 1, move, move + 1}) EXPECT_EQ(format_local(instant, at.ours), written(at.theirs, instant));
    }
  }
}

}  // namespace
}  // namespace fairlead::core
