#include "app/cli/node/journal_text.hpp"

#include "actors/core/text/text.hpp"

namespace fairlead::app {

bool is_kept_long(const v1::JournalStatus& journal) {
  return journal.has_kept_by_shard() && journal.most_segments() != 0 && 2 * journal.segments() >= journal.most_segments();
}

std::string journal_files_text(const v1::JournalStatus& journal) {
  const bool kept = is_kept_long(journal);
  auto out = std::to_string(journal.segments());
  if (kept) out += " of at most " + std::to_string(journal.most_segments());
  out += (journal.segments() == 1 && !kept ? " file of " : " files of ") + core::bytes_text(journal.segment_bytes()) + " in use";
  return kept ? out + ", the oldest for shard " + std::to_string(journal.kept_by_shard()) : out;
}

}  // namespace fairlead::app
