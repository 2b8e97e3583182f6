#include "actors/core/schema/references.hpp"

#include <algorithm>

#include "actors/core/text/nearest.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::core {

schema_references::schema_references() : at_(&scopes_[{}]) {}

void schema_references::define(const std::string& keyword, const std::string& name, std::string place) {
  scopes_[{keyword, name}].place = std::move(place);
}

void schema_references::enter(const std::string& keyword, const std::string& name) { at_ = &scopes_[{keyword, name}]; }

void schema_references::leave() { at_ = &scopes_[{}]; }

void schema_references::reach(std::size_t depth) { at_->depth = std::max(at_->depth, depth); }

void schema_references::refer(definition_name to, std::size_t depth, std::string place) {
  at_->references.push_back({{std::move(to.keyword), std::move(to.name)}, depth, std::move(place)});
}

std::vector<schema_problem> schema_references::missing(std::size_t most) const {
  std::vector<schema_problem> out;
  for (const auto& [name, held] : scopes_) {
    for (const auto& one : held.references) {
      if (scopes_.count(one.to) != 0 || out.size() >= most) continue;
      std::vector<std::string> known;
      for (const auto& other : scopes_)
        if (other.first.first == one.to.first) known.push_back(other.first.second);
      out.push_back(
          {one.place, "there is no " + shown_keyword(one.to.second) + " below " + one.to.first, did_you_mean(one.to.second, known)});
    }
  }
  return out;
}

std::vector<schema_problem> schema_references::follow(const std::string& at) {
  std::vector<schema_problem> out;
  for (auto& [name, held] : scopes_)
    if (!resolve(held, name, out)) return out;
  if (scopes_[{}].resolved > max_schema_depth)
    out.push_back({at, "with the references followed, more than " + std::to_string(max_schema_depth) + " schemas are inside each other",
                   "make the schema flatter"});
  return out;
}

/// False: the definitions refer to each other in a circle, and a problem says so. The recursion is as deep as a chain of references,
/// which is cut before it is dangerous.
bool schema_references::resolve(scope& of, const definition& name, std::vector<schema_problem>& out) {
  if (of.resolved != 0) return true;
  path_.push_back(name.second);
  if (of.under_way) {
    const auto first = std::find(path_.begin(), path_.end(), name.second);
    std::string circle;
    for (auto one = first; one != path_.end(); ++one) circle += (one == first ? "" : " -> ") + clean_text(*one, 40);
    out.push_back({of.place, "definitions refer to each other in a circle: " + circle,
                   "repeat the definition for as many levels as the input may have"});
    return false;
  }
  if (path_.size() > max_schema_depth) {
    out.push_back({of.place,
                   "with the references followed, more than " + std::to_string(max_schema_depth) + " schemas are inside each other",
                   "make the schema flatter"});
    return false;
  }
  of.under_way = true;
  auto depth = of.depth;
  for (const auto& one : of.references) {
    auto& to = scopes_[one.to];
    if (!resolve(to, one.to, out)) return false;
    // A reference is the subschema that it stands for.
    depth = std::max(depth, one.depth - 1 + to.resolved);
  }
  of.under_way = false;
  of.resolved = std::max<std::size_t>(depth, 1);
  path_.pop_back();
  return true;
}

definition_name read_reference(std::string_view reference) {
  for (const std::string_view keyword : {"$defs", "definitions"}) {
    const auto prefix = "#/" + std::string{keyword} + "/";
    if (reference.substr(0, prefix.size()) != prefix) continue;
    reference.remove_prefix(prefix.size());
    if (reference.empty() || reference.find('/') != std::string_view::npos) return {};
    std::string name;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const auto escape = reference.substr(i, 2);
      if (escape == "~0" || escape == "~1") ++i;
      name += escape == "~0" ? '~' : escape == "~1" ? '/' : reference[i];
    }
    return {std::string{keyword}, std::move(name)};
  }
  return {};
}

}  // namespace fairlead::core
