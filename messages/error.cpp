#include "messages/error.hpp"

namespace fairlead {

const char* code_word(error_code code) {
  switch (code) {
    case v1::ERROR_CODE_OK: return "ok";
    case v1::ERROR_CODE_INVALID_ARGUMENT: return "invalid_argument";
    case v1::ERROR_CODE_NOT_FOUND: return "not_found";
    case v1::ERROR_CODE_CONFLICT: return "conflict";
    case v1::ERROR_CODE_OVERLOADED: return "overloaded";
    case v1::ERROR_CODE_UNAVAILABLE: return "unavailable";
    case v1::ERROR_CODE_STORE_FULL: return "store_full";
    case v1::ERROR_CODE_STORE_IN_USE: return "store_in_use";
    case v1::ERROR_CODE_STORE_NEWER: return "store_newer";
    case v1::ERROR_CODE_CORRUPT: return "corrupt";
    case v1::ERROR_CODE_DISK: return "disk";
    case v1::ERROR_CODE_STALE_EPOCH: return "stale_epoch";
    case v1::ERROR_CODE_EXPRESSION: return "expression";
    case v1::ERROR_CODE_TIMED_OUT: return "timed_out";
    case v1::ERROR_CODE_INTERNAL: return "internal";
    case v1::ERROR_CODE_WRONG_STATE: return "wrong_state";
    case v1::ERROR_CODE_INCONSISTENT: return "inconsistent";
    case v1::ERROR_CODE_CHANGED: return "changed";
    case v1::ERROR_CODE_KEY_REUSED: return "key_reused";
    case v1::ERROR_CODE_UNAUTHENTICATED: return "unauthenticated";
    case v1::ERROR_CODE_FORBIDDEN: return "forbidden";
    default: return "unknown";
  }
}

}  // namespace fairlead
