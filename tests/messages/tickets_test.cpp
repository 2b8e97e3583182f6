#include "messages/tickets.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace fairlead {
namespace {

const std::string key(work_key_bytes, 'k');

auto fields_of(const attempt_name& what) { return std::make_tuple(what.shard, what.task_number, what.step, what.direction, what.attempt); }
auto fields_of(const session_name& what) { return std::make_tuple(what.shard, what.agent, what.instance, what.incarnation); }

attempt_name some_attempt() { return {3, 1'234'567, 2, v1::DIRECTION_UNDO, 4}; }

/// Every text with one letter in another place of the alphabet, or without its end.
std::vector<std::string> spoilt(const std::string& text) {
  std::vector<std::string> out;
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (std::size_t i = 0; i < text.size(); ++i) {
    out.push_back(text.substr(0, i));
    for (const std::size_t by : {1, 2, 4, 8, 16, 32}) {
      auto changed = text;
      changed[i] = letters[letters.find(text[i]) ^ by];
      out.push_back(changed);
    }
  }
  for (const std::string more : {"A", "AA", "AAAA", "=", "+", " ", "\n"}) out.push_back(text + more);
  return out;
}

TEST(tickets, say_which_attempt_they_name) {
  constexpr auto most32 = std::numeric_limits<std::uint32_t>::max();
  const std::vector<attempt_name> all{some_attempt(),
                                      {0, 0, 0, v1::DIRECTION_PERFORM, 0},
                                      {most32, std::numeric_limits<std::uint64_t>::max(), most32, v1::DIRECTION_LOOKUP, most32}};
  for (const auto& one : all) {
    const auto text = make_ticket(key, one, "w/1", 7);
    const auto read = read_ticket(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(fields_of(*read), fields_of(one));
    EXPECT_TRUE(is_ticket_of(key, text, "w/1", 7));
    EXPECT_EQ(text.find_first_of("+/="), std::string::npos) << "they stand in paths";
  }
}

TEST(tickets, hold_for_one_process_and_one_key) {
  const auto text = make_ticket(key, some_attempt(), "w/1", 7);
  EXPECT_FALSE(is_ticket_of(key, text, "w/2", 7));
  EXPECT_FALSE(is_ticket_of(key, text, "w/1", 8));
  EXPECT_FALSE(is_ticket_of(key, text, "", 7));
  EXPECT_FALSE(is_ticket_of(std::string(work_key_bytes, 'x'), text, "w/1", 7));
  EXPECT_FALSE(is_ticket_of("", text, "w/1", 7));
}

TEST(tickets, are_refused_with_any_letter_changed_or_missing) {
  for (const auto& text : spoilt(make_ticket(key, some_attempt(), "w/1", 7))) EXPECT_FALSE(is_ticket_of(key, text, "w/1", 7)) << text;
  for (const std::string text : {"", "A", "?", "not base64!"}) EXPECT_FALSE(read_ticket(text)) << text;
  EXPECT_FALSE(read_ticket(std::string(10'000, 'A')));
  EXPECT_FALSE(read_ticket(make_ticket(key, {0, 0, 0, static_cast<v1::Direction>(77), 0}, "w/1", 7))) << "no such direction";
}

TEST(sessions, say_which_process_they_name) {
  const std::vector<session_name> all{{3, "payment", "w/1", 1'700'000'000'000},
                                      {0, "", "", 0},
                                      {1, std::string(128, 'a'), std::string(256, 'i'), std::numeric_limits<std::uint64_t>::max()}};
  for (const auto& one : all) {
    const auto text = make_session(key, one.shard, one.agent, one.instance, one.incarnation);
    EXPECT_LE(text.size(), 1'024U);
    const auto read = read_session(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(fields_of(*read), fields_of(one));
    EXPECT_TRUE(is_session_of(key, text));
    EXPECT_FALSE(is_session_of(std::string(work_key_bytes, 'x'), text));
  }
}

TEST(sessions, are_refused_with_any_letter_changed_or_missing) {
  for (const auto& text : spoilt(make_session(key, 3, "payment", "w/1", 7))) EXPECT_FALSE(is_session_of(key, text)) << text;
  for (const std::string text : {"", "A", "?"}) EXPECT_FALSE(read_session(text)) << text;
  EXPECT_FALSE(read_session(std::string(2'000, 'A')));
}

TEST(sessions, are_no_tickets) {
  // A session whose fields have the size of a ticket's.
  const auto session = make_session(key, 1, "abc", "defg", 7);
  ASSERT_TRUE(read_ticket(make_ticket(key, some_attempt(), "w/1", 7)));
  EXPECT_FALSE(is_ticket_of(key, session, "", 7));
  EXPECT_FALSE(is_session_of(key, make_ticket(key, some_attempt(), "w/1", 7)));
}

TEST(callbacks, say_which_performance_they_name) {
  for (const auto& one :
       std::vector<callback_name>{{3, 2, 7, "order-1"}, {0, 0, 0, "t"}, {1, 999, 4'000'000'000U, std::string(256, 'i')}}) {
    const auto text = make_callback(key, one);
    EXPECT_LE(text.size(), 512U) << "it is part of a URL";
    const auto read = read_callback(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(std::tie(read->shard, read->step, read->generation, read->task_id),
              std::tie(one.shard, one.step, one.generation, one.task_id));
    EXPECT_TRUE(is_callback_of(key, text));
    EXPECT_FALSE(is_callback_of(std::string(work_key_bytes, 'x'), text));
  }
}

TEST(callbacks, are_refused_with_any_letter_changed_or_missing) {
  for (const auto& text : spoilt(make_callback(key, {3, 2, 7, "order-1"}))) EXPECT_FALSE(is_callback_of(key, text)) << text;
  for (const std::string text : {"", "A", "?"}) EXPECT_FALSE(read_callback(text)) << text;
  EXPECT_FALSE(read_callback(make_callback(key, {3, 2, 7, ""}))) << "no task";
  EXPECT_FALSE(read_callback(std::string(2'000, 'A')));
}

TEST(callbacks, are_neither_tickets_nor_sessions) {
  // As many bytes as a ticket has, and one of them names a direction.
  const auto callback = make_callback(key, {3, 2, 7, std::string("orde\x01-one", 9)});
  ASSERT_TRUE(read_ticket(callback));
  EXPECT_FALSE(is_ticket_of(key, callback, "", 0));
  EXPECT_FALSE(is_session_of(key, callback));
  EXPECT_FALSE(is_callback_of(key, make_ticket(key, some_attempt(), "w/1", 7)));
}

TEST(work_keys, are_random) {
  const auto one = make_work_key();
  EXPECT_EQ(one.size(), work_key_bytes);
  EXPECT_NE(one, make_work_key());
}

}  // namespace
}  // namespace fairlead
