#include "app/agent_check/lessons.hpp"

namespace fairlead::app::agent_check {

const char* words_of(rule which) {
  switch (which) {
    case rule::requests: return "send what the API takes";
    case rule::stamp: return "stamp before you send, and count leases from there";
    case rule::lease_end: return "stop at the end of the lease, and say nothing of what you did not finish before";
    case rule::last_answer: return "name the last answer in `after`";
    case rule::outcome: return "repeat an outcome until it is accepted, repeated or not held";
    case rule::key: return "use the idempotency key as it is";
    case rule::doubt: return "say in_doubt for whatever you are not sure of";
    case rule::session: return "register again with the session and all tickets that you hold";
    case rule::held: return "ignore an attempt that you have had before; one process an instance";
  }
  return "";
}

std::vector<lesson> all_lessons() {
  using enum outcome_answer;
  return {
      {.name = "a registration whose answer is lost", .about = rule::requests, .cut_registration = true},
      {.name = "an attempt", .about = rule::requests},
      {.name = "a take whose answer is lost", .about = rule::last_answer, .cut_take = true},
      {.name = "an outcome whose answer is lost", .about = rule::outcome, .outcomes = {cut}},
      {.name = "an outcome whose answer ends in its head", .about = rule::outcome, .outcomes = {cut_in_head}},
      {.name = "an outcome while the node is busy", .about = rule::outcome, .outcomes = {busy}},
      {.name = "an outcome that is not held", .about = rule::outcome, .outcomes = {not_held}},
      {.name = "a lease that is over", .about = rule::lease_end, .lease_ms = 0, .outcome = outcome_wanted::no},
      {.name = "an attempt that is long on its way",
       .about = rule::stamp,
       .lease_ms = 700,
       .late_ms = 1'500,
       .outcome = outcome_wanted::no},
      {.name = "work that is longer than its lease",
       .about = rule::lease_end,
       .lease_ms = 1'200,
       .service = service_answer::late,
       .outcome = outcome_wanted::within_lease,
       .needs_service = true},
      {.name = "work that needs heartbeats",
       .about = rule::requests,
       .heartbeat_ms = 1'200,
       .service = service_answer::late,
       .needs_service = true},
      {.name = "heartbeats that say: not held",
       .about = rule::lease_end,
       .heartbeat_ms = 900,
       .not_held = true,
       .service = service_answer::late,
       .outcome = outcome_wanted::no,
       .needs_service = true},
      {.name = "a service that breaks off", .about = rule::doubt, .service = service_answer::cut, .needs_service = true},
      {.name = "another attempt under the same key", .about = rule::key, .same_key = true, .needs_service = true},
      {.name = "a lookup of what was done", .about = rule::doubt, .direction = "lookup"},
      {.name = "a lookup of what never happened", .about = rule::doubt, .direction = "lookup", .never_happened = true},
      {.name = "an undo of what was done", .about = rule::requests, .direction = "undo"},
      {.name = "a session that ends while nothing is held", .about = rule::session, .gone_take = true},
      {.name = "a session that ends while an attempt is held", .about = rule::session, .outcomes = {busy, gone}},
      {.name = "a node that is lost while an attempt is held",
       .about = rule::session,
       .loses_node = true,
       .service = service_answer::late,
       .needs_service = true},
      {.name = "an attempt that comes twice", .about = rule::held, .twice = true},
      {.name = "a node that drains", .about = rule::requests, .draining = true},
      {.name = "an end while an attempt is held",
       .about = rule::requests,
       .ends_agent = true,
       .service = service_answer::late,
       .needs_service = true},
  };
}

}  // namespace fairlead::app::agent_check
