// The OpenAPI document that is served has the paths and the problem codes that there are.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "app/api/api.hpp"
#include "app/api/openapi.hpp"
#include "app/json/node/task_filters.hpp"

namespace fairlead::app::api {
namespace {

nlohmann::json served_document() {
  auto out = nlohmann::json::parse(openapi_json(), nullptr, false);
  EXPECT_FALSE(out.is_discarded());
  return out;
}

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

TEST(openapi_document, has_each_route_and_no_other) {
  std::set<std::string> served, documented;
  for (const auto& one : routes()) served.insert(std::string{one.method} + " " + std::string{one.path});
  const auto document = served_document();
  for (const auto& [path, item] : document.at("paths").items())
    for (const auto& [key, operation] : item.items())
      if (key != "parameters") documented.insert(upper_case(key) + " " + path);
  EXPECT_EQ(documented, served);
}

TEST(openapi_document, has_each_problem_code) {
  const auto document = served_document();
  std::set<std::string> documented;
  for (const auto& one : document.at("components").at("schemas").at("ProblemCode").at("enum")) documented.insert(one.get<std::string>());
  for (const auto& one : door::problem_kinds()) EXPECT_EQ(documented.count(std::string{one.code}), 1U) << one.code;
}

/// The names of the parameters of a path's GET.
std::set<std::string> parameters_of(const nlohmann::json& document, const std::string& path) {
  std::set<std::string> out;
  for (const auto& one : document.at("paths").at(path).at("get").at("parameters")) {
    const auto& whole = one.contains("$ref") ? document.at(nlohmann::json::json_pointer{one.at("$ref").get<std::string>().substr(1)}) : one;
    out.insert(whole.at("name").get<std::string>());
  }
  return out;
}

TEST(openapi_document, has_each_condition_of_the_lists_of_tasks_and_of_actions_on_many) {
  const auto document = served_document();
  const auto of_list = parameters_of(document, "/v1/tasks"), of_ended = parameters_of(document, "/v1/ended");
  const auto& of_actions = document.at("components").at("schemas").at("TaskFilter").at("properties");
  const auto expect_named = [&](const std::string& name, bool is_of_ended) {
    EXPECT_EQ(of_list.count(name), 1U) << name;
    EXPECT_EQ(of_ended.count(name), is_of_ended ? 1U : 0U) << name;
    EXPECT_TRUE(of_actions.contains(name)) << name;
  };
  for (const auto& one : task_texts) expect_named(one.name, !one.of_parked);
  for (const auto& one : task_flags) expect_named(one.name, one.of_ended);
  for (const auto& one : task_times) expect_named(one.name, false);
}

TEST(openapi_document, says_its_release) {
  const auto document = served_document();
  EXPECT_EQ(document.at("openapi"), "3.1.0");
  EXPECT_NE(document.at("info").at("version"), "");
  EXPECT_NE(document.at("info").at("version"), "0");
}

}  // namespace
}  // namespace fairlead::app::api
