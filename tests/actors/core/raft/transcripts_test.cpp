// Golden transcripts of replicas (tests/golden.hpp says how a file is written). The commands in transcripts/:
//
//   voters ID… [standbys ID…]    begins: all have a base at index 10 of term 1
//   start ID term T [INDEX/TERM…]    ID starts again with the base and these entries
//   tick ID MS | sync ID | propose ID TEXT | confirm ID TICKET | transfer ID TO | members ID voters ID… [standbys ID…]
//   deliver       all messages, and those that are sent because of them; every disk is synced in between
//   silent ID…    messages from and to these are lost; without an ID: none any more
//   state         who is what
//
// What is shown of a step: the message, what goes into the journal, what is committed. Ticks show nothing.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <sstream>

#include "tests/actors/core/raft/group.hpp"
#include "tests/golden.hpp"

namespace fairlead::raft {
namespace {

std::string at(log_index index, log_term term) { return std::to_string(index) + "/" + std::to_string(term); }

std::string text_of(const members& who) {
  std::string out = "voters";
  for (const auto id : who.voters) out += " " + std::to_string(id);
  if (!who.standbys.empty()) out += " standbys";
  for (const auto id : who.standbys) out += " " + std::to_string(id);
  return out;
}

std::string text_of(const entry& what) {
  const auto where = at(what.index, what.term);
  if (what.kind == entry_kind::epoch) return where + " epoch";
  if (what.kind == entry_kind::members) return where + " " + text_of(*decode_members(what.bytes()));
  return where + " \"" + std::string{what.bytes()} + "\"";
}

struct record_text {
  std::string operator()(const hard_state& one) const { return "term " + std::to_string(one.term) + " vote " + std::to_string(one.vote); }
  std::string operator()(const cut& one) const { return "cut from " + std::to_string(one.first_removed); }
  std::string operator()(const base& one) const { return "base " + at(one.index, one.term) + " " + text_of(one.who); }
  std::string operator()(const entry& one) const { return text_of(one); }
};

struct body_text {
  std::string operator()(const vote_request& one) const {
    return std::string{one.pre ? "pre-vote" : "vote"} + (one.transfer ? " for a transfer" : "") + ", last " +
           at(one.last_index, one.last_term);
  }
  std::string operator()(const vote_reply& one) const {
    return std::string{one.pre ? "pre-vote" : "vote"} + (one.granted ? " granted" : " refused");
  }
  std::string operator()(const append& one) const {
    std::string out = "append after " + at(one.previous_index, one.previous_term) + ", commit " + std::to_string(one.commit);
    for (const auto& each : one.entries) out += ", " + text_of(each);
    return out;
  }
  std::string operator()(const append_reply& one) const {
    if (!one.rejected) return "has up to " + std::to_string(one.matched);
    return "lacks " + std::to_string(one.previous_index) + ", perhaps " + at(one.hint_index, one.hint_term);
  }
  std::string operator()(const heartbeat& one) const {
    return "heartbeat, commit " + std::to_string(one.commit) + ", round " + std::to_string(one.round);
  }
  std::string operator()(const heartbeat_reply& one) const { return "hears, round " + std::to_string(one.round); }
  std::string operator()(const timeout_now&) const { return "campaign now"; }
};

class raft_interpreter {
 public:
  std::string run(const std::string& line) {
    std::istringstream in{line};
    std::string verb;
    in >> verb;
    said_.clear();
    if (verb == "voters") {
      group_.emplace(members_in(in));
      for (const auto each : group_->ids()) roles_[each] = role_of(each);
      group_->watch = [this](replica_id id, const input& what, const output& gave) { tell(id, what, gave); };
      return "ok\n";
    }
    auto& g = group_.value();
    replica_id id = 0;
    if (verb == "deliver") {
      g.settle();
    } else if (verb == "silent") {
      for (g.silent.clear(); in >> id;) g.silent[id] = true;
    } else if (verb == "state") {
      for (const auto each : g.ids()) said_ += state_of(each);
    } else if (in >> id) {
      command(verb, id, in);
    }
    return said_.empty() ? "ok\n" : said_;
  }

 private:
  void command(const std::string& verb, replica_id id, std::istringstream& in) {
    auto& g = *group_;
    std::string word;
    std::uint64_t number = 0;
    if (verb == "start") {
      recovered from{{}, {10, 1, g.first_members()}, {}, 10};
      in >> word >> from.hard.term;
      for (char slash = 0; in >> number >> slash;) {
        auto one = text(number, 0, "of " + std::to_string(number));
        in >> one.term;
        from.entries.push_back(one);
      }
      g.start(id, from);
    } else if (verb == "tick") {
      in >> number;
      g.pass(id, static_cast<std::int64_t>(number));
    } else if (verb == "sync") {
      g.sync(id);
    } else if (verb == "propose") {
      in >> word;
      if (g.propose_text(id, word) == 0) said_ += "refused\n";
    } else if (verb == "confirm" && in >> number) {
      g.step(id, confirm{number});
    } else if (verb == "transfer" && in >> number) {
      g.step(id, transfer{number});
    } else if (verb == "members" && in >> word) {
      if (g.step(id, change_members{members_in(in)}).accepted == 0) said_ += "refused\n";
    } else {
      said_ += "unknown command\n";
    }
  }

  static members members_in(std::istringstream& in) {
    members out;
    auto* list = &out.voters;
    for (std::string word; in >> word;) {
      if (word == "standbys")
        list = &out.standbys;
      else
        list->push_back(std::stoull(word));
    }
    return out;
  }

  void tell(replica_id id, const input& what, const output& gave) {
    const auto name = std::to_string(id);
    if (const auto* came = std::get_if<received>(&what))
      said_ += std::to_string(came->what.from) + " -> " + name + ": " + std::visit(body_text{}, came->what.body) + ", term " +
               std::to_string(came->what.term) + "\n";
    for (const auto& each : gave.records) said_ += "  " + name + " writes " + std::visit(record_text{}, each) + "\n";
    for (const auto& each : gave.committed) said_ += "  " + name + " commits " + text_of(each) + "\n";
    for (const auto& each : gave.confirmed)
      said_ += "  " + name + (each.led ? " led, up to " + std::to_string(each.index) : " did not lead") + ": ticket " +
               std::to_string(each.ticket) + "\n";
    const auto role = role_of(id);
    if (auto& known = roles_[id]; known != role) {
      known = role;
      said_ += "  " + name + " is " + role + "\n";
    }
  }

  std::string role_of(replica_id id) {
    const auto& of = group_->core(id);
    if (!of.quarantined().empty()) return "in quarantine: " + of.quarantined();
    constexpr const char* names[] = {"a follower", "asking", "a candidate", "the leader"};
    return names[static_cast<int>(of.current_role())] + (" in term " + std::to_string(of.term()));
  }

  std::string state_of(replica_id id) {
    const auto& log = group_->core(id).entries();
    return std::to_string(id) + ": " + role_of(id) + ", last " + at(log.last_index(), log.last_term()) + ", commit " +
           std::to_string(group_->core(id).commit_index()) + ", " + text_of(log.current_members()) + "\n";
  }

  std::optional<group> group_;
  std::map<replica_id, std::string> roles_;
  std::string said_;
};

TEST(replicas, behave_as_their_transcripts_say) {
  compare_with_golden("tests/actors/core/raft/transcripts", 5, [] {
    return [run = std::make_shared<raft_interpreter>()](const std::vector<std::string>& lines) { return run->run(lines.front()); };
  });
}

}  // namespace
}  // namespace fairlead::raft
