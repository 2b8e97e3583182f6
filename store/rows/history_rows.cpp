#include "store/rows/history_rows.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "store/keys.hpp"
#include "store/load.hpp"

namespace fairlead::store {

namespace {

constexpr int chunks_a_fold = 4;  // more than the new ones, so that a history from before the limit gets shorter

/// Events that only say how an attempt went, without an effect.
bool folds(v1::EventKind kind) {
  switch (kind) {
    case v1::EVENT_KIND_STEP_STARTED:
    case v1::EVENT_KIND_STEP_ACCEPTED:
    case v1::EVENT_KIND_STEP_ANSWERED:
    case v1::EVENT_KIND_STEP_FAILED:
    case v1::EVENT_KIND_STEP_RETRIED:
    case v1::EVENT_KIND_STEP_GIVEN_UP:
    case v1::EVENT_KIND_STEP_REPEATED:
    case v1::EVENT_KIND_STEP_COOLING_OFF: return true;
    default: return false;
  }
}

/// Index of the first event in the row that is not the folded one.
int first_recent(const v1::TaskRecord& record) { return folded_events(record) != nullptr ? 1 : 0; }

std::uint64_t folded_through(const v1::TaskRecord& record) {
  const auto* folded = folded_events(record);
  return folded != nullptr ? folded->sequence() : 0;
}

fixed_key<16> chunk_key(const v1::TaskRecord& record, std::uint64_t sequence) {
  return keys::history(default_namespace, record.number(), static_cast<std::uint32_t>(sequence));
}

void count_folded(v1::TaskRecord& record, std::uint64_t more, const v1::HistoryEvent& last) {
  auto& recent = *record.mutable_recent();
  if (folded_events(record) == nullptr) {
    recent.Add()->set_kind(v1::EVENT_KIND_HISTORY_FOLDED);
    std::rotate(recent.pointer_begin(), recent.pointer_end() - 1, recent.pointer_end());
  }
  auto& folded = recent[0];
  folded.set_detail(std::to_string(folded_count(folded) + more) + " events");
  folded.set_sequence(last.sequence());
  folded.set_at_unix_ms(last.at_unix_ms());
}

}  // namespace

const v1::HistoryEvent* folded_events(const v1::TaskRecord& record) {
  if (record.recent().empty() || record.recent(0).kind() != v1::EVENT_KIND_HISTORY_FOLDED) return nullptr;
  return &record.recent(0);
}

std::uint64_t folded_count(const v1::HistoryEvent& folded) {
  std::uint64_t count = 0;
  const auto& text = folded.detail();
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

void move_events(batch& out, v1::TaskRecord& after) {
  const auto first = first_recent(after);
  if (after.recent_size() - first <= recent_events_limit) return;
  v1::HistoryChunk chunk;
  const int moved = after.recent_size() - first - recent_events_kept;
  for (int i = first; i < first + moved; ++i) chunk.add_events()->Swap(after.mutable_recent(i));
  after.mutable_recent()->DeleteSubrange(first, moved);
  out.put(table::history, chunk_key(after, chunk.events(0).sequence()), chunk.SerializeAsString());
}

bool history_is_long(const v1::TaskRecord& record) {
  return record.history_size() > history_limit && record.history_size() - folded_through(record) > history_limit;
}

status fold_history(batch& out, v1::TaskRecord& record, const snapshot& from) {
  for (int folded = 0; folded < chunks_a_fold && history_is_long(record); ++folded) {
    // Chunks have no gaps: the next one begins where the last one ended.
    const auto key = chunk_key(record, folded_through(record) + 1);
    auto chunk = load<v1::HistoryChunk>(from, table::history, key);
    if (!chunk) return chunk.failure();
    if (!*chunk || (*chunk)->events().empty()) return nothing{};
    auto& events = *(*chunk)->mutable_events();
    const auto last = events[events.size() - 1];
    const auto before = events.size();
    events.erase(std::remove_if(events.begin(), events.end(), [](const v1::HistoryEvent& one) { return folds(one.kind()); }), events.end());
    if (events.empty())
      out.erase(table::history, key);
    else
      out.put(table::history, key, (*chunk)->SerializeAsString());
    count_folded(record, static_cast<std::uint64_t>(before - events.size()), last);
  }
  return nothing{};
}

result<std::vector<v1::HistoryEvent>> load_history(const snapshot& from, const v1::TaskRecord& record, std::uint64_t after_sequence) {
  std::vector<v1::HistoryEvent> out;
  const auto take = [&](const v1::HistoryEvent& event) {
    if (event.sequence() > after_sequence) out.push_back(event);
  };
  const auto first = first_recent(record);
  const auto in_row = static_cast<std::uint64_t>(record.recent_size() - first);
  // Most rows hold all their events, and most watchers wait for the newest.
  if (record.history_size() - std::min(in_row, record.history_size()) > after_sequence) {
    auto begin = chunk_key(record, 0).str();
    const auto from_start = begin;
    const auto seek =
        from.scan_reverse(table::history, from_start, chunk_key(record, after_sequence + 2), [&](std::string_view key, std::string_view) {
          begin = std::string{key};
          return false;
        });
    if (!seek) return seek.failure();
    std::optional<error> wrong;
    const auto done = from.scan(table::history, begin, keys::after(keys::task(default_namespace, record.number())),
                                [&](std::string_view key, std::string_view bytes) {
                                  v1::HistoryChunk chunk;
                                  if (!chunk.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
                                    wrong = unreadable_value(table::history, key);
                                    return false;
                                  }
                                  for (const auto& event : chunk.events()) take(event);
                                  return true;
                                });
    if (wrong) return *wrong;
    if (!done) return done.failure();
  }
  if (const auto* folded = folded_events(record); folded != nullptr && folded->sequence() > after_sequence) {
    const auto place = std::find_if(out.begin(), out.end(), [&](const auto& one) { return one.sequence() > folded->sequence(); });
    out.insert(place, *folded);
  }
  for (int i = first; i < record.recent_size(); ++i) take(record.recent(i));
  return out;
}

}  // namespace fairlead::store
