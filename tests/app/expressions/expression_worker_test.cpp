// The pool and a real worker process: the binary named by FAIRLEAD_EXPRESSION_WORKER, started as `… expression-worker`.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "actors/expressions/pool.hpp"
#include "app/expressions/program_cache.hpp"

namespace fairlead {
namespace {

using namespace std::chrono_literals;

expression_pool_options options(std::chrono::milliseconds limit = 20s) {
  expression_pool_options out;
  if (const auto* path = std::getenv("FAIRLEAD_EXPRESSION_WORKER")) out.executable = path;
  out.time_limit = limit;
  return out;
}

v1::EvaluateRequest request(std::vector<std::string> expressions, std::string document, std::uint64_t ticket = 1) {
  v1::EvaluateRequest out;
  out.set_ticket(ticket);
  for (auto& expression : expressions) out.add_expressions(std::move(expression));
  out.set_document(std::move(document));
  return out;
}

std::future<v1::EvaluateReply> ask(expression_pool& pool, v1::EvaluateRequest what) {
  auto promise = std::make_shared<std::promise<v1::EvaluateReply>>();
  pool.evaluate(std::move(what), [promise](v1::EvaluateReply reply) { promise->set_value(std::move(reply)); });
  return promise->get_future();
}

std::string said(const v1::EvaluateReply& reply) {
  if (reply.has_error()) return "error: " + reply.error().sentence();
  std::string out;
  for (const auto& text : reply.results()) out += (out.empty() ? "" : " ; ") + text;
  return out;
}

std::string evaluate(expression_pool& pool, const std::string& expression, const std::string& document) {
  return said(ask(pool, request({expression}, document)).get());
}

std::size_t entries(const std::string& folder) {
  std::size_t out = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++out;
  return out;
}

/// Waits until `what` holds; false when it does not within 20 s.
template <class Condition>
bool eventually(Condition what) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (!what()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(expression_worker, gives_one_compact_result_for_each_expression) {
  expression_pool pool(options());
  const auto reply = ask(pool, request({".input.n + 1", "{a: [.input.s, null]}", "\"order-\\(.task.id)\""},
                                       R"({"input":{"n":41,"s":"é\u0001"},"task":{"id":"t-1"}})", 7))
                         .get();
  EXPECT_EQ(said(reply), "42 ; {\"a\":[\"é\\u0001\",null]} ; \"order-t-1\"");
  EXPECT_EQ(reply.ticket(), 7U);
}

TEST(expression_worker, evaluates_what_the_checked_subset_allows) {
  const std::string document = R"({"input":{"a":1,"items":[{"q":2,"p":10},{"q":3,"p":5}],"none":null},"steps":{"ship-it":{"id":9}}})";
  struct row {
    const char* expression;
    const char* result;
  } rows[] = {
      {".input.items | map(.q * .p) | add", "35"},
      {".input.missing // \"d\"", "\"d\""},
      {".input.missing?//\"d\"", "\"d\""},
      {"[.input.missing?, .input.a]", "[null,1]"},
      {".input.items[-1].q", "3"},
      {".input.items[1:] | length", "1"},
      {"[.input.items[].q]", "[2,3]"},
      {".input.none | not", "true"},
      {".steps[\"ship-it\"].id + 1", "10"},
      {"if .input.a == 1 then \"one\" else .input.missing end", "\"one\""},
      {"reduce .input.items[] as {q: $q} (0; . + $q)", "5"},
      {"def double: . * 2; .input.a | double", "2"},
      {"{a: .input.a | tostring, (.input.a | tostring): 2}", R"({"a":"1","1":2})"},
      {"@base64 \"x\\(.input.a)\"", "\"xMQ==\""},
      {"\"a,b\" | split(\",\")", R"(["a","b"])"},
      {"\"2015-03-05T23:51:47Z\" | fromdate | todate", "\"2015-03-05T23:51:47Z\""},
      {"\"test\" | test(\"^t\")", "true"},
      {"0.1 + 0.2", "0.30000000000000004"},
      {"input_ok", "error: expression ${ input_ok }: `input_ok` is not a function for expressions, at character 1"},
  };
  expression_pool pool(options());
  for (const auto& row : rows) EXPECT_EQ(evaluate(pool, row.expression, document), row.result) << row.expression;
}

TEST(expression_worker, names_the_expression_and_what_is_wrong_with_it) {
  const std::string document = R"({"input":{"a":1,"s":"x","o":{},"l":[1]}})";
  struct row {
    const char* expression;
    const char* sentence;
  } rows[] = {
      {".input.a + .input.s", "number (1) and string (\"x\") cannot be added"},
      {"error(\"no stock\")", "no stock"},
      {"error({code: 1})", "{\"code\":1}"},
      {"empty", "it gave no result, and exactly one is wanted"},
      {".input.a, 2", "it gave more than one result, and exactly one is wanted"},
      {"1, error(\"late\")", "late"},
      {".input.missing + 1", ".input.missing is missing"},
      {".input.o.x | not", ".input.o.x is missing"},
      {".input.l[1] + 1", ".input.l[1] is missing"},
      {".input.l[-2] + 1", ".input.l[-2] is missing"},
      {".steps.gone.id + 1", ".steps.gone.id is missing"},
      {"if true then .input.missing else 1 end", ".input.missing is missing"},
      {"if then 1 end", "it does not compile: syntax error, unexpected then"},
      {".input.a + $nosuch", "it does not compile: $nosuch is not defined"},
      {"input", "`input` is not allowed: there is only one document; the task's input is .input, at character 1"},
  };
  expression_pool pool(options());
  for (const auto& row : rows) {
    const auto reply = ask(pool, request({"1", row.expression}, document)).get();
    EXPECT_EQ(said(reply), "error: expression ${ " + std::string(row.expression) + " }: " + row.sentence);
    EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_EXPRESSION);
    EXPECT_EQ(reply.failed_expression(), 1U);
    EXPECT_EQ(reply.results_size(), 0);
  }
}

TEST(expression_worker, is_stopped_when_an_evaluation_does_not_end) {
  expression_pool pool(options(600ms));
  for (const auto* expression :
       {"def f: f; f", "[range(1e12)] | length", "last(range(1e12))", "\"x\" * 1e9 | length", "[limit(1; repeat(empty))]"}) {
    const auto began = std::chrono::steady_clock::now();
    const auto answer = evaluate(pool, expression, "{}");
    EXPECT_EQ(answer.rfind("error: expression ${ " + std::string(expression) + " } ", 0), 0U) << answer;
    EXPECT_NE(answer.find(": evaluation stopped"), std::string::npos) << answer;
    EXPECT_LT(std::chrono::steady_clock::now() - began, 15s);
    EXPECT_EQ(evaluate(pool, ".input.a + 1", R"({"input":{"a":1}})"), "2");
  }
}

TEST(expression_worker, that_waits_for_a_processor_is_waited_for) {
  expression_pool pool(options(50ms));
  EXPECT_EQ(evaluate(pool, "1 + 1", "{}"), "2");
  ASSERT_EQ(kill(pool.worker_pid(), SIGSTOP), 0);
  auto waits = ask(pool, request({"1 + 2"}, "{}"));
  EXPECT_EQ(waits.wait_for(500ms), std::future_status::timeout);
  ASSERT_EQ(kill(pool.worker_pid(), SIGCONT), 0);
  EXPECT_EQ(said(waits.get()), "3");
}

TEST(expression_worker, that_never_gets_one_is_replaced_and_its_request_can_be_repeated) {
  expression_pool pool(options(50ms));
  EXPECT_EQ(evaluate(pool, "1 + 1", "{}"), "2");
  const auto stuck = pool.worker_pid();
  ASSERT_EQ(kill(stuck, SIGSTOP), 0);
  EXPECT_EQ(ask(pool, request({"1 + 2"}, "{}")).get().error().code(), v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_EQ(evaluate(pool, "1 + 3", "{}"), "4");
  EXPECT_NE(pool.worker_pid(), stuck);
}

TEST(expression_worker, that_does_not_read_a_request_larger_than_its_socket_is_replaced) {
  expression_pool pool(options(50ms));
  EXPECT_EQ(evaluate(pool, "1 + 1", "{}"), "2");
  const auto stuck = pool.worker_pid();
  ASSERT_EQ(kill(stuck, SIGSTOP), 0);
  auto large = ask(pool, request({"1 + 2"}, "\"" + std::string(4 << 20, 'x') + "\""));
  const auto answered = large.wait_for(20s) == std::future_status::ready;
  if (!answered) kill(stuck, SIGCONT);
  ASSERT_TRUE(answered);
  EXPECT_EQ(large.get().error().code(), v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_EQ(evaluate(pool, "1 + 3", "{}"), "4");
  EXPECT_NE(pool.worker_pid(), stuck);
}

TEST(expression_worker, is_not_asked_what_is_larger_than_it_takes) {
  expression_pool pool(options());
  const auto reply = ask(pool, request({"1 + 2"}, "\"" + std::string(max_expression_request_bytes, 'x') + "\"")).get();
  EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_EXPRESSION);
  EXPECT_EQ(said(reply), "error: the expressions read more than 64 MiB");
  EXPECT_EQ(evaluate(pool, "1 + 3", "{}"), "4");
}

TEST(expression_worker, gives_no_result_that_is_nested_too_deep_to_be_written_as_json) {
  expression_pool pool(options());
  EXPECT_EQ(evaluate(pool, "reduce range(300) as $i (1; [.])", "{}"),
            "error: expression ${ reduce range(300) as $i (1; [.]) }: its result is nested more than 256 levels deep");
  EXPECT_EQ(evaluate(pool, R"("<stripped: exceeds max depth>")", "{}"), R"("<stripped: exceeds max depth>")");
}

TEST(expression_worker, that_needs_too_much_memory_or_crashes_costs_only_its_own_request) {
  expression_pool pool(options(20s));
  struct row {
    const char* expression;
    const char* part;
  } rows[] = {
      {"[range(1e12)] | length", " needed more than 512 MiB of memory: evaluation stopped"},
      {"{} | .a[1e9] = 1", " needed more than 512 MiB of memory: evaluation stopped"},
      // So deep that taking it apart overflows jq's stack.
      {"reduce range(1e6) as $i (null; [.]) | length", " ended the process that evaluated it ("},
  };
  for (const auto& row : rows) {
    auto before = ask(pool, request({".input.a + 1"}, R"({"input":{"a":1}})", 1));
    auto bomb = ask(pool, request({row.expression}, "{}", 2));
    auto after = ask(pool, request({".input.a + 2"}, R"({"input":{"a":1}})", 3));
    EXPECT_EQ(said(before.get()), "2");
    const auto answer = said(bomb.get());
    EXPECT_EQ(answer.rfind("error: expression ${ " + std::string(row.expression) + " } ", 0), 0U) << answer;
    EXPECT_NE(answer.find(row.part), std::string::npos) << answer;
    EXPECT_EQ(said(after.get()), "3");
  }
}

TEST(expression_worker, answers_many_outstanding_requests_in_their_order) {
  expression_pool pool(options());
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::uint64_t> order;
  const std::string padding(20000, 'x');  // more than a socket holds in all
  constexpr std::uint64_t count = 500;
  for (std::uint64_t ticket = 1; ticket <= count; ++ticket) {
    const auto slow = ticket == 100 ? std::string("def f: f; f") : ".input.n * 2";
    pool.evaluate(request({slow}, R"({"input":{"n":)" + std::to_string(ticket) + R"(,"x":")" + padding + "\"}}", ticket),
                  [&](v1::EvaluateReply reply) {
                    const std::lock_guard lock(mutex);
                    if (reply.ticket() == 100)
                      EXPECT_TRUE(reply.has_error());
                    else
                      EXPECT_EQ(said(reply), std::to_string(reply.ticket() * 2));
                    order.push_back(reply.ticket());
                    changed.notify_one();
                  });
  }
  std::unique_lock lock(mutex);
  ASSERT_TRUE(changed.wait_for(lock, 60s, [&] { return order.size() == count; }));
  for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(order[i], i + 1);
}

TEST(expression_worker, killed_from_outside_is_replaced_and_nothing_is_lost) {
  expression_pool pool(options(20s));
  EXPECT_EQ(pool.worker_pid(), 0);
  EXPECT_EQ(evaluate(pool, "1 + 1", "{}"), "2");
  const auto first = pool.worker_pid();
  ASSERT_GT(first, 0);
  kill(first, SIGKILL);
  ASSERT_TRUE(eventually([&] { return pool.worker_pid() != first; }));
  EXPECT_EQ(evaluate(pool, "1 + 2", "{}"), "3");
  // In the middle of an evaluation.
  auto busy = ask(pool, request({"last(range(3e6))"}, "{}"));
  auto behind = ask(pool, request({"1 + 3"}, "{}"));
  kill(pool.worker_pid(), SIGKILL);
  EXPECT_EQ(said(busy.get()), "2999999");
  EXPECT_EQ(said(behind.get()), "4");
}

TEST(expression_worker, killed_again_and_again_under_one_request_gives_it_up) {
  expression_pool pool(options(20s));
  auto doomed = ask(pool, request({"last(range(1e12))"}, "{}"));
  int killed = 0;
  const auto done = [&] { return doomed.wait_for(0s) == std::future_status::ready; };
  ASSERT_TRUE(eventually([&] {
    const auto pid = pool.worker_pid();
    // Only a worker that is at work: a killed start is a start that failed.
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string word;
    long ticks = 0;
    for (int i = 1; i <= 14 && stat >> word; ++i) ticks = i == 14 ? std::atol(word.c_str()) : 0;
    if (pid != 0 && ticks > 20 && kill(pid, SIGKILL) == 0) {
      ++killed;
      return eventually([&] { return pool.worker_pid() != pid; }) && done();
    }
    return done();
  }));
  EXPECT_EQ(killed, 3);
  EXPECT_EQ(said(doomed.get()), "error: expression ${ last(range(1e12)) } ended the process that evaluated it (signal 9, Killed)");
}

TEST(expression_worker, that_cannot_start_makes_requests_unavailable) {
  auto wrong = options();
  wrong.executable = "/no/such/fairlead";
  expression_pool pool(wrong);
  const auto missing = ask(pool, request({"1"}, "{}")).get();
  EXPECT_EQ(missing.error().code(), v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_NE(missing.error().sentence().find("/no/such/fairlead cannot be started"), std::string::npos);

  wrong.executable = "/bin/false";
  expression_pool ends(wrong);
  const auto early = ask(ends, request({"1"}, "{}")).get();
  EXPECT_EQ(early.error().code(), v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_EQ(early.error().sentence(), "the expression worker ended early: exit code 1");
}

TEST(expression_pool, checks_whether_expressions_compile) {
  expression_pool pool(options());
  EXPECT_TRUE(pool.check({}).ok());
  EXPECT_TRUE(pool.check({".input.a + 1", ".steps.x | length", "error(\"not evaluated\")"}).ok());
  const auto out = pool.check({".input.a + 1", ".input.a +", ".input |"});
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.failure().code, v1::ERROR_CODE_EXPRESSION);
  EXPECT_EQ(out.failure().sentence.rfind("expression ${ .input.a + }: it does not compile: syntax error", 0), 0U) << out.failure().sentence;
}

TEST(expression_pool, says_of_each_of_many_expressions_whether_it_compiles) {
  expression_pool pool(options());
  std::vector<std::string> expressions;
  for (int i = 0; i < 200; ++i) expressions.push_back(".input.n + " + std::to_string(i));
  const std::set<std::size_t> wrong{0, 70, 71, 199};
  for (const auto i : wrong) expressions[i] = ".input.n + nothing_known" + std::to_string(i);
  expressions[100] = "def f(g): g | 1; f(.input)";
  expressions[101] = "if .input.a then 1 else 2 end";
  expressions[102] = "1) , (2";
  const auto out = pool.check_each(expressions);
  ASSERT_EQ(out.size(), expressions.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i].ok(), wrong.count(i) == 0 && i != 102) << expressions[i];
    if (out[i].ok()) continue;
    EXPECT_NE(out[i].failure().sentence.find(expressions[i]), std::string::npos) << out[i].failure().sentence;
  }
  EXPECT_NE(pool.check(expressions).failure().sentence.find("nothing_known0"), std::string::npos);
  EXPECT_TRUE(pool.check_each({}).empty());
}

TEST(expression_pool, says_of_expressions_together_what_it_says_of_each_alone) {
  const std::vector<std::string> all{".input.a + 1",
                                     ".input.a | map(. + 1) | length",
                                     "map",
                                     "length(1)",
                                     "sub(\"a\"; \"b\")",
                                     "sub(\"a\"; \"b\"; \"g\"; 1)",
                                     "{a: 1, add: 2, (\"b\"): map(.)}",
                                     "{a, length}",
                                     "{a: length(1)}",
                                     "\"x\\(.input.a | map)y\"",
                                     "\"x\\(.input.a | map(.))y\"",
                                     "if .input.a then 1 else length end",
                                     "if then 1 end",
                                     ".input.a as $x | $x",
                                     ".input.a + $x",
                                     "def f: 1; f",
                                     "def f: 1; f(2)",
                                     "f",
                                     ".input.a | f",
                                     ".input.default // .def",
                                     "1 / 0",
                                     "try error(\"x\") catch .",
                                     "try error(\"x\"; 1) catch .",
                                     "first(range(1; 10; 2))",
                                     "[.input.list[] | select(.a > 1)] | sort_by(.b)",
                                     "@base64 \"x\\(length)\"",
                                     "reduce .input.a[] as $x (0; . + $x)",
                                     "label $out | 1, break $out",
                                     "break $out",
                                     "reduce(1)",
                                     "1 +",
                                     "{(1): 2}",
                                     ".input.a |= 1",
                                     ".. | numbers"};
  expression_pool pool(options());
  const auto together = pool.check_each(all);
  ASSERT_EQ(together.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto reply = ask(pool, request({all[i]}, "")).get();
    EXPECT_EQ(together[i].ok(), !reply.has_error()) << all[i] << ": " << said(reply);
    if (!together[i].ok()) {
      EXPECT_EQ(together[i].failure().sentence, reply.error().sentence());
    }
    // A pair is asked for together whatever the group around it was.
    EXPECT_EQ(ask(pool, request({"1 + 1", all[i]}, "")).get().has_error(), reply.has_error()) << all[i];
  }
}

TEST(expression_pool, tells_expressions_with_one_shape_in_the_words_of_each) {
  expression_pool pool(options());
  const auto out = pool.check_each({".input.a | nothing_known", ".input.b | nothing_known", ".input.c | length", ".input.d / 1",
                                    ".input.e / 0", "2 / 1", "2 / 0", "\"x\" | length", "\"\\q\" | length"});
  const std::vector<bool> fine{false, false, true, true, true, true, false, true, false};
  ASSERT_EQ(out.size(), fine.size());
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i].ok(), fine[i]) << i;
  EXPECT_NE(out[0].failure().sentence.find("${ .input.a |"), std::string::npos) << out[0].failure().sentence;
  EXPECT_NE(out[1].failure().sentence.find("${ .input.b |"), std::string::npos) << out[1].failure().sentence;
}

TEST(expression_pool, says_of_each_expression_that_there_is_no_worker) {
  auto wrong = options();
  wrong.executable = "/bin/false";
  expression_pool pool(wrong);
  const auto out = pool.check_each({"1 + 1", "2 + 2"});
  ASSERT_EQ(out.size(), 2U);
  for (const auto& one : out) {
    ASSERT_FALSE(one.ok());
    EXPECT_EQ(one.failure().code, v1::ERROR_CODE_UNAVAILABLE);
  }
}

TEST(expression_pool, compiles_many_new_expressions_in_one_request_whatever_the_time_limit) {
  expression_pool pool(options(500ms));
  std::vector<std::string> expressions;
  for (int i = 0; i < 60; ++i) expressions.push_back(std::to_string(i) + " + 1");
  const auto reply = ask(pool, request(expressions, "{}")).get();
  EXPECT_EQ(reply.results_size(), 60) << said(reply);
}

TEST(program_cache, forgets_the_program_not_used_for_longest_and_compiles_it_again) {
  int compiled = 0;
  app::program_cache cache(2, [&] { ++compiled; });
  auto document = app::jq_document::parse("null");
  ASSERT_TRUE(document.ok());
  const auto run = [&](const std::string& expression) { return *cache.get(expression).value()->run(*document); };
  EXPECT_EQ(run("1 + 1"), "2");
  EXPECT_EQ(run("1 + 2"), "3");
  EXPECT_EQ(run("1 + 1"), "2");
  EXPECT_EQ(compiled, 2);
  EXPECT_EQ(run("1 + 3"), "4");
  EXPECT_EQ(run("1 + 1"), "2");
  EXPECT_EQ(compiled, 3);
  EXPECT_EQ(run("1 + 2"), "3");
  EXPECT_EQ(compiled, 4);
  EXPECT_FALSE(cache.get("1 +").ok());
}

TEST(expression_pool, leaves_no_process_thread_or_descriptor_behind) {
  expression_pool warm(options());
  evaluate(warm, "1", "{}");
  const auto descriptors = entries("/proc/self/fd");
  const auto threads = entries("/proc/self/task");
  for (int round = 0; round < 3; ++round) {
    expression_pool pool(options());
    EXPECT_EQ(evaluate(pool, "1 + 1", "{}"), "2");
    const auto pid = pool.worker_pid();
    auto endless = ask(pool, request({"def f: f; f"}, "{}"));
    const auto began = std::chrono::steady_clock::now();
    pool.shut_down();
    EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
    EXPECT_EQ(endless.get().error().code(), v1::ERROR_CODE_UNAVAILABLE);
    EXPECT_EQ(ask(pool, request({"1"}, "{}")).get().error().code(), v1::ERROR_CODE_UNAVAILABLE);
    EXPECT_EQ(kill(pid, 0), -1) << "the worker is still there, or was not waited for";
  }
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_EQ(entries("/proc/self/task"), threads);
}

TEST(expression_worker, sees_no_environment_and_only_its_own_descriptors) {
  ASSERT_EQ(setenv("FAIRLEAD_SECRET_OF_THE_TEST", "1", 1), 0);
  const int inherited = dup(0);  // without close-on-exec
  expression_pool pool(options());
  EXPECT_EQ(evaluate(pool, "1", "{}"), "1");
  const auto process = "/proc/" + std::to_string(pool.worker_pid());
  EXPECT_EQ(entries(process + "/fd"), 3U);
  std::ifstream environment(process + "/environ", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(environment)), {});
  EXPECT_EQ(text.find("FAIRLEAD_SECRET"), std::string::npos);
  std::ifstream limits(process + "/limits");
  const std::string all((std::istreambuf_iterator<char>(limits)), {});
  EXPECT_NE(all.find("Max core file size        0 "), std::string::npos) << all;
  close(inherited);
}

}  // namespace
}  // namespace fairlead
