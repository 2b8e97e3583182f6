#pragma once
// The way to a node over its API: requests of clients are posted as protobuf messages (docs/adr/0037-the-command-line-over-http.md).

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "actors/agents/http/transfer/loop.hpp"
#include "actors/client/node_address.hpp"
#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead {

/// What a client shows to nodes, and how it knows them.
struct http_access {
  std::string token;    // empty: none
  std::string ca_file;  // PEM; empty: the authorities of the system
};

/// What has become of one post.
struct http_reply {
  enum class kind {
    message,  // the reply
    refused,  // by the door of the node; `why`
    unknown,  // the node does not know the request
    silent,   // no answer in time
    lost,     // the node was not reached, or left in the middle
  };
  kind how = kind::lost;
  std::string message;
  error why;
  std::string reason;  // of a loss, for operators
};

class http_link {
 public:
  /// `later` has the client's actor call a function; it is called on a thread of this link.
  http_link(node_address to, http_access with, std::function<void(std::function<void()>)> later);
  http_link(const http_link&) = delete;
  http_link& operator=(const http_link&) = delete;
  ~http_link();

  /// Posts the message `bytes` of the type `name`. `done` is called by `later`, once.
  void post(const std::string& name, std::string bytes, duration limit, std::function<void(http_reply)> done);
  /// Whether there is a node that knows whoever asks: nullopt, or why not: `unavailable` with a bare reason, else what the node says.
  void look(std::function<void(std::optional<error> why)> done);

 private:
  void send(agents::http_request what, duration limit, std::function<void(agents::http_answer)> done);

  const node_address to_;
  const http_access with_;
  const std::function<void(std::function<void()>)> later_;
  std::uint64_t last_number_ = 0;
  agents::http_loop loop_;  // last: its thread uses the others
};

}  // namespace fairlead
