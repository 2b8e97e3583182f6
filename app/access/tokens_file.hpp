#pragma once
// The file of tokens, `access.tokens_file` of the node file: YAML that `fairlead token` writes, a token a line. It holds hashes, never tokens.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/yaml/document.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

struct token_entry {
  std::string id;
  std::string name;  // of whoever has it; histories and logs show it. Several tokens may have the same name
  std::string hash;
  std::vector<std::string> roles;
  std::int64_t created_unix_ms = 0;
  std::string created_by;
  std::int64_t expires_unix_ms = 0;  // 0: never
  std::int64_t revoked_unix_ms = 0;  // 0: it is not
  std::string revoked_by;
  std::string comment;
  std::vector<std::string> namespaces{"default"};    // never empty
  std::optional<std::vector<std::string>> agents{};  // whose workers it may be; nullopt: of all
};

struct tokens_file {
  std::vector<token_entry> tokens;  // in the order of the file
  std::vector<problem> problems;
};

/// Of one token.
inline constexpr std::size_t most_token_namespaces = 16;
inline constexpr std::size_t most_token_agents = 64;

/// `path` names the file in problems.
tokens_file parse_tokens(const std::string& path, const std::string& text);
std::string tokens_text(const std::vector<token_entry>& tokens);

/// What is in the file. Error: invalid_argument; it cannot be read, is open to everybody, or has a problem, with its line.
result<std::vector<token_entry>> read_tokens(const std::string& path);

/// Changes the file as a whole, durably, or not at all; no other change is lost. Owner, group and mode stay. A missing file is made, readable for its owner
/// and group; root gives it the group of its folder. `change` gives an error to leave the file as it is.
status change_tokens(const std::string& path, const std::function<status(std::vector<token_entry>&)>& change);

}  // namespace fairlead::app
