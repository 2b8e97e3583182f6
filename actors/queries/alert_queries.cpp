#include "actors/queries/alert_queries.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "actors/core/request_limits.hpp"
#include "store/keys.hpp"
#include "store/rows/alert_rows.hpp"

namespace fairlead {

namespace {

namespace keys = store::keys;
using store::default_namespace;

constexpr std::size_t alert_rows_a_page = 20'000;
constexpr int max_who_bytes = 256;
constexpr int max_note_bytes = 4'096;

/// Whether the index of unresolved alerts has all requested ones. Resolved alerts are kept, so the full table may be much larger.
bool only_unresolved(const v1::AlertListRequest& what) {
  return std::find(what.states().begin(), what.states().end(), v1::ALERT_STATE_RESOLVED) == what.states().end();
}

bool matches(const v1::AlertListRequest& what, const v1::AlertRecord& alert) {
  if (!what.task_id().empty() && alert.task_id() != what.task_id()) return false;
  if (what.states().empty()) return store::is_unresolved(alert);
  return std::find(what.states().begin(), what.states().end(), alert.state()) != what.states().end();
}

/// The lowest number from which on alerts were raised at that moment or later. Numbers rise with time (except after a clock was set back),
/// so this is a binary search. Erased alerts are replaced by the next existing one.
result<std::uint64_t> first_raised_at(const store::snapshot& from, std::int64_t at_unix_ms) {
  std::uint64_t low = 1;
  std::uint64_t high = 1;
  const std::string all{std::string_view{keys::of_namespace(default_namespace)}};
  const auto last = from.scan_reverse(store::table::alert, all, keys::after(all), [&high](std::string_view key, std::string_view) {
    if (const auto entry = keys::decode_alert(key)) high = entry->number + 1;
    return false;
  });
  if (!last.ok()) return last.failure();
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    std::uint64_t found = 0;
    const auto scanned = from.scan(store::table::alert, keys::alert(default_namespace, middle), keys::alert(default_namespace, high),
                                   [&found](std::string_view key, std::string_view) {
                                     if (const auto entry = keys::decode_alert(key)) found = entry->number;
                                     return found == 0;
                                   });
    if (!scanned.ok()) return scanned.failure();
    if (found == 0) {
      high = middle;
      continue;
    }
    const auto alert = store::load_alert(from, found);
    if (!alert) return alert.failure();
    if (*alert && (*alert)->raised_at_unix_ms() < at_unix_ms)
      low = found + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace

v1::AlertListReply list_alerts(const v1::AlertListRequest& what, const store::snapshot& from) {
  v1::AlertListReply out;
  if (what.states_size() > max_filter_states) {
    *out.mutable_error() = too_many_filters().to_proto();
    return out;
  }
  const bool indexed = only_unresolved(what);
  const auto where = indexed ? store::table::unresolved_alert : store::table::alert;
  const std::string begin{std::string_view{keys::of_namespace(default_namespace)}};
  // Both tables have the same keys.
  auto before = what.before();
  if (what.raised_before_unix_ms() != 0) {
    const auto bound = first_raised_at(from, what.raised_before_unix_ms());
    if (!bound) {
      *out.mutable_error() = bound.failure().to_proto();
      return out;
    }
    if (before == 0 || *bound < before) before = *bound;
  }
  const auto end = before != 0 ? std::string{std::string_view{keys::alert(default_namespace, before)}} : keys::after(begin);
  const auto page = page_size_of(what.page_size());
  std::size_t seen = 0;
  std::uint64_t oldest = 0;  // lowest number read so far
  std::optional<error> failed;
  const auto scanned = from.scan_reverse(where, begin, end, [&](std::string_view key, std::string_view) {
    const auto entry = indexed ? keys::decode_unresolved_alert(key) : keys::decode_alert(key);
    if (!entry) return true;
    // Only now is it certain that there is another page.
    if (static_cast<std::uint32_t>(out.items_size()) >= page || seen >= alert_rows_a_page) {
      out.set_before(oldest);
      return false;
    }
    ++seen;
    oldest = entry->number;
    auto alert = store::load_alert(from, entry->number);
    if (!alert) {
      failed = alert.failure();
      return false;
    }
    if (*alert && matches(what, **alert)) *out.add_items() = std::move(**alert);
    return true;
  });
  if (!scanned.ok()) failed = scanned.failure();
  if (failed) *out.mutable_error() = failed->to_proto();
  return out;
}

v1::AlertShowReply show_alert(const v1::AlertShowRequest& what, const store::snapshot& from) {
  v1::AlertShowReply out;
  auto alert = store::load_alert(from, what.number());
  if (!alert) {
    *out.mutable_error() = alert.failure().to_proto();
  } else if (!*alert) {
    *out.mutable_error() =
        error{v1::ERROR_CODE_NOT_FOUND, "there is no alert " + std::to_string(what.number()), "fairlead alert list --all shows all alerts"}
            .to_proto();
  } else {
    *out.mutable_alert() = std::move(**alert);
  }
  return out;
}

status check_acknowledgement(const v1::AlertAckRequest& what) {
  const auto refuse = [](std::string sentence, std::string remedy) {
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, std::move(sentence), std::move(remedy)};
  };
  if (what.numbers().empty()) return refuse("the request has no alert", "give the number of at least one alert");
  if (what.numbers_size() > max_request_items)
    return refuse("the request names " + std::to_string(what.numbers_size()) + " alerts, at most " + std::to_string(max_request_items) +
                      " are allowed in a request",
                  "send several requests");
  if (what.who().size() > max_who_bytes) return refuse("the operator's name has more than 256 bytes", "shorten it");
  if (what.note().size() > max_note_bytes) return refuse("the note has more than 4096 bytes", "shorten it");
  return nothing{};
}

}  // namespace fairlead
