#pragma once
// The remote services, good citizens all: they remember idempotency keys for ever. The same perform twice has one effect; an undo may come
// before its perform, and the perform that follows then has none; a lookup that says `never happened` keeps its word, and a perform under
// that key is refused. The services
// outlive every process of the system, and a request that has reached one is carried out even when nobody waits for the answer any more.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "actors/agents/backend.hpp"
#include "tests/simulation/ledger.hpp"
#include "tests/simulation/world.hpp"

namespace fairlead::simulation {

/// Who asks a service, for the ledger.
struct asker {
  std::string instance;
  std::uint64_t incarnation = 0;
  std::uint64_t epoch = 0;
};

class services {
 public:
  services(world& in, ledger& book) : world_(in), book_(book) {}

  /// Carries the request out, at this moment, and gives what the service answers.
  agents::attempt_result carry_out(const v1::Perform& what, const asker& who);

  /// A person looks into the service, and blocks the key when it was never performed (nullopt): then it never will be.
  std::optional<std::string> inspect(const std::string& perform_key);

  /// Somebody has looked in vain for its effect and blocked it.
  bool blocked(const std::string& perform_key) const {
    const auto found = keys_.find(perform_key);
    return found != keys_.end() && found->second.state == fate::blocked;
  }

 private:
  enum class fate { performed, undone, promised_away, blocked };
  struct known_key {
    fate state = fate::performed;
    std::string output;
  };
  std::string output_for(const std::string& key);

  world& world_;
  ledger& book_;
  std::map<std::string, known_key> keys_;
  std::uint64_t next_output_ = 1;
};

}  // namespace fairlead::simulation
