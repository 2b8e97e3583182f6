// Brings the main function of CAF's test framework; the suites stand in *_suite.cpp.

#include <caf/test/unit_test_impl.hpp>
