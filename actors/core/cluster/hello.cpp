#include "actors/core/cluster/hello.hpp"

#include <algorithm>
#include <set>

#include "actors/core/retry.hpp"
#include "actors/core/workflow/check.hpp"
#include "messages/lineage.hpp"

namespace fairlead::core {

namespace {

constexpr std::size_t max_id_bytes = 64;
constexpr std::size_t max_word_bytes = 64;
constexpr std::size_t max_address_bytes = 300;
constexpr int max_roles = 16;

bool printable(const std::string& text, std::size_t most) {
  return text.size() <= most && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

/// Names the fault in fields 1 to 7, whose meaning never changes; empty: no fault.
std::string wrong_identity(const v1::Hello& you) {
  // An invalid name is not repeated: the text goes into logs.
  if (!valid_agent_name(you.node())) return "its node name is not valid";
  if (!valid_agent_name(you.cluster())) return "the name of its cluster is not valid";
  if (you.node_id().empty() || !printable(you.node_id(), max_id_bytes)) return "its node_id is not valid";
  if (you.run_id().empty() || !printable(you.run_id(), max_id_bytes)) return "its run_id is not valid";
  if (you.protocol() == 0 || you.least_protocol() == 0 || you.least_protocol() > you.protocol())
    return "its protocol versions are not valid";
  return "";
}

std::string wrong_rest(const v1::Hello& you) {
  if (you.incarnation() == 0) return "its incarnation is 0";
  if (!printable(you.version(), max_word_bytes)) return "its version is not valid";
  if (!printable(you.listens_on(), max_address_bytes)) return "the address that it listens on is not valid";
  if (you.roles_size() > max_roles) return "it has too many roles";
  for (const auto& role : you.roles())
    if (!printable(role, max_word_bytes)) return "one of its roles is unknown";
  if (you.shard_count() > max_shards) return "it counts more than " + std::to_string(max_shards) + " shards";
  std::set<std::uint32_t> claimed;
  for (const auto& claim : you.shards()) {
    if (claim.shard() >= you.shard_count()) return "it claims a shard that its cluster does not have";
    if (!claimed.insert(claim.shard()).second) return "it claims a shard twice";
    if (claim.store_id().empty() || !printable(claim.store_id(), max_id_bytes)) return "it claims a shard without a store";
  }
  return "";
}

hello_judgement refused(std::string sentence, std::string remedy) {
  hello_judgement out;
  out.why = {v1::ERROR_CODE_CONFLICT, std::move(sentence), std::move(remedy)};
  return out;
}

hello_judgement senseless(const std::string& what) {
  hello_judgement out;
  out.why = {v1::ERROR_CODE_INVALID_ARGUMENT, "a node sent an invalid greeting: " + what,
             "Let only Fairlead nodes of this release or a neighbouring release reach this port"};
  out.senseless = true;
  return out;
}

std::string protocols_of(const v1::Hello& node) {
  const auto versions = node.least_protocol() == node.protocol()
                            ? std::to_string(node.protocol())
                            : std::to_string(node.least_protocol()) + " to " + std::to_string(node.protocol());
  const auto release = !node.version().empty() && printable(node.version(), max_word_bytes) ? " (release " + node.version() + ")" : "";
  return "node " + node.node() + release + " speaks protocol " + versions;
}

const v1::ShardClaim* claim_in(const v1::Hello& node, std::uint32_t shard) {
  const auto found = std::find_if(node.shards().begin(), node.shards().end(), [&](const auto& one) { return one.shard() == shard; });
  return found == node.shards().end() ? nullptr : &*found;
}

hello_judgement copied_folder(const v1::Hello& you, const v1::Hello& other) {
  const auto who =
      you.node() == other.node() ? "node " + you.node() + " runs twice" : "nodes " + other.node() + " and " + you.node() + " are one";
  return refused(who + ": two processes have the same node_id, so one data folder is a copy of the other",
                 "Stop one of them; start a new node with an empty data folder and a different name");
}

/// Each process of a node counts on from its data folder, so an older copy of that gives an incarnation once more. nullopt: it is the latest.
std::optional<hello_judgement> older_folder(const v1::Hello& you, const hello_view& known) {
  const auto seen = known.seen.find(you.node_id());
  if (seen == known.seen.end()) return std::nullopt;
  const auto& [incarnation, run_id] = seen->second;
  const auto is_seen = [&](const v1::Hello* one) { return one->node_id() == you.node_id() && one->incarnation() == you.incarnation(); };
  const bool runs_twice = std::any_of(known.connected.begin(), known.connected.end(), is_seen);
  const bool again = you.incarnation() == incarnation && you.run_id() != run_id && !runs_twice;
  if (you.incarnation() >= incarnation && !again) return std::nullopt;
  return refused(
      "node " + you.node() + " shows incarnation " + std::to_string(you.incarnation()) + ", but " +
          (again ? "another process with that incarnation" : "its incarnation " + std::to_string(incarnation)) +
          " was connected before: its data folder is an older copy",
      "Use the latest data folder of the node. If that is lost: stop the node, remove the file `node` from the data folder, remove the "
      "store of each shard that other nodes hold, too, run fairlead restore STORE for each other one, and run fairlead node forget " +
          you.node());
}

/// With which the store of that claim becomes the latest lineage.
std::string command_to_keep(const v1::ShardClaim& claim) {
  return claim.lineage().several() ? "fairlead cluster recover STORE" : "fairlead restore STORE";
}

/// As compare(). But of one lineage a claim of several nodes counts more: one alone is of a copy from before others could join.
lineage_order order_of(const v1::Lineage& one, const v1::Lineage& other) {
  const auto out = compare(one, other);
  if (out != lineage_order::same || !is_set(one) || !is_set(other) || one.several() == other.several()) return out;
  return one.several() ? lineage_order::later : lineage_order::earlier;
}

/// `earlier` is a claim to a shard that has gone on as `later`.
hello_judgement outlived(const std::string& node, const v1::ShardClaim& earlier, const std::string& by, const v1::Lineage& later) {
  if (later.several() && !earlier.lineage().several())
    return refused(
        "shard " + std::to_string(earlier.shard()) + " is held by several nodes, as the one that " + by + ", and node " + node +
            " claims to hold it alone",
        "Stop node " + node + ". If it is to hold the shard together with them, remove its store, and run fairlead cluster join on it");
  return refused("shard " + std::to_string(earlier.shard()) + " of node " + node + " is of an earlier lineage (" +
                     to_text(earlier.lineage()) + ") than the one that " + by + " (" + to_text(later) + ")",
                 "Stop node " + node + " if the shard was restored or created again elsewhere; if its store is the one to keep, run " +
                     command_to_keep(earlier) + " on that store while the node is stopped");
}

/// Judges a newcomer against `other`: this node itself, or a connected node that is not an earlier process of the newcomer. `gives_way`:
/// set to the newcomer's claim of a later lineage, to which `other` gives way.
hello_judgement beside(const v1::Hello& you, const v1::Hello& other, const v1::ShardClaim*& gives_way) {
  if (you.node() == other.node())
    return refused("another node named " + you.node() + " is already in the cluster, with another data folder",
                   "Change node.name of one of them. To replace the other node, stop it and run fairlead node forget " + you.node());
  for (const auto& claim : you.shards()) {
    const auto* held = claim_in(other, claim.shard());
    if (held == nullptr) continue;
    const auto order = order_of(claim.lineage(), held->lineage());
    if (order == lineage_order::later) {
      gives_way = &claim;
      continue;
    }
    // Who leads a replicated shard changes, and a former leader may not know it yet.
    if (order == lineage_order::same && claim.lineage().several() && held->lineage().several() && claim.store_id() == held->store_id())
      continue;
    if (order == lineage_order::earlier) return outlived(you.node(), claim, "node " + other.node() + " holds", held->lineage());
    return refused("shard " + std::to_string(claim.shard()) + " is held by node " + other.node() + ", and node " + you.node() +
                       " claims it too" +
                       (order == lineage_order::conflict       ? " in another lineage, which began apart from it"
                        : held->store_id() == claim.store_id() ? " with a copy of the same store"
                                                               : " with another store"),
                   "Stop one of the two nodes at once, and list the shard under shards.here of one node only");
  }
  hello_judgement out;
  out.verdict = hello_verdict::join;
  return out;
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t out = 14695981039346656037ULL;  // FNV-1a
  for (const unsigned char c : text) out = (out ^ c) * 1099511628211ULL;
  return out;
}

}  // namespace

hello_judgement judge_hello(const v1::Hello& you, const hello_view& known) {
  const auto& me = known.me;
  if (const auto wrong = wrong_identity(you); !wrong.empty()) return senseless(wrong);
  if (you.cluster() != me.cluster())
    return refused("node " + you.node() + " is of cluster " + you.cluster() + ", node " + me.node() + " of cluster " + me.cluster(),
                   "Set the same node.cluster in both node files, or remove one node from node.peers of the other");
  if (you.protocol() < me.least_protocol() || you.least_protocol() > me.protocol())
    return refused(protocols_of(you) + ", " + protocols_of(me), "Upgrade the older one first: only neighbouring releases work together");
  if (const auto wrong = wrong_rest(you); !wrong.empty()) return senseless("node " + you.node() + ": " + wrong);
  if (you.node_id() == me.node_id()) {
    if (you.run_id() != me.run_id()) return copied_folder(you, me);
    hello_judgement out;
    out.verdict = hello_verdict::itself;
    return out;
  }
  if (you.shard_count() != 0 && known.shard_count != 0 && you.shard_count() != known.shard_count)
    return refused("node " + you.node() + " has a cluster with " + std::to_string(you.shard_count()) + " shards, node " + me.node() + " " +
                       std::to_string(known.shard_count),
                   "The number of shards of a cluster cannot change: correct shards.count in the node file");
  if (auto older = older_folder(you, known)) return *std::move(older);
  for (const auto& claim : you.shards()) {
    const auto latest = known.lineages.find(claim.shard());
    if (latest == known.lineages.end()) continue;
    const auto order = order_of(claim.lineage(), latest->second);
    if (order == lineage_order::earlier) return outlived(you.node(), claim, "was here before", latest->second);
    if (order == lineage_order::conflict)
      return refused("shard " + std::to_string(claim.shard()) + " of node " + you.node() + " is of another lineage (" +
                         to_text(claim.lineage()) + ") than the one that was here before (" + to_text(latest->second) +
                         "), and they began apart from each other",
                     "Decide which store to keep, and run " + command_to_keep(claim) + " on it while its node is stopped");
  }

  const v1::ShardClaim* gives_way = nullptr;
  if (auto judged = beside(you, me, gives_way); judged.verdict == hello_verdict::refuse) return judged;
  if (gives_way != nullptr) {
    auto out = outlived(me.node(), *claim_in(me, gives_way->shard()), "node " + you.node() + " holds", gives_way->lineage());
    out.later = *gives_way;
    return out;
  }
  std::vector<std::string> replaced;
  std::vector<std::string> let_go;
  for (const auto* other : known.connected) {
    if (other->node_id() != you.node_id()) {
      gives_way = nullptr;
      if (auto judged = beside(you, *other, gives_way); judged.verdict == hello_verdict::refuse) return judged;
      if (gives_way != nullptr) let_go.push_back(other->node());
    } else if (other->incarnation() == you.incarnation() && other->run_id() != you.run_id()) {
      return copied_folder(you, *other);
    } else if (other->run_id() != you.run_id()) {
      replaced.push_back(other->node());
    }
  }
  if (const auto former = known.names.find(you.node()); former != known.names.end() && former->second != you.node_id())
    return refused("another node named " + you.node() + " was there before, with another data folder; fairlead node forget " + you.node() +
                       " lets this one take its name",
                   "Do this if that folder is lost or not needed any more. Otherwise use the old data folder, or another node.name");
  hello_judgement out;
  out.verdict = hello_verdict::join;
  out.replaced = std::move(replaced);
  out.outlived = std::move(let_go);
  return out;
}

void learn(std::map<std::uint32_t, v1::Lineage>& known, const v1::ShardClaim& claim) {
  if (!is_set(claim.lineage())) return;
  auto& latest = known.try_emplace(claim.shard(), claim.lineage()).first->second;
  if (order_of(claim.lineage(), latest) == lineage_order::later) latest = claim.lineage();
}

duration reconnect_delay(duration first, duration longest, std::uint32_t failures, const std::string& seed) {
  return backoff_after(failures, first, longest, {hash_of(seed), 0, failures});
}

}  // namespace fairlead::core
