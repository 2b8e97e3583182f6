#pragma once
// What the service behind a call promises: as the node file says, or the default that is played where it says nothing.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/config/config.hpp"

namespace fairlead::app::simulate {

struct contract {
  bool declared = false;          // the node file has the call
  bool honours_keys = true;       // one effect for each Idempotency-Key
  std::int64_t valid_for_ms = 0;  // how long it honours a key; 0: for ever
  bool replays_errors = false;    // it records errors under the key, too
  bool looks_up = false;          // the call has a look-up
  bool denies = false;            // the look-up can say that the work was never done
};

/// In a few words: `honours Idempotency-Key for ever, no look-up`.
std::string words_of(const contract& what);

class contracts {
 public:
  /// Of the calls of a node file.
  void read(const node_config& node);
  /// Plays a service that performs at each request, whatever its key.
  void without_keys(const std::string& agent, const std::string& call);

  contract of(const std::string& agent, const std::string& call) const;
  /// As the instances of the agent register them.
  std::vector<v1::CallPolicy> policies_of(const std::string& agent) const;
  std::vector<std::string> lookups_of(const std::string& agent) const;

 private:
  std::map<std::pair<std::string, std::string>, contract> calls_;
};

}  // namespace fairlead::app::simulate
