#include "actors/scheduler/books/workflow_catalog.hpp"

#include <algorithm>

#include "actors/core/items/item_call.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/workflow/check.hpp"
#include "store/content_hash.hpp"
#include "store/keys.hpp"

namespace fairlead {

namespace {

/// A version that this release cannot use. It is a value, not an error: a single task must not stop the shard.
workflow_catalog::handle unusable(const std::string& name, v1::WorkflowDefinition definition, const std::string& content_hash,
                                  const std::string& why) {
  error refusal{v1::ERROR_CODE_WRONG_STATE,
                std::string{core::unusable_version_words} + store::to_hex(content_hash).substr(0, 12) + " of workflow " + name + ": " + why,
                "start a release that can use this version, then retry the task"};
  return core::workflow::unusable(std::move(definition), content_hash, std::move(refusal));
}

}  // namespace

status workflow_catalog::open(const store::snapshot& from) {
  auto versions = from.scan(store::table::workflow_version, {}, {}, [this](std::string_view, std::string_view payload) {
    v1::DeployedWorkflow version;
    if (version.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
      for (const auto& step : version.definition().steps())
        if (step.kind() == v1::STEP_KIND_CALL)
          longest_timeout_ms_ = std::max({longest_timeout_ms_, step.timeout_ms(), step.undo().timeout_ms()});
    return true;
  });
  if (!versions.ok()) return versions;
  return from.scan(store::table::workflow, {}, {}, [this](std::string_view key, std::string_view payload) {
    if (const auto name = store::keys::decode_workflow(key)) current_[std::string{name->name}] = std::string{payload};
    return true;
  });
}

result<workflow_catalog::handle> workflow_catalog::current(const std::string& name, const store::snapshot& from) {
  const auto found = current_.find(name);
  if (found == current_.end())
    return error{v1::ERROR_CODE_NOT_FOUND, "there is no workflow " + core::clean_text(name, 80),
                 "deploy it: fairlead workflow deploy FILE"};
  auto version = pinned(name, found->second, from);
  if (!version || (*version)->usable()) return version;
  return error{v1::ERROR_CODE_WRONG_STATE, (*version)->refusal().sentence,
               "deploy workflow " + name + " again, in a form that this release accepts; fairlead workflow check FILE lists the errors"};
}

result<workflow_catalog::handle> workflow_catalog::pinned(const std::string& name, const std::string& content_hash,
                                                          const store::snapshot& from) {
  const auto found = compiled_.find(content_hash);
  if (found != compiled_.end()) return found->second;
  const auto row = from.get(store::table::workflow_version, store::keys::workflow_version(store::default_namespace, name, content_hash));
  if (!row) return row.failure();
  v1::DeployedWorkflow deployed;
  if (*row && !deployed.ParseFromArray((*row)->data(), static_cast<int>((*row)->size())))
    return error{v1::ERROR_CODE_INCONSISTENT, "the definition " + store::to_hex(content_hash) + " of workflow " + name + " is damaged",
                 "run fairlead store check and restore a backup"};
  const auto keep = [&](handle version) { return compiled_.emplace(content_hash, std::move(version)).first->second; };
  if (!*row) return keep(unusable(name, {}, content_hash, "its definition is missing in the store"));
  auto compiled = core::workflow::compile(deployed.definition(), content_hash);
  if (compiled) return keep(*compiled);
  return keep(unusable(name, std::move(*deployed.mutable_definition()), content_hash, compiled.failure().sentence));
}

result<workflow_catalog::handle> workflow_catalog::stored(const std::string& name, const std::string& content_hash,
                                                          const store::snapshot& from) {
  if (content_hash.size() != store::content_hash_bytes || name.size() > store::max_workflow_name_bytes) return handle{};
  if (compiled_.count(content_hash) == 0) {
    const auto row = from.get(store::table::workflow_version, store::keys::workflow_version(store::default_namespace, name, content_hash));
    if (!row) return row.failure();
    if (!*row) return handle{};
  }
  return pinned(name, content_hash, from);
}

workflow_catalog::handle workflow_catalog::call_of(const handle& version, std::uint32_t step) {
  auto& out = calls_[{version->content_hash(), step}];
  if (out) return out;
  if (!version->usable()) {
    out = core::workflow::unusable(core::definition_of_call(version->definition(), step), version->content_hash(), version->refusal());
    return out;
  }
  auto compiled = version->call_of(step);
  out = compiled ? *compiled
                 : unusable(version->definition().name(), core::definition_of_call(version->definition(), step), version->content_hash(),
                            compiled.failure().sentence);
  return out;
}

void workflow_catalog::erase(const std::string& name, store::batch& out) {
  current_.erase(name);
  out.erase(store::table::workflow, store::keys::workflow(store::default_namespace, name));
}

result<workflow_catalog::deployed> workflow_catalog::deploy(const v1::WorkflowDefinition& definition, const std::string& source,
                                                            std::int64_t now_unix_ms, store::batch* out) {
  if (source.size() > core::max_definition_bytes)
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the workflow's source is larger than 1 MiB", ""};
  const auto problems = core::check_definition(definition, nullptr);
  if (!problems.empty()) {
    const auto& first = problems.front();
    auto sentence = "workflow " + core::clean_text(definition.name(), 80) + (first.step.empty() ? "" : ", step " + first.step) +
                    (first.field.empty() ? "" : ", " + first.field) + ": " + first.sentence;
    if (problems.size() > 1) sentence += " (and " + std::to_string(problems.size() - 1) + " more)";
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, sentence,
                 first.remedy.empty() ? "fairlead workflow check FILE lists all errors" : first.remedy};
  }
  deployed done{store::definition_hash(definition), false};
  const auto& name = definition.name();
  auto compiled = core::workflow::compile(definition, done.content_hash);
  if (!compiled) return compiled.failure();
  const auto found = current_.find(name);
  const auto known = compiled_.find(done.content_hash);
  const auto lost = known != compiled_.end() && !known->second->usable();  // its row is written again
  if (found != current_.end() && found->second == done.content_hash && !lost) return done;
  done.created = true;
  if (out == nullptr) return done;

  v1::DeployedWorkflow row;
  *row.mutable_definition() = definition;
  row.set_content_hash(done.content_hash);
  row.set_deployed_at_unix_ms(now_unix_ms);
  row.set_source(source);
  out->put(store::table::workflow_version, store::keys::workflow_version(store::default_namespace, name, done.content_hash),
           row.SerializeAsString());
  out->put(store::table::workflow, store::keys::workflow(store::default_namespace, name), done.content_hash);
  compiled_[done.content_hash] = *compiled;
  std::erase_if(calls_, [&](const auto& one) { return one.first.first == done.content_hash; });
  current_[name] = done.content_hash;
  return done;
}

}  // namespace fairlead
