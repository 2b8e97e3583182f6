#include "actors/queries/task_queries.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "actors/core/items/item_call.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/core/task/reason.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/text.hpp"
#include "actors/queries/ended_tasks.hpp"
#include "actors/queries/task_rows.hpp"
#include "store/content_hash.hpp"
#include "store/keys.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead {

namespace {

namespace keys = store::keys;
using store::default_namespace;

error not_found(const std::string& id) {
  return {v1::ERROR_CODE_NOT_FOUND, "there is no task " + core::clean_text(id, 256), "fairlead task list shows all tasks"};
}

error deleted(const std::string& id, const v1::TaskTombstone& tombstone) {
  return {v1::ERROR_CODE_NOT_FOUND,
          "task " + core::clean_text(id, 256) + " was " + core::state_word(tombstone.final_state()) + ", and " + tombstone.deleted_by() +
              " deleted its record at " + format_utc(tombstone.deleted_at_unix_ms()),
          "only its id is kept: another task cannot have it"};
}

/// Whether the request is about this task, or only about those of others.
template <class Request>
bool is_for(const Request& what, const v1::TaskTombstone& task) {
  return what.submitted_by().empty() || what.submitted_by() == task.submitted_by();
}

/// The smallest table that holds all requested tasks, the range of it to scan, and the task number in its rows (0: the row has none).
struct plan {
  const char* by = "all";
  store::table where = store::table::task;
  std::string from;
  std::string to;
  std::uint64_t (*number)(std::string_view key, std::string_view payload) = [](std::string_view key, std::string_view) {
    const auto entry = keys::decode_task(key);
    return entry ? entry->number : 0;
  };
};

plan plan_for(const v1::TaskListRequest& what) {
  plan out;
  const auto within = [&out](const char* by, store::table where, std::string prefix) {
    out.by = by;
    out.where = where;
    out.to = keys::after(prefix);
    out.from = std::move(prefix);
  };
  using text = std::string_view;
  // Ids of tasks that are archived or deleted stay, and lead nowhere.
  const auto by_id = [&](const char* by, const std::string& prefix) {
    within(by, store::table::task_id, keys::task_id(default_namespace, prefix));
    out.number = [](text, text payload) {
      v1::TaskTombstone entry;
      return entry.ParseFromArray(payload.data(), static_cast<int>(payload.size())) ? entry.number() : 0;
    };
  };
  if (!what.parent().empty()) {
    // Before the labels, which children have from their parents: all tasks of a customer may have one. The ids of grandchildren begin so,
    // too.
    by_id("parent", what.parent() + "/");
  } else if (what.labels_size() > 0) {
    within("label", store::table::by_label, keys::by_label_prefix(default_namespace, what.labels(0).key(), what.labels(0).value()));
    out.number = [](text key, text) { return keys::decode_by_label(key).value_or(store::by_label_key{}).number; };
  } else if (lists_parked(what)) {
    within("parked", store::table::held, std::string{text{keys::held_prefix(default_namespace, store::held_why::parked)}});
    out.number = [](text key, text) { return keys::decode_held(key).value_or(store::held_key{}).number; };
  } else if (!what.id_prefix().empty()) {
    by_id("id_prefix", what.id_prefix());
  } else if (!what.job().empty()) {
    // The ids of a job's launches begin with its name.
    by_id("job", what.job() + "@");
  } else if (!what.workflow().empty()) {
    within("workflow", store::table::by_workflow, keys::by_workflow_prefix(default_namespace, what.workflow()));
    out.number = [](text key, text) { return keys::decode_by_workflow(key).value_or(store::by_workflow_key{}).number; };
  } else if (lists_by_end(what)) {
    within("state", store::table::finished,
           std::string{text{keys::finished_prefix(default_namespace, static_cast<std::uint8_t>(what.states(0)))}});
    out.number = [](text key, text) { return keys::decode_finished(key).value_or(store::finished_key{}).number; };
  } else {
    within("all", store::table::task, std::string{text{keys::of_namespace(default_namespace)}});
  }
  return out;
}

}  // namespace

bool lists_by_end(const v1::TaskListRequest& what) {
  if (lists_ended(what)) return true;
  return what.labels().empty() && !lists_parked(what) && !lists_by_id(what) && what.workflow().empty() && what.states_size() == 1 &&
         has_ended(what.states(0));
}

bool lists_by_id(const v1::TaskListRequest& what) {
  if (lists_ended(what)) return false;
  if (!what.parent().empty()) return true;
  return what.labels().empty() && !lists_parked(what) && (!what.id_prefix().empty() || !what.job().empty());
}

v1::TaskListReply list_tasks(const v1::TaskListRequest& what, const store::snapshot& from, moment now) {
  v1::TaskListReply out;
  if (what.states_size() > max_filter_states || what.labels_size() > max_filter_labels) {
    *out.mutable_error() = too_many_filters().to_proto();
    return out;
  }
  auto scan = plan_for(what);
  if (!what.cursor().empty()) {
    // The table's number, then the key: the same key may exist in another table.
    auto key = from_hex(what.cursor());
    const auto own = key && !key->empty() && (*key)[0] == static_cast<char>(scan.where);
    if (own) key->erase(0, 1);
    if (!own || *key < scan.from || (!scan.to.empty() && *key > scan.to)) {
      *out.mutable_error() = foreign_cursor().to_proto();
      return out;
    }
    scan.to = *key;
  }
  const auto page = page_size_of(what.page_size());
  std::optional<error> failed;
  agent_filter agents{what, from};
  const auto scanned = from.scan_reverse(scan.where, scan.from, scan.to, [&](std::string_view key, std::string_view payload) {
    const auto task = store::load_task(from, scan.number(key, payload));
    const auto taken = task && *task && task_matches(what, **task, now) ? agents.takes(**task) : result<bool>{false};
    if (!task || !taken) {
      failed = task ? taken.failure() : task.failure();
      return false;
    }
    out.set_looked_at(out.looked_at() + 1);
    const auto here = [&] { return store::to_hex(static_cast<char>(scan.where) + std::string{key}); };
    if (*taken) {
      auto* item = out.add_items();
      *item = summary_of(**task);
      if (what.has_shard()) item->set_cursor(here());
    }
    if (static_cast<std::uint32_t>(out.items_size()) < page && out.looked_at() < task_rows_a_page) return true;
    out.set_cursor(here());
    return false;
  });
  if (!scanned.ok()) failed = scanned.failure();
  if (failed) *out.mutable_error() = failed->to_proto();
  out.set_archived(from.get_progress().shard.archived());
  out.set_by(scan.by);
  return out;
}

v1::TaskShowReply show_task(const v1::TaskShowRequest& what, const store::snapshot& from, store::archive& archives) {
  v1::TaskShowReply out;
  const auto refuse = [&out](const error& why) {
    out.Clear();
    *out.mutable_error() = why.to_proto();
    return out;
  };
  const auto tombstone = store::find_task(from, what.id());
  if (!tombstone) return refuse(tombstone.failure());
  if (!*tombstone || !is_for(what, **tombstone)) return refuse(not_found(what.id()));
  // Its rows may be here still, where the move to its archive is not done.
  if ((*tombstone)->deleted_at_unix_ms() != 0) return refuse(deleted(what.id(), **tombstone));
  const auto number = (*tombstone)->number();
  auto task = store::load_task(from, number);
  if (!task) return refuse(task.failure());
  if (*task) {
    *out.mutable_task() = std::move(**task);
    if (const auto done = store::load_whole(from, *out.mutable_task()); !done.ok()) return refuse(done.failure());
  } else {
    auto archived = archives.load((*tombstone)->archived_day(), task_number{number}, (*tombstone)->archive_keep_days());
    if (!archived) return refuse(archived.failure());
    if (!*archived)
      return refuse({v1::ERROR_CODE_NOT_FOUND, "task " + core::clean_text(what.id(), 256) + " has ended and its record is no longer kept",
                     "to keep tasks longer, see retention.keep in the node file and retention in the workflow"});
    *out.mutable_task() = std::move(**archived);
    out.set_archived(true);
  }
  auto definition = load_definition(from, out.task().workflow(), out.task().workflow_hash());
  if (!definition) return refuse(definition.failure());
  if (*definition) *out.mutable_definition() = core::definition_of_task(out.task(), std::move(*(*definition)->mutable_definition()));
  return out;
}

v1::StatesReply states_of(const v1::StatesRequest& what, const store::snapshot& from) {
  v1::StatesReply out;
  if (what.ids_size() > max_request_items) {
    *out.mutable_error() = too_many_items("ids").to_proto();
    return out;
  }
  for (const auto& id : what.ids()) {
    auto* item = out.add_items();
    item->set_id(id);
    const auto tombstone = store::find_task(from, id);
    if (!tombstone) {
      *out.mutable_error() = tombstone.failure().to_proto();
      return out;
    }
    if (!*tombstone || !is_for(what, **tombstone)) continue;
    item->set_state((*tombstone)->final_state());
    if ((*tombstone)->archived_day() != 0 || (*tombstone)->deleted_at_unix_ms() != 0) continue;
    const auto task = store::load_task(from, (*tombstone)->number());
    if (!task) {
      *out.mutable_error() = task.failure().to_proto();
      return out;
    }
    if (!*task) continue;
    item->set_state((*task)->state());
    item->set_parked((*task)->parked());
    item->set_reason(core::reason_of(**task));
    item->set_has_output((*task)->has_output());
  }
  return out;
}

}  // namespace fairlead
