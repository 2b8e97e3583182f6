#include "actors/gateway/requests/audit_lists.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/core/workflow/check.hpp"

namespace fairlead {

namespace {

constexpr std::size_t most_page_bytes = 1'048'576;
constexpr std::size_t max_place_bytes = 64;

error unknown_audit_cursor() {
  return {v1::ERROR_CODE_INVALID_ARGUMENT, "the cursor does not belong to this list",
          "use the cursor of the previous page, with the same filters"};
}

struct audit_head {
  audit_source* from;
  int taken = 0;

  bool is_dry() const { return taken == from->answer.items_size(); }
  std::int64_t at() const { return from->answer.items(taken).at_unix_ms(); }
};

}  // namespace

std::string audit_cursor(const audit_places& places) {
  std::string out;
  for (const auto& [node, place] : places)
    if (place.over || !place.cursor.empty()) out += (out.empty() ? "" : ",") + node + "=" + (place.over ? "-" : place.cursor);
  return out;
}

result<audit_places> read_audit_cursor(const std::string& cursor) {
  audit_places out;
  for (std::size_t at = 0; at < cursor.size();) {
    const auto end = std::min(cursor.find(',', at), cursor.size());
    const auto part = cursor.substr(at, end - at);
    const auto equals = part.find('=');
    if (equals == std::string::npos || !core::valid_agent_name(part.substr(0, equals))) return unknown_audit_cursor();
    list_place place{false, part.substr(equals + 1)};
    if (place.cursor.empty() || place.cursor.size() > max_place_bytes) return unknown_audit_cursor();
    if (place.cursor == "-") place = {true, {}};
    if (!out.emplace(part.substr(0, equals), std::move(place)).second) return unknown_audit_cursor();
    at = end + 1;
    if (at == cursor.size()) return unknown_audit_cursor();
  }
  return out;
}

v1::AuditListReply merge_audits(const v1::AuditListRequest& what, audit_places places, std::vector<audit_source> sources) {
  v1::AuditListReply out;
  std::sort(sources.begin(), sources.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
  std::vector<audit_head> heads;
  for (auto& one : sources) {
    const auto& why = one.answer.error();
    if (why.code() == v1::ERROR_CODE_OK)
      heads.push_back({&one});
    else if (why.code() == v1::ERROR_CODE_INVALID_ARGUMENT)
      *out.mutable_error() = why;
    else {
      auto& named = *out.add_missing();
      named = why;
      named.set_sentence("node " + one.node + " cannot say what it has noted: " + why.sentence());
    }
  }
  if (!out.has_error() && heads.empty() && !out.missing().empty()) *out.mutable_error() = out.missing(0);
  if (out.has_error()) {
    out.clear_missing();
    return out;
  }
  std::size_t bytes = 0;
  while (static_cast<std::uint32_t>(out.items_size()) < page_size_of(what.page_size()) && bytes < most_page_bytes) {
    audit_head* newest = nullptr;
    bool blind = false;
    for (auto& one : heads) {
      if (one.is_dry()) {
        // What comes next of that node may be newer than what all the others have.
        blind = blind || !one.from->answer.cursor().empty();
        continue;
      }
      if (newest == nullptr || one.at() > newest->at()) newest = &one;
    }
    if (blind || newest == nullptr) break;
    auto& entry = *newest->from->answer.mutable_items(newest->taken++);
    places[newest->from->node] = {false, entry.place()};
    entry.clear_place();
    entry.set_node(newest->from->node);
    bytes += entry.ByteSizeLong();
    *out.add_items() = std::move(entry);
  }
  bool all_over = true;
  for (const auto& one : heads) {
    auto& place = places[one.from->node];
    const auto& answer = one.from->answer;
    if (one.is_dry())
      place = {answer.cursor().empty(), answer.cursor()};
    else if (one.taken == 0)
      place = {false, answer.begin()};  // what is added meanwhile does not come into this list
    all_over = all_over && place.over;
  }
  // A node that is left out is asked again with the next page, but no page comes for its sake alone.
  if (!all_over) out.set_cursor(audit_cursor(places));
  return out;
}

}  // namespace fairlead
