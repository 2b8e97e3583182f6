// A data file of which some bytes have changed: either its pages are said to be damaged, or everything in it can be read without harm.

#include "store/lmdb/pages.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "store/keys.hpp"
#include "tests/store/lmdb/lmdb_fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

using rows = std::map<std::string, std::optional<std::string>>;  // nullopt: its value is damaged

struct pages_test : lmdb {
  std::string data() const { return path + "/data.mdb"; }

  /// Branches, rows of all sizes, values in pages of their own, and pages that are free again.
  void fill() {
    const auto store = open();
    std::mt19937 dice(7);
    const auto epoch = store->raise_epoch().value();
    for (std::uint64_t sequence = 1; sequence <= 30; ++sequence) {
      batch what;
      what.sequence = sequence;
      what.epoch = epoch;
      for (int i = 0; i < 40; ++i) {
        const auto number = dice() % 900;
        const auto where = static_cast<table>(1 + dice() % (table_count - 1));
        const auto key = "key " + std::to_string(number) + std::string(number % 60, 'k');
        if (number % 5 == 0)
          what.erase(where, key);
        else
          what.put(where, key, std::string(dice() % (number % 40 == 1 ? 20'000 : 400), 'v'));
      }
      ASSERT_TRUE(store->commit({what}).ok());
    }
  }

  std::optional<std::string> damage() {
    auto found = find_damaged_page(data());
    EXPECT_TRUE(found.ok());
    return found.ok() ? *found : std::nullopt;
  }

  /// Rows go, change and come, and all others stay.
  bool can_be_written(rows wanted) {
    {
      const auto opened = lmdb_store::open({path, std::uint64_t{1} << 30, false});
      if (!opened.ok()) return true;
      const auto epoch = (*opened)->raise_epoch();
      if (!epoch.ok()) return true;
      batch what;
      what.sequence = (*opened)->read()->get_progress().sequence + 1;
      what.epoch = *epoch;
      int number = 0;
      for (auto& [name, value] : rows{wanted}) {
        const auto space = name.find(' ');
        const auto of = name.substr(0, space), key = name.substr(space + 1);
        const auto where = static_cast<table>(++number % 2 == 0 ? 1 : 2);
        if (of != table_name(where)) continue;
        if (number % 3 == 0) {
          what.erase(where, key);
          wanted.erase(name);
        } else {
          what.put(where, key, std::string(number % 50 * 20, 'w'));
          wanted[name] = std::string(number % 50 * 20, 'w');
        }
      }
      if (!(*opened)->commit({what}).ok()) return true;
    }
    auto found = read();
    const auto is_meta = [](const auto& one) { return one.first.starts_with(table_name(table::meta)); };
    std::erase_if(found, is_meta);
    std::erase_if(wanted, is_meta);
    return found == wanted && !damage();
  }

  rows read() {
    rows out;
    const auto opened = lmdb_store::open({path, std::uint64_t{1} << 30, true});
    if (!opened.ok()) return {{"it is refused", std::nullopt}};
    for (int i = 0; i < table_count; ++i) {
      const auto where = static_cast<table>(i);
      const auto scanned = (*opened)->read()->scan_all(where, [&](std::string_view key, std::optional<std::string_view> value) {
        out[table_name(where) + (" " + std::string{key})] = value ? std::optional(std::string{*value}) : std::nullopt;
        return true;
      });
      if (!scanned) out["a scan is refused"] = std::nullopt;
    }
    return out;
  }
};

TEST_F(pages_test, of_a_sound_file_hold_together) {
  fill();
  EXPECT_EQ(damage(), std::nullopt);
  const auto store = open();
  EXPECT_EQ(damage(), std::nullopt) << "a store that is open";
}

TEST_F(pages_test, of_a_file_that_is_none_are_no_head_of_a_store) {
  std::filesystem::create_directory(path);
  std::ofstream(data()) << std::string(20'000, 'x');
  EXPECT_EQ(damage(), "page 0 is no head of a store");
  std::ofstream(data(), std::ios::trunc);
  EXPECT_EQ(damage(), "page 0 is missing");
  EXPECT_FALSE(find_damaged_page(here / "nothing").ok());
}

TEST_F(pages_test, with_changed_bytes_are_said_to_be_damaged_or_give_no_wrong_row) {
  fill();
  const auto whole = read();
  ASSERT_GT(whole.size(), 300U);
  std::string bytes;
  {
    std::ifstream in(data(), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  std::mt19937 dice(11);
  int noticed = 0, unread = 0;
  for (int i = 0; i < 400; ++i) {
    auto changed = bytes;
    // Every other time where pages keep what leads to their rows.
    const auto page = dice() % (bytes.size() / 4'096);
    const auto at = page * 4'096 + dice() % (i % 2 == 0 ? 64 : 4'096);
    for (std::size_t j = 0; j < (i % 3 == 0 ? 8U : 1U) && at + j < changed.size(); ++j)
      changed[at + j] ^= static_cast<char>(1 + dice() % 255);
    {
      std::ofstream out(data(), std::ios::binary | std::ios::trunc);
      out << changed;
    }
    if (damage()) {
      ++noticed;
      continue;
    }
    const auto found = read();
    if (found == whole) {
      ++unread;
      EXPECT_TRUE(can_be_written(whole)) << "byte " << at;
    }
    if (found.count("it is refused") != 0) continue;
    EXPECT_EQ(found.size(), whole.size()) << "byte " << at;
    for (const auto& [key, value] : found) {
      if (!value) continue;
      const auto known = whole.find(key);
      EXPECT_TRUE(known != whole.end() && known->second == value) << key << ", byte " << at;
    }
  }
  EXPECT_GT(noticed, 30);
  EXPECT_GT(unread, 20);
}

TEST_F(pages_test, that_are_damaged_keep_a_store_from_being_opened) {
  fill();
  std::fstream file(data(), std::ios::binary | std::ios::in | std::ios::out);
  const std::string nonsense(64, '\x7f');
  for (int page = 2; page < 60; ++page) file.seekp(page * 4'096).write(nonsense.data(), 64);
  file.close();
  EXPECT_EQ(refusal().code, v1::ERROR_CODE_CORRUPT);
  EXPECT_TRUE(says(refusal(), "is damaged: page ")) << refusal().sentence;
}

}  // namespace
}  // namespace fairlead::store
