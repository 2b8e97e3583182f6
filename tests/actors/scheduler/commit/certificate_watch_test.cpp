#include "actors/scheduler/commit/certificate_watch.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "store/memory/memory_store.hpp"
#include "store/rows/alert_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

constexpr std::int64_t a_day = 86'400'000;

class certificate_watch_test : public ::testing::Test, public commit_port {
 protected:
  certificate_watch_test() {
    EXPECT_TRUE(batches.open(*store.raise_epoch()).ok());
    EXPECT_TRUE(watch.open().ok());
  }
  void commit(store::batch what) override { EXPECT_TRUE(store.commit({what}).ok()); }

  void settle() {
    batches.flush();
    const auto sequence = store.read()->get_progress().sequence;
    batches.committed_up_to(sequence, [](effects) {});
    alerts.committed_up_to(sequence);
  }
  static v1::CertificateReport report(const std::string& node, std::int64_t ends_at, v1::CertificateUse use = v1::CERTIFICATE_USE_API) {
    v1::CertificateReport out;
    out.set_node(node);
    out.set_use(use);
    out.set_ends_at_unix_ms(ends_at);
    return out;
  }
  void look(certificate_watch& with, const v1::CertificateReport& seen) {
    ASSERT_TRUE(with.look(seen).ok());
    settle();
  }
  v1::AlertRecord alert(std::uint64_t number) {
    const auto found = store::load_alert(batches.committed(), number);
    return found.ok() && *found ? **found : v1::AlertRecord{};
  }
  /// The numbers of alerts that are not resolved.
  std::vector<std::uint64_t> unresolved() {
    std::vector<std::uint64_t> out;
    EXPECT_TRUE(store::for_each_unresolved(batches.committed(), [&](const v1::AlertRecord& one) {
                  out.push_back(one.number());
                  return true;
                }).ok());
    return out;
  }
  using numbers = std::vector<std::uint64_t>;

  store::memory_store store;
  manual_clock time;
  recorder out;
  quiet_observer log;
  v1::Lineage lineage;
  core::planted_faults faults;
  alert_book alerts;
  commit_pipeline batches{{&time, &store, this, &out, &log}, 0, lineage, faults};
  certificate_watch watch{batches, alerts, time};
};

TEST_F(certificate_watch_test, nothing_is_written_about_a_certificate_that_lasts_long_enough) {
  const auto before = store.read()->get_progress().sequence;
  look(watch, report("n1", time.now_ms + 21 * a_day + 1));
  EXPECT_EQ(store.read()->get_progress().sequence, before);
  EXPECT_EQ(unresolved(), numbers{});
}

TEST_F(certificate_watch_test, an_alert_at_each_stage_takes_the_place_of_the_one_before) {
  const auto ends_at = time.now_ms + 30 * a_day;
  std::uint64_t number = 0;
  for (const auto days : {21, 7, 1, 0}) {
    time.now_ms = ends_at - days * a_day - 1;
    look(watch, report("n1", ends_at));
    EXPECT_EQ(unresolved(), number == 0 ? numbers{} : numbers{number}) << days << " days and a millisecond";
    ++time.now_ms;
    look(watch, report("n1", ends_at));
    look(watch, report("n1", ends_at));
    EXPECT_EQ(unresolved(), numbers{++number}) << days << " days";
  }
  EXPECT_EQ(alert(3).sentence(), "node n1: the certificate of its API ends at " + format_utc(ends_at));
  EXPECT_EQ(alert(4).sentence(), "node n1: the certificate of its API has ended at " + format_utc(ends_at));
  EXPECT_EQ(alert(3).state(), v1::ALERT_STATE_RESOLVED);
  EXPECT_EQ(batches.counts().unresolved_alerts(), 1u);
}

TEST_F(certificate_watch_test, a_certificate_that_was_replaced_ends_the_alert_or_has_one_of_its_own) {
  const auto now = time.now_ms;
  look(watch, report("n1", now + 3 * a_day));
  EXPECT_EQ(unresolved(), numbers{1});
  look(watch, report("n1", now + 5 * a_day));
  EXPECT_EQ(unresolved(), numbers{2}) << "it ends soon, too";
  look(watch, report("n1", now + 90 * a_day));
  EXPECT_EQ(unresolved(), numbers{});
  look(watch, report("n1", now + 5 * a_day));
  EXPECT_EQ(unresolved(), numbers{3}) << "the former one was put back";
}

TEST_F(certificate_watch_test, nodes_and_uses_have_alerts_of_their_own) {
  const auto ends_at = time.now_ms + 3 * a_day;
  look(watch, report("n1", ends_at));
  look(watch, report("n2", ends_at));
  look(watch, report("n2", ends_at, v1::CERTIFICATE_USE_CLIENTS));
  EXPECT_EQ(unresolved(), (numbers{1, 2, 3}));
  EXPECT_EQ(alert(3).sentence(), "node n2: an authority in its api.tls.client_ca ends at " + format_utc(ends_at));
  look(watch, report("n2", ends_at + 90 * a_day));
  EXPECT_EQ(unresolved(), (numbers{1, 3}));
}

TEST_F(certificate_watch_test, the_next_scheduler_goes_on_with_the_alerts_of_the_former) {
  const auto ends_at = time.now_ms + 3 * a_day;
  look(watch, report("n1", ends_at));
  look(watch, report("n2", ends_at));
  certificate_watch next{batches, alerts, time};
  ASSERT_TRUE(next.open().ok());
  look(next, report("n1", ends_at));
  EXPECT_EQ(unresolved(), (numbers{1, 2}));
  look(next, report("n2", ends_at + 90 * a_day));
  EXPECT_EQ(unresolved(), numbers{1});
  time.now_ms = ends_at - a_day;
  look(next, report("n1", ends_at));
  EXPECT_EQ(unresolved(), numbers{3});
}

TEST_F(certificate_watch_test, an_alert_that_was_acknowledged_is_not_raised_again_before_the_next_stage) {
  const auto ends_at = time.now_ms + 3 * a_day;
  look(watch, report("n1", ends_at));
  ASSERT_TRUE(alerts.acknowledge(1, "ana", "", batches.page(), batches.committed()).ok());
  settle();
  look(watch, report("n1", ends_at));
  EXPECT_EQ(unresolved(), numbers{1});
  EXPECT_EQ(alert(1).state(), v1::ALERT_STATE_ACKNOWLEDGED);
}

TEST_F(certificate_watch_test, a_clock_that_is_set_back_raises_nothing_and_resolves_what_was_raised_too_early) {
  const auto ends_at = time.now_ms + 3 * a_day;
  look(watch, report("n1", ends_at));
  time.jump(-10 * a_day);
  look(watch, report("n1", ends_at));
  EXPECT_EQ(unresolved(), numbers{1});
  time.jump(-10 * a_day);
  look(watch, report("n1", ends_at));
  EXPECT_EQ(unresolved(), numbers{});
}

TEST_F(certificate_watch_test, the_alert_of_a_node_that_has_gone_is_resolved_after_a_day) {
  const auto ends_at = time.now_ms + 10 * a_day;
  look(watch, report("n1", ends_at));
  look(watch, report("n2", ends_at));
  time.now_ms += a_day / 2;
  look(watch, report("n2", ends_at));
  time.now_ms += a_day / 2 - 1;
  time.jump(a_day);
  ASSERT_TRUE(watch.look_at_silent().ok());
  settle();
  EXPECT_EQ(unresolved(), (numbers{1, 2})) << "the wall clock does not count";
  ++time.now_ms;
  ASSERT_TRUE(watch.look_at_silent().ok());
  settle();
  EXPECT_EQ(unresolved(), numbers{2});
}

TEST_F(certificate_watch_test, what_makes_no_sense_has_no_alert) {
  look(watch, report("", time.now_ms + a_day));
  look(watch, report("n1", 0));
  look(watch, report("n1", std::numeric_limits<std::int64_t>::min()));
  look(watch, report("n1", time.now_ms + a_day, v1::CERTIFICATE_USE_UNSPECIFIED));
  look(watch, report("n1", time.now_ms + a_day, static_cast<v1::CertificateUse>(77)));
  EXPECT_EQ(unresolved(), numbers{});
}

}  // namespace
}  // namespace fairlead::testing
