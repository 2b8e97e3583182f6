#include "app/bulk/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/bulk/action.hpp"
#include "app/bulk/tally.hpp"

namespace fairlead::app::bulk {
namespace {

/// A node with tasks, which answers as the gateway does; time passes only while the operation waits.
class an_operation : public testing::Test {
 protected:
  an_operation() {
    for (int i = 0; i < 100; ++i) tasks_.push_back("t-" + std::to_string(i));
    in_.list = [this](const v1::TaskListRequest& what) { return list(what); };
    in_.operate = [this](const v1::OperateRequest& what) { return operate(what); };
    in_.show = [this](const v1::TaskShowRequest&) -> result<v1::TaskShowReply> {
      v1::TaskShowReply out;
      *out.mutable_task() = own_;
      return out;
    };
    in_.is_ending = [this] { return is_ending_; };
    in_.steady = [this] { return now_; };
    in_.wait = [this](duration how_long) {
      now_ += how_long;
      if (on_wait_) on_wait_();
    };
    own_.set_state(v1::TASK_STATE_RUNNING);
  }

  result<v1::TaskListReply> list(const v1::TaskListRequest& what) {
    EXPECT_EQ(what.as_of_unix_ms(), 1'795'507'200'000);
    if (away_ > 0) return --away_, error{v1::ERROR_CODE_UNAVAILABLE, "shard 1 is away", ""};
    v1::TaskListReply out;
    auto at = what.cursor().empty() ? std::size_t{0} : std::stoul(what.cursor());
    for (; at < tasks_.size() && out.items_size() < static_cast<int>(what.page_size()); ++at) {
      auto& one = *out.add_items();
      one.set_id(tasks_[at]);
      one.set_paused(paused_.contains(tasks_[at]));
      if (is_cancel_ && done_.contains(tasks_[at])) one.set_state(v1::TASK_STATE_UNDONE);
      if (!ended_at_) continue;
      one.set_state(v1::TASK_STATE_COMPLETED);
      one.set_finished_at_unix_ms(ended_at_(at));
    }
    if (at < tasks_.size()) out.set_cursor(std::to_string(at));
    return out;
  }

  result<v1::OperateReply> operate(const v1::OperateRequest& what) {
    v1::OperateReply out;
    if (on_operate_) on_operate_();
    for (const auto& id : what.ids()) {
      auto& one = *out.add_results();
      one.set_id(id);
      if (gone_.contains(id)) {
        ++asked_in_vain_;
        *one.mutable_error() = error{v1::ERROR_CODE_UNAVAILABLE, "shard 1 is gone", ""}.to_proto();
      } else if (refused_.contains(id)) {
        *one.mutable_error() = error{v1::ERROR_CODE_WRONG_STATE, "task " + id + " is completed", "Leave it."}.to_proto();
      } else if (late_.erase(id) != 0) {
        *one.mutable_error() = error{v1::ERROR_CODE_TIMED_OUT, "shard 1 did not answer in time", ""}.to_proto();
      } else if (const auto had = done_.find(id); had != done_.end() && had->second.contains(what.action().token())) {
        one.set_repeated(true);
      } else if (is_resume_ && paused_.erase(id) == 0) {
        *one.mutable_error() = error{v1::ERROR_CODE_WRONG_STATE, "task " + id + " is not paused", ""}.to_proto();
      } else {
        done_[id].insert(what.action().token());
      }
    }
    return out;
  }

  /// `given`: another id than that of the input.
  agents::attempt_result run(const std::string& checkpoint = {}, const std::string& given = {}) {
    const auto id = given.empty() ? id_of(input_of(*action_of_input(input_))) : given;
    std::atomic<bool> stopped{false};
    const agents::native_context::listener told = [this](agents::attempt_progress progress) {
      if (!progress.checkpoint.empty()) checkpoints_.push_back(progress.checkpoint);
      notes_.insert(progress.note);
      last_note_ = progress.note;
      return true;
    };
    agents::native_context context{stopped, told};
    context.task_id = id;
    context.checkpoint = checkpoint;
    context.attempt = attempt_;
    return carry_out(in_, context, input_);
  }

  tally run_to_the_end(const std::string& checkpoint = {}) {
    const auto out = run(checkpoint);
    EXPECT_FALSE(out.fault) << out.fault->message();
    return tally::of(out.output);
  }

  std::string input_ = R"({"verb":"cancel","filter":{"state":["running"]},"rate":40,"by":"ann","as_of_unix_ms":1795507200000,"count":100})";
  world in_;
  v1::TaskRecord own_;
  std::vector<std::string> tasks_;
  std::set<std::string> refused_, late_, gone_, paused_;
  int asked_in_vain_ = 0;
  bool is_resume_ = false;
  bool is_cancel_ = false;  // what was done is undone
  std::uint32_t attempt_ = 1;
  std::map<std::string, std::set<std::string>> done_;  // tokens by task
  std::vector<std::string> checkpoints_;
  std::set<std::string> notes_;
  std::string last_note_;
  std::function<void()> on_wait_, on_operate_;
  std::function<std::int64_t(std::size_t)> ended_at_;  // of tasks that have ended
  int away_ = 0;
  bool is_ending_ = false;
  duration now_{0};
};

TEST_F(an_operation, acts_on_each_task_once_at_the_rate_that_was_asked_for) {
  EXPECT_EQ(run_to_the_end().answered(), 100U);
  EXPECT_EQ(done_.size(), 100U);
  for (const auto& [id, tokens] : done_) EXPECT_EQ(tokens.size(), 1U) << id;
  EXPECT_GE(now_, std::chrono::milliseconds{2'400});  // 40 a second
  EXPECT_LE(now_, std::chrono::milliseconds{2'700});
}

TEST_F(an_operation, goes_on_from_its_checkpoint_after_the_death_of_its_node) {
  int requests = 0;
  on_operate_ = [&] { is_ending_ = ++requests == 4; };
  const auto first = run();
  ASSERT_TRUE(first.fault);
  EXPECT_EQ(first.fault->code(), "node_ending");
  EXPECT_LT(done_.size(), 60U);
  is_ending_ = false;
  // The last checkpoint but one: what came after it is lost, and done again under its token.
  const auto end = run_to_the_end(checkpoints_.at(checkpoints_.size() - 2));
  EXPECT_EQ(end.answered(), 100U);
  for (const auto& id : tasks_) EXPECT_EQ(done_[id].size(), 1U) << id;
}

TEST_F(an_operation, counts_what_it_had_resumed_before_the_death_of_its_node) {
  input_ = R"({"verb":"resume","filter":{"workflow":"order"},"rate":40,"by":"ann","as_of_unix_ms":1795507200000,"count":80})";
  // The last twenty are not paused, and nobody has paused them.
  for (std::size_t i = 0; i < 80; ++i) paused_.insert(tasks_[i]);
  is_resume_ = true;
  int requests = 0;
  on_operate_ = [&] { is_ending_ = ++requests == 4; };
  run();
  is_ending_ = false;
  attempt_ = 2;
  EXPECT_EQ(run_to_the_end(checkpoints_.at(0)).answered(), 80U);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(done_[tasks_[i]].size(), i < 80 ? 1U : 0U) << i;
}

TEST_F(an_operation, counts_what_it_had_cancelled_before_the_death_of_its_node) {
  is_cancel_ = true;
  int requests = 0;
  on_operate_ = [&] { is_ending_ = ++requests == 4; };
  run();
  EXPECT_GT(done_.size(), 20U);
  is_ending_ = false;
  attempt_ = 2;
  EXPECT_EQ(run_to_the_end(checkpoints_.at(0)).answered(), 100U);
  for (const auto& id : tasks_) EXPECT_EQ(done_[id].size(), 1U) << id;
}

TEST_F(an_operation, leaves_alone_what_its_action_does_not_fit) {
  input_ = R"({"verb":"retry","filter":{"workflow":"order"},"rate":400,"by":"ann","as_of_unix_ms":1795507200000,"count":0})";
  ended_at_ = [](std::size_t) { return 1'795'507'199'000; };
  EXPECT_EQ(run_to_the_end().answered(), 0U);
  EXPECT_TRUE(done_.empty());
}

TEST_F(an_operation, counts_refusals_by_their_reason) {
  refused_ = {"t-3", "t-50", "t-51"};
  json_writer out;
  run_to_the_end().write(out.begin_object(), false);
  EXPECT_EQ(
      out.end_object().text(),
      R"({"done":97,"refused":3,"refusals":[{"tasks":3,"example":"t-3","code":"wrong_state","error":"task t-3 is completed","remedy":"Leave it."}]})");
}

TEST_F(an_operation, waits_for_a_shard_that_is_away_and_says_so) {
  away_ = 5;
  late_ = {"t-7", "t-8"};
  EXPECT_EQ(run_to_the_end().answered(), 100U);
  for (const auto& id : tasks_) EXPECT_EQ(done_[id].size(), 1U) << id;
  EXPECT_TRUE(notes_.contains("shard 1 is away"));
  EXPECT_TRUE(notes_.contains("shard 1 did not answer in time"));
}

TEST_F(an_operation, goes_on_without_a_task_that_is_unavailable_and_comes_back_to_it) {
  gone_ = {"t-7"};
  on_wait_ = [this] {
    if (now_ < std::chrono::seconds{20} || gone_.empty()) return;
    EXPECT_EQ(done_.size(), 99U);
    gone_.clear();
  };
  EXPECT_EQ(run_to_the_end().answered(), 100U);
  for (const auto& id : tasks_) EXPECT_EQ(done_[id].size(), 1U) << id;
  EXPECT_TRUE(notes_.contains("shard 1 is gone"));
  EXPECT_GE(asked_in_vain_, 5);
  EXPECT_LE(asked_in_vain_, 12) << "it waits longer and longer";
}

TEST_F(an_operation, has_a_task_that_is_unavailable_in_its_checkpoint) {
  for (const auto dies_at : {5, 12}) {
    done_.clear();
    checkpoints_.clear();
    gone_ = {"t-7", "t-8", "t-99"};
    int requests = 0;
    on_operate_ = [&] { is_ending_ = ++requests == dies_at; };
    run();
    is_ending_ = false;
    on_operate_ = {};
    gone_.clear();
    EXPECT_EQ(run_to_the_end(checkpoints_.back()).answered(), 100U);
    for (const auto& id : tasks_) EXPECT_EQ(done_[id].size(), 1U) << id;
  }
}

TEST_F(an_operation, waits_once_more_are_unavailable_than_a_checkpoint_holds) {
  for (auto& id : tasks_) {
    id += std::string(400, 'x');
    gone_.insert(id);
  }
  on_wait_ = [this] {
    if (now_ >= std::chrono::seconds{30}) gone_.clear();
  };
  EXPECT_EQ(run_to_the_end().answered(), 100U);
  for (const auto& one : checkpoints_) EXPECT_LT(one.size(), 30'000U);
}

TEST_F(an_operation, stops_when_an_operator_stops_it) {
  on_wait_ = [this] {
    if (now_ > std::chrono::milliseconds{1'100}) own_.set_state(v1::TASK_STATE_UNDOING);
  };
  const auto end = run_to_the_end();
  EXPECT_TRUE(end.stopped);
  EXPECT_GT(end.answered(), 30U);
  EXPECT_LT(end.answered(), 95U);
  EXPECT_EQ(done_.size(), end.answered());
}

TEST_F(an_operation, does_nothing_while_it_is_paused) {
  own_.set_paused(true);
  on_wait_ = [this] {
    EXPECT_TRUE(done_.empty() || !own_.paused());
    if (now_ > std::chrono::seconds{60}) own_.set_paused(false);
  };
  EXPECT_EQ(run_to_the_end().answered(), 100U);
  EXPECT_TRUE(notes_.contains("paused"));
  EXPECT_EQ(last_note_, working_note) << "an empty note would leave the former one in place";
}

TEST_F(an_operation, never_acts_on_operations) {
  tasks_.push_back(std::string{id_prefix} + std::string(24, 'a'));
  EXPECT_EQ(run_to_the_end().answered(), 100U);
}

TEST_F(an_operation, leaves_children_to_their_parents_unless_they_are_named) {
  tasks_.insert(tasks_.begin(), "t-0/ship~1");
  input_ = R"({"verb":"pause","filter":{"workflow":"order"},"rate":400,"by":"ann","as_of_unix_ms":1795507200000,"count":100})";
  EXPECT_EQ(run_to_the_end().answered(), 100U);
  EXPECT_EQ(done_.count("t-0/ship~1"), 0U);
  input_ = R"({"verb":"pause","ids":["t-0/ship~1"],"rate":400,"by":"ann","as_of_unix_ms":1795507200000,"count":1})";
  EXPECT_EQ(run_to_the_end().answered(), 1U);
  EXPECT_EQ(done_.count("t-0/ship~1"), 1U);
}

TEST_F(an_operation, tries_parked_children_again) {
  tasks_.push_back("t-0/ship~1");
  input_ = R"({"verb":"retry","filter":{"workflow":"order"},"rate":400,"by":"ann","as_of_unix_ms":1795507200000,"count":101})";
  EXPECT_EQ(run_to_the_end().answered(), 101U);
  EXPECT_EQ(done_.count("t-0/ship~1"), 1U);
}

TEST_F(an_operation, takes_ids_as_they_were_given) {
  input_ = R"({"verb":"retry","ids":["t-1","t-2","t-9"],"rate":200,"by":"ann","as_of_unix_ms":1795507200000,"count":3})";
  EXPECT_EQ(run_to_the_end().answered(), 3U);
  EXPECT_EQ(done_.size(), 3U);
}

TEST_F(an_operation, is_refused_to_a_task_that_the_node_has_not_made) {
  // The launch of a job of that name, and an operation whose input somebody has replaced.
  for (const auto& id :
       {std::string{"order-1"}, std::string{id_prefix} + "x@2026-11-24T03:30:00Z", std::string{id_prefix} + std::string(24, '0')}) {
    const auto out = run({}, id);
    ASSERT_TRUE(out.fault) << id;
    EXPECT_EQ(out.fault->kind(), v1::FAULT_KIND_PERMANENT);
    EXPECT_EQ(out.fault->code(), "forbidden");
    EXPECT_TRUE(done_.empty());
  }
}

TEST_F(an_operation, deletes_nothing_that_ended_after_the_dry_run) {
  input_ = R"({"verb":"delete","filter":{"workflow":"order"},"rate":4000,"by":"ann","as_of_unix_ms":1795507200000,"count":50})";
  ended_at_ = [](std::size_t number) { return number < 50 ? 1'795'507'199'000 : 1'795'507'201'000; };
  EXPECT_EQ(run_to_the_end().answered(), 50U);
  EXPECT_TRUE(done_.contains("t-49") && !done_.contains("t-50"));
}

TEST_F(an_operation, ends_with_a_reason_if_the_node_does_not_take_it_at_all) {
  in_.list = [](const v1::TaskListRequest&) -> result<v1::TaskListReply> { return invalid("the cursor does not belong to this list"); };
  const auto out = run();
  ASSERT_TRUE(out.fault);
  EXPECT_EQ(out.fault->kind(), v1::FAULT_KIND_PERMANENT);
  EXPECT_EQ(out.fault->message(), "the cursor does not belong to this list");
}

TEST(a_checkpoint, is_read_as_it_was_written_and_nothing_else_is) {
  tally one;
  v1::OperateResult done, refused;
  refused.set_id("t-1");
  *refused.mutable_error() = error{v1::ERROR_CODE_WRONG_STATE, "task t-1 is \"completed\"", "Leave it."}.to_proto();
  one.add(done);
  one.add(refused);
  one.cursor = "0a1b";
  one.next_id = 7;
  EXPECT_EQ(tally::of(one.text()).text(), one.text());
  one.aside = {"t-3", "t-4"};
  one.over = true;
  EXPECT_EQ(tally::of(one.text()).aside, one.aside);
  EXPECT_TRUE(tally::of(one.text()).over);
  for (const char* text : {"", "null", "[]", "{\"done\":\"x\"}", "{\"done\":1,\"keys\":[\"a\"]}"})
    EXPECT_EQ(tally::of(text).answered(), 0U) << text;
}

}  // namespace
}  // namespace fairlead::app::bulk
