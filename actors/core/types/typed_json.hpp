#pragma once
// Checks JSON against a Protobuf type by the rules of proto3's JSON mapping, and names a field that does not fit by its path. No message is
// made; the check says whether one could be made.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace google::protobuf {
class Descriptor;
}

namespace fairlead::core {

struct json_mismatch {
  std::string path;      // from the root of the checked value: `items[2].sku`; empty: the whole value
  std::string sentence;  // one sentence without a full stop
  std::string remedy;    // may be empty
};

enum class json_holes {
  none,
  expressions,  // a string that contains `${` stands for a value not known yet, and fits everywhere
};

/// The mismatches, at most `limit`; empty: all fits. `json` has passed check_json, so its depth is bounded. Fields may be spelled by their
/// JSON name or as in the .proto file. Unknown fields, doubled fields and two fields of one oneof are refused; null stands for an absent
/// field. Cost is linear in the text.
std::vector<json_mismatch> check_typed_json(std::string_view json, const google::protobuf::Descriptor& type,
                                            json_holes holes = json_holes::none, std::size_t limit = 1);

}  // namespace fairlead::core
