#include "actors/agents/native.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "tests/actors/agents/http/http_test_support.hpp"

namespace fairlead::test {
namespace {

using namespace agents;
using namespace std::chrono_literals;

std::unique_ptr<backend> make(native_handler handler, native_mode mode, std::uint32_t capacity = 4) {
  native_agent_config config;
  config.calls["do"] = std::move(handler);
  config.mode = mode;
  config.capacity = capacity;
  auto made = make_native_backend(std::move(config));
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

v1::Perform a_lookup(std::uint64_t task, const std::string& input = "{}") {
  auto out = a_perform(task, "do", input);
  out.set_direction(v1::DIRECTION_LOOKUP);
  out.set_perform_key(std::exchange(*out.mutable_idempotency_key(), "order/charge/lookup/1"));
  return out;
}

std::unique_ptr<backend> make_with_lookup(native_lookup lookup, native_mode mode, std::atomic<int>* performs = nullptr) {
  native_agent_config config;
  config.calls["do"] = [performs](const native_context&, std::string_view) {
    if (performs != nullptr) ++*performs;
    return completed(R"("performed")");
  };
  if (lookup) config.lookups["do"] = std::move(lookup);
  config.mode = mode;
  auto made = make_native_backend(std::move(config));
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

/// `done {"id":1}`, `never_happened`, `unknown`, or as brief() for a fault.
std::string found(const attempt_result& result) {
  if (result.fault) return brief(result);
  switch (result.verdict) {
    case v1::LOOKUP_VERDICT_DONE: return "done " + result.output;
    case v1::LOOKUP_VERDICT_NEVER_HAPPENED: return "never_happened" + result.output;
    case v1::LOOKUP_VERDICT_UNKNOWN: return "unknown" + result.output;
    default: return "no verdict " + result.output;
  }
}

class native : public ::testing::TestWithParam<native_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, native, ::testing::Values(native_mode::direct, native_mode::pooled),
                         [](const auto& mode) { return mode.param == native_mode::direct ? "direct" : "pooled"; });

TEST_P(native, hands_the_attempt_to_the_handler_and_its_output_back) {
  std::string told;
  const auto agent = make(
      [&](const native_context& context, std::string_view input) {
        told = std::string{context.task_id} + " " + std::string{context.step_path} + " " + std::string{context.idempotency_key} + " " +
               std::to_string(context.attempt) + (context.stopped() ? " stopped" : "");
        return completed(std::string{input});
      },
      GetParam());
  EXPECT_EQ(brief(run_one(*agent, a_perform(7, "do", R"({"n":9007199254740993})"))), R"(ok {"n":9007199254740993})");
  EXPECT_EQ(told, "order-7 charge order-7/charge/perform/1 3");
  EXPECT_EQ(agent->calls(), std::vector<std::string>{"do"});
  EXPECT_EQ(agent->capacity(), 4U);
}

TEST_P(native, passes_faults_on) {
  const auto agent = make([](const native_context&, std::string_view) { return permanent_fault("sold_out", "none left"); }, GetParam());
  const auto result = run_one(*agent, a_perform(1, "do"));
  EXPECT_EQ(brief(result), "permanent sold_out");
  EXPECT_EQ(result.fault->message(), "none left");
}

TEST_P(native, leaves_a_step_in_doubt_whose_handler_threw) {
  const auto agent = make(
      [](const native_context&, std::string_view input) -> attempt_result {
        if (input == "1") throw 1;
        throw std::runtime_error("disk \xff on fire");
      },
      GetParam());
  const auto result = run_one(*agent, a_perform(1, "do"));
  EXPECT_EQ(brief(result), "in_doubt handler_threw");
  EXPECT_EQ(result.fault->message(), "the handler of do threw: disk . on fire");
  EXPECT_EQ(brief(run_one(*agent, a_perform(2, "do", "1"))), "in_doubt handler_threw");
}

TEST_P(native, lets_no_output_through_that_is_not_json) {
  const auto agent = make([](const native_context&, std::string_view input) { return completed(input == "1" ? "" : "{oops"); }, GetParam());
  EXPECT_EQ(brief(run_one(*agent, a_perform(1, "do", "1"))), "ok null");
  EXPECT_EQ(brief(run_one(*agent, a_perform(2, "do", "2"))), "in_doubt bad_output");
}

TEST_P(native, answers_for_calls_it_does_not_know) {
  const auto agent = make([](const native_context&, std::string_view) { return completed("1"); }, GetParam());
  EXPECT_EQ(brief(run_one(*agent, a_perform(1, "undo"))), "permanent unknown_call");
}

TEST_P(native, tells_an_undo_what_it_is_about) {
  std::string told;
  const auto agent = make(
      [&](const native_context& context, std::string_view input) {
        told = std::string{context.idempotency_key} + " takes back " + std::string{context.perform_key} +
               (context.in_doubt ? ", which may have given " : ", which gave ") + std::string{context.perform_output} + " for " +
               std::string{input} + (context.direction == v1::DIRECTION_UNDO ? "" : " in the wrong direction");
        return completed("");
      },
      GetParam());
  auto undo = a_perform(7, "do", R"({"order":7})");
  undo.set_direction(v1::DIRECTION_UNDO);
  undo.set_idempotency_key("order-7/charge/undo/1");
  undo.set_perform_key("order-7/charge/perform/1");
  undo.set_perform_output(R"({"id":9007199254740993})");
  EXPECT_EQ(brief(run_one(*agent, undo)), "ok null");
  EXPECT_EQ(told, R"(order-7/charge/undo/1 takes back order-7/charge/perform/1, which gave {"id":9007199254740993} for {"order":7})");
  undo.set_in_doubt(true);
  undo.set_perform_output("null");
  EXPECT_EQ(brief(run_one(*agent, undo)), "ok null");
  EXPECT_EQ(told, R"(order-7/charge/undo/1 takes back order-7/charge/perform/1, which may have given null for {"order":7})");
}

TEST_P(native, tells_a_perform_nothing_of_another_one) {
  std::string told = "not called";
  const auto agent = make(
      [&](const native_context& context, std::string_view) {
        told = std::string{context.perform_key} + std::string{context.perform_output} + (context.in_doubt ? "in doubt" : "");
        return completed("");
      },
      GetParam());
  run_one(*agent, a_perform(7, "do"));
  EXPECT_EQ(told, "");
}

TEST_P(native, asks_the_lookup_and_not_the_call) {
  std::atomic<int> performs{0};
  std::string told;
  const auto agent = make_with_lookup(
      [&](const native_context& context, std::string_view input) {
        told =
            std::string{context.perform_key} + " asked for under " + std::string{context.idempotency_key} + " with " + std::string{input};
        if (input == "1") return looked_up_done(R"({"id":9007199254740993})");
        if (input == "2") return never_happened();
        if (input == "3") return not_known();
        return transient_fault("service_away", "the ledger does not answer");
      },
      GetParam(), &performs);
  EXPECT_EQ(found(run_one(*agent, a_lookup(1, "1"))), R"(done {"id":9007199254740993})");
  EXPECT_EQ(told, "order-1/charge/perform/1 asked for under order/charge/lookup/1 with 1");
  EXPECT_EQ(found(run_one(*agent, a_lookup(2, "2"))), "never_happened");
  EXPECT_EQ(found(run_one(*agent, a_lookup(3, "3"))), "unknown");
  EXPECT_EQ(found(run_one(*agent, a_lookup(4, "4"))), "transient service_away");
  EXPECT_EQ(performs, 0);
  EXPECT_EQ(brief(run_one(*agent, a_perform(5, "do"))), R"(ok "performed")");
  EXPECT_EQ(agent->lookups(), std::vector<std::string>{"do"});
}

TEST_P(native, performs_nothing_to_look_up_a_call_that_has_no_lookup) {
  std::atomic<int> performs{0};
  const auto agent = make_with_lookup(nullptr, GetParam(), &performs);
  EXPECT_EQ(found(run_one(*agent, a_lookup(1))), "unknown");
  EXPECT_EQ(performs, 0);
  EXPECT_TRUE(agent->lookups().empty());
}

TEST_P(native, leaves_nothing_more_in_doubt_when_a_lookup_breaks_off) {
  const auto agent = make_with_lookup(
      [](const native_context&, std::string_view input) -> attempt_result {
        if (input == "1") throw 1;
        throw std::runtime_error("no ledger");
      },
      GetParam());
  const auto result = run_one(*agent, a_lookup(1));
  EXPECT_EQ(found(result), "transient handler_threw");
  EXPECT_EQ(result.fault->message(), "the lookup of do threw: no ledger");
  EXPECT_EQ(found(run_one(*agent, a_lookup(2, "1"))), "transient handler_threw");
}

TEST_P(native, believes_no_lookup_that_says_nothing_or_says_it_badly) {
  const auto agent = make_with_lookup(
      [](const native_context&, std::string_view input) {
        if (input == "1") return completed(R"({"id":1})");
        if (input == "2") return looked_up_done("{oops");
        if (input == "3") return looked_up_done("");
        auto out = never_happened();
        out.output = "1";
        return out;
      },
      GetParam());
  EXPECT_EQ(found(run_one(*agent, a_lookup(1, "1"))), "permanent bad_verdict");
  EXPECT_EQ(found(run_one(*agent, a_lookup(2, "2"))), "permanent bad_output");
  EXPECT_EQ(found(run_one(*agent, a_lookup(3, "3"))), "done null");
  EXPECT_EQ(found(run_one(*agent, a_lookup(4, "4"))), "never_happened") << "what did not happen gave nothing";
}

TEST_P(native, is_silent_after_shutdown) {
  const auto agent = make([](const native_context&, std::string_view) { return completed("1"); }, GetParam());
  agent->shut_down();
  inbox box;
  agent->start(a_perform(1, "do"), box.taker());
  agent->shut_down();
  EXPECT_EQ(box.total(), 0U);
}

TEST_P(native, tells_the_handler_when_the_lease_is_over) {
  std::atomic<bool> stopped{false};
  const auto agent = make(
      [&](const native_context& context, std::string_view) {
        while (!context.stopped()) std::this_thread::yield();
        stopped = true;
        return completed("1");
      },
      GetParam());
  EXPECT_EQ(brief(run_one(*agent, a_perform(1, "do", "{}", 100))), "ok 1") << "what was finished is said, even late";
  EXPECT_TRUE(stopped);
}

TEST(native_direct, completes_on_the_callers_thread_within_start) {
  const auto agent = make([](const native_context&, std::string_view) { return completed("1"); }, native_mode::direct);
  std::thread::id where;
  agent->start(a_perform(1, "do"), [&](const attempt_key&, const attempt_result&) { where = std::this_thread::get_id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(native_pooled, runs_as_many_at_once_as_its_capacity_and_no_more) {
  // The first three meet: each waits until all of them run, so that a pool with fewer threads would hang here.
  std::mutex guard;
  std::condition_variable changed;
  int busy = 0, most = 0;
  bool met = false;
  const auto agent = make(
      [&](const native_context&, std::string_view) {
        std::unique_lock lock{guard};
        most = std::max(most, ++busy);
        met = met || busy == 3;
        changed.notify_all();
        changed.wait_for(lock, 10s, [&] { return met; });
        --busy;
        return completed(met ? "1" : "0");
      },
      native_mode::pooled, 3);
  inbox box;
  for (std::uint64_t n = 1; n <= 300; ++n) agent->start(a_perform(n, "do"), box.taker());
  ASSERT_TRUE(box.wait_for(300));
  EXPECT_EQ(most, 3);
}

TEST(native_pooled, suppresses_what_was_stopped_and_goes_on) {
  std::promise<void> begun, seen;
  const auto agent = make(
      [&](const native_context& context, std::string_view input) {
        if (input == "1") return completed("1");
        begun.set_value();
        while (!context.stopped()) std::this_thread::yield();
        seen.set_value();
        return completed("2");
      },
      native_mode::pooled, 1);
  inbox box;
  const auto slow = a_perform(1, "do", "2");
  agent->start(slow, box.taker());
  begun.get_future().wait();
  const auto queued = a_perform(2, "do", "1");
  agent->start(queued, box.taker());
  agent->stop(key_of(queued));
  agent->stop(key_of(slow));
  agent->stop({99, 0, v1::DIRECTION_PERFORM, 1});
  ASSERT_EQ(seen.get_future().wait_for(10s), std::future_status::ready);
  agent->start(a_perform(3, "do", "1"), box.taker());
  ASSERT_TRUE(box.wait_for(1));
  EXPECT_EQ(brief(box.of(3)), "ok 1");
  EXPECT_EQ(box.total(), 1U);
}

TEST(native_pooled, begins_nothing_whose_lease_ended_in_the_queue) {
  std::promise<void> begun;
  std::promise<void> go;
  auto going = go.get_future().share();
  std::atomic<int> runs{0};
  const auto agent = make(
      [&](const native_context&, std::string_view) {
        if (++runs == 1) {
          begun.set_value();
          going.wait();
        }
        return completed("1");
      },
      native_mode::pooled, 1);
  inbox box;
  agent->start(a_perform(1, "do"), box.taker());
  begun.get_future().wait();
  agent->start(a_perform(2, "do", "{}", -1), box.taker());
  go.set_value();
  ASSERT_TRUE(box.wait_for(2));
  EXPECT_EQ(brief(box.of(2)), "transient not_started");
  EXPECT_EQ(runs, 1);
}

TEST(native_pooled, ends_though_a_handler_will_not) {
  struct shared_state {
    std::promise<void> begun;
    std::promise<void> go, gone;
  };
  const auto shared = std::make_shared<shared_state>();
  const auto agent = make(
      [shared, going = shared->go.get_future().share()](const native_context&, std::string_view) {
        shared->begun.set_value();
        going.wait();
        shared->gone.set_value();
        return completed("1");
      },
      native_mode::pooled);
  inbox box;
  agent->start(a_perform(1, "do"), box.taker());
  shared->begun.get_future().wait();
  const auto began = std::chrono::steady_clock::now();
  agent->shut_down();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 15s);
  shared->go.set_value();
  shared->gone.get_future().wait();
  EXPECT_EQ(box.total(), 0U);
}

// ---- heartbeats ----

struct told_progress {
  attempt_key key;
  attempt_progress what;
};

TEST_P(native, passes_on_what_a_handler_tells) {
  std::string answers;
  const auto agent = make(
      [&](const native_context& context, std::string_view) {
        const auto say = [&](bool told) { answers += told ? "told " : "refused "; };
        say(context.heartbeat());
        say(context.heartbeat(40, "loading pallets", R"({"row":7})"));
        say(context.heartbeat(41, "", "{oops"));
        say(context.heartbeat(42, "", "\"" + std::string(65'536, 'x') + "\""));
        return completed("1");
      },
      GetParam());
  std::mutex guard;
  std::vector<told_progress> told;
  agent->report_progress_to([&](const attempt_key& key, attempt_progress what) {
    const std::lock_guard lock{guard};
    told.push_back({key, std::move(what)});
  });
  EXPECT_EQ(brief(run_one(*agent, a_perform(7, "do"))), "ok 1");
  EXPECT_EQ(answers, "told told refused refused ");
  const std::lock_guard lock{guard};
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].key.task_number, 7U);
  EXPECT_FALSE(told[0].what.percent || !told[0].what.note.empty() || !told[0].what.checkpoint.empty());
  EXPECT_EQ(told[1].what.percent, 40U);
  EXPECT_EQ(told[1].what.note, "loading pallets");
  EXPECT_EQ(told[1].what.checkpoint, R"({"row":7})");
}

TEST_P(native, tells_a_handler_where_an_earlier_attempt_was_where_its_callback_goes_and_how_long_this_try_may_take) {
  std::string seen;
  moment until;
  const auto agent = make(
      [&](const native_context& context, std::string_view) {
        seen = std::string{context.checkpoint} + " try " + std::to_string(context.try_number) + " " + std::string{context.callback_url};
        until = context.complete_by;
        return completed("1");
      },
      GetParam());
  auto what = a_perform(1, "do");
  what.set_checkpoint(R"({"row":7})");
  what.set_try_number(3);
  what.set_callback_url("http://h/v1/callbacks/a");
  what.set_try_until_unix_ms(what.complete_by_unix_ms() - 1);
  run_one(*agent, what);
  EXPECT_EQ(seen, R"({"row":7} try 3 http://h/v1/callbacks/a)");
  EXPECT_EQ(to_unix_ms(until), what.try_until_unix_ms());
}

TEST(native_pooled, hears_nothing_from_a_handler_that_was_stopped) {
  std::promise<void> begun, go, done;
  std::atomic<bool> said{true};
  const auto agent = make(
      [&](const native_context& context, std::string_view) {
        begun.set_value();
        go.get_future().wait();
        said = context.heartbeat(99);
        done.set_value();
        return completed("1");
      },
      native_mode::pooled);
  std::atomic<int> told{0};
  agent->report_progress_to([&](const attempt_key&, attempt_progress) { ++told; });
  inbox box;
  const auto what = a_perform(1, "do");
  agent->start(what, box.taker());
  begun.get_future().wait();
  agent->stop(key_of(what));
  go.set_value();
  done.get_future().wait();
  EXPECT_FALSE(said);
  EXPECT_EQ(told, 0);
  EXPECT_TRUE(agent->beats_itself()) << "a handler can hang";
}

TEST(native_config, refuses_what_cannot_work) {
  EXPECT_FALSE(make_native_backend({}).ok());
  native_agent_config config;
  config.calls["do"] = nullptr;
  EXPECT_FALSE(make_native_backend(config).ok());
  config.calls["do"] = [](const native_context&, std::string_view) { return completed("1"); };
  config.capacity = 0;
  EXPECT_FALSE(make_native_backend(config).ok());
  config.mode = native_mode::pooled;
  config.capacity = 5000;
  EXPECT_FALSE(make_native_backend(config).ok());
  config.capacity = 4;
  EXPECT_TRUE(make_native_backend(config).ok());
  config.lookups["do"] = nullptr;
  EXPECT_FALSE(make_native_backend(config).ok());
  config.lookups["do"] = [](const native_context&, std::string_view) { return not_known(); };
  EXPECT_TRUE(make_native_backend(config).ok());
  config.lookups["did"] = config.lookups["do"];
  const auto refused = make_native_backend(config);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().sentence.find("'did'"), std::string::npos) << refused.failure().sentence;
}

}  // namespace
}  // namespace fairlead::test
