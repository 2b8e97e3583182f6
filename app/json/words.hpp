#pragma once
// The words for states, events and faults, the same in JSON, tables and options.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messages/api.pb.h"

namespace fairlead::app {

const char* fault_kind_word(v1::FaultKind kind);
const char* event_word(v1::EventKind kind);
const char* direction_word(v1::Direction direction);
/// The `on_failure` setting of a workflow; `park` is the default.
const char* on_failure_word(v1::OnFailure what);

/// What a step does.
const char* step_kind_word(v1::StepKind kind);

/// The `in_doubt` setting of a step; `retry` is the default.
const char* in_doubt_word(v1::InDoubt what);
/// Of a step with `for_each`.
const char* failures_word(bool collect);
/// Of a step of the end.
const char* finally_word(v1::Finally what);

/// The states of a task: `pending, running, …`.
std::string task_state_words();
/// The state whose `core::state_word` is `word`.
std::optional<v1::TaskState> task_state_from_word(std::string_view word);

/// `2026-03-29 01:00:00Z`.
std::string utc_words(std::int64_t unix_ms);

/// Makes a sentence of the part behind the semicolon of a file's problem.
std::string as_remedy(std::string text);

}  // namespace fairlead::app
