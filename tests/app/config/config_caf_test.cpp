#include <gtest/gtest.h>

#include "app/config/config.hpp"
#include "tests/app/config/node_file.hpp"

namespace fairlead::app {
namespace {

TEST(config_caf, passes_options_through_in_order) {
  const auto file = parsed(R"(caf:
  scheduler: { policy: sharing, max-threads: 4, enable-profiling: false }
  middleman.heartbeat-interval: 500ms
  work-stealing:
    relaxed-sleep-duration: 50us
  logger: { file-name: "caf \"1\".log", component-blacklist: [a, "b c"] }
)");
  EXPECT_EQ(shown(file.problems), lines{});
  EXPECT_EQ(file.config.caf, (std::vector<std::pair<std::string, std::string>>{{"scheduler.policy", "sharing"},
                                                                               {"scheduler.max-threads", "4"},
                                                                               {"scheduler.enable-profiling", "false"},
                                                                               {"middleman.heartbeat-interval", "500ms"},
                                                                               {"work-stealing.relaxed-sleep-duration", "50us"},
                                                                               {"logger.file-name", R"("caf \"1\".log")"},
                                                                               {"logger.component-blacklist", R"(["a", "b c"])"}}));
}

TEST(config_caf, refuses_what_caf_would_ignore_in_silence) {
  EXPECT_EQ(
      problems_of("caf:\n  scheduler:\n    max-thread: 4"),
      lines{"5:17: caf.scheduler.max-thread: CAF has no option scheduler.max-thread for a node; did you mean scheduler.max-threads?"});
  EXPECT_EQ(problems_of("caf:\n  shceduler: { max-threads: 4 }"), lines{"4:14: caf.shceduler: CAF has no options under shceduler"});
  EXPECT_EQ(problems_of("caf:\n  scheduler: { max-threads: two }"),
            lines{"4:29: caf.scheduler.max-threads: expected a whole number from 0 to 9223372036854775807, found \"two\""});
  EXPECT_EQ(problems_of("caf:\n  scheduler: { enable-profiling: 1 }"),
            lines{"4:34: caf.scheduler.enable-profiling: expected true or false, found the number 1"});
  EXPECT_EQ(problems_of("caf:\n  middleman: { heartbeat-interval: 1 sec }"),
            lines{"4:36: caf.middleman.heartbeat-interval: expected a time such as 50us, 500ms, 2s or 1min, found \"1 sec\""});
  EXPECT_EQ(problems_of("caf:\n  middleman: { app-identifiers: x }"),
            lines{"4:33: caf.middleman.app-identifiers: expected a list, found \"x\""});
}

TEST(config_caf, never_opens_a_second_port) {
  EXPECT_EQ(problems_of("caf:\n  middleman: { enable-automatic-connections: true }"),
            lines{"4:46: caf.middleman.enable-automatic-connections: this option would open a second port on every interface; leave the "
                  "option out"});
  EXPECT_EQ(problems_of("caf:\n  middleman: { enable-automatic-connections: false }"), lines{});
}

}  // namespace
}  // namespace fairlead::app
