#include "actors/core/raft/message.hpp"

#include <gtest/gtest.h>

namespace fairlead::raft {
namespace {

entry of_kind(log_index index, log_term term, entry_kind kind, std::string bytes = "x") {
  return {index, term, 0, kind, std::make_shared<const std::string>(std::move(bytes))};
}

TEST(message, is_taken_when_it_is_sound) {
  const append two{1, 4, 2, 9, 0, {of_kind(5, 2, entry_kind::batches), of_kind(6, 3, entry_kind::epoch, "")}};
  const message sound[] = {
      {1, 2, 3, two},
      {1, 2, 3, append{1, 0, 0, 0, 0, {of_kind(1, 3, entry_kind::rows)}}},
      {1, 2, 3, vote_request{true, false, 5, 2}},
      {1, 2, 3, vote_request{false, true, 0, 0}},
      {1, 2, 3, heartbeat{}},
  };
  for (const auto& each : sound) EXPECT_EQ(fault_of(each), "");
}

TEST(message, is_refused_when_no_replica_would_send_it) {
  const auto batches = entry_kind::batches;
  const std::pair<message, const char*> wrong[] = {
      {{0, 2, 3, heartbeat{}}, "sender and receiver are two replicas"},
      {{2, 2, 3, heartbeat{}}, "sender and receiver are two replicas"},
      {{1, 2, 0, heartbeat{}}, "there is no term 0"},
      {{1, 2, 3, vote_request{false, false, 5, 3}}, "the candidate's last entry is of no earlier term than the election"},
      {{1, 2, 3, vote_request{false, false, 5, 0}}, "an entry at index 0 has term 0, and only that"},
      {{1, 2, 3, vote_request{true, true, 5, 2}}, "a transfer needs no pre-vote"},
      {{1, 2, 3, append{1, 0, 2, 0, 0, {}}}, "an entry at index 0 has term 0, and only that"},
      {{1, 2, 3, append{1, 4, 4, 0, 0, {}}}, "the entry before is of a later term than the message"},
      {{1, 2, 3, append{1, 4, 2, 0, 0, {of_kind(6, 2, batches)}}}, "the entries have a gap"},
      {{1, 2, 3, append{1, 4, 2, 0, 0, {of_kind(5, 1, batches)}}}, "the terms of the entries do not rise up to the message's"},
      {{1, 2, 3, append{1, 4, 2, 0, 0, {{5, 2, 9, batches, nullptr}, {6, 2, 8, batches, nullptr}}}}, "the stamps of the entries fall"},
      {{1, 2, 3, append{1, 4, 2, 0, 0, {of_kind(5, 4, batches)}}}, "the terms of the entries do not rise up to the message's"},
      {{1, 2, 3, append{1, 4, 2, 0, 0, {of_kind(5, 2, entry_kind::epoch)}}}, "an epoch has no payload"},
      {{1, 2, 3, append{1, 4, 2, 0, 0, {of_kind(5, 2, entry_kind::members, "\xff")}}}, "an entry of members cannot be read"},
      {{1, 2, 3, append{1, 4, 2, 0, 0, {of_kind(5, 2, static_cast<entry_kind>(99))}}}, "an entry is of unknown kind 99"},
  };
  for (const auto& [what, why] : wrong) EXPECT_EQ(fault_of(what), why);
}

}  // namespace
}  // namespace fairlead::raft
