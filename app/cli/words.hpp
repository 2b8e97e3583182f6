#pragma once
// The words of the command line for states, events and faults: the same in tables, in JSON and in options.

#include <optional>
#include <string>
#include <string_view>

#include "actors/core/text/text.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

const char* fault_kind_word(v1::FaultKind kind);
const char* event_word(v1::EventKind kind);
const char* direction_word(v1::Direction direction);
/// Of a workflow; `park` where it says nothing.
const char* on_failure_word(v1::OnFailure what);

/// The state that `core::state_word` gives this word for.
std::optional<v1::TaskState> task_state_from_word(std::string_view word);

/// For people: the state, and that an operator has to look.
std::string task_state_text(v1::TaskState state, bool parked, bool paused);

/// `a=1 b=2`.
std::string labels_text(const google::protobuf::RepeatedPtrField<v1::Label>& labels);

/// Fit for a terminal, with an end.
std::string as_sentence(const std::string& text);

bool task_ended(v1::TaskState state);

using core::bytes_text;

/// `2026-03-29 01:00:00Z`, or `-` for 0. Tables need no milliseconds.
std::string time_text(std::int64_t unix_ms);

/// `40 %  loading pallets`; empty when nothing of it was told.
std::string progress_text(const v1::Progress& told);

/// `5m10s`: whole seconds, `0s` also for what lies ahead (clocks differ).
std::string age_text(std::int64_t ms);

}  // namespace fairlead::app
