#pragma once
// The OpenAPI document of the API. Its pieces are in app/api/openapi/, and join.py makes the source of this function of them.

#include <string_view>

namespace fairlead::app::api {

/// JSON in UTF-8.
std::string_view openapi_json();

}  // namespace fairlead::app::api
