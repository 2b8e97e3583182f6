#pragma once
// A branch of the supervision tree: starts its children from specifications, starts them again when they end, within an intensity, and
// escalates. It knows nothing of what they do. (The Supervisor, which looks after steps, is another thing.)
//
// Children are started in the order of their specifications and stopped in reverse; one is stopped by an exit message, and by
// exit_reason::kill when its time is over. A group is started again only once every one of it has ended, so that two never share a store.
// A guardian that gives up stops all its children and ends with a reason that names the child and why it ended; whoever guards it
// decides what follows. The first start is done before `start_guardian` returns, or (of a guardian within another) before the next sibling starts.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <caf/all.hpp>

#include "actors/core/restart.hpp"
#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/supervision/stable_address.hpp"
#include "actors/supervision/supervision_tree.hpp"
#include "messages/error.hpp"

namespace fairlead {

/// What all guardians of a node share. Must outlive them.
struct guardian_world {
  caf::actor_system* system = nullptr;
  const clock* time = nullptr;
  observer* log = nullptr;
  supervision_tree* tree = nullptr;
};

/// Starts a child: spawns exactly one actor, in the calling thread. Called again for each restart. An error counts as a crash at the start.
using child_factory = std::function<result<caf::strong_actor_ptr>()>;

class guardian_branch;

struct child_spec {
  std::string id;  // unique among its siblings; letters, digits, `_`, `-` and `.`
  child_factory start;
  core::restart_kind restart = core::restart_kind::permanent;
  duration shutdown = std::chrono::seconds{5};  // between the exit message and the kill
  /// Leads to the child that lives now, however often it is started. May be null.
  std::shared_ptr<stable_address> address;
  /// Of a child that is itself a guardian: what hangs below it. Set by `guardian_child`.
  std::shared_ptr<guardian_branch> below;
};

struct guardian_spec {
  std::string id;
  core::restart_policy policy;
  std::vector<child_spec> children;
};

/// Tells a guardian to start one more child, as its last.
struct add_child {
  child_spec child;
};

}  // namespace fairlead

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::add_child)

namespace fairlead {

using guardian_actor = caf::typed_actor<
    // One more child. Answered with an empty text, or with why it could not be started.
    caf::replies_to<add_child>::with<std::string>,
    // Own reminder: the time that a child was given to end is over.
    caf::reacts_to<expire_atom, std::uint64_t>>;

/// The child that is itself a guardian, for the specification of the one above. `parent_path` is that of the one above.
child_spec guardian_child(const guardian_world& world, const std::string& parent_path, guardian_spec spec);

/// The root of a tree. `on_given_up` is called, once and from its thread, when it gives up: the reason names the child. An error of the first
/// start stops what had been started.
result<guardian_actor> start_guardian(const guardian_world& world, guardian_spec spec, std::function<void(const error&)> on_given_up);

/// Stops everything below, in reverse order, and waits for it, at most `limit`; then kills what is left. True: everything ended by itself.
bool stop_guardian(const guardian_world& world, const guardian_actor& root, duration limit);

/// Has an exception that escapes a handler of `self` end it with a reason that carries the exception's words, for its guardian.
template <class Self>
void end_on_bug(Self* self, const char* who) {
  self->set_exception_handler([who](std::exception_ptr& thrown) -> caf::error {
    std::string reason = "an exception that is no std::exception";
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& bug) {
      reason = bug.what();
    } catch (...) {  // the reason above says all that is known
    }
    return caf::make_error(caf::sec::runtime_error, std::string{"internal error in the "} + who + ": " + reason);
  });
}

/// The words of a reason with which an actor ended, for people.
std::string reason_text(const caf::actor_system& system, const caf::error& reason);

}  // namespace fairlead
