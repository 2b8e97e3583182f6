#pragma once
// Who may do what: roles, the rights that they give, and whoever asks. The right that a request needs is in its row (requests.hpp). Pure.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead {

enum class right : std::uint32_t {
  look = 1U << 0,           // at workflows, jobs, agents, alerts and nodes
  see_own_tasks = 1U << 1,  // that were submitted under the same name, with their payloads
  see_tasks = 1U << 2,      // of everybody, without payloads
  payloads = 1U << 3,       // of everybody's tasks: inputs, outputs and checkpoints
  submit = 1U << 4,
  act = 1U << 5,         // on tasks, jobs, alerts, agents and the brake, as operators do
  deploy = 1U << 6,      // workflows and jobs: create, change and delete
  administer = 1U << 7,  // nodes and shards
  webhooks = 1U << 8,    // have the node send status events to a URL of its choice
  work = 1U << 9,        // as a worker over HTTP: take attempts of its agents and report them
  vouch = 1U << 10,      // for the death of a worker that was heard lately
};

class right_set {
 public:
  constexpr right_set() = default;
  constexpr right_set(std::initializer_list<right> all) {
    for (const auto one : all) bits_ |= static_cast<std::uint32_t>(one);
  }
  static constexpr right_set all() {
    return {right::look,   right::see_own_tasks, right::see_tasks, right::payloads, right::submit, right::act,
            right::deploy, right::administer,    right::webhooks,  right::work,     right::vouch};
  }
  constexpr bool has(right one) const { return (bits_ & static_cast<std::uint32_t>(one)) != 0; }
  constexpr void add(right_set more) { bits_ |= more.bits_; }
  constexpr bool operator==(const right_set&) const = default;

 private:
  std::uint32_t bits_ = 0;
};

struct right_word {
  right one;
  std::string_view word;     // `see_own_tasks`
  std::string_view meaning;  // behind "may not": "act on nodes or read the audit"
};
/// Every right, in the order above.
const std::vector<right_word>& right_words();

struct role {
  std::string_view word;
  right_set rights;
};
/// Roles, and rights that may be given besides.
const std::vector<role>& roles();
/// `viewer, client, …`
std::string role_words();
/// nullptr: there is no such role.
const role* find_role(std::string_view word);

/// The name of whoever has a token or a certificate: 1 to 64 of A-Z a-z 0-9 . _ @ -
bool is_principal_name(std::string_view name);

/// The only namespace that there is.
inline constexpr std::string_view default_namespace_word = "default";
/// 1 to 64 of a-z 0-9 . _ - that begin with a letter or a digit.
bool is_namespace_name(std::string_view name);

/// Whoever sends a request.
struct principal {
  std::string kind;  // token, certificate, user or loopback
  std::string name;  // that histories and logs have
  std::vector<std::string> roles;
  right_set rights;
  std::int64_t expires_unix_ms = 0;                      // 0: never
  std::optional<std::vector<std::string>> namespaces{};  // nullopt: all
  std::string token{};                                   // its id; empty: it was no token that decided
  std::int64_t last_used_unix_ms = 0;                    // of the token: before this request, at this node; 0: not since the node started
  std::optional<std::vector<std::string>> agents{};      // whose workers it may be; nullopt: of all

  /// Nobody was asked where the API is open to the whole machine.
  bool is_known() const { return kind != "loopback"; }
  bool has(right one) const { return rights.has(one); }
  bool may_use(std::string_view name_space) const {
    return !namespaces || std::find(namespaces->begin(), namespaces->end(), name_space) != namespaces->end();
  }
  bool may_work_for(std::string_view agent) const { return !agents || std::find(agents->begin(), agents->end(), agent) != agents->end(); }
  /// Whether tasks of others are unknown to it.
  bool sees_only_own() const { return has(right::see_own_tasks) && !has(right::see_tasks); }
  bool sees_payloads() const { return has(right::payloads) || sees_only_own(); }
};

}  // namespace fairlead
