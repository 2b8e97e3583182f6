#include "actors/gateway/requests/checks.hpp"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

template <class Request>
std::string refused(const Request& what) {
  const auto why = check_request(what);
  return why ? why->sentence : "";
}

TEST(check_of_a_request, to_forget_effects_needs_a_name_and_no_repair_beside_it) {
  v1::DoctorRequest what;
  EXPECT_EQ(refused(what), "") << "to look is nobody's order";
  what.set_forget_effects(true);
  EXPECT_EQ(refused(what), "the request does not say who asks for it");
  what.set_who("ann");
  EXPECT_EQ(refused(what), "");
  what.set_repair(true);
  EXPECT_EQ(refused(what), "the request asks to repair tasks and to forget effects");
}

TEST(check_of_a_request, to_forget_a_node_needs_a_name_of_who_asks) {
  v1::NodeOperateRequest what;
  what.set_verb(v1::NODE_VERB_FORGET);
  what.set_forgotten("b");
  EXPECT_EQ(refused(what), "the request does not say who asks for it");
  what.set_who("ann");
  EXPECT_EQ(refused(what), "");
}

}  // namespace
}  // namespace fairlead
