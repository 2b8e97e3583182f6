#include "tests/simulation/node/simulated_store.hpp"

#include <utility>

#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

namespace stores = fairlead::store;

simulated_store::simulated_store(std::uint64_t seed, std::function<std::int64_t()> now_unix_ms)
    : random_(seed), now_unix_ms_(std::move(now_unix_ms)), disk_(std::make_unique<stores::memory_disk>(seed)) {
  open();
}

void simulated_store::open() {
  stores::journal_options options;
  options.segment_bytes = std::uint64_t{256} << 10;
  options.max_bytes = std::uint64_t{32} << 20;
  options.release = "simulated";
  options.now_unix_ms = now_unix_ms_;
  options.random = [this] { return random_(); };
  auto opened =
      stores::journaled_stores::open(std::make_unique<stores::lent_disk>(*disk_), {{0, "in memory", &tables_}}, std::move(options));
  if (!opened) throw rule_broken{"fatal", "the store cannot be opened: " + opened.failure().sentence, false};
  joined_ = std::move(*opened);
}

status simulated_store::commit(const std::vector<stores::batch>& group) {
  if (!any_epoch_) return own().commit(group);
  auto taken = group;
  const auto now = read()->get_progress();
  for (auto& one : taken) {
    one.epoch = now.epoch;
    one.sequence = now.sequence + static_cast<std::uint64_t>(&one - taken.data()) + 1;
  }
  return own().commit(taken);
}

status simulated_store::apply() {
  if (auto applied = own().apply(); !applied) return applied;
  return joined_->log().stage();
}

void simulated_store::end_process() {
  const bool was_open = std::exchange(joined_, nullptr) != nullptr;
  disk_->crash();
  disk_->reboot();
  if (was_open) open();
}

/// Brings all to the tables, has `look` look at them, and puts them behind the journal again. False: they have no room for it.
bool simulated_store::settled(const std::function<void()>& look) {
  const auto done = own().settle();
  if (!done.ok() && done.failure().code != v1::ERROR_CODE_STORE_FULL)
    throw rule_broken{"fatal", "the store cannot be settled: " + done.failure().sentence, false};
  joined_.reset();
  if (done.ok()) look();
  open();
  return done.ok();
}

bool simulated_store::leave_state(const v1::ShardState& shard) {
  return settled([&] { tables_.leave_state(shard); });
}

std::shared_ptr<const simulated_store::moment> simulated_store::keep() {
  std::shared_ptr<const moment> out;
  settled([&] { out = tables_.keep(); });
  return out;
}

void simulated_store::put_back(const moment& earlier) {
  joined_.reset();
  tables_.put_back(earlier);
}

void simulated_store::restore(bool with_journal, const std::function<void(stores::restorable&)>& change) {
  change(tables_);
  if (!with_journal) disk_ = std::make_unique<stores::memory_disk>(random_());
  open();
}

}  // namespace fairlead::simulation
