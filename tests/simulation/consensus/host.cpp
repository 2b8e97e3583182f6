#include "tests/simulation/consensus/host.hpp"

#include <utility>

namespace fairlead::simulation {

consensus_host::consensus_host(raft::settings how, raft::base first) : how_{how}, given_out_{first.index}, durable_applied_{first.index} {
  journal_.emplace_back(std::move(first));
  durable_ = written_ = 1;
}

void recorded_log::take(const raft::record& one) {
  const auto drop_from = [this](raft::log_index index) {
    terms_.erase(terms_.lower_bound(index), terms_.end());
    members_.erase(members_.lower_bound(index), members_.end());
  };
  if (const auto* removed = std::get_if<raft::cut>(&one)) drop_from(removed->first_removed);
  if (const auto* made = std::get_if<raft::entry>(&one)) {
    drop_from(made->index);
    terms_[made->index] = made->term;
    if (made->kind == raft::entry_kind::members) members_[made->index] = *raft::decode_members(made->bytes());
  }
  if (const auto* begin = std::get_if<raft::base>(&one)) {
    terms_.erase(terms_.begin(), terms_.lower_bound(begin->index));
    members_.erase(members_.begin(), members_.upper_bound(begin->index));
    terms_[begin->index] = begin->term;
    members_[begin->index] = begin->who;
  }
}

raft::recovered consensus_host::recover() const {
  raft::recovered from;
  for (const auto& each : journal_) {
    if (const auto* hard = std::get_if<raft::hard_state>(&each)) from.hard = *hard;
    if (const auto* removed = std::get_if<raft::cut>(&each))
      while (!from.entries.empty() && from.entries.back().index >= removed->first_removed) from.entries.pop_back();
    if (const auto* begin = std::get_if<raft::base>(&each)) {
      from.from = *begin;
      while (!from.entries.empty() && from.entries.front().index <= begin->index) from.entries.erase(from.entries.begin());
    }
    if (const auto* made = std::get_if<raft::entry>(&each)) from.entries.push_back(*made);
  }
  return from;
}

void consensus_host::start(raft::moment now, random_stream& chance) {
  in_memory_ = on_disk_ = {};
  for (const auto& each : journal_) {
    in_memory_.take(each);
    on_disk_.take(each);
  }
  auto from = recover();
  from.applied = given_out_ = durable_applied_;
  auto how = how_;
  how.seed = chance.next();
  started_at_ = written_;
  ++life_;
  replica_.emplace(how, std::move(from), now);
}

void consensus_host::stop(random_stream& chance) {
  replica_.reset();
  // A write is torn anywhere: some of its records may be there.
  durable_ += chance.below(written_ - durable_ + 1);
  written_ = durable_;
  journal_.resize(durable_);
  writes_ = false;
}

void consensus_host::install(const raft::base& copied) {
  journal_ = {recover().hard, copied};
  durable_ = written_ = journal_.size();
  durable_applied_ = copied.index;
}

raft::output consensus_host::step(const raft::input& in, raft::moment now, consensus_judge& judge) {
  auto out = replica_->step(in, now);
  voted_ = false;
  for (auto& each : out.records) {
    const auto* hard = std::get_if<raft::hard_state>(&each);
    voted_ = voted_ || (hard != nullptr && hard->vote != 0 && hard->vote != id());
    judge.wrote(id(), each, given_out_);
    in_memory_.take(each);
    journal_.push_back(std::move(each));
    ++written_;
  }
  for (const auto& each : out.committed) {
    if (each.index != given_out_ + 1) throw broken_rule{"order", "replica " + std::to_string(id()) + " gives out entries out of order"};
    given_out_ = each.index;
    const auto there = on_disk_.terms().find(each.index);
    if (there == on_disk_.terms().end() || there->second != each.term)
      throw broken_rule{"undurable",
                        "replica " + std::to_string(id()) + " gives out entry " + std::to_string(each.index) + ", which its disk lacks"};
    judge.committed(id(), replica_->term(), each);
  }
  if (replica_->entries().current_members() != in_memory_.members_in_force())
    throw broken_rule{"members", "replica " + std::to_string(id()) + " takes other members for those in force than its records say"};
  if (!replica_->quarantined().empty()) throw broken_rule{"quarantine", replica_->quarantined()};
  if (replica_->current_role() == raft::role::leader) judge.leads(id(), *replica_);
  return out;
}

std::uint64_t consensus_host::begin_write() {
  writes_ = true;
  return written_ - started_at_;
}

void consensus_host::finish_write(std::uint64_t position) {
  writes_ = false;
  for (; durable_ < started_at_ + position; ++durable_) on_disk_.take(journal_[durable_]);
}

}  // namespace fairlead::simulation
