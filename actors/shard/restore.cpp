#include "actors/shard/restore.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "actors/alerts/book.hpp"
#include "actors/core/cluster/alert_numbers.hpp"
#include "actors/core/items/item_call.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/restore.hpp"
#include "actors/core/task/steps/item_output.hpp"
#include "messages/items.hpp"
#include "messages/lineage.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/counters.hpp"
#include "store/rows/job_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead {

namespace {

constexpr std::size_t batch_bytes = 1U << 20;
constexpr std::size_t read_at_a_time = 512;       // tasks or jobs
constexpr std::size_t named_jobs = 20;            // in the alert
constexpr std::int64_t clock_margin_ms = 60'000;  // by which the clock may have been ahead in the lost time

class restorer {
 public:
  restorer(store::restorable& in, const restore_options& how) : store_(in), how_(how) {}

  result<restore_report> run() {
    const auto stored = store_.read()->get_progress();
    shard_ = stored.shard;
    sequence_ = stored.sequence;
    epoch_ = stored.epoch;
    if (!store::counters_are_kept(stored))
      if (const auto counted = store::recount(*store_.read(), shard_); !counted.ok()) return counted.failure();
    const auto former = former_lineage();
    if (!former) return former.failure();
    report_.backup_unix_ms = backup_moment(*former);
    const auto counted = store_.counted_until();
    if (!counted) return counted.failure();
    counted_until_ = *counted;
    // The time of which nothing is known begins with the first write that may not count.
    if (counted_until_) report_.backup_unix_ms = std::min(report_.backup_unix_ms, std::max(*counted_until_, former->made_unix_ms()));
    if (const auto begun = store_.begin_restore(how_.now_unix_ms); !begun.ok()) return begun.failure();
    if (const auto done = restore_tasks(); !done.ok()) return done.failure();
    if (const auto done = tell_parents(); !done.ok()) return done.failure();
    if (const auto done = restore_jobs(); !done.ok()) return done.failure();
    report_.lineage = next_lineage(*former, how_.now_unix_ms, how_.bits);
    const auto rise = core::restored_rise{report_.backup_unix_ms, from_unix_ms(how_.now_unix_ms)}.numbers;
    if (!how_.planted.keep_numbers_on_restore) {
      shard_.set_next_task_number(std::max<std::uint64_t>(shard_.next_task_number(), 1) + rise);
      shard_.set_next_alert(shard_.next_alert() + rise);
      shard_.set_next_position(shard_.next_position() + rise);
    }
    raise_alert();
    if (const auto done = write(); !done.ok()) return done.failure();
    const auto seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(how_.now_unix_ms / 1000, 0));
    if (const auto ended = store_.end_restore(report_.lineage, epoch_ + rise, seconds); !ended.ok()) return ended.failure();
    return std::move(report_);
  }

 private:
  result<v1::Lineage> former_lineage() const {
    const auto view = store_.read();
    const auto key = store::keys::meta(store::meta::lineage_row);
    const auto row = view->get(store::table::meta, key);
    if (!row) return row.failure();
    if (!row->has_value()) return v1::Lineage{};
    auto known = store::meta::decode_lineage(**row);
    if (!known) return store::damaged_value(store::table::meta, key);
    return std::move(*known);
  }

  /// The last moment at which the backup was written to. It may be early, never late. A stamp later than now is ignored: its clock was
  /// wrong. Retention time hardly follows such a clock.
  std::int64_t backup_moment(const v1::Lineage& former) const {
    const auto made = former.made_unix_ms() <= how_.now_unix_ms ? former.made_unix_ms() : 0;
    for (const auto moment : {shard_.latest_write_unix_ms(), shard_.retention_unix_ms()})
      if (moment > 0 && moment <= how_.now_unix_ms) return std::max(moment, made);
    return made;
  }

  status write() {
    if (open_.empty()) return nothing{};
    open_.sequence = ++sequence_;
    open_.epoch = epoch_;
    store::seal_counters(open_, shard_);
    return store_.commit({std::exchange(open_, {})});
  }

  status write_if_large() { return open_.bytes().size() >= batch_bytes ? write() : status{nothing{}}; }

  status restore_tasks() {
    const auto ns = store::keys::of_namespace(store::default_namespace);
    std::string next{ns};
    for (bool more = true; more;) {
      std::vector<v1::TaskRecord> found;
      status damaged = nothing{};
      const auto from = std::exchange(next, {});
      more = false;
      auto scanned = store_.read()->scan(store::table::task, from, store::keys::after(ns), [&](std::string_view key, std::string_view row) {
        next = std::string{key} + '\0';
        more = true;
        v1::TaskRecord record;
        if (!record.ParseFromArray(row.data(), static_cast<int>(row.size()))) {
          damaged = store::damaged_value(store::table::task, key);
          return false;
        }
        if (!has_ended(record.state()) || (counted_until_ && record.finished_at_unix_ms() >= *counted_until_))
          found.push_back(std::move(record));
        return found.size() < read_at_a_time;
      });
      if (!scanned.ok()) return scanned;
      if (!damaged.ok()) return damaged;
      for (auto& record : found)
        if (auto done = restore_one(record); !done.ok()) return done;
    }
    return write();
  }

  status restore_one(v1::TaskRecord& record) {
    const auto before = store::index_state_of(record);
    const auto known = definition_of(record);
    if (!known) return known.failure();
    std::optional<v1::WorkflowDefinition> of_item;
    if (*known != nullptr && record.parent().call_of() != 0) of_item = core::definition_of_task(record, **known);
    const auto* by = of_item ? &*of_item : *known;
    if (!core::restore_task(record, report_.backup_unix_ms, from_unix_ms(how_.now_unix_ms), how_.planted, counted_until_, by))
      return nothing{};
    store::put_task(open_, before, record, true);
    store::move_counters(shard_, before, store::index_state_of(record));
    if (record.has_parent() && (record.state() == v1::TASK_STATE_UNDOING || record.state() == v1::TASK_STATE_FAILED))
      reopened_children_[record.parent().number()].push_back(core::news_of(record));
    if (!has_ended(record.state())) ++report_.tasks;
    report_.steps += static_cast<std::uint64_t>(
        std::count_if(record.steps().begin(), record.steps().end(), [](const auto& one) { return one.doubtful() || one.undo_doubtful(); }));
    return write_if_large();
  }

  /// A child that was undone by a write that may never have counted is being undone again, and one that had failed so has steps in doubt.
  /// Its parent has noted its end, and would let an operator go on with its step beside that. All rows have been written, perhaps by a
  /// restore that was cut short before it came here.
  status tell_parents() {
    for (const auto& [number, children] : reopened_children_) {
      auto parent = store::load_task(*store_.read(), number);
      if (!parent.ok()) return parent.failure();
      if (!*parent) continue;
      auto& record = **parent;
      const auto before = store::index_state_of(record);
      auto changed = false;
      for (const auto& one : children) changed = tell(record, one) || changed;
      if (!changed) continue;
      record.set_version(record.version() + 1);
      store::put_task(open_, before, record);
      if (auto done = write_if_large(); !done.ok()) return done;
    }
    return write();
  }

  /// False: it knows, or its step has another child by now.
  static bool tell(v1::TaskRecord& parent, const core::child_changed& news) {
    if (static_cast<int>(news.step) >= parent.steps_size()) return false;
    auto& step = *parent.mutable_steps(static_cast<int>(news.step));
    if (step.has_items()) return tell_of_item(parent, step, news);
    // One that has failed may have left something that its parent does not know of.
    const auto failed = news.state == v1::TASK_STATE_FAILED;
    if (step.child().id() != news.id || step.child().state() != (failed ? v1::TASK_STATE_FAILED : v1::TASK_STATE_UNDONE)) return false;
    if (failed && (!news.stands || step.child().stands())) return false;
    // In a task that is to fail the step was not given up. It is answered once the task is taken back.
    if (step.state() == v1::STEP_STATE_PENDING && step.doubtful()) {
      step.set_state(v1::STEP_STATE_IN_DOUBT);
      if (!parent.failing()) step.set_given_up(true);
    }
    // It is undone before another one begins, and with its step.
    if (failed && step.state() == v1::STEP_STATE_IN_DOUBT) {
      step.set_state(v1::STEP_STATE_FAILED);
      step.clear_doubtful();
    }
    auto& known = *step.mutable_child();
    known.set_state(news.state);
    known.set_parked(news.parked);
    known.set_stands(news.stands);
    return true;
  }

  /// An item that has failed and may have left something is undone before it begins again, and with its step; so is one that is being undone
  /// again, while its step could begin it anew. That other items may have begun since the backup stays in doubt.
  static bool tell_of_item(const v1::TaskRecord& parent, v1::StepRecord& step, const core::child_changed& news) {
    auto& items = *step.mutable_items();
    if (news.item == 0 || news.item > begun_items(items) || item_id(parent, step, news.item - 1) != news.id) return false;
    const auto item = news.item - 1;
    const auto was = item_state_of(items, item);
    const auto failed = news.state == v1::TASK_STATE_FAILED && news.stands && was == item_state::failed;
    const auto may_begin =
        step.state() == v1::STEP_STATE_RUNNING || step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_IN_DOUBT;
    const auto undoing = news.state == v1::TASK_STATE_UNDOING && (was == item_state::failed || was == item_state::undone) && may_begin;
    if (!failed && !undoing) return false;
    set_item_state(items, item, item_state::left_behind);
    step.mutable_child()->set_id(news.id);
    step.mutable_child()->set_stands(true);
    return true;
  }

  /// Null: the store does not have the version.
  result<const v1::WorkflowDefinition*> definition_of(const v1::TaskRecord& record) {
    const auto key = store::keys::workflow_version(store::default_namespace, record.workflow(), record.workflow_hash());
    auto found = versions_.find(key);
    if (found == versions_.end()) {
      const auto view = store_.read();
      const auto row = view->get(store::table::workflow_version, key);
      if (!row.ok()) return row.failure();
      found = versions_.emplace(key, std::nullopt).first;
      v1::DeployedWorkflow deployed;
      if (*row && deployed.ParseFromArray((*row)->data(), static_cast<int>((*row)->size()))) found->second = deployed.definition();
    }
    const v1::WorkflowDefinition* out = found->second ? &*found->second : nullptr;
    return out;
  }

  status restore_jobs() {
    std::string after;
    for (bool more = true; more;) {
      std::vector<v1::JobRecord> found;
      auto scanned = store::for_each_job(*store_.read(), after, [&](const v1::JobRecord& job) {
        found.push_back(job);
        return found.size() < read_at_a_time;
      });
      if (!scanned.ok()) return scanned;
      more = found.size() == read_at_a_time;
      for (auto& job : found) {
        after = job.spec().name();
        if (auto done = restore_one(job); !done.ok()) return done;
      }
    }
    return nothing{};
  }

  status restore_one(v1::JobRecord& job) {
    const auto before = store::index_state_of(job);
    const auto may_have_started = note_waiting(job);
    if (job.next_unix_ms() > how_.now_unix_ms) return may_have_started ? put(before, job) : status{nothing{}};
    // Without a next time it is given up, its zone is unknown, or its schedule is over. It may go on from its mark later.
    const auto passed = job.next_unix_ms() != 0;
    if (passed) ++report_.jobs;
    if (how_.relaunch) return may_have_started ? put(before, job) : status{nothing{}};
    if (passed && report_.jobs <= named_jobs)
      backfills_ += (backfills_.empty() ? "" : "; ") + ("fairlead job backfill " + job.spec().name()) + " --from " +
                    format_utc(job.next_unix_ms()) + " --to " + format_utc(how_.now_unix_ms);
    job.set_restored_until_unix_ms(how_.now_unix_ms);
    return put(before, job);
  }

  status put(const store::job_index_state& before, const v1::JobRecord& job) {
    store::put_job(open_, before, job);
    return write_if_large();
  }

  /// A launch that waited may have become a task since, as a live task's step may have been performed.
  bool note_waiting(v1::JobRecord& job) const {
    auto out = false;
    for (auto& launch : *job.mutable_open()) {
      if (launch.state() != v1::LAUNCH_STATE_WAITING || launch.start_at_unix_ms() > how_.now_unix_ms + clock_margin_ms) continue;
      if (launch.restored_from_unix_ms() != 0) continue;  // of the earliest backup
      launch.set_restored_from_unix_ms(report_.backup_unix_ms);
      out = true;
    }
    return out;
  }

  void raise_alert() {
    v1::AlertRecord draft;
    draft.set_kind(v1::ALERT_KIND_RESTORED);
    const auto from = how_.recovered ? "goes on without its other replicas, with what one had at " : "was restored from a backup of ";
    const std::string since = how_.recovered ? "then" : "the backup";
    draft.set_sentence("the shard " + (from + format_utc(report_.backup_unix_ms)) + ": " + std::to_string(report_.tasks) +
                       " tasks go on, and " + std::to_string(report_.steps) + " of their steps may have been carried out since " + since +
                       "; scheduled times of " + std::to_string(report_.jobs) + " jobs have passed" +
                       (how_.relaunch       ? " and are caught up"
                        : report_.jobs != 0 ? " and are skipped"
                                            : ""));
    auto remedy = "tasks submitted since " + since + " are missing: submit them again with the same ids; then run fairlead alert ack " +
                  std::to_string(shown_alert(shard_.next_alert() + 1));
    if (!backfills_.empty())
      remedy += "; to launch missed times of jobs: " + backfills_ +
                (report_.jobs > named_jobs ? "; and " + std::to_string(report_.jobs - named_jobs) + " more: fairlead job list" : "");
    draft.set_remedy(std::move(remedy));
    report_.alert = shown_alert(alerts_.raise(std::move(draft), {shard_, open_, sequence_ + 1, from_unix_ms(how_.now_unix_ms)}));
  }

  /// As the cluster numbers it.
  std::uint64_t shown_alert(std::uint64_t number) const {
    const auto now = store_.read();
    const auto row = now->get(store::table::meta, store::keys::meta(store::meta::shard_row));
    const auto known = row.ok() && *row ? store::meta::decode_shard(**row) : std::nullopt;
    return known ? core::alert_number({known->shard, number}, std::max(known->count, 1U)) : number;
  }

  store::restorable& store_;
  const restore_options& how_;
  restore_report report_;
  v1::ShardState shard_;
  std::optional<std::int64_t> counted_until_;
  std::map<std::uint64_t, std::vector<core::child_changed>> reopened_children_;  // by the number of their parent
  std::map<std::string, std::optional<v1::WorkflowDefinition>> versions_;        // by key; nullopt: the store does not have it
  std::uint64_t sequence_ = 0;
  std::uint64_t epoch_ = 0;
  store::batch open_;
  alert_book alerts_;
  std::string backfills_;
};

}  // namespace

result<restore_report> restore_shard(store::restorable& in, const restore_options& how) { return restorer{in, how}.run(); }

}  // namespace fairlead
