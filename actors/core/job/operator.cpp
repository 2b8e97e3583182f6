// Operators' actions on a job's present. For its past see stretches.cpp.

#include <algorithm>
#include <utility>

#include "actors/core/job/machine.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::core {

namespace {

constexpr std::int64_t end_of_times_ms = 253'402'300'800'000;  // the year 10000
// Of inputs by hand of waiting launches, in one job's record, which is written anew with each decision about the job.
constexpr std::size_t most_open_input_bytes = 4U << 20;
constexpr int most_remembered_runs = 32;

std::string that_wait(std::size_t launches) { return launches == 1 ? "1 waiting launch" : std::to_string(launches) + " waiting launches"; }

}  // namespace

const v1::RunDone* find_run(const v1::JobRecord& record, const v1::JobAction& action) {
  if (action.verb() != v1::JOB_VERB_RUN || action.nominal_unix_ms() != 0 || action.token().empty()) return nullptr;
  for (const auto& done : record.runs())
    if (done.token() == action.token()) return &done;
  return nullptr;
}

void job_machine::operate(const job_operated& what) {
  switch (what.action.verb()) {
    case v1::JOB_VERB_PAUSE: return pause(what.action);
    case v1::JOB_VERB_RESUME: return resume(what.action);
    case v1::JOB_VERB_RUN: return run(what);
    case v1::JOB_VERB_BACKFILL:
    case v1::JOB_VERB_BACKFILL_DRY_RUN: return backfill(what.action);
    case v1::JOB_VERB_REWIND:
    case v1::JOB_VERB_REWIND_DRY_RUN: return rewind(what.action);
    case v1::JOB_VERB_SKIP: return skip_waiting(what.action);
    default: refuse(v1::ERROR_CODE_INVALID_ARGUMENT, "the request has no action for job " + record_.spec().name());
  }
}

void job_machine::pause(const v1::JobAction& what) {
  if (record_.paused()) {
    out_.answer.set_sentence("the job was already paused");
    return;
  }
  if (!caught_up()) return;
  core::pause(record_, what.who(), what.reason(), ctx_.now);
  out_.changed = true;
  settle();
  const auto launches = held().size();
  out_.answer.set_sentence(std::string{"paused: its times are skipped until it is resumed"} +
                           (launches == 0 ? "" : ", and " + that_wait(launches) + (launches == 1 ? " is held" : " are held")));
}

void job_machine::resume(const v1::JobAction&) {
  if (!record_.paused()) {
    out_.answer.set_sentence("the job was not paused");
    return;
  }
  // The times until now came while the job was paused.
  if (!caught_up()) return;
  const auto were_held = held();
  unpause(record_);
  out_.changed = true;
  settle();
  // The windows of some launches may have ended in this very decision.
  const auto& open = record_.open();
  const auto go_on = std::count_if(open.begin(), open.end(), [&](const auto& launch) {
    return std::binary_search(were_held.begin(), were_held.end(), launch.nominal_unix_ms());
  });
  std::string sentence = "resumed";
  if (go_on != 0) sentence += go_on == 1 ? ": 1 held launch goes on" : ": " + std::to_string(go_on) + " held launches go on";
  if (record_.next_unix_ms() != 0)
    sentence += (go_on != 0 ? ", and its next time is " : ": its next time is ") + utc_text(record_.next_unix_ms());
  out_.answer.set_sentence(std::move(sentence));
}

void job_machine::skip_waiting(const v1::JobAction& what) {
  // A time that has come waits as well, even if it is not decided yet.
  if (!caught_up()) return;
  const auto reason = "skipped by " + what.who() + (what.reason().empty() ? "" : ": " + what.reason());
  std::size_t launches = 0;
  for (int i = record_.open_size() - 1; i >= 0; --i) {
    if (record_.open(i).state() != v1::LAUNCH_STATE_WAITING) continue;
    skip_open(i, v1::SKIP_REASON_CANCELLED, reason);
    ++launches;
  }
  out_.answer.set_launches(launches);
  out_.answer.set_sentence(launches == 0   ? "the job has no waiting launch"
                           : launches == 1 ? "1 waiting launch is skipped"
                                           : std::to_string(launches) + " waiting launches are skipped");
}

void job_machine::run_again(const v1::RunDone& done, const job_operated& asked) {
  if (done.content_hash() != asked.content_hash)
    return refuse(v1::ERROR_CODE_KEY_REUSED, "the key " + done.token() + " was used for another launch of job " + record_.spec().name(),
                  "use another key");
  const auto there = ctx_.rows->at(done.nominal_unix_ms());
  if (!there) {
    fail(there.failure());
    return;
  }
  if (*there) return answer_run(**there);
  out_.answer.set_launch(id_of(done.nominal_unix_ms()));
  out_.answer.set_sentence("was launched, and its record is not kept any more");
}

void job_machine::run(const job_operated& asked) {
  const auto& what = asked.action;
  const auto& spec = record_.spec();
  const auto policy = what.overlap() == v1::OVERLAP_POLICY_UNSPECIFIED ? overlap_of(spec) : what.overlap();
  if (what.has_input()) {
    if (const auto checked = check_json(what.input()); !checked.ok()) {
      refuse(v1::ERROR_CODE_INVALID_ARGUMENT, "the input is not JSON: " + checked.failure().sentence);
      return;
    }
  }
  if (what.nominal_unix_ms() < 0 || what.nominal_unix_ms() >= end_of_times_ms)
    return refuse(v1::ERROR_CODE_INVALID_ARGUMENT, "the time of the launch is before 1970 or after the year 9999",
                  "correct the clock of the machine that sends the request");
  if (what.nominal_unix_ms() != 0 && what.nominal_unix_ms() % 1000 == 0)
    return refuse(v1::ERROR_CODE_INVALID_ARGUMENT, "the time of the launch is a whole second, but these are reserved for the schedule");
  if (what.token().size() > max_action_key_bytes)
    return refuse(v1::ERROR_CODE_INVALID_ARGUMENT,
                  "the token of the launch has more than " + std::to_string(max_action_key_bytes) + " bytes");
  if (clean_text(what.token(), what.token().size()) != what.token())
    return refuse(v1::ERROR_CODE_INVALID_ARGUMENT, "the token of the launch is not UTF-8", "use a token of letters and digits");
  // Without a time, the token alone says which launch it is.
  if (const auto* const done = find_run(record_, what); done != nullptr) return run_again(*done, asked);
  // Never a whole second, so never a time of the schedule. A repeated request finds the first request's launch by the same search.
  auto nominal_ms = what.nominal_unix_ms() != 0 ? what.nominal_unix_ms() : now_ms_;
  for (;; ++nominal_ms) {
    if (nominal_ms % 1000 == 0) continue;
    const auto there = ctx_.rows->at(nominal_ms);
    if (!there) {
      fail(there.failure());
      return;
    }
    if (!*there) break;
    if (what.nominal_unix_ms() != 0 && (*there)->token() == what.token()) return answer_run(**there);
  }
  if (what.has_input())
    if (const auto why = ctx_.gate->refuse_input(spec, minify_json(what.input()))) return refuse(why->code, why->sentence, why->remedy);
  if (const auto* open = first_counted(); policy == v1::OVERLAP_POLICY_SKIP && open != nullptr) {
    const auto& first = *open;
    const auto is_held = first.waits_for() == v1::LAUNCH_WAIT_PAUSE;
    refuse(v1::ERROR_CODE_WRONG_STATE,
           id_of(first.nominal_unix_ms()) + (is_held ? " waits until the job is resumed" : " has not ended") +
               ", and the overlap policy is skip",
           is_held ? "use --overlap allow, or resume the job, or skip its waiting launches: fairlead job skip " + record_.spec().name()
                   : "wait for its end, or use --overlap queue, replace or allow");
    return;
  }
  if (count_open() >= max_open_launches) {
    refuse(v1::ERROR_CODE_OVERLOADED, std::to_string(max_open_launches) + " launches of job " + spec.name() + " are open",
           "try again later");
    return;
  }
  std::size_t input_bytes = what.input().size();
  for (const auto& launch : record_.open()) input_bytes += launch.input().size();
  if (what.has_input() && input_bytes > most_open_input_bytes) {
    refuse(v1::ERROR_CODE_OVERLOADED, "the waiting launches of job " + spec.name() + " have more than 4 MiB of inputs of their own",
           "try again when some of them have started");
    return;
  }
  if (policy == v1::OVERLAP_POLICY_REPLACE) give_way(id_of(nominal_ms));
  auto launch = opened(nominal_ms, v1::LAUNCH_TRIGGER_OPERATOR);
  launch.set_overlap(policy);
  launch.set_who(what.who());
  launch.set_asked_because(what.reason());
  launch.set_token(what.token());
  if (what.has_input()) launch.set_input(minify_json(what.input()));
  launch.set_start_at_unix_ms(now_ms_);
  launch.set_start_by_unix_ms(start_by(now_ms_, now_ms_));
  add_open(std::move(launch));
  if (what.nominal_unix_ms() == 0 && !what.token().empty()) {
    auto& done = *record_.add_runs();
    done.set_token(what.token());
    done.set_content_hash(asked.content_hash);
    done.set_nominal_unix_ms(nominal_ms);
    if (record_.runs_size() > most_remembered_runs) record_.mutable_runs()->DeleteSubrange(0, 1);
  }
  settle();
  answer_run(rows_.at(nominal_ms));
}

void job_machine::answer_run(const v1::LaunchRecord& row) {
  out_.answer.set_launch(id_of(row.nominal_unix_ms()));
  out_.answer.set_state(row.state());
  switch (row.state()) {
    case v1::LAUNCH_STATE_STARTED: out_.answer.set_sentence("started"); break;
    case v1::LAUNCH_STATE_SKIPPED: out_.answer.set_sentence("skipped: " + row.reason()); break;
    case v1::LAUNCH_STATE_COMPLETED:
    case v1::LAUNCH_STATE_UNDONE:
    case v1::LAUNCH_STATE_FAILED: out_.answer.set_sentence("has ended"); break;
    default:
      out_.answer.set_sentence(row.waits_for() == v1::LAUNCH_WAIT_OVERLAP  ? "waits for an earlier launch to end"
                               : row.waits_for() == v1::LAUNCH_WAIT_AGENTS ? "waits for the agents that it needs"
                                                                           : "waits for room");
  }
}

}  // namespace fairlead::core
