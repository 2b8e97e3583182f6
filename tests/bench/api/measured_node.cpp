#include "tests/bench/api/measured_node.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "app/files/workflow_file.hpp"
#include "tests/bench/api/keep_alive.hpp"

namespace fairlead::bench {

using std::chrono::seconds;

measured_node::measured_node(const std::string& directory, const std::string& agents, bool with_api)
    : port_(free_port()),
      api_port_(with_api ? free_port() : 0),
      process_(words(directory, agents)),
      client_(take(client::connect(options()))) {
  if (with_api) await_api();
}

void measured_node::deploy(const std::string& workflow) {
  const auto file = app::parse_workflow("bench.yaml", workflow, nullptr);
  if (!file.problems.empty()) throw std::logic_error(to_text(file.problems.front()));
  v1::DeployRequest request;
  *request.mutable_definition() = file.definition;
  const auto reply = take(client_.deploy(request));
  if (reply.error().code() != v1::ERROR_CODE_OK) throw std::runtime_error(reply.error().sentence());
}

std::vector<std::string> measured_node::words(const std::string& directory, const std::string& agents) const {
  std::filesystem::create_directories(directory);
  const auto file = directory + "/node.yaml";
  std::ofstream out{file};
  out << "node: { name: bench, listen: \"127.0.0.1:" << port_ << "\" }\n"
      << "roles: [shard, agent]\n"
      << "store: { path: data, max_size: 16GiB }\n"
      << "log: { level: warning, format: text }\n"
      << "agents: " << agents << "\n";
  if (api_port_ != 0) out << "api: { listen: \"127.0.0.1:" << api_port_ << "\" }\n";
  return {program_beside("fairlead"), "node", "--config", file};
}

client_options measured_node::options() const {
  client_options out;
  out.nodes = {"127.0.0.1:" + std::to_string(port_)};
  out.connect_timeout = seconds{20};
  out.request_timeout = seconds{60};
  return out;
}

/// It is served a moment after the node answers its clients.
void measured_node::await_api() const {
  for (int tries = 0;; ++tries) try {
      ask(api_port_, request_text("GET", "/v1/version"));
      return;
    } catch (const std::runtime_error&) {
      if (tries == 200) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
}

}  // namespace fairlead::bench
