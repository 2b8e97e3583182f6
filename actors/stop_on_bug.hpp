#pragma once
// What happens when a handler throws: the actor ends with the reason, and the node with it, so that a supervisor of processes starts it anew
// from its store. A half-dead node would take orders that nobody carries out.

#include <exception>
#include <string>

#include "actors/interfaces.hpp"
#include "actors/store_actor.hpp"

namespace fairlead {

/// Has every exception that escapes a handler of `self` told to `on_fatal` (code internal, names the actor and the reason).
template <class Self>
void stop_on_bug(Self* self, const char* who, fatal_handler on_fatal) {
  self->set_exception_handler([who, on_fatal = std::move(on_fatal)](std::exception_ptr& thrown) -> caf::error {
    std::string reason = "an exception that is no std::exception";
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& bug) {
      reason = bug.what();
    } catch (...) {  // the reason above says all that is known
    }
    on_fatal({v1::ERROR_CODE_INTERNAL, std::string{"internal error in the "} + who + ": " + reason,
              "Nothing acknowledged is lost: start the node again, and report this"});
    return caf::sec::runtime_error;
  });
}

}  // namespace fairlead
