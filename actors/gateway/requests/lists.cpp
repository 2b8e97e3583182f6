#include "actors/gateway/requests/lists.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "actors/core/cluster/alert_numbers.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/queries/task_queries.hpp"
#include "actors/queries/workflow_queries.hpp"

namespace fairlead {

namespace {

constexpr char first_sign = 'm';  // single-shard cursors never begin so: they are hexadecimal
constexpr int most_findings = 100;
constexpr int most_warnings = 100;
constexpr int most_effects = 1'000;

error foreign_cursor() {
  return {v1::ERROR_CODE_INVALID_ARGUMENT, "the cursor does not belong to this list",
          "use the cursor of the previous page, with the same filters and in the same cluster"};
}

bool is_hex(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// The first error; the code `tolerated` counts only if no shard has done the order.
template <class Reply>
v1::Error error_of(const std::vector<Reply>& answers, v1::ErrorCode tolerated) {
  const auto done = [](const Reply& one) { return one.error().code() == v1::ERROR_CODE_OK; };
  const bool some = std::any_of(answers.begin(), answers.end(), done);
  v1::Error out;
  for (const auto& one : answers) {
    if (done(one) || (some && one.error().code() == tolerated)) continue;
    // A code other than `tolerated` says more.
    if (out.code() == v1::ERROR_CODE_OK || out.code() == tolerated) out = one.error();
  }
  return out;
}

/// Conditions that a node of an earlier release leaves out, and whose tasks cannot be told from others by their rows.
bool has_hidden_conditions(const v1::TaskListRequest& what) {
  return !what.job().empty() || !what.id_prefix().empty() || !what.fault_code().empty() || !what.agent().empty() || what.top_level() ||
         !what.parent().empty() || what.as_of_unix_ms() != 0;
}

/// A node of an earlier release would list other tasks.
void refuse_unknown_filters(const v1::TaskListRequest& what, std::vector<v1::TaskListReply>& answers) {
  if (!has_hidden_conditions(what)) return;
  for (auto& one : answers) {
    if (one.error().code() != v1::ERROR_CODE_OK || !one.by().empty()) continue;
    *one.mutable_error() =
        error{v1::ERROR_CODE_UNAVAILABLE,
              "a shard is on a node of an earlier release, which cannot list by job, id, reason, agent or parent, or act on what it lists",
              "leave these conditions out, or upgrade the node"}
            .to_proto();
  }
}

}  // namespace

// merge_tasks() itself leaves out what ended later.
bool may_be_unknown(const v1::TaskListRequest& what) { return has_hidden_conditions(what) || what.ended_until_unix_ms() != 0; }

std::string list_cursor(const std::vector<list_place>& places) {
  if (std::all_of(places.begin(), places.end(), [](const list_place& one) { return one.over; })) return {};
  std::string out{first_sign};
  out += std::to_string(places.size());
  for (const auto& one : places) out += "." + (one.over ? std::string{"-"} : one.cursor);
  return out;
}

result<std::vector<list_place>> list_places(const std::string& cursor, std::uint32_t count, std::optional<std::uint32_t> only) {
  std::vector<list_place> out(count);
  for (std::uint32_t shard = 0; only && shard < count; ++shard) out[shard].over = shard != *only;
  if (cursor.empty()) return out;
  const auto head = first_sign + std::to_string(count) + ".";
  if (cursor.compare(0, head.size(), head) != 0) return foreign_cursor();
  auto at = head.size();
  for (std::uint32_t shard = 0; shard < count; ++shard) {
    const auto end = cursor.find('.', at);
    if ((end == std::string::npos) != (shard + 1 == count)) return foreign_cursor();
    auto part = cursor.substr(at, end == std::string::npos ? end : end - at);
    // The cursor of a list of all shards, where the request is about one of them.
    if (out[shard].over && part != "-") return foreign_cursor();
    out[shard].over = part == "-";
    if (!out[shard].over && !is_hex(part)) return foreign_cursor();
    if (!out[shard].over) out[shard].cursor = std::move(part);
    at = end + 1;
  }
  if (std::all_of(out.begin(), out.end(), [](const list_place& one) { return one.over; })) return foreign_cursor();
  return out;
}

v1::TaskListReply merge_tasks(const v1::TaskListRequest& what, std::vector<list_place> places, std::vector<v1::TaskListReply> answers) {
  v1::TaskListReply out;
  const auto page = static_cast<int>(page_size_of(what.page_size()));
  const bool by_end = lists_by_end(what), by_id = lists_by_id(what);
  refuse_unknown_filters(what, answers);
  struct source {
    list_place* place;
    v1::TaskListReply* answer;
    int taken = 0;
  };
  if (const auto* why = error_of_list(what, answers)) {
    *out.mutable_error() = *why;
    return out;
  }
  for (const auto& one : answers) {
    out.set_archived(out.archived() + one.archived());
    out.set_looked_at(out.looked_at() + looked_at(one));
    if (out.by().empty()) out.set_by(one.by());
    out.set_kept_from_unix_ms(std::max(out.kept_from_unix_ms(), one.kept_from_unix_ms()));
  }
  std::vector<source> sources;
  std::size_t asked = 0;
  for (auto& place : places) {
    if (place.over) continue;
    auto& answer = answers.at(asked++);
    if (left_out(what, answer))
      *out.add_missing() = std::move(*answer.mutable_error());
    else
      sources.push_back({&place, &answer});
  }
  const auto goes_before = [by_end, by_id](const source& a, const source& b) {
    const auto &one = a.answer->items(a.taken), &other = b.answer->items(b.taken);
    if (by_id) return one.id() > other.id();
    return by_end ? one.finished_at_unix_ms() > other.finished_at_unix_ms() : one.created_at_unix_ms() > other.created_at_unix_ms();
  };
  while (out.items_size() < page) {
    source* newest = nullptr;
    bool blind = false;
    for (auto& one : sources) {
      if (one.taken == one.answer->items_size()) {
        // The shard's next page may hold newer items than all the others.
        blind = blind || !one.answer->cursor().empty();
        continue;
      }
      if (newest == nullptr || goes_before(one, *newest)) newest = &one;
    }
    if (blind || newest == nullptr) break;
    auto* item = newest->answer->mutable_items(newest->taken++);
    newest->place->cursor = item->cursor();
    // A node of an earlier release does not know this bound.
    const auto ended = item->finished_at_unix_ms();
    if (what.ended_until_unix_ms() > 0 && (ended == 0 || ended >= what.ended_until_unix_ms())) continue;
    item->clear_cursor();
    *out.add_items() = std::move(*item);
  }
  for (auto& one : sources) {
    if (one.taken != one.answer->items_size()) continue;
    one.place->cursor = one.answer->cursor();
    one.place->over = one.answer->cursor().empty();
  }
  // A shard that is left out is asked again with the next page, but no page comes for its sake alone.
  const auto all_over = std::all_of(sources.begin(), sources.end(), [](const source& one) { return one.place->over; });
  out.set_cursor(all_over ? std::string{} : list_cursor(places));
  return out;
}

std::optional<std::size_t> fill_page(v1::AlertListReply& page, std::vector<alert_source>& sources, std::uint32_t page_size,
                                     std::uint32_t count) {
  while (static_cast<std::uint32_t>(page.items_size()) < page_size_of(page_size)) {
    alert_source* newest = nullptr;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      auto& one = sources[i];
      if (one.taken == one.items.size()) {
        if (one.before != 0) return i;
        continue;
      }
      // At the same moment the higher shard goes first, as in `alerts_behind`.
      if (newest == nullptr || one.items[one.taken].raised_at_unix_ms() >= newest->items[newest->taken].raised_at_unix_ms()) newest = &one;
    }
    if (newest == nullptr) return std::nullopt;
    auto& alert = newest->items[newest->taken++];
    alert.set_number(core::alert_number({newest->shard, alert.number()}, count));
    *page.add_items() = std::move(alert);
  }
  return std::nullopt;
}

bool more_alerts(const std::vector<alert_source>& sources) {
  return std::any_of(sources.begin(), sources.end(),
                     [](const alert_source& one) { return one.taken < one.items.size() || one.before != 0; });
}

v1::AlertListRequest alerts_behind(const v1::AlertListRequest& what, std::uint32_t shard, std::uint32_t count,
                                   std::int64_t raised_at_unix_ms) {
  auto out = what;
  out.clear_before();
  if (what.before() == 0) return out;
  const auto last = core::alert_of_number(what.before(), count);
  if (shard == last.shard) {
    out.set_before(last.number);
    return out;
  }
  // Of alerts of the same moment, the higher shards' are given out completely, the lower shards' not at all.
  const auto bound = shard > last.shard ? raised_at_unix_ms : raised_at_unix_ms + 1;
  if (what.raised_before_unix_ms() == 0 || bound < what.raised_before_unix_ms()) out.set_raised_before_unix_ms(bound);
  return out;
}

v1::RepliesRequest replies_of_shard(const v1::RepliesRequest& what, std::uint32_t shard) {
  auto out = what;
  out.clear_positions();
  out.clear_acknowledged();
  for (const auto& one : what.positions())
    if (one.shard() == shard) out.set_acknowledged(one.acknowledged());
  return out;
}

v1::RepliesReply merge_replies(const v1::RepliesRequest& what, std::vector<std::pair<std::uint32_t, v1::RepliesReply>> answers) {
  v1::RepliesReply out;
  const auto page = static_cast<int>(page_size_of(what.page_size()));
  std::vector<int> taken(answers.size(), 0);
  while (out.events_size() < page) {
    std::size_t oldest = answers.size();
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto& events = answers[i].second.events();
      if (taken[i] == events.size()) continue;
      if (oldest == answers.size() || events[taken[i]].at_unix_ms() < answers[oldest].second.events(taken[oldest]).at_unix_ms()) oldest = i;
    }
    if (oldest == answers.size()) break;
    auto* event = answers[oldest].second.mutable_events(taken[oldest]++);
    event->set_shard(answers[oldest].first);
    *out.add_events() = std::move(*event);
  }
  if (out.events().empty())
    for (const auto& [shard, answer] : answers)
      if (answer.error().code() != v1::ERROR_CODE_OK && out.error().code() == v1::ERROR_CODE_OK) *out.mutable_error() = answer.error();
  return out;
}

v1::DoctorReply merge_doctors(std::vector<v1::DoctorReply> answers) {
  v1::DoctorReply out;
  for (auto& one : answers) {
    out.set_looked_at(out.looked_at() + one.looked_at());
    out.set_found(out.found() + one.found());
    for (auto& finding : *one.mutable_findings())
      if (out.findings_size() < most_findings) *out.add_findings() = std::move(finding);
    const auto listed = std::min(one.effects_size(), most_effects - out.effects_size());
    for (int i = 0; i < listed; ++i) *out.add_effects() = std::move(*one.mutable_effects(i));
    out.set_effects_dropped(out.effects_dropped() + one.effects_dropped() + static_cast<std::uint64_t>(one.effects_size() - listed));
    if (!one.stalest_task().empty() && (out.stalest_task().empty() || one.stalest_since_unix_ms() < out.stalest_since_unix_ms())) {
      out.set_stalest_task(one.stalest_task());
      out.set_stalest_since_unix_ms(one.stalest_since_unix_ms());
    }
  }
  if (auto why = error_of(answers, v1::ERROR_CODE_OK); why.code() != v1::ERROR_CODE_OK) *out.mutable_error() = std::move(why);
  return out;
}

v1::AgentOperateReply merge(const v1::AgentOperateRequest&, std::vector<v1::AgentOperateReply> answers) {
  v1::AgentOperateReply out;
  for (const auto& one : answers) {
    out.set_held(out.held() + one.held());
    out.set_waiting(out.waiting() + one.waiting());
  }
  // Not every shard knows every instance.
  if (auto why = error_of(answers, v1::ERROR_CODE_NOT_FOUND); why.code() != v1::ERROR_CODE_OK) *out.mutable_error() = std::move(why);
  return out;
}

v1::BrakeReleaseReply merge(const v1::BrakeReleaseRequest&, std::vector<v1::BrakeReleaseReply> answers) {
  v1::BrakeReleaseReply out;
  for (const auto& one : answers) out.set_held(out.held() + one.held());
  // Each shard has its own brake, and most brakes are off.
  if (auto why = error_of(answers, v1::ERROR_CODE_WRONG_STATE); why.code() != v1::ERROR_CODE_OK) *out.mutable_error() = std::move(why);
  return out;
}

/// A shard that was away at the deployment does not know the workflow.
v1::WorkflowDeleteReply merge_workflow_deletions(const std::vector<v1::WorkflowDeleteReply>& answers) {
  v1::WorkflowDeleteReply out;
  if (auto why = error_of(answers, v1::ERROR_CODE_NOT_FOUND); why.code() != v1::ERROR_CODE_OK) *out.mutable_error() = std::move(why);
  return out;
}

v1::WorkflowListReply merge(const v1::WorkflowListRequest&, std::vector<v1::WorkflowListReply> answers) {
  const auto has_answered = [](const v1::WorkflowListReply& one) { return one.error().code() == v1::ERROR_CODE_OK; };
  const auto first = std::find_if(answers.begin(), answers.end(), has_answered);
  if (first == answers.end()) return answers.empty() ? v1::WorkflowListReply{} : std::move(answers.front());
  auto out = std::move(*first);
  auto counted = std::all_of(answers.begin(), answers.end(), has_answered);
  std::map<std::string, v1::WorkflowSummary*> by_name;
  for (auto& item : *out.mutable_items()) {
    by_name[item.name()] = &item;
    if (item.all().empty()) counted = false;  // a node of an earlier release
  }
  for (auto one = std::next(first); counted && one != answers.end(); ++one)
    for (const auto& item : one->items()) {
      const auto known = by_name.find(item.name());
      // Deployed or deleted a moment ago.
      if (known == by_name.end()) continue;
      if (item.all().empty()) counted = false;
      for (const auto& version : item.all()) add_version(*known->second, version);
    }
  for (auto& item : *out.mutable_items()) {
    if (!counted) item.clear_all();
    sort_versions(item);
  }
  return out;
}

v1::DeployReply merge_deployments(std::vector<v1::DeployReply> answers) {
  v1::DeployReply out;
  std::set<std::string> warned;
  for (const auto& one : answers) {
    if (one.error().code() == v1::ERROR_CODE_OK) out.set_content_hash(one.content_hash());
    out.set_created(out.created() || one.created());
    for (const auto& warning : one.warnings())
      if (out.warnings_size() < most_warnings && warned.insert(warning).second) out.add_warnings(warning);
  }
  if (auto why = error_of(answers, v1::ERROR_CODE_OK); why.code() != v1::ERROR_CODE_OK) *out.mutable_error() = std::move(why);
  return out;
}

}  // namespace fairlead
