// Archives of one replica as another one gets them: compared day by day, and sent row by row. A task in an archive never changes, so rows may come
// twice.

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <set>
#include <stdexcept>

#include "store/checksum.hpp"
#include "store/directory.hpp"
#include "store/keys.hpp"
#include "store/lmdb/archive.hpp"
#include "store/lmdb/open_file.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/archive_rows.hpp"

#include <xxhash.h>

namespace fairlead::store {

namespace {

namespace fs = std::filesystem;

constexpr std::array archived_tables{table::task, table::history, table::payload};

error no_part(const archive_day& which) {
  return {v1::ERROR_CODE_CORRUPT, "A part of the archive " + which.name() + " that came from another node is damaged.",
          "It is sent again."};
}

}  // namespace

result<std::vector<std::uint64_t>> archive::numbers(const archive_day& which) {
  std::vector<std::uint64_t> out;
  status scanned = nothing{};
  const auto looked = visit(which, [&](const snapshot& in) {
    scanned = in.scan_all(table::task, [&](std::string_view key, std::optional<std::string_view>) {
      if (const auto at = keys::decode_task(key)) out.push_back(at->number);
      return true;
    });
  });
  if (!looked || !scanned) return looked ? scanned.failure() : looked.failure();
  return out;
}

result<std::vector<archive::summary>> archive::summaries(std::vector<std::string>* unreadable) {
  const auto kept = all();
  if (!kept) return kept.failure();
  std::vector<summary> out;
  for (const auto& which : *kept) {
    summary one{which, 0, 0};
    status scanned = nothing{};
    const auto looked = visit(which, [&](const snapshot& in) {
      for (std::size_t i = 0; i < archived_tables.size() && scanned; ++i) {
        scanned = in.scan_all(archived_tables[i], [&](std::string_view key, std::optional<std::string_view> payload) {
          if (!payload) return true;  // of two rows the sound one counts
          ++one.rows;
          one.sum += XXH3_64bits_withSeed(key.data(), key.size(), i);
          return true;
        });
      }
    });
    // Dropped since, or its writer ended before the first commit.
    if (!looked && looked.failure().code == v1::ERROR_CODE_NOT_FOUND) continue;
    if (looked && scanned)
      out.push_back(one);
    else if (unreadable != nullptr)
      unreadable->push_back((looked ? scanned.failure() : looked.failure()).sentence);
  }
  return out;
}

result<archive::part> archive::read(const archive_day& which, const std::string& from, std::size_t most) {
  part out;
  batch rows;
  status scanned = nothing{};
  const auto looked = visit(which, [&](const snapshot& in) {
    for (std::size_t i = from.empty() ? 0 : static_cast<unsigned char>(from[0]); i < archived_tables.size() && out.next.empty(); ++i) {
      const bool first = !from.empty() && i == static_cast<unsigned char>(from[0]);
      scanned = in.scan(archived_tables[i], first ? std::string_view{from}.substr(1) : std::string_view{}, {},
                        [&](std::string_view key, std::string_view payload) {
                          if (rows.bytes().size() >= most) {
                            out.next = static_cast<char>(i) + std::string{key};
                            return false;
                          }
                          rows.put(archived_tables[i], key, payload);
                          return true;
                        });
      if (!scanned) return;
    }
  });
  if (!looked || !scanned) return looked ? scanned.failure() : looked.failure();
  out.rows = rows.bytes();
  return out;
}

status archive::add(const archive_day& which, std::string_view rows) {
  batch copies;
  try {
    for (operation one; batch::next(rows, one);) {
      const bool archived = std::find(archived_tables.begin(), archived_tables.end(), one.where) != archived_tables.end();
      const auto payload = one.what == operation::kind::put && archived ? verified_payload(one.where, one.key, one.value) : std::nullopt;
      if (!payload) return no_part(which);
      copies.put(one.where, one.key, *payload);
    }
  } catch (const std::logic_error&) {
    return no_part(which);
  }
  copies.put(table::meta, keys::meta(meta::schema_row), meta::encode_u32(schema_version));
  const std::lock_guard lock(guard_);
  return write(which, std::move(copies));
}

std::string archive::adding_mark() const { return directory_ + "/adding"; }

status archive::note_adding(bool on) {
  if (on == adding_) return nothing{};
  std::error_code failed;
  fs::create_directories(directory_, failed);
  if (!failed && on) {
    const open_file made{::open(adding_mark().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0640)};
    if (made.fd < 0) failed = std::error_code{errno, std::generic_category()};
  } else if (!failed) {
    fs::remove(adding_mark(), failed);
  }
  if (failed)
    return error{v1::ERROR_CODE_DISK, adding_mark() + " cannot be written: " + failed.message() + ".",
                 "Check the disk and the permissions."};
  if (auto synced = sync_directory(directory_); !synced) return synced;
  set_adding(on);
  return nothing{};
}

status archive::follow(const snapshot& tables) {
  std::set<std::uint64_t> deleted;
  status read = nothing{};
  const auto scanned = tables.scan_all(table::task_id, [&](std::string_view key, std::optional<std::string_view> payload) {
    v1::TaskTombstone id;
    if (!payload || !id.ParseFromArray(payload->data(), static_cast<int>(payload->size()))) read = damaged_value(table::task_id, key);
    if (id.deleted_at_unix_ms() != 0) deleted.insert(id.number());
    return read.ok();
  });
  if (!scanned || !read) return scanned ? read : scanned;
  status dropped = nothing{};
  const auto listed = for_each_drop(tables, [&](std::uint32_t keep_days, std::int64_t before_day) {
    if (dropped) dropped = drop_before(before_day, keep_days);
  });
  if (!listed || !dropped) return listed ? dropped : listed;
  const auto kept = deleted.empty() ? std::vector<archive_day>{} : all();
  if (!kept) return kept.failure();
  std::vector<std::uint64_t> here;
  for (const auto& which : *kept) {
    const auto have = numbers(which);
    if (!have && have.failure().code != v1::ERROR_CODE_NOT_FOUND) return have.failure();
    if (have) std::copy_if(have->begin(), have->end(), std::back_inserter(here), [&](auto number) { return deleted.contains(number); });
  }
  return here.empty() ? status(nothing{}) : erase(here);
}

}  // namespace fairlead::store
