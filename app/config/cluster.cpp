// The node's place in a cluster: cluster name, peers, own shards, and who may reach the node.

#include <algorithm>
#include <filesystem>

#include "actors/core/cluster/hello.hpp"
#include "app/config/parts.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t max_peers = 256;

void read_peers(const yaml_node& node, node_config& out) {
  const auto items = node.items();
  if (items.size() > max_peers)
    node.complain("more than 256 peers", "list only some of the other nodes: a node also accepts nodes that connect to it");
  std::vector<listen_address> known;
  for (const auto& item : items) {
    const auto text = item.text();
    if (!text) continue;
    const auto address = parse_address(*text);
    if (!address || address->port == 0) {
      item.expected("HOST:PORT of another node, such as 127.0.0.1:7101");
      continue;
    }
    if (same_place(*address, out.listen)) {
      item.complain("this is the node's own address (node.listen)", "list only other nodes");
      continue;
    }
    if (std::any_of(known.begin(), known.end(), [&](const listen_address& other) { return same_place(other, *address); })) {
      item.complain("this peer is listed twice", "remove one of them");
      continue;
    }
    known.push_back(*address);
    out.peers.push_back(*text);
  }
}

void read_shards_here(const yaml_node& node, node_config& out) {
  out.shards_here.clear();
  const auto items = node.items();
  if (!node.is_list()) return;
  if (items.empty())
    node.complain("a node with the role shard needs at least one shard", "list its shards, such as [0], or remove the role");
  for (const auto& item : items) {
    const auto shard = item.integer(0, std::int64_t{out.shard_count} - 1);
    if (!shard) continue;
    const auto number = static_cast<std::uint32_t>(*shard);
    if (std::find(out.shards_here.begin(), out.shards_here.end(), number) != out.shards_here.end()) {
      item.complain("this shard is listed twice", "remove one of them");
      continue;
    }
    out.shards_here.push_back(number);
  }
  std::sort(out.shards_here.begin(), out.shards_here.end());
}

constexpr std::size_t least_replicas = 3;
constexpr std::size_t most_replicas = 5;

void read_replicas(yaml_section& section, node_config& out) {
  const auto node = section.find("replicas");
  section.duration_ms("election_timeout", out.election_ms, 100, 60'000);
  section.duration_ms("heartbeat", out.heartbeat_ms, 10, 6'000);
  if (!node) return;
  const auto items = node->items();
  if (!node->is_list()) return;
  if (items.size() != least_replicas && items.size() != most_replicas)
    node->complain("a replicated shard lives on 3 or 5 nodes; this list has " + std::to_string(items.size()),
                   "name 3 or 5 nodes, this one among them");
  for (const auto& item : items) {
    const auto text = item.text();
    if (!text) continue;
    if (!core::valid_agent_name(*text)) {
      item.complain("expected the name of a node (node.name)");
    } else if (std::find(out.shard_nodes.begin(), out.shard_nodes.end(), *text) != out.shard_nodes.end()) {
      item.complain("this node is listed twice", "remove one of them");
    } else {
      out.shard_nodes.push_back(*text);
    }
  }
  std::sort(out.shard_nodes.begin(), out.shard_nodes.end());
  if (!std::binary_search(out.shard_nodes.begin(), out.shard_nodes.end(), out.name))
    node->complain("this node, " + out.name + ", is not in the list",
                   "name all nodes that hold the shards of shards.here, this one among them");
  if (3 * out.heartbeat_ms > out.election_ms)
    section.node()
        .child("election_timeout")
        .complain("it is shorter than three times shards.heartbeat", "give the heartbeat a tenth of it");
}

}  // namespace

void read_membership(yaml_section& section, node_config& out) {
  if (const auto cluster = section.find("cluster")) {
    if (const auto text = cluster->text()) {
      out.cluster = *text;
      if (!core::valid_agent_name(*text)) cluster->complain("expected a letter, then letters, digits, _, . and -; at most 64 in all");
    }
  }
  if (const auto peers = section.find("peers")) read_peers(*peers, out);
  if (section.text("data", out.data_path)) out.data_path = beside(out.file, out.data_path);
}

void read_shards(yaml_section& root, node_config& out) {
  if (!out.shard_role) out.shards_here.clear();
  const auto node = root.find("shards");
  if (!node) return;
  if (!out.shard_role) {
    node->complain("a node without the role shard has no shards, and gets the number of shards from the other nodes",
                   "remove this key, or add the role shard");
    return;
  }
  yaml_section section{*node};
  section.integer("count", out.shard_count, 1, core::max_shards);
  if (const auto here = section.find("here")) {
    read_shards_here(*here, out);
  } else if (out.shard_count > 1 && node->is_map()) {
    // Never a guess: two nodes that both take all shards would be in conflict.
    section.node().child("here").complain("this key is missing; expected the list of this node's shards, such as [0]");
  }
  read_replicas(section, out);
  section.finish();
}

void read_http_port(yaml_section& root, node_config& out) {
  const auto node = root.find("http");
  if (!node) return;
  yaml_section section{*node};
  if (const auto listen = section.require("listen", "HOST:PORT, such as 127.0.0.1:7180")) {
    if (const auto text = listen->text()) {
      const auto address = parse_address(*text);
      if (!address) {
        listen->expected("HOST:PORT, such as 127.0.0.1:7180");
      } else if (address->port != 0 && same_place(*address, out.listen)) {
        listen->complain("the node itself listens on this address (node.listen)", "choose another port");
      } else if (!is_loopback(address->host) && !out.trusted_network) {
        listen->complain("this address can be reached from other machines, and the port shows its pages to everybody who can reach it",
                         "listen on 127.0.0.1, or add trusted_network: true under node if only trusted machines are in the network");
      } else {
        out.http = *address;
      }
    }
  }
  section.finish();
}

void settle_data_path(yaml_section& root, node_config& out) {
  if (!out.data_path.empty()) return;
  out.data_path = out.store_path;
  if (!out.data_path.empty() || out.shard_role || !out.agent_role) return;  // a missing store path has been reported by then
  if (const auto node = root.find("node"); node && node->is_map())
    node->child("data").complain("this key is missing; a node without a store needs a folder for its identity");
}

std::string beside(const std::string& file, const std::string& path) {
  const std::filesystem::path given{path};
  if (given.is_absolute()) return given.lexically_normal().string();
  return (std::filesystem::path{file}.parent_path() / given).lexically_normal().string();
}

std::string shard_store_path(const node_config& config, std::uint32_t shard) {
  if (config.shard_count <= 1) return config.store_path;
  return config.store_path + "/shard-" + std::to_string(shard);
}

std::string trust_warning(const node_config& config) {
  std::string where;
  if (!is_loopback(config.listen.host)) where = "port " + config.listen.host + ":" + std::to_string(config.listen.port);
  if (config.http && !is_loopback(config.http->host))
    where += (where.empty() ? "port " : " and ") + config.http->host + ":" + std::to_string(config.http->port);
  if (where.empty()) return "";
  return "trusted_network: " + where +
         " can be reached from other machines. Everybody who can reach the port can submit, read, change and undo tasks, act as an agent "
         "or a node, and end this process. Nothing is encrypted. Protect the port with a firewall or a separate network";
}

}  // namespace fairlead::app
