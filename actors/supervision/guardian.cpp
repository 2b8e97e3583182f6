#include "actors/supervision/guardian.hpp"

#include "actors/supervision/guardian_state.hpp"

namespace fairlead {

std::string id_problem(const std::string& id) {
  static constexpr auto allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  if (id.empty()) return "a child has no name";
  if (id.find_first_not_of(allowed) != std::string::npos)
    return "`" + id + "` is no name for a child: letters, digits, `_`, `-` and `.` are allowed";
  return {};
}

const guardian* guardian_behind(const caf::strong_actor_ptr& handle) {
  return handle ? dynamic_cast<const guardian*>(handle->get()) : nullptr;
}

std::function<void()> poke_of(const caf::strong_actor_ptr& handle) {
  // Weak: the tree must not keep an ended actor.
  return [to = handle->address()] {
    if (const auto one = caf::actor_cast<caf::strong_actor_ptr>(to))
      caf::anon_send(caf::actor_cast<guardian_actor>(one), expire_atom_v, std::uint64_t{0});
  };
}

guardian_actor spawn_guardian(const guardian_world& world, std::shared_ptr<guardian_branch> branch,
                              guardian::given_up_handler on_given_up) {
  return world.system->spawn<guardian>(world, std::move(branch), std::move(on_given_up));
}

child_spec guardian_child(const guardian_world& world, const std::string& parent_path, guardian_spec spec) {
  child_spec out;
  out.id = spec.id;
  out.below = std::make_shared<guardian_branch>(parent_path + "/" + spec.id, std::move(spec));
  out.start = [world, branch = out.below]() -> result<caf::strong_actor_ptr> {
    return caf::actor_cast<caf::strong_actor_ptr>(spawn_guardian(world, branch, nullptr));
  };
  return out;
}

result<guardian_actor> start_guardian(const guardian_world& world, guardian_spec spec, std::function<void(const error&)> on_given_up) {
  if (auto problem = id_problem(spec.id); !problem.empty())
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, std::move(problem), "Give the root a name."};
  if (!on_given_up) on_given_up = [](const error&) {};
  const auto path = spec.id;
  const auto branch = std::make_shared<guardian_branch>(path, std::move(spec));
  const auto gauge = world.tree->started(path, core::restart_kind::temporary, core::name_of(branch->policy().strategy));
  guardian_actor root;
  {
    const placement here{gauge};
    root = spawn_guardian(world, branch, std::move(on_given_up));
  }
  const auto handle = caf::actor_cast<caf::strong_actor_ptr>(root);
  world.tree->named(path, handle->id(), poke_of(handle));
  const auto& failure = guardian_behind(handle)->first_failure();
  if (!failure) return root;
  // The root stops the started children by itself.
  stop_guardian(world, root, branch->stop_limit());
  return *failure;
}

bool stop_guardian(const guardian_world& world, const guardian_actor& root, duration limit) {
  caf::scoped_actor self{*world.system};
  self->monitor(root);
  caf::anon_send_exit(root, caf::exit_reason::user_shutdown);
  bool by_itself = false;
  bool over = false;
  const auto wait = [&] {
    self->receive(
        [&](const caf::down_msg& what) {
          over = true;
          by_itself = !what.reason || what.reason == caf::exit_reason::user_shutdown;
        },
        caf::after(limit) >> [] {});
  };
  wait();
  if (over) return by_itself;
  // A killed guardian passes the kill on to everything below.
  caf::anon_send_exit(root, caf::exit_reason::kill);
  limit = std::chrono::seconds{1};
  wait();
  return false;
}

std::string reason_text(const caf::actor_system& system, const caf::error& reason) {
  if (!reason) return "it has ended by itself";
  if (reason == caf::exit_reason::user_shutdown) return "it was told to stop";
  if (reason == caf::exit_reason::kill) return "it was killed";
  if (reason.context().size() == 1 && reason.context().match_element<std::string>(0)) return reason.context().get_as<std::string>(0);
  return system.render(reason);
}

}  // namespace fairlead
