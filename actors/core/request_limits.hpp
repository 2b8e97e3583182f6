#pragma once
// The limits of one request, and the refusals common to all: the same for clients, the command line, gateways and shards.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "messages/error.hpp"

namespace fairlead {

// ---- items ----

/// Tasks to submit, jobs to apply, names and ids to operate on, alerts to acknowledge.
inline constexpr int max_request_items = 1'000;

// ---- lists ----

inline constexpr std::uint32_t default_page_size = 100;
inline constexpr std::uint32_t max_page_size = 1'000;
inline constexpr int max_filter_states = 16;
inline constexpr int max_filter_labels = 32;

/// The rows of a list's page; `asked` 0: the default.
constexpr std::uint32_t page_size_of(std::uint32_t asked) { return std::min(asked == 0 ? default_page_size : asked, max_page_size); }

inline error too_many_filters() {
  return {v1::ERROR_CODE_INVALID_ARGUMENT,
          "more than " + std::to_string(max_filter_states) + " states or " + std::to_string(max_filter_labels) + " labels to filter by",
          "ask for fewer"};
}
inline error too_many_items(const std::string& items) {
  return {v1::ERROR_CODE_INVALID_ARGUMENT, "the request names more than " + std::to_string(max_request_items) + " " + items,
          "send several requests"};
}

// ---- texts, in bytes ----

inline constexpr std::size_t max_input_bytes = 262'144;     // of a task
inline constexpr std::size_t max_output_bytes = 1'048'576;  // of a step
inline constexpr int most_kept_signals = 16;                // of a name and a task
inline constexpr int most_signals_of_task = 256;            // of all names
inline constexpr std::size_t max_signal_bytes = 262'144;    // of a signal's data
inline constexpr std::size_t max_id_bytes = 256;            // of a task
inline constexpr std::size_t max_name_bytes = 256;          // of a workflow, an instance, a node
inline constexpr std::size_t max_action_key_bytes = 64;     // of an action on a task or a job
inline constexpr std::size_t who_limit = 200;               // of an operator's name; the rest is cut off
inline constexpr std::size_t reason_limit = 1'000;          // of a reason or a note; the rest is cut off

// ---- refusals ----

inline error node_is_stopping() { return {v1::ERROR_CODE_UNAVAILABLE, "the node is stopping", "try again when the node runs again"}; }
inline error nobody_asks() {
  return {v1::ERROR_CODE_INVALID_ARGUMENT, "the request does not give the name of the operator (--by)",
          "give the name of the operator (--by)"};
}

}  // namespace fairlead
