// /v1/jobs: what changes jobs.

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/system/time_zones.hpp"
#include "app/api/api.hpp"
#include "app/api/files.hpp"
#include "app/api/query.hpp"
#include "app/files/job_file.hpp"
#include "app/files/job_words.hpp"
#include "app/json/job/operations.hpp"

namespace fairlead::app::api {

namespace {

/// No job has a revision that does not fit.
std::uint32_t revision_of(exchange& x) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(x.wanted_revision(), std::numeric_limits<std::uint32_t>::max()));
}

/// The jobs of the body, which is a job file. `name`: as in parse_jobs(). nullopt: refused.
std::optional<v1::JobApplyRequest> read_jobs(exchange& x, const std::string& name) {
  auto file = parse_jobs("body", x.text(), time_zones::of_system(), name);
  if (file.problems.empty()) file.problems = doubled_jobs({file});
  if (!file.problems.empty()) {
    x.refuse(problem_of_file(file.problems));
    return std::nullopt;
  }
  if (file.jobs.size() > static_cast<std::size_t>(max_request_items)) {
    x.refuse(too_many_items("jobs"));
    return std::nullopt;
  }
  v1::JobApplyRequest out;
  for (auto& job : file.jobs) *out.add_jobs() = std::move(job);
  out.set_who(x.who());
  return out;
}

void name_results(const v1::JobApplyRequest& asked, v1::JobApplyReply& reply) {
  for (int i = 0; i < reply.results_size() && i < asked.jobs_size(); ++i) reply.mutable_results(i)->set_name(asked.jobs(i).name());
}

void operate(const exchange_ptr& x, v1::JobAction action) {
  action.set_who(x->who());
  action.set_if_revision(revision_of(*x));
  if (x->is_over()) return;
  v1::JobOperateRequest request;
  *request.mutable_action() = std::move(action);
  request.add_names(x->part(0));
  x->ask<v1::JobOperateRequest>(std::move(request), [x](const v1::JobOperateReply& reply) {
    const auto* const done = x->only_result(reply);
    if (done == nullptr) return;
    json_writer out;
    write_job_operated(out, *done);
    x->say(200, out.text());
  });
}

v1::JobVerb verb_of(const std::string& word) {
  if (word == "pause") return v1::JOB_VERB_PAUSE;
  if (word == "resume") return v1::JOB_VERB_RESUME;
  if (word == "skip") return v1::JOB_VERB_SKIP;
  if (word == "run") return v1::JOB_VERB_RUN;
  if (word == "backfill") return v1::JOB_VERB_BACKFILL;
  if (word == "rewind") return v1::JOB_VERB_REWIND;
  return v1::JOB_VERB_UNSPECIFIED;
}

}  // namespace

void put_job(exchange_ptr x) {
  if (x->refuse_rest()) return;
  auto request = read_jobs(*x, x->part(0));
  if (!request) return;
  if (request->jobs_size() != 1 || request->jobs(0).name() != x->part(0))
    return x->refuse_at("job",
                        invalid("The body is not the job " + x->part(0) + ".", "Send one job, with the name in the path or without one."));
  request->set_if_revision(revision_of(*x));
  request->set_must_exist(x->is_any("If-Match"));
  request->set_must_be_new(x->is_any("If-None-Match"));
  if (x->is_over()) return;
  x->ask<v1::JobApplyRequest>(*request, [x, asked = *request](v1::JobApplyReply& reply) {
    name_results(asked, reply);
    const auto* const done = x->only_result(reply);
    if (done == nullptr) return;
    json_writer out;
    write_job_applied(out, *done);
    x->say(done->created() ? 201 : 200, out.text(), {{"Location", "/v1/jobs/" + door::encode_percent(done->name())}});
  });
}

void apply_jobs(exchange_ptr x) {
  bool check_only = false;
  take_flag(*x, "check_only", [&](bool on) { check_only = on; });
  if (x->refuse_rest()) return;
  auto request = read_jobs(*x, "");
  if (!request) return;
  request->set_check_only(check_only);
  x->note_action(check_only ? "check_only" : "", {});
  for (const auto& job : request->jobs()) x->note_object(job.name());
  x->ask<v1::JobApplyRequest>(*request, [x, asked = *request](v1::JobApplyReply& reply) {
    name_results(asked, reply);
    for (const auto& one : reply.results()) x->note_object(one.name(), one.error().code());
    x->say(200, job_applied_json({reply.results().begin(), reply.results().end()}));
  });
}

void delete_job(exchange_ptr x) {
  if (x->refuse_rest() || !x->read_body({})) return;
  v1::JobAction action;
  action.set_verb(v1::JOB_VERB_DELETE);
  operate(x, std::move(action));
}

void act_on_job(exchange_ptr x) {
  std::string verb, reason, input;
  std::optional<std::string> overlap;
  std::int64_t from = 0, to = 0;
  bool dry_run = false;
  if (x->refuse_rest()) return;
  if (!x->read_body({{"verb", text_into(verb), true},
                     {"reason", text_into(reason)},
                     {"input", json_into(input)},
                     {"overlap", text_into(overlap)},
                     {"from", moment_into(from)},
                     {"to", moment_into(to)},
                     {"dry_run", flag_into(dry_run)}}))
    return;
  x->note_action(verb + (dry_run ? " (dry run)" : ""), reason);
  v1::JobAction action;
  action.set_verb(verb_of(verb));
  const auto refuse = [&](const std::string& pointer, const std::string& sentence, const std::string& remedy) {
    x->refuse_at(pointer, invalid(sentence, remedy));
  };
  if (action.verb() == v1::JOB_VERB_UNSPECIFIED)
    return refuse("/verb", "There is no verb '" + verb + "'.", "Verbs are pause, resume, skip, run, backfill, rewind.");
  const auto runs = action.verb() == v1::JOB_VERB_RUN, fills = action.verb() == v1::JOB_VERB_BACKFILL;
  if (!input.empty() && !runs) return refuse("/input", "Only 'run' takes an input.", "Leave it out.");
  if (overlap && !runs && !fills) return refuse("/overlap", "Only 'run' and 'backfill' take an overlap policy.", "Leave it out.");
  if ((from != 0 || to != 0) && !fills) return refuse(from != 0 ? "/from" : "/to", "Only 'backfill' has a time range.", "Leave it out.");
  const auto rewinds = action.verb() == v1::JOB_VERB_REWIND;
  if (dry_run && !fills && !rewinds) return refuse("/dry_run", "Only 'backfill' and 'rewind' have a dry run.", "Leave it out.");
  if (fills && from == 0) return refuse("/from", "The beginning of the time range is missing.", "Give a moment; both ends are included.");
  if (overlap) {
    const auto policy = value_of_word(overlap_words(), *overlap, "Field 'overlap'");
    if (!policy) return x->refuse_at("/overlap", policy.failure());
    if (fills && (*policy == v1::OVERLAP_POLICY_SKIP || *policy == v1::OVERLAP_POLICY_REPLACE))
      return refuse("/overlap", "A backfill launches all of its times.", "Give allow (all at once) or queue (one after the other).");
    action.set_overlap(*policy);
  }
  action.set_reason(reason);
  if (!input.empty()) action.set_input(input);
  if (dry_run) action.set_verb(fills ? v1::JOB_VERB_BACKFILL_DRY_RUN : v1::JOB_VERB_REWIND_DRY_RUN);
  if (fills) {
    action.set_from_unix_ms(from);
    action.set_to_unix_ms(to == 0 ? to_unix_ms(x->in().time->now()) : to);
  }
  // With a key, the key alone says which launch it is.
  if (runs) action.set_token(x->action_key());
  if (x->is_over()) return;
  operate(x, std::move(action));
}

}  // namespace fairlead::app::api
