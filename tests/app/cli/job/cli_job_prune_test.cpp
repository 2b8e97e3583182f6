#include "app/cli/job/prune.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace fairlead::app {
namespace {

using names = std::vector<std::string>;

/// What a node does with jobs, as far as it matters here.
struct few_words_node {
  names there;       // by name
  names refused;     // cannot be deleted
  int fails_at = 0;  // the n-th request of its kind, from 1 on
  std::vector<v1::JobOperateRequest> asked;
  int listed = 0;

  result<v1::JobListReply> list(const v1::JobListRequest& request) {
    if (++listed == fails_at) return error{v1::ERROR_CODE_UNAVAILABLE, "shard 3 has no leader", "wait"};
    v1::JobListReply out;
    EXPECT_LE(request.page_size(), 1'000U);
    for (const auto& name : there) {
      if (name <= request.after() || name.find(request.name_contains()) == std::string::npos) continue;
      if (out.items_size() == static_cast<int>(request.page_size())) {
        out.set_after(out.items(out.items_size() - 1).name());
        break;
      }
      out.add_items()->set_name(name);
    }
    return out;
  }

  result<v1::JobOperateReply> operate(const v1::JobOperateRequest& request) {
    asked.push_back(request);
    EXPECT_LE(request.names_size(), 1'000);
    if (static_cast<int>(asked.size()) == fails_at) return error{v1::ERROR_CODE_UNAVAILABLE, "no node answers", "start one"};
    v1::JobOperateReply out;
    for (const auto& name : request.names()) {
      auto& one = *out.add_results();
      const auto at = std::find(there.begin(), there.end(), name);
      if (at == there.end()) {
        one.mutable_error()->set_code(v1::ERROR_CODE_NOT_FOUND);
      } else if (std::find(refused.begin(), refused.end(), name) != refused.end()) {
        *one.mutable_error() = error{v1::ERROR_CODE_UNAVAILABLE, "it is being paused", "try again in a moment"}.to_proto();
      } else {
        there.erase(at);
      }
    }
    return out;
  }

  job_list_request lists() {
    return [this](const v1::JobListRequest& request) { return list(request); };
  }
  job_operate_request operates() {
    return [this](const v1::JobOperateRequest& request) { return operate(request); };
  }
};

std::vector<v1::JobSpec> specs(const names& of) {
  std::vector<v1::JobSpec> out;
  for (const auto& name : of) out.emplace_back().set_name(name);
  return out;
}

names many(int count, const std::string& prefix = "crontab/") {
  names out;
  for (int i = 0; i < count; ++i) out.push_back(prefix + std::to_string(10'000 + i));
  return out;
}

std::string refusal(const status& what) {
  if (what) return "";
  EXPECT_EQ(what.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_NE(what.failure().remedy.find("fairlead job delete"), std::string::npos) << what.failure().remedy;
  return what.failure().sentence;
}

/// What a command has said.
class listener final : public command_output {
 public:
  bool say(const std::string& text) override {
    said += text;
    return true;
  }
  void complain(const std::string& text) override { complaints += text; }
  std::string said;
  std::string complaints;
};

struct ended {
  tidied what;
  int code = exit_ok;
  std::string said;
  std::string complaints;
};

/// The end of an import of `crontab/kept-1` that has ended with `code` so far.
ended tidy(few_words_node& node, bool prune, int code = exit_ok, bool json = false) {
  cli_context context;
  context.code = code;
  context.json = json;
  listener hears;
  const auto own = specs({"crontab/kept-1"});
  ended out;
  {
    const speak_to here{hears};
    out.what = tidy_jobs(context, {node.lists(), node.operates()}, {own, "tab", "crontab/", "ana", prune});
  }
  out.code = context.code;
  out.said = hears.said;
  out.complaints = hears.complaints;
  return out;
}

TEST(cli_job_prune, only_what_begins_with_the_prefix_and_is_not_of_the_crontab_is_found) {
  few_words_node node;
  node.there = {"crontab-by-hand", "crontab/kept-1", "crontab/old-2", "of/crontab/old-3", "report"};
  const auto found = other_jobs(node.lists(), specs({"crontab/kept-1", "crontab/new-4"}), "crontab/");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, (names{"crontab/old-2"}));
}

TEST(cli_job_prune, a_list_of_many_pages_is_read_to_its_end) {
  few_words_node node;
  node.there = many(2'500);
  const auto found = other_jobs(node.lists(), specs({node.there[0], node.there[1'200]}), "crontab/");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->size(), 2'498U);
  EXPECT_EQ(found->back(), node.there.back());
  EXPECT_EQ(node.listed, 3);
}

TEST(cli_job_prune, half_a_list_is_no_list) {
  few_words_node node;
  node.there = many(2'500);
  node.fails_at = 2;
  const auto found = other_jobs(node.lists(), {}, "crontab/");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.failure().code, v1::ERROR_CODE_UNAVAILABLE);
}

TEST(cli_job_prune, deletes_all_it_is_given_with_a_name_and_a_reason) {
  few_words_node node;
  node.there = many(2'345);
  const auto all = node.there;
  node.there.emplace_back("report");
  const auto done = delete_jobs(node.operates(), all, "ana", "/etc/crontab");
  EXPECT_FALSE(done.failed);
  EXPECT_EQ(node.there, (names{"report"}));
  ASSERT_EQ(done.results.size(), all.size());
  EXPECT_TRUE(refusals_of(done).empty());
  EXPECT_TRUE(left_of(all, done).empty());
  for (const auto& request : node.asked) {
    EXPECT_EQ(request.action().verb(), v1::JOB_VERB_DELETE);
    EXPECT_EQ(request.action().who(), "ana");
    EXPECT_EQ(request.action().reason(), "no longer in /etc/crontab");
  }
  const auto text = pruned_text(done);
  for (const auto& name : all) EXPECT_NE(text.find("Job " + name + " is deleted.\n"), std::string::npos) << name;
}

TEST(cli_job_prune, a_path_of_any_kind_gives_a_reason_that_a_node_takes) {
  few_words_node node;
  node.there = {"crontab/old-2"};
  delete_jobs(node.operates(), {"crontab/old-2"}, "ana", "/home/j\xf6rg/" + std::string(4'000, 'x'));
  ASSERT_EQ(node.asked.size(), 1U);
  const auto& reason = node.asked[0].action().reason();
  EXPECT_LE(reason.size(), 1'000U);
  EXPECT_EQ(reason.substr(0, 28), "no longer in /home/j\xef\xbf\xbdrg/xx") << "bytes that are no UTF-8 cannot be sent";
}

TEST(cli_job_prune, without_anything_to_delete_nothing_is_asked_of_a_node) {
  few_words_node node;
  const auto done = delete_jobs(node.operates(), {}, "ana", "tab");
  EXPECT_TRUE(node.asked.empty());
  EXPECT_EQ(pruned_text(done), "No job to delete.\n");
}

TEST(cli_job_prune, a_job_that_cannot_be_deleted_is_named_and_the_others_are_deleted) {
  few_words_node node;
  node.there = {"crontab/a-1", "crontab/b-2", "crontab/c-3"};
  node.refused = {"crontab/b-2"};
  const auto all = node.there;
  const auto done = delete_jobs(node.operates(), all, "ana", "tab");
  EXPECT_EQ(node.there, (names{"crontab/b-2"}));
  EXPECT_EQ(left_of(all, done), (names{"crontab/b-2"}));
  EXPECT_EQ(pruned_text(done), "Job crontab/a-1 is deleted.\nJob crontab/c-3 is deleted.\n");
  const auto why = refusals_of(done);
  ASSERT_EQ(why.size(), 1U);
  EXPECT_EQ(why[0].code, v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_EQ(why[0].sentence, "Job crontab/b-2 is not deleted: it is being paused");
  EXPECT_EQ(why[0].remedy, "try again in a moment");

  json_writer out;
  out.begin_object();
  write_pruned(out, done);
  const auto read = nlohmann::json::parse(out.end_object().text())["deleted"];
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0]["job"], "crontab/a-1");
  EXPECT_EQ(read[0]["code"], "ok");
  EXPECT_EQ(read[1]["job"], "crontab/b-2");
  EXPECT_EQ(read[1]["code"], "unavailable");
  EXPECT_EQ(read[1]["error"], "it is being paused");
  EXPECT_EQ(read[1]["remedy"], "try again in a moment");
}

TEST(cli_job_prune, a_job_that_somebody_else_has_deleted_is_gone_as_it_was_to_be) {
  few_words_node node;
  node.there = {"crontab/a-1"};
  const auto done = delete_jobs(node.operates(), {"crontab/a-1", "crontab/b-2"}, "ana", "tab");
  EXPECT_TRUE(refusals_of(done).empty());
  EXPECT_TRUE(left_of({"crontab/a-1", "crontab/b-2"}, done).empty());
}

TEST(cli_job_prune, a_message_that_fails_ends_it_and_says_how_many_are_not_known) {
  few_words_node node;
  node.there = many(250);
  const auto all = node.there;
  node.fails_at = 2;
  const auto done = delete_jobs(node.operates(), all, "ana", "tab");
  ASSERT_TRUE(done.failed);
  EXPECT_EQ(done.failed->code, v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_EQ(node.asked.size(), 2U) << "it goes on though nobody answers";
  const auto left = all.size() - done.results.size();
  EXPECT_EQ(done.failed->sentence, "no node answers; " + std::to_string(left) + " jobs are not confirmed as deleted");
  EXPECT_EQ(left_of(all, done).size(), left);
  EXPECT_EQ(node.there.size(), left);
}

TEST(cli_job_prune, an_answer_that_leaves_jobs_out_is_no_success) {
  const auto done = delete_jobs([](const v1::JobOperateRequest&) { return v1::JobOperateReply{}; }, {"crontab/a-1"}, "ana", "tab");
  ASSERT_TRUE(done.failed);
  EXPECT_NE(done.failed->sentence.find("1 job is not confirmed as deleted"), std::string::npos) << done.failed->sentence;
}

TEST(cli_job_prune, is_refused_while_lines_are_left_out) {
  EXPECT_EQ(refusal(check_prune({"tab", "crontab/", 3, 0})), "");
  const auto one = refusal(check_prune({"tab", "crontab/", 3, 1}));
  EXPECT_NE(one.find("the line of tab listed above"), std::string::npos) << one;
  const auto four = refusal(check_prune({"tab", "crontab/", 0, 4}));
  EXPECT_NE(four.find("4 lines of tab"), std::string::npos) << four;
}

TEST(cli_job_prune, is_refused_for_a_crontab_without_entries) {
  const auto said = refusal(check_prune({"tab", "web/", 0, 0}));
  EXPECT_NE(said.find("tab: the crontab has no entries"), std::string::npos) << said;
  EXPECT_NE(said.find("every job whose name begins with web/"), std::string::npos) << said;
}

TEST(cli_job_prune, is_refused_without_a_prefix) {
  EXPECT_EQ(refusal(check_prune_prefix("c")), "");
  EXPECT_NE(refusal(check_prune_prefix("")).find("--prefix is empty"), std::string::npos);
}

TEST(cli_job_prune, whoever_did_not_ask_for_it_is_told_of_it) {
  const auto one = others_text({"crontab/old-2"});
  EXPECT_NE(one.find("1 job with"), std::string::npos) << one;
  EXPECT_NE(one.find("--prune"), std::string::npos) << one;
  EXPECT_NE(one.find("\n  fairlead job delete crontab/old-2\n"), std::string::npos) << one;
  const auto text = others_text(many(25));
  EXPECT_NE(text.find("25 jobs with"), std::string::npos) << text;
  EXPECT_NE(text.find("and 5 more\n"), std::string::npos) << text;
}

TEST(cli_job_prune, ends_an_import_by_deleting_what_is_not_of_it) {
  few_words_node node;
  node.there = {"crontab/kept-1", "crontab/old-2", "report"};
  const auto end = tidy(node, true);
  EXPECT_EQ(end.code, exit_ok);
  EXPECT_EQ(end.said, "Job crontab/old-2 is deleted.\n");
  EXPECT_EQ(end.complaints, "");
  EXPECT_EQ(node.there, (names{"crontab/kept-1", "report"}));
  EXPECT_TRUE(end.what.others.empty());
}

TEST(cli_job_prune, deletes_nothing_unless_it_is_asked_to) {
  few_words_node node;
  node.there = {"crontab/kept-1", "crontab/old-2"};
  const auto end = tidy(node, false, exit_ok, true);
  EXPECT_EQ(end.code, exit_ok);
  EXPECT_TRUE(node.asked.empty());
  EXPECT_EQ(end.what.others, (names{"crontab/old-2"}));
}

TEST(cli_job_prune, deletes_nothing_after_a_failure) {
  few_words_node node;
  node.there = {"crontab/kept-1", "crontab/old-2"};
  const auto end = tidy(node, true, exit_conflict);
  EXPECT_EQ(end.code, exit_conflict);
  EXPECT_TRUE(node.asked.empty());
  EXPECT_EQ(end.what.others, (names{"crontab/old-2"}));
}

TEST(cli_job_prune, a_list_that_cannot_be_had_is_an_error_of_what_needs_it) {
  few_words_node node;
  node.there = {"crontab/kept-1", "crontab/old-2"};
  node.fails_at = 1;
  const auto end = tidy(node, true);
  EXPECT_EQ(end.code, exit_unavailable);
  EXPECT_NE(end.complaints.find("Nothing is deleted because the existing jobs cannot be listed: shard 3 has no leader"), std::string::npos)
      << end.complaints;
  EXPECT_TRUE(node.asked.empty());

  few_words_node other;
  other.fails_at = 1;
  EXPECT_EQ(tidy(other, false).code, exit_ok);
}

TEST(cli_job_prune, the_first_job_that_cannot_be_deleted_decides_how_it_ends) {
  for (const bool json : {false, true}) {
    few_words_node node;
    node.there = {"crontab/a-1", "crontab/b-2", "crontab/kept-1"};
    node.refused = {"crontab/a-1"};
    const auto end = tidy(node, true, exit_ok, json);
    EXPECT_EQ(end.code, exit_unavailable);
    EXPECT_EQ(end.what.others, (names{"crontab/a-1"}));
    EXPECT_EQ(end.said, json ? "" : "Job crontab/b-2 is deleted.\n") << "for programs it is a part of one object";
    EXPECT_EQ(end.complaints.find("Job crontab/a-1 is not deleted") != std::string::npos, !json) << end.complaints;
  }
}

TEST(cli_job_prune, a_message_that_fails_is_told_to_programs_too) {
  few_words_node node;
  node.there = {"crontab/old-2"};
  node.listed = 1;  // so that only the first deletion fails
  node.fails_at = 1;
  const auto end = tidy(node, true, exit_ok, true);
  EXPECT_EQ(end.code, exit_unavailable);
  EXPECT_NE(end.complaints.find("1 job is not confirmed as deleted"), std::string::npos) << end.complaints;
  EXPECT_EQ(end.what.others, (names{"crontab/old-2"}));
}

}  // namespace
}  // namespace fairlead::app
