#pragma once
// Descriptor sets from the text of .proto files, made by protoc, which the build needs anyway.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::core::testing {

/// With everything that the files import.
inline std::string descriptor_set(const std::vector<std::pair<std::string, std::string>>& files) {
  namespace fs = std::filesystem;
  auto folder = (fs::temp_directory_path() / "fairlead-protos-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder for .proto files");
  auto command = "protoc -I '" + folder + "' --include_imports --descriptor_set_out='" + folder + "/set.binpb'";
  for (const auto& [name, text] : files) {
    fs::create_directories((fs::path{folder} / name).parent_path());
    std::ofstream{fs::path{folder} / name} << text;
    command += " '" + name + "'";
  }
  const auto failed = std::system(command.c_str()) != 0;
  std::ostringstream out;
  out << std::ifstream{folder + "/set.binpb", std::ios::binary}.rdbuf();
  fs::remove_all(folder);
  if (failed) throw std::runtime_error("protoc has refused a test's types");
  return out.str();
}

inline void add_with_imports(google::protobuf::FileDescriptorSet& set, const google::protobuf::FileDescriptor* file) {
  for (const auto& there : set.file())
    if (there.name() == file->name()) return;
  for (int i = 0; i < file->dependency_count(); ++i) add_with_imports(set, file->dependency(i));
  file->CopyTo(set.add_file());
}

}  // namespace fairlead::core::testing
