#include "app/files/workflow_types_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "actors/core/types/message_types.hpp"

namespace fairlead::app {

namespace {

/// At most one byte more than is allowed, so that what is too large is seen to be.
std::optional<std::string> read_set(const yaml_node& node, const std::string& path) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) {
    node.complain(path + " is a folder", "give the file that protoc --descriptor_set_out writes");
    return std::nullopt;
  }
  std::ifstream in{path, std::ios::binary};
  std::string out(core::max_types_bytes + 1, '\0');
  if (!in) {
    node.complain("cannot read " + path + ": " + std::strerror(errno), "a relative path starts at the folder of the workflow file");
    return std::nullopt;
  }
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<std::size_t>(in.gcount()));
  return out;
}

}  // namespace

void read_types(const yaml_node& node, const std::string& file, v1::WorkflowDefinition& definition) {
  const auto folder = std::filesystem::path{file}.parent_path();
  std::vector<std::string> sets;
  for (const auto& item : node.items()) {
    const auto name = item.text();
    if (!name) continue;
    auto bytes = read_set(item, (folder / *name).lexically_normal().string());
    if (!bytes) continue;
    if (const auto sound = core::message_types::read(*bytes); !sound) {
      item.complain(*name + ": " + sound.failure().sentence, sound.failure().remedy);
      continue;
    }
    sets.push_back(std::move(*bytes));
  }
  if (sets.empty()) return;
  const auto types = core::message_types::read(sets);
  if (!types) return node.complain(types.failure().sentence, types.failure().remedy);
  std::vector<const google::protobuf::Descriptor*> wanted;
  bool all_there = true;
  for (const auto& step : definition.steps()) {
    for (const auto* name : {&step.input_type(), &step.output_type()}) {
      if (name->empty()) continue;
      if (const auto* found = (*types)->find(*name))
        wanted.push_back(found);
      else
        all_there = false;
    }
  }
  // Where a name is wrong core has to be told what there is, so that it can say which one is close.
  auto carried = wanted.empty() || (!all_there && sets.size() == 1) ? result<std::string>{sets.front()} : core::describe_types(wanted);
  if (!carried) return node.complain(carried.failure().sentence, carried.failure().remedy);
  definition.set_types(std::move(*carried));
}

}  // namespace fairlead::app
