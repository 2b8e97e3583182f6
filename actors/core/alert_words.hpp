#pragma once
// The words for kinds and states of alerts: the same in tables, in JSON, in options and in deliveries to receivers.

#include <optional>
#include <string_view>

#include "messages/api.pb.h"

namespace fairlead::core {

/// `task_parked`; `unknown` for a kind of a newer release.
const char* alert_kind_word(v1::AlertKind kind);

/// The kind with this word.
std::optional<v1::AlertKind> alert_kind_from_word(std::string_view word);

/// Whether alerts of the kind tell of something that is over: an acknowledgement resolves them, and nothing else could.
bool only_reports(v1::AlertKind kind);

/// `open`, `acknowledged`, `resolved`.
const char* alert_state_word(v1::AlertState state);

/// The state with this word.
std::optional<v1::AlertState> alert_state_from_word(std::string_view word);

}  // namespace fairlead::core
