#include "tests/simulation/node/simulated_store.hpp"

#include <cstdlib>
#include <utility>

#include "messages/lineage.hpp"
#include "messages/replica.pb.h"
#include "store/journaled/run.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

namespace stores = fairlead::store;

result<std::unique_ptr<stores::incoming_copy>> tables_of_node::receive(std::uint64_t bytes) {
  class placed final : public stores::incoming_copy {
   public:
    placed(tables_of_node& in, std::unique_ptr<stores::incoming_copy> of) : in_(in), of_(std::move(of)) {}
    status write(std::string_view bytes) override { return of_->write(bytes); }
    std::uint64_t bytes() const override { return of_->bytes(); }
    result<stores::tables*> open() override {
      auto opened = of_->open();
      if (opened.ok() && in_.keeps_identity && !identity_) {
        const auto came = (*opened)->read_tables();
        const auto row = came->get(stores::table::meta, stores::keys::meta(stores::meta::replica_row));
        if (row.ok() && *row) identity_ = std::string{**row};
      }
      return opened;
    }
    status take_over() override {
      if (identity_) {
        stores::batch row;
        row.put(stores::table::meta, stores::keys::meta(stores::meta::replica_row), *identity_);
        if (const auto kept = (*of_->open())->apply(stores::operations_of(row.bytes())); !kept.ok()) return kept;
      }
      if (in_.on_placing) in_.on_placing(false);
      auto done = of_->take_over();
      if (in_.on_placing) in_.on_placing(true);
      return done;
    }

   private:
    tables_of_node& in_;
    std::unique_ptr<stores::incoming_copy> of_;
    std::optional<std::string> identity_;
  };
  auto begun = tables_around::receive(bytes);
  if (!begun) return begun.failure();
  return std::unique_ptr<stores::incoming_copy>(new placed(*this, std::move(*begun)));
}

simulated_store::simulated_store(std::uint64_t seed, stores::archives_below& archives, const clock& time,
                                 std::optional<replica_settings> born)
    : random_(seed), archives_(archives), time_(time), replicated_(born.has_value()), disk_(std::make_unique<stores::memory_disk>(seed)) {
  if (born) be_born(*born, first_of_simulated());
  open();
}

v1::Lineage first_of_simulated() { return first_lineage(1'000, 1); }

/// As the replicas of a shard are once they have met: all of one lineage.
void simulated_store::be_born(const replica_settings& as, const v1::Lineage& of) {
  const auto alone = stores::journaled_store::open(tables_, {0, "in memory", &archives_, {}, {}});
  v1::ShardMembers all;
  all.mutable_voters()->Assign(as.born_with.voters.begin(), as.born_with.voters.end());
  if (!alone.ok() || !(*alone)->be_replica(as.self).ok() || !(*alone)->begin_shard(all.SerializeAsString(), {0, 1, "simulated"}, of).ok())
    throw rule_broken{"fatal", "a replica cannot be made", false};
}

void simulated_store::open() {
  stores::journal_options options;
  options.segment_bytes = std::uint64_t{256} << 10;
  options.max_bytes = std::uint64_t{32} << 20;
  options.release = "simulated";
  options.now_unix_ms = [this] { return to_unix_ms(time_.now()); };
  options.boot_ms = [this] { return to_unix_ms(time_.steady()); };
  options.random = [this] { return random_(); };
  auto opened = stores::journaled_stores::open(std::make_unique<stores::lent_disk>(*disk_),
                                               {{0, "in memory", &below_, &archives_, replicated_, reads_}}, std::move(options));
  if (!opened) throw rule_broken{"fatal", "the store cannot be opened: " + opened.failure().sentence, false};
  joined_ = std::move(*opened);
}

/// The first time in a process it takes the log over, as production does once the store's rows are there.
result<std::uint64_t> simulated_store::raise_epoch() {
  if (!replica_) replica_ = std::make_unique<replica>(own(), replica_settings{}, [this] { return to_unix_ms(time_.steady()); });
  return replica_->raise_epoch();
}

void simulated_store::close() {
  replica_.reset();
  joined_.reset();
}

status simulated_store::commit(const std::vector<stores::batch>& group) {
  if (!any_epoch_) {
    auto done = replica_->commit(group);
    if (done.ok()) judge_time();
    return done;
  }
  auto taken = group;
  const auto now = read()->get_progress();
  for (auto& one : taken) {
    one.epoch = now.epoch;
    one.sequence = now.sequence + static_cast<std::uint64_t>(&one - taken.data()) + 1;
  }
  return replica_->commit(taken);
}

/// Shard time never falls, and within a process it goes with the boot clock, whatever somebody sets the wall clock to.
void simulated_store::judge_time() {
  const auto now_ms = own().shard_time_ms(), at_ms = to_unix_ms(time_.steady());
  if (now_ms < stamp_ms_) world::broken("shard_time", "shard time has fallen by " + std::to_string(stamp_ms_ - now_ms) + " ms");
  const auto passed_ms = at_ms - stamp_at_ms_;
  // A thousandth, and what is cut off below a millisecond.
  if (stamp_at_ms_ != 0 && std::abs(now_ms - stamp_ms_ - passed_ms) > passed_ms / 1'000 + 2)
    world::broken("shard_time",
                  "shard time went on by " + std::to_string(now_ms - stamp_ms_) + " ms in " + std::to_string(passed_ms) + " ms");
  stamp_ms_ = now_ms;
  stamp_at_ms_ = at_ms;
}

void simulated_store::change_state(const std::string& row) {
  fairlead::store::batch out;
  out.put(fairlead::store::table::meta, fairlead::store::keys::meta(row), "changed");
  if (auto done = tables_.apply(fairlead::store::run::of(out)->operations()); !done) world::broken("store_check", done.failure().sentence);
}

status simulated_store::apply() {
  do {
    if (auto applied = own().apply(); !applied) return applied;
  } while (own().unapplied_generations() > 1);
  return joined_->log().stage();
}

void simulated_store::end_process() {
  const bool was_open = joined_ != nullptr;
  close();
  stamp_at_ms_ = 0;
  disk_->crash();
  disk_->reboot();
  if (was_open) open();
}

void simulated_store::lose_disk(const replica_settings& born, const v1::Lineage& of) {
  close();
  stamp_ms_ = 0;
  tables_.put_back(*stores::memory_store{}.keep());
  disk_ = std::make_unique<stores::memory_disk>(random_());
  be_born(born, of);
  open();
}

void simulated_store::recover(bool with_journal, raft::replica_id id, const v1::ShardNodes& nodes,
                              const std::function<void(stores::restorable&)>& change) {
  auto done = tables_.begin_recovery(1);
  if (done.ok()) done = own().accept_log();
  if (done.ok()) done = own().settle();
  close();
  stamp_ms_ = stamp_at_ms_ = 0;
  if (done.ok()) restore(with_journal, change);
  if (done.ok()) done = own().be_replica(id, *raft::encode({{id}, {}}), nodes.SerializeAsString());
  if (!done.ok()) throw rule_broken{"fatal", "a shard cannot be recovered: " + done.failure().sentence, false};
}

/// Brings all to the tables, has `look` look at them, and puts them behind the journal again. False: they have no room for it.
bool simulated_store::settled(const std::function<void()>& look) {
  const auto done = own().settle();
  if (!done.ok() && done.failure().code != v1::ERROR_CODE_STORE_FULL)
    throw rule_broken{"fatal", "the store cannot be settled: " + done.failure().sentence, false};
  close();
  stamp_at_ms_ = 0;
  if (done.ok()) look();
  open();
  return done.ok();
}

bool simulated_store::leave_state(const v1::ShardState& shard) {
  return settled([&] { tables_.leave_state(shard); });
}

std::shared_ptr<const simulated_store::moment> simulated_store::keep() {
  const auto done = own().apply_all();
  if (!done.ok() && done.failure().code != v1::ERROR_CODE_STORE_FULL)
    throw rule_broken{"fatal", "the store cannot be backed up: " + done.failure().sentence, false};
  if (!done.ok()) return nullptr;
  // The copy is settled, and the store goes on.
  stores::memory_store copied;
  copied.put_back(*tables_.keep());
  const auto alone = stores::journaled_store::open(copied, {{}, "the backup", &archives_, {}, {}});
  if (!alone.ok()) throw rule_broken{"fatal", "the backup cannot be opened: " + alone.failure().sentence, false};
  if (const auto settled = (*alone)->settle(); !settled.ok())
    throw rule_broken{"fatal", "the backup cannot be settled: " + settled.failure().sentence, false};
  return copied.keep();
}

void simulated_store::put_back(const moment& earlier) {
  close();
  stamp_ms_ = stamp_at_ms_ = 0;
  tables_.put_back(earlier);
}

void simulated_store::restore(bool with_journal, const std::function<void(stores::restorable&)>& change) {
  change(tables_);
  if (!with_journal) disk_ = std::make_unique<stores::memory_disk>(random_());
  open();
}

}  // namespace fairlead::simulation
