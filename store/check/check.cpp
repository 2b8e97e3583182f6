#include "store/check/check.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "messages/holds.hpp"
#include "store/check/archive.hpp"
#include "store/check/jobs.hpp"
#include "store/check/notices.hpp"
#include "store/check/scan.hpp"
#include "store/check/task.hpp"
#include "store/content_hash.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/archive_rows.hpp"
#include "store/rows/counters.hpp"
#include "store/rows/effect_rows.hpp"
#include "store/rows/task_rows.hpp"
#include "store/rows/worker_rows.hpp"

namespace fairlead::store {

namespace {

class checker {
 public:
  checker(const snapshot& of, const check_progress& progress, std::size_t max_findings, archive* archives)
      : of_(of),
        archives_(archives),
        all_(of, progress, report_, max_findings),
        tasks_(of, [this](std::string sentence) { all_.add(std::move(sentence)); }),
        notices_(all_),
        jobs_(all_) {}

  check_report run() {
    check_tasks();
    for (auto where : {table::due, table::pending, table::held, table::finished, table::by_workflow, table::by_label}) check_index(where);
    check_ids();
    all_.check_parts(table::history);
    all_.check_parts(table::payload);
    check_workflows();
    notices_.run();
    jobs_.run();
    check_meta();
    if (archives_ != nullptr) archive_check(all_, *archives_, tombstones_).run();
    return std::move(report_);
  }

 private:
  void add(table where, std::string_view key, std::string_view what) { all_.add(where, key, what); }

  template <class Look>
  void scan(table where, Look&& look) {
    all_.scan(where, std::forward<Look>(look));
  }

  void check_tasks() {
    scan(table::task, [&](std::string_view key, std::string_view payload) { tasks_.look_at(*keys::decode_task(key), payload); });
    report_.tasks = of_.count(table::task);
  }

  // Entries are compared with their tasks one by one only if the numbers show a surplus.
  void check_index(table where) {
    const bool surplus = of_.count(where) != tasks_.expected(where);
    scan(where, [&](std::string_view key, std::string_view payload) {
      if (payload.size() != (where == table::held ? 8u : 0u)) add(where, key, "the value has " + std::to_string(payload.size()) + " bytes");
      if (surplus) check_entry(where, key);
    });
  }

  void check_entry(table where, std::string_view key) {
    auto record = load_task(of_, task_number_of(where, key));
    if (!record) return;  // the row's own scan reports it
    if (!record->has_value()) return add(where, key, "there is no such task");
    bool implied = false;
    for_each_index_entry(**record, [&](table other, std::string_view one) { implied = implied || (other == where && one == key); });
    if (!implied) add(where, key, "the task's row does not say so");
  }

  void check_ids() {
    scan(table::task_id, [&](std::string_view key, std::string_view payload) {
      v1::TaskTombstone tombstone;
      if (!tombstone.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
        return add(where_id, key, "the value does not parse");
      greatest_number_ = std::max(greatest_number_, tombstone.number());
      if (tombstone.archived_day() != 0) {
        ++archived_;
        // The archive of a task whose move is not done yet lacks it.
        if (const auto moving = is_moving(of_, tombstone.number()); moving && !*moving)
          ++tombstones_[{tombstone.archived_day(), tombstone.archive_keep_days()}];
        if (!has_ended(tombstone.final_state())) add(where_id, key, "an archived task has no final state");
        return;
      }
      if (tombstone.deleted_at_unix_ms() != 0 && !has_ended(tombstone.final_state()))
        add(where_id, key, "a deleted task has no final state");
      auto record = load_task(of_, tombstone.number());
      if (!record) return;
      if (tombstone.deleted_at_unix_ms() != 0) {
        // It was deleted while its move was done elsewhere, and not here yet.
        const auto moving = record->has_value() ? is_moving(of_, tombstone.number()) : true;
        if (moving && !*moving) add(where_id, key, "task " + std::to_string(tombstone.number()) + " is deleted, and its row is there");
        return;
      }
      if (!record->has_value()) return add(where_id, key, "there is no task " + std::to_string(tombstone.number()));
      if ((*record)->id() != keys::decode_task_id(key)->name)
        add(where_id, key, "task " + std::to_string(tombstone.number()) + " has another id");
    });
  }

  void check_workflows() {
    scan(table::workflow, [&](std::string_view key, std::string_view payload) {
      if (payload.size() != content_hash_bytes) return add(table::workflow, key, "the value is no content hash");
      const auto name = *keys::decode_workflow(key);
      auto version = of_.get(table::workflow_version, keys::workflow_version(name.ns, name.name, payload));
      if (version && !version->has_value())
        add(table::workflow, key, "its version " + to_hex(payload) + " is not in table workflow_version");
    });
    scan(table::workflow_version, [&](std::string_view key, std::string_view payload) {
      v1::DeployedWorkflow deployed;
      const auto decoded = *keys::decode_workflow_version(key);
      if (!deployed.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
        add(table::workflow_version, key, "the value does not parse");
      } else if (deployed.definition().name() != decoded.name || deployed.content_hash() != decoded.hash) {
        add(table::workflow_version, key, "the value is of another workflow or version");
      }
    });
  }

  void check_meta() {
    scan(table::meta, [&](std::string_view key, std::string_view payload) {
      if (is_effect(key) && !v1::EffectRecord{}.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
        add(table::meta, key, "the value does not parse");
      if (const auto why = unsound_worker_row(key, payload)) add(table::meta, key, *why);
      if (key.starts_with(keys::meta(meta::deletion_rows)) && !meta::number_of_row(key)) add(table::meta, key, "the row names no task");
    });
    const auto told = [&](const status& rows) {
      if (!rows) all_.add(rows.failure().sentence);
    };
    told(for_each_move(of_, [&](const task_move& one) {
      const auto record = load_task(of_, one.number);
      if (record && !*record) all_.add("Table meta: the row of task " + std::to_string(one.number) + ", which moves, names no task.");
    }));
    told(for_each_drop(of_, [](std::uint32_t, std::int64_t) {}));
    require(meta::schema_row, [](std::string_view payload) {
      const auto version = meta::decode_u32(payload);
      return version && (*version == schema_version || *version == journaled_schema_version);
    });
    require(meta::boot_row, [](std::string_view payload) { return meta::decode_u64(payload).has_value(); });
    if (const auto key = keys::meta(meta::shard_row); true) {
      const auto found = of_.get(table::meta, key);
      if (found && found->has_value() && !meta::decode_shard(**found)) add(table::meta, key, "the value cannot be decoded");
    }
    if (const auto key = keys::meta(meta::lineage_row); true) {
      const auto found = of_.get(table::meta, key);
      if (found && found->has_value() && !meta::decode_lineage(**found)) add(table::meta, key, "the value cannot be decoded");
    }
    std::optional<fairlead::store::progress> stored;
    require(meta::progress_row, [&](std::string_view payload) { return (stored = meta::decode_progress(payload)).has_value(); });
    if (stored) check_counters(*stored);
  }

  template <class Sound>
  void require(std::string_view row, Sound&& sound) {
    const auto key = keys::meta(row);
    auto found = of_.get(table::meta, key);
    if (!found) return;
    if (!found->has_value()) {
      add(table::meta, key, "the row is missing");
    } else if (!sound(**found)) {
      add(table::meta, key, "the value is not what this release writes");
    }
  }

  void check_counters(const fairlead::store::progress& progress) {
    const auto& stored = progress.shard;
    const auto& counted = tasks_.counted();
    const auto compare = [&](const char* name, std::uint64_t in_row, std::uint64_t in_tables) {
      if (in_row == in_tables) return;
      add(table::meta, keys::meta(meta::progress_row),
          std::string("the counter ") + name + " is " + std::to_string(in_row) + ", counted were " + std::to_string(in_tables));
    };
    compare("pending", stored.pending(), counted.pending());
    compare("scheduled", stored.scheduled(), counted.scheduled());
    compare("running", stored.running(), counted.running());
    compare("completed", stored.completed(), counted.completed());
    compare("undoing", stored.undoing(), counted.undoing());
    compare("undone", stored.undone(), counted.undone());
    compare("archived", stored.archived(), archived_);
    const auto greatest = std::max(greatest_number_, tasks_.greatest_number());
    if (greatest != 0 && stored.next_task_number() <= greatest) {
      add(table::meta, keys::meta(meta::progress_row),
          "the next task number is " + std::to_string(stored.next_task_number()) + ", but task " + std::to_string(greatest) + " exists");
    }
    if (!counters_are_kept(progress)) return;
    for (const auto& one : holds) compare(one.word, one.count(stored), one.count(counted));
    compare("due_entries", stored.due_entries(), counted.due_entries());
    compare("unresolved_alerts", stored.unresolved_alerts(), notices_.unresolved_alerts());
    compare("outbox_events", stored.outbox_events(), notices_.outbox_events());
    compare("jobs", stored.jobs(), jobs_.counted().jobs());
    compare("jobs_paused", stored.jobs_paused(), jobs_.counted().jobs_paused());
    compare("launches_in_flight", stored.launches_in_flight(), counted.launches_in_flight());
    compare("launches_waiting_room", stored.launches_waiting_room(), jobs_.counted().launches_waiting_room());
    compare("launches_waiting_agents", stored.launches_waiting_agents(), jobs_.counted().launches_waiting_agents());
    if (stored.latest_mark_unix_ms() < jobs_.counted().latest_mark_unix_ms()) {
      add(table::meta, keys::meta(meta::progress_row),
          "the latest mark is " + std::to_string(stored.latest_mark_unix_ms()) + ", but a job has " +
              std::to_string(jobs_.counted().latest_mark_unix_ms()));
    }
    require_not_below("alert", stored.next_alert(), notices_.greatest_alert());
    require_not_below("outbox position", stored.next_position(), notices_.greatest_position());
  }

  void require_not_below(const char* what, std::uint64_t last, std::uint64_t greatest) {
    if (last >= greatest) return;
    add(table::meta, keys::meta(meta::progress_row),
        std::string("the last ") + what + " is " + std::to_string(last) + ", but " + std::to_string(greatest) + " exists");
  }

  static constexpr table where_id = table::task_id;
  const snapshot& of_;
  archive* archives_;
  check_report report_;
  check_scan all_;
  task_check tasks_;
  notice_check notices_;
  job_check jobs_;
  std::map<archive_day, std::uint64_t> tombstones_;
  std::uint64_t archived_ = 0;
  std::uint64_t greatest_number_ = 0;
};

}  // namespace

check_report check(const snapshot& of, const check_progress& progress, std::size_t max_findings, archive* archives) {
  return checker(of, progress, max_findings, archives).run();
}

}  // namespace fairlead::store
