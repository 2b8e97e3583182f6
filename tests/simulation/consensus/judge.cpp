#include "tests/simulation/consensus/judge.hpp"

#include <functional>

namespace fairlead::simulation {

namespace {

std::uint64_t content_of(const raft::entry& what) {
  return std::hash<std::string_view>{}(what.bytes()) * 31 + static_cast<std::uint64_t>(what.kind) +
         static_cast<std::uint64_t>(what.stamp_ms) * 17;
}

std::string named(raft::replica_id who) { return "replica " + std::to_string(who); }

}  // namespace

void consensus_judge::wrote(raft::replica_id who, const raft::record& what, raft::log_index given_out) {
  if (const auto* removed = std::get_if<raft::cut>(&what); removed != nullptr && removed->first_removed <= given_out)
    throw broken_rule{"committed_cut", named(who) + " cuts at " + std::to_string(removed->first_removed) + " what it has given out up to " +
                                           std::to_string(given_out)};
  if (const auto* made = std::get_if<raft::entry>(&what)) {
    const auto [known, fresh] = made_.emplace(std::pair{made->index, made->term}, content_of(*made));
    if (!fresh && known->second != content_of(*made))
      throw broken_rule{"log_matching",
                        named(who) + " has another entry " + std::to_string(made->index) + " of term " + std::to_string(made->term)};
  }
}

void consensus_judge::committed(raft::replica_id who, raft::log_term term, const raft::entry& what) {
  const auto [known, fresh] = committed_.emplace(what.index, known_entry{what.term, content_of(what), term});
  known->second.given_out_in = std::min(known->second.given_out_in, term);
  if (!fresh && (known->second.term != what.term || known->second.content != content_of(what)))
    throw broken_rule{"state_equality", named(who) + " gives out another entry " + std::to_string(what.index) + ": of term " +
                                            std::to_string(what.term) + ", not " + std::to_string(known->second.term)};
  if (fresh) {
    const auto here = stamps_.emplace(what.index, what.stamp_ms).first;
    if ((here != stamps_.begin() && std::prev(here)->second > what.stamp_ms) ||
        (std::next(here) != stamps_.end() && std::next(here)->second < what.stamp_ms))
      throw broken_rule{"stamps", "the stamp of entry " + std::to_string(what.index) + " is not between those beside it"};
  }
  if (fresh && what.index > 11 && committed_.count(what.index - 1) == 0)
    throw broken_rule{"gap", named(who) + " gives out " + std::to_string(what.index) + ", and nobody the one before"};
}

void consensus_judge::leads(raft::replica_id who, const raft::consensus& replica) {
  const auto [known, fresh] = leaders_.emplace(replica.term(), who);
  if (known->second != who)
    throw broken_rule{"one_leader", named(who) + " and " + named(known->second) + " lead in term " + std::to_string(replica.term())};
  if (!fresh) return;
  const auto& log = replica.entries();
  for (auto each = committed_.rbegin(); each != committed_.rend() && each->first > log.base_index(); ++each) {
    // One that was elected long ago may learn of it late.
    if (each->second.given_out_in >= replica.term()) continue;
    const auto here = log.term_at(each->first);
    if (here != each->second.term)
      throw broken_rule{"leader_completeness", named(who) + " leads in term " + std::to_string(replica.term()) +
                                                   " without the committed entry " + std::to_string(each->first)};
  }
}

void consensus_judge::confirmed(raft::replica_id who, raft::log_index known, raft::log_index index) {
  if (index < known)
    throw broken_rule{"stale_answer", named(who) + " says that it led and that " + std::to_string(index) + " is all there is, and " +
                                          std::to_string(known) + " was acknowledged before it was asked"};
}

}  // namespace fairlead::simulation
