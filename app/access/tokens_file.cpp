#include "app/access/tokens_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "actors/agents/secrets/file.hpp"
#include "actors/core/workflow/check.hpp"
#include "actors/protocol/access.hpp"
#include "app/json/writer.hpp"
#include "app/process/write_all.hpp"
#include "app/yaml/reader.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t most_comment_bytes = 256;
constexpr std::size_t id_bytes = 12;
constexpr std::size_t hash_digits = 64;

void read_moment(yaml_section& section, const std::string& key, std::int64_t& out) {
  const auto node = section.find(key);
  const auto text = node ? node->text() : std::nullopt;
  if (text && !parse_utc(*text, out)) node->expected("a moment, such as 2026-11-24T09:00:00Z");
}

/// Files of earlier releases have none.
std::vector<std::string> read_token_namespaces(yaml_section& section) {
  const auto list = section.find("namespaces");
  if (!list) return {std::string{default_namespace_word}};
  std::vector<std::string> out;
  for (const auto& one : list->items()) {
    const auto word = one.text();
    if (word && !is_namespace_name(*word))
      one.expected("a namespace: 1 to 64 of a-z 0-9 . _ -, a letter or a digit first");
    else if (word)
      out.push_back(*word);
  }
  if (out.size() > most_token_namespaces) list->complain("the token has more than 16 namespaces", "remove some");
  if (list->is_list() && out.empty()) list->complain("the token has no namespace", "leave the key out: the namespace is default then");
  return out;
}

std::optional<std::vector<std::string>> read_token_agents(yaml_section& section) {
  const auto list = section.find("agents");
  if (!list) return std::nullopt;
  std::vector<std::string> out;
  for (const auto& one : list->items()) {
    const auto word = one.text();
    if (word && !core::valid_agent_name(*word))
      one.expected("the name of an agent");
    else if (word)
      out.push_back(*word);
  }
  if (out.size() > most_token_agents) list->complain("the token has more than 64 agents", "remove some");
  if (list->is_list() && out.empty()) list->complain("the token has no agent", "leave the key out: the token is for all agents then");
  return out;
}

token_entry read_token(const yaml_node& node) {
  token_entry out;
  yaml_section section{node};
  const auto text = [&](const char* key, const char* what, std::string& to, auto is_sound) {
    const auto found = section.require(key, what);
    const auto given = found ? found->text() : std::nullopt;
    if (!given) return;
    is_sound(*given) ? void(to = *given) : found->expected(what);
  };
  const auto only = [](std::string_view letters, std::size_t size) {
    return [=](const std::string& given) { return given.size() == size && given.find_first_not_of(letters) == std::string::npos; };
  };
  text("id", "the id of a token", out.id, only("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", id_bytes));
  text("name", "a name of A-Z a-z 0-9 . _ @ -, at most 64 in all", out.name, &is_principal_name);
  text("sha256", "64 hexadecimal digits", out.hash, only("0123456789abcdef", hash_digits));
  if (const auto list = section.require("roles", "a list of roles")) {
    for (const auto& one : list->items()) {
      const auto word = one.text();
      if (word && find_role(*word) == nullptr)
        one.complain("there is no role '" + *word + "'", "roles are " + role_words());
      else if (word)
        out.roles.push_back(*word);
    }
    if (list->is_list() && out.roles.empty()) list->complain("the token has no role", "roles are " + role_words());
  }
  out.namespaces = read_token_namespaces(section);
  out.agents = read_token_agents(section);
  read_moment(section, "created_at", out.created_unix_ms);
  read_moment(section, "expires_at", out.expires_unix_ms);
  read_moment(section, "revoked_at", out.revoked_unix_ms);
  section.text("created_by", out.created_by);
  section.text("revoked_by", out.revoked_by);
  section.text("comment", out.comment);
  if (out.comment.size() > most_comment_bytes) node.complain("the comment has more than 256 bytes", "shorten it");
  section.finish();
  return out;
}

error refused_by_system(const std::string& what, int code) {
  return invalid(what + ": " + std::strerror(code), "give the user who runs this command the permission to write there");
}

/// Held while the file is read, changed and replaced.
class folder_lock {
 public:
  explicit folder_lock(const std::string& folder) : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_ < 0 || ::flock(fd_, LOCK_EX) != 0) code_ = errno;
  }
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;
  ~folder_lock() {
    if (fd_ >= 0) ::close(fd_);
  }
  int code() const { return code_; }
  bool sync() const { return ::fsync(fd_) == 0; }

 private:
  int fd_;
  int code_ = 0;
};

/// Under a name of its own, with the owner and mode of the file that it will replace.
status write_beside(const std::string& path, const std::string& fresh, const std::string& text) {
  struct stat before {};
  const bool was_there = ::stat(path.c_str(), &before) == 0;
  struct stat of_folder {};
  if (::stat(std::filesystem::path{path}.parent_path().c_str(), &of_folder) != 0)
    return refused_by_system("the folder of " + path + " is gone", errno);
  ::unlink(fresh.c_str());
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  if (fd < 0) return refused_by_system("the file " + fresh + " cannot be made", errno);
  // The service may run as another user than whoever gives out tokens, and reads the file by its group. Only root can give files away.
  const bool is_root = ::geteuid() == 0;
  bool good = was_there ? ::fchown(fd, is_root ? before.st_uid : static_cast<uid_t>(-1), before.st_gid) == 0
                        : !is_root || ::fchown(fd, static_cast<uid_t>(-1), of_folder.st_gid) == 0;
  good = good && ::fchmod(fd, was_there ? before.st_mode & 0770U : 0640U) == 0;
  good = good && write_all(fd, text) && ::fsync(fd) == 0;
  const int code = errno;
  ::close(fd);
  if (good) return nothing{};
  ::unlink(fresh.c_str());
  return refused_by_system("the file " + fresh + " cannot be written", code);
}

}  // namespace

tokens_file parse_tokens(const std::string& path, const std::string& text) {
  tokens_file out;
  auto document = parse_yaml(path, text);
  if (document.root) {
    const auto root = yaml_node::root(document);
    if (!root.is_map()) {
      root.expected("a map with the key tokens");
    } else {
      yaml_section section{root};
      std::set<std::string> ids;
      if (const auto list = section.require("tokens", "a list of tokens"))
        for (const auto& node : list->items()) {
          auto one = read_token(node);
          if (!one.id.empty() && !ids.insert(one.id).second) node.complain("the id " + one.id + " is there twice", "remove one of the two");
          out.tokens.push_back(std::move(one));
        }
      section.finish();
    }
  }
  out.problems = std::move(document.problems);
  return out;
}

std::string tokens_text(const std::vector<token_entry>& tokens) {
  std::string out =
      "# The tokens of the API. `fairlead token` writes this file. It holds hashes: a token is shown once, when it is made.\n";
  out += tokens.empty() ? "tokens: []\n" : "tokens:\n";
  for (const auto& one : tokens) {
    json_writer row;
    row.begin_object().key("id").string(one.id).key("name").string(one.name).key("roles").begin_array();
    for (const auto& word : one.roles) row.string(word);
    row.end_array();
    // Nodes of an earlier release refuse the key, and know the default.
    if (one.namespaces != token_entry{}.namespaces) {
      row.key("namespaces").begin_array();
      for (const auto& name : one.namespaces) row.string(name);
      row.end_array();
    }
    if (one.agents) {
      row.key("agents").begin_array();
      for (const auto& name : *one.agents) row.string(name);
      row.end_array();
    }
    const auto moment = [&](const char* key, std::int64_t at) {
      if (at != 0) row.key(key).moment(at);
    };
    const auto text = [&](const char* key, const std::string& what) {
      if (!what.empty()) row.key(key).string(what);
    };
    moment("expires_at", one.expires_unix_ms);
    moment("revoked_at", one.revoked_unix_ms);
    text("revoked_by", one.revoked_by);
    moment("created_at", one.created_unix_ms);
    text("created_by", one.created_by);
    text("comment", one.comment);
    out += "  - " + row.key("sha256").string(one.hash).end_object().text() + "\n";
  }
  return out;
}

result<std::vector<token_entry>> read_tokens(const std::string& path) {
  agents::secret_file_mark mark;
  const auto text = agents::read_private_file(path, max_yaml_bytes, mark);
  if (!text) return text.failure();
  auto read = parse_tokens(path, *text);
  if (!read.problems.empty())
    return invalid(to_text(read.problems.front()), "correct the file, or make another one: fairlead token create");
  return std::move(read.tokens);
}

status change_tokens(const std::string& given, const std::function<status(std::vector<token_entry>&)>& change) {
  // A link stays one: what it leads to is replaced.
  std::error_code failed;
  const auto path = std::filesystem::weakly_canonical(std::filesystem::absolute(given), failed).string();
  if (failed) return refused_by_system("the path " + given + " cannot be followed", failed.value());
  const auto folder = std::filesystem::path{path}.parent_path().string();
  const folder_lock lock{folder};
  if (lock.code() != 0) return refused_by_system("the folder " + folder + " cannot be used", lock.code());
  std::vector<token_entry> tokens;
  if (::access(path.c_str(), F_OK) == 0) {
    auto read = read_tokens(path);
    if (!read) return read.failure();
    tokens = std::move(*read);
  }
  if (auto changed = change(tokens); !changed.ok()) return changed;
  const auto text = tokens_text(tokens);
  if (text.size() > max_yaml_bytes) return invalid("the file " + path + " would have more than 1 MiB", "remove revoked tokens from it");
  const auto fresh = path + ".new";
  if (auto written = write_beside(path, fresh, text); !written.ok()) return written;
  if (::rename(fresh.c_str(), path.c_str()) != 0 || !lock.sync())
    return refused_by_system("the file " + path + " cannot be replaced", errno);
  return nothing{};
}

}  // namespace fairlead::app
