#include "app/json/job/jobs.hpp"

#include "actors/core/cron/next.hpp"
#include "actors/core/job/job.hpp"
#include "actors/core/task/task.hpp"
#include "app/files/job_words.hpp"

namespace fairlead::app {

namespace {

void write_duration_or_null(json_writer& out, const char* name, bool given, std::int64_t ms) {
  out.key(name);
  given ? out.number(ms) : out.null();
}

void write_launch_fields(json_writer& out, const v1::LaunchRecord& launch) {
  out.key("nominal").moment(launch.nominal_unix_ms()).key("nominal_local").string(nominal_local(launch));
  out.key("time_zone").string(launch.zone().empty() ? "UTC" : launch.zone());
  out.key("state").string(launch_state_word(launch.state()));
  const bool skipped = launch.state() == v1::LAUNCH_STATE_SKIPPED;
  out.key("skip").text_or_null(skipped ? skip_word(launch.skip()) : "");
  out.key("reason").text_or_null(launch.reason());
  out.key("waits_for").text_or_null(launch.state() == v1::LAUNCH_STATE_WAITING ? wait_word(launch.waits_for()) : "");
  out.key("trigger").string(trigger_word(launch.trigger()));
  out.key("by").text_or_null(launch.who());
  out.key("asked_because").text_or_null(launch.asked_because());
  out.key("recorded_at").moment(launch.recorded_at_unix_ms()).key("started_at").moment(launch.started_at_unix_ms());
  out.key("ended_at").moment(launch.ended_at_unix_ms());
  const bool run = launch.last_nominal_unix_ms() != 0;
  out.key("last_nominal").moment(launch.last_nominal_unix_ms()).key("count").number(std::uint64_t{run ? launch.count() : 1});
  out.key("skipped_before").text_or_null(launch.skipped_before() == v1::SKIP_REASON_UNSPECIFIED ? "" : skip_word(launch.skipped_before()));
}

void write_open(json_writer& out, const v1::JobSpec& job, const v1::OpenLaunch& open, bool parked) {
  out.begin_object().key("id").string(core::launch_id(job.name(), open.nominal_unix_ms())).key("nominal").moment(open.nominal_unix_ms());
  const bool waits = open.state() == v1::LAUNCH_STATE_WAITING;
  out.key("state").string(launch_state_word(open.state()));
  out.key("waits_for").text_or_null(waits ? wait_word(open.waits_for()) : "");
  out.key("start_at").moment(open.start_at_unix_ms()).key("start_by").moment(open.start_by_unix_ms());
  out.key("trigger").string(trigger_word(open.trigger()));
  out.key("by").text_or_null(open.who());
  out.key("asked_because").text_or_null(open.asked_because());
  out.key("cancelling").boolean(open.cancelling()).key("parked").boolean(parked).end_object();
}

void write_spec(json_writer& out, const v1::JobSpec& job) {
  out.key("schedule").string(job.schedule()).key("time_zone").string(job.zone().empty() ? "UTC" : job.zone());
  out.key("dst").string(dst_word(job.dst())).key("workflow").string(job.workflow()).key("input").raw(job.input());
  out.key("overlap").string(overlap_word(job.overlap())).key("count_parked").boolean(job.count_parked()).key("catch_up").begin_object();
  out.key("policy").string(catch_up_word(job.catch_up()));
  out.key("within_ms")
      .number(job.catch_up_window_ms() == 0 ? core::default_catch_up_window_ms : std::int64_t{job.catch_up_window_ms()})
      .end_object();
  const auto window = core::start_window_of(job);
  write_duration_or_null(out, "start_window_ms", window.has_value(), window.value_or(0));
  out.key("jitter_ms").number(std::int64_t{job.jitter_ms()});
  write_duration_or_null(out, "deadline_ms", job.deadline_ms() != 0, job.deadline_ms());
  out.key("priority").number(std::int32_t{job.priority()});
  write_labels(out, job.labels());
  out.key("needs").begin_array();
  for (const auto& need : job.needs()) {
    out.begin_object().key("agent").string(need.agent()).key("slots").number(std::uint32_t{need.slots()});
    write_labels(out, need.labels());
    out.end_object();
  }
  out.end_array().key("max_in_flight");
  job.max_in_flight() == 0 ? out.null() : out.number(std::uint32_t{job.max_in_flight()});
  out.key("keep_launches").number(job.keep_launches() == 0 ? core::default_keep_launches : std::uint32_t{job.keep_launches()});
  out.key("alert_after").number(job.has_alert_after() ? std::uint32_t{job.alert_after()} : 1U).key("notes").string(job.notes());
}

}  // namespace

std::string nominal_local(const v1::LaunchRecord& launch) {
  const auto seconds = launch.nominal_unix_ms() / 1'000 - (launch.nominal_unix_ms() % 1'000 < 0 ? 1 : 0);
  return core::format_local(seconds, cctz::fixed_time_zone(cctz::seconds{launch.utc_offset_s()}));
}

void write_launch(json_writer& out, const v1::LaunchRecord& launch) {
  if (launch.state() == v1::LAUNCH_STATE_UNSPECIFIED) {
    out.null();
    return;
  }
  out.begin_object().key("id").string(core::launch_id(launch.job(), launch.nominal_unix_ms()));
  write_launch_fields(out, launch);
  out.end_object();
}

void write_job_summary(json_writer& out, const v1::JobSummary& job) {
  out.begin_object().key("job").string(job.name()).key("schedule").string(job.schedule());
  out.key("time_zone").string(job.zone().empty() ? "UTC" : job.zone()).key("workflow").string(job.workflow());
  out.key("paused").boolean(job.paused()).key("next").moment(next_of(job)).key("mark").moment(job.mark_unix_ms()).key("latest");
  auto last = job.last();
  last.set_job(job.name());
  write_launch(out, last);
  out.key("started").number(std::uint32_t{job.started()}).key("parked").number(std::uint32_t{job.parked()});
  out.key("waiting").number(std::uint32_t{job.waiting()});
  out.key("launched").number(std::uint64_t{job.launched()}).key("skipped").number(std::uint64_t{job.skipped()});
  out.key("missed")
      .number(std::uint64_t{job.missed()})
      .key("bad_in_a_row")
      .number(std::uint32_t{job.bad_in_a_row()})
      .key("priority")
      .number(std::int32_t{job.priority()});
  write_labels(out, job.labels());
  out.end_object();
}

std::string job_list_json(const v1::JobListReply& reply) {
  json_writer out;
  out.begin_object().key("jobs").begin_array();
  for (const auto& job : reply.items()) write_job_summary(out, job);
  out.end_array();
  out.key("after").text_or_null(reply.after());
  return out.key("missing").raw(missing_json(reply.missing())).end_object().text();
}

void write_launch_entry(json_writer& out, const v1::LaunchEntry& entry) {
  out.begin_object().key("id").string(entry.id());
  write_launch_fields(out, entry.launch());
  out.key("task_state").text_or_null(entry.task_state() == v1::TASK_STATE_UNSPECIFIED ? "" : core::state_word(entry.task_state()));
  out.key("parked").boolean(entry.parked()).end_object();
}

std::string job_history_json(const v1::JobHistoryReply& reply) {
  json_writer out;
  out.begin_object().key("launches").begin_array();
  for (const auto& entry : reply.items()) write_launch_entry(out, entry);
  return out.end_array().key("before").moment(reply.before_unix_ms()).end_object().text();
}

std::string job_show_json(const v1::JobShowReply& reply, const parked_launches& parked) {
  const auto& job = reply.job();
  json_writer out;
  out.begin_object().key("job").string(job.spec().name());
  write_spec(out, job.spec());
  out.key("paused").boolean(job.paused());
  out.key("paused_by").text_or_null(job.paused_by());
  out.key("paused_reason").text_or_null(job.paused_reason());
  out.key("paused_since").moment(job.paused_since_unix_ms()).key("revision").number(std::uint32_t{job.revision()});
  out.key("created_at").moment(job.created_at_unix_ms()).key("changed_at").moment(job.changed_at_unix_ms());
  out.key("changed_by").string(job.changed_by()).key("mark").moment(job.mark_unix_ms()).key("next").moment(next_of(job));
  out.key("launched").number(std::uint64_t{job.launched()}).key("completed").number(std::uint64_t{job.completed()});
  out.key("undone")
      .number(std::uint64_t{job.undone()})
      .key("failed")
      .number(std::uint64_t{job.failed()})
      .key("skipped")
      .number(std::uint64_t{job.skipped()});
  out.key("missed");
  if (job.has_missed()) {
    out.begin_object().key("count").number(std::uint64_t{job.missed().count()}).key("first").moment(job.missed().first_unix_ms());
    out.key("last").moment(job.missed().last_unix_ms()).key("alert").number(std::uint64_t{job.missed_alert()}).end_object();
  } else {
    out.null();
  }
  out.key("bad_in_a_row").number(std::uint32_t{job.bad_in_a_row()}).key("alert");
  job.alert() == 0 ? out.null() : out.number(std::uint64_t{job.alert()});
  out.key("open").begin_array();
  for (const auto& open : job.open()) write_open(out, job.spec(), open, parked.count(open.nominal_unix_ms()) != 0);
  out.end_array().key("coming").begin_array();
  if (!job.paused())
    for (const auto at : reply.coming_unix_ms()) out.moment(at);
  out.end_array().key("latest").begin_array();
  for (auto launch : reply.latest()) {
    launch.set_job(job.spec().name());
    write_launch(out, launch);
  }
  return out.end_array().end_object().text();
}

}  // namespace fairlead::app
