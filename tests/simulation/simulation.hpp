#pragma once
// The simulator: one seed is one run of one or two whole shards in a world of its own, and the same seed is always the same run.
//
// In one run of fifty several nodes hold the shard (node/home.hpp).
//
// What is real: the shells that production runs (scheduler with its registry, supervisor, agent_host, agent_links, worker_session, alert book,
// workflow catalog), the core, the declarative engine, the store's twin in memory. What is not: time (world.hpp, clocks.hpp), links between hosts
// (link.hpp), the disk and the death of processes (node.hpp), agents' processes (agents.hpp), the services behind them (services.hpp), clients
// and operators (clients.hpp, operators.hpp), the expression worker (node_ports.cpp). Everything in it goes wrong at some rate: links are cut and
// frozen, requests are late, lost, doubled, overtaken; processes die at every named failpoint (failpoints.hpp), unsynced writes with them, or
// single actors of theirs; agents are slow, fail, answer late, twice or never; each host's clock shows something else, and jumps (weather.hpp).
//
// A run has three parts. Up to `trouble_ms` of simulated time everything above happens while tasks, made from generated workflows
// (workflows.hpp), come in. Then the faults stop, and whatever lives has to get on. In half of the seeds operators then see to what is parked,
// and every task has to end.
//
// The checker (checker*.cpp) judges. It believes what it saw itself: messages as they left the Scheduler, the services' ledger of effects, the
// history of the clients, and each task as a reader sees it after each commit. Every rule has a name; docs and planted faults speak of
// rules by that name.
//
// A seed that fails is shrunk (shrink.hpp): concerns are switched off and budgets cut as long as the same rule still fails. `simulate` is the
// program around it all (main.cpp).

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/core/planted_faults.hpp"

namespace fairlead::simulation {

/// What can be switched off alone.
enum class concern : std::uint8_t {
  node_crashes,       // the process of Scheduler and Supervisor dies
  agent_deaths,       // agents' processes die
  network,            // messages are lost, doubled, overtaken
  slow_services,      // answers after the lease, or never
  failing_services,   // transient and permanent faults
  doubtful_services,  // faults that leave open what happened
  operators,
  clock_jumps,
  slow_disk,
  expressions,    // late or failing
  resubmissions,  // the same submission again, and others under its id
  second_supervisor,
  large_payloads,
  heartbeats,     // steps that must be heard from; some of their handlers hang
  tries,          // agents try again inside an attempt; services ask to be left alone, or answer once and for all
  expiring_keys,  // services that honour an idempotency key only for a while
  breakers,       // services that are down or slow for a while
  limits,
  labels,
  drains,          // instances that take no more, by themselves or because an operator says so
  absence,         // agents that come late
  cut_links,       // nothing gets through between an agent and a shard, both ways or one way
  frozen_links,    // nothing gets through for a while, and then all at once
  lone_crashes,    // an actor dies and its process lives on: the core of a shard, or an agent
  skewed_clocks,   // hosts whose wall clocks differ, and drift
  second_shard,    // whose tasks carry the same numbers and whose agents are the same
  jobs,            // that launch tasks at their times
  long_outages,    // a shard is away while its wall clock goes on by minutes or hours
  clock_falls,     // the wall clock of a shard goes back by more than a moment, at times after it had gone ahead by as much
  far_clocks,      // it is wrong by minutes or hours for a while, in either direction, and is put right
  archives,        // tasks that have ended leave the store
  targets,         // alerts are delivered, and those who get them fail for a while
  polls,           // people wait for the next events of tasks
  bugs,            // decisions that crash
  versions,        // workflows deployed anew while their tasks run
  full_stores,     // too small for what comes
  old_stores,      // that an earlier release has written to
  crowds,          // hundreds of tasks at a time
  wrong_clocks,    // of shards without jobs, behind by hours, days or years, and put right
  restores,        // an earlier moment of a store is put back while agents live on
  replicas,        // several nodes hold the shard; they die, stand still, and are cut off from each other
  workers,         // some agents are workers over HTTP, whose requests and answers are lost and whose nodes die
  own_steps,       // values, waits and signals
  signals,         // clients send them
  results,         // outputs of tasks
  repeats,         // steps that are repeated
  undo_of_failed,  // undos of steps that have failed
  callbacks,       // steps that are answered later
  retry_rules,     // steps that are retried by the class of their faults
  joins,           // steps that start when some of their needs are completed
  schemas,         // of the input of tasks, and submissions that do not fit them
  ends,            // steps of the end
  children,        // steps that are tasks of their own
  items,           // steps that are carried out once for each item of a list
  count
};
const char* concern_name(concern which);

struct options {
  std::uint64_t seed = 1;
  std::uint64_t concerns = ~0ULL;  // bits by `concern`
  int most_tasks = 6;
  int most_steps = 8;
  int most_jobs = 3;                    // of a shard
  std::uint64_t most_faults = ~0ULL;    // faults of all kinds, counted as they happen
  std::uint64_t most_orders = ~0ULL;    // of operators
  std::uint64_t most_events = 200'000;  // what takes more goes round for ever
  std::int64_t absent_alert_after_ms = 4'000;
  std::int64_t failing_alert_after_ms = 3'000;
  core::planted_faults planted;
  bool always_restores = false;    // every run has a restore, not one in forty
  bool always_items = false;       // every run has steps with lists, not one in eleven
  bool always_replicated = false;  // several nodes hold the shard of every run, not of one in fifty
  bool transcript = false;

  bool has(concern which) const { return ((concerns >> static_cast<unsigned>(which)) & 1ULL) != 0; }
};

struct verdict {
  std::string rule;  // empty: nothing was broken
  std::string sentence;
  bool by_checker = true;  // false: a shell threw or said that it has met a bug
  std::uint64_t hash = 0;  // of everything that happened
  std::uint64_t events = 0;
  std::uint64_t faults = 0;
  std::uint64_t orders = 0;
  std::int64_t simulated_ms = 0;
  std::map<std::string, std::uint64_t> passed;  // failpoints: how often they were passed
  std::map<std::string, std::uint64_t> struck;  // and how often something was made to happen there
  std::map<std::string, std::uint64_t> counts;  // of what happened, to show that runs are not vacuous
  std::map<std::string, std::uint64_t> judged;  // rules: how often they were asked
  std::vector<std::string> transcript;

  bool ok() const { return rule.empty(); }
};

/// One run. Never throws for what the system under test does.
verdict run(const options& what);

}  // namespace fairlead::simulation
