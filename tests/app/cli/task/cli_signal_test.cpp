#include "app/cli/task/signal.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/json/node/operations.hpp"

namespace fairlead::app {
namespace {

signal_options given(const std::string& id, const std::string& name) {
  signal_options out;
  out.id = id;
  out.name = name;
  out.by = "ana";
  return out;
}

/// The sentence it is refused with; empty when it is not.
std::string refusal(const signal_options& options) {
  const auto read = read_signal(options);
  if (read) return "";
  EXPECT_EQ(read.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT) << read.failure().sentence;
  return read.failure().sentence;
}

TEST(signal, says_its_task_its_name_and_its_data_byte_for_byte) {
  auto options = given("orders/7", "approved");
  options.data = R"({"amount_cents": 12345678901234567890})";
  options.key = "k-1";
  options.reason = "checked";
  const auto read = read_signal(options);
  ASSERT_TRUE(read.ok()) << read.failure().sentence;
  ASSERT_EQ(read->ids_size(), 1);
  EXPECT_EQ(read->ids(0), "orders/7");
  const auto& action = read->action();
  EXPECT_EQ(action.verb(), v1::OPERATOR_VERB_SIGNAL);
  EXPECT_EQ(action.signal(), "approved");
  EXPECT_EQ(action.json(), *options.data);
  EXPECT_EQ(action.token(), "k-1");
  EXPECT_EQ(action.reason(), "checked");
  EXPECT_EQ(action.who(), "ana");
  EXPECT_EQ(action.step(), "");
}

TEST(signal, without_a_key_gets_one_of_its_own_so_that_it_can_be_sent_again) {
  const auto one = read_signal(given("o-1", "approved"));
  const auto other = read_signal(given("o-1", "approved"));
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_FALSE(one->action().has_json());
  EXPECT_NE(one->action().token(), "");
  EXPECT_NE(one->action().token(), other->action().token());
}

TEST(signal, that_cannot_be_right_is_refused_before_a_node_is_asked) {
  EXPECT_EQ(refusal(given("o 1", "approved")), "'o 1' is not a task id");
  EXPECT_EQ(refusal(given("o-1", "Approved")), "'Approved' is not a name of a signal");
  EXPECT_EQ(refusal(given("o-1", "")), "'' is not a name of a signal");
  auto options = given("o-1", "approved");
  options.data = "{";
  EXPECT_TRUE(refusal(options).starts_with("The data is not JSON")) << refusal(options);
  options.data = "";
  EXPECT_EQ(refusal(options), "The data is empty");
  options.data.reset();
  options.key = "";
  EXPECT_EQ(refusal(options), "--key is empty");
  options.key = std::string(65, 'k');
  EXPECT_EQ(refusal(options), "--key has more than 64 bytes, or is not UTF-8");
  options.key = std::string(64, 'k');
  EXPECT_EQ(refusal(options), "");
  options.reason = std::string(1'001, 'r');
  EXPECT_EQ(refusal(options), "The reason is longer than 1000 bytes");
}

TEST(signal, tells_what_became_of_it) {
  v1::OperateResult result;
  result.set_id("t1");
  result.set_state(v1::TASK_STATE_RUNNING);
  result.set_sequence(7);
  EXPECT_EQ(signaled_text(result, "approved", true), "task t1: signal approved taken\n");
  EXPECT_EQ(nlohmann::json::parse(signaled_json(result, "approved")),
            nlohmann::json::parse(R"({"id":"t1","signal":"approved","kept":false,"state":"running","parked":false,"paused":false,)"
                                  R"("sequence":7,"repeated":false})"));
  result.set_kept(true);
  EXPECT_EQ(signaled_text(result, "approved", true), "task t1: signal approved kept until a step waits for it\n");
  result.set_repeated(true);
  EXPECT_EQ(signaled_text(result, "approved", true), "task t1: signal approved was given before, with the same key\n");
  EXPECT_EQ(signaled_text(result, "approved", false), "task t1: signal approved given\n") << "the command itself has sent it twice";
}

}  // namespace
}  // namespace fairlead::app
