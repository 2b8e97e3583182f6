// What the judge of jobs knows, and how batches become decisions.

#include "tests/simulation/checker/job_checker.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include "actors/core/cron/expression.hpp"
#include "actors/core/cron/next.hpp"
#include "actors/system/time_zones.hpp"
#include "store/checksum.hpp"
#include "store/keys.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::simulation {

namespace {

std::int64_t floor_second(std::int64_t ms) { return ms >= 0 ? ms / 1000 : -((999 - ms) / 1000); }

std::string bare(v1::JobSpec spec) {
  spec.clear_paused();
  return spec.SerializeAsString();
}

template <class Message>
Message read(const store::operation& op) {
  Message out;
  if (op.value.size() < store::checksum_bytes ||
      !out.ParseFromArray(op.value.data(), static_cast<int>(op.value.size() - store::checksum_bytes)))
    world::broken("store_check", "a row about jobs cannot be read");
  return out;
}

}  // namespace

std::optional<std::int64_t> nominal_time_after(const v1::JobSpec& spec, std::int64_t after_ms) {
  const auto parsed = core::cron_expression::parse(spec.schedule(), spec.name());
  const auto* zone = time_zones::of_system().find(spec.zone());
  const auto dst = spec.dst() == v1::DST_POLICY_LITERAL     ? core::dst_policy::literal
                   : spec.dst() == v1::DST_POLICY_SKIP_ONCE ? core::dst_policy::skip_once
                                                            : core::dst_policy::vixie;
  const auto next = core::next_instant(std::get<core::cron_expression>(parsed), *zone, dst, floor_second(after_ms));
  if (!next) return std::nullopt;
  return *next * 1000;
}

std::vector<std::int64_t> nominal_times(const v1::JobSpec& spec, std::int64_t after_ms, std::int64_t to_ms) {
  std::vector<std::int64_t> out;
  for (auto next = nominal_time_after(spec, after_ms); next && *next <= to_ms; next = nominal_time_after(spec, *next)) out.push_back(*next);
  return out;
}

std::string name_of_launch(const std::string& job, std::int64_t nominal_ms) {
  const auto seconds = static_cast<std::time_t>(floor_second(nominal_ms));
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::string out = job + "@" + text;
  if (const auto rest = nominal_ms - static_cast<std::int64_t>(seconds) * 1000; rest != 0) {
    const auto digits = std::to_string(1000 + rest);
    out += "." + digits.substr(1);
  }
  return out + "Z";
}

std::optional<std::int64_t> window_of(const v1::JobSpec& spec) {
  if (spec.has_start_window_ms()) return spec.start_window_ms();
  if (!spec.needs().empty()) return 600'000;
  return std::nullopt;
}

bool job_checker::known_task::counts() const { return !has_ended(state) && !parked; }

// ---- what is asked and told ----

void job_checker::starts_under(std::uint64_t in_flight, std::uint32_t a_second) {
  most_in_flight_ = in_flight;
  most_a_second_ = a_second;
  started_.clear();
  up_since_us_ = world_.now_us();
}

void job_checker::applied(const v1::JobSpec& what) {
  auto& all = asked_[what.name()];
  all.specs.insert(bare(what));
  if (what.has_paused()) (what.paused() ? all.pause : all.goes_on) = true;
}

void job_checker::ordered(const std::string& name, const v1::JobAction& what) {
  auto& all = asked_[name];
  switch (what.verb()) {
    case v1::JOB_VERB_PAUSE: all.pause = true; break;
    case v1::JOB_VERB_RESUME: all.goes_on = true; break;
    case v1::JOB_VERB_REWIND: all.rewind = true; break;
    case v1::JOB_VERB_DELETE: all.deletion = true; break;
    case v1::JOB_VERB_SKIP: all.skip = true; break;
    case v1::JOB_VERB_RUN: all.runs.push_back(what); break;
    case v1::JOB_VERB_BACKFILL: all.fills.push_back(what); break;
    default: break;
  }
}

const job_checker::wishes& job_checker::asked(const std::string& name) const {
  static const wishes none;
  const auto found = asked_.find(name);
  return found == asked_.end() ? none : found->second;
}

void job_checker::answered(const v1::JobApplyReply& what) const {
  for (const auto& one : what.results()) {
    if (one.error().code() != v1::ERROR_CODE_OK || asked(one.name()).deletion) continue;
    if (jobs_.count(one.name()) == 0) world::broken("job_answer", "job " + one.name() + " was deployed, and the store does not have it");
  }
}

void job_checker::answered(const v1::JobOperateReply& what, const store::snapshot& durable) const {
  for (const auto& one : what.results()) {
    const auto& wanted = asked(one.name());
    if (one.error().code() != v1::ERROR_CODE_OK || wanted.deletion) continue;
    const auto found = jobs_.find(one.name());
    if (found == jobs_.end()) world::broken("job_answer", "an order for job " + one.name() + " was taken, and there is no such job");
    const auto& job = found->second;
    if (one.sentence().rfind("paused", 0) == 0 && !wanted.goes_on && !job.record.paused())
      world::broken("job_answer", "job " + one.name() + " is said to be paused, and is not");
    if (one.launch().empty()) continue;
    const auto is_it = [&](std::int64_t nominal_ms) { return name_of_launch(one.name(), nominal_ms) == one.launch(); };
    const auto there = std::any_of(job.rows.begin(), job.rows.end(), [&](const auto& row) { return is_it(row.first); });
    // The answer to a run may leave together with a later rewind, which forgets skips ahead of the clock. What has started is not forgotten.
    const auto may_be_gone = one.state() == v1::LAUNCH_STATE_WAITING || one.state() == v1::LAUNCH_STATE_SKIPPED;
    if (!there && may_be_gone && std::any_of(job.forgotten.begin(), job.forgotten.end(), is_it)) continue;
    if (!there) world::broken("job_answer", one.launch() + " is said to be launched, and there is no record of it");
    if (one.state() != v1::LAUNCH_STATE_STARTED) continue;
    const auto task = store::find_task(durable, one.launch());
    if (!task.ok() || !*task) world::broken("job_answer", one.launch() + " is said to be started, and there is no such task");
  }
}

// ---- batches ----

void job_checker::committed(const std::vector<store::batch>& group) {
  if (!any()) return;
  for (const auto& one : group) take_batch(one);
}

void job_checker::take_batch(const store::batch& one) {
  starts_ = rises_ = 0;
  unclaimed_.clear();
  decision made;
  one.for_each([&](const store::operation& op) {
    const auto erases = op.what == store::operation::kind::erase;
    if (op.where == store::table::task && !erases) {
      const auto number = store::keys::decode_task(op.key)->number;
      if (number > latest_number_ || tasks_.count(number) != 0) take_task(read<v1::TaskRecord>(op));
      latest_number_ = std::max(latest_number_, number);
    } else if (op.where == store::table::launch) {
      const auto key = store::keys::decode_launch(op.key);
      if (!made.job.empty() && made.job != key->job)
        world::broken("job_batch", "rows of " + made.job + " and " + std::string{key->job} + " are mixed without a decision between them");
      made.job = key->job;
      if (erases)
        made.erased.push_back(key->nominal_unix_ms);
      else
        made.put.push_back(read<v1::LaunchRecord>(op));
    } else if (op.where == store::table::job) {
      const std::string name{store::keys::decode_job(op.key)->name};
      if (!made.job.empty() && made.job != name)
        world::broken("job_batch", "rows of launches of " + made.job + " are written without its job");
      made.job = name;
      decide(made, erases ? std::nullopt : std::optional{read<v1::JobRecord>(op)});
      made = {};
    }
  });
  if (!made.job.empty()) world::broken("job_batch", "rows of launches of " + made.job + " are written without its job");
  for (const auto& [number, nominal_ms] : unclaimed_)
    world::broken("job_batch", "the task " + tasks_.at(number).id + " is in another batch than its launch");
  judge_flight(starts_);
  for (const auto& [number, task] : tasks_) {
    const auto job = jobs_.find(task.job);
    if (!has_ended(task.state) || job == jobs_.end() || job->second.generation != task.generation) continue;
    const auto row = job->second.rows.find(task.nominal_ms);
    if (row != job->second.rows.end() && row->second.state() == v1::LAUNCH_STATE_STARTED)
      world::broken("job_batch", task.id + " has ended, and its launch is recorded as started");
  }
  for (const auto& [number, task] : tasks_) {
    const auto job = jobs_.find(task.job);
    if (job == jobs_.end() || job->second.generation != task.generation) continue;
    const auto* open = open_of(job->second.record, task.nominal_ms);
    if (open == nullptr || open->state() != v1::LAUNCH_STATE_STARTED) continue;
    world_.judges("job_parked");
    if (open->parked() != task.parked)
      world::broken("job_parked",
                    task.id + (task.parked ? " is parked, and its job does not know" : " goes on, and its job takes it for parked"));
  }
}

void job_checker::take_task(const v1::TaskRecord& record) {
  if (!record.has_launch()) return;
  const auto nominal_ms = record.launch().nominal_unix_ms();
  const auto known = tasks_.find(record.number());
  if (known == tasks_.end()) {
    if (record.id() != name_of_launch(record.launch().job(), nominal_ms))
      world::broken("job_surplus",
                    "the task of the launch " + name_of_launch(record.launch().job(), nominal_ms) + " is named " + record.id());
    if (!task_ids_.emplace(record.id(), record.number()).second) world::broken("job_surplus", "there are two tasks " + record.id());
    unclaimed_[record.number()] = nominal_ms;
    world_.count("launches started");
  }
  auto& task = tasks_[record.number()];
  const auto counted = task.counts() && known != tasks_.end();
  task.id = record.id();
  task.job = record.launch().job();
  task.nominal_ms = nominal_ms;
  task.state = record.state();
  task.parked = record.parked();
  if (!counted && task.counts()) ++(known == tasks_.end() ? starts_ : rises_);
}

void job_checker::judge_flight(std::uint64_t starts) const {
  if (starts == 0 || rises_ != 0 || most_in_flight_ == 0) return;
  const auto out =
      static_cast<std::uint64_t>(std::count_if(tasks_.begin(), tasks_.end(), [](const auto& one) { return one.second.counts(); }));
  if (out > most_in_flight_)
    world::broken("job_cap", std::to_string(out) + " launches are in flight after one has started, of " + std::to_string(most_in_flight_));
}

void job_checker::create(const std::string& name, const v1::JobRecord& record) {
  if (asked(name).specs.count(record.spec().SerializeAsString()) == 0)
    world::broken("job_answer", "job " + name + " is none that was deployed");
  if (record.mark_unix_ms() != record.created_at_unix_ms() || record.created_at_unix_ms() > clock_.latest_ms(world_.now_us() - 60 * second))
    world::broken("job_mark", "the mark of the new job " + name + " is not the moment of its creation");
  auto& job = jobs_[name];
  job.generation = ++generations_;
  job.record = record;
  job.stretches.push_back({record.spec(), record.mark_unix_ms(), record.mark_unix_ms()});
  world_.count("jobs");
}

void job_checker::decide(const decision& made, std::optional<v1::JobRecord> after) {
  const auto found = jobs_.find(made.job);
  if (!after) {
    if (!asked(made.job).deletion) world::broken("job_missed", "job " + made.job + " is deleted, and nobody asked for it");
    if (found == jobs_.end()) return;
    for (const auto nominal_ms : made.erased) found->second.rows.erase(nominal_ms);
    if (!found->second.rows.empty() || !made.put.empty())
      world::broken("job_surplus", "job " + made.job + " is deleted, and launches of it are left");
    jobs_.erase(found);
    world_.count("jobs deleted");
    return;
  }
  if (found == jobs_.end()) {
    if (!made.put.empty() || !made.erased.empty()) world::broken("job_surplus", "the new job " + made.job + " has launches");
    create(made.job, *after);
    return;
  }
  auto& job = found->second;
  judge_record(job, *after);
  const auto before = job.record;
  const auto mark_ms = before.mark_unix_ms();
  const auto times = nominal_times(before.spec(), mark_ms, after->mark_unix_ms());
  const judgement of{before, *after, {times.begin(), times.end()}, job.rows, made};
  job.record = *after;
  if (!times.empty()) world_.count("nominal times", times.size());
  for (const auto nominal_ms : made.erased) {
    judge_erased(of, nominal_ms);
    const auto old = of.old.find(nominal_ms);
    if (old != of.old.end() && old->second.trigger() == v1::LAUNCH_TRIGGER_OPERATOR && after->mark_unix_ms() < mark_ms)
      job.forgotten.insert(nominal_ms);
    job.rows.erase(nominal_ms);
  }
  // What has ended makes room for what starts in the same decision, whichever is written first.
  for (const auto ended : {true, false}) {
    for (const auto& row : made.put) {
      if (is_open(row) == ended) continue;
      const auto old = of.old.find(row.nominal_unix_ms());
      if (old == of.old.end())
        judge_new(job, of, row);
      else
        judge_move(job, of, old->second, row);
      job.rows[row.nominal_unix_ms()] = row;
      job.forgotten.erase(row.nominal_unix_ms());
    }
  }
  judge_held(before, *after);
  move_stretches(job, before, *after);
  judge_coverage(job, of);
}

void job_checker::move_stretches(known_job& job, const v1::JobRecord& before, const v1::JobRecord& after) {
  const auto to_ms = after.mark_unix_ms();
  if (to_ms < before.mark_unix_ms()) {
    world_.count("jobs rewound");
    auto& all = job.stretches;
    while (all.size() > 1 && all.back().from_ms >= to_ms) all.pop_back();
    all.back().from_ms = std::min(all.back().from_ms, to_ms);
    all.back().to_ms = std::min(all.back().to_ms, to_ms);
    all.push_back({before.spec(), to_ms, to_ms});
    for (const auto& [nominal_ms, row] : job.rows)
      if (nominal_ms > to_ms) job.beside.insert(nominal_ms);
  }
  job.stretches.back().to_ms = to_ms;
  if (after.revision() != before.revision()) job.stretches.push_back({after.spec(), to_ms, to_ms});
}

void job_checker::judge_record(const known_job& job, const v1::JobRecord& after) const {
  const auto& before = job.record;
  const auto& name = before.spec().name();
  const auto& wanted = asked(name);
  if (after.spec().SerializeAsString() != before.spec().SerializeAsString()) {
    if (wanted.specs.count(after.spec().SerializeAsString()) == 0)
      world::broken("job_answer", "job " + name + " became one that nobody deployed");
    if (after.revision() != before.revision() + 1) world::broken("job_answer", "job " + name + " was changed and has no new revision");
  }
  const auto crashed = bugs_.about_job(name);
  if (stands_still(after) && !crashed)
    throw rule_broken{"internal_error", "job " + name + " is paused because of an internal error", false};
  if (after.paused() && !before.paused() && !wanted.pause && !crashed)
    world::broken("job_paused", "job " + name + " pauses, and nobody asked for it");
  if (!after.paused() && before.paused() && !wanted.goes_on)
    world::broken("job_paused", "job " + name + " goes on, and nobody asked for it");
  if (after.mark_unix_ms() < before.mark_unix_ms() && !wanted.rewind)
    world::broken("job_mark", "the mark of job " + name + " goes back, and nobody asked for it");
  if (after.mark_unix_ms() < before.mark_unix_ms() && after.mark_unix_ms() < clock_.earliest_ms(world_.now_us() - 60 * second))
    world::broken("job_mark", "the mark of job " + name + " goes back further than its clock has done");
  if (after.mark_unix_ms() > before.mark_unix_ms() && after.mark_unix_ms() > clock_.latest_ms(world_.now_us() - 60 * second))
    world::broken("job_mark", "the mark of job " + name + " is ahead of all that its clock has shown");
}

std::vector<std::string> job_checker::names() const {
  std::vector<std::string> out;
  for (const auto& [name, job] : jobs_) out.push_back(name);
  return out;
}

std::vector<std::int64_t> job_checker::times_of(const std::string& name) const {
  std::vector<std::int64_t> out;
  const auto found = jobs_.find(name);
  if (found == jobs_.end()) return out;
  for (const auto& [nominal_ms, row] : found->second.rows) out.push_back(nominal_ms);
  return out;
}

std::int64_t job_checker::ahead_by_ms() const {
  std::int64_t latest_ms = 0;
  for (const auto& [name, job] : jobs_) latest_ms = std::max(latest_ms, job.record.mark_unix_ms());
  return latest_ms - clock_.now_ms();
}

}  // namespace fairlead::simulation
