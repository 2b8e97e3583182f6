#pragma once
// A service as quick as one thread over epoll can be: a process of its own, so that its memory and time are not the agent's.

#include <sys/types.h>

#include <cstdint>

namespace fairlead::bench {

class bench_http_server {
 public:
  /// Answers each request with a small JSON object, after so many milliseconds.
  explicit bench_http_server(int answer_after_ms);
  ~bench_http_server();
  bench_http_server(const bench_http_server&) = delete;
  bench_http_server& operator=(const bench_http_server&) = delete;

  int port() const { return port_; }

 private:
  int port_ = 0;
  pid_t process_ = -1;
};

}  // namespace fairlead::bench
