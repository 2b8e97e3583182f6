#pragma once
// A socket that listens.

#include <cstdint>
#include <string>

#include "app/config/config.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

/// Closes the socket, unless it was released.
class listen_socket {
 public:
  listen_socket() = default;
  explicit listen_socket(int fd) : fd_(fd) {}
  listen_socket(listen_socket&& other) noexcept : fd_(other.release()) {}
  listen_socket& operator=(listen_socket&&) = delete;
  ~listen_socket();

  int fd() const noexcept { return fd_; }
  int release() noexcept;
  /// Also if the system chose it.
  std::uint16_t port() const;

 private:
  int fd_ = -1;
};

/// Does not block. The error's sentence is the system's reason alone.
result<listen_socket> listen_on(const listen_address& address);
/// A Unix socket to which every user may connect. A socket that a dead process has left is replaced.
result<listen_socket> listen_on_path(const std::string& path);

}  // namespace fairlead::app
