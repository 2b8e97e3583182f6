#include "actors/core/workflow/graph.hpp"

#include <algorithm>

namespace fairlead::core {

namespace {

enum class colour : std::uint8_t { unseen, open, done };

// Depth-first without recursion. `on_back_edge` gets the open path from the target of the edge on, `on_done` each step after all it needs.
template <class OnBackEdge, class OnDone>
void walk(const std::vector<std::vector<int>>& needs, OnBackEdge on_back_edge, OnDone on_done) {
  struct frame {
    int step;
    std::size_t next;
  };
  std::vector<colour> colours(needs.size(), colour::unseen);
  std::vector<frame> path;
  for (std::size_t root = 0; root < needs.size(); ++root) {
    if (colours[root] != colour::unseen) continue;
    path.push_back({static_cast<int>(root), 0});
    colours[root] = colour::open;
    while (!path.empty()) {
      auto& top = path.back();
      const auto& edges = needs[static_cast<std::size_t>(top.step)];
      if (top.next == edges.size()) {
        colours[static_cast<std::size_t>(top.step)] = colour::done;
        on_done(top.step);
        path.pop_back();
        continue;
      }
      const int target = edges[top.next++];
      auto& shade = colours[static_cast<std::size_t>(target)];
      if (shade == colour::unseen) {
        shade = colour::open;
        path.push_back({target, 0});
      } else if (shade == colour::open) {
        std::vector<int> cycle;
        auto at = std::find_if(path.begin(), path.end(), [&](const frame& f) { return f.step == target; });
        for (; at != path.end(); ++at) cycle.push_back(at->step);
        on_back_edge(std::move(cycle));
      }
    }
  }
}

}  // namespace

needs_graph::needs_graph(const v1::WorkflowDefinition& definition) {
  const auto size = static_cast<std::size_t>(definition.steps_size());
  for (int i = 0; i < definition.steps_size(); ++i) index_.emplace(definition.steps(i).name(), i);
  needs_.resize(size);
  for (int i = 0; i < definition.steps_size(); ++i) {
    auto& own = needs_[static_cast<std::size_t>(i)];
    std::vector<bool> seen(size);
    for (const auto& name : definition.steps(i).needs()) {
      const int other = index_of(name);
      if (other < 0 || other == i || seen[static_cast<std::size_t>(other)]) continue;
      seen[static_cast<std::size_t>(other)] = true;
      own.push_back(other);
    }
  }
  const auto words = (size + 63) / 64;
  closure_.assign(size, std::vector<std::uint64_t>(words));
  walk(
      needs_, [](std::vector<int>&&) {},
      [&](int step) {
        auto& mine = closure_[static_cast<std::size_t>(step)];
        for (const int need : needs(step)) {
          mine[static_cast<std::size_t>(need) / 64] |= std::uint64_t{1} << (need % 64);
          const auto& theirs = closure_[static_cast<std::size_t>(need)];
          for (std::size_t i = 0; i < words; ++i) mine[i] |= theirs[i];
        }
      });
}

int needs_graph::index_of(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? -1 : found->second;
}

bool needs_graph::reaches(int step, int other) const {
  return ((closure_[static_cast<std::size_t>(step)][static_cast<std::size_t>(other) / 64] >> (other % 64)) & 1U) != 0;
}

std::vector<std::vector<int>> needs_graph::cycles(std::size_t limit) const {
  std::vector<std::vector<int>> out;
  walk(
      needs_,
      [&](std::vector<int>&& cycle) {
        if (out.size() < limit) out.push_back(std::move(cycle));
      },
      [](int) {});
  return out;
}

}  // namespace fairlead::core
