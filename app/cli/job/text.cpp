#include "app/cli/job/text.hpp"

#include "actors/core/job/job.hpp"
#include "app/cli/words.hpp"
#include "app/files/job_words.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

std::string state_text(const v1::JobSummary& job) {
  std::string out = job.paused() ? "paused" : "";
  const auto add = [&out](const char* word, std::uint64_t count) {
    if (count != 0) out += (out.empty() ? "" : ", ") + std::string{word} + " (" + std::to_string(count) + ")";
  };
  add("failing", job.bad_in_a_row());
  add("parked", job.parked());
  add("missed", job.missed());
  return out.empty() ? "active" : out;
}

std::string last_text(const v1::LaunchRecord& last) {
  return last.state() == v1::LAUNCH_STATE_UNSPECIFIED ? "-" : time_cell(last.nominal_unix_ms()).text + " " + launch_text(last);
}

std::string why_text(const v1::LaunchEntry& entry) {
  const auto& launch = entry.launch();
  if (launch.state() == v1::LAUNCH_STATE_WAITING) return std::string{"waits for "} + wait_word(launch.waits_for());
  std::string out = launch.reason();
  const auto add = [&](const std::string& more) { out += (out.empty() ? "" : "; ") + more; };
  if (launch.trigger() != v1::LAUNCH_TRIGGER_SCHEDULE)
    add(std::string{trigger_word(launch.trigger())} + (launch.who().empty() ? "" : ", by " + launch.who()) +
        (launch.asked_because().empty() ? "" : ": " + launch.asked_because()));
  if (launch.skipped_before() != v1::SKIP_REASON_UNSPECIFIED) add(std::string{"skipped before: "} + skip_word(launch.skipped_before()));
  return out;
}

}  // namespace

std::string launch_text(const v1::LaunchRecord& launch) {
  std::string out = launch_state_word(launch.state());
  if (launch.state() == v1::LAUNCH_STATE_SKIPPED) out += std::string{" ("} + skip_word(launch.skip()) + ")";
  return out;
}

std::string needs_text(const google::protobuf::RepeatedPtrField<v1::AgentNeed>& needs) {
  std::string out;
  for (const auto& need : needs) {
    out += (out.empty() ? "" : ", ") + need.agent() + " " + std::to_string(need.slots());
    if (!need.labels().empty()) out += " (" + labels_text(need.labels()) + ")";
  }
  return printable(out);
}

std::string wait_text(const v1::JobSpec& job, const v1::OpenLaunch& launch) {
  std::string out;
  switch (launch.waits_for()) {
    case v1::LAUNCH_WAIT_TIME: out = "its start time with jitter, " + time_text(launch.start_at_unix_ms()); break;
    case v1::LAUNCH_WAIT_OVERLAP:
      out = job.max_in_flight() == 0 ? "an earlier launch to end"
                                     : "an earlier launch to end (max_in_flight " + std::to_string(job.max_in_flight()) + ")";
      break;
    case v1::LAUNCH_WAIT_ROOM: out = "room: a limit is reached (cron.in_flight, cron.starts_per_second, or the size of the store)"; break;
    case v1::LAUNCH_WAIT_AGENTS: out = "free slots: " + needs_text(job.needs()); break;
    case v1::LAUNCH_WAIT_PAUSE: out = "the job to be resumed"; break;
    default: out = "a reason that this release does not know"; break;
  }
  if (launch.start_by_unix_ms() != 0) out += "; skipped if it has not started by " + time_text(launch.start_by_unix_ms());
  return out;
}

v1::LaunchEntry entry_of(const v1::LaunchRecord& launch) {
  v1::LaunchEntry out;
  *out.mutable_launch() = launch;
  out.set_id(core::launch_id(launch.job(), launch.nominal_unix_ms()));
  return out;
}

text_table launch_table() {
  return text_table{{{"TIME"},
                     {"LOCAL", align::left, narrow::drop},
                     {"STATE"},
                     {"COUNT", align::right, narrow::drop},
                     {"STARTED", align::left, narrow::drop},
                     {"ENDED", align::left, narrow::drop},
                     {"TASK"},
                     {"WHY", align::left, narrow::below}}};
}

void add_launch_row(text_table& table, const v1::LaunchEntry& entry) {
  const auto& launch = entry.launch();
  const bool run = launch.last_nominal_unix_ms() != 0;
  auto state = launch_text(launch);
  if (entry.parked()) state += ", parked";
  auto why = why_text(entry);
  if (run) why = "all until " + time_text(launch.last_nominal_unix_ms()) + (why.empty() ? "" : ": ") + why;
  table.add({time_text(launch.nominal_unix_ms()), nominal_local(launch), state, std::to_string(run ? launch.count() : 1),
             time_cell(launch.started_at_unix_ms()), time_cell(launch.ended_at_unix_ms()),
             launch.started_at_unix_ms() == 0 ? "-" : entry.id(), shortened(why, 160)});
}

std::string job_list_text(const v1::JobListReply& reply, bool filtered) {
  text_table table{{{"JOB"},
                    {"SCHEDULE"},
                    {"ZONE", align::left, narrow::drop},
                    {"WORKFLOW", align::left, narrow::drop},
                    {"STATE"},
                    {"NEXT"},
                    {"LATEST"},
                    {"RUNNING", align::right, narrow::drop},
                    {"WAITING", align::right, narrow::drop},
                    {"LAUNCHED", align::right, narrow::drop},
                    {"SKIPPED", align::right, narrow::drop}}};
  for (const auto& job : reply.items())
    table.add({job.name(), job.schedule(), job.zone().empty() ? "UTC" : job.zone(), job.workflow(), state_text(job),
               time_cell(next_of(job)), last_text(job.last()), std::to_string(job.started()), std::to_string(job.waiting()),
               std::to_string(job.launched()), std::to_string(job.skipped())});
  std::string out = !table.empty() ? table.text() : filtered ? "No job matches.\n" : "There are no jobs.\n";
  if (!reply.after().empty()) out += "\nThere are more: continue with --after " + printable(reply.after()) + ", or raise --limit.\n";
  return out;
}

std::string job_history_text(const v1::JobHistoryReply& reply) {
  auto table = launch_table();
  for (const auto& entry : reply.items()) add_launch_row(table, entry);
  std::string out = table.empty() ? "No launch matches.\n" : table.text();
  if (reply.before_unix_ms() != 0)
    out += "\nThere are more: continue with --to " + format_utc(reply.before_unix_ms()) + ", or raise --limit.\n";
  return out;
}

}  // namespace fairlead::app
