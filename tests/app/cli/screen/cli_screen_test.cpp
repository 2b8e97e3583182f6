#include "app/cli/screen/screen.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <CLI/CLI.hpp>

#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {
namespace {

class cli_screen_test : public ::testing::Test {
 protected:
  static screen of_width(std::size_t width) {
    screen out;
    out.width = width;
    return out;
  }
  static text_table tasks() {
    text_table out{
        {{"TASK"}, {"STATE"}, {"STEPS", align::right}, {"LABELS", align::left, narrow::drop}, {"WHY", align::left, narrow::below}}};
    out.add({"t1", "running, parked", "1/2", "shop=berlin kind=gift", "step two failed (http_503) on the last of 3 attempts: no answer"});
    out.add({"t2", "completed", "2/2", "", ""});
    return out;
  }
};

// ---- tables ----

TEST_F(cli_screen_test, a_pipe_has_tables_as_wide_as_they_are) {
  EXPECT_EQ(tasks().text(),
            "TASK  STATE            STEPS  LABELS                 WHY\n"
            "t1    running, parked    1/2  shop=berlin kind=gift  step two failed (http_503) on the last of 3 attempts: no answer\n"
            "t2    completed          2/2\n");
}

TEST_F(cli_screen_test, a_narrow_terminal_has_long_cells_below_their_row) {
  const show_on here{of_width(80)};
  EXPECT_EQ(tasks().text(),
            "TASK  STATE            STEPS  LABELS                 WHY\n"
            "t1    running, parked    1/2  shop=berlin kind=gift\n"
            "    why  step two failed (http_503) on the last of 3 attempts: no answer\n"
            "t2    completed          2/2\n");
}

TEST_F(cli_screen_test, a_narrower_one_leaves_columns_out) {
  const show_on here{of_width(56)};
  EXPECT_EQ(tasks().text(),
            "TASK  STATE            STEPS  WHY\n"
            "t1    running, parked    1/2\n"
            "    why  step two failed (http_503) on the last of 3\n"
            "         attempts: no answer\n"
            "t2    completed          2/2\n");
}

TEST_F(cli_screen_test, a_cell_that_has_room_stays_in_its_row) {
  const show_on here{of_width(100)};
  text_table out{{{"TASK"}, {"LABELS", align::left, narrow::drop}, {"WHY", align::left, narrow::below}}};
  out.add({"t1", std::string(60, 'x'), "waits for an operator, as it should"});
  EXPECT_EQ(out.text(), "TASK  LABELS" + std::string(56, ' ') + "WHY\nt1    " + std::string(60, 'x') +
                            "\n    why  waits for an operator, as it should\n");
}

TEST_F(cli_screen_test, columns_are_chosen_and_rows_are_sorted) {
  auto on = of_width(0);
  on.columns = {"why", "task"};
  on.sort = "-task";
  {
    const show_on here{on};
    EXPECT_EQ(tasks().text(),
              "WHY                                                              TASK\n"
              "                                                                 t2\n"
              "step two failed (http_503) on the last of 3 attempts: no answer  t1\n");
  }
  for (auto* wrong : {&on.sort, &on.columns[0]}) {
    auto bad = on;
    (wrong == &on.sort ? bad.sort : bad.columns[0]) = "colour";
    const show_on here{bad};
    try {
      (void)tasks().text();
      FAIL() << "a column that is not there";
    } catch (const CLI::ValidationError& why) {
      EXPECT_NE(std::string{why.what()}.find("task, state, steps, labels, why"), std::string::npos) << why.what();
    }
  }
}

TEST_F(cli_screen_test, numbers_and_times_are_sorted_by_what_they_mean) {
  auto on = of_width(0);
  on.moments = screen::times::age;
  on.now_unix_ms = [] { return std::int64_t{10'000'000}; };
  on.sort = "seen";
  const show_on here{on};
  text_table out{{{"HELD", align::right}, {"SEEN"}}};
  out.add({"10", time_cell(10'000'000 - 9'000)});
  out.add({"9", time_cell(10'000'000 - 130'000)});
  EXPECT_EQ(out.text(), "HELD  SEEN\n   9  2m ago\n  10  9s ago\n");
  shown_on().sort = "held";
  EXPECT_EQ(out.text(), "HELD  SEEN\n   9  2m ago\n  10  9s ago\n");
  shown_on().sort = "-held";
  EXPECT_EQ(out.text(), "HELD  SEEN\n  10  9s ago\n   9  2m ago\n");
}

TEST_F(cli_screen_test, colours_say_what_a_state_means_and_take_no_room) {
  auto on = of_width(0);
  on.colours = true;
  const show_on here{on};
  text_table out{{{"STATE"}, {"TASK"}}};
  out.add({"running, parked", "failed"});
  out.add({"completed", "t2"});
  EXPECT_EQ(out.text(),
            "\x1b[1mSTATE\x1b[0m            \x1b[1mTASK\x1b[0m\n"
            "\x1b[31mrunning, parked\x1b[0m  failed\n"
            "\x1b[32mcompleted\x1b[0m        t2\n");
}

// ---- lines ----

TEST_F(cli_screen_test, long_lines_are_broken_below_their_text) {
  const show_on here{of_width(40)};
  EXPECT_EQ(fitted("why       step two failed on the last of three attempts\nshort\n"),
            "why       step two failed on the last of\n          three attempts\nshort\n");
  EXPECT_EQ(fitted("A sentence of more than forty characters has two lines."), "A sentence of more than forty characters\nhas two lines.");
  EXPECT_EQ(fitted("  fairlead task retry order-17 charge --input JSON"), "  fairlead task retry order-17 charge\n  --input JSON");
}

TEST_F(cli_screen_test, a_word_that_is_too_long_stays_whole) {
  const show_on here{of_width(40)};
  const std::string id(60, 'x');
  EXPECT_EQ(fitted(id + "\n"), id + "\n");
  EXPECT_EQ(fitted("see " + id + " for more\n"), "see\n" + id + "\nfor more\n");
}

TEST_F(cli_screen_test, a_pipe_has_lines_of_any_length) {
  const std::string line(500, 'x');
  EXPECT_EQ(fitted("a " + line), "a " + line);
}

// ---- times ----

TEST_F(cli_screen_test, times_are_ages_moments_or_local) {
  auto on = of_width(0);
  on.now_unix_ms = [] { return std::int64_t{1'774'746'000'250}; };
  const show_on here{on};
  EXPECT_EQ(time_cell(1'774'746'000'250).text, "2026-03-29 01:00:00Z");
  shown_on().moments = screen::times::age;
  const auto ago = [](std::int64_t ms) { return time_cell(1'774'746'000'250 - ms).text; };
  EXPECT_EQ(ago(0), "0s ago");
  EXPECT_EQ(ago(119'000), "119s ago");
  EXPECT_EQ(ago(120'000), "2m ago");
  EXPECT_EQ(ago(3 * 3'600'000), "3h ago");
  EXPECT_EQ(ago(50 * 3'600'000), "2d ago");
  EXPECT_EQ(ago(-5'000), "in 5s");
  EXPECT_EQ(time_cell(0).text, "-");
  EXPECT_EQ(time_text(1'774'746'000'250), "2026-03-29 01:00:00Z") << "outside of tables moments stay";
  const char* before = ::getenv("TZ");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TZ", "Europe/Berlin", 1);
  ::tzset();
  shown_on().moments = screen::times::local;
  EXPECT_EQ(time_text(1'774'746'000'250), "2026-03-29 03:00:00+0200");
  EXPECT_EQ(exact_time_text(1'774'746'000'250), "2026-03-29T03:00:00.250+0200");
  before == nullptr ? ::unsetenv("TZ") : ::setenv("TZ", kept.c_str(), 1);
  ::tzset();
}

// ---- yaml ----

TEST_F(cli_screen_test, json_is_printed_as_yaml) {
  EXPECT_EQ(
      yaml_of_json(R"({"id":"t1","no":"no","n":1.50,"when":null,"labels":{},"steps":[{"path":"a b","ids":[1,2]},"x",[]],"odd key":true})"),
      "---\n"
      "id: t1\n"
      "\"no\": \"no\"\n"
      "\"n\": 1.5\n"
      "when: null\n"
      "labels: {}\n"
      "steps:\n"
      "  - path: \"a b\"\n"
      "    ids:\n"
      "      - 1\n"
      "      - 2\n"
      "  - x\n"
      "  - []\n"
      "\"odd key\": true\n");
  EXPECT_EQ(yaml_of_json("[]"), "---\n[]\n");
  const std::string long_word(1'000'000, 'x');
  EXPECT_EQ(yaml_of_json("\"" + long_word + "\""), "---\n" + long_word + "\n") << "a payload may be one word";
}

}  // namespace
}  // namespace fairlead::app
