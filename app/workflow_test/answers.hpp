#pragma once
// `agents:` of a test file: what agents answer.

#include <vector>

#include "app/workflow_test/names.hpp"
#include "app/workflow_test/test_file.hpp"

namespace fairlead::app {

std::vector<answer_script> read_answers(const yaml_node& node, const workflow_names& names);

}  // namespace fairlead::app
