#pragma once
// A branch of the supervision tree: starts its children from specifications, restarts them when they end, within an intensity, and
// escalates. It knows nothing of their work. (The Supervisor, which looks after steps, is something else.)
//
// Children start in the order of their specifications and stop in reverse. A child is stopped by an exit message, and by exit_reason::kill
// when its time is over. A group is restarted only once all of it has ended, so that two never share a store. A guardian that gives up
// stops all its children and ends with a reason that names the child and why it ended; the guardian above decides what follows. The first
// start is done before `start_guardian` returns, or (for a guardian within another) before the next sibling starts.

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

/// Shared by all guardians of a node. Must outlive them.
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
  /// An end by itself, without a reason, is for good: the guardian forgets the child, and not even a restart of the whole branch starts it.
  bool may_leave = false;
  duration shutdown = std::chrono::seconds{5};  // between the exit message and the kill
  /// Leads to the current child, however often it is restarted. May be null.
  std::shared_ptr<stable_address> address;
  /// If the child is itself a guardian: its branch. Set by `guardian_child`.
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

/// Tells a guardian to stop a child and to forget it.
struct remove_child {
  std::string id;
};

}  // namespace fairlead

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::add_child)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::remove_child)

namespace fairlead {

using guardian_actor = caf::typed_actor<
    // One more child. Answered with an empty text, or with the reason why it could not be started.
    caf::replies_to<add_child>::with<std::string>,
    // Answered once the child has ended, with an empty text; or with the reason why it is not removed.
    caf::replies_to<remove_child>::with<std::string>,
    // Own reminder: the time for a child to end is over.
    caf::reacts_to<expire_atom, std::uint64_t>>;

/// A child that is itself a guardian, for the specification of the guardian above, which is at `parent_path`.
child_spec guardian_child(const guardian_world& world, const std::string& parent_path, guardian_spec spec);

/// The root of a tree. `on_given_up` is called once, from the guardian's thread, when it gives up: the reason names the child. An error of
/// the first start stops the children started so far.
result<guardian_actor> start_guardian(const guardian_world& world, guardian_spec spec, std::function<void(const error&)> on_given_up);

/// Stops everything below in reverse order and waits, at most `limit`; then kills the rest. True: everything ended by itself.
bool stop_guardian(const guardian_world& world, const guardian_actor& root, duration limit);

/// An exception that escapes a handler of `self` ends the actor with a reason that carries the exception's words, for its guardian.
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

/// The words of an actor's exit reason, for operators.
std::string reason_text(const caf::actor_system& system, const caf::error& reason);

}  // namespace fairlead
