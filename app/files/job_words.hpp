#pragma once
// The words of jobs and launches: the same in files, options, tables and JSON.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/error.hpp"
#include "messages/job.pb.h"

namespace fairlead::app {

template <class Value>
using word_list = std::vector<std::pair<std::string, Value>>;

const word_list<v1::OverlapPolicy>& overlap_words();
const word_list<v1::CatchUpPolicy>& catch_up_words();
const word_list<v1::DstPolicy>& dst_words();

/// Where nothing is said, the word of the default.
const char* overlap_word(v1::OverlapPolicy policy);
const char* catch_up_word(v1::CatchUpPolicy policy);
const char* dst_word(v1::DstPolicy policy);

const char* launch_state_word(v1::LaunchState state);
const char* skip_word(v1::SkipReason reason);
const char* trigger_word(v1::LaunchTrigger trigger);
/// What a waiting launch waits for.
const char* wait_word(v1::LaunchWait what);

/// `one of allow, skip, queue, replace`.
template <class Value>
std::string listed_words(const word_list<Value>& words) {
  std::string out;
  for (const auto& [word, value] : words) out += (out.empty() ? "one of " : ", ") + word;
  return out;
}

/// What an option was given. Errors: invalid_argument, with the nearest word.
template <class Value>
result<Value> value_of_word(const word_list<Value>& words, const std::string& given, const std::string& what);

}  // namespace fairlead::app
