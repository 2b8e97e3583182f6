#pragma once
// One exchange with a server: the request and the answer.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::agents {

struct http_request {
  std::string method;
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<std::string> body;
  std::vector<std::string> private_headers;  // names of headers with secrets: only sent to the host that they were written for
  std::string
      callback{};  // a text by which headers and body can be told that hold the URL of a callback, which is private, too; empty: none does
};

/// The end of an exchange. Made by the loop, judged by conclude().
struct http_answer {
  enum class ending {
    answered,  // a status and its headers arrived; the body may be cut (see `cut`)
    not_sent,  // it failed before the first byte of the request: `code` and `message` give the reason
    refused,   // it must not be sent, or libcurl refuses it: nothing was sent
    lost,      // it failed after the request had begun to be sent: `code` and `message` give the reason
  };
  enum class damage { none, truncated, too_large };

  ending how = ending::lost;
  std::string code;
  std::string message;
  int status = 0;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case, in order of arrival
  std::string body;
  damage cut = damage::none;
  /// How often the request began to be sent; more than 1 after a kept-alive connection broke before any byte of a response.
  std::uint32_t sends = 0;
};

}  // namespace fairlead::agents
