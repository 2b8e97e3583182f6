#include <gtest/gtest.h>

#include "app/console/completion.hpp"

namespace fairlead::app {
namespace {

class known_names final : public name_source {
 public:
  std::vector<std::string> names(name_kind kind, const std::string& of) override {
    switch (kind) {
      case name_kind::task: return {"order-1", "order-2", "b\x1b[2Jad"};
      case name_kind::parked_task: return {"stuck-1"};
      case name_kind::step: return of == "stuck-1" ? std::vector<std::string>{"charge", "ship"} : std::vector<std::string>{};
      case name_kind::signal: return of == "order-2" ? std::vector<std::string>{"approved", "paid"} : std::vector<std::string>{};
      case name_kind::workflow: return {"order", "refund"};
      case name_kind::agent: return {"payment"};
      case name_kind::instance: return {"n1/payment", "n2/payment"};
      case name_kind::node: return {"n1", "n2"};
      case name_kind::alert: return {"17"};
      case name_kind::job: return {"report", "rotate"};
    }
    return {};
  }
};

std::vector<std::string> found(const std::string& text) {
  cli_context context;
  console_memory memory;
  console_parser parser{context, memory};
  known_names names;
  return complete(parser, text, names).words;
}

using list = std::vector<std::string>;

bool has(const list& in, const std::string& word) { return std::find(in.begin(), in.end(), word) != in.end(); }

TEST(console_completion, offers_commands_and_short_names_first) {
  EXPECT_EQ(found("no"), (list{"node", "nodes"}));
  EXPECT_EQ(found("tas"), (list{"task", "tasks"}));
  EXPECT_EQ(found("nodes; hi"), (list{"history"}));
  EXPECT_TRUE(has(found(""), "retry"));
}

TEST(console_completion, offers_the_commands_of_a_group) {
  EXPECT_EQ(found("agent breaker "), (list{"close", "open"}));
  EXPECT_EQ(found("node "), (list{"drain", "forget", "log-level", "reload", "resume"}));
}

TEST(console_completion, offers_task_ids_also_right_after_task) {
  EXPECT_EQ(found("task order"), (list{"order-1", "order-2"}));
  EXPECT_EQ(found("task show order-2"), (list{"order-2"}));
  EXPECT_EQ(found("history "), (list{"order-1", "order-2"}));
}

TEST(console_completion, offers_no_name_that_would_steer_the_terminal) { EXPECT_EQ(found("steps b"), (list{})); }

TEST(console_completion, offers_what_stands_still_to_what_mends_it_and_then_its_steps) {
  EXPECT_EQ(found("retry "), (list{"stuck-1"}));
  EXPECT_EQ(found("skip --reason because stuck-1 c"), (list{"charge"}));
  EXPECT_EQ(found("task settle stuck-1 "), (list{"charge", "ship"}));
}

TEST(console_completion, offers_any_task_to_a_signal_and_then_the_signals_of_its_workflow) {
  EXPECT_EQ(found("signal "), (list{"order-1", "order-2"}));
  EXPECT_EQ(found("task signal order-2 "), (list{"approved", "paid"}));
  EXPECT_EQ(found("signal --key k order-2 p"), (list{"paid"}));
}

TEST(console_completion, offers_options_and_their_values) {
  EXPECT_EQ(found("tasks --pa"), (list{"--parent", "--parked"}));
  EXPECT_EQ(found("tasks --top"), (list{"--top-level"}));
  EXPECT_EQ(found("tasks --parent o"), (list{"order-1", "order-2"}));
  EXPECT_EQ(found("tasks --state un"), (list{"undoing", "undone"}));
  EXPECT_EQ(found("alerts --state o"), (list{"open"}));
  EXPECT_EQ(found("tasks --workflow=re"), (list{"--workflow=refund"}));
  EXPECT_EQ(found("actors --sort h"), (list{"handled"}));
}

TEST(console_completion, offers_agents_instances_nodes_workflows_alerts_and_levels) {
  EXPECT_EQ(found("agent drain n2"), (list{"n2/payment"}));
  EXPECT_EQ(found("agent breaker open "), (list{"payment"}));
  EXPECT_EQ(found("agent show "), (list{"n1/payment", "n2/payment", "payment"}));
  EXPECT_EQ(found("node drain "), (list{"n1", "n2"}));
  EXPECT_EQ(found("tree n"), (list{"n1", "n2"}));
  EXPECT_EQ(found("log level w"), (list{"warning"}));
  EXPECT_EQ(found("log level debug n1"), (list{"n1"}));
  EXPECT_EQ(found("submit o"), (list{"order"}));
  EXPECT_EQ(found("ack "), (list{"17"}));
}

TEST(console_completion, offers_jobs_also_right_after_job_and_the_words_of_their_options) {
  EXPECT_EQ(found("job rep"), (list{"report"}));
  EXPECT_EQ(found("job pause report ro"), (list{"rotate"}));
  EXPECT_EQ(found("job history "), (list{"report", "rotate"}));
  EXPECT_EQ(found("job next @daily --name rep"), (list{"report"}));
  EXPECT_EQ(found("job run report --overlap q"), (list{"queue"}));
  EXPECT_EQ(found("job add x --dst l"), (list{"literal"}));
  EXPECT_EQ(found("jobs --workflow re"), (list{"refund"}));
  EXPECT_EQ(found("jobs --f"), (list{"--failing"}));
}

TEST(console_completion, looks_through_watch_and_help) {
  EXPECT_EQ(found("watch -n 1 tasks --pa"), (list{"--parent", "--parked"}));
  EXPECT_EQ(found("watch sh"), (list{"shards"}));
  EXPECT_EQ(found("watch -n "), (list{}));
  EXPECT_EQ(found("help task re"), (list{"resume", "retry"}));
}

TEST(console_completion, says_nothing_where_nothing_is_known) {
  EXPECT_EQ(found("unheard of "), (list{}));
  EXPECT_EQ(found("nodes x"), (list{}));
  EXPECT_EQ(found("# no"), (list{}));
}

TEST(console_completion, knows_what_all_have_in_common) {
  EXPECT_EQ(common_beginning({"order-1", "order-2"}), "order-");
  EXPECT_EQ(common_beginning({"a"}), "a");
  EXPECT_EQ(common_beginning({}), "");
  EXPECT_EQ(common_beginning({"x\xc3\xa4", "x\xc3\xb6"}), "x");  // not half of a character
}

}  // namespace
}  // namespace fairlead::app
