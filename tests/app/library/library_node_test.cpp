#include <fairlead/fairlead.hpp>

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "messages/api.pb.h"

namespace fairlead {
namespace {

using namespace std::chrono_literals;

std::string program() {
  const auto* given = std::getenv("FAIRLEAD_BIN");
  return given == nullptr ? "" : given;
}

/// A store of its own and a node on a port that the system chooses.
class library_node : public ::testing::Test {
 protected:
  library_node() {
    auto folder = (std::filesystem::path{::testing::TempDir()} / "library-node-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder for a store");
    folder_ = folder;
    options_.store = folder_ + "/store";
    options_.listen = "127.0.0.1:0";
    options_.log_file = folder_ + "/log";
    options_.program = program();
  }
  ~library_node() override { std::filesystem::remove_all(folder_); }

  node started(const std::vector<agent>& agents) {
    auto out = node::start(options_, agents);
    if (!out) throw std::runtime_error(out.failure().sentence);
    return std::move(*out);
  }

  static void deploy(const node& on, const workflow& what) {
    const auto done = on.deploy(what);
    ASSERT_TRUE(done.ok()) << done.failure().sentence;
    ASSERT_EQ(done->error().code(), v1::ERROR_CODE_OK) << done->error().sentence();
  }

  static std::string submit(client& to, const std::string& workflow, const std::string& input) {
    v1::SubmitRequest request;
    auto& item = *request.add_items();
    item.set_workflow(workflow);
    item.set_input(input);
    const auto reply = to.submit(request);
    EXPECT_TRUE(reply.ok()) << reply.failure().sentence;
    return reply ? reply->results(0).id() : "";
  }

  static v1::TaskRecord ended(client& to, const std::string& id) {
    const auto end = to.wait(id, 20s);
    EXPECT_TRUE(end.ok()) << end.failure().sentence;
    v1::TaskShowRequest request;
    request.set_id(id);
    const auto shown = to.show(request);
    EXPECT_TRUE(shown.ok()) << shown.failure().sentence;
    return shown ? shown->task() : v1::TaskRecord{};
  }

  /// One step with these words, run to its end.
  v1::TaskRecord run_one(const agent& one, const workflow& what, const std::string& input = "{}") {
    const auto with = started({one});
    deploy(with, what);
    auto to = with.client();
    EXPECT_TRUE(to.ok()) << to.failure().sentence;
    return ended(*to, submit(*to, "w", input));
  }

  std::string folder_;
  node_options options_;
};

workflow one_step(const std::function<void(workflow_step&)>& more = {}) {
  workflow out{"w"};
  auto step = out.step("a").agent("shop").call("sell").timeout(10s).attempts(2).backoff(10ms, 1, 10ms);
  if (more) more(step);
  return out;
}

TEST_F(library_node, a_handler_of_json_text_completes_a_task) {
  std::string key;
  agent shop{"shop"};
  shop.call("sell").perform([&](const json& in, context& with) -> outcome<json> {
    key = with.key();
    EXPECT_EQ(with.direction(), direction::perform);
    EXPECT_EQ(with.step(), "a");
    EXPECT_EQ(with.attempt(), 1U);
    EXPECT_GT(with.time_left(), 1s);
    EXPECT_FALSE(with.stopped());
    return json{R"({"got":)" + in.text + "}"};
  });
  const auto task = run_one(shop, one_step(), R"({"n": 5})");
  EXPECT_EQ(task.state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(task.steps(0).output().json(), R"({"got":{"n":5}})");
  EXPECT_EQ(key, task.id() + "/a/perform/0");
}

TEST_F(library_node, a_handler_takes_and_gives_protobuf_messages) {
  agent shop{"shop"};
  shop.call("sell").perform([](const v1::StatesRequest& in, context&) -> outcome<v1::StatesReply> {
    v1::StatesReply out;
    for (const auto& id : in.ids()) out.add_items()->set_id(id + "!");
    return out;
  });
  const auto task =
      run_one(shop, one_step([](workflow_step& step) { step.types<v1::StatesRequest, v1::StatesReply>(); }), R"({"ids":["x"]})");
  EXPECT_EQ(task.state(), v1::TASK_STATE_COMPLETED);
  EXPECT_NE(task.steps(0).output().json().find(R"("id":"x!")"), std::string::npos) << task.steps(0).output().json();
}

TEST_F(library_node, an_input_that_does_not_fit_its_type_fails_the_step_before_it_is_handed_over) {
  std::atomic<int> called{0};
  agent shop{"shop"};
  shop.call("sell").perform([&](const json&, context&) -> outcome<json> {
    ++called;
    return json{};
  });
  const auto task = run_one(shop, one_step([](workflow_step& step) { step.input_type<v1::SubmitRequest>(); }),
                            R"({"items":[{"workflow":"w"},{"workflo":"w"}]})");
  EXPECT_TRUE(task.parked());
  EXPECT_EQ(task.steps(0).state(), v1::STEP_STATE_FAILED);
  EXPECT_EQ(task.steps(0).fault().kind(), v1::FAULT_KIND_PERMANENT);
  EXPECT_EQ(task.steps(0).fault().code(), "input_type");
  EXPECT_EQ(task.steps(0).fault().message(),
            "the step's input, items[1].workflo: fairlead.v1.Submission has no field workflo; nearest: workflow");
  EXPECT_EQ(task.steps(0).attempt(), 0U);
  EXPECT_EQ(called, 0);
}

TEST_F(library_node, an_output_that_does_not_fit_its_type_leaves_the_step_in_doubt) {
  std::atomic<int> called{0};
  agent shop{"shop"};
  shop.call("sell").perform([&](const json&, context&) -> outcome<json> {
    ++called;
    return json{R"({"items":5})"};
  });
  const auto task = run_one(shop, one_step([](workflow_step& step) { step.output_type<v1::StatesReply>(); }));
  EXPECT_TRUE(task.parked());
  EXPECT_EQ(task.steps(0).state(), v1::STEP_STATE_IN_DOUBT);
  EXPECT_EQ(task.steps(0).fault().code(), "output_type");
  EXPECT_NE(task.steps(0).fault().message().find("items: expected a list of fairlead.v1.TaskEnd"), std::string::npos)
      << task.steps(0).fault().message();
  // Nothing that another attempt could change.
  EXPECT_EQ(called, 1);
}

TEST_F(library_node, a_typed_handler_refuses_what_is_no_such_message_and_names_the_field) {
  agent shop{"shop"};
  shop.call("sell").perform([](const v1::SubmitRequest&, context&) -> outcome<nothing> { return nothing{}; });
  const auto task = run_one(shop, one_step(), R"({"items":[{"priority":"high"}]})");
  EXPECT_EQ(task.steps(0).fault().code(), "input_type");
  EXPECT_EQ(task.steps(0).fault().kind(), v1::FAULT_KIND_PERMANENT);
  EXPECT_NE(task.steps(0).fault().message().find("items[0].priority: expected int32"), std::string::npos)
      << task.steps(0).fault().message();
}

TEST_F(library_node, faults_of_each_kind_arrive_as_they_were_said) {
  agent shop{"shop"};
  shop.call("sell").perform([](const json& in, context& with) -> outcome<json> {
    if (in.text == R"("throws")") throw std::runtime_error("no such luck");
    if (with.attempt() == 1) return transient_fault("busy", "come again", 20ms);
    return permanent_fault("sold_out", "nothing is left");
  });
  const auto with = started({shop});
  deploy(with, one_step());
  auto to = with.client();
  ASSERT_TRUE(to.ok());
  const auto first = ended(*to, submit(*to, "w", "{}"));
  EXPECT_EQ(first.steps(0).attempt(), 2U);
  EXPECT_EQ(first.steps(0).fault().code(), "sold_out");
  EXPECT_EQ(first.steps(0).state(), v1::STEP_STATE_FAILED);
  const auto second = ended(*to, submit(*to, "w", R"("throws")"));
  EXPECT_EQ(second.steps(0).fault().code(), "handler_threw");
  EXPECT_EQ(second.steps(0).state(), v1::STEP_STATE_IN_DOUBT);
}

TEST_F(library_node, a_step_in_doubt_is_looked_up_and_what_is_done_is_undone) {
  std::mutex guard;
  std::vector<std::string> said;
  const auto say = [&](std::string what) {
    const std::lock_guard lock{guard};
    said.push_back(std::move(what));
  };
  agent shop{"shop"};
  shop.call("sell")
      .perform([&](const json&, context&) -> outcome<json> { return in_doubt_fault("lost", "the line went dead"); })
      .lookup([&](const json&, context& with) -> finding<json> {
        EXPECT_EQ(with.direction(), direction::lookup);
        say("lookup of " + std::string{with.perform_key()});
        return json{R"({"receipt":7})"};
      })
      .undo("refund", [&](const json& in, context& with) -> outcome<nothing> {
        EXPECT_EQ(with.direction(), direction::undo);
        EXPECT_FALSE(with.in_doubt());
        say("undo with " + in.text + " after " + std::string{with.perform_output()});
        return nothing{};
      });
  shop.call("fail").perform([](const json&, context&) -> outcome<json> { return permanent_fault("no", "never"); });
  workflow what{"w"};
  what.on_failure(on_failure::undo);
  what.step("a").agent("shop").call("sell").attempts(1).undo("refund", R"({"receipt": "${ .steps.a.receipt }"})");
  what.step("b").needs("a").agent("shop").call("fail").undo_none();
  const auto task = run_one(shop, what);
  EXPECT_EQ(task.state(), v1::TASK_STATE_UNDONE);
  EXPECT_EQ(said, (std::vector<std::string>{"lookup of " + task.id() + "/a/perform/0", R"(undo with {"receipt":7} after {"receipt":7})"}));
}

TEST_F(library_node, a_node_file_gives_an_agent_in_code_its_settings) {
  agent shop{"shop"};
  shop.call("sell").perform([](const json&, context&) -> outcome<json> { return json{"1"}; });
  const auto path = folder_ + "/node.yaml";
  std::ofstream{path} << "node: { name: filed, listen: \"127.0.0.1:0\" }\nstore: { path: store }\nlog: { file: log }\nagents:\n"
                         "  kiosk: { kind: native, handler: shop, concurrency: 3 }\n";
  node_options options;
  options.file = path;
  options.program = program();
  auto with = node::start(options, {shop});
  ASSERT_TRUE(with.ok()) << with.failure().sentence;
  workflow what{"w"};
  what.step("a").agent("kiosk").call("sell");
  deploy(*with, what);
  auto to = with->client();
  ASSERT_TRUE(to.ok());
  EXPECT_EQ(ended(*to, submit(*to, "w", "{}")).state(), v1::TASK_STATE_COMPLETED);
  v1::StatusRequest ask;
  const auto status = to->status_of_node(ask);
  ASSERT_TRUE(status.ok());
  ASSERT_EQ(status->agents_size(), 1);
  EXPECT_EQ(status->agents(0).instance(), "filed/kiosk");
  EXPECT_EQ(status->agents(0).capacity(), 3U);
}

// Both need the program: this process is not it.
TEST_F(library_node, expressions_are_evaluated_and_commands_run_by_the_installed_program) {
  agent shop{"shop"};
  shop.call("sell").perform([](const json& in, context&) -> outcome<json> { return json{in.text}; });
  const auto path = folder_ + "/node.yaml";
  std::ofstream{path} << "node: { name: filed, listen: \"127.0.0.1:0\" }\nstore: { path: store }\nlog: { file: log }\nagents:\n"
                         "  tool: { kind: exec, calls: { copy: { command: [/bin/cat] } } }\n";
  node_options options;
  options.file = path;
  options.program = program();
  auto with = node::start(options, {shop});
  ASSERT_TRUE(with.ok()) << with.failure().sentence;
  workflow what{"w"};
  what.step("a").agent("tool").call("copy").with(R"({"n": "${ .input.n * 2 }"})");
  what.step("b").needs("a").agent("shop").call("sell").with(R"("${ .steps.a.n + 1 }")");
  deploy(*with, what);
  auto to = with->client();
  ASSERT_TRUE(to.ok());
  const auto task = ended(*to, submit(*to, "w", R"({"n":20})"));
  EXPECT_EQ(task.state(), v1::TASK_STATE_COMPLETED) << task.parked_reason() << " " << task.steps(0).fault().message();
  EXPECT_EQ(task.steps(1).output().json(), "41");
}

TEST_F(library_node, what_is_wrong_is_said_before_anything_runs) {
  const auto why = [](const node_options& options, const std::vector<agent>& agents) {
    const auto tried = node::start(options, agents);
    return tried ? std::string{"it started"} : tried.failure().sentence;
  };
  auto bad = options_;
  bad.listen = "nowhere";
  EXPECT_NE(why(bad, {}).find("node_options: node.listen: expected HOST:PORT"), std::string::npos) << why(bad, {});
  bad = options_;
  bad.program = "/nowhere/fairlead";
  EXPECT_EQ(why(bad, {}), "/nowhere/fairlead is not an executable program");
  EXPECT_NE(why(options_, {agent{"shop"}}).find("no calls"), std::string::npos) << why(options_, {agent{"shop"}});
  agent twice{"shop"};
  const auto handler = [](const json&, context&) -> outcome<json> { return json{}; };
  twice.call("sell").perform(handler);
  twice.call("sell").perform(handler);
  EXPECT_EQ(why(options_, {twice}), "agent shop: call sell has two handlers");
  const auto refused = [&](const std::function<void(agent&)>& set) {
    agent wrong{"shop"};
    wrong.call("sell").perform(handler);
    set(wrong);
    return why(options_, {wrong});
  };
  EXPECT_NE(refused([](agent& a) { a.label("zo=ne", "eu"); }).find("a label is not"), std::string::npos);
  EXPECT_NE(refused([](agent& a) {
              limit_settings by;
              by.concurrency = 1;
              by.key = "customer";
              a.limit(by);
            }).find("not a path into the step's input"),
            std::string::npos);
  EXPECT_NE(refused([](agent& a) {
              retry_settings how;
              how.try_timeout = -1s;
              a.retry(how);
            }).find("try_timeout is negative"),
            std::string::npos);
  EXPECT_NE(refused([](agent& a) {
              breaker_settings how;
              how.open_for = 1000h;
              a.breaker(how);
            }).find("longer than a day"),
            std::string::npos);
  agent one{"shop"};
  one.call("sell").perform(handler);
  EXPECT_EQ(why(options_, {one, one}), "there are two agents named shop");
  const auto holder = started({one});
  const auto second = why(options_, {one});
  EXPECT_NE(second.find("store"), std::string::npos) << second;
}

TEST_F(library_node, sigterm_lets_what_is_out_end_and_begins_nothing_new) {
  std::promise<void> begun;
  std::promise<void> go;
  const auto may_go = go.get_future().share();
  std::atomic<int> performed{0};
  agent shop{"shop"};
  shop.call("sell").perform([&, may_go](const json&, context& with) -> outcome<json> {
    if (performed++ == 0) begun.set_value();
    EXPECT_EQ(may_go.wait_for(10s), std::future_status::ready);
    EXPECT_FALSE(with.stopped());
    return json{R"("sold")"};
  });
  workflow what{"w"};
  what.step("a").agent("shop").call("sell");
  what.step("b").needs("a").agent("shop").call("sell");
  std::string id;
  {
    options_.shutdown_timeout = 20s;
    auto with = started({shop});
    deploy(with, what);
    auto to = with.client();
    ASSERT_TRUE(to.ok());
    id = submit(*to, "w", "{}");
    begun.get_future().wait();
    auto ran = std::async(std::launch::async, [&] { return with.run(); });
    // run() has its handlers in place once a signal of ours does not end the process; until then it is blocked here.
    std::thread signaller{[&] {
      struct sigaction now {};
      while (sigaction(SIGTERM, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) std::this_thread::yield();
      kill(getpid(), SIGTERM);
    }};
    signaller.join();
    // It waits for the attempt that is out.
    EXPECT_EQ(ran.wait_for(300ms), std::future_status::timeout);
    go.set_value();
    const auto ended_so = ran.get();
    EXPECT_TRUE(ended_so.ok()) << ended_so.failure().sentence;
    EXPECT_EQ(performed, 1);
  }
  // What was decided stands: the next node goes on with the second step alone.
  auto again = started({shop});
  auto to = again.client();
  ASSERT_TRUE(to.ok());
  const auto task = ended(*to, id);
  EXPECT_EQ(task.state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(task.steps(0).attempt(), 1U);
  EXPECT_EQ(performed, 2);
  struct sigaction now {};
  sigaction(SIGTERM, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

TEST_F(library_node, a_handler_that_outlasts_the_drain_is_told_and_left_in_doubt) {
  std::promise<void> begun;
  std::promise<bool> saw_stop;
  agent shop{"shop"};
  shop.call("sell").perform([&](const json&, context& with) -> outcome<json> {
    begun.set_value();
    while (!with.stopped()) std::this_thread::sleep_for(1ms);
    saw_stop.set_value(true);
    return json{};
  });
  options_.shutdown_timeout = 800ms;
  auto with = started({shop});
  deploy(with, one_step());
  auto to = with.client();
  ASSERT_TRUE(to.ok());
  submit(*to, "w", "{}");
  begun.get_future().wait();
  with.request_stop();
  const auto ended_so = with.run();
  ASSERT_FALSE(ended_so.ok());
  EXPECT_EQ(ended_so.failure().code, v1::ERROR_CODE_TIMED_OUT);
  EXPECT_TRUE(saw_stop.get_future().get());
}

TEST_F(library_node, progress_of_a_handler_is_seen_and_its_checkpoint_given_to_the_next_attempt) {
  std::promise<void> told;
  std::promise<void> go;
  const auto may_go = go.get_future().share();
  agent shop{"shop"};
  shop.call("sell").perform([&, may_go](const json&, context& with) -> outcome<json> {
    if (with.attempt() == 2) return json{std::string{with.checkpoint()}};
    EXPECT_EQ(with.checkpoint(), "");
    EXPECT_FALSE(with.heartbeat(10, "", "{"));
    EXPECT_TRUE(with.heartbeat(40, "two of five", R"({"done":2})"));
    told.set_value();
    EXPECT_EQ(may_go.wait_for(10s), std::future_status::ready);
    return transient_fault("later", "the rest comes later");
  });
  const auto with = started({shop});
  deploy(with, one_step([](workflow_step& step) { step.heartbeat(5s); }));
  auto to = with.client();
  ASSERT_TRUE(to.ok());
  const auto id = submit(*to, "w", "{}");
  told.get_future().wait();
  std::string note;
  for (const auto until = std::chrono::steady_clock::now() + 10s; note.empty() && std::chrono::steady_clock::now() < until;) {
    v1::TaskShowRequest request;
    request.set_id(id);
    const auto shown = to->show(request);
    ASSERT_TRUE(shown.ok());
    note = shown->task().steps(0).progress().note();
  }
  EXPECT_EQ(note, "two of five");
  go.set_value();
  const auto task = ended(*to, id);
  EXPECT_EQ(task.state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(task.steps(0).output().json(), R"({"done":2})");
}

}  // namespace
}  // namespace fairlead
