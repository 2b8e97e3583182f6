#pragma once
// What the tester does to an agent, one lesson after another. Pure.

#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::app::agent_check {

/// The rules of an agent in any language, by their numbers in docs/any-language.md. `requests`: what the API takes at all.
enum class rule : int { requests, stamp, lease_end, last_answer, outcome, key, doubt, session, held };
inline constexpr int most_rules = 9;

/// In a few words.
const char* words_of(rule which);

/// What the outcome of an attempt is answered with.
enum class outcome_answer { accepted, cut, cut_in_head, busy, gone, not_held };
/// How the tester's own service treats a request for an attempt.
enum class service_answer { at_once, late, cut };
/// Whether an outcome has to come.
enum class outcome_wanted { yes, no, within_lease };

struct lesson {
  std::string name;
  rule about;
  std::string direction = "perform";
  bool cut_registration = false;  // the answer to the first registration is cut
  std::int64_t lease_ms = 15'000;
  std::int64_t heartbeat_ms = 0;
  std::int64_t late_ms = 0;     // the way of the answer that brings the attempt
  bool cut_take = false;        // the answer that brings the attempt is cut, once
  bool gone_take = false;       // a take is answered with 410, and there is no attempt
  bool twice = false;           // the attempt comes twice in one answer
  bool same_key = false;        // another attempt of the step before
  bool not_held = false;        // heartbeats are answered with held: false
  bool never_happened = false;  // of a lookup: the perform in question
  bool draining = false;
  bool loses_node = false;                 // the node goes away once the agent's service has the attempt
  bool ends_agent = false;                 // the agent is told to end once its service has the attempt
  std::vector<outcome_answer> outcomes{};  // in their order; after them all are accepted
  service_answer service = service_answer::at_once;
  outcome_wanted outcome = outcome_wanted::yes;
  bool needs_service = false;  // only for agents that ask the tester's service
  std::int64_t limit_ms = 10'000;
};

/// All of them, in their order.
std::vector<lesson> all_lessons();

/// How late the service answers where it is late.
inline constexpr std::int64_t service_late_ms = 2'500;

}  // namespace fairlead::app::agent_check
