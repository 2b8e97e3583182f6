#include "tests/simulation/shard/upgrades.hpp"

#include <algorithm>

#include "actors/core/cluster/shard_nodes.hpp"
#include "store/keys.hpp"
#include "store/rows/node_rows.hpp"
#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

namespace {

constexpr auto ask_upgrade_us = 200 * millisecond;
constexpr auto write_every_us = 300 * millisecond;
constexpr std::int64_t never_ms = 24 * 3'600'000;
constexpr std::uint64_t few_news = 3;  // once the faults are over

// A row that no release reads: the former one is taken not to know such rows.
constexpr std::string_view row_name = "simulated_news_";

std::string row_of(std::uint64_t number) { return std::string{row_name} + std::to_string(number); }

std::uint32_t format_in(const store::snapshot& view) {
  const auto nodes = store::nodes_in(view);
  return nodes ? core::format_of(*nodes) : 1;
}

bool is_any(const world& in) { return in.settings.seed % 8 == 3; }

}  // namespace

upgrades::upgrades(world& in, home& of, const std::vector<std::unique_ptr<node>>& nodes)
    : world_(in), home_(of), nodes_(nodes), any_(is_any(in)), after_ms_(never_ms) {
  if (any_ && in.settings.seed % 3 == 0) after_ms_ = 3'000 + static_cast<std::int64_t>(in.settings.seed % 7'000);
}

void upgrades::begin(std::int64_t until_us) {
  if (!any_) return;
  auto& luck = world_.replicas;
  world_.count("runs with an upgrade");
  for (auto more = luck.between(2, 12); more > 0; --more) world_.after(luck.between(0, until_us), [this] { change_release(); });
  for (auto more = luck.between(0, 4); more > 0; --more)
    world_.after(luck.between(0, until_us), [this] {
      if (!std::exchange(asked_, true)) ask();
    });
  keep_writing();
}

/// Mostly of a node that has the former one; some go back.
void upgrades::change_release() {
  auto& luck = world_.replicas;
  auto* which = nodes_[luck.below(nodes_.size())].get();
  for (std::size_t i = 0; i < nodes_.size() && which->known_format() == later() && luck.chance(700); ++i)
    which = nodes_[(which->place() + 1) % nodes_.size()].get();
  const auto goes_back = which->known_format() == later();
  if (!world_.strikes(concern::replicas, luck, 1'000)) return;
  world_.count(goes_back ? "nodes that go back to the former release" : "nodes that get a later release");
  which->run_release(goes_back ? store::shard_format : later());
}

void upgrades::heal() {
  if (!any_) return;
  healed_ = true;
  enough_ = written_ + few_news;
  for (const auto& one : nodes_)
    if (one->known_format() != later()) one->run_release(later());
  if (!std::exchange(asked_, true)) ask();
}

bool upgrades::has_risen() const { return format_ >= later(); }

bool upgrades::settled() const {
  if (!any_) return true;
  if (!has_risen() || written_ < enough_) return false;
  const auto news = news_in(*home_.shows_most().reads().read());
  return std::all_of(nodes_.begin(), nodes_.end(), [&](const auto& one) {
    return one->known_format() == later() && (!home_.is_wanted(*one) || news_in(*one->reads().read()) == news);
  });
}

/// Until there is an answer.
void upgrades::ask() {
  world_.after(ask_upgrade_us, [this] {
    if (!asked_) return;
    ask();
    auto* const to = home_.asked();
    if (to == nullptr) return;
    to->when_awake([this, to] {
      if (!asked_) return;
      v1::ShardNodesRequest what;
      what.set_verb(v1::ShardNodesRequest::UPGRADE);
      const auto answer = to->change_nodes(what);
      const bool waits = answer.ok() ? !*answer : answer.failure().code == v1::ERROR_CODE_UNAVAILABLE;
      const bool done = answer.ok() && *answer && core::format_of(**answer) >= later();
      if (!waits && !done)
        world_.tell("fate", to->name(), 0, [&] { return "ends no upgrade: " + (answer.ok() ? "" : answer.failure().sentence); });
      if (!waits) world_.count(done ? "upgrades ended" : "upgrades refused");
      asked_ = waits || (healed_ && !done);
    });
  });
}

void upgrades::keep_writing() {
  world_.after(write_every_us, [this] {
    keep_writing();
    auto* const to = home_.leader();
    if (to == nullptr || written_ == enough_ || to->known_format() != later() || format_in(*to->reads().read()) < later()) return;
    store::batch row;
    row.put(store::table::meta, store::keys::meta(row_of(++written_)), "news");
    to->write_news(row);
  });
}

void upgrades::starts(node& which) {
  if (!any_) return;
  if (format_in(*which.reads().read()) > which.known_format()) {
    world_.count("starts refused because the format is later");
    which.run_release(later());
  }
  if (which.known_format() == later()) knew_.insert(which.place());
}

void upgrades::shown(const node& which) {
  if (!any_ || has_risen()) return;
  const auto nodes = store::nodes_in(*which.reads().read());
  if (!nodes || core::format_of(*nodes) == format_) return;
  format_ = core::format_of(*nodes);
  world_.count("formats raised");
  world_.judges("format_early");
  for (std::size_t place = 0; place < nodes_.size(); ++place) {
    const auto* const one = core::find_node(*nodes, home_.name_of(place));
    if (one != nullptr && !one->leaves() && knew_.count(place) == 0)
      world::broken("format_early", "the shard is written in format " + std::to_string(format_) + ", and " + home_.name_of(place) +
                                        " has never run a release that knows it");
  }
}

void upgrades::recovered() {
  if (any_) format_ = format_in(*home_.shows_most().reads().read());
}

bool upgrades::is_news_to(const node& which, const v1::ReplicaMessage& what) const {
  return any_ && which.known_format() < later() && what.has_append() && what.append().records().find(row_name) != std::string::npos;
}

void upgrades::skip_news(const node& which, raft::message& in) const {
  auto* const what = std::get_if<raft::append>(&in.body);
  if (!any_ || which.known_format() == later() || what == nullptr) return;
  for (auto& one : what->entries)
    if (one.bytes().find(row_name) != std::string::npos) one.payload = std::make_shared<const std::string>();
}

std::string upgrades::news_in(const store::snapshot& view) {
  std::string out;
  for (std::uint64_t i = 1; i <= most_news + few_news; ++i) {
    const auto row = view.get(store::table::meta, store::keys::meta(row_of(i)));
    out += row.ok() && *row ? '+' : '-';
  }
  return out;
}

}  // namespace fairlead::simulation
