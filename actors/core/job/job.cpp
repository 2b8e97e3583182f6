#include "actors/core/job/job.hpp"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "actors/core/job/machine.hpp"

namespace fairlead::core {

namespace {

constexpr std::int64_t second_ms = 1000;
constexpr std::int64_t recheck_spread_ms = 6LL * 3'600'000;
constexpr std::int64_t recheck_portions = 60;

template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>;

}  // namespace

v1::OverlapPolicy overlap_of(const v1::JobSpec& spec) {
  return spec.overlap() == v1::OVERLAP_POLICY_UNSPECIFIED ? v1::OVERLAP_POLICY_SKIP : spec.overlap();
}

v1::CatchUpPolicy catch_up_of(const v1::JobSpec& spec) {
  return spec.catch_up() == v1::CATCH_UP_POLICY_UNSPECIFIED ? v1::CATCH_UP_POLICY_LATEST : spec.catch_up();
}

std::int64_t catch_up_window_of(const v1::JobSpec& spec) {
  return spec.catch_up_window_ms() == 0 ? default_catch_up_window_ms : spec.catch_up_window_ms();
}

std::optional<std::int64_t> start_window_of(const v1::JobSpec& spec) {
  if (spec.has_start_window_ms()) return spec.start_window_ms();
  if (!spec.needs().empty()) return default_needs_window_ms;
  return std::nullopt;
}

dst_policy dst_of(v1::DstPolicy policy) {
  switch (policy) {
    case v1::DST_POLICY_LITERAL: return dst_policy::literal;
    case v1::DST_POLICY_SKIP_ONCE: return dst_policy::skip_once;
    default: return dst_policy::vixie;
  }
}

std::string utc_text(std::int64_t unix_ms) {
  auto out = format_utc(unix_ms);
  // format_utc always gives milliseconds: `….000Z`.
  if (unix_ms % second_ms == 0 && out.size() > 5) out.replace(out.size() - 5, 5, "Z");
  return out;
}

std::string launch_id(std::string_view job, std::int64_t nominal_unix_ms) { return std::string{job} + "@" + utc_text(nominal_unix_ms); }

std::optional<std::int64_t> next_nominal(const v1::JobSpec& spec, const zone_source& zones, std::int64_t after_unix_ms) {
  const auto table = time_table::of(spec, zones);
  return table ? table->next_after(after_unix_ms) : std::nullopt;
}

std::optional<time_table> time_table::of(const std::string& job, const std::string& schedule, const std::string& zone, v1::DstPolicy dst,
                                         const zone_source& zones) {
  auto parsed = cron_expression::parse(schedule, job);
  auto* expression = std::get_if<cron_expression>(&parsed);
  const auto* known = zones.find(zone);
  if (expression == nullptr || known == nullptr) return std::nullopt;
  return time_table{std::move(*expression), known, dst_of(dst)};
}

std::optional<std::int64_t> time_table::next_after(std::int64_t unix_ms) const {
  // The whole second of the moment: nominal times are whole seconds.
  const auto after_s = unix_ms >= 0 ? unix_ms / second_ms : -((-unix_ms + second_ms - 1) / second_ms);
  const auto found = next_instant(schedule, *zone, dst, after_s);
  if (!found) return std::nullopt;
  return *found * second_ms;
}

void pause(v1::JobRecord& record, const std::string& who, const std::string& reason, moment now) {
  record.set_paused(true);
  record.set_paused_by(who);
  record.set_paused_reason(reason);
  record.set_paused_since_unix_ms(to_unix_ms(now));
}

void unpause(v1::JobRecord& record) {
  record.clear_paused();
  record.clear_paused_by();
  record.clear_paused_reason();
  record.clear_paused_since_unix_ms();
}

v1::AlertRecord failing_alert(const v1::JobSpec& spec, const std::string& sentence, const std::string& remedy) {
  v1::AlertRecord out;
  out.set_kind(v1::ALERT_KIND_JOB_FAILING);
  out.set_job(spec.name());
  out.set_workflow(spec.workflow());
  out.set_sentence(sentence);
  out.set_remedy(remedy);
  return out;
}

v1::AlertRecord missed_alert(const v1::JobRecord& job) {
  const auto& missed = job.missed();
  const auto& name = job.spec().name();
  const auto from = utc_text(missed.first_unix_ms());
  const auto to = utc_text(missed.last_unix_ms());
  v1::AlertRecord out;
  out.set_kind(v1::ALERT_KIND_JOB_MISSED);
  out.set_job(name);
  out.set_workflow(job.spec().workflow());
  const auto window = format_duration(catch_up_window_of(job.spec()));
  out.set_sentence("job " + name + " missed " +
                   (missed.count() == 1 ? "its time " + from : std::to_string(missed.count()) + " times from " + from + " to " + to) +
                   ": nothing was there to launch it within the catch-up window of " + window);
  out.set_remedy("fairlead job backfill " + name + " --from " + from + " --to " + to +
                 " launches what was missed; fairlead alert ack leaves it so");
  return out;
}

v1::JobRecord create_job(v1::JobSpec spec, std::string content_hash, const std::string& who, const job_context& ctx) {
  const auto now_ms = to_unix_ms(ctx.now);
  v1::JobRecord record;
  if (spec.paused()) pause(record, who, "as deployed", ctx.now);
  spec.clear_paused();
  *record.mutable_spec() = std::move(spec);
  record.set_content_hash(std::move(content_hash));
  record.set_revision(1);
  record.set_created_at_unix_ms(now_ms);
  record.set_changed_at_unix_ms(now_ms);
  record.set_changed_by(who);
  record.set_mark_unix_ms(now_ms);
  record.set_decided_until_unix_ms(now_ms);
  // The same steps as any other decision: the first nominal time and the entry in the index.
  job_machine machine{record, ctx};
  machine.due();
  machine.finish();
  return record;
}

job_decision decide(v1::JobRecord& record, const job_event& what, const job_context& ctx) {
  // Only requests of owners and operators can be refused.
  const auto may_be_refused = std::holds_alternative<job_changed>(what) || std::holds_alternative<job_operated>(what);
  const auto before = may_be_refused ? record : v1::JobRecord{};
  job_machine machine{record, ctx};
  std::visit(overloaded{
                 [&](const job_due&) { machine.due(); },
                 [&](const launch_ended& e) { machine.ended(e); },
                 [&](const launch_held& e) { machine.held(e); },
                 [&](const job_changed& e) { machine.change(e); },
                 [&](const job_operated& e) { machine.operate(e); },
                 [&](const missed_seen& e) { machine.seen(e); },
             },
             what);
  auto out = machine.finish();
  if (out.refused) {
    record = before;
    job_decision nothing_else;
    nothing_else.refused = std::move(out.refused);
    nothing_else.fatal = std::move(out.fatal);
    return nothing_else;
  }
  return out;
}

// ---- the machine ----

job_machine::job_machine(v1::JobRecord& record, const job_context& ctx)
    : record_(record),
      ctx_(ctx),
      now_ms_(to_unix_ms(ctx.now)),
      table_(time_table::of(record.spec(), *ctx.zones)),
      decided_until_ms_(record.decided_until_unix_ms()) {}

bool job_machine::fail(const error& why) {
  if (!out_.fatal) out_.fatal = why;
  return false;
}

void job_machine::refuse(error_code code, std::string sentence, std::string remedy) {
  out_.refused = error{code, std::move(sentence), std::move(remedy)};
}

void job_machine::due() {
  advance();
  settle();
}

void job_machine::change(const job_changed& what) {
  const auto same = what.content_hash == record_.content_hash();
  const auto pause_changes = what.spec.has_paused() && what.spec.paused() != record_.paused();
  if (same && !pause_changes) return;
  // Times that have come by now were promised under the old specification, and their skips are recorded with it.
  if (!caught_up()) return;
  record_skips();
  out_.changed = true;
  record_.set_changed_at_unix_ms(now_ms_);
  record_.set_changed_by(what.who);
  if (pause_changes) {
    if (what.spec.paused())
      core::pause(record_, what.who, "as deployed", ctx_.now);
    else
      unpause(record_);
  }
  if (!same) {
    const auto& old = record_.spec();
    const auto other_times = old.schedule() != what.spec.schedule() || old.zone() != what.spec.zone() || old.dst() != what.spec.dst();
    *record_.mutable_spec() = what.spec;
    record_.mutable_spec()->clear_paused();
    record_.set_content_hash(what.content_hash);
    record_.set_revision(record_.revision() + 1);
    read_schedule();
    if (other_times && record_.mark_unix_ms() < now_ms_) {
      record_.set_mark_unix_ms(now_ms_);
      record_.set_decided_until_unix_ms(std::max(record_.decided_until_unix_ms(), now_ms_));
    }
    advance();
  }
  settle();
}

job_decision job_machine::finish() {
  if (out_.refused || out_.fatal) return std::move(out_);
  record_skips();
  trim();
  if (out_.fatal) return std::move(out_);
  for (auto& [nominal_ms, row] : rows_) out_.rows.push_back(std::move(row));
  std::int64_t due_ms = record_.next_unix_ms();
  const auto sooner = [&due_ms](std::int64_t at_ms) {
    if (at_ms != 0 && (due_ms == 0 || at_ms < due_ms)) due_ms = at_ms;
  };
  for (const auto& launch : record_.open()) {
    if (launch.state() != v1::LAUNCH_STATE_WAITING) continue;
    if (launch.waits_for() == v1::LAUNCH_WAIT_TIME) sooner(launch.start_at_unix_ms());
    sooner(launch.start_by_unix_ms());
    sooner(deadline_of(launch));
  }
  // Spread over six hours, so that jobs deployed together are not checked together for ever. Few portions, because entries of the same time
  // are neighbours in the index, and a batch costs the pages that it touches.
  const auto& name = record_.spec().name();
  const auto portion = static_cast<std::int64_t>(XXH3_64bits(name.data(), name.size()) % recheck_portions);
  const auto recheck_ms = now_ms_ + job_recheck_ms - portion * (recheck_spread_ms / recheck_portions);
  if (due_ms != 0 || !table_) sooner(recheck_ms);
  const auto indexed_ms = record_.due_indexed_unix_ms();
  // An earlier entry that has not come up stays, unless the row is written anyway and has a moment of its own.
  const auto stays = (!out_.changed || due_ms == recheck_ms) && indexed_ms > now_ms_ && due_ms != 0 && indexed_ms <= due_ms;
  if (!stays && indexed_ms != due_ms) {
    record_.set_due_indexed_unix_ms(due_ms);
    out_.changed = true;
  }
  out_.changed = out_.changed || !out_.rows.empty() || !out_.erased_rows.empty();
  return std::move(out_);
}

}  // namespace fairlead::core
