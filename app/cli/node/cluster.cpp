#include "app/cli/node/cluster.hpp"

#include <map>
#include <set>

#include "actors/core/cluster/state_comparison.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/node/journal_text.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "app/json/node/cluster.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

std::string names_of(const std::vector<std::string>& nodes) {
  std::string out;
  for (const auto& one : nodes) out += (out.empty() ? "" : ", ") + printable(one);
  return out;
}

std::string comparison_text(const v1::ShardStatus& shard) {
  const auto& what = shard.replication().comparison();
  if (what.ended_at_unix_ms() == 0) return "";
  std::vector<std::string> same, unknown;
  std::string differ;
  for (const auto& one : what.replicas()) {
    if (one.differs())
      differ += "Shard " + std::to_string(shard.shard()) + ": node " + printable(one.node()) + ": " +
                core::difference_of(what, one.replica()) + ".\n";
    else
      (one.answered() ? same : unknown).push_back(one.node());
  }
  auto out = "Shard " + std::to_string(shard.shard()) + ": " + (same.empty() ? "no node" : names_of(same)) +
             (same.size() == 1 ? " has told its state" : " have the same state") + ", as of entry " + std::to_string(what.index()) + ", " +
             time_text(what.ended_at_unix_ms()) + ".";
  if (!unknown.empty()) out += " Not compared: " + names_of(unknown) + ".";
  return out + "\n" + differ;
}

namespace {

/// A leader hears of a replica ten times a second.
constexpr std::int64_t silent_ms = 2'000;

std::string nodes_word(std::uint64_t count) { return count == 1 ? "1 more node" : std::to_string(count) + " more nodes"; }

std::string aside_of(const std::string& shard, const std::string& node, const std::string& why) {
  return shard + ": the replica on " + printable(node) + " takes no part, because " + printable(why) + ".";
}

/// ` Its nodes are n1, n2 and n3. n2 is not connected with n1 and n3: …`, for a shard that nobody leads.
std::string nodes_of(const v1::ReplicationStatus& known, const v1::StatusReply& reply) {
  std::string all, away;
  for (const auto& name : known.nodes()) {
    all += (all.empty() ? " Its nodes are " : ", ") + printable(name);
    const auto is_it = [&](const auto& peer) { return peer.node() == name && peer.connected(); };
    if (name != reply.node() && std::none_of(reply.peers().begin(), reply.peers().end(), is_it))
      away += (away.empty() ? "" : ", ") + printable(name);
  }
  if (all.empty()) return all;
  return all + "." + (away.empty() ? "" : " Node " + printable(reply.node()) + " is not connected with " + away + ".");
}

/// `Shard 0 survives the loss of 1 more node. n2 leads it.`
std::string sentence_of(const v1::ShardStatus& shard, const v1::StatusReply& reply) {
  const auto name = "Shard " + std::to_string(shard.shard());
  if (!shard.has_replication())
    return shard.node().empty() ? name + " is on no connected node." : name + " lives on node " + printable(shard.node()) + " alone.";
  const auto& known = shard.replication();
  if (known.role() == "new") return name + " has not begun: not all nodes that hold it have met." + nodes_of(known, reply);
  if (known.role() == "leader")
    return name + " survives the loss of " + (known.may_lose() == 0 ? "no more node" : nodes_word(known.may_lose())) + ". " +
           printable(known.leader()) + " leads it, in term " + std::to_string(known.term()) + ", and heard of a majority " +
           format_duration(known.contact_ms_ago()) + " ago.";
  if (!known.trouble().empty()) return aside_of(name, known.node(), known.trouble());
  const auto heard = known.contact_ms_ago() < 0 ? std::string{" has heard of no leader"}
                                                : " last heard of a leader " + format_duration(known.contact_ms_ago()) + " ago";
  if (known.leader().empty())
    return name + " has no leader. " + printable(known.node()) + heard + ", in term " + std::to_string(known.term()) + "." +
           nodes_of(known, reply);
  return name + " is led by " + printable(known.leader()) + ", which does not answer. " + printable(known.node()) + heard + ".";
}

/// `Releases differ: n1 has 0.1.0, n2 has 0.2.0.`, as in the middle of an upgrade; empty: they do not.
std::string releases_of(const v1::ShardStatus& shard, const v1::StatusReply& reply) {
  std::set<std::string> releases;
  std::string out;
  for (const auto& node : shard.replication().nodes()) {
    const auto release = release_of(node, reply);
    if (release.empty()) continue;
    releases.insert(release);
    out += (out.empty() ? "" : ", ") + printable(node) + " has " + printable(release);
  }
  return releases.size() > 1 ? "Releases differ: " + out + ".\n" : "";
}

/// What keeps the journals of the nodes that lead from having free files.
std::string journals_of(const v1::StatusReply& reply) {
  std::map<std::string, std::string> by_node;
  for (const auto& shard : reply.shards())
    if (const auto& journal = shard.store().journal(); is_kept_long(journal))
      by_node[shard.node()] = "The journal of " + printable(shard.node()) + " has " + journal_files_text(journal) +
                              ", whose entries are not in its tables yet or are kept for other nodes.\n";
  std::string out;
  for (const auto& [node, sentence] : by_node) out += sentence;
  return out;
}

/// Why a replica that is not at the leader's heels is not; empty: it is, or it will be.
std::string why_of(const v1::ReplicaStatus& one, const v1::StatusReply& reply) {
  if (one.leaves()) return "the shard is taken away from it";
  if (!one.trouble().empty()) return one.trouble();
  // What the leader hears of it counts before what the node that was asked knows.
  const bool is_heard = one.heard_ms_ago() >= 0 && one.heard_ms_ago() < silent_ms;
  for (const auto& peer : reply.peers())
    if (!is_heard && peer.node() == one.node() && !peer.connected()) return peer.reason().empty() ? "not connected" : peer.reason();
  if (one.copy_bytes() != 0)
    return "gets a copy of the state: " + bytes_text(one.copied_bytes()) + " of " + bytes_text(one.copy_bytes()) + " so far";
  if (one.needs_copy()) return "waits for a copy of the state";
  if (one.votes()) return "";
  if (one.stands_by()) return "stands by: another vote would make the shard no safer";
  return one.heard_ms_ago() < 0 || one.behind_ms() > 0
             ? "its store is new here, and does not vote before it has caught up"
             : "it has caught up, and votes once its former store has been silent for 10 s, or another new node has caught up";
}

}  // namespace

std::string cluster_text(const v1::StatusReply& reply) {
  std::string out =
      reply.cluster().empty() ? "" : "cluster " + printable(reply.cluster()) + ", as node " + printable(reply.node()) + " says\n\n";
  text_table replicas{{{"SHARD", align::right},
                       {"NODE"},
                       {"ROLE"},
                       {"ENTRIES BEHIND", align::right},
                       {"BYTES", align::right, narrow::drop},
                       {"BEHIND FOR", align::right},
                       {"HEARD", align::right},
                       {"WHY", align::left, narrow::below}}};
  bool any = false;
  for (const auto& shard : reply.shards()) {
    out += sentence_of(shard, reply) + "\n" + releases_of(shard, reply);
    const auto& known = shard.replication();
    if (!shard.aside().empty() && known.trouble().empty())
      out += aside_of("Shard " + std::to_string(shard.shard()), reply.node(), shard.aside()) + "\n";
    out += comparison_text(shard);
    const auto number = std::to_string(shard.shard());
    if (known.role() != "leader") continue;
    any = true;
    replicas.add({number, printable(known.leader()), "leader", "0", "", "", "", ""});
    for (const auto& one : known.others()) {
      const auto answered = one.heard_ms_ago() >= 0;
      replicas.add({number, one.node().empty() ? "not met yet" : printable(one.node()), one.votes() ? "follower" : "standby",
                    answered ? std::to_string(one.behind_entries()) : "?", one.behind_bytes() == 0 ? "" : bytes_text(one.behind_bytes()),
                    one.behind_ms() == 0 ? "" : format_duration(one.behind_ms()),
                    answered ? format_duration(one.heard_ms_ago()) + " ago" : "not yet", printable(shortened(why_of(one, reply), 120))});
    }
  }
  out += journals_of(reply);
  if (reply.shards().empty()) return out + "No shards: no node with a shard is connected.\n";
  return any ? out + "\n" + replicas.text() : out;
}

void add_cluster_commands(CLI::App& app, cli_context& context) {
  auto* group = app.add_subcommand(
      "cluster", "Look at the nodes that hold a shard together, add and remove nodes, and recover a shard that has lost most of them");
  group->require_subcommand(1);
  auto* command = group->add_subcommand("status", "Show what each shard survives, who leads it, and how far its replicas are");
  add_client_options(*command, context);
  command->callback([&context] {
    run_request(
        context, [](client& to) { return to.status_of_node({}); }, cluster_json, cluster_text);
  });
  add_compare_command(*group, context);
  add_recover_command(*group, context);
  add_member_commands(*group, context);
}

}  // namespace fairlead::app
