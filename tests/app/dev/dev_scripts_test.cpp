#include "app/dev/scripts.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "app/dev/agent.hpp"
#include "app/dev/files.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

using kind = script_action::kind;

class in_a_folder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "dev-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream{folder_ + "/" + name} << text;
    return folder_ + "/" + name;
  }
  std::string folder_;
};

class dev_scripts : public in_a_folder {};
class dev_files : public in_a_folder {};

std::string refusal(const std::string& text) {
  const auto parsed = parse_script(text);
  return parsed.ok() ? "taken" : parsed.failure().sentence;
}

TEST_F(dev_scripts, say_what_successive_attempts_get_and_the_last_holds_for_all_that_follow) {
  const auto parsed = parse_script(R"(fail:transient, fail:permanent:no_funds,sleep:1s,echo,return:{"a": [1, 2]} )");
  ASSERT_TRUE(parsed.ok()) << parsed.failure().sentence;
  ASSERT_EQ(parsed->size(), 5U);
  EXPECT_EQ(action_of(*parsed, 1).fault, v1::FAULT_KIND_TRANSIENT);
  EXPECT_EQ(action_of(*parsed, 1).code, "scripted");
  EXPECT_EQ(action_of(*parsed, 2).fault, v1::FAULT_KIND_PERMANENT);
  EXPECT_EQ(action_of(*parsed, 2).code, "no_funds");
  EXPECT_EQ(action_of(*parsed, 3).what, kind::sleep);
  EXPECT_EQ(action_of(*parsed, 3).sleep_ms, 1'000);
  EXPECT_EQ(action_of(*parsed, 4).what, kind::echo);
  EXPECT_EQ(action_of(*parsed, 5).output, R"({"a": [1, 2]})");
  EXPECT_EQ(action_of(*parsed, 77).what, kind::give);
}

TEST_F(dev_scripts, that_are_none_are_refused_at_their_place) {
  EXPECT_EQ(refusal(""), "at character 1: an action is missing");
  EXPECT_EQ(refusal("echo,"), "at character 6: an action is missing");
  EXPECT_EQ(refusal("echo, fial:transient"), "at character 7: 'fial:transient' is not an action");
  EXPECT_EQ(refusal("fail"), "at character 1: 'fail' is not an action");
  EXPECT_EQ(refusal("echo:1"), "at character 1: 'echo:1' is not an action");
  EXPECT_EQ(refusal("fail:often"), "at character 1: 'often' is not a kind of fault");
  EXPECT_EQ(refusal("fail:permanent:no funds"), "at character 1: 'no funds' is not a valid code");
  EXPECT_EQ(refusal("echo,sleep:soon"), "at character 6: 'soon' is not a valid time to sleep");
  EXPECT_EQ(refusal("sleep:25h"), "at character 1: '25h' is not a valid time to sleep");
  EXPECT_EQ(refusal("return:{a}").substr(0, 48), "at character 1: return: is not followed by JSON:");
}

TEST_F(dev_scripts, belong_to_one_call_and_a_call_has_one) {
  scripts all;
  EXPECT_TRUE(add_script("payment.charge=echo", all).ok());
  EXPECT_EQ(all.count({"payment", "charge"}), 1U);
  EXPECT_EQ(add_script("payment.charge=echo", all).failure().sentence, "payment.charge has two scripts");
  EXPECT_EQ(add_script("payment.charge", all).failure().sentence, "'payment.charge' has no =");
  EXPECT_EQ(add_script("payment=echo", all).failure().sentence, "'payment' does not name a call");
  EXPECT_EQ(add_script("a.b.c=echo", all).failure().sentence, "'a.b.c' does not name a call");
  EXPECT_EQ(add_script("payment.refund=fial", all).failure().sentence,
            "the script of payment.refund at character 1: 'fial' is not an action");
}

TEST_F(dev_scripts, stand_in_a_file_as_texts_and_lists_and_the_command_line_goes_before) {
  scripts all;
  ASSERT_TRUE(add_script("payment.charge=echo", all).ok());
  const auto path =
      write("scripts.yaml", "payment.charge: fail:transient\npayment.refund: [fail:transient, \"sleep:1s,echo\", { return: { a: 1 } }]\n");
  EXPECT_EQ(shown(read_scripts(path, all)), lines{});
  EXPECT_EQ(all.at({"payment", "charge"}).at(0).what, kind::echo);
  const auto& refund = all.at({"payment", "refund"});
  ASSERT_EQ(refund.size(), 4U);
  EXPECT_EQ(refund[1].what, kind::sleep);
  EXPECT_EQ(refund[3].output, R"({"a":1})");
}

TEST_F(dev_scripts, of_a_file_are_refused_with_line_and_column) {
  scripts all;
  const auto path = write("scripts.yaml", "payment: echo\na.b: [echo, fial]\na.c: []\na.d: { give: 1 }\n");
  const auto problems = shown(read_scripts(path, all));
  ASSERT_EQ(problems.size(), 5U);
  EXPECT_EQ(problems[0].substr(0, 50), "1:10: payment: this key does not name a call; writ");
  EXPECT_EQ(problems[1].substr(0, 64), "2:13: a.b[1]: at character 1: 'fial' is not an action; write ech");
  EXPECT_EQ(problems[2].substr(0, 6), "3:6: a");
  EXPECT_EQ(problems[3].substr(0, 6), "4:6: a");
  EXPECT_NE(problems[4].find("give: this key is not known here"), std::string::npos) << problems[4];
  EXPECT_EQ(read_scripts(folder_ + "/none", all).size(), 1U);
}

// ---- the agents ----

struct answers {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<agents::attempt_result> all;

  agents::completion taker() {
    return [this](const agents::attempt_key&, agents::attempt_result one) {
      const std::lock_guard lock{mutex};
      all.push_back(std::move(one));
      changed.notify_all();
    };
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, std::chrono::seconds{10}, [&] { return all.size() >= count; });
  }
};

v1::Perform attempt(std::uint32_t number, const std::string& input = R"({"a":1})", const std::string& call = "charge") {
  v1::Perform out;
  out.set_task_number(1);
  out.set_attempt(number);
  out.set_call(call);
  out.set_input(input);
  return out;
}

std::shared_ptr<agents::backend> agent_with(const std::string& text) {
  auto told = std::make_shared<scripts>();
  EXPECT_TRUE(add_script(text, *told).ok());
  return make_scripted_backend("payment", {"charge", "refund"}, told);
}

TEST_F(dev_scripts, make_an_agent_answer_by_the_number_of_the_attempt) {
  answers got;
  const auto agent = agent_with("payment.charge=fail:in_doubt:lost,sleep:10ms,return:{\"b\":2}");
  agent->start(attempt(1), got.taker());
  agent->start(attempt(2), got.taker());
  ASSERT_TRUE(got.wait_for(2));
  agent->start(attempt(3), got.taker());
  agent->start(attempt(9), got.taker());
  agent->start(attempt(1, R"({"x":1})", "refund"), got.taker());
  ASSERT_TRUE(got.wait_for(5));
  EXPECT_EQ(got.all[0].fault->kind(), v1::FAULT_KIND_IN_DOUBT);
  EXPECT_EQ(got.all[0].fault->code(), "lost");
  EXPECT_EQ(got.all[1].output, R"({"a":1})");
  EXPECT_EQ(got.all[2].output, R"({"b":2})");
  EXPECT_EQ(got.all[3].output, R"({"b":2})");
  EXPECT_EQ(got.all[4].output, R"({"x":1})");
}

TEST_F(dev_scripts, in_the_input_go_before_those_of_the_call) {
  answers got;
  const auto agent = agent_with("payment.charge=fail:transient");
  agent->start(attempt(1, R"({"$script":"echo"})"), got.taker());
  agent->start(attempt(1, R"({"$script":null})"), got.taker());
  agent->start(attempt(1, R"({"$script":"fial"})"), got.taker());
  agent->start(attempt(1, R"({"$script":5})"), got.taker());
  agent->start(attempt(1, "[1]"), got.taker());
  ASSERT_TRUE(got.wait_for(5));
  EXPECT_FALSE(got.all[0].fault);
  EXPECT_EQ(got.all[1].fault->kind(), v1::FAULT_KIND_TRANSIENT);
  EXPECT_EQ(got.all[2].fault->code(), "bad_script");
  EXPECT_NE(got.all[2].fault->message().find("at character 1: 'fial' is not an action"), std::string::npos) << got.all[2].fault->message();
  EXPECT_EQ(got.all[3].fault->kind(), v1::FAULT_KIND_PERMANENT);
  EXPECT_EQ(got.all[4].fault->kind(), v1::FAULT_KIND_TRANSIENT);
}

TEST_F(dev_scripts, that_sleep_are_stopped_and_do_not_hold_up_the_end) {
  answers got;
  const auto agent = agent_with("payment.charge=sleep:1h,sleep:20ms");
  agent->start(attempt(1), got.taker());
  agent->start(attempt(2), got.taker());
  agent->stop({1, 0, v1::DIRECTION_PERFORM, 2});
  agent->start(attempt(3), got.taker());
  ASSERT_TRUE(got.wait_for(1));
  agent->shut_down();
  EXPECT_EQ(got.all.size(), 1U);
  agent->start(attempt(4), got.taker());
  EXPECT_EQ(got.all.size(), 1U);
}

// ---- the files ----

lines changes_of(watched_files& files) {
  lines out;
  for (const auto& one : files.look())
    out.push_back(std::filesystem::path{one.path}.filename().string() + (one.gone ? " gone" : ": " + one.text));
  return out;
}

TEST_F(dev_files, of_a_folder_are_looked_at_once_for_each_change) {
  write("b.yml", "b1");
  write("a.yaml", "a1");
  write(".hidden.yaml", "x");
  write("notes.txt", "x");
  std::filesystem::create_directory(folder_ + "/below.yaml");
  const auto files = watched_files::open({folder_});
  ASSERT_TRUE(files.ok()) << files.failure().sentence;
  EXPECT_EQ(changes_of(**files), (lines{"a.yaml: a1", "b.yml: b1"}));
  EXPECT_EQ(changes_of(**files), lines{});
  write("a.yaml", "a2");
  EXPECT_EQ(changes_of(**files), lines{"a.yaml: a2"});
  std::filesystem::rename(write("next", "a3"), folder_ + "/a.yaml");
  std::filesystem::remove(folder_ + "/b.yml");
  EXPECT_EQ(changes_of(**files), (lines{"b.yml gone", "a.yaml: a3"}));
}

TEST_F(dev_files, named_one_by_one_leave_their_neighbours_alone) {
  const auto path = write("a.txt", "a1");
  write("b.yaml", "b1");
  const auto files = watched_files::open({path});
  ASSERT_TRUE(files.ok()) << files.failure().sentence;
  EXPECT_EQ(changes_of(**files), lines{"a.txt: a1"});
  write("b.yaml", "b2");
  EXPECT_EQ(changes_of(**files), lines{});
  EXPECT_EQ(watched_files::open({folder_ + "/none"}).failure().code, v1::ERROR_CODE_NOT_FOUND);
}

}  // namespace
}  // namespace fairlead::app
