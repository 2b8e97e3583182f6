// What the audit has of changes that are refused before anything looks at what they ask for.

#include <gtest/gtest.h>

#include "app/api/exchange.hpp"
#include "messages/tickets.hpp"

namespace fairlead::app::api {
namespace {

class refusals_clock final : public clock {
 public:
  moment now() const override { return from_unix_ms(at_ms); }
  std::int64_t at_ms = 1'764'000'000'000;
};

class refused_entries : public ::testing::Test {
 protected:
  refused_entries() {
    auto made = gate::open(
        {}, [](const std::string&) {}, time_);
    EXPECT_TRUE(made.ok());
    in_.access = std::move(*made);
    in_.time = &time_;
  }
  std::optional<audit_entry> entry(const std::string& method, const std::string& address, const principal& by = {}) const {
    const door::request what{{method, "HTTP/1.1", "/v1/tasks/order-1/actions?a=b", {}}, {}, "mine", {address, {}}};
    return refused_entry_of(in_, by, what, {"cross_origin", "A page of another site sent this request.", "", {}, {}, false});
  }

  refusals_clock time_;
  surroundings in_;
};

TEST_F(refused_entries, say_where_it_came_from_and_why_it_was_refused) {
  const auto one = entry("POST", "10.0.0.7");
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(audit_json(*one),
            R"({"at":"2025-11-24T16:00:00.000Z","kind":null,"who":null,"token":null,"from":"10.0.0.7","request_id":"mine",)"
            R"("method":"POST","path":"/v1/tasks/order-1/actions","object":"order-1","verb":null,"reason":null,"state_after":null,)"
            R"("status":403,"code":"cross_origin"})");
}

TEST_F(refused_entries, do_not_have_the_text_of_a_callback) {
  const auto text = make_callback(std::string(work_key_bytes, 'k'), {0, 1, 0, "order-1"});
  for (const std::string behind : {"", "/fail"}) {
    const door::request what{{"POST", "HTTP/1.1", "/v1/callbacks/" + text + behind + "?a=b", {}}, {}, "mine", {"10.0.0.7", {}}};
    const auto one = refused_entry_of(in_, {}, what, {"cross_origin", "A page of another site sent this request.", "", {}, {}, false});
    ASSERT_TRUE(one.has_value());
    EXPECT_EQ(one->path, "/v1/callbacks/{callback}" + behind);
    EXPECT_EQ(one->object, "order-1");
    EXPECT_EQ(audit_json(*one).find(text), std::string::npos);
    EXPECT_EQ(audit_sentence(*one).find(text), std::string::npos);
    EXPECT_NE(audit_sentence(*one).find("order-1"), std::string::npos);
  }
  for (const std::string& path : {"/v1/%63allbacks/" + text, "/%761/callbacks/" + text + "/%66ail"}) {
    const door::request encoded{{"POST", "HTTP/1.1", path, {}}, {}, "mine", {"10.0.0.7", {}}};
    const auto one = audit_entry_of(in_, {}, encoded);
    EXPECT_EQ(one.path, path.ends_with("ail") ? "/v1/callbacks/{callback}/fail" : "/v1/callbacks/{callback}");
    EXPECT_EQ(one.object, "order-1");
  }
  EXPECT_FALSE(is_callback("/v1/callbacks%2f" + text)) << "one segment";
  const door::request garbage{{"POST", "HTTP/1.1", "/v1/callbacks/garbage", {}}, {}, "mine", {"10.0.0.7", {}}};
  EXPECT_EQ(audit_entry_of(in_, {}, garbage).object, "");
  EXPECT_EQ(audit_entry_of(in_, {}, garbage).path, "/v1/callbacks/{callback}");
}

TEST_F(refused_entries, have_the_name_of_whoever_is_known) {
  principal ann;
  ann.kind = "token";
  ann.name = "ann";
  const auto one = entry("DELETE", "10.0.0.7", ann);
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->kind + " " + one->who, "token ann");
}

TEST_F(refused_entries, are_not_made_of_what_only_looks) {
  for (const auto* const method : {"GET", "HEAD", "OPTIONS"}) EXPECT_FALSE(entry(method, "10.0.0.7").has_value()) << method;
}

TEST_F(refused_entries, are_a_hundred_a_minute_of_one_address) {
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(entry("PUT", "10.0.0.7").has_value()) << i;
  EXPECT_FALSE(entry("PUT", "10.0.0.7").has_value());
  EXPECT_TRUE(entry("PUT", "10.0.0.8").has_value()) << "another one";
  time_.at_ms += 60'000;
  EXPECT_TRUE(entry("PUT", "10.0.0.7").has_value()) << "in the next minute";
}

}  // namespace
}  // namespace fairlead::app::api
