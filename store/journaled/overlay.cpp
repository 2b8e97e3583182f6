#include "store/journaled/overlay.hpp"

#include <utility>

#include "store/failpoint.hpp"

namespace fairlead::store {

namespace {
// A commit waits for the merges that it causes. A generation has few runs of this size, and the applier merges them beside the commits.
constexpr std::size_t most_merged_operations = 4'096;
}  // namespace

void overlay::add(std::shared_ptr<const run> what, const entry_position& last, bool closes) {
  const std::lock_guard changing(changing_);
  auto next = std::make_shared<overlay_view>(*view());
  const bool only_sealed = next->size() == (sealed_ && !failpoint("plant.sealed_grows") ? 1u : 0u);
  const bool begin = only_sealed || next->back()->operations >= most_operations_ || next->back()->is_closed;
  auto grown = begin ? std::make_shared<generation>() : std::make_shared<generation>(*next->back());
  grown->last = last;
  grown->is_closed = closes;
  grown->bytes += what->bytes();
  grown->operations += what->operations().size();
  auto& runs = grown->runs;
  runs.push_back(std::move(what));
  const auto should_merge = [&runs] {
    if (runs.size() < 2) return false;
    const auto& older = *runs[runs.size() - 2];
    const auto& newer = *runs.back();
    return older.rank() == newer.rank() && older.operations().size() + newer.operations().size() <= most_merged_operations;
  };
  while (should_merge()) {
    auto merged = run::merge(*runs[runs.size() - 2], *runs.back());
    runs.pop_back();
    runs.back() = std::move(merged);
  }
  if (begin) {
    next->push_back(std::move(grown));
  } else {
    next->back() = std::move(grown);
  }
  show(std::move(next));
}

std::shared_ptr<const generation> overlay::seal() {
  const std::lock_guard changing(changing_);
  const auto now = view();
  if (now->empty()) return nullptr;
  sealed_ = true;
  return now->front();
}

void overlay::drop_sealed() {
  const std::lock_guard changing(changing_);
  const auto now = view();
  if (!sealed_ || now->empty()) return;
  show(std::make_shared<overlay_view>(now->begin() + 1, now->end()));
  sealed_ = false;
}

void overlay::clear() {
  const std::lock_guard changing(changing_);
  show(std::make_shared<overlay_view>());
  sealed_ = false;
}

void overlay::show(std::shared_ptr<const overlay_view> next) {
  const std::lock_guard lock(guard_);
  view_.swap(next);
}

std::shared_ptr<const overlay_view> overlay::view() const {
  const std::lock_guard lock(guard_);
  return view_;
}

std::size_t overlay::bytes() const {
  const auto now = view();
  std::size_t out = 0;
  for (const auto& one : *now) out += one->bytes;
  return out;
}

std::size_t overlay::operations() const {
  const auto now = view();
  std::size_t out = 0;
  for (const auto& one : *now) out += one->operations;
  return out;
}

}  // namespace fairlead::store
