#pragma once
// Messages to receivers of alerts: JSON about one alert, or about many. Pure.

#include <cstdint>
#include <map>
#include <string>

#include "actors/core/cluster/alert_numbers.hpp"
#include "messages/api.pb.h"

namespace fairlead {

/// The origin of a message's alerts: receivers get the numbers that are valid in the whole cluster.
struct alert_origin {
  std::string node;
  std::uint32_t shard = 0;
  std::uint32_t shard_count = 1;

  std::uint64_t shown(std::uint64_t number) const { return core::alert_number({shard, number}, shard_count); }
};

/// A message to a target, and the new cursor of the target after its delivery.
struct alert_message {
  std::uint64_t last = 0;  // the shard's own number of the newest alert in the message
  bool end = false;        // the alert is resolved, and the target has been told that it was raised
  std::string body;        // JSON text
  std::string key;         // the same for every try of the same message
  std::string number;      // for a command's environment
  std::string kind;
  std::string task;
};

/// Many alerts in one message, by the shard's own numbers.
struct alert_digest {
  std::uint64_t count = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::int64_t first_raised_unix_ms = 0;
  std::int64_t last_raised_unix_ms = 0;
  std::map<std::string, std::uint64_t> kinds;

  void add(const v1::AlertRecord& alert);
};

/// `{"node":…,"event":"raised","alert":{number, kind, state, task, workflow, step, job, sentence, remedy, raised_at}}`; fields that do not
/// apply are null.
alert_message message_of(const alert_origin& from, const v1::AlertRecord& alert);

/// The same with `"event":"resolved"` and `resolved_at`.
alert_message end_message_of(const alert_origin& from, const v1::AlertRecord& alert);

/// `{"node":…,"digest":{count, first, last, first_raised_at, last_raised_at, kinds, sentence, remedy}}`.
alert_message message_of(const alert_origin& from, const alert_digest& digest);

}  // namespace fairlead
