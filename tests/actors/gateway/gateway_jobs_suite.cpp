// What gateways of one cluster make of requests about jobs, under CAF's deterministic scheduler.

#define CAF_SUITE gateway_jobs_suite

#include "tests/actors/gateway/gateway_world.hpp"

#include "actors/core/cluster/alert_numbers.hpp"
#include "store/rows/job_rows.hpp"

using namespace fairlead;

namespace {

v1::JobRecord minutely_job(const std::string& name) {
  v1::JobRecord out;
  out.mutable_spec()->set_name(name);
  out.mutable_spec()->set_schedule("* * * * *");
  return out;
}

struct fixture : testing::gateway_world {
  static std::string job_of(std::uint32_t shard) {
    for (int i = 0;; ++i)
      if (core::shard_of_key("j" + std::to_string(i), count) == shard) return "j" + std::to_string(i);
  }

  /// Jobs j0 … in the shards that they belong to.
  void keep_jobs(int jobs) {
    for (std::uint32_t shard = 0; shard < count; ++shard)
      keep(shard, [&](store::batch& rows) {
        for (int i = 0; i < jobs; ++i) {
          const auto name = "j" + std::to_string(100 + i);
          if (core::shard_of_key(name, count) == shard) store::put_job(rows, {}, minutely_job(name));
        }
      });
  }

  static v1::JobOperateRequest rewind_of_all() {
    v1::JobOperateRequest out;
    out.mutable_action()->set_verb(v1::JOB_VERB_REWIND);
    return out;
  }
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(gateway_jobs_tests, fixture)

CAF_TEST(each_job_is_applied_by_the_shard_of_its_name) {
  connect();
  v1::JobApplyRequest what;
  for (int i = 0; i < 30; ++i) what.add_jobs()->set_name("j" + std::to_string(i));
  for (const auto& whom : {n1, n2, n3}) {
    const auto reply = ask<v1::JobApplyReply>(whom, what);
    CAF_REQUIRE_EQUAL(reply.results_size(), 30);
    for (int i = 0; i < 30; ++i) {
      CAF_CHECK_EQUAL(reply.results(i).name(), "j" + std::to_string(i));
      CAF_CHECK_EQUAL(reply.results(i).warnings(0), std::to_string(core::shard_of_key(reply.results(i).name(), count)));
    }
  }
}

CAF_TEST(what_is_done_to_jobs_is_done_by_the_shard_of_each_and_one_that_is_lost_costs_its_own_jobs_an_error) {
  connect();
  route(n3, 1, gateway_actor{}, "n2", "the connection was lost");
  v1::JobOperateRequest what;
  what.mutable_action()->set_verb(v1::JOB_VERB_PAUSE);
  for (const auto shard : {2u, 1u, 0u}) what.add_names(job_of(shard));
  const auto reply = ask<v1::JobOperateReply>(n3, what);
  CAF_REQUIRE_EQUAL(reply.results_size(), 3);
  CAF_CHECK_EQUAL(reply.results(0).sentence(), "2");
  CAF_CHECK_EQUAL(reply.results(1).name(), job_of(1));
  CAF_CHECK_EQUAL(reply.results(1).error().sentence(), "shard 1 of node n2 cannot be reached from node n3: the connection was lost");
  CAF_CHECK_EQUAL(reply.results(2).sentence(), "0");
}

CAF_TEST(a_rewind_of_all_goes_through_every_shard_to_its_last_page) {
  connect();
  std::vector<std::string> done;
  auto what = rewind_of_all();
  for (int pages = 0; pages < 10; ++pages) {
    const auto reply = ask<v1::JobOperateReply>(n2, what);
    CAF_REQUIRE_EQUAL(reply.error().sentence(), "");
    for (const auto& one : reply.results()) done.push_back(one.name());
    if (reply.after().empty()) break;
    what.set_after(reply.after());
  }
  CAF_CHECK_EQUAL(done, (std::vector<std::string>{"first/0", "second/0", "first/1", "second/1", "first/2", "second/2"}));
  what.set_after("9/nonsense");
  CAF_CHECK_EQUAL(ask<v1::JobOperateReply>(n2, what).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
}

CAF_TEST(the_list_of_all_shards_is_one_by_name_page_by_page) {
  connect();
  keep_jobs(50);
  for (const auto& whom : {n1, n2, n3}) {
    std::vector<std::string> names;
    v1::JobListRequest what;
    what.set_page_size(7);
    for (int pages = 0; pages < 20; ++pages) {
      const auto reply = ask<v1::JobListReply>(whom, what);
      CAF_REQUIRE_EQUAL(reply.error().sentence(), "");
      for (const auto& one : reply.items()) names.push_back(one.name());
      if (reply.after().empty()) break;
      what.set_after(reply.after());
    }
    CAF_REQUIRE_EQUAL(names.size(), 50u);
    for (int i = 0; i < 50; ++i) CAF_CHECK_EQUAL(names[static_cast<std::size_t>(i)], "j" + std::to_string(100 + i));
  }
}

CAF_TEST(a_job_and_its_history_are_found_wherever_they_are) {
  connect();
  for (std::uint32_t shard = 0; shard < count; ++shard)
    keep(shard, [&](store::batch& rows) {
      auto job = minutely_job(job_of(shard));
      job.set_alert(5);
      store::put_job(rows, {}, job);
      v1::LaunchRecord launch;
      launch.set_job(job_of(shard));
      launch.set_nominal_unix_ms(60'000);
      launch.set_state(v1::LAUNCH_STATE_COMPLETED);
      store::put_launch(rows, launch);
    });
  for (const auto& whom : {n1, n2, n3})
    for (std::uint32_t shard = 0; shard < count; ++shard) {
      v1::JobShowRequest what;
      what.set_name(job_of(shard));
      const auto shown = ask<v1::JobShowReply>(whom, what);
      CAF_CHECK_EQUAL(shown.error().sentence(), "");
      CAF_CHECK_EQUAL(shown.job().spec().name(), job_of(shard));
      CAF_CHECK_EQUAL(shown.job().alert(), core::alert_number({shard, 5}, count));
      CAF_CHECK_EQUAL(shown.coming_unix_ms_size(), 5);
      v1::JobHistoryRequest history;
      history.set_name(job_of(shard));
      CAF_CHECK_EQUAL(ask<v1::JobHistoryReply>(whom, history).items_size(), 1);
    }
  v1::JobShowRequest none;
  none.set_name("none");
  CAF_CHECK_EQUAL(ask<v1::JobShowReply>(n3, none).error().code(), v1::ERROR_CODE_NOT_FOUND);
}

CAF_TEST(requests_that_make_no_sense_are_refused_before_any_shard_is_asked) {
  connect();
  v1::JobOperateRequest what;
  what.mutable_action()->set_verb(v1::JOB_VERB_DELETE);
  const auto refused = ask<v1::JobOperateReply>(n1, what);
  CAF_CHECK_EQUAL(refused.error().sentence(), "the request has no job");
  CAF_CHECK_EQUAL(ask<v1::JobApplyReply>(n1, v1::JobApplyRequest{}).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  for (const auto& one : seen) CAF_CHECK_EQUAL(one->job_operations, 0);
}

CAF_TEST_FIXTURE_SCOPE_END()
