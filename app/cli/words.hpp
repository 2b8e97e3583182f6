#pragma once
// Words and times as the command line shows them.

#include <string>

#include "actors/core/text/text.hpp"
#include "app/cli/screen/table.hpp"
#include "app/json/words.hpp"
#include "messages/api.pb.h"
#include "messages/task_states.hpp"

namespace fairlead::app {

/// The state as text, with a mark if an operator has to act.
std::string task_state_text(v1::TaskState state, bool parked, bool paused);

/// `a=1 b=2`.
std::string labels_text(const google::protobuf::RepeatedPtrField<v1::Label>& labels);

/// Safe for a terminal, with a full stop at the end.
std::string as_sentence(const std::string& text);

using core::bytes_text;

/// `2026-03-29 01:00:00Z`, or `-` for 0; with --local by the clock of this machine, `2026-03-29 03:00:00+0200`.
std::string time_text(std::int64_t unix_ms);
/// With milliseconds: `2026-03-29T01:00:00.250Z`, or with --local `2026-03-29T03:00:00.250+0200`.
std::string exact_time_text(std::int64_t unix_ms);
/// For a cell of a table: on a terminal `31m ago` or `in 5s` unless --utc or --local is given, else as time_text.
cell time_cell(std::int64_t unix_ms);

/// `40 %  loading pallets`; empty without a report.
std::string progress_text(const v1::Progress& told);

/// `5m10s`: whole seconds. `0s` for a time in the future, because clocks differ.
std::string age_text(std::int64_t ms);

}  // namespace fairlead::app
