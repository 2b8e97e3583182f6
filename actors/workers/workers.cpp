#include "actors/workers/workers.hpp"

#include <chrono>
#include <utility>

#include "actors/agent_host/actor.hpp"
#include "messages/ids.hpp"
#include "messages/tickets.hpp"

namespace fairlead {

namespace {

constexpr std::chrono::seconds end_limit{1};
constexpr unsigned bits_of_start = 41;  // milliseconds until the year 2039

/// What a host's registrations count up from. A later move is above an earlier one. Two hosts of one move (the answer to a registration was
/// lost, and the worker sent it to another node) differ by when they began.
std::uint64_t first_revision(std::uint64_t moves, moment now) {
  constexpr std::uint64_t all = (std::uint64_t{1} << bits_of_start) - 1;
  return (moves << bits_of_start) | (static_cast<std::uint64_t>(to_unix_ms(now)) & all);
}

/// Calls what it holds once, also if the message that carries it gets lost.
class certain_call {
 public:
  explicit certain_call(std::function<void(agents::worker_session*)> then) : then_(std::move(then)) {}
  certain_call(const certain_call&) = delete;
  certain_call& operator=(const certain_call&) = delete;
  ~certain_call() { run(nullptr); }
  void run(agents::worker_session* session) {
    if (then_) std::exchange(then_, nullptr)(session);
  }

 private:
  std::function<void(agents::worker_session*)> then_;
};

error takes_none() {
  return {v1::ERROR_CODE_UNAVAILABLE, "This node takes no workers: it is draining or ending.",
          "Register at another node, or try again later."};
}

}  // namespace

result<std::string> workers::carry(beginning what) {
  agents::worker_session::definition as;
  as.calls.assign(what.as.calls().begin(), what.as.calls().end());
  as.lookups.assign(what.as.lookups().begin(), what.as.lookups().end());
  as.policies.assign(what.as.policies().begin(), what.as.policies().end());
  as.capacity = what.as.capacity();
  as.moved = what.moved;
  as.have = std::move(what.have);

  agent_setup setup;
  setup.who = {what.as.agent(), what.as.instance(), what.as.incarnation(), {std::string{worker_kind}, {}, nullptr}};
  setup.who.callback_url = in_.callback_url;
  auto& settings = setup.who.as.settings;
  settings.labels.assign(what.as.labels().begin(), what.as.labels().end());
  settings.limits.assign(what.as.limits().begin(), what.as.limits().end());
  settings.breaker = what.as.breaker();
  setup.time = in_.time;
  setup.log = in_.log;
  setup.node = in_.node;
  setup.links = in_.links;
  setup.first_revision = first_revision(what.moves, in_.time->now());
  setup.who.first_beat = setup.first_revision;
  setup.session = what.as.session();
  const auto session = std::make_shared<agents::worker_session>(std::move(as), *in_.time);
  setup.backend = setup.carried = session;

  auto id = make_uuid_v7(to_unix_ms(in_.time->now()));
  std::unique_lock lock{guard_};
  if (paused_ || closed_) return takes_none();
  if (places_.size() >= most_workers)
    return error{v1::ERROR_CODE_OVERLOADED, "This node carries " + std::to_string(most_workers) + " workers, which is the maximum.",
                 "Register at another node, or let one worker hold more attempts (capacity)."};
  for (const auto& [other, where] : places_)
    if (where.instance == what.as.instance())
      tell(where, [](agents::worker_session* before) {
        if (before != nullptr) before->superseded();
      });
  // Before the worker asks for work: whoever stands in for it takes nothing more.
  if (++carried_[what.as.agent()] == 1) tell_stand_ins(what.as.agent());
  const auto host = in_.system->spawn(run_agent, std::move(setup));
  places_.emplace(id, place{host, session, what.as.agent(), what.as.instance(), std::move(what.owner)});
  lock.unlock();
  // Called when the host has ended, on its thread or on this one.
  caf::actor_cast<caf::abstract_actor*>(host)->attach_functor([weak = weak_from_this(), id] {
    if (const auto all = weak.lock()) all->forget(id);
  });
  return id;
}

void workers::tell(const place& where, std::function<void(agents::worker_session*)> then) {
  const auto call = std::make_shared<certain_call>(std::move(then));
  caf::anon_send(where.host, host_call{[call, session = where.session] { call->run(session.get()); }});
}

void workers::call(const std::string& id, const std::string& owner, std::function<void(agents::worker_session*)> then) {
  std::optional<place> where;
  {
    const std::lock_guard lock{guard_};
    const auto found = places_.find(id);
    if (found != places_.end() && found->second.owner == owner) where = found->second;
  }
  if (!where) return then(nullptr);
  tell(*where, std::move(then));
}

bool workers::is_of_another(const std::string& id, const std::string& owner) const {
  const std::lock_guard lock{guard_};
  const auto found = places_.find(id);
  return found != places_.end() && found->second.owner != owner;
}

void workers::forget(const std::string& id) {
  std::optional<place> gone;  // destroyed outside of the lock
  {
    const std::lock_guard lock{guard_};
    if (auto node = places_.extract(id)) {
      gone = std::move(node.mapped());
      if (const auto left = carried_.find(gone->agent); --left->second == 0) {
        carried_.erase(left);
        tell_stand_ins(gone->agent);
      }
    }
    if (!places_.empty()) return;
  }
  left_.notify_all();
}

void workers::end_all() {
  std::vector<place> all;
  {
    const std::lock_guard lock{guard_};
    for (const auto& [id, where] : places_) all.push_back(where);
  }
  for (const auto& where : all)
    tell(where, [](agents::worker_session* session) {
      if (session != nullptr) session->close();
    });
}

void workers::pause(bool on) {
  {
    const std::lock_guard lock{guard_};
    paused_ = on;
    for (const auto& [agent, all] : stand_ins_) tell_stand_ins(agent);
  }
  if (on) end_all();
}

void workers::close() {
  {
    const std::lock_guard lock{guard_};
    if (std::exchange(closed_, true)) return;
  }
  end_all();
  std::unique_lock lock{guard_};
  left_.wait_for(lock, end_limit, [this] { return places_.empty(); });
}

std::size_t workers::count() const {
  const std::lock_guard lock{guard_};
  return places_.size();
}

void workers::add_stand_in(const std::string& agent, agent_actor who) {
  const std::lock_guard lock{guard_};
  stand_ins_[agent].all.push_back(std::move(who));
  tell_stand_ins(agent);
}

bool workers::carries(const std::string& agent) const {
  const std::lock_guard lock{guard_};
  return carried_.count(agent) != 0;
}

/// The shards hear of a drain before they hear of the worker, whose host has yet to find them.
void workers::tell_stand_ins(const std::string& agent) {
  const auto found = stand_ins_.find(agent);
  if (found == stand_ins_.end() || paused_ || closed_) return;
  auto& [all, aside] = found->second;
  const auto carried = carried_.count(agent) != 0;
  for (const auto& one : all) caf::anon_send(one, drain_atom_v, carried);
  if (std::exchange(aside, carried) == carried || in_.log == nullptr) return;
  in_.log->on_note(note_level::info, stand_in_component,
                   "agent " + agent +
                       (carried ? ": a worker has registered and does its work; the script steps aside"
                                : ": its last worker has left; the script answers again"));
}

}  // namespace fairlead
