#include "actors/core/task/standing.hpp"

namespace fairlead::core {

standing standing_of(const v1::TaskRecord& record) {
  standing out;
  for (const auto& step : record.steps()) {
    const auto undo_in_doubt = step.state() == v1::STEP_STATE_UNDOING && step.undo_doubtful();
    if (step.doubtful() || undo_in_doubt)
      out.in_doubt.push_back(step.path());
    else if (step.state() == v1::STEP_STATE_COMPLETED || step.state() == v1::STEP_STATE_UNDOING)
      out.stands.push_back(step.path());
    else if (step.state() == v1::STEP_STATE_UNDONE)
      out.undone.push_back(step.path());
  }
  return out;
}

std::string standing_words(const standing& what) {
  std::string out;
  const auto add = [&out](const char* word, const std::vector<std::string>& paths) {
    if (paths.empty()) return;
    out += (out.empty() ? "" : "; ") + std::string{word} + ": ";
    for (const auto& path : paths) out += (&path == &paths.front() ? "" : ", ") + path;
  };
  add("stands", what.stands);
  add("undone", what.undone);
  add("in doubt", what.in_doubt);
  return out.empty() ? "nothing was done" : out;
}

}  // namespace fairlead::core
