#include "store/rows/service_rows.hpp"

#include "store/keys.hpp"
#include "store/memory/memory_store.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

struct service_rows : ::testing::Test {
  memory_store it;
  test_shard shard{it};

  static v1::ServiceRecord open(const std::string& agent) {
    v1::ServiceRecord out;
    out.set_agent(agent);
    out.set_breaker(v1::BREAKER_STATE_OPEN);
    out.set_breaker_reason("12 of 20 tries failed");
    return out;
  }

  void put(const v1::ServiceRecord& record) {
    auto one = shard.next();
    put_service(one, record);
    shard.expect_committed(std::move(one));
  }

  std::vector<std::string> kept() {
    std::vector<std::string> out;
    const auto done = for_each_service(*it.read(), [&](const v1::ServiceRecord& record) {
      out.push_back(record.agent() + ": " + record.breaker_reason());
      return true;
    });
    EXPECT_TRUE(done.ok()) << done.failure().sentence;
    return out;
  }
};

TEST_F(service_rows, are_read_back_by_name) {
  put(open("shipping"));
  put(open("payment"));
  EXPECT_EQ(kept(), (std::vector<std::string>{"payment: 12 of 20 tries failed", "shipping: 12 of 20 tries failed"}));
}

TEST_F(service_rows, go_when_there_is_nothing_to_say_any_more) {
  put(open("payment"));
  auto closed = open("payment");
  closed.set_breaker(v1::BREAKER_STATE_CLOSED);
  closed.set_breaker_since_unix_ms(5);
  put(closed);
  EXPECT_TRUE(kept().empty());
}

TEST_F(service_rows, stay_for_each_thing_that_there_is_to_say) {
  const auto stays = [](auto change) {
    v1::ServiceRecord record;
    record.set_agent("payment");
    change(record);
    return !says_nothing(record);
  };
  EXPECT_FALSE(stays([](auto&) {}));
  EXPECT_TRUE(stays([](auto& of) { of.set_breaker(v1::BREAKER_STATE_HALF_OPEN); }));
  EXPECT_TRUE(stays([](auto& of) { of.set_breaker_alert(1); }));
  EXPECT_TRUE(stays([](auto& of) { of.set_absent_since_unix_ms(1); }));
  EXPECT_TRUE(stays([](auto& of) { of.set_absent_alert(1); }));
  EXPECT_TRUE(stays([](auto& of) { of.add_drained()->set_instance("n1/payment"); }));
}

TEST_F(service_rows, that_are_damaged_stop_the_walk_with_their_name) {
  put(open("payment"));
  ASSERT_TRUE(it.damage(table::service, keys::service(1, "payment")));
  const auto done = for_each_service(*it.read(), [](const v1::ServiceRecord&) { return true; });
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.failure().sentence.find("payment"), std::string::npos) << done.failure().sentence;
}

}  // namespace
}  // namespace fairlead::store
