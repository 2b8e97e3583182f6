#pragma once
// The remote services, good citizens all: they remember idempotency keys, most for ever, some for as long as they say: a perform under a key
// that was forgotten has its effect once more. The same perform twice has one effect; an undo may come before its perform, and the perform
// that follows then has none; a lookup that says `never happened` keeps its word, and a perform under that key is refused. Some record a
// fault under a key and give it again for ever. The services outlive every process of the system, and a request that has reached one is
// carried out even when nobody waits for the answer any more.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "actors/agents/backend.hpp"
#include "tests/simulation/world/ledger.hpp"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

/// Who asks a service, for the ledger.
struct asker {
  std::string instance;
  std::uint64_t incarnation = 0;
  std::uint64_t epoch = 0;
  std::int64_t key_valid_for_ms = 0;  // of the service's keys; 0: for ever
};

/// What an attempt prints. Some steps print nothing that is kept, some more than fits into the task's row.
std::optional<std::string> printed_by(const std::string& task, std::uint32_t step, v1::Direction direction, std::uint32_t attempt);

class services {
 public:
  /// How long a request to a service that forgets keys is under way at most; it honours them so much longer than it says.
  static constexpr std::int64_t longest_way_ms = 1'000;

  services(world& in, ledger& book) : world_(in), book_(book) {}

  /// Carries the request out, at this moment, and gives what the service answers.
  agents::attempt_result carry_out(const v1::Perform& what, const asker& who);

  /// A person looks into the service, and blocks the key when it was never performed (nullopt): then it never will be.
  std::optional<std::string> inspect(const std::string& perform_key);

  /// An operator has these performed again whatever the system says of their age, and sees to it that the service still knows them.
  void keep_keys_of(const std::string& task) { kept_.insert(task); }

  /// What it has answered for the perform under this key; null: it has performed nothing.
  const std::string* given(const std::string& perform_key) const {
    const auto found = keys_.find(perform_key);
    return found == keys_.end() || found->second.output.empty() ? nullptr : &found->second.output;
  }

  /// Somebody has looked in vain for its effect and blocked it.
  bool blocked(const std::string& perform_key) const {
    const auto found = keys_.find(perform_key);
    return found != keys_.end() && found->second.state == fate::blocked;
  }

 private:
  enum class fate { performed, undone, promised_away, blocked, refused };
  struct known_key {
    fate state = fate::performed;
    std::string output;
    std::int64_t first_us = 0;
    int effects = 0;                 // under the same key: more than one when it had been forgotten
    bool answers_transient = false;  // refused: as what
  };
  bool forgotten(const known_key& what, const std::string& task, const asker& who) const;
  agents::attempt_result perform(known_key& known, bool fresh, const v1::Perform& what, const asker& who, ledger_entry& entry,
                                 std::string& note);
  std::string output_for(const std::string& key);

  world& world_;
  ledger& book_;
  std::map<std::string, known_key> keys_;
  std::set<std::string> kept_;
  std::uint64_t next_output_ = 1;
};

}  // namespace fairlead::simulation
