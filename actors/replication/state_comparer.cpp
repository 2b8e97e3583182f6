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

/// Its own state, as far as one tick goes.
void state_comparer::read_on() {
  if (auto marked = world_.own->take_marked())
    own_ = own_state{marked->number, marked->index, store::state_reader{std::move(marked->state)}, {}};
  if (!own_ || !own_->reader) return;
  const auto read = own_->reader->step(world_.bytes_a_tick);
  if (!read) {
    own_.reset();
    return world_.on_damage(read.failure());
  }
  if (!*read) return;
  own_->hash = own_->reader->hash();
  own_->reader.reset();
}

// ---- as one that follows ----

void state_comparer::answer(const replica_view& now, const v1::StateComparison& asked) {
  const bool reads = own_ && own_->number == asked.number() && own_->reader;
  if (now.leader == 0 || reads || world_.boot_ms() - answered_ms_ < answer_again_ms) return;
  answered_ms_ = world_.boot_ms();
  v1::ReplicaCopy out;
  out.set_shard(world_.shard);
  out.set_from(world_.of->settings().self);
  out.set_to(now.leader);
  auto& state = *out.mutable_state();
  state.set_number(asked.number());
  if (is_known(asked.number())) {
    state.set_index(own_->index);
    state.set_low(own_->hash.low);
    state.set_high(own_->hash.high);
  }
  world_.send(std::move(out));
}

void state_comparer::look_at_verdict(const v1::StateComparison& what) {
  if (what.number() == judged_) return;
  judged_ = what.number();
  const auto self = world_.of->settings().self;
  // What it had then it may have lost with a restart, or replaced by a copy.
  if (!is_known(what.number()) || own_->index != what.index() || world_.own->copied_index() > what.index()) return;
  const auto why = core::difference_of(what, self);
  if (why.empty() || what.no_majority()) return;
  world_.on_damage(error{v1::ERROR_CODE_CORRUPT,
                         "The store of shard " + std::to_string(world_.shard) +
                             " has another state than those of the other nodes, as of entry " + std::to_string(what.index()) + ".",
                         "Start the node again: it takes its state from the others."});
}

// ---- as the leader ----

void state_comparer::take(const v1::ReplicaCopy& what) { answers_[what.from()] = what.state(); }

void state_comparer::lead(const replica_view& now, const std::optional<v1::StateComparison>& row) {
  if (std::exchange(epoch_, now.epoch) != now.epoch) {
    leads_since_ms_ = world_.boot_ms();
    begun_ = ended_ = 0;
  }
  if (row && core::in_progress(*row)) {
    if (collects_.first != row->number()) {
      collects_ = {row->number(), world_.boot_ms()};
      std::erase_if(answers_, [&](const auto& one) { return one.second.number() != row->number(); });
    }
    const bool is_late = world_.boot_ms() - std::max(collects_.second, leads_since_ms_) > answers_within_ms;
    if (ended_ != row->number() && (is_late || is_answered(now))) end(now, *row);
    return;
  }
  const auto number = row ? row->number() : 0;
  if (now.others.empty() || begun_ > number) return;
  if (world_.is_wanted() || core::is_due(row, world_.wall_unix_ms(), world_.boot_ms() - leads_since_ms_)) begin(row);
}

void state_comparer::begin(const std::optional<v1::StateComparison>& last) {
  v1::StateComparison next;
  next.set_number((last ? last->number() : 0) + 1);
  next.set_asked_at_unix_ms(world_.wall_unix_ms());
  store::batch row;
  store::put_comparison(row, next);
  if (world_.of->propose_rows(row)) begun_ = next.number();
}

/// Everybody who can has answered. Who is silent is not waited for.
bool state_comparer::is_answered(const replica_view& now) const {
  if (own_ && own_->number == collects_.first && own_->reader) return false;
  const auto boot_ms = world_.boot_ms();
  return std::all_of(now.others.begin(), now.others.end(), [&](const auto& one) {
    const auto said = answers_.find(one.id);
    const auto patience_ms = std::max<std::int64_t>(10 * world_.of->settings().election_ms, 10'000);
    return (said != answers_.end() && said->second.number() == collects_.first) || boot_ms - one.last_contact_ms > patience_ms;
  });
}

void state_comparer::end(const replica_view& now, const v1::StateComparison& asked) {
  const auto self = world_.of->settings().self;
  auto index = is_known(asked.number()) ? own_->index : 0;
  for (const auto& [id, said] : answers_)
    if (said.number() == asked.number()) index = std::max(index, said.index());
  std::vector<core::replica_answer> all;
  all.push_back({self, world_.node_of(self), now.members.votes(self), std::nullopt});
  if (is_known(asked.number()) && own_->index == index) all.front().hash = std::pair{own_->hash.low, own_->hash.high};
  for (const auto& one : now.others) {
    all.push_back({one.id, world_.node_of(one.id), now.members.votes(one.id), std::nullopt});
    const auto said = answers_.find(one.id);
    if (said != answers_.end() && said->second.number() == asked.number() && said->second.index() == index && index != 0)
      all.back().hash = std::pair{said->second.low(), said->second.high()};
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
