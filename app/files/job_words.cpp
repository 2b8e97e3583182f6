#include "app/files/job_words.hpp"

#include "actors/core/text/nearest.hpp"

namespace fairlead::app {

namespace {

template <class Value>
const char* word_of(const word_list<Value>& words, Value value, const char* otherwise) {
  for (const auto& [word, known] : words)
    if (known == value) return word.c_str();
  return otherwise;
}

}  // namespace

const word_list<v1::OverlapPolicy>& overlap_words() {
  static const word_list<v1::OverlapPolicy> out{{"allow", v1::OVERLAP_POLICY_ALLOW},
                                                {"skip", v1::OVERLAP_POLICY_SKIP},
                                                {"queue", v1::OVERLAP_POLICY_QUEUE},
                                                {"replace", v1::OVERLAP_POLICY_REPLACE}};
  return out;
}

const word_list<v1::CatchUpPolicy>& catch_up_words() {
  static const word_list<v1::CatchUpPolicy> out{
      {"all", v1::CATCH_UP_POLICY_ALL}, {"latest", v1::CATCH_UP_POLICY_LATEST}, {"none", v1::CATCH_UP_POLICY_NONE}};
  return out;
}

const word_list<v1::DstPolicy>& dst_words() {
  static const word_list<v1::DstPolicy> out{
      {"vixie", v1::DST_POLICY_VIXIE}, {"literal", v1::DST_POLICY_LITERAL}, {"skip_once", v1::DST_POLICY_SKIP_ONCE}};
  return out;
}

const char* overlap_word(v1::OverlapPolicy policy) { return word_of(overlap_words(), policy, "skip"); }
const char* catch_up_word(v1::CatchUpPolicy policy) { return word_of(catch_up_words(), policy, "latest"); }
const char* dst_word(v1::DstPolicy policy) { return word_of(dst_words(), policy, "vixie"); }

const char* launch_state_word(v1::LaunchState state) {
  switch (state) {
    case v1::LAUNCH_STATE_WAITING: return "waiting";
    case v1::LAUNCH_STATE_STARTED: return "started";
    case v1::LAUNCH_STATE_COMPLETED: return "completed";
    case v1::LAUNCH_STATE_UNDONE: return "undone";
    case v1::LAUNCH_STATE_FAILED: return "failed";
    case v1::LAUNCH_STATE_SKIPPED: return "skipped";
    default: return "unknown";
  }
}

const char* skip_word(v1::SkipReason reason) {
  switch (reason) {
    case v1::SKIP_REASON_OVERLAP: return "overlap";
    case v1::SKIP_REASON_PAUSED: return "paused";
    case v1::SKIP_REASON_OUTSIDE_WINDOW: return "outside_window";
    case v1::SKIP_REASON_SUPERSEDED: return "superseded";
    case v1::SKIP_REASON_NO_AGENTS: return "no_agents";
    case v1::SKIP_REASON_START_WINDOW: return "start_window";
    case v1::SKIP_REASON_DEADLINE: return "deadline";
    case v1::SKIP_REASON_REPLACED: return "replaced";
    case v1::SKIP_REASON_TOO_MANY_OPEN: return "too_many_open";
    case v1::SKIP_REASON_NO_WORKFLOW: return "no_workflow";
    case v1::SKIP_REASON_ID_TAKEN: return "id_taken";
    case v1::SKIP_REASON_INPUT: return "input";
    case v1::SKIP_REASON_CANCELLED: return "cancelled";
    case v1::SKIP_REASON_RESTORED: return "restored";
    default: return "unknown";
  }
}

const char* trigger_word(v1::LaunchTrigger trigger) {
  switch (trigger) {
    case v1::LAUNCH_TRIGGER_OPERATOR: return "operator";
    case v1::LAUNCH_TRIGGER_BACKFILL: return "backfill";
    default: return "schedule";
  }
}

const char* wait_word(v1::LaunchWait what) {
  switch (what) {
    case v1::LAUNCH_WAIT_TIME: return "time";
    case v1::LAUNCH_WAIT_OVERLAP: return "overlap";
    case v1::LAUNCH_WAIT_ROOM: return "room";
    case v1::LAUNCH_WAIT_AGENTS: return "agents";
    case v1::LAUNCH_WAIT_PAUSE: return "pause";
    default: return "unknown";
  }
}

template <class Value>
result<Value> value_of_word(const word_list<Value>& words, const std::string& given, const std::string& what) {
  std::vector<std::string> names;
  for (const auto& [word, value] : words) {
    if (word == given) return value;
    names.push_back(word);
  }
  const auto close = core::nearest(given, names);
  const auto listed = listed_words(words);
  return error{v1::ERROR_CODE_INVALID_ARGUMENT, "'" + given + "' is not a value for " + what,
               close.empty() ? "Give " + listed : "Did you mean " + close + "? It is " + listed};
}

template result<v1::OverlapPolicy> value_of_word(const word_list<v1::OverlapPolicy>&, const std::string&, const std::string&);
template result<v1::CatchUpPolicy> value_of_word(const word_list<v1::CatchUpPolicy>&, const std::string&, const std::string&);
template result<v1::DstPolicy> value_of_word(const word_list<v1::DstPolicy>&, const std::string&, const std::string&);

}  // namespace fairlead::app
