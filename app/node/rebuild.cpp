#include "app/node/rebuild.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "actors/client/client.hpp"
#include "app/node/replicas.hpp"
#include "store/directory.hpp"
#include "store/disk/set_aside.hpp"
#include "store/failpoint.hpp"

namespace fairlead::app {

namespace {

using std::chrono::steady_clock;

/// A store that is damaged again so soon has a disk that damages it.
constexpr std::chrono::hours least_between{1};
constexpr duration ask_again_after{200};

/// What another node, or time, can change.
bool may_pass(error_code code) {
  return code != v1::ERROR_CODE_NOT_FOUND && code != v1::ERROR_CODE_INVALID_ARGUMENT && code != v1::ERROR_CODE_CONFLICT &&
         code != v1::ERROR_CODE_CORRUPT;
}

error prevented(const error& why, const error& by) {
  auto sentence = why.sentence;
  if (!sentence.ends_with('.')) sentence += '.';
  return {may_pass(by.code) ? v1::ERROR_CODE_UNAVAILABLE : v1::ERROR_CODE_CORRUPT,
          sentence + " The node did not set its stores aside to get the shards from other nodes: " + by.sentence,
          by.remedy.empty() ? why.remedy : by.remedy};
}

std::vector<std::string> addresses_of_others(const node_config& config, const v1::OthersNote& noted) {
  std::set<std::string> out(config.peers.begin(), config.peers.end());
  for (const auto& shard : noted.shards())
    for (const auto& one : shard.nodes().nodes())
      if (one.name() != config.name && !one.address().empty()) out.insert(one.address());
  return {out.begin(), out.end()};
}

result<v1::ShardNodes> ask(client& to, const v1::ShardNodesRequest& what, steady_clock::time_point until) {
  for (;;) {
    auto reply = to.change_nodes(what);
    if (reply) return std::move(*reply->mutable_nodes());
    // The leader may have been elected just now, or may not know yet that the last process of this node has ended.
    const auto code = reply.failure().code;
    if ((code != v1::ERROR_CODE_WRONG_STATE && code != v1::ERROR_CODE_CONFLICT) || steady_clock::now() >= until) return reply.failure();
    std::this_thread::sleep_for(ask_again_after);
  }
}

/// A new store for each shard, with the nodes that hold it, once the leaders of all have agreed. `only_ask`: they are asked whether they would.
result<std::vector<v1::RebuildNote::NewStore>> agreed_stores(const node_config& config, const v1::OthersNote& noted, duration patience,
                                                             bool only_ask = false) {
  client_options options;
  options.nodes = addresses_of_others(config, noted);
  if (options.nodes.empty())
    return error{v1::ERROR_CODE_NOT_FOUND, "it does not know where the other nodes are.",
                 "Name the other nodes under node.peers in the node file, and start the node again."};
  options.request_timeout = patience;
  options.connect_timeout = patience;
  auto to = client::connect(options);
  if (!to) return to.failure();
  std::vector<v1::ShardNodesRequest> asked;
  for (const auto number : config.shards_here) {
    auto& one = asked.emplace_back(request_to_join(config, number, new_replica_id()));
    one.set_instead_of_damaged(true);
    for (const auto& shard : noted.shards())
      if (shard.shard() == number && shard.has_lineage()) *one.mutable_lineage() = shard.lineage();
    one.set_who("node " + config.name);
    one.set_reason("its store is damaged");
  }
  // All are asked before one is changed.
  std::vector<v1::RebuildNote::NewStore> out;
  for (const bool asks : {true, false}) {
    if (!asks && only_ask) break;
    out.clear();
    for (auto& what : asked) {
      what.set_only_ask(asks);
      const auto nodes = ask(*to, what, steady_clock::now() + patience);
      if (!nodes) return nodes.failure();
      auto& store = out.emplace_back();
      store.set_shard(what.shard());
      store.set_replica(what.node().replica());
      *store.mutable_nodes() = *nodes;
    }
  }
  return out;
}

/// Error: it was done less than an hour ago.
status check_not_again(const node_config& config) {
  std::string again;
  for (const auto& folder : working_folders_of(config)) {
    const auto before = store::last_set_aside(folder);
    if (before && std::filesystem::file_time_type::clock::now() - *before < least_between)
      again += (again.empty() ? "" : " and ") + store::set_aside_in(folder);
  }
  if (again.empty()) return nothing{};
  return error{v1::ERROR_CODE_CORRUPT, "it has done so less than an hour ago.",
               "Look for errors of the disk, then remove " + again + ", and start the node again."};
}

/// No command works on the stores meanwhile.
result<std::vector<store::directory_lock>> lock_all(const node_config& config) {
  std::vector<store::directory_lock> out;
  for (const auto& directory : working_folders_of(config)) {
    if (auto there = store::prepare_directory(directory, false); !there.ok()) return there.failure();
    auto lock = store::directory_lock::take(directory, false);
    if (!lock) return lock.failure();
    out.push_back(std::move(*lock));
  }
  return out;
}

}  // namespace

std::vector<std::string> store_folders_of(const node_config& config) {
  std::vector<std::string> out;
  for (const auto number : config.shards_here) out.push_back(shard_store_path(config, number));
  return out;
}

std::vector<std::string> working_folders_of(const node_config& config) {
  auto out = store_folders_of(config);
  out.insert(out.begin(), config.journal_path);
  return out;
}

std::size_t count_set_aside(const std::vector<std::string>& folders) {
  return static_cast<std::size_t>(
      std::count_if(folders.begin(), folders.end(), [](const auto& one) { return store::last_set_aside(one).has_value(); }));
}

bool others_hold_all(const v1::OthersNote& noted, const std::vector<std::uint32_t>& shards) {
  return std::all_of(shards.begin(), shards.end(), [&](std::uint32_t number) {
    return std::any_of(noted.shards().begin(), noted.shards().end(), [&](const auto& shard) {
      const auto& nodes = shard.nodes().nodes();
      return shard.shard() == number &&
             std::any_of(nodes.begin(), nodes.end(), [&](const auto& one) { return one.name() != shard.node(); });
    });
  });
}

bool others_may_hold_all(const node_config& config, const node_notes& notes) {
  return !config.shard_nodes.empty() || others_hold_all(notes.others(), config.shards_here);
}

status can_begin_anew(const node_config& config, const node_notes& notes) {
  constexpr duration answer_within = std::chrono::seconds{3};
  const auto noted = notes.others();
  if (!others_hold_all(noted, config.shards_here))
    return error{v1::ERROR_CODE_WRONG_STATE, "it holds a shard alone.", "Run `fairlead store check` on the stopped node."};
  if (auto first = check_not_again(config); !first.ok()) return first;
  const auto stores = agreed_stores(config, noted, answer_within, true);
  return stores ? status(nothing{}) : status(stores.failure());
}

node_turn turn_of(const node_config& config, const node_notes& notes) {
  std::set<std::string> names{config.name};
  const auto noted = notes.others();
  for (const auto& shard : noted.shards())
    for (const auto& one : shard.nodes().nodes()) names.insert(one.name());
  return {static_cast<std::size_t>(std::distance(names.begin(), names.find(config.name))), names.size(),
          node_turn::election_timeouts * config.election_ms};
}

result<v1::RebuildNote> agree_to_rebuild(const node_config& config, node_notes& notes, const error& why, const rebuild_patience& patience) {
  if (!others_may_hold_all(config, notes)) return why;
  const auto known = notes.others();
  const auto locks = lock_all(config);
  if (!locks) return locks.failure();
  if (auto first = patience.at_once ? status(nothing{}) : check_not_again(config); !first.ok()) return prevented(why, first.failure());
  auto stores = agreed_stores(config, known, patience.answer_within);
  while (!stores) {
    const auto because = prevented(why, stores.failure());
    if (!may_pass(stores.failure().code) || !patience.goes_on || !patience.goes_on(because)) return because;
    stores = agreed_stores(config, known, patience.answer_within);
  }
  if (store::failpoint("rebuild.agreed")) return store::failpoint_error("rebuild.agreed");
  v1::RebuildNote how;
  *how.mutable_why() = why.to_proto();
  for (auto& one : *stores) *how.add_stores() = std::move(one);
  auto parts = store::parts_of_journal(config.journal_path);
  if (!parts) return parts.failure();
  for (const auto& folder : store_folders_of(config)) {
    const auto of_store = store::parts_of_store(folder);
    if (!of_store) return of_store.failure();
    parts->insert(parts->end(), of_store->begin(), of_store->end());
  }
  for (const auto& one : *parts) *how.add_parts() = noted(one);
  // A rebuilding that an operator has called off left only a part there. What one that goes on has set aside is the latest that there is.
  bool is_whole = true;
  for (const auto& folder : store_folders_of(config)) {
    const auto aside = store::find_part(store::data_file_in(store::set_aside_in(folder)));
    if (!aside) return aside.failure();
    is_whole = is_whole && *aside;
  }
  for (const auto& folder : working_folders_of(config))
    if (auto gone = is_whole && !patience.at_once ? store::forget_set_aside(folder) : status(nothing{}); !gone.ok()) return gone.failure();
  // A command that goes on with a store finds this beside it, wherever the node keeps its own notes.
  if (auto damage = notes.note_damage(why, store_folders_of(config)); !damage.ok()) return damage.failure();
  if (auto begun = notes.begin_rebuilding(how); !begun.ok()) return begun.failure();
  return how;
}

status set_stores_aside(const node_config& config, const node_notes& notes, const v1::RebuildNote& how) {
  const auto failed = [&](error why) {
    why.remedy += (why.remedy.empty() ? "" : " ") +
                  ("To keep the stores instead, move what is in the folders set-aside back, and then remove the file " +
                   notes.path("rebuilding") + " and the file damaged beside each store.");
    return why;
  };
  const auto locks = lock_all(config);
  if (!locks) return failed(locks.failure());
  for (const auto& part : how.parts()) {
    if (store::failpoint("rebuild.part")) return store::failpoint_error("rebuild.part");
    if (auto aside = store::set_aside(part_of(part)); !aside.ok()) return failed(aside.failure());
  }
  if (store::failpoint("rebuild.aside")) return store::failpoint_error("rebuild.aside");
  return nothing{};
}

status end_rebuilding(const node_config& config, node_notes& notes) {
  if (store::failpoint("rebuild.made")) return store::failpoint_error("rebuild.made");
  if (auto ended = notes.forget_damage(store_folders_of(config)); !ended.ok()) return ended;
  if (store::failpoint("rebuild.ending")) return store::failpoint_error("rebuild.ending");
  return notes.end_rebuilding();
}

}  // namespace fairlead::app
