#include "tests/simulation/people/archive_people.hpp"

namespace fairlead::simulation {

retention_plan make_retention(world& in) {
  auto& luck = in.archives;
  retention_plan out;
  out.any = luck.chance(500);
  out.policy.archive_after = duration{luck.chance(500) ? luck.between(100, 1'500) : luck.between(1'500, 12'000)};
  const auto brief = duration{luck.between(1'000, 20'000)};
  if (luck.chance(400)) out.policy.keep = brief;
  // What is favoured there has to come about before the faults are over.
  const auto favoured = [&](failpoint_id where) { return in.favours(where); };
  if (in.settings.always_replicated &&
      (favoured(failpoint_id::archive_chosen) || favoured(failpoint_id::archive_copied) || favoured(failpoint_id::archiver_lost))) {
    out.any = true;
    out.policy.archive_after = std::min(out.policy.archive_after, duration{500});
  }
  out.any = out.any && in.settings.has(concern::archives);
  return out;
}

void archive_people::begin(const retention_plan& plan) {
  if (!plan.any) return;
  world_.after(world_.archives.between(500, 2'000) * millisecond, [this] { come_back(); });
}

void archive_people::come_back() {
  auto& luck = world_.archives;
  if (!world_.trouble()) return;
  world_.after(luck.between(150, 2'000) * millisecond, [this] { come_back(); });
  const auto& archived = checker_.of_archives();
  const auto ids = archived.ids();
  if (!ids.empty()) {
    const auto& id = luck.pick(ids);
    // A former leader may not know yet.
    if (!home_.replicated() || home_.shows_all()) archived.judge(id, *home_.reads().read());
    const auto how = luck.below(3);
    if (how == 0) undo(id);
    if (how == 1) clients_.submit_again(id, false);
    if (how == 2) clients_.submit_again(id, true);
  }
  if (world_.deletions.chance(200)) remove();
  std::vector<std::string> completed;
  for (const auto& [number, record] : checker_.seen())
    if (record.state() == v1::TASK_STATE_COMPLETED && !archived.has(record.id())) completed.push_back(record.id());
  if (!completed.empty() && luck.chance(500)) undo(luck.pick(completed));
}

/// Any task, also one that has not ended.
void archive_people::remove() {
  const auto& seen = checker_.seen();
  if (seen.empty() || !world_.troubled(concern::operators)) return;
  const auto& id = std::next(seen.begin(), static_cast<std::ptrdiff_t>(world_.deletions.below(seen.size())))->second.id();
  world_.count("deletions asked");
  checker_.of_archives().asks_deletion(id);
  operators_.remove(id, [this](bool taken) {
    if (taken) world_.count("deletions done");
  });
}

void archive_people::undo(const std::string& id) {
  if (!world_.troubled(concern::operators)) return;
  const auto gone = checker_.of_archives().has(id);
  world_.count(gone ? "undo of archived tasks asked" : "undo of completed tasks asked");
  operators_.undo(id, [id, gone](bool taken) {
    if (gone && taken) world::broken("archive_undone", id + " was in the archive, and is said to be undone now");
  });
}

}  // namespace fairlead::simulation
