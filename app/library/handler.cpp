#include <fairlead/handler.hpp>

#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include "actors/core/types/typed_json.hpp"

namespace fairlead::detail {

bool read_message(std::string_view text, google::protobuf::Message& out, std::string& why) {
  const auto& type = *out.GetDescriptor();
  const auto found = core::check_typed_json(text, type);
  if (!found.empty()) {
    why = found.front().path.empty() ? "the input: " : "the input's field " + found.front().path + ": ";
    why += found.front().sentence;
    return false;
  }
  // A step without an input has null, which stands for an empty message.
  if (text == "null") return true;
  const auto read = google::protobuf::util::JsonStringToMessage({text.data(), text.size()}, &out);
  if (!read.ok()) {
    why = "the input is not a " + type.full_name() + ": " + std::string{read.message()};
    return false;
  }
  if (out.IsInitialized()) return true;
  why = "the input is not a " + type.full_name() + ": it lacks " + out.InitializationErrorString();
  return false;
}

bool write_message(const google::protobuf::Message& from, std::string& text, std::string& why) {
  google::protobuf::util::JsonPrintOptions options;
  // Expressions of later steps read the fields: names are those of the .proto file, and zero fields are written, too.
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  const auto written = google::protobuf::util::MessageToJsonString(from, &text, options);
  if (written.ok()) return true;
  why = "the output cannot be written as JSON: " + std::string{written.message()};
  return false;
}

}  // namespace fairlead::detail
