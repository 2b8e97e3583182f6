// The journal before files that somebody has changed. The input is a list of changes to the files of a small journal of two shards.
//
// Changes that leave the checksums as they are: the journal is refused by name, or it gives back what was acknowledged. (If all of the last
// groups are changed, nothing on one disk can tell that they were there.) Changes whose checksums
// are made right again, as only a bug or an attacker would: whatever comes of it, nothing is read or written outside its bounds, and an
// opening ends.
//
// Input: a byte, of which bit 0 says whether checksums are made right; then four bytes for each change: where (segment header, group header,
// record header or anywhere), which of these, the offset in it, and the bits to flip.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "store/integers.hpp"
#include "store/journaled/stores.hpp"
#include "store/memory/memory_disk.hpp"
#include "store/memory/memory_store.hpp"

namespace {

using namespace fairlead;
using namespace fairlead::store;

constexpr std::uint64_t segment_bytes = 64 << 10;

struct place {
  std::string file;
  std::size_t offset = 0;
};

struct entry {
  std::uint16_t shard = 0;
  std::uint64_t index = 0;
  std::string payload;
  friend bool operator==(const entry&, const entry&) = default;
};

[[noreturn]] void broken(const char* what, const std::string& more = {}) {
  std::fprintf(stderr, "journal_fuzz: %s %s\n", what, more.c_str());
  std::abort();
}

journal_options options() {
  journal_options out;
  out.segment_bytes = segment_bytes;
  out.max_bytes = 8 * segment_bytes;
  out.release = "fuzz";
  out.now_unix_ms = out.boot_ms = [now = std::int64_t{0}]() mutable { return ++now; };
  out.random = [random = std::mt19937_64{2'026}]() mutable { return random(); };
  return out;
}

/// A journal as a crash leaves it: two segments in use, one staged.
struct sample {
  std::map<std::string, std::string> files;
  std::vector<entry> acknowledged;
  std::vector<place> headers, groups, records;
  journal_id id;

  sample() {
    memory_disk disk(7);
    write(disk);
    const auto names = disk.list().value();
    for (const auto& name : names) files[name] = disk.bytes_of(name);
    for (const auto& [name, bytes] : files) find_places(name, bytes);
  }

  void write(memory_disk& disk) {
    auto begun = journal::open(disk, std::nullopt, {}, options());
    if (!begun) broken("the sample cannot be begun:", begun.failure().sentence);
    auto& it = **begun;
    id = it.id();
    if (!it.stage(2)) broken("the sample has no room");
    std::map<std::uint16_t, std::uint64_t> last;
    for (int i = 0; i < 24; ++i) {
      journal_record one;
      one.shard = static_cast<std::uint16_t>(i % 2);
      one.index = ++last[one.shard];
      one.type = i < 2 ? record_type::epoch : record_type::batch;
      batch rows;
      rows.sequence = one.index - 1;
      rows.epoch = 1;
      rows.put(table::task, "key " + std::to_string(i), std::string(static_cast<std::size_t>(i) * 173, 'x'));
      const auto payload = i < 2 ? std::string{} : encode_batches({&rows, 1});
      one.payload = payload;
      if (!it.append({one})) broken("the sample cannot be written");
      acknowledged.push_back({one.shard, one.index, payload});
    }
    if (!it.seal()) broken("the sample cannot be sealed");
  }

  void find_places(const std::string& name, const std::string& bytes) {
    if (!decode_segment_header(bytes.data())) return;
    headers.push_back({name, 0});
    for (std::size_t at = journal_block_bytes; at < bytes.size();) {
      const auto group = decode_group_header(bytes.data() + at, id);
      if (!group) break;
      groups.push_back({name, at});
      auto rest = std::string_view(bytes).substr(at + group_header_bytes, group->payload_bytes);
      while (!rest.empty()) {
        records.push_back({name, static_cast<std::size_t>(rest.data() - bytes.data())});
        if (!next_record(rest)) broken("the sample has an unsound record");
      }
      at += std::size_t{group->blocks} * journal_block_bytes;
    }
  }
};

const sample& the_sample() {
  static const sample it;
  return it;
}

using files = std::map<std::string, std::string>;

void change(files& to, const std::uint8_t* what) {
  const auto& from = the_sample();
  const auto pick = [&](const std::vector<place>& all, std::size_t bytes) {
    const auto& at = all[what[1] % all.size()];
    to[at.file][at.offset + what[2] % bytes] ^= static_cast<char>(what[3]);
  };
  switch (what[0] % 4) {
    case 0: return pick(from.headers, 128);
    case 1: return pick(from.groups, group_header_bytes);
    case 2: return pick(from.records, record_header_bytes + 32);
    default: {
      auto file = to.begin();
      std::advance(file, what[0] / 4 % to.size());
      file->second[(std::size_t{what[1]} << 8 | what[2]) % file->second.size()] ^= static_cast<char>(what[3]);
    }
  }
}

/// Of what is where the sample has its records, groups and headers.
void make_checksums_right(files& of) {
  const auto& from = the_sample();
  for (const auto& at : from.records) {
    auto* record = of[at.file].data() + at.offset;
    const auto bytes = read_little_endian<std::uint32_t>(record + 4);
    if (at.offset + record_header_bytes + bytes > of[at.file].size()) continue;
    const auto seed = XXH3_64bits(record, record_header_bytes - 8);
    write_little_endian(record + 32, XXH3_64bits_withSeed(record + record_header_bytes, bytes, seed));
  }
  std::uint64_t chain = 0;
  for (const auto& header : from.headers) {
    auto& bytes = of[header.file];
    write_little_endian(bytes.data() + 80, chain);
    write_little_endian(bytes.data() + journal_block_bytes - 8, XXH3_64bits(bytes.data(), journal_block_bytes - 8));
    for (const auto& at : from.groups) {
      if (at.file != header.file) continue;
      auto* group = bytes.data() + at.offset;
      const auto payload = read_little_endian<std::uint32_t>(group + 40);
      if (at.offset + group_header_bytes + payload <= bytes.size()) {
        chain = group_chain({group + group_header_bytes, payload}, from.id, read_little_endian<std::uint64_t>(group + 8),
                            read_little_endian<std::uint64_t>(group + 16), chain);
        write_little_endian(group + 48, chain);
      }
      write_little_endian(group + 56, XXH3_64bits_withSeed(group, group_header_bytes - 8, from.id.low));
    }
  }
}

/// Whether each group is changed from that of this entry on. The groups of the sample have an entry each, but for the first and the last one.
bool all_changed_behind(std::size_t entries, const files& now) {
  const auto& from = the_sample();
  for (auto at = entries + 1; at < from.groups.size(); ++at) {
    const auto& [file, offset] = from.groups[at];
    const auto& was = from.files.at(file);
    const auto header = decode_group_header(was.data() + offset, from.id);
    if (now.at(file).compare(offset, group_header_bytes + header->payload_bytes, was, offset, group_header_bytes + header->payload_bytes) ==
        0)
      return false;
  }
  return true;
}

void judge_recovery(memory_disk& disk, const files& now) {
  const auto& from = the_sample();
  std::vector<entry> found;
  const auto journal = recover_journal(disk, from.id, [&](const journal_record& one, std::uint64_t) -> status {
    if (is_entry(one.type)) found.push_back({one.shard, one.index, std::string(one.payload)});
    return nothing{};
  });
  const auto refused = [](const error& why) {
    if (why.sentence.empty()) broken("a refusal without a sentence");
  };
  if (!journal) return refused(journal.failure());
  if (!journal->has_value()) broken("the journal is taken for none");
  for (const std::uint16_t shard : {std::uint16_t{0}, std::uint16_t{1}}) {
    if (const auto sound = check_shard_log(**journal, "in memory", shard, {0, 0}); !sound) return refused(sound.failure());
  }
  if (found == from.acknowledged) return;
  // The last groups of a journal on one disk: if each of them is damaged, nothing is left that shows that they were acknowledged.
  const bool prefix = found.size() < from.acknowledged.size() && std::equal(found.begin(), found.end(), from.acknowledged.begin());
  if (prefix && all_changed_behind(found.size(), now)) return;
  std::string more = std::to_string(found.size()) + " of " + std::to_string(from.acknowledged.size()) + " entries:";
  for (const auto& one : found) more += " " + std::to_string(one.shard) + "/" + std::to_string(one.index);
  for (const auto& one : from.groups) more += "; group at " + one.file + " " + std::to_string(one.offset);
  broken("something acknowledged is missing, or something else is there:", more);
}

void open_stores(memory_disk& disk) {
  memory_store below[2];
  const auto opened = journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "one", &below[0]}, {1, "two", &below[1]}}, options());
  if (!opened && opened.failure().sentence.empty()) broken("a refusal without a sentence");
  (void)recover_journal(disk, std::nullopt, [](const journal_record& one, std::uint64_t) -> status {
    if (one.type == record_type::batch) (void)decode_batches(one.payload);
    return nothing{};
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5) return 0;
  auto now = the_sample().files;
  for (std::size_t at = 1; at + 4 <= size && at < 64; at += 4) change(now, data + at);
  const bool right = (data[0] & 1) != 0;
  if (right) make_checksums_right(now);
  memory_disk disk(1);
  for (const auto& [name, bytes] : now) {
    (void)disk.create(name, bytes.size(), [] { return making_pace::at_once; });
    disk.bytes_of(name) = bytes;
  }
  (void)disk.sync();
  if (right) {
    open_stores(disk);
  } else {
    judge_recovery(disk, now);
  }
  return 0;
}
