#pragma once
// The remote services, good citizens all: they remember idempotency keys, most for ever, some for as long as they say: a perform under a key
// that was forgotten has its effect once more. The same perform twice has one effect; an undo may come before its perform, and the perform
// that follows then has none; a lookup that says `never happened` keeps its word, and a perform under that key is refused. Some record a
// fault under a key and give it again for ever. Work that is answered later they accept, do at once or later, and tell of: early, late, twice,
// never, or in two ways; what they have done under a key they do not do again, and what has failed stays undone. The services outlive every
// process of the system, and a request that has reached one is carried out even when nobody waits for the answer any more.

#include <cstdint>
#include <functional>
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

/// By a callback: it may succeed another time, or not.
inline constexpr auto code_of_late_transient = "job_lost";
inline constexpr auto code_of_late_permanent = "job_failed";

/// How work has ended that was accepted, as its service tells the shard.
struct late_answer {
  std::uint32_t shard = 0;
  std::string task;
  std::string callback;
  std::optional<std::string> output;  // JSON; nullopt: none is given
  std::optional<v1::Fault> fault;
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

  /// Brings it to the shard.
  std::function<void(const late_answer&)> on_late_answer;

  /// A look-up or an operator has been told that it was performed.
  bool told_of(const std::string& perform_key) const { return told_.count(perform_key) != 0; }

  /// Somebody has looked in vain for its effect and blocked it.
  bool blocked(const std::string& perform_key) const {
    const auto found = keys_.find(perform_key);
    return found != keys_.end() && found->second.state == fate::blocked;
  }

 private:
  /// Accepted: it is to be done. Failed: it was accepted, is not done, and never will be.
  enum class fate { performed, undone, promised_away, blocked, refused, accepted, failed };
  struct known_key {
    fate state = fate::performed;
    std::string output;
    std::int64_t first_us = 0;
    int effects = 0;                 // under the same key: more than one when it had been forgotten
    bool answers_transient = false;  // refused: as what
    // Of work that was accepted.
    std::uint32_t shard = 0;
    std::string callback;     // of the latest request
    ledger_entry asked;       // by the request that was accepted
    std::uint64_t times = 0;  // it was accepted; work of an earlier time is not done
    bool fails = false;
    bool is_silent = false;  // nobody is told how it ends, unless it is asked for again
  };
  /// It has no effect, and can be kept from having one.
  static bool may_be_blocked(fate state, bool fresh) {
    return fresh || state == fate::refused || state == fate::accepted || state == fate::failed;
  }
  bool forgotten(const known_key& what, const std::string& task, const asker& who) const;
  agents::attempt_result perform(known_key& known, bool fresh, const v1::Perform& what, const asker& who, ledger_entry& entry,
                                 std::string& note);
  std::string output_for(const std::string& key);
  // Work that is answered later (late_services.cpp).
  agents::attempt_result accept(known_key& known, const v1::Perform& what, const ledger_entry& asked, std::string& note);
  agents::attempt_result accept_again(known_key& known, const v1::Perform& what, std::string& note);
  void begin_work(const std::string& key, known_key& known);
  void do_work(const std::string& key, std::uint64_t times);
  void tell_later(const std::string& key, std::int64_t delay_us, bool otherwise = false);
  void tell(const std::string& key, bool otherwise);
  void tell_of_earlier(const v1::Perform& what);
  void tell(late_answer what);

  world& world_;
  ledger& book_;
  std::map<std::string, known_key> keys_;
  std::set<std::string> kept_;
  std::set<std::string> told_;                    // keys
  std::map<effect_name, std::string> callbacks_;  // of the latest key of each step
  std::uint64_t next_output_ = 1;
};

}  // namespace fairlead::simulation
