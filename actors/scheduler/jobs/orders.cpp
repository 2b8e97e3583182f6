// Requests of owners and operators about jobs.

#include <algorithm>
#include <utility>

#include "actors/core/job/check.hpp"
#include "actors/core/job/launch_input.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/workflow/check_kinds.hpp"
#include "actors/scheduler/jobs/launches.hpp"
#include "messages/job_verbs.hpp"
#include "store/content_hash.hpp"
#include "store/keys.hpp"

namespace fairlead {

namespace {

constexpr std::size_t rewind_chunk = 1000;               // jobs read by one request that names none
constexpr std::uint64_t most_launches_a_request = 1000;  // backfilled by one request: other work waits meanwhile
constexpr std::uint64_t most_skips_a_request = 10'000;   // skipped by one request: each is a single row

error no_job(const std::string& name) {
  return {v1::ERROR_CODE_NOT_FOUND, "there is no job " + core::clean_text(name, 128), "fairlead job list shows all jobs"};
}

/// Empty: the action has no token.
std::string hash_of(v1::JobAction action) {
  if (action.token().empty()) return {};
  action.clear_token();
  action.clear_if_revision();
  action.clear_who();
  return store::content_hash(action.SerializeAsString());
}

std::optional<error> refuse_other_presence(const std::string& name, bool there, const v1::JobApplyRequest& how) {
  if (there ? !how.must_be_new() : !how.must_exist()) return std::nullopt;
  return error{v1::ERROR_CODE_CHANGED, "job " + core::clean_text(name, 128) + (there ? " exists" : " does not exist"),
               "look at the jobs again: fairlead job list"};
}

/// `record`: null if there is no such job.
std::optional<error> refuse_other_revision(const std::string& name, const v1::JobRecord* record, std::uint32_t wanted) {
  if (wanted == 0 || (record != nullptr && record->revision() == wanted)) return std::nullopt;
  return error{v1::ERROR_CODE_CHANGED,
               "job " + core::clean_text(name, 128) +
                   (record == nullptr ? " is deleted" : " has changed: its revision is " + std::to_string(record->revision())),
               "look at it again: fairlead job show " + core::clean_text(name, 128)};
}

}  // namespace

v1::JobApplyReply launches::apply(const v1::JobApplyRequest& what) {
  v1::JobApplyReply reply;
  const auto who = core::clean_text(what.who(), who_limit);
  if (world_.tasks->draining()) {
    *reply.mutable_error() = node_is_stopping().to_proto();
  } else if (what.jobs_size() > max_request_items) {
    *reply.mutable_error() = too_many_items("jobs").to_proto();
  } else if (who.empty()) {
    *reply.mutable_error() = nobody_asks().to_proto();
  } else {
    for (const auto& spec : what.jobs()) {
      *reply.add_results() = apply_one(spec, who, what);
      if (world_.tasks->failed()) return reply;
      world_.tasks->flush_if_large();
    }
  }
  return reply;
}

/// An input may read when its launch is due, so that of the next launch is looked at.
std::optional<error> launches::refuse_next_input(const v1::JobSpec& spec, const core::workflow& of) const {
  const auto now_ms = to_unix_ms(world_.time->now());
  v1::LaunchOf next;
  next.set_job(spec.name());
  next.set_nominal_unix_ms(core::next_nominal(spec, *world_.zones, now_ms).value_or(now_ms));
  next.set_zone(spec.zone());
  next.set_trigger("schedule");
  const auto input = core::render_job_input(spec.input(), next);
  return input ? of.refuse_input(*input) : std::nullopt;
}

v1::JobApplyResult launches::apply_one(const v1::JobSpec& spec, const std::string& who, const v1::JobApplyRequest& how) {
  v1::JobApplyResult out;
  out.set_name(core::clean_text(spec.name(), 128));
  const auto refused = [&out](const error& why) {
    *out.mutable_error() = why.to_proto();
    return out;
  };
  if (const auto problems = core::check_job(spec, *world_.zones); !problems.empty()) {
    const auto& first = problems.front();
    auto sentence = "job " + core::clean_text(spec.name(), 128) + ", " + first.field +
                    (first.position != 0 ? ", position " + std::to_string(first.position) : std::string{}) + ": " + first.sentence;
    if (problems.size() > 1) sentence += " (and " + std::to_string(problems.size() - 1) + " more problems)";
    return refused(invalid(std::move(sentence), first.remedy));
  }
  const auto definition = world_.workflows->current(spec.workflow(), committed());
  if (!definition) {
    const auto& why = definition.failure();
    if (!workflow_catalog::is_refusal(why)) world_.tasks->fail(why);
    if (why.code != v1::ERROR_CODE_NOT_FOUND) return refused({why.code, "job " + spec.name() + ": " + why.sentence, why.remedy});
    return refused({why.code, "job " + spec.name() + ": workflow " + core::clean_text(spec.workflow(), 128) + " is not deployed",
                    "deploy it first: fairlead workflow deploy FILE"});
  }
  if (const auto why = refuse_next_input(spec, **definition))
    return refused({why->code, "job " + spec.name() + ", input: " + why->sentence, why->remedy});
  for (const auto& need : spec.needs())
    if (!world_.agents->carries(need.agent(), need.labels()) || !world_.agents->is_there(need.agent()))
      out.add_warnings("no agent " + need.agent() +
                       " with the labels that the job needs is registered at the moment; launches wait for one");
  if (spec.overlap() == v1::OVERLAP_POLICY_REPLACE)
    for (const auto& step : (*definition)->definition().steps())
      if (!core::says_how_it_is_undone(step) && step.finally() == v1::FINALLY_NO)
        out.add_warnings(
            "step " + step.name() + " of workflow " + spec.workflow() +
            " does not say how to undo it. A launch that is replaced once this step has begun is terminated, and what it did stays");
  auto hash = store::job_hash(spec);
  const auto found = jobs_.find(spec.name(), committed());
  if (!found) {
    world_.tasks->fail(found.failure());
    return refused(found.failure());
  }
  auto& job = **found;
  if (job.crashed)
    return refused(
        {v1::ERROR_CODE_UNAVAILABLE, "job " + spec.name() + " is being paused because of an internal error", "try again in a moment"});
  auto why = refuse_other_presence(spec.name(), job.there, how);
  if (!why) why = refuse_other_revision(spec.name(), job.there ? &job.record : nullptr, how.if_revision());
  if (why) {
    forget_if_durable(spec.name());
    return refused(*why);
  }
  if (how.check_only()) {
    out.set_created(!job.there);
    const auto pause_changes = spec.has_paused() && spec.paused() != job.record.paused();
    out.set_changed(job.there && (job.record.content_hash() != hash || pause_changes));
    out.set_next_unix_ms(core::next_nominal(spec, *world_.zones, to_unix_ms(world_.time->now())).value_or(0));
    forget_if_durable(spec.name());
    return out;
  }
  if (job.there) {
    const auto made = decide(spec.name(), core::job_changed{spec, std::move(hash), who});
    if (!made) return refused({v1::ERROR_CODE_INTERNAL, "an internal error occurred in job " + spec.name(), "read the node's log"});
    if (made->refused) {
      if (made->refused->code == v1::ERROR_CODE_UNAVAILABLE) decide(spec.name(), core::job_due{});
      return refused(*made->refused);
    }
    const auto now = jobs_.find(spec.name(), committed());
    if (now) out.set_next_unix_ms((*now)->record.next_unix_ms());
    out.set_changed(made->changed);
    forget_if_durable(spec.name());
    return out;
  }
  if (world_.room->full()) {
    forget_if_durable(spec.name());
    return refused(world_.room->refusal());
  }
  create(spec, std::move(hash), who, job);
  out.set_created(true);
  out.set_next_unix_ms(job.record.next_unix_ms());
  return out;
}

v1::JobOperateReply launches::operate(const v1::JobOperateRequest& what) {
  v1::JobOperateReply reply;
  auto action = what.action();
  action.set_who(core::clean_text(action.who(), who_limit));
  action.set_reason(core::clean_text(action.reason(), reason_limit));
  if (world_.tasks->draining()) {
    *reply.mutable_error() = node_is_stopping().to_proto();
  } else if (what.names_size() > max_request_items) {
    *reply.mutable_error() = too_many_items("jobs").to_proto();
  } else if (action.who().empty()) {
    *reply.mutable_error() = nobody_asks().to_proto();
  } else if (action.has_input() && action.input().size() > input_bytes_) {
    *reply.mutable_error() =
        invalid("the input has " + std::to_string(action.input().size()) + " bytes, the limit is " + std::to_string(input_bytes_),
                "put large data elsewhere and pass a reference to it")
            .to_proto();
  } else if (what.names().empty() && is_rewind(action.verb())) {
    rewind_all(what.after(), action, reply);
  } else {
    const auto skips = action.verb() == v1::JOB_VERB_SKIP;
    std::uint64_t launches = 0;
    for (const auto& name : what.names()) {
      auto& result = *reply.add_results();
      if (launches >= (skips ? most_skips_a_request : most_launches_a_request)) {
        result.set_name(core::clean_text(name, 128));
        *result.mutable_error() = error{v1::ERROR_CODE_OVERLOADED,
                                        skips ? "the request has skipped " + std::to_string(launches) + " launches, which is the maximum"
                                              : "the request has filled " + std::to_string(launches) + " times, which is the maximum",
                                        "repeat the command for job " + result.name()}
                                      .to_proto();
        continue;
      }
      result = operate_one(name, action);
      launches += result.launches();
      if (world_.tasks->failed()) return reply;
      world_.tasks->flush_if_large();
    }
    // The latest mark may have been that of a deleted job.
    const auto one_less = action.verb() == v1::JOB_VERB_DELETE && world_.batches->counts().clock_alert() != 0;
    if (action.verb() == v1::JOB_VERB_REWIND || one_less) {
      find_latest_mark();
      watch_clock();
    }
  }
  return reply;
}

namespace {

const char* done_word(v1::JobVerb verb) {
  switch (verb) {
    case v1::JOB_VERB_PAUSE: return "paused";
    case v1::JOB_VERB_RESUME: return "resumed";
    case v1::JOB_VERB_DELETE: return "deleted";
    case v1::JOB_VERB_RUN: return "run";
    case v1::JOB_VERB_BACKFILL: return "backfilled";
    case v1::JOB_VERB_REWIND: return "rewound";
    case v1::JOB_VERB_SKIP: return "freed of its waiting launches";
    default: return "not changed";
  }
}

/// False: nothing had to be done, as for a run that is asked for again. For some verbs a changed record does not mean that the verb did
/// something: the due moment may have moved as well.
bool has_done(const v1::JobAction& action, bool was_paused, const core::job_decision& made) {
  switch (action.verb()) {
    case v1::JOB_VERB_PAUSE: return !was_paused;
    case v1::JOB_VERB_RESUME: return was_paused;
    case v1::JOB_VERB_BACKFILL:
    case v1::JOB_VERB_SKIP: return made.answer.launches() != 0;
    case v1::JOB_VERB_BACKFILL_DRY_RUN:
    case v1::JOB_VERB_REWIND_DRY_RUN: return false;
    default: return made.changed;
  }
}

}  // namespace

void launches::note_operated(const std::string& name, const v1::JobAction& action) {
  world_.log->on_note(
      note_level::info, "scheduler",
      "job " + name + " was " + done_word(action.verb()) + " by " + action.who() + (action.reason().empty() ? "" : ": " + action.reason()));
}

v1::JobOperateResult launches::operate_one(const std::string& name, const v1::JobAction& action) {
  v1::JobOperateResult out;
  out.set_name(core::clean_text(name, 128));
  const auto refused = [&out](const error& why) {
    *out.mutable_error() = why.to_proto();
    return out;
  };
  if (!core::valid_job_name(name)) return refused(no_job(name));
  const auto found = jobs_.find(name, committed());
  if (!found) {
    world_.tasks->fail(found.failure());
    return refused(found.failure());
  }
  if (!(*found)->there) {
    forget_if_durable(name);
    return refused(no_job(name));
  }
  const auto done_already = core::find_run((*found)->record, action) != nullptr;
  if (const auto why = refuse_other_revision(name, &(*found)->record, done_already ? 0 : action.if_revision())) {
    forget_if_durable(name);
    return refused(*why);
  }
  if (action.verb() == v1::JOB_VERB_DELETE) {
    if (const auto why = erase(name, **found)) return refused(*why);
    note_operated(name, action);
    out.set_sentence("deleted");
    return out;
  }
  // `found` may be gone after the decision.
  const bool was_paused = (*found)->record.paused();
  const auto made = decide(name, core::job_operated{action, hash_of(action)});
  if (!made) return refused({v1::ERROR_CODE_INTERNAL, "an internal error occurred in job " + name, "read the node's log"});
  if (made->refused) {
    // The job has too many missed times. A job that was given up has no index entry: this decision adds one.
    if (made->refused->code == v1::ERROR_CODE_UNAVAILABLE) decide(name, core::job_due{});
    return refused(*made->refused);
  }
  auto answer = made->answer;
  answer.set_name(name);
  if (has_done(action, was_paused, *made)) note_operated(name, action);
  return answer;
}

std::optional<error> launches::erase(const std::string& name, job_book::entry& job) {
  if (job.crashed)
    return error{v1::ERROR_CODE_UNAVAILABLE, "job " + name + " is being paused because of an internal error", "try again in a moment"};
  const auto all = job_launches{name, job, committed()}.from(0);
  if (!all) {
    world_.tasks->fail(all.failure());
    return all.failure();
  }
  for (const auto& row : *all) {
    store::erase_launch(world_.batches->rows(), name, row.nominal_unix_ms());
    job.launches[row.nominal_unix_ms()] = std::nullopt;
  }
  const auto before = store::index_state_of(job.record);
  core::job_decision last;
  last.resolve_alert = job.record.alert() != 0;
  last.missed_changed = job.record.has_missed();
  job.record.clear_missed();
  write_alert(job.record, last);
  store::erase_job(world_.batches->rows(), before, name);
  store::move_job_counters(world_.batches->counts(), before, store::job_index_state{});
  job.record.Clear();
  job.there = false;
  // A new job of this name must not inherit the crash.
  jobs_.taken_up(name);
  jobs_.written(name, job, world_.batches->sequence());
  return std::nullopt;
}

void launches::rewind_all(const std::string& after, const v1::JobAction& action, v1::JobOperateReply& out) {
  const auto now_ms = to_unix_ms(world_.time->now());
  std::vector<std::string> ahead;
  std::string last;
  std::size_t seen = 0;
  const auto scanned = store::for_each_job(committed(), after, [&](const v1::JobRecord& record) {
    last = record.spec().name();
    if (record.mark_unix_ms() > now_ms) ahead.push_back(last);
    return ++seen < rewind_chunk;
  });
  if (!scanned.ok()) {
    world_.tasks->fail(scanned.failure());
    *out.mutable_error() = scanned.failure().to_proto();
    return;
  }
  for (const auto& name : ahead) {
    *out.add_results() = operate_one(name, action);
    if (world_.tasks->failed()) return;
    world_.tasks->flush_if_large();
  }
  if (seen >= rewind_chunk) {
    out.set_after(last);
    return;
  }
  // Some jobs may have been refused: their marks stay ahead.
  find_latest_mark();
  watch_clock();
}

}  // namespace fairlead
