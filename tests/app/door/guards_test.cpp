#include "app/door/guards.hpp"

#include <gtest/gtest.h>

namespace fairlead::app::door {
namespace {

struct guard_test : ::testing::Test {
  guard guards;
  request_head head{"GET", "HTTP/1.1", "/v1/tasks", {{"Host", "127.0.0.1:7190"}}};

  std::string refused() const {
    const auto bad = guards.refuse(head);
    return bad ? bad->code : "";
  }
  std::string refused_with(const std::string& name, const std::string& value) {
    head.fields.emplace_back(name, value);
    const auto out = refused();
    head.fields.pop_back();
    return out;
  }
  void post() {
    head.method = "POST";
    head.fields.emplace_back("content-type", "application/json");
    head.fields.emplace_back("Content-Length", "2");
  }
};

TEST_F(guard_test, takes_a_request_that_looks_and_one_that_changes_something) {
  EXPECT_EQ(refused(), "");
  post();
  EXPECT_EQ(refused(), "");
}

TEST_F(guard_test, a_protobuf_message_is_taken_where_the_command_line_sends_its_requests) {
  post();
  head.fields[1].second = "application/x-protobuf";
  EXPECT_EQ(refused(), "unsupported_media_type");
  for (const auto* const path :
       {"/v1/requests/StatusRequest", "/v1/requests/StatusRequest?a=1", "http://127.0.0.1/v1/requests/StatusRequest"}) {
    head.target = path;
    EXPECT_EQ(refused(), "") << path;
  }
  for (const auto* const path : {"/v1/requests", "/v1/tasks?/v1/requests/", "/v1/tasks/v1/requests/a"}) {
    head.target = path;
    EXPECT_EQ(refused(), "unsupported_media_type") << path;
  }
  head.target = "/v1/requests/StatusRequest";
  EXPECT_EQ(refused_with("Origin", "https://evil.example"), "cross_origin");
}

TEST_F(guard_test, a_callback_has_json_of_any_kind) {
  guards.is_callback = [](const request_head& one) { return path_of(one).starts_with("/v1/callbacks/"); };
  post();
  for (const auto* const type : {"application/cloudevents+json", "application/vnd.example.v2+json; charset=utf-8"}) {
    head.fields[1].second = type;
    head.target = "/v1/callbacks/a";
    EXPECT_EQ(refused(), "") << type;
    head.target = "/v1/tasks";
    EXPECT_EQ(refused(), "unsupported_media_type") << type;
  }
  head.target = "/v1/callbacks/a";
  for (const auto* const type : {"text/plain", "application/x-www-form-urlencoded", "application/json+xml"}) {
    head.fields[1].second = type;
    EXPECT_EQ(refused(), "unsupported_media_type") << type;
  }
  head.fields[1].second = "application/json";
  EXPECT_EQ(refused_with("Origin", "https://evil.example"), "cross_origin");
}

TEST_F(guard_test, whoever_is_not_known_sends_little_unless_it_calls_back) {
  const auto most = [this]() -> std::string {
    const auto read = guards.most_bytes(head, {});
    if (const auto* const bad = std::get_if<problem>(&read)) return bad->code;
    return std::to_string(std::get<std::size_t>(read));
  };
  const auto all = std::to_string(most_body_bytes), callback = std::to_string(most_callback_bytes);
  post();
  auto& length = head.fields[2].second;
  length = "100000";
  EXPECT_EQ(most(), all) << "everybody is known";
  bool known = false;
  guards.is_known = [&known](const request_head&, const peer&) { return known; };
  guards.is_callback = [](const request_head& one) { return path_of(one).starts_with("/v1/callbacks/"); };
  EXPECT_EQ(most(), "unauthenticated");
  length = "4096";
  EXPECT_EQ(most(), all);
  head.target = "/v1/callbacks/a";
  for (const auto* const sound : {"0", "4096", "1048576"}) {
    length = sound;
    EXPECT_EQ(most(), callback) << sound;
  }
  length = "1048577";
  EXPECT_EQ(most(), "too_large");
  known = true;
  EXPECT_EQ(most(), all);
  known = false;
  head.fields[2] = {"Transfer-Encoding", "chunked"};
  EXPECT_EQ(most(), callback) << "of a length that comes with it";
  head.target = "/v1/tasks";
  EXPECT_EQ(most(), "unauthenticated");
}

TEST_F(guard_test, a_body_that_can_be_read_in_two_ways_ends_the_connection) {
  post();
  EXPECT_EQ(refused_with("transfer-encoding", "chunked"), "bad_request");
  EXPECT_EQ(refused_with("CONTENT-LENGTH", "2"), "bad_request") << "also when both say the same";
  head.fields.back().second = "0x2";
  EXPECT_EQ(refused(), "bad_request");
  head.fields.back().second = "+2";
  EXPECT_EQ(refused(), "bad_request");
  head.fields.back().second = "99999999999999999999999";
  EXPECT_EQ(refused(), "bad_request");
  head.fields.back() = {"Transfer-Encoding", "gzip, chunked"};
  EXPECT_EQ(refused(), "bad_request");
  head.fields.back() = {"Transfer-Encoding", "Chunked"};
  EXPECT_EQ(refused(), "");
  EXPECT_EQ(refused_with("Transfer-Encoding", "chunked"), "bad_request");
  head.version = "HTTP/1.0";
  EXPECT_EQ(refused(), "bad_request");
  EXPECT_TRUE(guards.refuse(head)->close);
}

TEST_F(guard_test, a_name_that_hides_a_length_ends_the_connection) {
  for (const auto* const name :
       {"Content-Length ", "Content-Length4", "transfer-encodingchunked", "X A", "", "X\t", "X\x80", "If-Matchx", "idempotency-keyb"})
    EXPECT_EQ(refused_with(name, "1"), "bad_request") << name;
  EXPECT_EQ(refused_with("X-Content-Length", "1"), "");
  EXPECT_EQ(refused_with("If-Modified-Since", "1"), "");
}

TEST_F(guard_test, a_request_without_a_host_or_with_two_ends_the_connection) {
  EXPECT_EQ(refused_with("Host", "127.0.0.1:7190"), "bad_request");
  head.fields.clear();
  for (const auto* const version : {"HTTP/1.0", "HTTP/1.1"}) {
    head.version = version;
    EXPECT_EQ(refused(), "bad_request") << version;
    EXPECT_TRUE(guards.refuse(head)->close);
  }
}

TEST_F(guard_test, a_target_with_a_space_or_a_control_character_ends_the_connection) {
  for (const auto* const target : {"/v1/ta sks", "/v1/tasks HTTP/1.1", "/v1/tasks?a=b c", "/v1/ta\tsks", "/v1/tasks\r", "/v1/tasks\x7f"}) {
    head.target = target;
    EXPECT_EQ(refused(), "bad_request") << target;
    EXPECT_TRUE(guards.refuse(head)->close);
  }
  head.target = "/v1/t\xc3\xa4sks";
  EXPECT_EQ(refused(), "");
}

TEST_F(guard_test, a_target_that_names_a_host_names_this_one) {
  head.target = "http://127.0.0.1:7190/v1/tasks";
  EXPECT_EQ(refused(), "");
  head.target = "http://evil.example/v1/tasks";
  EXPECT_EQ(refused(), "misdirected");
  head.target = "http:///v1/tasks";
  EXPECT_EQ(refused(), "misdirected");
}

TEST_F(guard_test, only_names_of_this_node_are_taken_for_it) {
  for (const auto* const name : {"localhost", "LOCALHOST:80", "127.0.0.1", "127.9.9.9:7190", "[::1]:7190"}) {
    head.fields[0].second = name;
    EXPECT_EQ(refused(), "") << name;
  }
  for (const auto* const name : {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "", "[::2]"}) {
    head.fields[0].second = name;
    EXPECT_EQ(refused(), "misdirected") << name;
  }
  head.fields[0].second = "Node.Example:443";
  guards.hosts = {"node.example"};
  EXPECT_EQ(refused(), "");
  EXPECT_EQ(refused_with("host", "node.example"), "bad_request") << "two of them";
  head.fields.clear();
  EXPECT_EQ(refused(), "bad_request") << "none";
}

TEST_F(guard_test, a_page_of_another_site_changes_nothing) {
  EXPECT_EQ(refused_with("Origin", "https://evil.example"), "") << "it only looks, and cannot read the answer";
  post();
  EXPECT_EQ(refused_with("Origin", "https://evil.example"), "cross_origin");
  EXPECT_EQ(refused_with("Origin", "null"), "cross_origin");
  EXPECT_EQ(refused_with("Origin", "http://127.0.0.1:7190"), "");
  EXPECT_EQ(refused_with("Origin", "http://127.0.0.1:8080"), "cross_origin") << "another port is another site";
  EXPECT_EQ(refused_with("Sec-Fetch-Site", "cross-site"), "cross_origin");
  EXPECT_EQ(refused_with("Sec-Fetch-Site", "same-site"), "cross_origin");
  EXPECT_EQ(refused_with("Sec-Fetch-Site", "same-origin"), "");
  EXPECT_EQ(refused_with("Sec-Fetch-Site", "none"), "");
}

TEST_F(guard_test, speaks_json_alone) {
  EXPECT_EQ(refused_with("Accept", "text/html"), "not_acceptable");
  EXPECT_EQ(refused_with("Accept", "text/html, application/json;q=0.5"), "");
  EXPECT_EQ(refused_with("Accept", "text/html,*/*;q=0.8"), "");
  EXPECT_EQ(refused_with("Accept", "application/problem+json"), "");
  head.fields.emplace_back("Accept", "text/html");
  EXPECT_EQ(refused_with("accept", "application/json"), "") << "two lines are one list";
  head.fields.pop_back();
  post();
  head.fields[1].second = "Application/JSON; charset=utf-8";
  EXPECT_EQ(refused(), "");
  for (const auto* const type : {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""}) {
    head.fields[1].second = type;
    EXPECT_EQ(refused(), "unsupported_media_type") << type;
  }
  head.fields.erase(head.fields.begin() + 1);
  EXPECT_EQ(refused(), "unsupported_media_type");
}

TEST_F(guard_test, what_accept_gives_no_weight_is_not_acceptable) {
  for (const auto* const none : {"application/json;q=0", "application/json; Q=0.000", "*/*;q=0", "application/*;q=0.0", "image/*"})
    EXPECT_EQ(refused_with("Accept", none), "not_acceptable") << none;
  for (const auto* const some : {"application/json;q=0.001", "application/json;q=0, text/*", ",", "*/*;q=0, application/json"})
    EXPECT_EQ(refused_with("Accept", some), "") << some;
}

TEST_F(guard_test, of_what_accept_names_the_closest_decides) {
  const auto taken = [this](const std::string& accept, std::string_view type) {
    head.fields.emplace_back("Accept", accept);
    const auto out = accepts(head, type);
    head.fields.pop_back();
    return out;
  };
  EXPECT_TRUE(accepts(head, media_events)) << "there is no such header";
  for (const auto* const one : {"*/*", "text/*", "text/event-stream", "application/json, text/*;q=0.1", ""})
    EXPECT_TRUE(taken(one, media_events)) << one;
  for (const auto* const one : {"application/json", "application/*", "text/html", "*/*, text/event-stream;q=0", "text/*;q=0, */*"})
    EXPECT_FALSE(taken(one, media_events)) << one;
  for (const auto* const one : {"text/*", "text/event-stream", "application/vnd.x+json", "application/json;q=0, */*"})
    EXPECT_FALSE(taken(one, media_json)) << one;
  EXPECT_TRUE(taken("application/problem+json", media_json));
}

TEST_F(guard_test, a_body_is_json_in_utf_8_and_not_compressed) {
  post();
  for (const auto* const type : {"application/json;charset=UTF-8", "application/json; charset=\"utf-8\"", "application/yaml"}) {
    head.fields[1].second = type;
    EXPECT_EQ(refused(), "") << type;
  }
  for (const auto* const type : {"application/json; charset=latin1", "application/yaml;charset=utf-16", "application/vnd.x+json"}) {
    head.fields[1].second = type;
    EXPECT_EQ(refused(), "unsupported_media_type") << type;
  }
  head.fields[1].second = "application/json";
  EXPECT_EQ(refused_with("Content-Encoding", "Identity"), "");
  for (const auto* const encoding : {"gzip", "identity, br", "x"})
    EXPECT_EQ(refused_with("content-encoding", encoding), "unsupported_media_type") << encoding;
  head.fields.back().second = "0";
  EXPECT_EQ(refused_with("Content-Encoding", "gzip"), "") << "there is no body";
}

TEST_F(guard_test, large_requests_are_refused_before_their_body_comes) {
  head.target = "/" + std::string(most_target_bytes, 'a');
  EXPECT_EQ(refused(), "target_too_long");
  head.target = "/" + std::string(most_target_bytes - 1, 'a');
  EXPECT_EQ(refused(), "");
  EXPECT_EQ(refused_with("X-A", std::string(most_header_bytes, 'a')), "headers_too_large");
  post();
  head.fields.back().second = std::to_string(most_body_bytes);
  EXPECT_EQ(refused(), "");
  head.fields.back().second = std::to_string(most_body_bytes + 1);
  EXPECT_EQ(refused(), "too_large");
}

TEST(request_id, is_taken_only_if_it_is_harmless_in_a_log) {
  EXPECT_TRUE(is_request_id("a-B.9_"));
  EXPECT_FALSE(is_request_id(""));
  EXPECT_FALSE(is_request_id("a b"));
  EXPECT_FALSE(is_request_id("a\n"));
  EXPECT_TRUE(is_request_id(std::string(64, 'a')));
  EXPECT_FALSE(is_request_id(std::string(65, 'a')));
}

}  // namespace
}  // namespace fairlead::app::door
