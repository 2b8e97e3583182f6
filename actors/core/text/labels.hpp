#pragma once
// The rule for labels of tasks, agents and steps: labels of tasks are parts of keys in the store.

#include <cstddef>
#include <string>

#include "messages/common.pb.h"

namespace fairlead::core {

inline constexpr int max_labels = 32;
inline constexpr std::size_t max_label_key_bytes = 128;
inline constexpr std::size_t max_label_value_bytes = 256;

/// A key and a value of plain text, neither too long, no `=` in the key. The value may be empty.
bool valid_label(const v1::Label& label);

/// Completes "expected …".
inline constexpr const char* label_rule =
    "a label: a key of at most 128 bytes without =, and a value of at most 256 bytes, both plain text";

}  // namespace fairlead::core
