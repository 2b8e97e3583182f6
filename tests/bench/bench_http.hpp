#pragma once
// What the http agent costs beside libcurl alone, and what ten thousand slow services cost it.

#include <cstdint>
#include <string>

namespace fairlead::bench {

/// The same requests to the same server in the same process, first by a bare loop over libcurl's multi interface, then by the agent.
struct http_result {
  std::uint32_t at_once = 0;
  std::uint64_t requests = 0;
  double bare_per_s = 0;
  double agent_per_s = 0;
};

/// What the bare loop gets from the server at this port.
double bare_requests_per_s(int port, std::uint64_t requests, std::uint32_t at_once);

http_result run_http(std::uint64_t requests, std::uint32_t at_once);

/// Steps held by one agent while their service takes its time.
struct slow_http_result {
  std::uint64_t steps = 0;
  std::uint64_t answered = 0;
  int threads_before = 0;
  int threads = 0;  // of the process while all wait
  double rss_anon_before_mb = 0;
  double rss_anon_mb = 0;
};

slow_http_result run_slow_http(std::uint32_t steps, int answer_after_s);

std::string http_to_text(const http_result& result);
std::string slow_http_to_text(const slow_http_result& result);

}  // namespace fairlead::bench
