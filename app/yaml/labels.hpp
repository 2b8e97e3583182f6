#pragma once
// `labels: { zone: eu }`, on agents and on steps.

#include <vector>

#include "app/yaml/reader.hpp"
#include "messages/common.pb.h"

namespace fairlead::app {

/// The labels that are sound; the others are complained about at their places.
std::vector<v1::Label> read_labels(const yaml_node& node);

}  // namespace fairlead::app
