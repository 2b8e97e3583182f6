#pragma once
// A request that has come whole, and its answer.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/door/tls/client_certificate.hpp"

namespace fairlead::app::door {

using headers = std::vector<std::pair<std::string, std::string>>;

/// What stands before the body.
struct request_head {
  std::string method;
  std::string version;  // HTTP/1.1
  std::string target;   // as it came: the path and, behind `?`, the query; nothing is decoded
  headers fields;       // as they came, in their order; a name may come more than once
};

/// Without the query.
std::string_view path_of(const request_head& head);
/// Of a target like `http://127.0.0.1:7190/v1/tasks`; nullopt: it names none.
std::optional<std::string_view> authority_of(const request_head& head);

/// Whoever is at the other end of the connection.
struct peer {
  std::string address{};                                    // without a port; empty: a Unix socket
  std::optional<std::uint32_t> uid{};                       // of the process, on a Unix socket
  std::shared_ptr<const client_certificate> certificate{};  // null: none was shown, or asked for
};

struct request {
  request_head head;
  std::string body;
  std::string id;  // of X-Request-Id, or made here
  peer from{};

  std::string_view path() const { return path_of(head); }
  /// Without `?`; empty: there is none.
  std::string_view query() const {
    const auto mark = head.target.find('?');
    return mark == std::string::npos ? std::string_view{} : std::string_view{head.target}.substr(mark + 1);
  }
};

struct answer {
  unsigned status = 200;
  std::string content_type = "application/json; charset=utf-8";
  std::string body;
  headers more;              // besides those that each answer has
  bool close = false;        // the connection, after the answer
  bool cut = false;          // the connection ends in the middle of the body; for those who test clients
  bool cut_in_head = false;  // the same in the middle of the head
  std::string farewell{};    // of a stream: what is sent last when the listener ends before it
  /// Called once, from any thread, if nothing of it is handed to the kernel because the client has gone before. Not of a stream.
  std::function<void()> if_unsent{};
};

/// Names of headers are compared without regard to case (RFC 9110, 5.1).
bool is_header(std::string_view name, std::string_view wanted);
/// The first of that name.
std::optional<std::string_view> find_header(const request_head& in, std::string_view name);
std::size_t count_headers(const request_head& in, std::string_view name);

}  // namespace fairlead::app::door
