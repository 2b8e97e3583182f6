// One job as text: its definition, why it waits, its next times, and what an operator can do; and its definition as a job file.

#include <algorithm>

#include "actors/core/cron/next.hpp"
#include "actors/core/job/job.hpp"
#include "actors/system/time_zones.hpp"
#include "app/cli/job/text.hpp"
#include "app/cli/words.hpp"
#include "app/files/job_file.hpp"
#include "app/files/job_stretch.hpp"
#include "app/files/job_words.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

constexpr int most_open_shown = 30;  // a job may have 1000 open launches

class lines {
 public:
  void add(const char* name, const std::string& text) {
    const std::string title = name;
    out_ += title + std::string(title.size() < 11 ? 12 - title.size() : 1, ' ') + text + "\n";
  }
  /// Adds a text of several lines. The later lines are indented below the first.
  void add_prose(const char* name, std::string_view text) {
    const auto end = text.find_last_not_of("\r\n");
    text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
    bool first = true;
    while (first || !text.empty()) {
      const auto stop = text.find('\n');
      auto line = std::string{text.substr(0, stop)};
      text.remove_prefix(stop == std::string_view::npos ? text.size() : stop + 1);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      std::replace(line.begin(), line.end(), '\t', ' ');
      if (first)
        add(name, printable(line));
      else
        out_ += (line.empty() ? "" : std::string(12, ' ') + printable(line)) + "\n";
      first = false;
    }
  }
  const std::string& text() const { return out_; }

 private:
  std::string out_;
};

std::string zone_of(const v1::JobSpec& job) { return job.zone().empty() ? "UTC" : job.zone(); }

std::string state_of(const v1::JobRecord& job) {
  std::string out;
  if (job.paused()) {
    out = "paused";
    if (job.paused_since_unix_ms() != 0) out += " since " + time_text(job.paused_since_unix_ms());
    if (!job.paused_by().empty()) out += " by " + printable(job.paused_by());
    if (!job.paused_reason().empty()) out += ": " + printable(job.paused_reason());
  } else {
    out = job.next_unix_ms() == 0 ? "its schedule has no more times" : "next launch at " + time_text(job.next_unix_ms());
  }
  if (job.bad_in_a_row() == 1) out += "; its latest launch failed or could not start";
  if (job.bad_in_a_row() > 1) out += "; its latest " + std::to_string(job.bad_in_a_row()) + " launches failed or could not start";
  return out;
}

std::string catch_up_of(const v1::JobSpec& job) {
  if (job.catch_up() == v1::CATCH_UP_POLICY_NONE) return "none";
  const auto within = job.catch_up_window_ms() == 0 ? core::default_catch_up_window_ms : std::int64_t{job.catch_up_window_ms()};
  return std::string{catch_up_word(job.catch_up())} + " within " + format_duration(within);
}

std::string timing_of(const v1::JobSpec& job) {
  std::string out;
  const auto add = [&](const std::string& more) { out += (out.empty() ? "" : ", ") + more; };
  // A job with needs has a default start window, which is shown too.
  if (const auto window = core::start_window_of(job)) add("start window " + format_duration(*window));
  if (job.jitter_ms() != 0) add("jitter " + format_duration(job.jitter_ms()));
  if (job.deadline_ms() != 0) add("deadline " + format_duration(job.deadline_ms()));
  if (job.priority() != 0) add("priority " + std::to_string(job.priority()));
  if (job.max_in_flight() != 0) add("at most " + std::to_string(job.max_in_flight()) + " in flight");
  if (job.keep_launches() != 0) add("keeps " + std::to_string(job.keep_launches()) + " launches");
  if (job.has_alert_after()) add(job.alert_after() == 0 ? "no alerts" : "alert after " + std::to_string(job.alert_after()));
  return out;
}

std::string coming_of(const v1::JobShowReply& reply) {
  if (reply.job().paused()) return "\nComing\nNothing while the job is paused: its times are skipped.\n";
  if (reply.coming_unix_ms().empty()) return {};
  text_table table{{{"UTC"}, {"LOCAL"}}};
  const auto* zone = time_zones::of_system().find(reply.job().spec().zone());
  // A zone unknown to this machine is no error: the node may know it.
  for (const auto at : reply.coming_unix_ms()) table.add({time_text(at), zone == nullptr ? "-" : core::format_local(at / 1'000, *zone)});
  return "\nComing\n" + table.text();
}

std::string open_of(const v1::JobRecord& job, const parked_launches& parked) {
  if (job.open().empty()) return {};
  text_table table{{{"TIME"}, {"STATE"}, {"TASK"}, {"WAITS FOR", align::left, narrow::below}}};
  for (int i = 0; i < std::min(job.open_size(), most_open_shown); ++i) {
    const auto& open = job.open(i);
    const bool waits = open.state() == v1::LAUNCH_STATE_WAITING;
    const auto id = core::launch_id(job.spec().name(), open.nominal_unix_ms());
    table.add({time_text(open.nominal_unix_ms()), launch_state_word(open.state()), waits ? "-" : id,
               waits                                       ? wait_text(job.spec(), open)
               : parked.count(open.nominal_unix_ms()) != 0 ? "an operator: the task is parked"
               : open.cancelling()                         ? "the end of its task: a later launch replaces it"
                                                           : ""});
  }
  const auto more = job.open_size() - most_open_shown;
  return "\nOpen launches\n" + table.text() + (more > 0 ? "… and " + std::to_string(more) + " more\n" : "");
}

std::string latest_of(const v1::JobShowReply& reply, const parked_launches& parked) {
  if (reply.latest().empty()) return {};
  auto table = launch_table();
  for (auto launch : reply.latest()) {
    launch.set_job(reply.job().spec().name());
    auto entry = entry_of(launch);
    entry.set_parked(parked.count(launch.nominal_unix_ms()) != 0);
    add_launch_row(table, entry);
  }
  return "\nLatest launches\n" + table.text();
}

bool waits_for(const v1::JobRecord& job, v1::LaunchWait what) {
  return std::any_of(job.open().begin(), job.open().end(),
                     [&](const v1::OpenLaunch& open) { return open.state() == v1::LAUNCH_STATE_WAITING && open.waits_for() == what; });
}

/// The launch that blocks later launches or waits for an operator: the first started launch whose
/// task is parked. Without one, the first started launch, if others wait for it or were skipped
/// because of it.
const v1::OpenLaunch* in_the_way(const v1::JobRecord& job, const parked_launches& parked) {
  const auto started = [](const v1::OpenLaunch& open) { return open.state() == v1::LAUNCH_STATE_STARTED; };
  const auto stands = [&](const v1::OpenLaunch& open) { return started(open) && parked.count(open.nominal_unix_ms()) != 0; };
  auto found = std::find_if(job.open().begin(), job.open().end(), stands);
  if (found == job.open().end() && (waits_for(job, v1::LAUNCH_WAIT_OVERLAP) || job.last().skip() == v1::SKIP_REASON_OVERLAP))
    found = std::find_if(job.open().begin(), job.open().end(), started);
  return found == job.open().end() ? nullptr : &*found;
}

}  // namespace

std::string launch_in_the_way(const v1::JobRecord& job, const parked_launches& parked) {
  const auto* found = in_the_way(job, parked);
  return found == nullptr ? "" : core::launch_id(job.spec().name(), found->nominal_unix_ms());
}

std::vector<remedy> job_remedies(const v1::JobShowReply& reply, std::int64_t now_unix_ms, const parked_launches& parked, bool can_cancel) {
  const auto& job = reply.job();
  const auto& name = job.spec().name();
  std::vector<remedy> out;
  if (job.paused()) {
    const auto held = waits_for(job, v1::LAUNCH_WAIT_PAUSE);
    out.push_back(
        {"fairlead job resume " + name, held ? "resumes the job: held launches go on, and it is launched again from its next time on"
                                             : "resumes the job: it is launched again from its next time on"});
    if (held) out.push_back({"fairlead job skip " + name, "skips all waiting launches of the job"});
  }
  if (job.mark_unix_ms() > now_unix_ms + 1'000)
    out.push_back(
        {"fairlead job rewind " + name, "sets the job back from " + time_text(job.mark_unix_ms()) + " to now, if the clock is right"});
  const bool agents = waits_for(job, v1::LAUNCH_WAIT_AGENTS);
  if (agents || job.last().skip() == v1::SKIP_REASON_NO_AGENTS)
    out.push_back({"fairlead agent list", "shows which agents are registered, and how many steps they hold"});
  if (waits_for(job, v1::LAUNCH_WAIT_ROOM)) {
    out.push_back({"fairlead status", "shows how many launches are in progress, and how full the store is"});
    out.push_back({"fairlead task list --state running", "shows which tasks are running"});
  }
  if (const auto* first = in_the_way(job, parked)) {
    const auto id = core::launch_id(name, first->nominal_unix_ms());
    const bool stands = parked.count(first->nominal_unix_ms()) != 0;
    out.push_back({"fairlead task show " + id,
                   stands ? "shows why the task is parked, and the commands that help" : "shows why the earlier launch has not ended"});
    if (can_cancel && !first->cancelling())
      out.push_back({"fairlead task cancel " + id,
                     stands ? "undoes what the task has done" : "ends the earlier launch, so that the next one starts"});
  }
  if (job.last().skip() == v1::SKIP_REASON_NO_WORKFLOW) out.push_back({"fairlead workflow list", "shows which workflows are deployed"});
  if (job.bad_in_a_row() != 0) {
    const auto failed = std::find_if(reply.latest().begin(), reply.latest().end(), [](const auto& one) {
      return one.state() == v1::LAUNCH_STATE_UNDONE || one.state() == v1::LAUNCH_STATE_FAILED;
    });
    if (failed != reply.latest().end())
      out.push_back({"fairlead task show " + core::launch_id(name, failed->nominal_unix_ms()), "shows why the latest bad launch ended so"});
    out.push_back({"fairlead job run " + name, "launches the job once, now"});
  }
  if (const auto skipped = stretch_to_backfill(reply, now_unix_ms))
    out.push_back(
        {"fairlead job backfill " + name + " --from " + format_utc(skipped->from_unix_ms) + " --to " + format_utc(skipped->to_unix_ms),
         skipped->whole ? "launches the skipped times" : "launches the latest skipped times, as many as one backfill may have"});
  return out;
}

std::string job_show_text(const v1::JobShowReply& reply, std::int64_t now_unix_ms, const parked_launches& parked, bool can_cancel) {
  const auto& job = reply.job();
  const auto& spec = job.spec();
  lines out;
  out.add("job", printable(spec.name()) + ", revision " + std::to_string(job.revision()) + " of " + time_text(job.changed_at_unix_ms()) +
                     (job.changed_by().empty() ? "" : " by " + printable(job.changed_by())));
  out.add("schedule", printable(spec.schedule()) + " in " + printable(zone_of(spec)) + ", dst " + dst_word(spec.dst()));
  out.add("workflow", printable(spec.workflow()));
  out.add("state", state_of(job));
  out.add("overlap", std::string{overlap_word(spec.overlap())} + (spec.count_parked() ? ", parked launches count" : ""));
  out.add("catch up", catch_up_of(spec));
  if (const auto timing = timing_of(spec); !timing.empty()) out.add("limits", timing);
  if (!spec.needs().empty()) out.add("needs", needs_text(spec.needs()));
  if (!spec.labels().empty()) out.add("labels", printable(labels_text(spec.labels())));
  out.add("launches", std::to_string(job.launched()) + ": " + std::to_string(job.completed()) + " completed, " +
                          std::to_string(job.undone()) + " undone, " + std::to_string(job.failed()) + " failed; " +
                          std::to_string(job.skipped()) + (job.skipped() == 1 ? " time" : " times") + " skipped");
  if (job.has_missed())
    out.add("missed", std::to_string(job.missed().count()) + (job.missed().count() == 1 ? " time, " : " times, from ") +
                          time_text(job.missed().first_unix_ms()) +
                          (job.missed().count() == 1 ? "" : " to " + time_text(job.missed().last_unix_ms())) +
                          ", see fairlead alert show " + std::to_string(job.missed_alert()));
  out.add("decided", "until " + time_text(job.mark_unix_ms()));
  if (job.alert() != 0) out.add("alert", std::to_string(job.alert()) + ", see fairlead alert show " + std::to_string(job.alert()));
  if (!spec.input().empty()) out.add("input", printable(shortened(spec.input(), 200)));
  if (!spec.notes().empty()) out.add_prose("notes", spec.notes());
  auto text = out.text() + open_of(job, parked) + coming_of(reply) + latest_of(reply, parked);
  const auto helps = job_remedies(reply, now_unix_ms, parked, can_cancel);
  if (helps.empty()) return text;
  text_table table{{{"COMMAND"}, {"WHAT IT DOES", align::left, narrow::below}}};
  for (const auto& one : helps) table.add({one.command, one.effect});
  return text + "\nWhat helps\n" + table.text(false);
}

std::string job_show_yaml(const v1::JobShowReply& reply) {
  auto spec = reply.job().spec();
  spec.clear_paused();
  if (reply.job().paused()) spec.set_paused(true);
  return job_yaml(spec);
}

}  // namespace fairlead::app
