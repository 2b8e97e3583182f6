#include "app/cli/node/journal_text.hpp"

#include "actors/core/text/text.hpp"

namespace fairlead::app {

void write_journal(json_writer& out, const v1::JournalStatus& journal) {
  out.begin_object().key("path").string(journal.path()).key("direct").boolean(journal.direct());
  out.key("segment_bytes").number(std::uint64_t{journal.segment_bytes()}).key("segments").number(std::uint64_t{journal.segments()});
  out.key("most_segments").number(std::uint64_t{journal.most_segments()}).key("kept_by_shard");
  journal.has_kept_by_shard() ? out.number(std::uint64_t{journal.kept_by_shard()}) : out.null();
  out.key("spare_segments").number(std::uint64_t{journal.spare_segments()}).key("groups").number(std::uint64_t{journal.groups()});
  out.key("written_bytes").number(std::uint64_t{journal.written_bytes()}).end_object();
}

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
