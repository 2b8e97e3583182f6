#pragma once
// What becomes of an answer that sends the asker elsewhere.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/agents/http/hosts.hpp"
#include "actors/agents/http/request.hpp"
#include "actors/agents/http/response.hpp"

namespace fairlead::agents {

/// The redirects of one try, one after the other.
class http_redirects {
 public:
  /// What it is given must outlive this. `is_lookup`: the answers are those to the call's lookup. `known` may be null: there are no secrets.
  http_redirects(const http_prepared_call& call, bool is_lookup, const http_host_list& hosts, std::uint32_t most, const secrets* known)
      : call_(call), is_lookup_(is_lookup), hosts_(hosts), most_(most), known_(known) {}

  /// The request that is to be sent next. nullopt: `answer` is the end; it has become a refusal where the redirect led in a circle, too far,
  /// to a host outside the list, from https to http, or to another host with a body that holds a secret. What is not followed by these rules stays the answer that it is:
  /// one that a list or a rule of the call names; of a method other than GET and HEAD anything but 307 and 308; and, where the agent
  /// has no list of hosts, one to another host.
  std::optional<http_request> next(const http_request& sent, http_answer& answer);

 private:
  bool named_by_call(int status) const;
  bool holds_secret(const std::string& text) const { return known_ != nullptr && known_->redact(text) != text; }
  void leave_credentials_behind(http_request& request) const;

  const http_prepared_call& call_;
  bool is_lookup_;
  const http_host_list& hosts_;
  std::uint32_t most_;
  const secrets* known_;
  std::vector<std::string> seen_;
};

}  // namespace fairlead::agents
