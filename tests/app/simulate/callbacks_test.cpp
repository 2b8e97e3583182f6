// What becomes of a step with `callback` in each of the ways in which its service may call back. Runs are judged in which nothing else goes wrong.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/simulate/simulated_workflows.hpp"

namespace fairlead::app::simulate {
namespace {

constexpr const char* sign = R"(workflow: sign
on_failure: undo
steps:
  sign:
    agent: a
    call: ask
    timeout: 5s
    attempts: 6
    backoff: { first: 1s, max: 1s }
    callback: { timeout: 1h }
    undo: { call: withdraw }
  tell: { needs: sign, agent: b, call: tell, with: { signed: "${ .steps.sign }" }, undo: none }
)";

struct simulated_callbacks : simulated_workflows {
  struct told_run {
    std::uint64_t seed = 0;
    run_end end;

    const v1::StepRecord& step() const { return end.tasks.front().steps(0); }
    bool says(const std::string& words) const {
      return std::any_of(end.story.begin(), end.story.end(),
                         [&](const auto& line) { return line.second.find(words) != std::string::npos; });
    }
    /// The first with these words.
    std::size_t line(const std::string& words) const {
      std::size_t out = 0;
      while (out < end.story.size() && end.story[out].second.find(words) == std::string::npos) ++out;
      return out;
    }
    std::string text() const {
      std::string out = "seed " + std::to_string(seed);
      for (const auto& [at_ms, words] : end.story) out += "\n  " + std::to_string(at_ms) + " " + words;
      return out;
    }
  };

  /// Runs whose only trouble has these words.
  std::vector<told_run> only(const std::string& words, const std::string& text = sign) const {
    const auto on = sound(text);
    std::vector<told_run> out;
    for (std::uint64_t seed = 1; seed <= 2'500; ++seed) {
      const auto quick = world{on, seed, nullptr, false}.run();
      if (quick.troubles.size() != 1 || quick.troubles[0].words.find(words) == std::string::npos) continue;
      out.push_back({seed, world{on, seed, nullptr, true}.run()});
      EXPECT_EQ(judge(on, out.back().end), std::vector<finding>{}) << out.back().text();
    }
    EXPECT_GE(out.size(), 3U) << words;
    return out;
  }
  static int performed(const told_run& of) {
    int out = 0;
    for (const auto& [key, one] : of.end.ledger)
      if (one.call == "ask") out += one.performed;
    return out;
  }
};

TEST_F(simulated_callbacks, complete_their_step) {
  const auto on = sound(sign);
  int calm = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto once = world{on, seed, nullptr, false}.run();
    if (!once.troubles.empty()) continue;
    ++calm;
    EXPECT_EQ(once.word, "completed") << seed;
    EXPECT_EQ(once.tasks.front().steps(0).output().json(), "{}") << seed;
  }
  EXPECT_GT(calm, 50);
}

TEST_F(simulated_callbacks, count_when_they_come_before_the_answer_of_the_agent) {
  for (const auto& one : only("its callback comes before the answer of its agent")) {
    EXPECT_EQ(one.end.word, "completed") << one.text();
    EXPECT_EQ(one.step().attempt(), 1U) << one.text();
    EXPECT_FALSE(one.says("refused: ")) << one.text();
    EXPECT_LT(one.line("calls back"), one.line("step sign: running -> ")) << one.text();
  }
}

TEST_F(simulated_callbacks, that_come_too_late_find_the_step_sent_again) {
  for (const auto& one : only("its callback comes too late")) {
    EXPECT_EQ(one.end.word, "completed") << one.text();
    EXPECT_EQ(one.step().attempt(), 2U) << one.text();
    EXPECT_EQ(performed(one), 1) << one.text();
  }
}

TEST_F(simulated_callbacks, that_never_come_have_the_step_sent_again) {
  for (const auto& one : only("its service does the work, and never calls back")) {
    EXPECT_EQ(one.end.word, "completed") << one.text();
    EXPECT_EQ(one.step().attempt(), 2U) << one.text();
    EXPECT_EQ(performed(one), 1) << "under one key: " << one.text();
  }
  const auto parks = replaced(sign, "    callback:", "    in_doubt: park\n    callback:");
  for (const auto& one : only("its service does the work, and never calls back", parks)) {
    EXPECT_TRUE(one.says("callback_timeout")) << one.text();
    EXPECT_EQ(performed(one), 1) << one.text();
  }
}

TEST_F(simulated_callbacks, of_work_that_was_forgotten_come_after_the_next_attempt) {
  for (const auto& one : only("the service accepts the work, and forgets it")) {
    EXPECT_EQ(one.end.word, "completed") << one.text();
    EXPECT_EQ(one.step().attempt(), 2U) << one.text();
    EXPECT_EQ(performed(one), 1) << one.text();
  }
}

TEST_F(simulated_callbacks, count_once_when_they_come_twice) {
  int refused = 0, repeated = 0;
  for (const auto& one : only("its service calls back twice")) {
    EXPECT_EQ(one.end.word, "completed") << one.text();
    EXPECT_EQ(one.step().attempt(), 1U) << one.text();
    EXPECT_EQ(one.step().output().json(), "{}") << one.text();
    EXPECT_TRUE(one.says("calls back once more")) << one.text();
    ++(one.says("refused: ") ? refused : repeated);
  }
  EXPECT_GT(refused, 0) << "with another output";
  EXPECT_GT(repeated, 0) << "with the same one";
}

TEST_F(simulated_callbacks, with_a_fault_are_followed_by_another_key_or_by_the_undo) {
  int again = 0, unnamed = 0, undone = 0;
  for (const auto& one : only("the service accepts the work, and fails at it")) {
    if (one.end.word == "completed") {
      ++again;
      EXPECT_EQ(one.step().attempt(), 2U) << one.text();
      EXPECT_EQ(one.step().generation(), 1U) << one.text();
      EXPECT_EQ(performed(one), 1) << one.text();
    } else {
      ++undone;
      EXPECT_EQ(one.end.word, "undone") << one.text();
      EXPECT_EQ(performed(one), 0) << one.text();
      unnamed += one.says("callback_failed") ? 1 : 0;
    }
  }
  EXPECT_GT(again, 0);
  EXPECT_GT(undone, 0);
  EXPECT_GT(unnamed, 0) << "a service need not give a code";
}

TEST_F(simulated_callbacks, without_a_body_give_null) {
  for (const auto& one : only("its callback has no body")) {
    EXPECT_EQ(one.end.word, "completed") << one.text();
    EXPECT_EQ(one.step().output().json(), "null") << one.text();
  }
  const auto reads = replaced(sign, "${ .steps.sign }", "${ .steps.sign.at }");
  for (const auto& one : only("its callback has no body", reads)) EXPECT_NE(one.end.word, "completed") << one.text();
}

TEST_F(simulated_callbacks, are_sent_until_they_are_answered) {
  int lost = 0;
  for (const auto& one : only("the node is killed before commit")) {
    const auto called = one.line("calls back"), killed = one.line("the node is killed");
    if (called > killed || killed == one.end.story.size() || one.end.story[killed].first - one.end.story[called].first > 2) continue;
    ++lost;
    EXPECT_EQ(one.end.word, "completed") << one.text();
    EXPECT_EQ(one.step().attempt(), 1U) << one.text();
  }
  EXPECT_GT(lost, 0) << "no run has lost a callback";
}

}  // namespace
}  // namespace fairlead::app::simulate
