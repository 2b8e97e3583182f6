// Names of the system's zone database, and nothing else.

#include "actors/system/time_zones.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/store/fixture.hpp"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

/// UTC+1 without any change, as a TZif file says it.
std::string zone_file() {
  std::string out = "TZif";
  out += std::string(16, '\0');
  const auto count = [&out](char n) { out += std::string{'\0', '\0', '\0', n}; };
  for (const char n : {0, 0, 0, 0, 1, 4}) count(n);  // one type, four bytes of abbreviations
  out += std::string{'\0', '\0', '\x0e', '\x10', '\0', '\0'};
  return out + std::string{"ONE\0", 4};
}

/// A zone database of one's own for as long as it lives.
class other_database {
 public:
  other_database() {
    if (const char* const before = std::getenv("TZDIR")) before_ = before;
    setenv("TZDIR", root().c_str(), 1);
  }
  ~other_database() {
    if (before_.empty())
      unsetenv("TZDIR");
    else
      setenv("TZDIR", before_.c_str(), 1);
  }
  fs::path root() const { return folder_.path(); }
  void add(const std::string& name, const std::string& content = zone_file()) const {
    fs::create_directories((root() / name).parent_path());
    std::ofstream{root() / name, std::ios::binary} << content;
  }

 private:
  store::testing::temporary_directory folder_;
  std::string before_;
};

int offset_of(const cctz::time_zone& zone, std::int64_t unix_s) {
  return zone.lookup(std::chrono::time_point<std::chrono::system_clock, cctz::seconds>{cctz::seconds{unix_s}}).offset;
}

TEST(time_zones, are_found_by_their_names) {
  const auto* const berlin = time_zones::of_system().find("Europe/Berlin");
  ASSERT_NE(berlin, nullptr);
  EXPECT_EQ(offset_of(*berlin, 1'774'745'999), 3600);
  EXPECT_EQ(offset_of(*berlin, 1'774'746'000), 7200) << "the first second of summer time in 2026";
  const auto* const nepal = time_zones::of_system().find("Asia/Kathmandu");
  ASSERT_NE(nepal, nullptr);
  EXPECT_EQ(offset_of(*nepal, 1'774'746'000), 20'700);
  EXPECT_NE(time_zones::of_system().find("Etc/GMT+5"), nullptr);
  EXPECT_NE(time_zones::of_system().find("America/Argentina/Buenos_Aires"), nullptr);
}

TEST(time_zones, stay_where_they_are) {
  const time_zones zones;
  const auto* const first = zones.find("Europe/Berlin");
  for (const auto& name : time_zones::names()) EXPECT_NE(zones.find(name), nullptr) << name;
  EXPECT_EQ(zones.find("Europe/Berlin"), first);
}

TEST(time_zones, of_no_name_are_utc) {
  EXPECT_EQ(time_zones::of_system().find(""), time_zones::of_system().find("UTC"));
  EXPECT_EQ(*time_zones::of_system().find(""), cctz::utc_time_zone());
}

TEST(time_zones, are_not_found_by_anything_but_a_name_of_the_database) {
  const other_database own;
  own.add("Own/Place");
  own.add("posix/Own/Place");
  own.add("right/Own/Place");
  own.add("localtime");
  own.add("posixrules");
  own.add("Own/.hidden");
  own.add("Own/a b");
  own.add("Own/text", "not a zone\n");
  own.add("Own/empty", "");
  own.add("Own/" + std::string(61, 'x'));
  const time_zones zones;
  EXPECT_NE(zones.find("Own/Place"), nullptr);
  for (const auto& name : {std::string{"own/place"},
                           std::string{"Own"},
                           std::string{"Own/"},
                           std::string{"/Own/Place"},
                           std::string{"Own/../Own/Place"},
                           std::string{"Own//Place"},
                           std::string{"posix/Own/Place"},
                           std::string{"right/Own/Place"},
                           std::string{"localtime"},
                           std::string{"posixrules"},
                           std::string{"Own/.hidden"},
                           std::string{"Own/a b"},
                           std::string{"Own/text"},
                           std::string{"Own/empty"},
                           "Own/" + std::string(61, 'x'),
                           "file:" + (own.root() / "Own/Place").string(),
                           (own.root() / "Own/Place").string(),
                           std::string{"libc:UTC"},
                           std::string{"libc:localtime"},
                           std::string{"Fixed/UTC+01:00:00"},
                           std::string{"Own/Place\0", 10},
                           std::string{"UTC\n"}})
    EXPECT_EQ(zones.find(name), nullptr) << name;
  EXPECT_EQ(time_zones::names(), (std::vector<std::string>{"Own/Place", "UTC"}));
  own.add("Own/cut", "TZif");
  EXPECT_EQ(zones.find("Own/cut"), nullptr) << "a file that is damaged";
}

TEST(time_zones, that_are_added_while_the_process_runs_are_found) {
  const other_database own;
  const time_zones zones;
  EXPECT_EQ(zones.find("Own/Later"), nullptr);
  own.add("Own/Later");
  ASSERT_NE(zones.find("Own/Later"), nullptr) << "that there was none must not be remembered";
  EXPECT_EQ(offset_of(*zones.find("Own/Later"), 0), 3600);
}

TEST(time_zones, are_utc_alone_on_a_machine_without_a_database) {
  const other_database own;
  const time_zones zones;
  EXPECT_EQ(time_zones::names(), std::vector<std::string>{"UTC"});
  EXPECT_NE(zones.find("UTC"), nullptr);
  EXPECT_EQ(zones.find("Europe/Paris"), nullptr);
}

TEST(time_zones, are_listed_in_order_for_whoever_looks_for_a_similar_one) {
  const auto names = time_zones::names();
  EXPECT_GT(names.size(), 300u);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_TRUE(std::binary_search(names.begin(), names.end(), "Europe/Berlin"));
  EXPECT_FALSE(std::binary_search(names.begin(), names.end(), "posix/Europe/Berlin"));
}

}  // namespace
}  // namespace fairlead
