#include "app/dev/proposal.hpp"

#include <nlohmann/json.hpp>

#include "actors/core/schema/schema.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t most_bytes = 300;  // more is no line to type after
constexpr const char* anything = "{}";
constexpr const char* any_json = "JSON";

}  // namespace

std::string proposed_input(const v1::WorkflowDefinition& of) {
  const auto& text = of.input_schema_json();
  if (text.empty()) return anything;
  const auto schema = core::input_schema::compile(text);
  if (!schema) return any_json;
  if (!(*schema)->misfit_of(anything)) return anything;
  const auto read = nlohmann::json::parse(text, nullptr, false);
  if (!read.is_object() || !read.contains("required") || !read["required"].is_array()) return any_json;
  std::string out;
  for (const auto& name : read["required"]) {
    if (!name.is_string()) return any_json;
    out += (out.empty() ? "{" : ", ") + name.dump() + ": …";
  }
  out += "}";
  const auto is_long = out.size() > most_bytes;
  return read["required"].empty() || is_long || out.find('\'') != std::string::npos ? any_json : out;
}

}  // namespace fairlead::app
