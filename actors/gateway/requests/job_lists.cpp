#include "actors/gateway/requests/job_lists.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "actors/core/request_limits.hpp"
#include "actors/gateway/requests/lists.hpp"

namespace fairlead {

v1::JobListReply merge(const v1::JobListRequest& what, std::vector<v1::JobListReply> answers) {
  v1::JobListReply out;
  const auto page = static_cast<int>(page_size_of(what.page_size()));
  std::optional<std::string> known_until;  // the answers hold all jobs up to this name; none: all jobs
  if (const auto* why = error_of_list(what, answers)) {
    *out.mutable_error() = *why;
    return out;
  }
  for (const auto& one : answers) {
    out.set_looked_at(out.looked_at() + looked_at(one));
    if (left_out(what, one)) *out.add_missing() = one.error();
    if (!one.after().empty() && (!known_until || one.after() < *known_until)) known_until = one.after();
  }
  std::vector<v1::JobSummary*> all;
  for (auto& one : answers)
    for (auto& item : *one.mutable_items())
      if (!known_until || item.name() <= *known_until) all.push_back(&item);
  std::sort(all.begin(), all.end(), [](const v1::JobSummary* a, const v1::JobSummary* b) { return a->name() < b->name(); });
  for (auto* item : all) {
    if (out.items_size() == page) {
      out.set_after(out.items(page - 1).name());
      return out;
    }
    *out.add_items() = std::move(*item);
  }
  if (known_until) out.set_after(*known_until);
  return out;
}

// `shard/name`; a name may hold a slash, a number never.

result<rewind_at> rewind_place(const std::string& cursor, std::uint32_t count) {
  rewind_at out;
  if (cursor.empty()) return out;
  const auto* const end = cursor.data() + cursor.size();
  const auto [stop, failed] = std::from_chars(cursor.data(), end, out.shard);
  if (failed != std::errc{} || stop == end || *stop != '/' || out.shard >= count)
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the cursor of the list does not belong to this cluster",
                 "use `after` of the previous reply, or leave it out"};
  out.after.assign(stop + 1, end);
  return out;
}

std::string rewind_cursor(const rewind_at& last, std::uint32_t count) {
  if (!last.after.empty()) return std::to_string(last.shard) + "/" + last.after;
  return last.shard + 1 < count ? std::to_string(last.shard + 1) + "/" : std::string{};
}

}  // namespace fairlead
