// From a call's configuration to the request, and what is refused on the way.

#include <gtest/gtest.h>

#include "actors/agents/http/http.hpp"
#include "actors/agents/http/request.hpp"
#include "actors/agents/http/response.hpp"
#include "actors/agents/http/status.hpp"
#include "actors/agents/http/trace.hpp"
#include "actors/agents/text_template.hpp"
#include "tests/actors/agents/http/http_backends.hpp"
#include "tests/actors/agents/http/http_test_support.hpp"

namespace fairlead::test {
namespace {

using namespace agents;

result<http_prepared_call> prepare(const http_call& call, const std::string& base = "http://127.0.0.1:7102/api") {
  http_agent_config agent;
  agent.name = "payment";
  agent.base_url = base;
  return prepare_call(agent, "do", call);
}

result<http_request> built(const http_prepared_call& call, const v1::Perform& what, const secrets* known = nullptr) {
  auto made = build_request(call, what, known);
  if (auto* why = std::get_if<http_no_request>(&made)) return error{v1::ERROR_CODE_INVALID_ARGUMENT, why->sentence, ""};
  return std::get<http_request>(std::move(made));
}

http_call to(const std::string& url) {
  http_call out;
  out.url = url;
  return out;
}

std::string url_of(const std::string& url, const std::string& input, const std::string& base = "http://h:1/api") {
  const auto call = prepare(to(url), base);
  if (!call.ok()) return "not prepared: " + call.failure().sentence;
  const auto request = built(*call, a_perform(1, "do", input));
  return request.ok() ? request->url : "refused: " + request.failure().sentence;
}

std::string refusal(const http_call& call, const std::string& base = "http://h:1") {
  const auto prepared = prepare(call, base);
  return prepared.ok() ? "accepted" : prepared.failure().sentence;
}

TEST(http_request, joins_the_url_to_the_base) {
  EXPECT_EQ(url_of("/charges", "{}"), "http://h:1/api/charges");
  EXPECT_EQ(url_of("charges", "{}", "http://h:1/api/"), "http://h:1/api/charges");
  EXPECT_EQ(url_of("", "{}"), "http://h:1/api");
  EXPECT_EQ(url_of("?a=1", "{}"), "http://h:1/api?a=1");
  EXPECT_EQ(url_of("https://other/x", "{}"), "https://other/x");
}

TEST(http_request, fills_fields_into_the_url_percent_encoded) {
  EXPECT_EQ(url_of("/o/{id}/x?q={q}&n={n}&b={b}", R"({"id":"a/b ?#%\u00e9\ud83d\ude00","q":"a&b=c\n","n":12345678901234567890,"b":true})"),
            "http://h:1/api/o/a%2Fb%20%3F%23%25%C3%A9%F0%9F%98%80/x?q=a%26b%3Dc%0A&n=12345678901234567890&b=true");
  EXPECT_EQ(url_of("/o/{{x}}", "{}"), "http://h:1/api/o/{x}");
  EXPECT_EQ(url_of("/o?q={q}", R"({"q":""})"), "http://h:1/api/o?q=");
}

TEST(http_request, refuses_fields_that_do_not_fit) {
  EXPECT_TRUE(says(url_of("/o/{id}", "{}"), "refused: the input has no field 'id'"));
  EXPECT_TRUE(says(url_of("/o/{id}", R"({"id":null})"), "'id' is not a string, number or boolean"));
  EXPECT_TRUE(says(url_of("/o/{id}", R"({"id":{"a":1}})"), "'id' is not a string, number or boolean"));
  EXPECT_TRUE(says(url_of("/o/{id}", R"([1])"), "refused"));
  EXPECT_TRUE(says(url_of("/o/{id}", R"({"id":""})"), "'id' is empty"));
}

TEST(http_request, lets_no_value_climb_out_of_its_place_in_the_path) {
  EXPECT_TRUE(says(url_of("/o/{id}/x", R"({"id":".."})"), "segment '..'"));
  EXPECT_TRUE(says(url_of("/o/{a}{b}", R"({"a":".","b":"."})"), "segment '..'"));
  EXPECT_TRUE(says(url_of("/o/{id}?x", R"({"id":"."})"), "segment '.'"));
  EXPECT_EQ(url_of("/o/{id}", R"({"id":"..a"})"), "http://h:1/api/o/..a");
  EXPECT_EQ(url_of("/o?p={id}", R"({"id":"../.."})"), "http://h:1/api/o?p=..%2F..");
}

TEST(http_request, refuses_a_url_that_could_never_work) {
  EXPECT_TRUE(says(refusal(to("/x"), ""), "scheme"));
  EXPECT_TRUE(says(refusal(to("/x"), "ftp://h"), "scheme 'ftp'"));
  EXPECT_TRUE(says(refusal(to("file:///etc/passwd")), "scheme 'file'"));
  EXPECT_TRUE(says(refusal(to("http://{host}/x")), "in the host"));
  EXPECT_TRUE(says(refusal(to("http://h{port}")), "in the host"));
  EXPECT_TRUE(says(refusal(to("{scheme}://h/x")), "in the host"));
  EXPECT_TRUE(says(refusal(to("http://user:secret@h/x")), "a user or a password"));
  EXPECT_FALSE(says(refusal(to("http://user:secret@h/x")), "secret"));
  EXPECT_TRUE(says(refusal(to("/x#y")), "fragment"));
  EXPECT_TRUE(says(refusal(to("/a b")), "blank"));
  EXPECT_TRUE(says(refusal(to("/a{")), "'{'"));
  EXPECT_TRUE(says(refusal(to("/a{b-c}")), "'{'"));
  EXPECT_TRUE(says(refusal(to("/a}")), "'}'"));
  EXPECT_TRUE(says(refusal(to("/x"), "http://h/{a}"), "base_url"));
  EXPECT_TRUE(says(refusal(to("/x"), "http://h:99999"), "not a URL"));
}

TEST(http_request, refuses_headers_that_would_break_out_of_their_line) {
  auto call = to("/x");
  call.headers = {{"X-Note", "{note}"}};
  const auto prepared = prepare(call);
  ASSERT_TRUE(prepared.ok());
  for (const char* note : {R"("a\r\nX-Evil: 1")", R"("a\nb")", R"("a\u0000b")", R"("a\u007f")"}) {
    const auto request = built(*prepared, a_perform(1, "do", std::string{"{\"note\":"} + note + "}"));
    ASSERT_FALSE(request.ok()) << note;
    EXPECT_TRUE(says(request.failure().sentence, "X-Note"));
  }
  EXPECT_TRUE(built(*prepared, a_perform(1, "do", R"({"note":"gr\u00fc\u00dfe\tx"})")).ok());

  call.headers = {{"X-Note", "a\r\nb"}};
  EXPECT_TRUE(says(refusal(call), "control character"));
  call.headers = {{"X Note", "a"}};
  EXPECT_TRUE(says(refusal(call), "not a valid header name"));
  for (const char* name :
       {"Idempotency-Key", "fairlead-attempt", "Fairlead-Perform-Key", "Traceparent", "Content-Length", "transfer-encoding"}) {
    call.headers = {{name, "a"}};
    EXPECT_TRUE(says(refusal(call), "set by the agent itself")) << name;
  }
}

TEST(http_request, completes_with_a_permanent_fault_when_the_input_does_not_fit) {
  auto config = one_call("http://127.0.0.1:1");
  config.calls["do"].url = "/o/{id}";
  const auto agent = make_http_backend(config);
  ASSERT_TRUE(agent.ok());
  inbox box;
  (*agent)->start(a_perform(1, "do", R"({"id":null})"), box.taker());
  EXPECT_EQ(box.total(), 1U) << "inside start";
  EXPECT_EQ(brief(box.of(1)), "permanent bad_request_template");
}

std::string header(const http_request& request, const std::string& lower_name) {
  std::string out = "absent";
  for (const auto& [name, value] : request.headers) {
    if (lower_case(name) == lower_name) out = out == "absent" ? value : out + ", " + value;
  }
  return out;
}

TEST(http_request, tells_a_service_that_undoes_which_perform_it_takes_back) {
  const auto prepared = prepare(to("/charges/refund"));
  ASSERT_TRUE(prepared.ok());
  auto undo = a_perform(1, "do", R"({"order":"A"})");
  undo.set_direction(v1::DIRECTION_UNDO);
  undo.set_idempotency_key("order-1/charge/undo/1");
  undo.set_perform_key("order-1/charge/perform/1");
  auto request = built(*prepared, undo);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(header(*request, "idempotency-key"), "order-1/charge/undo/1");
  EXPECT_EQ(header(*request, "fairlead-perform-key"), "order-1/charge/perform/1");
  EXPECT_EQ(header(*request, "fairlead-in-doubt"), "false");
  EXPECT_EQ(request->body, R"({"order":"A"})");
  undo.set_in_doubt(true);
  request = built(*prepared, undo);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(header(*request, "fairlead-in-doubt"), "true");
  undo.set_perform_key("a\r\nX-Evil: 1");
  EXPECT_FALSE(built(*prepared, undo).ok());
}

TEST(http_request, says_nothing_of_undo_when_it_performs) {
  const auto prepared = prepare(to("/charges"));
  ASSERT_TRUE(prepared.ok());
  const auto request = built(*prepared, a_perform(1, "do"));
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(header(*request, "idempotency-key"), "order-1/charge/perform/1");
  EXPECT_EQ(header(*request, "fairlead-perform-key"), "absent");
  EXPECT_EQ(header(*request, "fairlead-in-doubt"), "absent");
}

TEST(http_request, never_takes_a_lookup_for_the_call) {
  const auto agent = make_http_backend(one_call("http://127.0.0.1:1"));
  ASSERT_TRUE(agent.ok());
  EXPECT_TRUE((*agent)->lookups().empty());
  auto lookup = a_perform(1, "do");
  lookup.set_direction(v1::DIRECTION_LOOKUP);
  inbox box;
  (*agent)->start(lookup, box.taker());
  ASSERT_EQ(box.total(), 1U) << "inside start, without a transfer";
  EXPECT_FALSE(box.of(1).fault);
  EXPECT_EQ(box.of(1).verdict, v1::LOOKUP_VERDICT_UNKNOWN);
}

TEST(http_request, lets_the_calls_header_replace_the_agents) {
  http_agent_config agent;
  agent.base_url = "http://h";
  agent.headers = {{"X-Team", "a"}, {"Content-Type", "application/cloudevents+json"}};
  auto call = to("/x");
  call.headers = {{"x-team", "b"}};
  const auto prepared = prepare_call(agent, "do", call);
  ASSERT_TRUE(prepared.ok());
  const auto request = built(*prepared, a_perform(1, "do"));
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->headers[0], (std::pair<std::string, std::string>{"X-Team", "b"}));
  int types = 0;
  for (const auto& [name, value] : request->headers) types += lower_case(name) == "content-type" ? 1 : 0;
  EXPECT_EQ(types, 1);
}

TEST(http_request, renders_a_body_of_the_input) {
  auto call = to("/x");
  call.body_template = R"({"order":"${ .input.order }","cents":"${ .input.amount.cents }","to":"bank"})";
  const auto prepared = prepare(call);
  ASSERT_TRUE(prepared.ok()) << prepared.failure().sentence;
  const auto request = built(*prepared, a_perform(1, "do", R"({"order":"A","amount":{"cents":9007199254740993}})"));
  ASSERT_TRUE(request.ok()) << request.failure().sentence;
  EXPECT_EQ(request->body, R"({"order":"A","cents":9007199254740993,"to":"bank"})");
  const auto missing = built(*prepared, a_perform(1, "do", R"({"order":"A"})"));
  ASSERT_FALSE(missing.ok());
  EXPECT_TRUE(says(missing.failure().sentence, "amount")) << missing.failure().sentence;
}

v1::Perform with_callback(const std::string& input = "{}") {
  auto out = a_perform(1, "do", input);
  out.set_callback("AbC-_9");
  out.set_callback_url("https://h:1/v1/callbacks/AbC-_9");
  return out;
}

TEST(http_request, says_where_the_callback_goes) {
  auto call = to("/x?then={callback_url}");
  call.headers = {{"X-Notify", "<{callback_url}>"}};
  call.body_template = R"({"order":"${ .input.order }","notify":{"url":"${ .callback_url }"},"again":"${.callback_url}"})";
  const auto prepared = prepare(call, "http://h:1");
  ASSERT_TRUE(prepared.ok()) << prepared.failure().sentence;
  const auto request = built(*prepared, with_callback(R"({"order":"A","callback_url":"mine"})"));
  ASSERT_TRUE(request.ok()) << request.failure().sentence;
  EXPECT_EQ(request->url, "http://h:1/x?then=https%3A%2F%2Fh%3A1%2Fv1%2Fcallbacks%2FAbC-_9");
  EXPECT_EQ(header(*request, "x-notify"), "<https://h:1/v1/callbacks/AbC-_9>");
  EXPECT_EQ(header(*request, "fairlead-callback-url"), "https://h:1/v1/callbacks/AbC-_9");
  EXPECT_EQ(request->body, R"({"order":"A","notify":{"url":"https://h:1/v1/callbacks/AbC-_9"},"again":"https://h:1/v1/callbacks/AbC-_9"})");
}

TEST(http_request, of_a_step_without_a_callback_has_none) {
  auto call = to("/x?then={callback_url}");
  call.body_template = R"({"url":"${ .callback_url }"})";
  const auto prepared = prepare(call, "http://h:1");
  ASSERT_TRUE(prepared.ok()) << prepared.failure().sentence;
  const auto request = built(*prepared, a_perform(1, "do", R"({"callback_url":"mine"})"));
  ASSERT_TRUE(request.ok()) << request.failure().sentence;
  EXPECT_EQ(request->url, "http://h:1/x?then=mine") << "a field of the input like any other";
  EXPECT_EQ(request->body, R"({"url":null})");
  EXPECT_EQ(header(*request, "fairlead-callback-url"), "absent");
  EXPECT_FALSE(built(*prepared, a_perform(2, "do")).ok());
}

TEST(http_request, refuses_bodies_that_are_no_plain_paths_over_the_input) {
  auto call = to("/x");
  call.body_template = R"({"n":"${ .input.a + 1 }"})";
  EXPECT_TRUE(says(refusal(call), "plain path")) << refusal(call);
  call.body_template = R"({"n":"${ .task.id }"})";
  EXPECT_TRUE(says(refusal(call), ".input")) << refusal(call);
  call.body_template = R"({"n":"${ .callback_url.x }"})";
  EXPECT_TRUE(says(refusal(call), "there is no .callback_url")) << refusal(call);
  call.body_template = R"({"n":)";
  EXPECT_TRUE(says(refusal(call), "body: "));
  call.body_template = R"("${ .input }")";
  call.method = "GET";
  EXPECT_TRUE(says(refusal(call), "GET request has a body"));
  call.method = "TRACE";
  EXPECT_TRUE(says(refusal(call), "method 'TRACE'"));
}

TEST(http_request, checks_a_whole_agent_without_starting_it) {
  auto config = one_call("http://h");
  EXPECT_TRUE(check_http_agent(config).ok());
  config.calls["do"].statuses.transient = {{503, 600}};
  EXPECT_TRUE(says(check_http_agent(config).failure().sentence, "503-600"));
  config = one_call("http://h");
  config.concurrency = 0;
  EXPECT_TRUE(says(check_http_agent(config).failure().sentence, "concurrency"));
  config = one_call("http://h");
  config.connect_timeout_ms = 0;
  EXPECT_TRUE(says(check_http_agent(config).failure().sentence, "connect_timeout"));
  config = one_call("http://h");
  config.calls.clear();
  EXPECT_TRUE(says(check_http_agent(config).failure().sentence, "no calls"));
}

http_answer answered(const std::string& body) {
  http_answer out;
  out.how = http_answer::ending::answered;
  out.status = 201;
  out.headers = {{"x-request-id", "r\"1"}, {"via", "a"}, {"via", "b"}};
  out.body = body;
  out.sends = 1;
  return out;
}

std::string output_of(const std::string& output, const std::string& body) {
  auto call = to("/x");
  call.output_template = output;
  const auto prepared = prepare(call);
  return prepared.ok() ? brief(conclude(*prepared, answered(body))) : "not prepared: " + prepared.failure().sentence;
}

TEST(http_response, makes_the_output_of_status_headers_and_body) {
  EXPECT_EQ(output_of(R"({"id":"${ .body.id }","s":"${ .status }","r":"${ .headers.x_request_id }","v":"${ .headers.via }"})",
                      R"({"id":9007199254740993})"),
            R"(ok {"id":9007199254740993,"s":201,"r":"r\"1","v":"a, b"})");
  EXPECT_EQ(output_of(R"("${ .body }")", R"({"a":[1, 2]})"), R"(ok {"a":[1, 2]})");
  EXPECT_EQ(output_of(R"("${.status}")", "<html>"), "ok 201") << "a body nobody asks for need not be JSON";
  EXPECT_EQ(output_of(R"("${ .body }")", "<html>"), "in_doubt bad_response");
  EXPECT_EQ(output_of(R"("${ .body.id }")", "{}"), "in_doubt bad_response");
  EXPECT_EQ(output_of(R"("${ .body.id? }")", "{}"), "ok null");
}

TEST(http_response, names_missing_paths_as_they_were_written) {
  auto call = to("/x");
  call.output_template = R"({"id":"${ .body.id }"})";
  const auto prepared = prepare(call);
  ASSERT_TRUE(prepared.ok());
  const auto result = conclude(*prepared, answered("{}"));
  ASSERT_TRUE(result.fault);
  EXPECT_TRUE(says(result.fault->message(), ".body.id")) << result.fault->message();
  EXPECT_FALSE(says(result.fault->message(), ".input")) << result.fault->message();
}

TEST(http_response, refuses_outputs_over_anything_else) {
  EXPECT_TRUE(says(output_of(R"("${ .input.order }")", "{}"), "does not begin with .status, .headers or .body"));
  EXPECT_TRUE(says(output_of(R"("${ .bodyguard }")", "{}"), "does not begin with"));
  EXPECT_TRUE(says(output_of(R"("${ .body.a + 1 }")", "{}"), "plain path"));
  EXPECT_TRUE(says(output_of(R"({"a":"${ .body.id"})", "{}"), "not prepared"));
}

TEST(http_status, reads_ranges_as_they_are_written_in_a_node_file) {
  status_range range;
  ASSERT_TRUE(parse_status_range("503", range));
  EXPECT_EQ(range.first * 1000 + range.last, 503503);
  ASSERT_TRUE(parse_status_range("4xx", range));
  EXPECT_EQ(range.first * 1000 + range.last, 400499);
  ASSERT_TRUE(parse_status_range("500-503", range));
  EXPECT_EQ(range.first * 1000 + range.last, 500503);
  for (const char* bad : {"", "50", "600", "6xx", "xxx", "503-500", "5x3", "500-", "500 503", "099"}) {
    EXPECT_FALSE(parse_status_range(bad, range)) << bad;
  }
}

TEST(http_trace, is_the_same_for_a_task_and_differs_for_each_attempt) {
  auto what = a_perform(1, "do");
  const auto first = trace_parent(what);
  ASSERT_EQ(first.size(), 55U);
  EXPECT_EQ(first.substr(0, 3), "00-");
  EXPECT_EQ(first.substr(52), "-01");
  EXPECT_EQ(first, trace_parent(what));
  what.set_attempt(4);
  EXPECT_EQ(trace_parent(what).substr(0, 35), first.substr(0, 35));
  EXPECT_NE(trace_parent(what).substr(36, 16), first.substr(36, 16));
  what.set_task_id("order-2");
  EXPECT_NE(trace_parent(what).substr(3, 32), first.substr(3, 32));
}

}  // namespace
}  // namespace fairlead::test
