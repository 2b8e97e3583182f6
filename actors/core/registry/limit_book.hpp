#pragma once
// The limits of a service: how many attempts may be out at a time and how many may be handed over in a time, all together or for each value at a
// path of the input. Pure: the moment comes in.
//
// A rate is a token bucket in the form of GCRA: all it remembers is the moment at which the bucket would be full again. What was handed over before
// this process began is not known, so a bucket begins as if it had just been emptied but for one.

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

/// What counts against one limit under one key. Belongs to a limit_book, which drops it once nothing is held, nobody uses it and it is full.
struct limit_bucket {
  limit_rule* rule = nullptr;
  std::string key;
  std::uint64_t id = 0;  // never used again
  std::uint64_t held = 0;
  std::uint64_t users = 0;      // who keep a pointer although they hold nothing
  std::int64_t full_at_ns = 0;  // since 1970
  std::list<limit_bucket*>::iterator place;
};

/// One policy with its buckets.
struct limit_rule {
  v1::LimitPolicy policy;
  std::optional<plain_path> path;  // of the key
  bool keyed = false;
  bool retired = false;           // not among the policies any more, but something is still held under it
  std::int64_t interval_ns = 0;   // between attempts at the full rate; 0: no rate
  std::int64_t tolerance_ns = 0;  // how far ahead of the rate a burst may run
  std::int64_t full_from_ns = 0;  // a new bucket is full no earlier than this
  std::unordered_map<std::string, std::unique_ptr<limit_bucket>> buckets;

  bool matches(std::string_view call) const { return policy.call().empty() || policy.call() == call; }
  bool has_room(const limit_bucket& in, moment now) const;
  /// `limit 5 at a time for charge by .customer`.
  std::string name() const;
};

/// Whether `key` can stand in a LimitPolicy: `.` or a plain path into the input, at most 256 bytes.
bool valid_limit_key(std::string_view key);

class limit_book {
 public:
  /// What the agent's registration says. True: there are other limits than before, not merely other numbers; then what waits has to be asked
  /// anew which of them it counts against.
  bool set_policies(const google::protobuf::RepeatedPtrField<v1::LimitPolicy>& policies, moment now);

  bool empty() const noexcept { return rules_.empty(); }
  bool wants_input(std::string_view call) const;

  /// The buckets that all attempts of the call count against. They stay until the limits are others.
  std::vector<limit_bucket*> common(std::string_view call, moment now);
  /// Those of the values in the input. To be taken or kept before anything else is asked for.
  std::vector<limit_bucket*> keyed(std::string_view call, std::string_view input, moment now);

  static bool has_room(const limit_bucket& in, moment now) { return in.rule->has_room(in, now); }
  /// When it will have room by time alone; nullopt: when something is given back.
  static std::optional<moment> opens_at(const limit_bucket& in);

  void take(limit_bucket& in, moment now);
  /// For an attempt that was handed over before: counts against what is out, not against the rate.
  void adopt(limit_bucket& in) { ++in.held; }
  /// `unused`: nothing was handed over after all. False: the bucket is gone with it.
  bool give_back(limit_bucket& in, bool unused, moment now);

  void keep(limit_bucket& in) { ++in.users; }
  void let_go(limit_bucket& in, moment now);

  /// Rules in the order of the policies, without retired ones.
  std::vector<const limit_rule*> rules() const;
  /// All buckets there are; for tests of what is kept.
  std::size_t size() const noexcept { return in_turn_.size(); }

 private:
  limit_bucket& bucket(limit_rule& of, std::string key, moment now);
  /// Looks at a few buckets in turn and drops those that nothing needs, so that memory follows what is in use.
  void sweep(moment now);
  bool drop_if_idle(limit_bucket& which, moment now);

  std::vector<std::unique_ptr<limit_rule>> rules_;
  std::vector<std::unique_ptr<limit_rule>> retired_;
  std::list<limit_bucket*> in_turn_;  // keyed ones
  std::uint64_t next_id_ = 1;
};

/// The text under which `input` counts for the path; longer ones are replaced by their hash. Empty: the input has no such value.
std::string limit_key(const std::optional<plain_path>& path, std::string_view input);

}  // namespace fairlead::core
