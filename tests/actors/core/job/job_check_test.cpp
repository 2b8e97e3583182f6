// What must be true of a job before it is stored.

#include "actors/core/job/check.hpp"

#include <gtest/gtest.h>

#include "actors/core/cron/expression.hpp"
#include "actors/core/job/launch_input.hpp"
#include "actors/core/request_limits.hpp"

namespace fairlead::core {
namespace {

using words = std::vector<std::string>;

class only_utc final : public zone_source {
 public:
  const cctz::time_zone* find(std::string_view name) const override { return name.empty() || name == "UTC" ? &utc_ : nullptr; }

 private:
  cctz::time_zone utc_ = cctz::utc_time_zone();
};

v1::JobSpec job() {
  v1::JobSpec out;
  out.set_name("nightly");
  out.set_schedule("30 2 * * MON-FRI");
  out.set_workflow("report");
  return out;
}

std::vector<job_problem> check(const v1::JobSpec& spec) { return check_job(spec, only_utc{}); }

words fields(const v1::JobSpec& spec) {
  words out;
  for (const auto& problem : check(spec)) {
    EXPECT_FALSE(problem.sentence.empty()) << problem.field;
    out.push_back(problem.field);
  }
  return out;
}

/// The job with one thing changed.
template <class F>
v1::JobSpec job_with(F change) {
  auto out = job();
  change(out);
  return out;
}

std::string only_problem(const v1::JobSpec& spec) {
  const auto found = check(spec);
  if (found.size() != 1) return std::to_string(found.size()) + " problems";
  return found[0].field + ": " + found[0].sentence;
}

void add_label(google::protobuf::RepeatedPtrField<v1::Label>* to, const std::string& key, const std::string& value) {
  auto& label = *to->Add();
  label.set_key(key);
  label.set_value(value);
}

v1::AgentNeed& need(v1::JobSpec& of, const std::string& agent, std::uint32_t slots) {
  auto& out = *of.add_needs();
  out.set_agent(agent);
  out.set_slots(slots);
  return out;
}

TEST(job_check, finds_nothing_wrong_with_a_name_a_schedule_and_a_workflow) { EXPECT_EQ(fields(job()), words{}); }

TEST(job_check, finds_nothing_wrong_with_a_job_that_says_everything_at_its_bounds) {
  auto spec = job();
  spec.set_name(std::string(128, 'a'));
  spec.set_zone("UTC");
  spec.set_dst(v1::DST_POLICY_SKIP_ONCE);
  spec.set_input(R"({"day":"${ .launch.nominal_local }"})");
  spec.set_overlap(v1::OVERLAP_POLICY_REPLACE);
  spec.set_catch_up(v1::CATCH_UP_POLICY_ALL);
  spec.set_catch_up_window_ms(max_job_window_ms);
  spec.set_start_window_ms(max_job_jitter_ms);
  spec.set_jitter_ms(max_job_jitter_ms);
  spec.set_deadline_ms(max_job_jitter_ms + 1);
  spec.set_priority(-1000);
  for (int i = 0; i < 32; ++i) add_label(spec.mutable_labels(), "k" + std::to_string(i), "");
  for (int i = 0; i < max_job_needs; ++i) add_label(need(spec, "reports", 1).mutable_labels(), "region", "eu" + std::to_string(i));
  spec.set_max_in_flight(1000);
  spec.set_keep_launches(100'000);
  spec.set_alert_after(0);
  spec.set_notes(std::string(max_notes_bytes, 'n'));
  EXPECT_EQ(fields(spec), words{});
}

TEST(job_check, names_everything_that_is_wrong_in_the_order_of_the_fields) {
  v1::JobSpec spec;
  spec.set_name("a b");
  spec.set_schedule("* *");
  spec.set_zone("Europe/Berlni");
  spec.set_dst(static_cast<v1::DstPolicy>(9));
  spec.set_workflow("Report");
  spec.set_input("{");
  spec.set_overlap(static_cast<v1::OverlapPolicy>(9));
  spec.set_catch_up(static_cast<v1::CatchUpPolicy>(9));
  spec.set_catch_up_window_ms(-1);
  spec.set_start_window_ms(-1);
  spec.set_jitter_ms(-1);
  spec.set_deadline_ms(-1);
  spec.set_priority(1001);
  add_label(spec.mutable_labels(), "", "x");
  need(spec, "", 0);
  spec.set_max_in_flight(1001);
  spec.set_keep_launches(100'001);
  spec.set_notes("\xff");
  EXPECT_EQ(fields(spec), (words{"job", "schedule", "time_zone", "dst", "workflow", "input", "overlap", "catch_up", "catch_up.within",
                                 "start_window", "jitter", "deadline", "priority", "labels", "needs[0].agent", "needs[0].slots",
                                 "max_in_flight", "keep_launches", "notes"}));
}

TEST(job_check, takes_the_names_that_jobs_may_have) {
  for (const auto* name : {"a", "nightly-report", "Team/nightly:v1.2_x", "-", "7"}) EXPECT_TRUE(valid_job_name(name)) << name;
  for (const auto& name : {std::string{}, std::string(129, 'a'), std::string{"a@b"}, std::string{"a b"}, std::string{"\xc3\xbc"},
                           std::string{"a\0b", 3}, std::string{"a\n"}, std::string{"a?"}})
    EXPECT_FALSE(valid_job_name(name)) << name;
}

TEST(job_check, refuses_names_that_commands_would_take_for_options) {
  for (const auto* name : {"-x", "-", "--help"}) {
    const auto found = check(job_with([&](auto& s) { s.set_name(name); }));
    ASSERT_EQ(found.size(), 1u) << name;
    EXPECT_EQ(found[0].field, "job");
    EXPECT_NE(found[0].sentence.find("begins with `-`"), std::string::npos) << found[0].sentence;
    EXPECT_TRUE(valid_job_name(name)) << "one that is stored can still be deleted";
  }
  EXPECT_EQ(fields(job_with([](auto& s) { s.set_name("a-b-"); })), words{});
}

TEST(job_check, says_where_in_the_schedule_something_is_wrong) {
  const auto spec = job_with([](auto& s) { s.set_schedule("0 25 * * *"); });
  const auto found = check(spec);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].field, "schedule");
  EXPECT_EQ(found[0].position, 3u);
  EXPECT_EQ(found[0].sentence, std::get<cron_problem>(cron_expression::parse("0 25 * * *", "nightly")).sentence);
}

TEST(job_check, names_schedules_that_never_match) {
  EXPECT_EQ(only_problem(job_with([](auto& s) { s.set_schedule("0 0 30 2 *"); })),
            "schedule: \"0 0 30 2 *\" never matches: no year has such a day");
  EXPECT_EQ(fields(job_with([](auto& s) { s.set_schedule("0 0 29 2 *"); })), words{});
  EXPECT_EQ(fields(job_with([](auto& s) { s.set_schedule("@every 90s"); })), words{});
  EXPECT_EQ(fields(job_with([](auto& s) { s.set_schedule("? ? * * *"); })), words{});
}

TEST(job_check, names_time_zones_that_are_not_known) {
  EXPECT_EQ(only_problem(job_with([](auto& s) { s.set_zone("Europe/Berlni"); })),
            "time_zone: \"Europe/Berlni\" is not a time zone of this machine");
}

TEST(job_check, shows_names_short_and_without_control_characters) {
  const auto said = only_problem(job_with([](auto& s) { s.set_zone("a\n" + std::string(1000, 'x')); }));
  EXPECT_EQ(said.find('\n'), std::string::npos);
  EXPECT_LT(said.size(), 150u);
}

TEST(job_check, wants_a_workflow) {
  EXPECT_EQ(only_problem(job_with([](auto& s) { s.clear_workflow(); })), "workflow: the job has no workflow");
}

TEST(job_check, looks_into_the_input) {
  const auto spec = job_with([](auto& s) { s.set_input(R"({"n":"${ .input.n }"})"); });
  EXPECT_EQ(only_problem(spec), "input: " + check_job_input(spec.input()).failure().sentence);
  EXPECT_EQ(fields(job_with([](auto& s) { s.set_input("\"" + std::string(max_input_bytes - 2, 'x') + "\""); })), words{});
  EXPECT_EQ(only_problem(job_with([](auto& s) { s.set_input("\"" + std::string(max_input_bytes - 1, 'x') + "\""); })),
            "input: it has 262145 bytes; at most 262144 are allowed");
}

TEST(job_check, wants_a_catch_up_window_of_at_most_a_year_and_only_where_it_counts) {
  EXPECT_EQ(only_problem(job_with([](auto& s) { s.set_catch_up_window_ms(max_job_window_ms + 1); })),
            "catch_up.within: 366d1ms is not between 1ms and 366d");
  const auto none = job_with([](auto& s) {
    s.set_catch_up(v1::CATCH_UP_POLICY_NONE);
    s.set_catch_up_window_ms(60'000);
  });
  EXPECT_EQ(only_problem(none), "catch_up.within: catch_up is none, so this key has no effect");
}

TEST(job_check, wants_a_start_window_that_jitter_does_not_leave) {
  const auto spec = [](std::int64_t window_ms, std::int64_t jitter_ms) {
    return job_with([&](auto& s) {
      s.set_start_window_ms(window_ms);
      s.set_jitter_ms(jitter_ms);
    });
  };
  EXPECT_EQ(fields(spec(60'000, 60'000)), words{});
  EXPECT_EQ(fields(spec(0, 0)), words{});
  EXPECT_EQ(only_problem(spec(60'000, 60'001)), "start_window: it ends after 1m, but jitter may delay the start by 1m1ms");
  EXPECT_EQ(fields(job_with([](auto& s) { s.set_jitter_ms(max_job_jitter_ms); })), words{}) << "without a window it waits without end";
}

TEST(job_check, wants_jitter_within_the_window_that_needs_bring_along) {
  const auto spec = [](std::int64_t jitter_ms) {
    return job_with([&](auto& s) {
      need(s, "reports", 1);
      s.set_jitter_ms(jitter_ms);
    });
  };
  EXPECT_EQ(fields(spec(600'000)), words{});
  EXPECT_EQ(fields(spec(600'001)), words{"start_window"});
}

TEST(job_check, wants_jitter_of_at_most_a_day) {
  EXPECT_EQ(only_problem(job_with([](auto& s) { s.set_jitter_ms(max_job_jitter_ms + 1); })), "jitter: 1d1ms is not between 0s and 1d");
  EXPECT_EQ(only_problem(job_with([](auto& s) { s.set_jitter_ms(30LL * 86'400'000); })), "jitter: 30d is not between 0s and 1d");
  EXPECT_EQ(only_problem(job_with([](auto& s) { s.set_jitter_ms(-5); })), "jitter: -5ms is not between 0s and 1d");
}

TEST(job_check, wants_a_deadline_that_lies_behind_the_jitter) {
  const auto spec = [](std::int64_t deadline_ms) {
    return job_with([&](auto& s) {
      s.set_jitter_ms(60'000);
      s.set_deadline_ms(deadline_ms);
    });
  };
  EXPECT_EQ(fields(spec(0)), words{});
  EXPECT_EQ(fields(spec(60'001)), words{});
  EXPECT_EQ(only_problem(spec(60'000)), "deadline: a launch must end 1m after its time, but jitter may delay its start by 1m");
  EXPECT_EQ(fields(spec(max_job_window_ms + 1)), words{"deadline"});
}

TEST(job_check, wants_a_priority_as_tasks_have_it) {
  EXPECT_EQ(fields(job_with([](auto& s) { s.set_priority(1000); })), words{});
  EXPECT_EQ(only_problem(job_with([](auto& s) { s.set_priority(-1001); })), "priority: -1001 is not between -1000 and 1000");
}

TEST(job_check, offers_no_number_that_a_person_cannot_give) {
  EXPECT_EQ(fields(job_with([](auto& s) {
              s.set_max_in_flight(0);
              s.set_keep_launches(0);
            })),
            words{})
      << "0 is what is not said";
  EXPECT_EQ(only_problem(job_with([](auto& s) { s.set_max_in_flight(2000); })), "max_in_flight: 2000 is not between 1 and 1000");
  EXPECT_EQ(only_problem(job_with([](auto& s) { s.set_keep_launches(100'001); })), "keep_launches: 100001 is not between 1 and 100000");
}

TEST(job_check, wants_labels_as_tasks_have_them) {
  EXPECT_EQ(fields(job_with([](auto& s) {
              for (int i = 0; i < 33; ++i) add_label(s.mutable_labels(), "k" + std::to_string(i), "");
            })),
            words{"labels"});
  EXPECT_EQ(only_problem(job_with([](auto& s) { add_label(s.mutable_labels(), "a=b", "c"); })),
            "labels: \"a=b\" with the value \"c\" is not a label");
  EXPECT_EQ(only_problem(job_with([](auto& s) {
              add_label(s.mutable_labels(), "a", "1");
              add_label(s.mutable_labels(), "a", "2");
            })),
            "labels: two labels have the key \"a\"");
}

TEST(job_check, names_the_need_that_is_wrong) {
  const auto spec = job_with([](auto& s) {
    need(s, "reports", 1);
    need(s, "no agent", 1);
    add_label(need(s, "mail", 100'001).mutable_labels(), "", "");
  });
  EXPECT_EQ(fields(spec), (words{"needs[1].agent", "needs[2].slots", "needs[2].labels"}));
  EXPECT_EQ(fields(job_with([](auto& s) {
              for (int i = 0; i < 17; ++i) need(s, "reports", 1);
            })),
            words{"needs"});
}

TEST(job_check, wants_each_agent_once_as_the_same_free_slots_would_do_for_both) {
  const auto twice = [](const char* first, const char* second) {
    return job_with([&](auto& s) {
      if (auto& one = need(s, "reports", 2); first != nullptr) add_label(one.mutable_labels(), "region", first);
      if (auto& other = need(s, "reports", 3); second != nullptr) add_label(other.mutable_labels(), "region", second);
    });
  };
  const auto found = check(twice(nullptr, nullptr));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].field, "needs[1]");
  EXPECT_EQ(found[0].sentence, "the agent reports is listed twice");
  EXPECT_EQ(found[0].remedy, "list it once, with the sum of the slots");
  EXPECT_EQ(only_problem(twice("eu", "eu")), "needs[1]: the agent reports with these labels is listed twice");
  EXPECT_EQ(fields(twice("eu", "us")), words{});
  EXPECT_EQ(fields(twice(nullptr, "eu")), words{});
  const auto turned = job_with([](auto& s) {
    auto& one = need(s, "reports", 1);
    add_label(one.mutable_labels(), "a", "1");
    add_label(one.mutable_labels(), "b", "2");
    auto& other = need(s, "reports", 1);
    add_label(other.mutable_labels(), "b", "2");
    add_label(other.mutable_labels(), "a", "1");
  });
  EXPECT_EQ(fields(turned), words{"needs[1]"}) << "labels in another order are the same ones";
}

TEST(job_check, wants_notes_that_can_be_stored) {
  EXPECT_EQ(fields(job_with([](auto& s) { s.set_notes("Wen rufe ich an? Jürgen.\n"); })), words{});
  EXPECT_EQ(only_problem(job_with([](auto& s) { s.set_notes("\xc3"); })), "notes: they are not UTF-8");
  EXPECT_EQ(only_problem(job_with([](auto& s) { s.set_notes(std::string(4097, 'n')); })),
            "notes: they have 4097 bytes; at most 4096 are allowed");
}

}  // namespace
}  // namespace fairlead::core
