#include "actors/scheduler/actions.hpp"

#include "store/content_hash.hpp"

namespace fairlead {

std::string hash_of(v1::OperatorAction action) {
  if (action.token().empty() && action.verb() != v1::OPERATOR_VERB_CALLBACK) return {};
  action.clear_token();
  action.clear_callback();
  action.clear_if_sequence();
  action.clear_who();
  return store::content_hash(action.SerializeAsString());
}

core::performance_name performance_of(const std::optional<callback_name>& called) {
  return called ? core::performance_name{called->step, called->generation} : core::performance_name{};
}

error no_callback() {
  return {v1::ERROR_CODE_NOT_FOUND, "nothing here waits for this callback",
          "use the whole URL as it was given out; one from before a restore of the shard counts no more"};
}

}  // namespace fairlead
