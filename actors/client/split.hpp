#pragma once
// Cuts a submission into messages of bounded size. C++17, no CAF.

#include <cstddef>
#include <vector>

#include "messages/api.pb.h"

namespace fairlead {

inline constexpr std::size_t max_input_bytes_a_message = 1'048'576;

struct submission_part {
  v1::SubmitRequest request;
  std::vector<int> positions;  // positions of its items in the whole submission
};

struct split_submission {
  std::vector<submission_part> parts;
  std::vector<int> oversized;  // positions of items whose input exceeds the limit; no part holds them
};

split_submission split(v1::SubmitRequest what);

}  // namespace fairlead
