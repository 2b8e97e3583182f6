#pragma once
// What a submission must be like, whatever the store holds. Pure.

#include <cstdint>
#include <optional>

#include "messages/api.pb.h"
#include "messages/error.hpp"

namespace fairlead {

/// Why the submission is refused; nullopt: it is sound. `max_bytes`: of its input.
std::optional<error> check_submission(const v1::Submission& item, std::uint64_t max_bytes);

/// As it is stored: each text cut to its limit.
v1::Origin cleaned(const v1::Origin& said);

}  // namespace fairlead
