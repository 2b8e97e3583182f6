#include "app/node/identity.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <limits>

#include "app/node/data_file.hpp"
#include "messages/ids.hpp"
#include "store/directory.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t max_file_bytes = 4'096;

std::string checksum_of(const std::string& text) {
  std::uint64_t sum = 14695981039346656037ULL;  // FNV-1a: against damage, not against attackers
  for (const unsigned char c : text) sum = (sum ^ c) * 1099511628211ULL;
  char out[17] = {};
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(sum));
  return out;
}

std::string text_of(const std::string& node_id, std::uint64_t incarnation) {
  const auto body = "fairlead-node 1\nnode_id " + node_id + "\nincarnation " + std::to_string(incarnation) + "\n";
  return body + "checksum " + checksum_of(body) + "\n";
}

/// The text between `name` and the end of its line at `at`, which moves behind the line; empty if something else is there.
std::string line_at(const std::string& text, std::size_t& at, const std::string& name) {
  if (text.compare(at, name.size(), name) != 0) return "";
  const auto end = text.find('\n', at);
  if (end == std::string::npos) return "";
  auto out = text.substr(at + name.size(), end - at - name.size());
  at = end + 1;
  return out;
}

std::string holder_of(int fd) {
  char text[32] = {};
  const auto size = ::pread(fd, text, sizeof text - 1, 0);
  long pid = 0;
  if (size <= 0 || std::from_chars(text, text + size, pid).ec != std::errc{}) return "another process";
  return pid == ::getpid() ? "this process" : "process " + std::to_string(pid);
}

}  // namespace

result<std::unique_ptr<node_identity>> node_identity::open(const std::string& folder, moment now) {
  if (const auto there = store::prepare_directory(folder, false); !there.ok()) return there.failure();
  const auto lock_path = folder + "/node.lock";
  const int fd = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (fd < 0) return data_file_error("cannot open " + lock_path, errno);
  std::unique_ptr<node_identity> out{new node_identity{folder, fd}};
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return data_file_error("cannot lock " + lock_path, errno);
    return error{v1::ERROR_CODE_STORE_IN_USE, "the node's data folder " + folder + " is in use by " + holder_of(fd),
                 "Stop that process first, or set node.data to another folder"};
  }
  // Only for the sentence above: the lock itself decides who holds the folder.
  const auto pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) < 0) return data_file_error("cannot write " + lock_path, errno);
  if (const auto loaded = out->load(now); !loaded.ok()) return loaded.failure();
  return out;
}

node_identity::~node_identity() { ::close(lock_fd_); }

status node_identity::load(moment now) {
  const auto path = folder_ + "/node";
  auto read = read_data_file(path, max_file_bytes);
  if (!read) return read.failure();
  if (!*read) {
    node_id_ = make_uuid_v7(to_unix_ms(now));
    // A node of the same name may have lost its disk: others remember its incarnations. The node was started less than once a second, so
    // the time is above them.
    return save(static_cast<std::uint64_t>(std::max<std::int64_t>(to_unix_ms(now) / 1000, 0)));
  }
  const auto& text = **read;
  std::size_t at = 0;
  const auto format = line_at(text, at, "fairlead-node ");
  if (!format.empty() && format != "1")
    return error{v1::ERROR_CODE_STORE_NEWER, "the file " + path + " was written by a newer release", "Start that release or a later one"};
  node_id_ = line_at(text, at, "node_id ");
  const auto number = line_at(text, at, "incarnation ");
  const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), incarnation_);
  const bool sound = format == "1" && !node_id_.empty() && failure == std::errc{} && end == number.data() + number.size() &&
                     text == text_of(node_id_, incarnation_);
  if (sound) return nothing{};
  return error{
      v1::ERROR_CODE_CORRUPT, "the file " + path + ", the identity of this node, is damaged",
      "Stop the node and remove the file. Run fairlead node forget NAME, so that the node can use its name with a new id, and start it"};
}

status node_identity::save(std::uint64_t incarnation) {
  if (auto saved = replace_data_file(folder_ + "/node", text_of(node_id_, incarnation)); !saved.ok()) return saved;
  incarnation_ = incarnation;
  return nothing{};
}

result<std::uint64_t> node_identity::next_incarnation() {
  const std::lock_guard lock{guard_};
  if (incarnation_ == std::numeric_limits<std::uint64_t>::max())
    return error{v1::ERROR_CODE_CORRUPT, "the node's incarnations are used up", "Change node.name and use an empty data folder"};
  const auto next = incarnation_ + 1;
  if (const auto saved = save(next); !saved.ok()) return saved.failure();
  return next;
}

status node_identity::at_least(std::uint64_t least) {
  const std::lock_guard lock{guard_};
  return least <= incarnation_ ? status{nothing{}} : save(least);
}

}  // namespace fairlead::app
