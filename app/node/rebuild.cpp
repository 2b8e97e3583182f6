#include "app/node/rebuild.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "actors/client/client.hpp"
#include "app/node/replicas.hpp"
#include "app/process/write_all.hpp"
#include "store/directory.hpp"
#include "store/disk/set_aside.hpp"

namespace fairlead::app {

namespace {

/// A store that is damaged again so soon has a disk that damages it.
constexpr std::chrono::hours least_between{1};
constexpr duration answer_within{10'000};
constexpr duration ask_again_after{200};

/// A configuration made without a file may lack a data path.
std::string file_in(const node_config& config, const char* name) {
  return (config.data_path.empty() ? config.store_path : config.data_path) + "/" + name;
}

std::string text_in(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

status sync_folder_of(const std::string& path) { return store::sync_directory(std::filesystem::path(path).parent_path().string()); }

/// Durable on return, as a whole or not at all.
status write_durably(const std::string& path, const std::string& text) {
  const auto fresh = path + ".new";
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
  const bool written = fd >= 0 && write_all(fd, text) && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  if (!written || ::rename(fresh.c_str(), path.c_str()) != 0)
    return error{v1::ERROR_CODE_DISK, "The file " + path + " cannot be written.", "Check the disk and the permissions there."};
  return sync_folder_of(path);
}

std::set<std::string> inodes_of(const node_config& config) {
  std::set<std::string> out;
  for (const auto number : config.shards_here) {
    struct stat found {};
    if (::stat((shard_store_path(config, number) + "/data.mdb").c_str(), &found) == 0) out.insert(std::to_string(found.st_ino));
  }
  return out;
}

std::set<std::string> others_of(const node_config& config) {
  std::set<std::string> out;
  std::istringstream lines(text_in(file_in(config, "others")));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) out.insert(line);
  return out;
}

error prevented(const error& why, const std::string& by) {
  auto sentence = why.sentence;
  if (!sentence.ends_with('.')) sentence += '.';
  return {why.code, sentence + " The node did not set its stores aside and get the shards from other nodes: " + by, why.remedy};
}

/// By shard, the nodes that hold it. Error: a shard may need the store of this node.
result<std::map<std::uint32_t, v1::ShardNodes>> nodes_that_go_on(const node_config& config) {
  auto addresses = others_of(config);
  for (const auto& peer : config.peers) addresses.insert(peer);
  if (addresses.empty()) return error{v1::ERROR_CODE_NOT_FOUND, "it knows no other node that holds them.", ""};
  client_options options;
  options.nodes.assign(addresses.begin(), addresses.end());
  options.request_timeout = answer_within;
  options.connect_timeout = answer_within;  // after a power cut of all, they start as well
  auto to = client::connect(options);
  if (!to) return to.failure();
  std::map<std::uint32_t, v1::ShardNodes> out;
  for (const auto number : config.shards_here) {
    v1::ShardNodesRequest what;
    what.set_shard(number);
    what.set_verb(v1::ShardNodesRequest::LEAVE);
    what.set_only_ask(true);
    what.mutable_node()->set_name(config.name);
    what.set_who("node " + config.name);
    const auto until = std::chrono::steady_clock::now() + answer_within;
    auto reply = to->change_nodes(what);
    // The leader may have been elected just now, and not have heard of the others yet.
    while (!reply && reply.failure().code == v1::ERROR_CODE_WRONG_STATE && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(ask_again_after);
      reply = to->change_nodes(what);
    }
    if (!reply) return reply.failure();
    for (const auto& one : reply->nodes().nodes())
      if (one.name() == config.name && one.leaves())
        return error{v1::ERROR_CODE_WRONG_STATE, "shard " + std::to_string(number) + " is taken away from it.", ""};
    out[number] = std::move(*reply->mutable_nodes());
  }
  return out;
}

status set_aside(const node_config& config) {
  if (auto aside = store::set_journal_aside(config.journal_path); !aside) return aside;
  for (const auto number : config.shards_here)
    if (auto aside = store::set_store_aside(shard_store_path(config, number)); !aside) return aside;
  return nothing{};
}

}  // namespace

void note_others(const node_config& config, const v1::ShardNodes& nodes) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock{one_at_a_time};
  const auto before = others_of(config);
  auto all = before;
  for (const auto& one : nodes.nodes())
    if (!one.address().empty() && one.name() != config.name) all.insert(one.address());
  if (all == before) return;
  std::string text;
  for (const auto& one : all) text += one + "\n";
  (void)write_durably(file_in(config, "others"), text);
}

void note_damage(const node_config& config, const error& why) {
  std::string text;
  for (const auto& inode : inodes_of(config)) text += (text.empty() ? "" : " ") + inode;
  (void)write_durably(file_in(config, "damaged"), text + "\n" + why.sentence + "\n" + why.remedy + "\n");
}

std::optional<error> noted_damage(const node_config& config) {
  const auto error_in = [](const std::string& text, std::string& inodes) {
    std::istringstream lines(text);
    error out{v1::ERROR_CODE_CORRUPT, "", ""};
    std::getline(lines, inodes);
    std::getline(lines, out.sentence);
    std::getline(lines, out.remedy);
    return out;
  };
  std::string inodes;
  if (const auto text = text_in(file_in(config, "rebuilding")); !text.empty()) return error_in(text, inodes);
  const auto text = text_in(file_in(config, "damaged"));
  if (text.empty()) return std::nullopt;
  auto out = error_in(text, inodes);
  const auto now = inodes_of(config);
  std::istringstream noted(inodes);
  for (std::string one; noted >> one;)
    if (now.count(one) != 0) return out;
  (void)::unlink(file_in(config, "damaged").c_str());
  return std::nullopt;
}

status rebuild_stores(const node_config& config, const error& why) {
  const auto noted = file_in(config, "damaged");
  const auto begun = file_in(config, "rebuilding");
  const bool goes_on = !text_in(begun).empty();
  const auto nodes = nodes_that_go_on(config);
  if (!nodes) return prevented(why, nodes.failure().sentence);
  if (!goes_on) {
    for (const auto number : config.shards_here) {
      const auto directory = shard_store_path(config, number);
      const auto before = store::was_set_aside_at(directory);
      if (before && std::filesystem::file_time_type::clock::now() - *before < least_between)
        return prevented(why, "it did so less than an hour ago. Look at the disk, and remove " + store::set_aside_in(directory) + ".");
    }
    for (const auto number : config.shards_here)
      if (auto gone = store::forget_set_aside(shard_store_path(config, number)); !gone) return prevented(why, gone.failure().sentence);
    note_damage(config, why);
    // Durable before anything is moved: else a store that is made anew would pass for one that somebody has put there.
    if (::rename(noted.c_str(), begun.c_str()) != 0 || !sync_folder_of(begun))
      return prevented(why, "the file " + begun + " cannot be written.");
  }
  if (auto aside = set_aside(config); !aside) return prevented(why, aside.failure().sentence);
  if (auto made = be_empty_replicas(config, *nodes); !made) return prevented(why, made.failure().sentence);
  // Should it come back, the node does so once more.
  (void)::unlink(begun.c_str());
  return sync_folder_of(begun);
}

}  // namespace fairlead::app
