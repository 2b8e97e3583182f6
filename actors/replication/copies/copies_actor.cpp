#include "actors/replication/copies/copies_actor.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "actors/replication/copies/copy_giver.hpp"
#include "actors/replication/copies/copy_taker.hpp"
#include "actors/replication/state_comparer.hpp"
#include "actors/supervision/guardian.hpp"
#include "messages/ids.hpp"

namespace fairlead {

namespace {

constexpr std::chrono::milliseconds tick_every{250};

class copies {
 public:
  copies(supervised_pointer<copies_actor> self, copies_setup setup) : self_(self), setup_(std::move(setup)) {}

  void tick() {
    self_->delayed_send(self_, tick_every, tick_atom_v);
    if (!begun()) return;
    giver_->tick();
    taker_->tick();
    comparer_->tick();
  }

  void take(const v1::ReplicaCopy& what) {
    if (!begun()) return;
    if (what.has_state()) return comparer_->take(what);
    copy_taker::is_for_taker(what) ? taker_->take(what) : giver_->asked(what);
  }

 private:
  /// The shard has begun here.
  bool begun() {
    if (giver_) return true;
    auto* const it = setup_.seat->consensus();
    if (it == nullptr) return false;
    auto& own = setup_.seat->own();
    const auto boot_ms = [] { return now_boot_ms(); };
    const auto send = [replica = setup_.replica](v1::ReplicaCopy what) { caf::anon_send(replica, std::move(what)); };
    const auto note = [this](const std::string& sentence) {
      setup_.log->on_note(note_level::info, "replica", "shard " + std::to_string(setup_.seat->settings().shard) + ": " + sentence);
    };
    giver_.emplace(copy_giver::world{
        it, &own, setup_.archives.get(), setup_.seat->settings().shard, boot_ms, [] { return make_uuid_v7(now_unix_ms()); }, send, note,
        [seat = setup_.seat](raft::replica_id id) { return seat->name_of(id); }, setup_.turn, [this] { comparer_->doubt(); }});
    taker_.emplace(copy_taker::world{it, &own, setup_.archives.get(), boot_ms, send, note, setup_.on_fatal});
    const auto on_damage = [this](const error& why) { setup_.on_damage ? setup_.on_damage(why) : note_of(why); };
    const auto on_difference = [this](const error& why) { setup_.on_difference ? setup_.on_difference(why) : note_of(why); };
    comparer_.emplace(state_comparer::world{it, &own, setup_.seat->settings().shard, boot_ms, [] { return now_unix_ms(); }, send, note,
                                            [seat = setup_.seat](raft::replica_id id) { return seat->name_of(id); },
                                            [seat = setup_.seat] { return seat->wanted_comparison(); }, on_damage, on_difference});
    return true;
  }

  void note_of(const error& why) { setup_.log->on_note(note_level::error, "replica", why.sentence); }

  supervised_pointer<copies_actor> self_;
  copies_setup setup_;
  std::optional<copy_giver> giver_;
  std::optional<copy_taker> taker_;
  std::optional<state_comparer> comparer_;
};

}  // namespace

copies_actor::behavior_type run_copies(supervised_pointer<copies_actor> self, copies_setup setup) {
  end_on_bug(self, "copies");
  const auto it = std::make_shared<copies>(self, std::move(setup));
  self->send(self, tick_atom_v);
  return {
      [it](const v1::ReplicaCopy& what) { it->take(what); },
      [it](tick_atom) { it->tick(); },
  };
}

}  // namespace fairlead
