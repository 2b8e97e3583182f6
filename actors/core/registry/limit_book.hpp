#pragma once
// The limits of a service: how many attempts may be in progress at a time and how many may be handed over in a time, all together or for
// each value at a path of the input. Pure: the time is an argument.
//
// A rate is a token bucket in the form of GCRA: its only state is the moment at which the bucket would be full again. Hand-overs before
// this process began are unknown, so a bucket begins as if it had just been emptied except for one token.

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "actors/core/expression/path.hpp"
#include "messages/agent.pb.h"
#include "messages/time.hpp"

namespace fairlead::core {

struct limit_rule;

/// Counts against one limit under one key. The owning limit_book drops it once nothing is held, nobody uses it and it is full.
struct limit_bucket {
  limit_rule* rule = nullptr;
  std::string key;
  std::uint64_t id = 0;  // never used again
  std::uint64_t held = 0;
  std::uint64_t users = 0;      // those that keep a pointer although they hold nothing
  std::int64_t full_at_ns = 0;  // since 1970
  std::list<limit_bucket*>::iterator place;
};

/// One policy with its buckets.
struct limit_rule {
  v1::LimitPolicy policy;
  std::optional<plain_path> path;  // of the key
  bool keyed = false;
  bool retired = false;           // not among the policies any more, but something still counts under it
  std::int64_t interval_ns = 0;   // between attempts at the full rate; 0: no rate
  std::int64_t tolerance_ns = 0;  // how far ahead of the rate a burst may run
  std::int64_t full_from_ns = 0;  // a new bucket is full no earlier than this
  std::unordered_map<std::string, std::unique_ptr<limit_bucket>> buckets;

  bool matches(std::string_view call) const { return policy.call().empty() || policy.call() == call; }
  bool has_room(const limit_bucket& in, moment now) const;
  /// `limit 5 at a time for charge by .customer`.
  std::string name() const;
};

/// Whether a LimitPolicy may have this key: `.` or a plain path into the input, at most 256 bytes.
bool valid_limit_key(std::string_view key);

class limit_book {
 public:
  /// Sets the limits of the agent's registration. True: the limits are different ones, not merely different numbers; each waiting step must
  /// then be assigned to limits anew.
  bool set_policies(const google::protobuf::RepeatedPtrField<v1::LimitPolicy>& policies, moment now);

  bool empty() const noexcept { return rules_.empty(); }
  bool wants_input(std::string_view call) const;

  /// The buckets that count all attempts of the call. They stay until the limits change.
  std::vector<limit_bucket*> common(std::string_view call, moment now);
  /// The buckets for the values in the input. Take or keep them before any other call.
  std::vector<limit_bucket*> keyed(std::string_view call, std::string_view input, moment now);

  static bool has_room(const limit_bucket& in, moment now) { return in.rule->has_room(in, now); }
  /// When time alone will make room; nullopt: only when something is given back.
  static std::optional<moment> opens_at(const limit_bucket& in);

  void take(limit_bucket& in, moment now);
  /// For an attempt handed over before: counts as in progress, not against the rate.
  void adopt(limit_bucket& in) { ++in.held; }
  /// `unused_since`: taken then, and nobody has begun it. The rate gets back only what time has not made room for since: else many attempts
  /// that were handed over one by one, and come back together, could all go out again at once. False: the bucket has been dropped.
  bool give_back(limit_bucket& in, std::optional<moment> unused_since, moment now);

  void keep(limit_bucket& in) { ++in.users; }
  void let_go(limit_bucket& in, moment now);

  /// Rules in the order of the policies, without retired ones.
  std::vector<const limit_rule*> rules() const;
  /// All buckets; for tests.
  std::size_t size() const noexcept { return in_turn_.size(); }

 private:
  limit_bucket& bucket(limit_rule& of, std::string key, moment now);
  /// Checks a few buckets in turn and drops unneeded ones, so that memory follows use.
  void sweep(moment now);
  bool drop_if_idle(limit_bucket& which, moment now);

  std::vector<std::unique_ptr<limit_rule>> rules_;
  std::vector<std::unique_ptr<limit_rule>> retired_;
  std::list<limit_bucket*> in_turn_;  // keyed ones
  std::uint64_t next_id_ = 1;
};

/// The text under which `input` counts for the path; a long text is replaced by its hash. Empty: the input has no such value.
std::string limit_key(const std::optional<plain_path>& path, std::string_view input);

}  // namespace fairlead::core
