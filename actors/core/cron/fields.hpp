#pragma once
// Reads one field of an expression. For expression.cpp; expression.hpp says what fields may hold.

#include <cstddef>
#include <optional>
#include <string_view>

#include "actors/core/cron/expression.hpp"

namespace fairlead::core {

// The number is the seed of `?`, so that the fields of one job do not agree with one another. Stored jobs depend on it.
enum class cron_field { second, minute, hour, day, month, weekday };

/// Reads `text`, which has no blanks and begins at `position` of the expression, into the field's part of `out`.
std::optional<cron_problem> read_cron_field(cron_field field, std::string_view text, std::size_t position, std::string_view job,
                                            cron_sets& out);

}  // namespace fairlead::core
