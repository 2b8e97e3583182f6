#include "app/cli/attempts/times.hpp"

#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

std::string attempts_table(const v1::TaskRecord& record) {
  text_table table{{{"STEP"}, {"ATTEMPT"}, {"BEGAN"}, {"TOOK", align::right}, {"END"}}};
  for (const auto& one : attempt_times(record)) {
    table.add({record.steps(static_cast<int>(one.step)).path(), attempt_word(one.attempt, one.direction),
               exact_time_text(one.began_unix_ms), one.end.empty() ? "" : format_duration(one.took_ms()), one.end});
  }
  return table.empty() ? "" : "\nAttempts\n" + table.text();
}

}  // namespace fairlead::app
