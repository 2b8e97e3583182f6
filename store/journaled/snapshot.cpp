#include "store/journaled/snapshot.hpp"

#include <algorithm>
#include <utility>

#include "store/checksum.hpp"
#include "store/failpoint.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

namespace {

using position = std::vector<operation>::const_iterator;

/// The operations of one table in [from, to), of all runs of an overlay, in key order or against it; the newest of each key.
class overlay_cursor {
 public:
  overlay_cursor(const std::vector<std::shared_ptr<const generation>>& over, table where, std::string_view from, std::string_view to,
                 bool reverse)
      : reverse_(reverse) {
    for (const auto& generation : over) {
      for (const auto& run : generation->runs) {
        const auto begin = run->from(where, from);
        const auto end = to.empty() ? run->from(static_cast<table>(static_cast<int>(where) + 1), {}) : run->from(where, to);
        if (begin < end) parts_.push_back({begin, end});
      }
    }
    advance();
  }

  /// nullptr: at the end.
  const operation* now() const { return now_; }
  void next() { advance(); }
  bool before(std::string_view key) const { return now_ != nullptr && (reverse_ ? now_->key > key : now_->key < key); }
  bool at(std::string_view key) const { return now_ != nullptr && now_->key == key; }

 private:
  struct part {
    position begin, end;
    bool empty() const { return begin == end; }
  };

  const operation& head(const part& of) const { return reverse_ ? *(of.end - 1) : *of.begin; }

  // A handful of parts: a linear minimum is faster than a heap. Parts are in order of age, so of equal keys the last one counts.
  void advance() {
    now_ = nullptr;
    for (const auto& one : parts_) {
      if (one.empty()) continue;
      const auto& candidate = head(one);
      if (now_ == nullptr || candidate.key == now_->key || (reverse_ ? candidate.key > now_->key : candidate.key < now_->key))
        now_ = &candidate;
    }
    if (now_ == nullptr) return;
    for (auto& one : parts_) {
      if (one.empty() || head(one).key != now_->key) continue;
      if (reverse_) {
        --one.end;
      } else {
        ++one.begin;
      }
    }
  }

  bool reverse_;
  std::vector<part> parts_;
  const operation* now_ = nullptr;
};

/// Runs `scan_below`, which visits the tables, and visits what the overlay has in between; what is erased there is left out.
template <class Visit, class ScanBelow>
status merge(overlay_cursor over, const Visit& visit, const ScanBelow& scan_below) {
  bool stopped = false;
  const auto visit_over = [&] {
    const bool shown = over.now()->what == operation::kind::put || failpoint("plant.erased_shown");
    if (shown && !visit(over.now()->key, *over.now())) stopped = true;
    over.next();
  };
  auto done = scan_below([&](std::string_view key, const auto& payload) {
    while (!stopped && over.before(key)) visit_over();
    if (stopped) return false;
    if (over.at(key)) {
      visit_over();
      return !stopped;
    }
    stopped = !visit(key, payload);
    return !stopped;
  });
  if (!done) return done;
  while (!stopped && over.now() != nullptr) visit_over();
  return nothing{};
}

/// Gives the payload of an operation, verified, to a visitor of payloads, and keeps the error of a damaged one.
struct verifying {
  table where;
  const snapshot::visitor& visit;
  std::optional<error>& damage;

  bool operator()(std::string_view key, std::string_view payload) const { return visit(key, payload); }
  bool operator()(std::string_view key, const operation& op) const {
    const auto payload = verified_payload(where, key, op.value);
    if (payload) return visit(key, *payload);
    damage = damaged_value(where, key);
    return false;
  }
};

}  // namespace

std::unique_ptr<snapshot> journaled_snapshot::take(const overlay& over, const tables& below) {
  auto view = over.view();
  auto read = below.read_tables();
  if (failpoint("plant.tables_before_overlay")) view = over.view();
  auto generations = *view;
  std::optional<error> failed;
  if (!generations.empty() && !failpoint("plant.applied_not_left_out")) {
    const auto row = read->get(table::meta, keys::meta(meta::applied_row));
    const auto applied = row.ok() && row->has_value() ? meta::decode_applied(**row) : std::nullopt;
    if (!applied) failed = row.ok() ? damaged_value(table::meta, keys::meta(meta::applied_row)) : row.failure();
    const auto up_to = applied.value_or(entry_position{}).index;
    const auto has = [up_to](const auto& one) { return one->last.index <= up_to; };
    generations.erase(std::remove_if(generations.begin(), generations.end(), has), generations.end());
  }
  std::unique_ptr<journaled_snapshot> out(new journaled_snapshot(std::move(read), std::move(generations)));
  out->failed_ = std::move(failed);
  return out;
}

std::unique_ptr<snapshot> journaled_snapshot::of(std::unique_ptr<snapshot> below, std::vector<std::shared_ptr<const generation>> over) {
  return std::unique_ptr<snapshot>(new journaled_snapshot(std::move(below), std::move(over)));
}

const operation* journaled_snapshot::find(table where, std::string_view key) const {
  for (auto generation = over_.rbegin(); generation != over_.rend(); ++generation) {
    for (auto run = (*generation)->runs.rbegin(); run != (*generation)->runs.rend(); ++run) {
      if (const auto* found = (*run)->find(where, key)) return found;
    }
  }
  return nullptr;
}

result<std::optional<std::string_view>> journaled_snapshot::get(table where, std::string_view key) const {
  if (failed_) return *failed_;
  const auto* found = find(where, key);
  if (found == nullptr) return below_->get(where, key);
  if (found->what == operation::kind::erase) return std::optional<std::string_view>{};
  auto payload = verified_payload(where, key, found->value);
  if (!payload) return damaged_value(where, key);
  return payload;
}

status journaled_snapshot::scan(table where, std::string_view from, std::string_view to, const visitor& visit) const {
  if (failed_) return *failed_;
  std::optional<error> damage;
  auto done = merge(overlay_cursor(over_, where, from, to, false), verifying{where, visit, damage},
                    [&](const visitor& inner) { return below_->scan(where, from, to, inner); });
  return damage ? status(*damage) : done;
}

status journaled_snapshot::scan_reverse(table where, std::string_view from, std::string_view to, const visitor& visit) const {
  if (failed_) return *failed_;
  std::optional<error> damage;
  auto done = merge(overlay_cursor(over_, where, from, to, true), verifying{where, visit, damage},
                    [&](const visitor& inner) { return below_->scan_reverse(where, from, to, inner); });
  return damage ? status(*damage) : done;
}

status journaled_snapshot::scan_all(table where, const inspector& visit) const {
  if (failed_) return *failed_;
  struct either {
    table where;
    const inspector& visit;
    bool operator()(std::string_view key, const std::optional<std::string_view>& payload) const { return visit(key, payload); }
    bool operator()(std::string_view key, const operation& op) const { return visit(key, verified_payload(where, key, op.value)); }
  };
  return merge(overlay_cursor(over_, where, {}, {}, false), either{where, visit},
               [&](const inspector& inner) { return below_->scan_all(where, inner); });
}

std::uint64_t journaled_snapshot::count(table where) const {
  auto out = below_->count(where);
  if (failed_) return out;
  for (overlay_cursor over(over_, where, {}, {}, false); over.now() != nullptr; over.next()) {
    const auto below = below_->get(where, over.now()->key);
    const bool there = !below.ok() || below->has_value();  // a damaged value counts, too
    const bool stays = over.now()->what == operation::kind::put;
    if (there && !stays) --out;
    if (!there && stays) ++out;
  }
  return out;
}

progress journaled_snapshot::get_progress() const {
  const auto row = get(table::meta, keys::meta(meta::progress_row));
  if (!row || !row->has_value()) return {};
  return meta::decode_progress(**row).value_or(progress{});
}

}  // namespace fairlead::store
