// The client against small nodes of its own: real sockets on loopback, no Scheduler.

#include "actors/client/client.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "actors/client/split.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/protocol/handles.hpp"
#include "actors/protocol/meta_objects.hpp"
#include "messages/ids.hpp"
#include "tests/actors/client/small_node.hpp"

namespace fairlead {
namespace {

using testing::node_memory;
using testing::small_node;

using std::chrono::seconds;

client_options options_for(std::vector<std::string> nodes, duration timeout = seconds{15}) {
  client_options out;
  out.nodes = std::move(nodes);
  out.request_timeout = timeout;
  return out;
}

v1::SubmitRequest some_tasks(int count) {
  v1::SubmitRequest out;
  for (int i = 0; i < count; ++i) out.add_items()->set_workflow("order");
  return out;
}

v1::SubmitRequest near_and_far() {
  auto out = some_tasks(2);
  out.mutable_items(0)->set_id("near");
  out.mutable_items(1)->set_id("far");
  return out;
}

/// A port that is bound and, when `listens`, accepts: nobody ever speaks there.
class silent_port {
 public:
  explicit silent_port(bool listens) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) != 0 || (listens && ::listen(fd_, 8) != 0) ||
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("the test's port cannot be made");
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~silent_port() { ::close(fd_); }
  const std::string& address() const { return address_; }

 private:
  int fd_;
  std::string address_;
};

TEST(client, names_every_node_and_its_reason_when_none_answers) {
  silent_port closed{false}, silent{true};
  auto begin = std::chrono::steady_clock::now();
  auto connected = client::connect(options_for({closed.address(), silent.address()}));
  ASSERT_FALSE(connected.ok());
  EXPECT_EQ(connected.failure().code, v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_NE(connected.failure().sentence.find(closed.address() + " (Connection refused)"), std::string::npos)
      << connected.failure().sentence;
  EXPECT_NE(connected.failure().sentence.find(silent.address() + " (accepted the connection, but does not speak)"), std::string::npos)
      << connected.failure().sentence;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds{10});
}

TEST(client, passes_over_nodes_that_do_not_answer) {
  silent_port closed{false};
  small_node node{"second"};
  auto connected = client::connect(options_for({closed.address(), node.address()}));
  ASSERT_TRUE(connected.ok()) << connected.failure().sentence;
  auto status = connected->status_of_node({});
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->node(), "second");
}

TEST(client, hands_errors_of_the_node_on_as_they_are) {
  small_node node{"one"};
  auto connected = client::connect(options_for({node.address()}));
  ASSERT_TRUE(connected.ok());
  auto shown = connected->show({});
  ASSERT_FALSE(shown.ok());
  EXPECT_EQ(shown.failure().code, v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(shown.failure().sentence, "no such task");
}

TEST(client, asks_again_while_the_node_says_unavailable) {
  small_node node{"one"};
  node.memory().unavailable = 2;
  auto connected = client::connect(options_for({node.address()}));
  ASSERT_TRUE(connected.ok());
  EXPECT_TRUE(connected->status_of_node({}).ok());
  EXPECT_EQ(node.memory().unavailable, -1);
}

TEST(client, gives_each_launch_by_hand_a_token_and_keeps_it_when_it_asks_again) {
  small_node node{"one"};
  node.memory().unavailable = 1;
  auto connected = client::connect(options_for({node.address()}));
  ASSERT_TRUE(connected.ok());
  v1::JobOperateRequest request;
  request.mutable_action()->set_verb(v1::JOB_VERB_RUN);
  request.add_names("report");
  EXPECT_TRUE(connected->operate_jobs(request).ok());
  EXPECT_TRUE(connected->operate_jobs(request).ok());
  std::lock_guard guard{node.memory().mutex};
  const auto& asked = node.memory().jobs_asked;
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_NE(asked[0].nominal_unix_ms() % 1'000, 0);
  EXPECT_EQ(asked[0].SerializeAsString(), asked[1].SerializeAsString()) << "the same launch, asked for again";
  EXPECT_EQ(asked[0].token().size(), 36U);
  EXPECT_NE(asked[1].token(), asked[2].token()) << "two people may ask in one millisecond";
}

TEST(client, gives_each_action_on_a_task_a_token_and_keeps_it_when_it_asks_again) {
  small_node node{"one"};
  node.memory().unavailable = 1;
  auto connected = client::connect(options_for({node.address()}));
  ASSERT_TRUE(connected.ok());
  v1::OperateRequest request;
  request.mutable_action()->set_verb(v1::OPERATOR_VERB_RETRY);
  EXPECT_TRUE(connected->operate(request).ok());
  request.mutable_action()->set_token("mine");
  EXPECT_TRUE(connected->operate(request).ok());
  request.mutable_action()->clear_token();
  request.mutable_action()->set_dry_run(true);
  EXPECT_TRUE(connected->operate(request).ok());
  std::lock_guard guard{node.memory().mutex};
  const auto& asked = node.memory().tasks_asked;
  ASSERT_EQ(asked.size(), 4U);
  EXPECT_EQ(asked[0].token().size(), 36U);
  EXPECT_EQ(asked[0].token(), asked[1].token()) << "the same action, asked for again";
  EXPECT_EQ(asked[2].token(), "mine");
  EXPECT_EQ(asked[3].token(), "");
}

TEST(client, passes_on_what_an_operator_does_to_an_instance_and_asks_nobody_a_second_time) {
  small_node node{"one"};
  small_node second{"second"};
  auto connected = client::connect(options_for({node.address(), second.address()}, seconds{6}));
  ASSERT_TRUE(connected.ok());
  v1::AgentOperateRequest request;
  request.set_instance("n1/payment");
  const auto reply = connected->agent_operate(request);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->held(), 3U);
  node.memory().answers = false;
  const auto late = connected->agent_operate(request);
  ASSERT_FALSE(late.ok()) << "the second node would have been asked for a list after five seconds";
  EXPECT_EQ(late.failure().code, v1::ERROR_CODE_TIMED_OUT);
}

TEST(client, gives_ids_and_one_result_an_item_in_order) {
  small_node node{"one"};
  auto connected = client::connect(options_for({node.address()}));
  ASSERT_TRUE(connected.ok());
  auto request = some_tasks(2'500);
  request.mutable_items(3)->set_id("mine");
  request.mutable_items(4)->set_input(std::string(max_input_bytes + 1, ' '));
  auto reply = connected->submit(request);
  ASSERT_TRUE(reply.ok());
  ASSERT_EQ(reply->results_size(), 2'500);
  EXPECT_EQ(reply->results(3).id(), "mine");
  EXPECT_EQ(reply->results(4).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  for (int i = 0; i < 2'500; ++i) {
    EXPECT_TRUE(valid_task_id(reply->results(i).id()));
    EXPECT_EQ(reply->results(i).created(), i != 4) << i;
  }
  EXPECT_EQ(node.memory().message_sizes, (std::vector<int>{1'000, 1'000, 499}));
}

TEST(client, repeats_a_submission_whose_node_dies_and_doubles_nothing) {
  auto memory = std::make_shared<node_memory>();
  memory->answers = false;
  auto node = std::make_unique<small_node>("one", memory);
  auto port = node->port();
  auto connected = client::connect(options_for({node->address()}, seconds{60}));
  ASSERT_TRUE(connected.ok());
  auto reply = std::async(std::launch::async, [&] { return connected->submit(some_tasks(3)); });
  for (auto until = std::chrono::steady_clock::now() + seconds{20}; memory->submissions == 0 && std::chrono::steady_clock::now() < until;)
    std::this_thread::yield();
  ASSERT_EQ(memory->submissions, 1);
  node.reset();
  memory->answers = true;
  node = std::make_unique<small_node>("one", memory, port);
  auto answer = reply.get();
  ASSERT_TRUE(answer.ok()) << answer.failure().sentence;
  EXPECT_EQ(answer->results_size(), 3);
  EXPECT_EQ(memory->tasks.size(), 3U);
  EXPECT_GE(connected->connections(), 2U);  // the dying node may still have accepted
}

TEST(client, goes_to_the_next_node_when_one_is_lost) {
  auto first = std::make_unique<small_node>("first");
  small_node second{"second"};
  auto connected = client::connect(options_for({first->address(), second.address()}, seconds{60}));
  ASSERT_TRUE(connected.ok());
  ASSERT_EQ(connected->status_of_node({})->node(), "first");
  first.reset();
  auto status = connected->status_of_node({});
  ASSERT_TRUE(status.ok()) << status.failure().sentence;
  EXPECT_EQ(status->node(), "second");
}

TEST(client, gives_up_a_lost_node_when_its_time_is_over) {
  auto node = std::make_unique<small_node>("one");
  auto address = node->address();
  auto connected = client::connect(options_for({address}, std::chrono::milliseconds{700}));
  ASSERT_TRUE(connected.ok());
  node.reset();
  auto status = connected->status_of_node({});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.failure().code, v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_NE(status.failure().sentence.find(address), std::string::npos);
}

TEST(client, sends_items_again_whose_shard_is_missing_and_no_others) {
  small_node node{"one"};
  node.memory().missing = 3;
  auto connected = client::connect(options_for({node.address()}, seconds{60}));
  ASSERT_TRUE(connected.ok());
  auto request = some_tasks(3);
  request.mutable_items(0)->set_id("near");
  request.mutable_items(1)->set_id("far-1");
  request.mutable_items(2)->set_id("far-2");
  const auto reply = connected->submit(request);
  ASSERT_TRUE(reply.ok()) << reply.failure().sentence;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(reply->results(i).id(), request.items(i).id());
    EXPECT_TRUE(reply->results(i).created());
  }
  EXPECT_EQ(node.memory().message_sizes, (std::vector<int>{3, 2, 2, 2}));
}

TEST(client, leaves_items_their_error_when_their_shard_stays_away) {
  small_node node{"one"};
  node.memory().missing = 1'000'000;
  auto connected = client::connect(options_for({node.address()}, std::chrono::milliseconds{600}));
  ASSERT_TRUE(connected.ok());
  const auto reply = connected->submit(near_and_far());
  ASSERT_TRUE(reply.ok()) << reply.failure().sentence;
  EXPECT_TRUE(reply->results(0).created());
  EXPECT_EQ(reply->results(1).error().code(), v1::ERROR_CODE_UNAVAILABLE);
}

TEST(client, goes_to_another_node_for_items_whose_shard_the_first_does_not_reach) {
  small_node cut_off{"cut off"};
  cut_off.memory().missing = 1'000'000;
  small_node second{"second"};
  auto connected = client::connect(options_for({cut_off.address(), second.address()}, seconds{60}));
  ASSERT_TRUE(connected.ok());
  const auto reply = connected->submit(near_and_far());
  ASSERT_TRUE(reply.ok()) << reply.failure().sentence;
  EXPECT_TRUE(reply->results(1).created());
  EXPECT_EQ(cut_off.memory().tasks.count("far"), 0U);
  EXPECT_EQ(second.memory().tasks, (std::set<std::string>{"far"}));
}

TEST(client, leaves_a_node_that_answers_nothing_when_there_is_another) {
  small_node silent{"silent"};
  silent.memory().answers = false;
  small_node second{"second"};
  auto connected = client::connect(options_for({silent.address(), second.address()}, seconds{60}));
  ASSERT_TRUE(connected.ok());
  const auto reply = connected->submit(some_tasks(2));
  ASSERT_TRUE(reply.ok()) << reply.failure().sentence;
  EXPECT_EQ(second.memory().tasks.size(), 2U);
}

TEST(client, dials_a_node_whose_gateway_only_fails_now_and_then_and_not_without_end) {
  small_node node{"one"};
  node.memory().broken = true;
  auto connected = client::connect(options_for({node.address()}, seconds{2}));
  ASSERT_TRUE(connected.ok());
  EXPECT_FALSE(connected->status_of_node({}).ok());
  // 50 ms between the first two, then more.
  EXPECT_LT(connected->connections(), 12U);
  node.memory().broken = false;
  EXPECT_TRUE(connected->status_of_node({}).ok());
}

/// What the client told each shard when `acknowledged` was the position of an event of the page.
std::map<std::uint32_t, std::uint64_t> acknowledged_at_shards(const std::vector<std::pair<std::uint32_t, std::uint64_t>>& page,
                                                              std::uint64_t acknowledged) {
  small_node node{"one"};
  for (const auto& [shard, position] : page) {
    auto& event = node.memory().events.emplace_back();
    event.set_shard(shard);
    event.set_position(position);
  }
  auto connected = client::connect(options_for({node.address()}));
  v1::RepliesRequest request;
  request.set_client("shop");
  EXPECT_TRUE(connected->replies(request).ok());
  request.set_acknowledged(acknowledged);
  EXPECT_TRUE(connected->replies(request).ok());
  std::map<std::uint32_t, std::uint64_t> out;
  for (const auto& one : node.memory().replies_asked.back().positions()) out[one.shard()] = one.acknowledged();
  return out;
}

TEST(client, tells_each_shard_its_own_position_of_the_part_of_a_page_that_was_taken) {
  using told = std::map<std::uint32_t, std::uint64_t>;
  EXPECT_EQ(acknowledged_at_shards({{0, 3}, {1, 8}, {0, 4}, {2, 1}}, 4), (told{{0, 4}, {1, 8}}));
  EXPECT_EQ(acknowledged_at_shards({{0, 3}, {1, 8}, {0, 4}, {2, 1}}, 1), (told{{0, 4}, {1, 8}, {2, 1}}));
  // Two have that position, and nobody has said that the second was taken, too.
  EXPECT_EQ(acknowledged_at_shards({{0, 5}, {1, 5}}, 5), (told{{0, 5}}));
}

TEST(client, says_timed_out_when_a_node_lives_and_does_not_answer) {
  small_node node{"one"};
  node.memory().answers = false;
  auto connected = client::connect(options_for({node.address()}, std::chrono::milliseconds{300}));
  ASSERT_TRUE(connected.ok());
  auto reply = connected->submit(some_tasks(1));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.failure().code, v1::ERROR_CODE_TIMED_OUT);
}

TEST(client, two_in_one_process_hear_of_their_own_tasks_only) {
  small_node node{"one"};
  std::promise<std::string> heard_by_first, heard_by_second;
  auto first = client::connect(options_for({node.address()}));
  auto second = client::connect(options_for({node.address()}));
  ASSERT_TRUE(first.ok() && second.ok());
  first->on_finished([&](const v1::FinishedNotice& notice) { heard_by_first.set_value(notice.items(0).id()); });
  second->on_finished([&](const v1::FinishedNotice& notice) { heard_by_second.set_value(notice.items(0).id()); });
  auto submit = [](client& to, const std::string& id) {
    v1::SubmitRequest request;
    request.set_notify(true);
    request.add_items()->set_id(id);
    return to.submit(request).ok();
  };
  ASSERT_TRUE(submit(*first, "a"));
  ASSERT_TRUE(submit(*second, "b"));
  auto a = heard_by_first.get_future();
  auto b = heard_by_second.get_future();
  ASSERT_EQ(a.wait_for(seconds{20}), std::future_status::ready);
  ASSERT_EQ(b.wait_for(seconds{20}), std::future_status::ready);
  EXPECT_EQ(a.get(), "a");
  EXPECT_EQ(b.get(), "b");
}

TEST(client, watches_from_sequence_to_sequence_until_the_end) {
  small_node node{"one"};
  auto connected = client::connect(options_for({node.address()}));
  ASSERT_TRUE(connected.ok());
  std::vector<std::uint64_t> seen;
  auto watched = connected->watch("t", 0, [&](const v1::WatchReply& reply) {
    seen.push_back(reply.events(0).sequence());
    return true;
  });
  EXPECT_TRUE(watched.ok());
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 2, 3}));
  auto end = connected->wait("t", seconds{20});
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->state(), v1::TASK_STATE_COMPLETED);
  EXPECT_TRUE(end->has_output());
}

TEST(client, fetches_the_output_of_a_task_and_says_why_there_is_none) {
  small_node node{"one"};
  auto connected = client::connect(options_for({node.address()}));
  ASSERT_TRUE(connected.ok());
  const auto output = connected->output("done");
  ASSERT_TRUE(output.ok()) << output.failure().sentence;
  EXPECT_EQ(*output, R"({"n":1})");
  EXPECT_EQ(connected->output("hidden").failure().code, v1::ERROR_CODE_FORBIDDEN);
  EXPECT_EQ(connected->output("bare").failure().code, v1::ERROR_CODE_WRONG_STATE);
  EXPECT_EQ(connected->output("nobody").failure().code, v1::ERROR_CODE_NOT_FOUND);
}

}  // namespace
}  // namespace fairlead
