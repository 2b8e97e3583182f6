#include "actors/supervision/supervision_tree.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace fairlead {

namespace {

bool is_below(std::string_view path, std::string_view above) {
  return path.size() > above.size() && path.substr(0, above.size()) == above && path[above.size()] == '/';
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string{} : path.substr(0, slash);
}

}  // namespace

std::shared_ptr<actor_gauge> supervision_tree::started(const std::string& path, core::restart_kind restart, const std::string& strategy) {
  const std::lock_guard lock{guard_};
  const auto [at, is_new] = entries_.try_emplace(path);
  auto& one = at->second;
  if (is_new) {
    one.order = next_order_++;
    one.shown.set_path(path);
  } else {
    one.shown.set_restarts(one.shown.restarts() + 1);
    ++restarts_;
  }
  one.shown.set_guardian(!strategy.empty());
  one.shown.set_strategy(strategy);
  one.shown.set_restart(core::name_of(restart));
  one.shown.set_state("running");
  one.shown.set_started_at_unix_ms(to_unix_ms(time_.now()));
  one.shown.set_actor_id(0);
  one.poke = nullptr;
  one.gauge = std::make_shared<actor_gauge>();
  return one.gauge;
}

void supervision_tree::named(const std::string& path, std::uint64_t actor_id, std::function<void()> poke) {
  const std::lock_guard lock{guard_};
  const auto at = entries_.find(path);
  if (at == entries_.end()) return;
  at->second.shown.set_actor_id(actor_id);
  at->second.poke = std::move(poke);
}

void supervision_tree::ended(const std::string& path, const std::string& state, const std::string& reason) {
  const std::lock_guard lock{guard_};
  const auto at = entries_.find(path);
  if (at == entries_.end()) return;
  at->second.shown.set_state(state);
  at->second.shown.set_last_reason(reason);
  at->second.poke = nullptr;
}

void supervision_tree::removed(const std::string& path) {
  const std::lock_guard lock{guard_};
  std::erase_if(entries_, [&path](const auto& one) { return one.first == path || is_below(one.first, path); });
}

std::vector<v1::SupervisedActor> supervision_tree::describe() const {
  const std::lock_guard lock{guard_};
  std::map<std::string, std::vector<const entry*>> below;  // by the parent's path; roots have the empty one
  for (const auto& [path, one] : entries_) {
    auto above = parent_of(path);
    if (!entries_.contains(above)) above.clear();
    below[above].push_back(&one);
  }
  // The last of `open` is shown next, so the first child is pushed last.
  std::vector<const entry*> open;
  const auto push = [&below, &open](const std::string& above) {
    const auto at = below.find(above);
    if (at == below.end()) return;
    std::sort(at->second.begin(), at->second.end(), [](const entry* a, const entry* b) { return a->order > b->order; });
    open.insert(open.end(), at->second.begin(), at->second.end());
  };
  std::vector<v1::SupervisedActor> out;
  out.reserve(entries_.size());
  push("");
  while (!open.empty()) {
    const auto* one = open.back();
    open.pop_back();
    out.push_back(one->shown);
    out.back().set_handled(one->gauge->handled.load(std::memory_order_relaxed));
    out.back().set_mailbox(one->shown.state() == "running" ? one->gauge->mailbox.load(std::memory_order_relaxed) : 0);
    push(one->shown.path());
  }
  return out;
}

std::uint64_t supervision_tree::restarts() const {
  const std::lock_guard lock{guard_};
  return restarts_;
}

bool supervision_tree::plant_crash(const std::string& path) {
  std::function<void()> poke;
  {
    const std::lock_guard lock{guard_};
    const auto at = entries_.find(path);
    if (at == entries_.end() || at->second.shown.state() != "running") return false;
    at->second.gauge->crash_next.store(true);
    poke = at->second.poke;
  }
  // Not under the lock: the poked actor may read the tree.
  if (poke) poke();
  return true;
}

}  // namespace fairlead
