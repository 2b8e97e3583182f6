#pragma once
// Redirects: follows an answer to another URL, or refuses to.

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
  /// The arguments must outlive the object. `is_lookup`: the answers are those to the call's look-up. `known` may be null: no secrets.
  http_redirects(const http_prepared_call& call, bool is_lookup, const http_host_list& hosts, std::uint32_t most, const secrets* known)
      : call_(call), is_lookup_(is_lookup), hosts_(hosts), most_(most), known_(known) {}

  /// The next request. nullopt: `answer` is the end. It is turned into a refusal if the redirect is circular, too long, to a host outside
  /// the list, from https to http, or to another host with a body that holds a secret or the URL of a callback. Redirects outside of these rules stay answers: a
  /// status that a list or a rule of the call names; other statuses than 307 and 308 for methods other than GET and HEAD; and, if the agent
  /// has no list of hosts, a redirect to another host.
  std::optional<http_request> next(const http_request& sent, http_answer& answer);

 private:
  bool named_by_call(int status) const;
  bool is_private(const std::string& text, const http_request& request) const {
    return (known_ != nullptr && known_->redact(text) != text) ||
           (!request.callback.empty() && text.find(request.callback) != std::string::npos);
  }
  void leave_credentials_behind(http_request& request) const;

  const http_prepared_call& call_;
  bool is_lookup_;
  const http_host_list& hosts_;
  std::uint32_t most_;
  const secrets* known_;
  std::vector<std::string> seen_;
};

}  // namespace fairlead::agents
