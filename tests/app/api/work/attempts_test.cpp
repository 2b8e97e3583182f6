#include "app/api/work/attempts.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fairlead::app::api {
namespace {

using session = agents::worker_session;

/// What `body` says; else `pointer` and `sentence` of the refusal.
template <class Asked>
struct read_of {
  explicit read_of(const std::string& body) {
    const auto read = read_json_object(body, "The body", fields_of(asked), pointer);
    if (!read) sentence = read.failure().sentence;
  }
  Asked asked;
  std::string pointer, sentence;
};

/// The pointer of the refusal of one item; an item that is taken fails the test.
template <class Asked>
std::string pointer_of_item(const std::string& item) {
  const read_of<Asked> read{R"({"items": [)" + item + "]}"};
  EXPECT_NE(read.sentence, "") << item;
  return read.pointer;
}

TEST(worker_take, has_bounds) {
  const read_of<session::take_request> read{R"({"max": 1000, "wait_ms": 60000, "after": 18446744073709551615})"};
  ASSERT_EQ(read.sentence, "");
  EXPECT_EQ(read.asked.most, 1'000U);
  EXPECT_EQ(read.asked.wait, duration{60'000});
  EXPECT_EQ(read.asked.after, UINT64_MAX);
  const read_of<session::take_request> least{R"({"after": 0})"};
  EXPECT_EQ(least.sentence, "");
  EXPECT_EQ(least.asked.most, 1U);
  EXPECT_EQ(least.asked.wait, duration{0});
  for (const auto& [body, pointer] :
       std::initializer_list<std::pair<const char*, const char*>>{{"{}", "/after"},
                                                                  {R"({"after": null})", "/after"},
                                                                  {R"({"after": -1})", "/after"},
                                                                  {R"({"after": "0"})", "/after"},
                                                                  {R"({"after": 0, "max": 0})", "/max"},
                                                                  {R"({"after": 0, "max": 1001})", "/max"},
                                                                  {R"({"after": 0, "wait_ms": 60001})", "/wait_ms"},
                                                                  {R"({"after": 0, "wait_ms": -1})", "/wait_ms"},
                                                                  {R"({"after": 0, "wait": 1})", "/wait"}}) {
    const read_of<session::take_request> refused{body};
    EXPECT_NE(refused.sentence, "") << body;
    EXPECT_EQ(refused.pointer, pointer) << body;
  }
}

TEST(worker_heartbeats, may_have_progress) {
  const read_of<asked_beats> read{
      R"({"items": [{"ticket": "a"}, {"ticket": "b", "sequence": 3, "percent": 40, "note": "half", "checkpoint": {"page": 7}},
                    {"ticket": "c", "sequence": null, "percent": null, "note": null, "checkpoint": null}]})"};
  ASSERT_EQ(read.sentence, "") << read.pointer;
  ASSERT_EQ(read.asked.items.size(), 3U);
  EXPECT_EQ(read.asked.items[0].sequence, 0U);
  EXPECT_FALSE(read.asked.items[0].progress.percent.has_value());
  EXPECT_EQ(read.asked.items[1].sequence, 3U);
  EXPECT_EQ(read.asked.items[1].progress.percent, 40U);
  EXPECT_EQ(read.asked.items[1].progress.note, "half");
  EXPECT_EQ(read.asked.items[1].progress.checkpoint, R"({"page": 7})");
  EXPECT_FALSE(read.asked.items[2].progress.percent.has_value());
  EXPECT_EQ(read.asked.items[2].progress.checkpoint, "");
  EXPECT_EQ(pointer_of_item<asked_beats>("{}"), "/items/0/ticket");
  EXPECT_EQ(pointer_of_item<asked_beats>(R"({"ticket": ""})"), "/items/0/ticket");
  EXPECT_EQ(pointer_of_item<asked_beats>(R"({"ticket": "a", "percent": 101})"), "/items/0/percent");
  EXPECT_EQ(pointer_of_item<asked_beats>(R"({"ticket": "a", "sequence": -1})"), "/items/0/sequence");
  EXPECT_EQ(pointer_of_item<asked_beats>(R"({"ticket": "a", "what": 1})"), "/items/0/what");
  EXPECT_EQ(pointer_of_item<asked_beats>(R"({"ticket": "a", "note": ")" + std::string(257, 'n') + R"("})"), "/items/0/note");
  EXPECT_EQ(read_of<asked_beats>{R"({"items": []})"}.pointer, "/items");
  const read_of<asked_beats> large{R"({"items": [{"ticket": "a", "checkpoint": ")" + std::string(65'536, 'c') + R"("}]})"};
  EXPECT_EQ(large.pointer, "/items/0/checkpoint");
  EXPECT_TRUE(large.asked.too_large);
}

TEST(worker_outcomes, are_an_output_a_fault_or_a_verdict) {
  const read_of<asked_reports> read{
      R"({"items": [{"ticket": "a", "output": null}, {"ticket": "b", "output": {"n": 12345678901234567890}},
                    {"ticket": "c", "fault": {"kind": "transient", "code": "busy", "message": "later", "key_spent": true, "retry_after_ms": 500}},
                    {"ticket": "d", "fault": {"kind": "in_doubt", "code": "cut"}}, {"ticket": "e", "verdict": "done", "output": 7},
                    {"ticket": "f", "verdict": "never_happened"}, {"ticket": "g", "verdict": "unknown"}]})"};
  ASSERT_EQ(read.sentence, "") << read.pointer;
  const auto& all = read.asked.items;
  ASSERT_EQ(all.size(), 7U);
  EXPECT_EQ(all[0].result.output, "null");
  EXPECT_EQ(all[1].result.output, R"({"n": 12345678901234567890})");
  EXPECT_EQ(all[2].result.fault->kind(), v1::FAULT_KIND_TRANSIENT);
  EXPECT_EQ(all[2].result.fault->code(), "busy");
  EXPECT_TRUE(all[2].result.fault->key_spent());
  EXPECT_EQ(all[2].result.fault->retry_after_ms(), 500);
  EXPECT_EQ(all[3].result.fault->kind(), v1::FAULT_KIND_IN_DOUBT);
  EXPECT_EQ(all[4].result.verdict, v1::LOOKUP_VERDICT_DONE);
  EXPECT_EQ(all[4].result.output, "7");
  EXPECT_EQ(all[5].result.verdict, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  EXPECT_EQ(all[6].result.verdict, v1::LOOKUP_VERDICT_UNKNOWN);
}

TEST(worker_outcomes, point_to_what_is_wrong) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"output": 1})", "/items/0/ticket"},
      {R"({"ticket": "a"})", "/items/0"},
      {R"({"ticket": 7, "output": 1})", "/items/0/ticket"},
      {R"({"ticket": "a", "output": 1, "fault": {"kind": "permanent", "code": "x"}})", "/items/0/fault"},
      {R"({"ticket": "a", "verdict": "done", "fault": {"kind": "permanent", "code": "x"}})", "/items/0/fault"},
      {R"({"ticket": "a", "fault": {"kind": "bad", "code": "x"}})", "/items/0/fault/kind"},
      {R"({"ticket": "a", "fault": {"kind": "permanent"}})", "/items/0/fault/code"},
      {R"({"ticket": "a", "fault": {"kind": "permanent", "code": ""}})", "/items/0/fault/code"},
      {R"({"ticket": "a", "fault": {"kind": "permanent", "code": "x", "retry_after_ms": -1}})", "/items/0/fault/retry_after_ms"},
      {R"({"ticket": "a", "fault": {"kind": "permanent", "code": "x", "why": 1}})", "/items/0/fault/why"},
      {R"({"ticket": "a", "fault": "x"})", "/items/0/fault"},
      {R"({"ticket": "a", "verdict": "perhaps"})", "/items/0/verdict"},
      {R"({"ticket": "a", "verdict": "unknown", "output": 1})", "/items/0/output"},
      {R"({"ticket": "a", "pending": {}})", "/items/0/pending"},
  };
  for (const auto& [item, pointer] : rows) EXPECT_EQ(pointer_of_item<asked_reports>(item), pointer) << item;
  const read_of<asked_reports> large{R"({"items": [{"ticket": "a", "output": 1}, {"ticket": "b", "output": ")" +
                                     std::string(1'048'576, 'o') + R"("}]})"};
  EXPECT_EQ(large.pointer, "/items/1/output");
  EXPECT_TRUE(large.asked.too_large);
  std::string many;
  for (int i = 0; i < 1'001; ++i) many += (i == 0 ? "" : ",") + std::string{R"({"ticket": "a", "output": 1})"};
  EXPECT_EQ(read_of<asked_reports>{R"({"items": [)" + many + "]}"}.pointer, "/items");
}

TEST(worker_attempts, have_all_keys) {
  session::take_answer answer;
  answer.number = 7;
  answer.waited_ms = 812;
  auto& perform = answer.attempts.emplace_back();
  perform.what.set_ticket("ticket-1");
  perform.what.set_task_id("order-7");
  perform.what.set_workflow("order");
  perform.what.set_step_path("notify");
  perform.what.set_attempt(2);
  perform.what.set_call("send");
  perform.what.set_input(R"({"n":12345678901234567890})");
  perform.what.set_idempotency_key("key-1");
  perform.what.set_perform_output("null");
  perform.lease_ms = 29'188;
  auto& undo = answer.attempts.emplace_back(perform);
  undo.what.set_direction(v1::DIRECTION_UNDO);
  undo.what.set_perform_key("key-0");
  undo.what.set_perform_output(R"({"id":1})");
  undo.what.set_heartbeat_ms(3'000);
  undo.what.set_checkpoint("[1]");
  auto& lookup = answer.attempts.emplace_back(undo);
  lookup.what.set_direction(v1::DIRECTION_LOOKUP);

  const auto text = take_json(answer);
  EXPECT_NE(text.find(R"("input":{"n":12345678901234567890})"), std::string::npos) << text;
  const auto read = nlohmann::json::parse(text);
  EXPECT_EQ(read.at("answer"), 7);
  EXPECT_EQ(read.at("waited_ms"), 812);
  EXPECT_EQ(read.at("draining"), false);
  ASSERT_EQ(read.at("attempts").size(), 3U);
  const auto& first = read.at("attempts")[0];
  for (const char* key : {"perform_key", "in_doubt", "perform_output", "checkpoint", "callback_url", "heartbeat_ms"})
    EXPECT_TRUE(first.at(key).is_null()) << key;
  EXPECT_EQ(first.at("ticket"), "ticket-1");
  EXPECT_EQ(first.at("task"), "order-7");
  EXPECT_EQ(first.at("step"), "notify");
  EXPECT_EQ(first.at("direction"), "perform");
  EXPECT_EQ(first.at("attempt"), 2);
  EXPECT_EQ(first.at("lease_ms"), 29'188);
  EXPECT_EQ(first.at("traceparent").get<std::string>().substr(0, 3), "00-");
  const auto& second = read.at("attempts")[1];
  EXPECT_EQ(second.at("direction"), "undo");
  EXPECT_EQ(second.at("perform_key"), "key-0");
  EXPECT_EQ(second.at("in_doubt"), false);
  EXPECT_EQ(second.at("perform_output").at("id"), 1);
  EXPECT_EQ(second.at("heartbeat_ms"), 3'000);
  EXPECT_EQ(second.at("checkpoint")[0], 1);
  const auto& third = read.at("attempts")[2];
  EXPECT_EQ(third.at("direction"), "lookup");
  EXPECT_EQ(third.at("perform_key"), "key-0");
  EXPECT_EQ(third.at("in_doubt"), true);
  EXPECT_TRUE(third.at("perform_output").is_null());
  for (const auto& one : read.at("attempts")) EXPECT_EQ(one.size(), 17U);
  answer.attempts[0].what.set_callback_url("http://h/v1/callbacks/a");
  EXPECT_EQ(nlohmann::json::parse(take_json(answer)).at("attempts")[0].at("callback_url"), "http://h/v1/callbacks/a");
  answer.attempts.clear();
  answer.draining = true;
  EXPECT_EQ(take_json(answer), R"({"answer":7,"waited_ms":812,"draining":true,"attempts":[]})");
}

TEST(worker_answers, are_in_the_order_of_the_items) {
  asked_beats beats;
  beats.items = {{"a", 1, {}}, {"b", 1, {}}};
  EXPECT_EQ(
      beats_json(beats, {{true, 900}, {false, 0}}),
      R"({"items":[{"ticket":"a","held":true,"lease_ms":900,"cancel":false},{"ticket":"b","held":false,"lease_ms":0,"cancel":true}]})");
  asked_reports reports;
  reports.items.resize(3);
  for (std::size_t i = 0; i < 3; ++i) reports.items[i].ticket = std::string(1, static_cast<char>('a' + i));
  EXPECT_EQ(reports_json(reports, {{session::report_result::accepted, ""},
                                   {session::report_result::repeated, ""},
                                   {session::report_result::not_held, "the lease has ended"}}),
            R"({"items":[{"ticket":"a","result":"accepted","why":null},{"ticket":"b","result":"repeated","why":null},)"
            R"({"ticket":"c","result":"not_held","why":"the lease has ended"}]})");
}

}  // namespace
}  // namespace fairlead::app::api
