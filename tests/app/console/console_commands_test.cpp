#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "app/console/commands.hpp"
#include "app/console/screen.hpp"

namespace fairlead::app {
namespace {

struct answer {
  int code = 0;
  std::string text;
  std::optional<watch_plan> watch;
  bool quit = false;
};

/// No command here reaches a node: whoever tries says so.
class nobody final : public client_keeper {
 public:
  connected_client get(const client_options&) override { return error{v1::ERROR_CODE_UNAVAILABLE, "A node was asked", ""}; }
};

answer said(const console_words& words) {
  cli_context context;
  context.keeper = std::make_shared<nobody>();
  console_memory memory;
  console_parser parser{context, memory};
  captured_output output;
  const speak_to mine{output};
  answer out;
  out.code = parser.run(words);
  out.text = output.text();
  out.watch = memory.watch;
  out.quit = memory.quit;
  return out;
}

console_words expanded(const console_words& words) {
  cli_context context;
  console_memory memory;
  return console_parser{context, memory}.expand(words);
}

TEST(console_commands, short_names_stand_for_commands_of_the_command_line) {
  EXPECT_EQ(expanded({"tasks", "--parked"}), (console_words{"task", "list", "--parked"}));
  EXPECT_EQ(expanded({"retry", "t"}), (console_words{"task", "retry", "t"}));
  EXPECT_EQ(expanded({"fairlead", "task", "retry", "t"}), (console_words{"task", "retry", "t"}));
}

TEST(console_commands, a_task_is_shown_by_its_id_alone) {
  EXPECT_EQ(expanded({"task", "order-7"}), (console_words{"task", "show", "order-7"}));
  EXPECT_EQ(expanded({"task", "list"}), (console_words{"task", "list"}));
  EXPECT_EQ(expanded({"task", "--help"}), (console_words{"task", "--help"}));
}

TEST(console_commands, a_job_is_shown_by_its_name_alone) {
  EXPECT_EQ(expanded({"jobs", "--paused"}), (console_words{"job", "list", "--paused"}));
  EXPECT_EQ(expanded({"job", "nightly"}), (console_words{"job", "show", "nightly"}));
  EXPECT_EQ(expanded({"job", "history", "nightly"}), (console_words{"job", "history", "nightly"}));
}

TEST(console_commands, every_short_name_leads_to_a_command) {
  for (const auto& alias : console_aliases()) {
    const auto shown = said({"help", alias.name});
    EXPECT_EQ(shown.code, exit_ok) << alias.name;
    EXPECT_NE(shown.text.find("--node"), std::string::npos) << alias.name;
  }
}

TEST(console_commands, help_lists_every_command) {
  const auto all = said({"help"}).text;
  for (const auto* name :
       {"nodes",  "tree",     "actors", "shards",   "agents",    "tasks",    "task ID",     "steps",         "history",
        "alerts", "counters", "jobs",   "job NAME", "job pause", "status",   "retry",       "skip",          "settle",
        "undo",   "cancel",   "pause",  "resume",   "ack",       "brake",    "agent drain", "agent breaker", "node",
        "log",    "watch",    "help",   "quit",     "submit",    "workflow", "replies",     "audit",         "operation"})
    EXPECT_NE(all.find("\n" + std::string{name}), std::string::npos) << name;
}

TEST(console_commands, each_command_asks_a_node_when_it_is_sound) {
  for (const console_words& words : {console_words{"nodes"},
                                     {"tree", "n2"},
                                     {"actors", "--sort", "handled"},
                                     {"shards"},
                                     {"agents", "pay", "--sick"},
                                     {"tasks"},
                                     {"task", "t"},
                                     {"steps", "t"},
                                     {"history", "t"},
                                     {"alerts"},
                                     {"counters"},
                                     {"status"},
                                     {"retry", "t"},
                                     {"pause", "t"},
                                     {"ack", "1"},
                                     {"brake", "release"},
                                     {"audit", "n2", "--since", "3d"},
                                     {"operation", "show", "8f2c"},
                                     {"operation", "stop", "8f2c"},
                                     {"agent", "resume", "n/a"},
                                     {"node", "drain", "n2"},
                                     {"jobs", "--failing"},
                                     {"job", "nightly"},
                                     {"job", "history", "nightly", "--from", "2026-03-28T22:30:00Z"},
                                     {"job", "pause", "nightly", "hourly"},
                                     {"job", "run", "nightly", "--input", "{}"},
                                     {"job", "backfill", "nightly", "--from", "2026-03-28T22:30:00Z", "--to", "2026-03-28T23:30:00Z"},
                                     {"job", "delete", "nightly", "--yes"},
                                     {"job", "rewind"},
                                     {"job", "add", "nightly", "--schedule", "@daily", "--workflow", "w"},
                                     {"log", "level", "debug"}}) {
    const auto asked = said(words);
    EXPECT_EQ(asked.code, exit_unavailable) << words.front();
    EXPECT_NE(asked.text.find("A node was asked"), std::string::npos) << words.front() << ": " << asked.text;
  }
}

TEST(console_commands, an_option_that_there_is_none_of_is_named) {
  const auto refused = [](const console_words& words) {
    const auto told = said(words);
    EXPECT_EQ(told.code, exit_usage) << told.text;
    return told.text.substr(0, told.text.find('\n'));
  };
  EXPECT_EQ(refused({"submit", "travel", "--imput", "{}"}), "fairlead: submit has no option --imput; did you mean --input?");
  EXPECT_EQ(refused({"submit", "travel", "--imput={}"}), "fairlead: submit has no option --imput; did you mean --input?");
  EXPECT_EQ(refused({"job", "backfill", "nightly", "--zzz", "3d"}), "fairlead: job backfill has no option --zzz.");
  EXPECT_EQ(refused({"tasks", "-x"}), "fairlead: task list has no option -x.");
  EXPECT_EQ(refused({"retry", "t", "--reason", "--why", "--parkd"}), "fairlead: task retry has no option --parkd; did you mean --parked?")
      << "--why is what the reason says";
  EXPECT_EQ(refused({"--parked"}), "fairlead: The console has no option --parked.");
}

TEST(console_commands, an_error_begins_as_a_sentence_does_unless_that_is_a_name) {
  const auto told = [](const char* sentence, const char* remedy) {
    captured_output output;
    const speak_to mine{output};
    EXPECT_EQ(fail({v1::ERROR_CODE_NOT_FOUND, sentence, remedy}), exit_not_found);
    return output.text();
  };
  EXPECT_EQ(told("there is no job x", "fairlead job list shows all jobs"),
            "fairlead: There is no job x.\nfairlead job list shows all jobs.\n");
  EXPECT_EQ(told("the node is draining", "there is another"), "fairlead: The node is draining.\nThere is another.\n");
  EXPECT_EQ(told("payment is no agent", ""), "fairlead: payment is no agent.\n");
}

TEST(console_commands, a_command_of_a_group_that_there_is_none_of_has_a_neighbour) {
  EXPECT_EQ(said({"workflow", "lst"}).text, "fairlead: There is no command 'lst' here; did you mean list?\nSee 'help workflow'.\n");
  EXPECT_EQ(said({"workflow", "zzzzz"}).text, "fairlead: There is no command 'zzzzz' here.\nSee 'help workflow'.\n");
}

TEST(console_commands, bad_input_is_refused_before_a_node_is_asked) {
  for (const console_words& words : {console_words{"nodez"},
                                     {"nodes", "--wrong"},
                                     {"actors", "--sort", "size"},
                                     {"steps"},
                                     {"node", "drain"},
                                     {"log", "level", "loud"},
                                     {"tasks", "--state", "odd"},
                                     {"skip", "t", "s"},
                                     {"retry", "t", "s", "--input", "@-"},
                                     {"submit", "w", "--batch", "-"},
                                     {"submit", "w", "--batch=-"},
                                     {"job", "pause"},
                                     {"job", "import", "-"},
                                     {"job", "history", "nightly", "--from", "yesterday"},
                                     {"job", "backfill", "nightly", "--to", "2026-03-28T22:30:00Z"},
                                     {"job", "run", "nightly", "--overlap", "maybe"},
                                     {"job", "add", "nightly", "--schedule", "@dayly", "--workflow", "w"},
                                     {"job", "add", "nightly", "--schedule", "@daily", "--workflow", "w", "--tz", "Nowhere"},
                                     {"job", "show", "nightly", "--json", "--yaml"},
                                     {"job", "list", "--workflow", ""},
                                     {"watch"},
                                     {"watch", "-n", "0", "nodes"},
                                     {"agent"}}) {
    const auto refused = said(words);
    EXPECT_EQ(refused.code, exit_usage) << words.front() << ": " << refused.text;
    const auto json = std::find(words.begin(), words.end(), "--json") != words.end();
    EXPECT_EQ(refused.text.rfind(json ? R"({"error":)" : "fairlead: ", 0), 0u) << refused.text;
    EXPECT_EQ(refused.text.find("A node was asked"), std::string::npos) << refused.text;
  }
}

TEST(console_commands, an_option_of_a_job_has_the_limits_of_a_node) {
  for (const auto& [option, value, says] : std::vector<std::array<const char*, 3>>{{"--keep", "0", "1 to 100000"},
                                                                                   {"--keep", "100001", "1 to 100000"},
                                                                                   {"--max-in-flight", "0", "1 to 1000"},
                                                                                   {"--max-in-flight", "2000", "1 to 1000"},
                                                                                   {"--priority", "2000", "-1000 to 1000"},
                                                                                   {"--jitter", "30d", "30d is not between 0s and 1d"},
                                                                                   {"--within", "367d", "367d is not between 1ms and 366d"},
                                                                                   {"--tz", "utc", "Did you mean UTC?"}}) {
    const auto refused = said({"job", "add", "nightly", "--schedule", "@daily", "--workflow", "w", option, value});
    EXPECT_EQ(refused.code, exit_usage) << option;
    EXPECT_EQ(refused.text.find("A node was asked"), std::string::npos) << refused.text;
    const auto at = refused.text.find(says);
    ASSERT_NE(at, std::string::npos) << refused.text;
    const auto next = refused.text[at + std::string{says}.size()];
    EXPECT_FALSE(next >= '0' && next <= '9') << refused.text;
  }
  for (const auto& [option, value] : std::vector<std::array<const char*, 2>>{
           {"--keep", "100000"}, {"--max-in-flight", "1000"}, {"--priority", "-1000"}, {"--jitter", "24h"}})
    EXPECT_EQ(said({"job", "add", "nightly", "--schedule", "@daily", "--workflow", "w", option, value}).code, exit_unavailable) << option;
}

TEST(console_commands, a_slip_is_answered_with_what_was_meant) {
  EXPECT_NE(said({"shrads"}).text.find("Did you mean shards?"), std::string::npos);
}

TEST(console_commands, what_would_run_a_node_in_the_console_is_not_there) {
  EXPECT_EQ(said({"dev"}).code, exit_usage);
  EXPECT_EQ(said({"console"}).code, exit_usage);
  EXPECT_EQ(said({"node", "--config", "x"}).code, exit_usage);
}

TEST(console_commands, quit_and_exit_end_it) {
  EXPECT_TRUE(said({"quit"}).quit);
  EXPECT_TRUE(said({"exit"}).quit);
  EXPECT_FALSE(said({"help"}).quit);
}

TEST(console_commands, watch_takes_options_of_its_own_and_leaves_the_others_to_the_command) {
  const auto plan = said({"watch", "-n", "5", "--times", "3", "tasks", "--parked", "--limit", "20"}).watch;
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->every.count(), 5);
  EXPECT_EQ(plan->times, 3u);
  EXPECT_EQ(plan->command, (console_words{"task", "list", "--parked", "--limit", "20"}));
}

TEST(console_commands, only_what_looks_can_be_watched_and_only_a_page_of_it) {
  for (const console_words& words : {console_words{"watch", "retry", "t"},
                                     {"watch", "watch", "nodes"},
                                     {"watch", "quit"},
                                     {"watch", "task", "watch", "t"},
                                     {"watch", "tasks", "--all"},
                                     {"watch", "tasks", "--limit", "5000"},
                                     {"watch", "alerts", "--limit=5000"},
                                     {"watch", "unheard"}}) {
    const auto refused = said(words);
    EXPECT_EQ(refused.code, exit_usage) << words[1] << ": " << refused.text;
    EXPECT_FALSE(refused.watch) << words[1];
  }
}

TEST(console_commands, a_picture_fits_its_terminal_and_says_what_is_left_out) {
  const auto drawn = watch_picture("title", "one\ntwo\nthree\nfour\nfive\n", 4, 5);
  EXPECT_EQ(drawn, "\x1b[Ht...\x1b[K\none\x1b[K\ntwo\x1b[K\n....\x1b[K\n\x1b[J");
}

}  // namespace
}  // namespace fairlead::app
