#include "actors/agent_host/actor.hpp"

#include "actors/agent_host/links.hpp"
#include "actors/agent_host/local_agent.hpp"
#include "actors/protocol/reminders.hpp"
#include "actors/supervision/guardian.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace fairlead {

namespace {

// While attempts are held the host checks the clock at least this often: reminders of a suspended process come late.
constexpr duration longest_rest{1'000};
constexpr duration registration_limit{2'000};
constexpr duration watch_every{5'000};

}  // namespace

class agent_shell final : public agent_outbox {
 public:
  using self_pointer = supervised_stateful_pointer<agent_actor, agent_state>;

  agent_shell(self_pointer self, agent_setup setup)
      : self_(self),
        address_(caf::actor_cast<caf::weak_actor_ptr>(self)),
        setup_(std::move(setup)),
        host_(setup_.who, *setup_.backend, *setup_.time, *this),
        links_(
            setup_.backend->capacity(), [this](std::uint32_t shard) { return host_.held(shard); }, setup_.first_revision) {}

  // The backend's threads call into this object, so they end first.
  ~agent_shell() override { host_.shut_down(); }

  void begin() {
    self_->set_down_handler([this](const caf::down_msg& gone) { ended(gone.source); });
    keep_in_touch();
  }

  // ---- routes to the shards ----

  void route(const shard_route& what) {
    auto& place = places_[what.shard];
    if (what.via == place.via) return;
    place.via = what.via;
    if (what.via) {
      links_.routed(what.shard, now());
    } else {
      leave(place);
      links_.unrouted(what.shard);
    }
    keep_in_touch();
  }

  void ended(const caf::actor_addr& who) {
    for (auto& [shard, place] : places_) {
      if (!place.scheduler || place.scheduler->address() != who) continue;
      place.scheduler = nullptr;
      links_.down(shard, now());
    }
    keep_in_touch();
  }

  void acknowledged(const v1::BeaconAck& what) {
    // A former leader that stood still answers beacons of long ago. By its word the clock would have been set forward.
    const auto place = places_.find(what.shard());
    if (place == places_.end() || !place->second.scheduler || self_->current_sender() != place->second.scheduler) return;
    links_.acknowledged(what, now());
    host_.acknowledged(what);
    keep_in_touch();
    after_message();
  }

  /// One more than is unsettled as long as a shard has not heard of it, which may be handing something over.
  std::uint32_t drain(bool on) {
    links_.drain(on);
    keep_in_touch();
    const auto unheard = on && links_.waits_to_be_heard() ? 1U : 0U;
    return static_cast<std::uint32_t>(host_.unsettled()) + unheard;
  }

  void redefined(const agent_redefined& what) {
    links_.leave(what.now == nullptr);
    if (what.now) {
      auto& next = *what.now;
      links_.redefined(next.backend->capacity());
      host_.redefine({std::move(next.kind), std::move(next.settings), std::move(next.secrets)}, std::move(next.backend));
      say(note_level::info, "begins attempts by its changed definition in the node file");
    }
    leaves_ = what.now == nullptr;
    keep_in_touch();
    end_if_left();
  }

  void look_for_shards() {
    beacons_.fired();
    keep_in_touch();
    end_if_left();
  }

  // ---- attempts ----

  void perform(v1::PerformBatch& what) {
    if (!links_.knows(what.shard())) return;
    host_.perform(std::move(what));
    after_message();
  }

  void acknowledged(const v1::OutcomeAckBatch& what) {
    host_.acknowledged(what);
    setup_.carried ? after_message() : end_if_left();
  }

  void acknowledged(const v1::HeartbeatAckBatch& what) {
    host_.acknowledged(what);
    after_message();
  }

  void progressed(const attempt_progressed& what) {
    host_.progressed(what.key);
    after_message();
  }

  void finished(attempt_finished& what) {
    host_.finished(what.key, std::move(what.result));
    after_message();
  }

  void expire() {
    reminders_.fired();
    host_.expire();
    after_message();
  }

  void flush() {
    flush_armed_ = false;
    host_.flush();
    if (ends_) self_->quit();
  }

  void take(const host_call& what) {
    what.run();
    after_message();
  }

 private:
  struct place {
    caf::strong_actor_ptr via;
    caf::strong_actor_ptr scheduler;  // of the registration; monitored
    std::string complaint;            // last logged reason for the lack of a registration
  };

  moment now() const { return setup_.time->steady(); }

  template <class Batch>
  void tell(Batch what) {
    const auto found = places_.find(what.shard());
    if (found == places_.end() || !found->second.scheduler) return;
    self_->send(caf::actor_cast<scheduler_actor>(found->second.scheduler), std::move(what));
  }
  void outcomes(v1::OutcomeBatch what) override { tell(std::move(what)); }
  void heartbeats(v1::HeartbeatBatch what) override { tell(std::move(what)); }
  void refused(v1::OutcomeBatch what) override {
    if (const auto& from = self_->current_sender()) self_->send(caf::actor_cast<scheduler_actor>(from), std::move(what));
  }

  // Called by the backend's threads: nothing of this object but the address may be touched.
  void finish_later(agents::attempt_key key, agents::attempt_result result) override {
    if (const auto there = caf::actor_cast<agent_actor>(address_)) caf::anon_send(there, attempt_finished{key, std::move(result)});
  }

  void progress_later(agents::attempt_key key) override {
    if (const auto there = caf::actor_cast<agent_actor>(address_)) caf::anon_send(there, attempt_progressed{key});
  }

  /// A shard that has not heard that the instance leaves would list it as away for ever; one that does not answer must not keep it.
  void end_if_left() {
    if (!leaves_ || !host_.idle() || links_.waits_to_be_heard()) return;
    say(note_level::info, setup_.carried ? "has left" : "has left: the node file does not name it any more");
    self_->quit();
  }

  // ---- registration ----

  void leave(place& where) {
    if (where.scheduler) self_->demonitor(where.scheduler->address());
    where.scheduler = nullptr;
  }

  void enlist(const agent_links::registration& how) {
    auto what = host_.registration(how.shard);
    what.set_revision(how.revision);
    what.set_capacity(how.capacity);
    what.set_draining(how.draining);
    what.set_leaving(how.leaving);
    what.set_node(setup_.node);
    what.set_beacon_ms(to_unix_ms(now()));
    what.set_session(setup_.session);
    what.set_silent(how.silent);
    self_
        ->request(caf::actor_cast<gateway_actor>(places_[how.shard].via), registration_limit, std::move(what),
                  caf::actor_cast<caf::strong_actor_ptr>(self_))
        .then([this, how](const v1::AgentWelcome& answer, const caf::strong_actor_ptr& scheduler) { answered(how, answer, scheduler); },
              [this, how](const caf::error& why) { unanswered(how, "no answer: " + reason_text(self_->system(), why)); });
  }

  void answered(const agent_links::registration& how, const v1::AgentWelcome& answer, const caf::strong_actor_ptr& scheduler) {
    auto& where = places_[how.shard];
    if (answer.superseded() && setup_.carried) return give_way(answer);
    if (answer.has_error()) {
      if (links_.refused(how.shard, how.revision, now())) {
        leave(where);
        complain(how.shard, answer.error().sentence() + (answer.error().remedy().empty() ? "" : "; " + answer.error().remedy()));
      }
      keep_in_touch();
      return;
    }
    if (!scheduler || answer.shard() != how.shard) {
      unanswered(how, "an invalid answer");
      return;
    }
    if (!links_.awaits(how.shard, how.revision)) return;
    if (!host_.welcomed(answer)) {
      unanswered(how, "its answer is from an earlier lineage or start of the shard than this agent has seen");
      return;
    }
    links_.welcomed(how.revision, answer, now());
    if (where.scheduler != scheduler) {
      leave(where);
      where.scheduler = scheduler;
      self_->monitor(scheduler->address());
    }
    if (!std::exchange(where.complaint, {}).empty())
      say(note_level::info, "is registered with shard " + std::to_string(how.shard) + " again");
    keep_in_touch();
    after_message();
  }

  /// The instance goes on elsewhere, or as a later process.
  void give_way(const v1::AgentWelcome& answer) {
    say(note_level::info, "ends here: " + (answer.has_error() ? answer.error().sentence() : "it is registered at another node"));
    setup_.carried->superseded();
    self_->quit();
  }

  void unanswered(const agent_links::registration& how, const std::string& why) {
    if (links_.awaits(how.shard, how.revision)) complain(how.shard, why);
    links_.unanswered(how.shard, how.revision, now());
    keep_in_touch();
  }

  void complain(std::uint32_t shard, const std::string& why) {
    if (std::exchange(places_[shard].complaint, why) != why)
      say(note_level::warning, "cannot register with shard " + std::to_string(shard) + ": " + why);
  }

  void say(note_level level, const std::string& what) {
    if (setup_.log != nullptr) setup_.log->on_note(level, "agent", setup_.who.instance + " " + what);
  }

  // ---- reminders ----

  /// Sends the messages that are due to the shards, and arms the next check.
  void keep_in_touch() {
    const auto here = now();
    if (setup_.links && (!watched_at_ || here - *watched_at_ >= watch_every)) {
      // The links may have crashed over the last request.
      self_->send(setup_.links, watch_atom_v, caf::actor_cast<caf::strong_actor_ptr>(self_));
      watched_at_ = here;
    }
    const auto due = links_.due(here);
    for (const auto& one : due.registrations) enlist(one);
    for (const auto shard : due.beacons) {
      v1::Beacon beacon;
      beacon.set_instance(setup_.who.instance);
      beacon.set_incarnation(setup_.who.incarnation);
      beacon.set_shard(shard);
      beacon.set_beacon_ms(to_unix_ms(here));
      tell(std::move(beacon));
    }
    auto next = links_.next();
    if (setup_.links) next = next ? std::min(*next, *watched_at_ + watch_every) : *watched_at_ + watch_every;
    if (!next) return;
    const auto wait = std::max(*next - here, duration{1});
    if (beacons_.wants(mailbox_time(*self_) + wait)) self_->delayed_send(self_, wait, beacon_atom_v);
  }

  /// What a carried backend wants of its instance. False: the actor is ending.
  bool keep_wishes() {
    auto& carried = *setup_.carried;
    carried.caught_up();
    const auto wish = carried.wants();
    if (wish.ends) {
      // Behind what it has given back, which comes as messages.
      if (!std::exchange(ends_, true)) self_->send(self_, flush_atom_v);
      return false;
    }
    links_.keep(wish, carried.capacity());
    leaves_ = leaves_ || wish.leaves;
    keep_in_touch();
    return true;
  }

  void after_message() {
    if (setup_.carried && !keep_wishes()) return;
    end_if_left();
    if (host_.wants_flush() && !std::exchange(flush_armed_, true)) self_->send(self_, flush_atom_v);
    auto next = host_.next_expiry();
    if (const auto wakes = setup_.carried ? setup_.carried->next_wake() : std::nullopt) next = next ? std::min(*next, *wakes) : *wakes;
    if (!next) return;
    auto wait = std::max(*next - now(), duration{0});
    if (host_.holds_any()) wait = std::min(wait, longest_rest);
    if (reminders_.wants(mailbox_time(*self_) + wait)) self_->delayed_send(self_, wait, expire_atom_v);
  }

  self_pointer self_;
  const caf::weak_actor_ptr address_;
  agent_setup setup_;
  agent_host host_;
  agent_links links_;
  std::map<std::uint32_t, place> places_;
  std::optional<moment> watched_at_;
  bool flush_armed_ = false;
  bool leaves_ = false;
  bool ends_ = false;  // with the next flush
  reminders reminders_;
  reminders beacons_;
};

agent_actor::behavior_type run_agent(supervised_stateful_pointer<agent_actor, agent_state> self, agent_setup setup) {
  end_on_bug(self, "agent host");
  self->state.shell = std::make_shared<agent_shell>(self, std::move(setup));
  auto* shell = self->state.shell.get();
  shell->begin();
  return {
      [=](v1::PerformBatch& what) { shell->perform(what); },
      [=](const v1::OutcomeAckBatch& what) { shell->acknowledged(what); },
      [=](const v1::HeartbeatAckBatch& what) { shell->acknowledged(what); },
      [=](const v1::BeaconAck& what) { shell->acknowledged(what); },
      [=](const shard_route& what) { shell->route(what); },
      [](shard_total) {},  // the instance serves the shards that it has routes to, however many there are
      [=](drain_atom, bool on) { return shell->drain(on); },
      [=](const agent_redefined& what) {
        shell->redefined(what);
        return true;
      },
      [=](attempt_finished& what) { shell->finished(what); },
      [=](const attempt_progressed& what) { shell->progressed(what); },
      [=](expire_atom) { shell->expire(); },
      [=](flush_atom) { shell->flush(); },
      [=](beacon_atom) { shell->look_for_shards(); },
      [=](const host_call& what) { shell->take(what); },
  };
}

}  // namespace fairlead
