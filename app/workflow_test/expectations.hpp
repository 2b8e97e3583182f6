#pragma once
// `expect:` of a case.

#include "app/workflow_test/names.hpp"
#include "app/workflow_test/test_file.hpp"

namespace fairlead::app {

case_expectation read_expectation(const yaml_node& node, const workflow_names& names);

}  // namespace fairlead::app
