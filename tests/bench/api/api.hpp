#pragma once
// What the API costs: reads and submissions over connections that are kept, beside a bare handler of the same HTTP library and beside the native
// client, with the same number of requests in flight; and streams that only watch.

#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::bench {

/// Rounds in turns; the ratios are those of each round.
struct api_result {
  std::uint32_t in_flight = 0;
  std::vector<double> bare_shows_per_s, shows_per_s;             // GET of a task, and as many bytes by a bare handler
  std::vector<double> bare_states_per_s, states_per_s;           // its state alone
  std::vector<double> native_per_s, door_per_s;                  // single submissions, by the native client and over HTTP
  std::vector<double> closed_per_s;                              // by the native client, to a node without the API
  std::vector<double> native_batched_per_s, door_batched_per_s;  // tasks, in batches of 1,000
  std::size_t streams = 0;
  double quiet_percent = 0;     // of a core, without a stream
  double watching_percent = 0;  // with so many streams of tasks to which nothing happens
  double stream_kb = 0;         // RssAnon of each
};

/// Starts the program `fairlead` beside this one, twice. Throws std::runtime_error with a sentence.
api_result run_api(const std::string& directory, double scale);
std::string api_to_text(const api_result& of);

/// `fairlead_bench bare-http PORT`: answers a request for /N with N bytes, and with as many headers as the API; ends with its parent.
int run_bare_http(int port);

}  // namespace fairlead::bench
