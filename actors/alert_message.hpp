#pragma once
// What the receivers of alerts are sent: JSON about one alert, or about many at once. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "messages/api.pb.h"

namespace fairlead {

/// One message to a target, and how far its cursor moves once the message has arrived.
struct alert_message {
  std::uint64_t last = 0;  // the number of the newest alert that it stands for
  std::string body;        // JSON text
  std::string key;         // the same for every try of the same message
  std::string number;      // for a command's environment
  std::string kind;
  std::string task;
};

/// Many alerts that one message stands for.
struct alert_digest {
  std::uint64_t count = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::int64_t first_raised_unix_ms = 0;
  std::int64_t last_raised_unix_ms = 0;
  std::map<std::string, std::uint64_t> kinds;

  void add(const v1::AlertRecord& alert);
};

/// `{"node":…,"alert":{number, kind, state, task, workflow, step, sentence, remedy, raised_at}}`; what an alert is not about is null.
alert_message message_of(std::string_view node, const v1::AlertRecord& alert);

/// `{"node":…,"digest":{count, first, last, first_raised_at, last_raised_at, kinds, sentence, remedy}}`.
alert_message message_of(std::string_view node, const alert_digest& digest);

}  // namespace fairlead
