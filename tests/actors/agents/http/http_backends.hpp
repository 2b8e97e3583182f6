#pragma once
// Helpers of the tests of http agents.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "actors/agents/http/http.hpp"

namespace fairlead::test {

inline std::unique_ptr<agents::backend> make(agents::http_agent_config config) {
  auto made = agents::make_http_backend(std::move(config));
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.failure().sentence);
  return std::move(made).value();
}

inline bool says(const std::string& sentence, const std::string& part) { return sentence.find(part) != std::string::npos; }

}  // namespace fairlead::test
