#pragma once
// A process of the program, with the API or without it, and a native client of it.

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "actors/client/client.hpp"
#include "messages/error.hpp"
#include "tests/bench/process/process.hpp"

namespace fairlead::bench {

/// Throws std::runtime_error with the sentence of the error.
template <class T>
T take(result<T> given) {
  if (!given) throw std::runtime_error(given.failure().sentence);
  return std::move(*given);
}

class measured_node {
 public:
  /// `agents`: YAML on one line. Throws std::runtime_error.
  measured_node(const std::string& directory, const std::string& agents, bool with_api);

  void deploy(const std::string& workflow);

  int api_port() const { return api_port_; }
  const child_process& process() const { return process_; }
  client& native() { return client_; }

 private:
  std::vector<std::string> words(const std::string& directory, const std::string& agents) const;
  client_options options() const;
  void await_api() const;

  const int port_, api_port_;
  child_process process_;
  client client_;
};

}  // namespace fairlead::bench
