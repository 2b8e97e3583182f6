#pragma once
// The services behind the calls, each as its contract says, and their ledger of effects. They outlive every crash of a node.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "app/simulate/contract.hpp"
#include "messages/agent.pb.h"

namespace fairlead::app::simulate {

/// Of the task that is submitted.
inline constexpr const char* simulated_id = "task";

/// What was done under one Idempotency-Key of a perform.
struct ledger_entry {
  std::uint64_t task_number = 0;
  std::uint32_t step = 0;
  std::string agent, call;
  std::int64_t first_ms = 0;
  int performed = 0;     // effects made under the key
  int live = 0;          // of these not undone
  int undone = 0;        // effects taken back
  int undos = 0;         // undo requests that were carried out
  int undo_again = 0;    // of these under a key that had been carried out before
  bool refused = false;  // it was undone: where keys are honoured a perform under the key has no effect any more
  bool denied = false;   // a look-up has said that it never happened, and never will
  std::string undo_call;
  std::string output;
};

struct service_answer {
  std::optional<v1::Fault> fault;
  std::string output = "null";  // JSON text
  v1::LookupVerdict verdict = v1::LOOKUP_VERDICT_UNSPECIFIED;
};

/// `step charge`, or `step charge of task/ship~1` of a task that the simulated one began.
std::string step_of(const v1::Perform& what);

v1::Fault fault_of(v1::FaultKind kind, const std::string& code, const std::string& message);

class services {
 public:
  /// A request may be on its way for so long; services honour their keys so much longer than they say.
  static constexpr std::int64_t longest_way_ms = 60'000;

  using output_source = std::function<std::string(const v1::Perform&)>;
  using teller = std::function<void(const std::string& words)>;

  services(const contracts& promised, output_source output, teller tell)
      : promised_(promised), output_(std::move(output)), tell_(std::move(tell)) {}

  /// Carries the request out now.
  service_answer carry_out(const std::string& agent, const v1::Perform& what, std::int64_t now_ms);

  /// An operator looks into the service: the output of what the step has done. nullopt: nothing, and it is kept from being done later.
  std::optional<std::string> inspect(std::uint64_t task_number, std::uint32_t step);

  /// By the keys of performs.
  const std::map<std::string, ledger_entry>& ledger() const { return ledger_; }

 private:
  service_answer perform(const std::string& agent, const v1::Perform& what, std::int64_t now_ms);
  service_answer undo(const std::string& agent, const v1::Perform& what);
  service_answer look_up(const std::string& agent, const v1::Perform& what);
  ledger_entry& entry(const std::string& key, const std::string& agent, const v1::Perform& what);

  const contracts& promised_;
  output_source output_;
  teller tell_;
  std::map<std::string, ledger_entry> ledger_;
  std::map<std::string, int> undo_keys_;  // how often each was carried out
};

}  // namespace fairlead::app::simulate
