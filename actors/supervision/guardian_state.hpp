#pragma once
// Only for guardian*.cpp: the inside of a guardian, which runs one plan at a time, stop by stop and start by start.

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/supervision/guardian.hpp"

namespace fairlead {

/// The specification of a guardian, with the children added since: the source of every start. Outlives the actor.
class guardian_branch {
 public:
  guardian_branch(std::string path, guardian_spec spec) : path_(std::move(path)), spec_(std::move(spec)) {}

  const std::string& path() const noexcept { return path_; }
  const core::restart_policy& policy() const noexcept { return spec_.policy; }
  std::vector<child_spec> children() const;
  void add(child_spec child);
  void remove(const std::string& id);
  /// The longest time to stop everything below, if every child must be killed.
  duration stop_limit() const;
  /// Closes the addresses of everything below, for ever.
  void close_addresses() const;

 private:
  const std::string path_;
  mutable std::mutex guard_;
  guardian_spec spec_;  // `policy` never changes; `children` under the guard, since the guardian above reads them
};

class guardian final : public supervised<guardian_actor::base> {
 public:
  using given_up_handler = std::function<void(const error&)>;

  /// `on_given_up`: only for the root.
  guardian(caf::actor_config& cfg, const guardian_world& world, std::shared_ptr<guardian_branch> branch, given_up_handler on_given_up);

  /// Why the first start failed. The spawner may ask at once; the guardian then ends by itself.
  const std::optional<error>& first_failure() const noexcept { return first_failure_; }
  /// Something below did not end, even killed. Ask after this guardian's own end.
  bool left_behind() const noexcept { return left_behind_; }

  const char* name() const override { return "guardian"; }
  caf::invoke_message_result consume(caf::mailbox_element& x) override;
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  struct child {
    child_spec spec;
    std::string path;
    caf::strong_actor_ptr handle;  // of the running actor, or of the last one
    bool running = false;
    bool killed = false;
    bool added = false;
    bool over = false;  // ended, and never to be started again
  };
  struct waiting_change {
    child_spec spec;      // to add
    std::string removed;  // or the id of the child to remove
    caf::typed_response_promise<std::string> promise;
  };

  void first_start();
  /// nullopt, or why the child could not be started.
  std::optional<error> start(child& which);
  void stop(std::size_t which);
  void on_down(const caf::down_msg& what);
  void on_time_over(std::uint64_t timer);
  void ended_by_itself(std::size_t which, const caf::error& reason, const std::string& text);
  void take(const core::restart_plan& plan, std::size_t which, const std::string& why);
  /// Goes on with the plan, up to the next stop that must be awaited.
  void advance();
  void over(child& which, const std::string& state, const std::string& reason);
  void leave(child& which);
  void begin_end(caf::error reason, bool gives_up);
  void finish();
  void crashed(const std::string& what);
  std::string add(child_spec spec);
  void remove(waiting_change what);
  void serve_waiting();
  void arm(duration limit);
  std::vector<bool> running() const;
  void note(note_level level, const std::string& sentence) const { world_.log->on_note(level, "guardian", sentence); }
  moment now() const { return world_.time->steady(); }

  const guardian_world world_;
  const std::shared_ptr<guardian_branch> branch_;
  given_up_handler on_given_up_;
  const bool is_root_;
  core::restart_book book_;
  std::vector<child> children_;
  std::optional<error> first_failure_;

  std::set<std::size_t, std::greater<>> to_stop_;  // the reverse of the start
  std::optional<std::size_t> stopping_;            // told to end, and awaited
  std::set<std::size_t> to_start_;
  std::uint64_t timer_ = 0;  // 0 is no timer: a message with 0 only wakes the guardian
  std::deque<waiting_change> waiting_;
  std::optional<waiting_change> removing_;  // being stopped

  bool ending_ = false;
  bool gives_up_ = false;
  bool crashed_ = false;
  bool left_behind_ = false;
  caf::error end_reason_;
};

/// Spawns a guardian in the calling thread, which must be inside its placement.
guardian_actor spawn_guardian(const guardian_world& world, std::shared_ptr<guardian_branch> branch, guardian::given_up_handler on_given_up);
/// The guardian behind a handle; null: another actor.
const guardian* guardian_behind(const caf::strong_actor_ptr& handle);
/// Sends the guardian a message without meaning.
std::function<void()> poke_of(const caf::strong_actor_ptr& handle);
/// Empty, or why a child cannot have this id.
std::string id_problem(const std::string& id);

}  // namespace fairlead
