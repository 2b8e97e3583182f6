#include "actors/replication/state_comparer.hpp"

#include <algorithm>
#include <vector>

#include "actors/core/cluster/state_comparison.hpp"
#include "store/rows/node_rows.hpp"

namespace fairlead {

namespace {

constexpr std::int64_t answer_again_ms = 2'000;

}  // namespace

void state_comparer::tick() {
  read_on();
  const auto row = store::comparison_in(*world_.own->read());
  if (row && !core::in_progress(*row)) look_at_verdict(*row);
  const auto now = world_.of->view();
  if (!now.quarantined.empty()) return;
  if (now.role == raft::role::leader && now.epoch != 0) return lead(now, row);
  epoch_ = 0;
  if (row && core::in_progress(*row) && now.role == raft::role::follower) answer(now, *row);
}

void state_comparer::doubt() {
  if (doubted_ms_ && world_.boot_ms() - *doubted_ms_ < doubt_again_ms) return;
  doubted_ms_ = world_.boot_ms();
  doubted_.emplace(world_.own->read_settled());
}

/// Whether all of it is read; nullopt: it cannot be.
std::optional<bool> state_comparer::read_some(store::state_reader& from) {
  const auto read = from.step(world_.bytes_a_tick);
  if (read) return *read;
  if (read.failure().code == v1::ERROR_CODE_CORRUPT)
    world_.on_damage(read.failure());
  else
    world_.note("its state is not compared: " + read.failure().sentence);
  return std::nullopt;
}

/// Its own state, as far as one tick goes.
void state_comparer::read_on() {
  if (auto marked = world_.own->take_marked())
    own_ = own_state{marked->number, marked->index, store::state_reader{std::move(marked->state)}, {}};
  if (doubted_ && read_some(*doubted_).value_or(true)) doubted_.reset();
  if (!own_ || !own_->reader) return;
  const auto all = read_some(*own_->reader);
  if (!all) return own_.reset();
  if (!*all) return;
  own_->hash = own_->reader->hash();
  own_->reader.reset();
}

v1::ReplicaCopy::State state_comparer::state_of_own(std::uint64_t number) const {
  v1::ReplicaCopy::State out;
  out.set_number(number);
  if (!is_known(number)) return out;
  out.set_index(own_->index);
  out.set_low(own_->hash.low);
  out.set_high(own_->hash.high);
  out.set_copied_index(world_.own->copied_index());
  return out;
}

// ---- as one that follows ----

void state_comparer::answer(const replica_view& now, const v1::StateComparison& asked) {
  if (now.leader == 0 || reads(asked.number()) || world_.boot_ms() - answered_ms_ < answer_again_ms) return;
  answered_ms_ = world_.boot_ms();
  v1::ReplicaCopy out;
  out.set_shard(world_.shard);
  out.set_from(world_.of->settings().self);
  out.set_to(now.leader);
  *out.mutable_state() = state_of_own(asked.number());
  world_.send(std::move(out));
}

void state_comparer::look_at_verdict(const v1::StateComparison& what) {
  const auto self = world_.of->settings().self;
  // What it had then it may have lost with a restart, or replaced by a copy.
  const bool is_it = is_known(what.number()) && own_->index == what.index() && world_.own->copied_index() <= what.index();
  if (!is_it || what.no_majority() || core::difference_of(what, self).empty()) return;
  if (std::exchange(judged_, what.number()) == what.number() && world_.boot_ms() - told_ms_ < tell_again_ms) return;
  told_ms_ = world_.boot_ms();
  world_.on_difference(error{v1::ERROR_CODE_CORRUPT,
                             "The store of shard " + std::to_string(world_.shard) +
                                 " has another state than those of the other nodes, as of entry " + std::to_string(what.index()) + ".",
                             "Start the node again: it takes its state from the others."});
}

// ---- as the leader ----

void state_comparer::take(const v1::ReplicaCopy& what) { answers_[what.from()] = what.state(); }

void state_comparer::lead(const replica_view& now, const std::optional<v1::StateComparison>& row) {
  if (std::exchange(epoch_, now.epoch) != now.epoch) {
    leads_since_ms_ = waits_since_ms_ = world_.boot_ms();
    begun_ = ended_ = 0;
  }
  const auto number = row ? row->number() : 0;
  if (row && core::in_progress(*row)) {
    if (std::exchange(collects_, number) != number) std::erase_if(answers_, [&](const auto& one) { return one.second.number() != number; });
    if (reads(number)) waits_since_ms_ = world_.boot_ms();
    const bool is_late = world_.boot_ms() - waits_since_ms_ > answers_within_ms;
    if (ended_ != number && !reads(number) && (is_late || is_answered(now))) end(now, *row);
    return;
  }
  if (now.others.empty() || begun_ > number) return;
  const bool is_wanted = world_.wanted() > number;
  if (is_wanted || core::is_due(row, world_.wall_unix_ms(), world_.boot_ms() - leads_since_ms_)) begin(row);
}

void state_comparer::begin(const std::optional<v1::StateComparison>& last) {
  // What came of the last one stays until this one has ended.
  auto next = last.value_or(v1::StateComparison{});
  next.set_number(next.number() + 1);
  next.set_asked_at_unix_ms(world_.wall_unix_ms());
  next.clear_ended_at_unix_ms();
  store::batch row;
  store::put_comparison(row, next);
  if (world_.of->propose_rows(row)) begun_ = next.number();
}

/// Everybody who can has answered. Who is silent is not waited for.
bool state_comparer::is_answered(const replica_view& now) const {
  const auto boot_ms = world_.boot_ms();
  return std::all_of(now.others.begin(), now.others.end(), [&](const auto& one) {
    const auto said = answers_.find(one.id);
    const auto patience_ms = std::max<std::int64_t>(10 * world_.of->settings().election_ms, 10'000);
    return (said != answers_.end() && said->second.number() == collects_) || boot_ms - one.last_contact_ms > patience_ms;
  });
}

void state_comparer::end(const replica_view& now, const v1::StateComparison& asked) {
  const auto self = world_.of->settings().self;
  answers_[self] = state_of_own(asked.number());
  std::vector<raft::replica_id> ids{self};
  for (const auto& one : now.others) ids.push_back(one.id);
  std::uint64_t index = 0;
  for (const auto id : ids)
    if (answers_[id].number() == asked.number()) index = std::max(index, answers_[id].index());
  std::vector<core::replica_answer> all;
  for (const auto id : ids) {
    const auto& said = answers_[id];
    auto& one = all.emplace_back();
    one.replica = id;
    one.node = world_.node_of(id);
    one.votes = now.members.votes(id);
    if (said.number() != asked.number() || said.index() != index || index == 0) continue;
    one.hash = std::pair{said.low(), said.high()};
    one.copied_index = said.copied_index();
  }
  const auto verdict = core::ended(asked, index, all, self, world_.wall_unix_ms());
  store::batch row;
  store::put_comparison(row, verdict);
  if (!world_.of->propose_rows(row)) return;
  ended_ = asked.number();
  for (const auto& one : verdict.replicas())
    if (const auto why = core::difference_of(verdict, one.replica()); !why.empty()) world_.note("node " + one.node() + ": " + why);
}

}  // namespace fairlead
