#pragma once
// The names that the completion offers, asked of the node: a page at most, kept for a moment, and never waited for longer than a person waits
// for a key.

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
  /// For all that one completion asks.
  static constexpr std::chrono::milliseconds patience{250};

  explicit console_names(std::vector<std::string> nodes) : nodes_(std::move(nodes)) {}

  std::vector<std::string> names(name_kind kind, const std::string& of) override;
  /// The next one may wait again.
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

  std::vector<std::string> nodes_;
  std::unique_ptr<client> to_;
  std::map<std::pair<name_kind, std::string>, known> known_;
  moment deadline_{};
  moment not_before_{};  // after a failure the node is left alone for a while
};

}  // namespace fairlead::app
