#pragma once
// What lists of tasks share: filters, summaries, cursors.

#include <optional>
#include <string>

#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead {

/// Rows that are read for one page, at most.
inline constexpr std::size_t task_rows_a_page = 20'000;
/// Archives that are opened for one page, at most.
inline constexpr int archives_a_page = 200;

bool task_matches(const v1::TaskListRequest& what, const v1::TaskRecord& task, moment now);
v1::TaskSummary summary_of(const v1::TaskRecord& task);

/// nullopt: no hexadecimal text.
std::optional<std::string> from_hex(const std::string& text);
error foreign_cursor();

}  // namespace fairlead
