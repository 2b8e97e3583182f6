#include "actors/queries/workflow_queries.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "actors/core/text/text.hpp"
#include "actors/queries/task_rows.hpp"
#include "messages/task_states.hpp"
#include "store/content_hash.hpp"
#include "store/keys.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead {

namespace {

namespace keys = store::keys;
using store::default_namespace;

struct live_count {
  std::uint64_t live = 0;
  std::uint64_t parked = 0;
};
using versions_of = std::map<std::string, live_count>;  // by content hash

/// Counts the tasks that have not ended, by workflow and version. Each of them waits for its start, is held, or has a wake-up.
result<std::map<std::string, versions_of>> count_live(const store::snapshot& from) {
  std::map<std::string, versions_of> out;
  std::unordered_set<std::uint64_t> seen;
  std::optional<error> failed;
  const auto count = [&](std::uint64_t number) {
    if (number == 0 || !seen.insert(number).second) return true;
    const auto task = store::load_task(from, number);
    if (!task) {
      failed = task.failure();
      return false;
    }
    if (!*task || has_ended((*task)->state())) return true;
    auto& version = out[(*task)->workflow()][(*task)->workflow_hash()];
    ++version.live;
    if ((*task)->parked()) ++version.parked;
    return seen.size() < live_tasks_counted;
  };
  auto scanned = from.scan(store::table::held, {}, {}, [&](std::string_view key, std::string_view) {
    return count(keys::decode_held(key).value_or(store::held_key{}).number);
  });
  if (scanned.ok() && !failed)
    scanned = from.scan(store::table::due, {}, {}, [&](std::string_view key, std::string_view) {
      return count(keys::decode_due(key).value_or(store::due_key{}).number);
    });
  if (scanned.ok() && !failed)
    scanned = from.scan(store::table::pending, {}, {}, [&](std::string_view key, std::string_view) {
      return count(keys::decode_pending(key).value_or(store::pending_key{}).number);
    });
  if (failed) return *failed;
  if (!scanned.ok()) return scanned.failure();
  return out;
}

/// Adds the current version, and those that tasks go by.
status add_versions(const store::snapshot& from, const versions_of& counted, v1::WorkflowSummary& to) {
  auto all = counted;
  all.try_emplace(to.content_hash());
  for (const auto& [hash, count] : all) {
    auto& version = *to.add_all();
    version.set_content_hash(hash);
    version.set_live_tasks(count.live);
    version.set_parked_tasks(count.parked);
    const auto deployed = load_definition(from, to.name(), hash);
    if (!deployed) return deployed.failure();
    if (*deployed) version.set_deployed_at_unix_ms((*deployed)->deployed_at_unix_ms());
  }
  sort_versions(to);
  return nothing{};
}

error no_version(const std::string& workflow, const std::string& hash) {
  return {v1::ERROR_CODE_NOT_FOUND, "there is no version " + store::to_hex(hash) + " of workflow " + core::clean_text(workflow, 80),
          "fairlead workflow list shows the versions that tasks go by"};
}

/// The whole hash of the only version whose hash begins so.
result<std::string> find_version(const store::snapshot& from, const std::string& workflow, const std::string& begin) {
  if (begin.size() < 4 || begin.size() > store::content_hash_bytes)
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "a version is named by 8 to 32 hexadecimal digits of its content",
                 "fairlead workflow list shows the versions that tasks go by"};
  std::vector<std::string> found;
  const auto first = keys::workflow_version_prefix(default_namespace, workflow) + begin;
  const auto scanned = from.scan(store::table::workflow_version, first, keys::after(first), [&](std::string_view key, std::string_view) {
    if (const auto entry = keys::decode_workflow_version(key)) found.emplace_back(entry->hash);
    return found.size() < 2;
  });
  if (!scanned.ok()) return scanned.failure();
  if (found.empty()) return no_version(workflow, begin);
  if (found.size() == 1) return std::move(found.front());
  return error{v1::ERROR_CODE_INVALID_ARGUMENT,
               "several versions of workflow " + core::clean_text(workflow, 80) + " begin with " + store::to_hex(begin),
               "give more digits of the version"};
}

}  // namespace

void add_version(v1::WorkflowSummary& to, const v1::WorkflowVersion& version) {
  auto& all = *to.mutable_all();
  const auto known =
      std::find_if(all.begin(), all.end(), [&](const v1::WorkflowVersion& one) { return one.content_hash() == version.content_hash(); });
  if (known == all.end()) {
    *all.Add() = version;
    return;
  }
  known->set_live_tasks(known->live_tasks() + version.live_tasks());
  known->set_parked_tasks(known->parked_tasks() + version.parked_tasks());
}

void sort_versions(v1::WorkflowSummary& of) {
  const auto order = [&](const v1::WorkflowVersion& one) {
    return std::pair{one.content_hash() != of.content_hash(), -one.deployed_at_unix_ms()};
  };
  std::stable_sort(of.mutable_all()->begin(), of.mutable_all()->end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
}

v1::WorkflowListReply list_workflows(const store::snapshot& from) {
  v1::WorkflowListReply out;
  const auto refuse = [&out](const error& why) {
    out.clear_items();
    *out.mutable_error() = why.to_proto();
    return out;
  };
  const auto live = count_live(from);
  if (!live) return refuse(live.failure());
  std::map<std::string, std::uint32_t> versions;
  auto scanned = from.scan(store::table::workflow_version, {}, {}, [&](std::string_view key, std::string_view) {
    if (const auto entry = keys::decode_workflow_version(key)) ++versions[std::string{entry->name}];
    return true;
  });
  std::optional<error> failed;
  if (scanned.ok())
    scanned = from.scan(store::table::workflow, {}, {}, [&](std::string_view key, std::string_view hash) {
      const auto entry = keys::decode_workflow(key);
      if (!entry) return true;
      const std::string name{entry->name};
      auto deployed = load_definition(from, name, std::string{hash});
      if (!deployed) {
        failed = deployed.failure();
        return false;
      }
      auto* item = out.add_items();
      item->set_name(name);
      item->set_content_hash(std::string{hash});
      item->set_versions(versions[name]);
      if (*deployed) {
        item->set_deployed_at_unix_ms((*deployed)->deployed_at_unix_ms());
        item->set_steps(static_cast<std::uint32_t>((*deployed)->definition().steps_size()));
      }
      const auto counted = live->find(name);
      if (const auto added = add_versions(from, counted == live->end() ? versions_of{} : counted->second, *item); !added.ok())
        failed = added.failure();
      return !failed;
    });
  if (!scanned.ok()) failed = scanned.failure();
  return failed ? refuse(*failed) : out;
}

v1::WorkflowShowReply show_workflow(const v1::WorkflowShowRequest& what, const store::snapshot& from) {
  v1::WorkflowShowReply out;
  const auto refuse = [&out](const error& why) {
    *out.mutable_error() = why.to_proto();
    return out;
  };
  const error unknown{v1::ERROR_CODE_NOT_FOUND, "there is no workflow " + core::clean_text(what.name(), 80),
                      "fairlead workflow list shows all workflows"};
  if (what.name().empty() || what.name().size() > store::max_workflow_name_bytes) return refuse(unknown);
  std::string version;
  if (what.content_hash().empty()) {
    const auto hash = from.get(store::table::workflow, keys::workflow(default_namespace, what.name()));
    if (!hash) return refuse(hash.failure());
    if (!*hash) return refuse(unknown);
    version = std::string{**hash};
  } else {
    // Of a workflow that was deleted, too: its tasks go on.
    auto found = find_version(from, what.name(), what.content_hash());
    if (!found) return refuse(found.failure());
    version = std::move(*found);
  }
  auto deployed = load_definition(from, what.name(), version);
  if (!deployed) return refuse(deployed.failure());
  if (!*deployed) return refuse(unknown);
  *out.mutable_workflow() = std::move(**deployed);
  return out;
}

}  // namespace fairlead
