#include "actors/gateway/requests/audit_lists.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace fairlead {
namespace {

/// What a node has noted, oldest first: moments. Its cursor is how many entries are older.
struct noting_node {
  std::vector<std::int64_t> entries;
  std::size_t looks_at = 1'000;  // entries at most, for one page
  bool is_away = false;

  v1::AuditListReply page(const std::string& cursor, std::size_t most) const {
    v1::AuditListReply out;
    if (is_away) {
      *out.mutable_error() = error{v1::ERROR_CODE_UNAVAILABLE, "it does not answer in time", ""}.to_proto();
      return out;
    }
    const auto end = cursor.empty() ? entries.size() : std::stoul(cursor);
    if (end != 0) out.set_begin(std::to_string(end));
    auto at = end;
    while (at > 0 && end - at < std::min(most, looks_at)) {
      auto& one = *out.add_items();
      one.set_at_unix_ms(entries[--at]);
      one.set_place(std::to_string(at));
      one.set_path(std::to_string(at));
    }
    if (at != 0) out.set_cursor(std::to_string(at));
    return out;
  }
};

using noting_nodes = std::map<std::string, noting_node>;

v1::AuditListReply next_page(const noting_nodes& nodes, const std::string& cursor, std::uint32_t size) {
  const auto places = read_audit_cursor(cursor);
  EXPECT_TRUE(places.ok()) << cursor;
  v1::AuditListRequest what;
  what.set_page_size(size);
  std::vector<audit_source> sources;
  for (const auto& [name, node] : nodes) {
    const auto known = places->find(name);
    if (known != places->end() && known->second.over) continue;
    sources.push_back({name, node.page(known == places->end() ? "" : known->second.cursor, size)});
  }
  return merge_audits(what, *places, std::move(sources));
}

std::vector<std::string> shown(const v1::AuditListReply& page) {
  std::vector<std::string> out;
  for (const auto& one : page.items()) out.push_back(one.node() + ":" + std::to_string(one.at_unix_ms()));
  return out;
}

using lines = std::vector<std::string>;

TEST(audit_of_all_nodes, has_the_newest_entry_of_any_node_first) {
  const noting_nodes nodes{{"n1", {{10, 30, 50}}}, {"n2", {{20, 40}}}, {"n3", {}}};
  auto page = next_page(nodes, "", 3);
  EXPECT_EQ(shown(page), (lines{"n1:50", "n2:40", "n1:30"}));
  EXPECT_EQ(page.items(0).place(), "");
  page = next_page(nodes, page.cursor(), 3);
  EXPECT_EQ(shown(page), (lines{"n2:20", "n1:10"}));
  EXPECT_EQ(page.cursor(), "");
}

TEST(audit_of_all_nodes, shows_every_entry_once_while_others_are_added) {
  std::mt19937 random{11};
  for (int round = 0; round < 200; ++round) {
    noting_nodes nodes;
    std::int64_t now = 1'000;
    std::multiset<std::string> wanted;
    for (std::size_t i = 0, count = 1 + random() % 4; i < count; ++i) nodes["n" + std::to_string(i)] = {{now}, 1 + random() % 7};
    const auto note = [&](std::size_t most) {
      for (auto n = random() % (most + 1); n > 0; --n) {
        auto node = nodes.begin();
        std::advance(node, static_cast<std::ptrdiff_t>(random() % nodes.size()));
        node->second.entries.push_back(now += static_cast<std::int64_t>(random() % 3));
      }
    };
    note(60);
    for (const auto& [name, node] : nodes)
      for (std::size_t i = 0; i < node.entries.size(); ++i) wanted.insert(name + "/" + std::to_string(i));
    std::multiset<std::string> seen;
    std::vector<std::int64_t> moments;
    const auto begun = now;
    std::string cursor;
    int pages = 0;
    do {
      const auto page = next_page(nodes, cursor, static_cast<std::uint32_t>(1 + random() % 6));
      for (const auto& one : page.items()) {
        seen.insert(one.node() + "/" + one.path());
        moments.push_back(one.at_unix_ms());
      }
      cursor = page.cursor();
      ++now;
      note(5);
      ASSERT_LT(++pages, 1'000);
    } while (!cursor.empty());
    EXPECT_EQ(seen, wanted);
    EXPECT_TRUE(std::is_sorted(moments.rbegin(), moments.rend()));
    EXPECT_LE(moments.front(), begun);
  }
}

TEST(audit_of_all_nodes, goes_on_without_a_node_that_is_away_and_names_it) {
  noting_nodes nodes{{"n1", {{10, 30, 50, 70}}}, {"n2", {{20, 40, 60}}}};
  auto page = next_page(nodes, "", 2);
  EXPECT_EQ(shown(page), (lines{"n1:70", "n2:60"}));
  EXPECT_TRUE(page.missing().empty());
  nodes["n2"].is_away = true;
  page = next_page(nodes, page.cursor(), 2);
  EXPECT_EQ(shown(page), (lines{"n1:50", "n1:30"}));
  ASSERT_EQ(page.missing_size(), 1);
  EXPECT_EQ(page.missing(0).sentence(), "node n2 cannot say what it has noted: it does not answer in time");
  // It comes back, and goes on at its place.
  nodes["n2"].is_away = false;
  auto last = next_page(nodes, page.cursor(), 10);
  EXPECT_EQ(shown(last), (lines{"n2:40", "n2:20", "n1:10"}));
  EXPECT_EQ(last.cursor(), "");
  // No page comes for its sake alone.
  nodes["n2"].is_away = true;
  last = next_page(nodes, page.cursor(), 10);
  EXPECT_EQ(shown(last), (lines{"n1:10"}));
  EXPECT_EQ(last.cursor(), "");
}

TEST(audit_of_all_nodes, stops_a_page_where_a_node_may_have_newer_entries_than_all_others) {
  noting_nodes nodes{{"n1", {{10, 80, 90}}}, {"n2", {{50}}}};
  nodes["n1"].looks_at = 2;
  auto page = next_page(nodes, "", 10);
  EXPECT_EQ(shown(page), (lines{"n1:90", "n1:80"}));
  EXPECT_NE(page.cursor(), "");
  page = next_page(nodes, page.cursor(), 10);
  EXPECT_EQ(shown(page), (lines{"n2:50", "n1:10"}));
}

TEST(audit_of_all_nodes, of_no_node_at_all_is_an_error_and_so_is_a_cursor_that_a_node_does_not_know) {
  noting_nodes nodes{{"n1", {{1}}}};
  nodes["n1"].is_away = true;
  EXPECT_EQ(next_page(nodes, "", 10).error().code(), v1::ERROR_CODE_UNAVAILABLE);
  v1::AuditListReply unknown;
  unknown.mutable_error()->set_code(v1::ERROR_CODE_INVALID_ARGUMENT);
  const auto page = merge_audits({}, {}, {{"n1", unknown}, {"n2", noting_node{{5}}.page("", 10)}});
  EXPECT_EQ(page.error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_TRUE(page.items().empty());
}

TEST(audit_cursor, is_read_back_as_it_was_and_no_other_is) {
  const auto text = audit_cursor({{"n1", {false, "2026-11-24-000:4711"}}, {"n2", {true, ""}}, {"n3", {false, ""}}});
  EXPECT_EQ(text, "n1=2026-11-24-000:4711,n2=-");
  const auto back = read_audit_cursor(text);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->size(), 2U);
  EXPECT_EQ(back->at("n1").cursor, "2026-11-24-000:4711");
  EXPECT_TRUE(back->at("n2").over);
  EXPECT_TRUE(read_audit_cursor("")->empty());
  for (const std::string foreign : {"x", "n1=", "=5", "n1=5,", ",n1=5", "n1=5,n1=6", "a b=5"})
    EXPECT_FALSE(read_audit_cursor(foreign).ok()) << foreign;
  EXPECT_FALSE(read_audit_cursor("n1=" + std::string(100, '5')).ok());
}

}  // namespace
}  // namespace fairlead
