#pragma once
// The names that the completion offers. The node gives at most one page of names, which is kept for
// a moment. `patience` limits how long a completion waits for the node.

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/context.hpp"
#include "app/console/completion.hpp"

namespace fairlead::app {

class console_names final : public name_source {
 public:
  /// Time limit for all requests of one completion.
  static constexpr std::chrono::milliseconds patience{250};

  /// `of`: how commands reach the nodes.
  explicit console_names(cli_context of) : of_(std::move(of)) {}

  std::vector<std::string> names(name_kind kind, const std::string& of) override;
  /// Begins a completion with a new time limit.
  void begin() { deadline_ = std::chrono::steady_clock::now() + patience; }

 private:
  using moment = std::chrono::steady_clock::time_point;
  struct known {
    moment until{};
    std::vector<std::string> names;
  };

  bool fetch(name_kind kind, const std::string& of, std::vector<std::string>& out);
  bool fetch_tasks(bool parked, std::vector<std::string>& out);
  bool fetch_registry();
  client* reach();

  cli_context of_;
  std::unique_ptr<client> to_;
  std::map<std::pair<name_kind, std::string>, known> known_;
  moment deadline_{};
  moment not_before_{};  // after a failure no request is sent before this time
};

}  // namespace fairlead::app
