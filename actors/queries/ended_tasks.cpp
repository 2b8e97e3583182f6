#include "actors/queries/ended_tasks.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/request_limits.hpp"
#include "actors/queries/task_rows.hpp"
#include "store/content_hash.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/archive_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead {

namespace {

namespace keys = store::keys;
using store::default_namespace;

/// No table has this number, so no other list has such a cursor.
constexpr char cursor_sign = '\x7f';
constexpr std::uint64_t newest = std::numeric_limits<std::uint64_t>::max();

/// Where a list goes on. In the store: before the end at `when` of task `number`. In the archives: below task `number` of an archive. A list
/// with `ended_until` reads the archives in an order of its own.
struct place {
  bool in_archives = false;
  std::uint64_t when = newest;  // unix ms of the end; in the archives the day
  std::uint64_t keep_days = 0;
  std::uint64_t number = newest;
  bool found = false;  // the day's archives have given a task so far
  bool bounded = false;
};

std::string text_of(const place& at, bool bounded) {
  std::string out{cursor_sign};
  out += static_cast<char>((!at.in_archives ? 1 : bounded ? 3 : 2) + (at.found ? 4 : 0));
  for (const auto value : {at.when, at.keep_days, at.number}) out += store::meta::encode_u64(value);
  return store::to_hex(out);
}

std::optional<place> place_of(const std::string& cursor) {
  const auto bytes = from_hex(cursor);
  if (!bytes || bytes->size() != 26 || (*bytes)[0] != cursor_sign) return std::nullopt;
  const auto number = [&](std::size_t at) { return store::meta::decode_u64(std::string_view{*bytes}.substr(at, 8)).value_or(0); };
  const auto kind = static_cast<unsigned char>((*bytes)[1]);
  if ((kind & 3U) == 0) return std::nullopt;
  return place{(kind & 3U) != 1, number(2), number(10), number(18), (kind & 4U) != 0, (kind & 3U) == 3};
}

class ended_list {
 public:
  ended_list(const v1::TaskListRequest& what, const store::snapshot& from, store::archive& archives, moment now)
      : what_(what),
        from_(from),
        archives_(archives),
        now_(now),
        page_(static_cast<int>(page_size_of(what.page_size()))),
        bounded_(has_bound(what)),
        first_day_(store::day_of(what.ended_since_unix_ms())),
        last_day_(bounded_ ? store::day_of(what.ended_until_unix_ms() - 1) : std::numeric_limits<std::int64_t>::max()) {}

  static bool has_bound(const v1::TaskListRequest& what) { return what.ended_until_unix_ms() > 0; }

  result<v1::TaskListReply> list(place at) {
    if (!at.in_archives) {
      if (const auto read = of_store(at); !read.ok()) return read.failure();
      if (out_.cursor().empty() && out_.items_size() >= page_) go_on_at({true});
      if (!out_.cursor().empty()) return std::move(out_);
      at = {true};
    }
    if (const auto read = of_archives(at); !read.ok()) return read.failure();
    return std::move(out_);
  }

 private:
  using end_key = std::pair<std::uint64_t, std::uint64_t>;  // unix ms, number

  result<bool> takes(const v1::TaskRecord& task) {
    if (!task_matches(what_, task, now_)) return false;
    return agents_.takes(task);
  }

  void go_on_at(const place& next) { out_.set_cursor(text_of(next, bounded_)); }

  void add(const v1::TaskRecord& task, const place& behind) {
    auto* item = out_.add_items();
    *item = summary_of(task);
    item->set_archived(behind.in_archives);
    if (what_.has_shard()) item->set_cursor(text_of(behind, bounded_));
  }

  /// Up to a page of each state, merged by end. What lies behind the earliest place that was reached is not known yet.
  status of_store(const place& at) {
    std::vector<std::pair<end_key, v1::TaskRecord>> found;
    end_key horizon{};
    for (const auto state : {v1::TASK_STATE_COMPLETED, v1::TASK_STATE_UNDONE, v1::TASK_STATE_FAILED}) {
      if (what_.states_size() > 0 && std::find(what_.states().begin(), what_.states().end(), state) == what_.states().end()) continue;
      const auto as_byte = static_cast<std::uint8_t>(state);
      const auto since = static_cast<std::int64_t>(what_.ended_since_unix_ms());
      const std::string begin{std::string_view{keys::finished(default_namespace, as_byte, since, 0)}};
      const auto before = [as_byte](std::int64_t when, std::uint64_t number) {
        return std::string{std::string_view{keys::finished(default_namespace, as_byte, when, number)}};
      };
      const auto end = at.when != newest ? before(static_cast<std::int64_t>(at.when), at.number)
                       : bounded_        ? before(what_.ended_until_unix_ms(), 0)
                                         : keys::after(std::string_view{keys::finished_prefix(default_namespace, as_byte)});
      // Each state has a part of what a page may read, and something is left for the archives.
      std::size_t rows = 0;
      int taken = 0;
      status failed = nothing{};
      auto scanned = from_.scan_reverse(store::table::finished, begin, end, [&](std::string_view key, std::string_view) {
        const auto entry = keys::decode_finished(key).value_or(store::finished_key{});
        const auto task = store::load_task(from_, entry.number);
        if (!task) {
          failed = task.failure();
          return false;
        }
        out_.set_looked_at(out_.looked_at() + 1);
        const end_key where{static_cast<std::uint64_t>(entry.finished_at_unix_ms), entry.number};
        const auto fits = *task ? takes(**task) : result<bool>{false};
        if (!fits) {
          failed = fits.failure();
          return false;
        }
        if (*fits) {
          found.emplace_back(where, **task);
          ++taken;
        }
        if (taken < page_ && ++rows < task_rows_a_page / 4) return true;
        horizon = std::max(horizon, where);
        return false;
      });
      if (!failed.ok()) return failed;
      if (!scanned.ok()) return scanned;
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::optional<end_key> last;
    for (const auto& [where, task] : found) {
      if (where < horizon) break;
      if (out_.items_size() == page_) {
        horizon = *last;
        break;
      }
      last = where;
      add(task, {false, where.first, 0, where.second});
    }
    if (horizon == end_key{}) return nothing{};
    go_on_at({false, horizon.first, 0, horizon.second});
    return nothing{};
  }

  /// A task is in the archive of the day on which it became old enough by retention time. That may lag behind the clock, and the archiver
  /// may have come late. So the days before the asked time are read, too, up to the first that has nothing, and then those behind it.
  enum class part { asked, earlier, later };
  part part_of(std::int64_t day) const { return day > last_day_ ? part::later : day < first_day_ ? part::earlier : part::asked; }
  /// Latest day first; of those behind the asked time the first one first.
  bool goes_before(const store::archive_day& a, const store::archive_day& b) const {
    const auto part_of_a = part_of(a.day), part_of_b = part_of(b.day);
    if (part_of_a != part_of_b) return part_of_a < part_of_b;
    return part_of_a == part::later && a.day != b.day ? a.day < b.day : a > b;
  }

  status of_archives(const place& at) {
    auto all = archives_.all();
    if (!all) return all.failure();
    std::sort(all->begin(), all->end(), [this](const auto& a, const auto& b) { return goes_before(a, b); });
    std::optional<store::archive_day> begin;
    if (at.when != newest) begin = {static_cast<std::int64_t>(at.when), static_cast<std::uint32_t>(at.keep_days)};
    auto found = at.found;
    auto earlier_is_over = false;
    std::optional<std::int64_t> day;  // whose archives are read
    if (begin) day = begin->day;
    int visits = 0;
    for (const auto& one : *all) {
      if (begin && goes_before(one, *begin)) continue;
      if (earlier_is_over && part_of(one.day) == part::earlier) continue;
      if (day && one.day != *day) {
        if (!found && part_of(*day) == part::later) return nothing{};
        if (!found && what_.ended_since_unix_ms() > 0 && *day <= first_day_) earlier_is_over = true;
        found = false;
        if (earlier_is_over && part_of(one.day) == part::earlier) continue;
      }
      day = one.day;
      const auto below = begin && one == *begin ? at.number : newest;
      status failed = nothing{};
      auto visited = archives_.visit(one, [&](const store::snapshot& view) { failed = of_day(view, one, below, found); });
      // Its writer ended before the first commit, or it was dropped since the days were listed.
      if (!visited.ok() && visited.failure().code == v1::ERROR_CODE_NOT_FOUND) continue;
      if (!visited.ok()) return visited;
      if (!failed.ok() || !out_.cursor().empty()) return failed;
      if (++visits < archives_a_page) continue;
      go_on_at({true, static_cast<std::uint64_t>(one.day), one.keep_days, 0, found});
      return nothing{};
    }
    return nothing{};
  }

  /// A copy may be there of a move that is not done yet: the task is listed from the store. Earlier releases may have left a copy of a task
  /// that is in the archive of another day.
  result<bool> is_archived_here(const std::string& id, std::uint64_t number, const store::archive_day& which) const {
    const auto known = store::find_task(from_, id);
    if (!known) return known.failure();
    const auto named =
        *known && (*known)->number() == number && (*known)->archived_day() == which.day && (*known)->archive_keep_days() == which.keep_days;
    if (!named) return false;
    const auto moving = store::is_moving(from_, number);
    if (!moving) return moving.failure();
    return !*moving;
  }

  status of_day(const store::snapshot& view, const store::archive_day& which, std::uint64_t below, bool& found) {
    status failed = nothing{};
    const std::string begin{std::string_view{keys::of_namespace(default_namespace)}};
    const auto end = below == newest ? keys::after(begin) : std::string{std::string_view{keys::task(default_namespace, below)}};
    const auto scanned = view.scan_reverse(store::table::task, begin, end, [&](std::string_view key, std::string_view) {
      const auto number = keys::decode_task(key).value_or(store::number_key{}).number;
      const auto task = store::load_task(view, number);
      if (!task) {
        failed = task.failure();
        return false;
      }
      out_.set_looked_at(out_.looked_at() + 1);
      const auto here = *task ? is_archived_here((*task)->id(), number, which) : result<bool>{false};
      if (!here) {
        failed = here.failure();
        return false;
      }
      const auto taken = *here ? takes(**task) : result<bool>{false};
      if (!taken) {
        failed = taken.failure();
        return false;
      }
      const auto fits = *taken;
      found = found || fits;
      const place behind{true, static_cast<std::uint64_t>(which.day), which.keep_days, number, found};
      if (fits) add(**task, behind);
      if (out_.items_size() < page_ && out_.looked_at() < task_rows_a_page) return true;
      go_on_at(behind);
      return false;
    });
    return failed.ok() ? scanned : failed;
  }

  const v1::TaskListRequest& what_;
  const store::snapshot& from_;
  store::archive& archives_;
  const moment now_;
  const int page_;
  const bool bounded_;
  const std::int64_t first_day_, last_day_;
  agent_filter agents_{what_, from_};
  v1::TaskListReply out_;
};

}  // namespace

bool lists_ended(const v1::TaskListRequest& what) {
  return what.archived() || what.ended_since_unix_ms() > 0 || what.ended_until_unix_ms() > 0;
}

v1::TaskListReply list_ended_tasks(const v1::TaskListRequest& what, const store::snapshot& from, store::archive& archives, moment now) {
  v1::TaskListReply out;
  place at{what.archived()};
  if (!what.cursor().empty()) {
    const auto asked = place_of(what.cursor());
    if (!asked || (what.archived() && !asked->in_archives) || (asked->in_archives && asked->bounded != ended_list::has_bound(what))) {
      *out.mutable_error() = foreign_cursor().to_proto();
      return out;
    }
    at = *asked;
  }
  auto listed = ended_list{what, from, archives, now}.list(at);
  if (!listed) {
    *out.mutable_error() = listed.failure().to_proto();
    return out;
  }
  const auto kept_from = store::dropped_before(from, 0);
  if (!kept_from) {
    *out.mutable_error() = kept_from.failure().to_proto();
    return out;
  }
  out = std::move(*listed);
  out.set_kept_from_unix_ms(*kept_from * std::chrono::milliseconds{std::chrono::days{1}}.count());
  out.set_archived(from.get_progress().shard.archived());
  out.set_by("ended");
  return out;
}

}  // namespace fairlead
