#include "actors/gateway/requests/job_lists.hpp"

#include <gtest/gtest.h>

#include "actors/core/cluster/routing.hpp"
#include "actors/gateway/requests/checks.hpp"
#include "actors/gateway/requests/cut.hpp"

namespace fairlead {
namespace {

using names = std::vector<std::string>;

v1::JobListReply page_of(const names& jobs, const std::string& after = "") {
  v1::JobListReply out;
  for (const auto& name : jobs) out.add_items()->set_name(name);
  out.set_after(after);
  return out;
}

names of(const v1::JobListReply& reply) {
  names out;
  for (const auto& one : reply.items()) out.push_back(one.name());
  return out;
}

v1::JobListRequest pages_of(std::uint32_t size) {
  v1::JobListRequest out;
  out.set_page_size(size);
  return out;
}

TEST(job_lists, of_several_shards_become_one_by_name) {
  const auto page = merge(pages_of(0), {page_of({"b", "d"}), page_of({}), page_of({"a", "c"})});
  EXPECT_EQ(of(page), (names{"a", "b", "c", "d"}));
  EXPECT_EQ(page.after(), "");
}

TEST(job_lists, go_on_behind_the_last_name_of_a_full_page) {
  const auto page = merge(pages_of(2), {page_of({"b", "d"}), page_of({"a", "c"})});
  EXPECT_EQ(of(page), (names{"a", "b"}));
  EXPECT_EQ(page.after(), "b");
}

TEST(job_lists, give_out_no_name_behind_one_that_a_shard_has_not_come_to_yet) {
  // The first has looked at many jobs for nothing; what lies behind `m` there may come before `x`.
  const auto page = merge(pages_of(10), {page_of({}, "m"), page_of({"a", "x"})});
  EXPECT_EQ(of(page), names{"a"});
  EXPECT_EQ(page.after(), "m");
}

TEST(job_lists, say_how_many_jobs_all_shards_have_looked_at) {
  auto much = page_of({"a"}, "m");
  much.set_looked_at(5'000);
  EXPECT_EQ(merge(pages_of(10), {much, page_of({"b", "c"})}).looked_at(), 5'002u) << "a node of an earlier release does not say";
}

TEST(job_lists, fail_when_a_shard_does) {
  auto lost = page_of({});
  lost.mutable_error()->set_code(v1::ERROR_CODE_UNAVAILABLE);
  const auto page = merge(pages_of(10), {page_of({"a"}), lost});
  EXPECT_EQ(page.error().code(), v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_EQ(page.items_size(), 0);
}

TEST(job_lists, that_are_partial_go_on_without_a_shard_that_is_away) {
  auto lost = page_of({});
  lost.mutable_error()->set_code(v1::ERROR_CODE_UNAVAILABLE);
  lost.mutable_error()->set_sentence("shard 1 is away");
  auto what = pages_of(10);
  what.set_partial(true);
  const auto page = merge(what, {page_of({"a"}), lost});
  EXPECT_EQ(of(page), names{"a"});
  ASSERT_EQ(page.missing_size(), 1);
  EXPECT_EQ(page.missing(0).sentence(), "shard 1 is away");
  EXPECT_EQ(merge(what, {lost, lost}).error().sentence(), "shard 1 is away");
}

TEST(rewinds_of_all_jobs, go_from_shard_to_shard) {
  EXPECT_EQ(rewind_place("", 3)->shard, 0U);
  EXPECT_EQ(rewind_cursor({0, "team/job"}, 3), "0/team/job");
  EXPECT_EQ(rewind_place("0/team/job", 3)->after, "team/job");
  EXPECT_EQ(rewind_cursor({0, ""}, 3), "1/");
  EXPECT_EQ(rewind_place("1/", 3)->shard, 1U);
  EXPECT_EQ(rewind_cursor({2, ""}, 3), "");
  for (const auto* foreign : {"x", "3/", "1", "-1/", "job/1", "/"}) EXPECT_FALSE(rewind_place(foreign, 3).ok()) << foreign;
}

TEST(requests_about_jobs, are_cut_by_the_shard_of_each_name_and_put_together_in_their_order) {
  v1::JobApplyRequest what;
  for (int i = 0; i < 20; ++i) what.add_jobs()->set_name("j" + std::to_string(i));
  what.set_who("ana");
  what.set_check_only(true);
  what.set_if_revision(7);
  const auto cut = cut_by_shard(what, 3);
  std::vector<v1::JobApplyReply> answers;
  for (const auto& [shard, part] : cut.parts) {
    EXPECT_EQ(part.who(), "ana");
    EXPECT_TRUE(part.check_only());
    EXPECT_EQ(part.if_revision(), 7U);
    auto& answer = answers.emplace_back();
    if (shard == 1) {
      answer.mutable_error()->set_code(v1::ERROR_CODE_UNAVAILABLE);
      continue;
    }
    for (const auto& job : part.jobs()) {
      EXPECT_EQ(core::shard_of_key(job.name(), 3), shard);
      answer.add_results()->set_name(job.name());
      answer.mutable_results(answer.results_size() - 1)->set_created(true);
    }
  }
  const auto reply = put_together(what, cut.positions, std::move(answers));
  ASSERT_EQ(reply.results_size(), 20);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(reply.results(i).name(), "j" + std::to_string(i));
    EXPECT_EQ(reply.results(i).error().code() == v1::ERROR_CODE_UNAVAILABLE, core::shard_of_key(reply.results(i).name(), 3) == 1);
    EXPECT_NE(reply.results(i).created(), reply.results(i).has_error());
  }
}

TEST(requests_about_jobs, that_are_too_much_or_say_too_little_are_refused) {
  const auto refused = [](const auto& what) { return check_request(what) ? check_request(what)->sentence : ""; };
  v1::JobApplyRequest apply;
  EXPECT_EQ(refused(apply), "the request has no job");
  for (int i = 0; i < 1'000; ++i) apply.add_jobs();
  EXPECT_EQ(refused(apply), "");
  apply.add_jobs();
  EXPECT_EQ(refused(apply), "the request names 1001 jobs, at most 1000 are allowed in a request");
  v1::JobApplyRequest heavy;
  heavy.add_jobs()->set_notes(std::string(17 << 20, 'x'));
  EXPECT_NE(refused(heavy).find("at most 16 MiB"), std::string::npos);

  v1::JobOperateRequest operate;
  EXPECT_EQ(refused(operate), "the request has no action for its jobs");
  operate.mutable_action()->set_verb(v1::JOB_VERB_PAUSE);
  EXPECT_EQ(refused(operate), "the request has no job");
  operate.add_names("a");
  EXPECT_EQ(refused(operate), "");
  operate.add_names("");
  EXPECT_EQ(refused(operate), "the request names a job with an empty name");
  operate.clear_names();
  operate.mutable_action()->set_verb(v1::JOB_VERB_REWIND);
  EXPECT_EQ(refused(operate), "");
  operate.mutable_action()->set_verb(v1::JOB_VERB_REWIND_DRY_RUN);
  EXPECT_EQ(refused(operate), "");
  operate.mutable_action()->set_verb(static_cast<v1::JobVerb>(v1::JobVerb_MAX + 1));
  EXPECT_EQ(refused(operate), "the request has no action for its jobs") << "a verb of a later release is not carried out as another one";
  operate.mutable_action()->set_verb(v1::JOB_VERB_REWIND);
  operate.add_names("a");
  operate.set_after("b");
  EXPECT_EQ(refused(operate), "the request has both jobs and a cursor");
  operate.clear_after();
  operate.mutable_action()->set_verb(v1::JOB_VERB_BACKFILL);
  operate.mutable_action()->set_from_unix_ms(2);
  operate.mutable_action()->set_to_unix_ms(1);
  EXPECT_EQ(refused(operate), "the time range ends before it begins");

  v1::JobShowRequest show;
  show.set_name(std::string(129, 'x'));
  EXPECT_NE(refused(show).find("129 bytes"), std::string::npos);
  v1::JobHistoryRequest history;
  history.set_name("a");
  EXPECT_EQ(refused(history), "");
  history.set_from_unix_ms(-1);
  EXPECT_NE(refused(history), "");
  v1::JobListRequest list;
  EXPECT_EQ(refused(list), "");
  list.set_name_contains(std::string(129, 'x'));
  EXPECT_NE(refused(list), "");
}

}  // namespace
}  // namespace fairlead
