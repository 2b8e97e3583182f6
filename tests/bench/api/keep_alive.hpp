#pragma once
// A client of HTTP/1.1 over connections that are kept, on one thread, as cheap as it can be: what is measured is the server.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fairlead::bench {

/// A whole request. `body`: JSON, or nothing.
std::string request_text(const std::string& method, const std::string& target, const std::string& body = {});

/// Requests a second, each sent when its connection has the answer to the one before. Throws std::runtime_error when an answer is none of 2xx.
double requests_per_s(int port, std::uint32_t connections, std::uint64_t requests, const std::function<std::string()>& next);

/// A connection that waits for one answer at a time.
class kept_connection {
 public:
  explicit kept_connection(int port);
  ~kept_connection();
  kept_connection(const kept_connection&) = delete;
  kept_connection& operator=(const kept_connection&) = delete;

  /// The body of the answer. Throws std::runtime_error as ask().
  std::string ask(const std::string& request);

 private:
  struct connection;
  std::unique_ptr<connection> it_;
};

/// The body of the answer to one request, on a connection of its own. Throws std::runtime_error when there is no answer, or none of 2xx.
std::string ask(int port, const std::string& request);

/// Connections on which each answer has begun and does not end; they end with this.
class open_streams {
 public:
  open_streams(int port, std::size_t count, const std::function<std::string(std::size_t)>& request);
  ~open_streams();
  open_streams(const open_streams&) = delete;
  open_streams& operator=(const open_streams&) = delete;

  /// How many the server has ended.
  std::size_t ended() const;

 private:
  void close_all();
  std::vector<int> all_;
};

}  // namespace fairlead::bench
