#pragma once
// Time, order and luck of one run. Events happen one after the other, ordered by their moment and, at the same moment, by when they were
// put in the queue. Nothing here knows what runs in it.

#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <google/protobuf/message_lite.h>

#include "messages/task.pb.h"
#include "messages/time.hpp"
#include "tests/simulation/simulation.hpp"
#include "tests/simulation/world/failpoints.hpp"
#include "tests/simulation/world/random.hpp"

namespace fairlead::simulation {

inline constexpr std::int64_t millisecond = 1'000;  // the queue counts microseconds
inline constexpr std::int64_t second = 1'000 * millisecond;
inline constexpr std::int64_t minute_ms = 60'000;
inline constexpr std::int64_t whole_ms_us = 4 * millisecond;  // all clocks count whole milliseconds
inline constexpr std::int64_t whole_ms = 2;
inline constexpr std::int64_t longest_to_disk_us = 60 * second;
inline constexpr std::int64_t look_period_us = 250 * millisecond;

inline const char* word(v1::Direction direction) {
  return direction == v1::DIRECTION_UNDO ? "undo" : direction == v1::DIRECTION_LOOKUP ? "lookup" : "perform";
}

/// Thrown at a failpoint to unwind out of the shell that was at work; whoever runs the process catches it.
struct process_killed {};

/// The first broken rule ends a run.
struct rule_broken {
  std::string rule;
  std::string sentence;
  bool by_checker = true;
};

class world {
 public:
  explicit world(const options& what)
      : settings(what),
        disk(what.seed, 1),
        network(what.seed, 2),
        services(what.seed, 3),
        crashes(what.seed, 4),
        clients(what.seed, 5),
        operators(what.seed, 6),
        shapes(what.seed, 7),
        clocks(what.seed, 8),
        profiles(what.seed, 9),
        handlers(what.seed, 10),
        links(what.seed, 11),
        hosts(what.seed, 12),
        jobs(what.seed, 13),
        far_clocks(what.seed, 14),
        holds(what.seed, 15),
        archives(what.seed, 30),
        targets(what.seed, 31),
        polls(what.seed, 32),
        bugs(what.seed, 33),
        versions(what.seed, 34),
        stores(what.seed, 35),
        crowds(what.seed, 36),
        wrong_clocks(what.seed, 37),
        restores(what.seed, 38),
        starts(what.seed, 39),
        deletions(what.seed, 40),
        power(what.seed, 41),
        replicas(what.seed, 42),
        doors(what.seed, 43),
        exits(what.seed, 44),
        signals(what.seed, 45),
        callbacks(what.seed, 46),
        families(what.seed, 47) {}

  // ---- time ----

  /// The true time, which no process knows; timers run on it.
  std::int64_t now_us() const noexcept { return now_us_; }
  /// What a clock shows that is right when the world begins.
  std::int64_t start_ms() const noexcept { return start_ms_; }
  /// Before anything happens.
  void begin_at(std::int64_t unix_ms) { start_ms_ = unix_ms; }
  /// How often the wall clock of a shard has been set (clocks.hpp): rules that compare moments by it are judged only while nobody does that.
  std::uint64_t clock_settings() const noexcept { return clock_settings_; }
  void note_clock_setting() { ++clock_settings_; }

  void after(std::int64_t delay_us, std::function<void()> what) {
    queue_.push({now_us_ + std::max<std::int64_t>(delay_us, 0), next_order_++, std::move(what)});
  }

  /// Runs the next event; false when there is none before `until_us`.
  bool step(std::int64_t until_us);
  std::uint64_t events() const noexcept { return events_; }
  /// Operators begin anew what had come to rest: it takes as long as it took before, so the events until it rests again count anew.
  void begin_round() {
    before_round_ = events_;
    round_.clear();
  }

  // ---- faults ----

  /// Whether this concern may still make trouble.
  bool troubled(concern which) const { return trouble_ && settings.has(which) && faults_ < settings.most_faults; }
  /// One fault of the kind happens when luck has it.
  bool strikes(concern which, random_stream& luck, std::uint64_t per_mille);
  /// The same at a named place.
  /// Strikes there rather than anywhere else in this run.
  void favour(failpoint_id where) {
    favourite_ = static_cast<int>(where);
    likely_ = 600;
    seldom_ = 0;  // what comes before it must not take the one death of the run
    deaths_left_ = 1;
  }
  bool favours(failpoint_id where) const { return favourite_ == static_cast<int>(where); }
  bool strikes(failpoint_id where);
  void end_trouble() {
    trouble_ = false;
    calm_since_us_ = now_us_;
  }
  /// The last request that is late has come by now.
  bool long_calm() const { return !trouble_ && now_us_ - calm_since_us_ > 10 * second; }
  bool trouble() const noexcept { return trouble_; }
  std::uint64_t faults() const noexcept { return faults_; }

  // ---- what happened ----

  bool tells() const noexcept { return settings.transcript; }
  /// One line of the transcript; `what` is called only when there is one. Every line counts for the hash by who, whom and `weight`.
  template <class Text>
  void tell(std::string_view who, std::string_view whom, std::uint64_t weight, Text&& what) {
    fold(who);
    fold(whom);
    fold(weight);
    if (tells()) line(who, whom, what());
    if (lingers()) went_round(who, whom, what());
  }
  /// A line that counts for nothing.
  void remark(std::string_view who, std::string text) {
    if (tells()) line(who, {}, std::move(text));
  }
  void fold(std::uint64_t value) { hash_ = random_stream::mix(hash_ ^ (value + 0x9e3779b97f4a7c15ULL)) + now_us(); }
  void fold(std::string_view text);
  static std::uint64_t weigh(const google::protobuf::MessageLite& message);
  void count(const char* what, std::uint64_t by = 1) { counts_[what] += by; }
  /// A rule is asked about something: it could be broken.
  void judges(const char* rule) { ++judged_[rule]; }

  [[noreturn]] static void broken(std::string rule, std::string sentence) { throw rule_broken{std::move(rule), std::move(sentence), true}; }

  void report(verdict& out);

  options settings;
  random_stream disk;
  random_stream network;
  random_stream services;
  random_stream crashes;
  random_stream clients;
  random_stream operators;
  random_stream shapes;
  random_stream clocks;
  random_stream profiles;      // what agents promise and are limited to, and when their services are bad
  random_stream handlers;      // what they do besides asking their services
  random_stream links;         // between agents and shards
  random_stream hosts;         // their clocks, and which of their actors dies alone
  random_stream jobs;          // what they are, what is asked of them, and the faults that are made for them
  random_stream far_clocks;    // wall clocks of shards with jobs that are wrong by minutes or hours
  random_stream holds;         // pauses of jobs with launches that wait, and what is skipped by hand
  random_stream archives;      // when tasks that have ended leave the store, and what is asked of them around that
  random_stream targets;       // who gets alerts, and how that fails
  random_stream polls;         // who waits for events
  random_stream bugs;          // decisions that crash
  random_stream versions;      // of workflows, and when they are deployed
  random_stream stores;        // how large they are, and who wrote to them before
  random_stream crowds;        // runs with hundreds of tasks
  random_stream wrong_clocks;  // of shards without jobs
  random_stream restores;      // when a backup is made, and when it is put back
  random_stream starts;        // submissions that give a start
  random_stream deletions;     // of tasks
  random_stream power;         // of disks, in the middle of a write
  random_stream replicas;      // of shards that several nodes hold
  random_stream doors;         // workers over HTTP: who they are, and what becomes of their requests and of the nodes that carry them
  random_stream exits;         // when they are told to end, and how they do
  random_stream signals;       // who sends which to a task, and when
  random_stream callbacks;     // what becomes of work that services have accepted, and when they say so
  random_stream families;      // how many tasks may live below one

 private:
  struct entry {
    std::int64_t at_us;
    std::uint64_t order;
    std::function<void()> what;
    bool operator<(const entry& other) const { return std::pair{at_us, order} > std::pair{other.at_us, other.order}; }
  };
  void line(std::string_view who, std::string_view whom, std::string text);
  /// The run has taken longer than any should, and what it does now is counted to be named.
  bool lingers() const noexcept { return events_ - before_round_ > settings.most_events; }
  void went_round(std::string_view who, std::string_view whom, const std::string& what) {
    ++round_[std::string{who} + (whom.empty() ? "" : " -> ") + std::string{whom} + ": " + what.substr(0, what.find_first_of(": "))];
  }
  void end_the_round() const;

  std::int64_t now_us_ = 0;
  std::int64_t start_ms_ = 1'700'000'000'000;
  std::uint64_t clock_settings_ = 0;
  std::uint64_t next_order_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t before_round_ = 0;  // events until operators last began something anew
  std::priority_queue<entry> queue_;
  bool trouble_ = true;
  std::int64_t calm_since_us_ = 0;
  std::uint64_t faults_ = 0;
  std::array<std::uint64_t, failpoint_count> passed_{};
  std::array<std::uint64_t, failpoint_count> struck_{};
  int favourite_ = -1;                  // a failpoint that this seed strikes more often; -2: none
  unsigned likely_ = 120, seldom_ = 3;  // of a thousand: how often it is struck, and any other
  std::uint64_t deaths_left_ = 0;
  std::uint64_t hash_ = 0;
  std::map<std::string, std::uint64_t> counts_;
  std::unordered_map<const char*, std::uint64_t> judged_;
  std::map<std::string, std::uint64_t> round_;  // what is done again and again, by who does it
  std::vector<std::string> lines_;
};

}  // namespace fairlead::simulation
