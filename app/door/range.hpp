#pragma once
// The part of a body that a client asks for (RFC 9110, 14).

#include <cstddef>
#include <variant>

#include "app/door/message.hpp"

namespace fairlead::app::door {

struct whole_body {};
struct body_part {
  std::size_t first = 0, bytes = 0;
};
/// The part begins behind the end of the body.
struct beyond_body {};

using asked_part = std::variant<whole_body, body_part, beyond_body>;

/// `bytes`: of the whole body. A header that is not one sound range of bytes is ignored, and so is any with If-Range: bodies that have parts have
/// no ETag that it could name.
asked_part part_of(const request_head& asked, std::size_t bytes);

}  // namespace fairlead::app::door
