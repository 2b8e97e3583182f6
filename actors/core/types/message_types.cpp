#include "actors/core/types/message_types.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <map>
#include <set>

#include "actors/core/text/text.hpp"
#include "actors/core/types/typed_json_scalars.hpp"

namespace fairlead::core {

namespace {

namespace pb = google::protobuf;

// A set comes from any client, and string fields of a proto2 file may hold any bytes.
constexpr std::size_t shown_bytes = 200;

/// Keeps the first error of a file.
class first_error final : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element, const pb::Message*, ErrorLocation,
                const std::string& message) override {
    if (text.empty())
      text = shown(file, shown_bytes) + ": " + (element.empty() || element == file ? "" : shown(element, shown_bytes) + ": ") +
             shown(message, shown_bytes);
  }
  std::string text;
};

using files_by_name = std::map<std::string, pb::FileDescriptorProto>;

/// Each file after the files that it imports. Not recursive: a chain of imports may have any length.
result<std::vector<const pb::FileDescriptorProto*>> ordered(const files_by_name& files) {
  std::map<std::string, std::size_t> open;
  std::map<std::string, std::vector<std::string>> importers;
  std::set<std::string> ready;
  for (const auto& [name, file] : files) {
    const std::set<std::string> imports{file.dependency().begin(), file.dependency().end()};
    open[name] = imports.size();
    if (imports.empty()) ready.insert(name);
    for (const auto& other : imports) {
      if (files.count(other) == 0)
        return invalid(shown(name, shown_bytes) + " imports " + shown(other, shown_bytes) + ", which is not in the set",
                       "create the set with protoc --include_imports");
      importers[other].push_back(name);
    }
  }
  std::vector<const pb::FileDescriptorProto*> out;
  while (!ready.empty()) {
    const auto name = *ready.begin();
    ready.erase(ready.begin());
    out.push_back(&files.at(name));
    for (const auto& importer : importers[name])
      if (--open[importer] == 0) ready.insert(importer);
  }
  if (out.size() != files.size()) return invalid("files of the set import each other in a circle");
  return out;
}

status add(const std::string& bytes, files_by_name& files) {
  if (bytes.size() > max_types_bytes)
    return invalid(
        "the descriptor set takes " + std::to_string(bytes.size()) + " bytes; at most " + std::to_string(max_types_bytes) + " are allowed",
        "create it without --include_source_info, and only from the files that are needed");
  pb::FileDescriptorSet set;
  pb::io::ArrayInputStream input{bytes.data(), static_cast<int>(bytes.size())};
  pb::io::CodedInputStream coded{&input};
  if (!set.ParsePartialFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
    return invalid("the file is not a google.protobuf.FileDescriptorSet", "create it with protoc --include_imports --descriptor_set_out");
  if (set.file_size() == 0) return invalid("the descriptor set has no file");
  for (auto& file : *set.mutable_file()) {
    file.clear_source_code_info();
    auto [at, added] = files.emplace(file.name(), file);
    if (!added && at->second.SerializeAsString() != file.SerializeAsString())
      return invalid("two different files are named " + shown(file.name(), shown_bytes),
                     "create one set of all files with a single run of protoc");
  }
  if (files.size() > static_cast<std::size_t>(max_type_files))
    return invalid("there are more than " + std::to_string(max_type_files) + " files in the descriptor set");
  return nothing{};
}

/// Adds `file` and all that it imports, each once.
void collect(const pb::FileDescriptor* file, std::set<const pb::FileDescriptor*>& seen, files_by_name& out) {
  std::vector<const pb::FileDescriptor*> open{file};
  while (!open.empty()) {
    const auto* at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) continue;
    pb::FileDescriptorProto copy;
    at->CopyTo(&copy);
    at->CopyJsonNameTo(&copy);  // generated descriptors and those of protoc then agree
    out.emplace(copy.name(), std::move(copy));
    for (int i = 0; i < at->dependency_count(); ++i) open.push_back(at->dependency(i));
  }
}

void add_names(const pb::Descriptor* message, std::vector<std::string>& out) {
  if (message->options().map_entry()) return;
  out.push_back(message->full_name());
  for (int i = 0; i < message->nested_type_count(); ++i) add_names(message->nested_type(i), out);
}

}  // namespace

struct message_types::state {
  pb::DescriptorPool pool;
  std::vector<const pb::FileDescriptor*> files;
};

message_types::message_types(std::unique_ptr<state> s) : state_(std::move(s)) {}
message_types::~message_types() = default;

result<std::shared_ptr<const message_types>> message_types::read(std::string_view bytes) {
  return read(std::vector<std::string>{std::string{bytes}});
}

result<std::shared_ptr<const message_types>> message_types::read(const std::vector<std::string>& sets) {
  // Protobuf writes to stderr about each name that is not UTF-8: a client could fill a node's log with such names.
  const pb::LogSilencer silent;
  files_by_name files;
  for (const auto& bytes : sets)
    if (auto added = add(bytes, files); !added.ok()) return added.failure();
  auto in_order = ordered(files);
  if (!in_order) return in_order.failure();
  auto s = std::make_unique<state>();
  for (const auto* file : *in_order) {
    first_error collector;
    const auto* built = s->pool.BuildFileCollectingErrors(*file, &collector);
    if (built == nullptr) return invalid("the descriptor set is not valid: " + collector.text);
    s->files.push_back(built);
  }
  return std::shared_ptr<const message_types>{new message_types{std::move(s)}};
}

const pb::Descriptor* message_types::find(const std::string& full_name) const { return state_->pool.FindMessageTypeByName(full_name); }

std::vector<std::string> message_types::names() const {
  std::vector<std::string> out;
  for (const auto* file : state_->files)
    for (int i = 0; i < file->message_type_count(); ++i) add_names(file->message_type(i), out);
  std::sort(out.begin(), out.end());
  return out;
}

result<std::string> describe_types(const std::vector<const pb::Descriptor*>& wanted) {
  if (wanted.empty()) return std::string{};
  files_by_name files;
  std::set<const pb::FileDescriptor*> seen;
  for (const auto* type : wanted) collect(type->file(), seen, files);
  const auto in_order = ordered(files);
  if (!in_order) return in_order.failure();
  pb::FileDescriptorSet set;
  for (const auto* file : *in_order) *set.add_file() = *file;
  std::string out;
  {
    pb::io::StringOutputStream to{&out};
    pb::io::CodedOutputStream coded{&to};
    coded.SetSerializationDeterministic(true);
    set.SerializeToCodedStream(&coded);
  }
  if (out.size() > max_types_bytes)
    return invalid("the types take " + std::to_string(out.size()) + " bytes; at most " + std::to_string(max_types_bytes) + " are allowed",
                   "put the types of steps into files with fewer imports");
  return out;
}

}  // namespace fairlead::core
