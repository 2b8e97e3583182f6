// Changes a store whose node is not running. Usage: change_store DIRECTORY newer|other|damaged
//
//   newer     a later release wrote it: its schema version is one that this release does not know
//   other     it has a row that the log of its shard does not have
//   damaged   the value of a row that no work reads is not what was written

#include <iostream>
#include <string_view>

#include "store/checksum.hpp"
#include "store/keys.hpp"
#include "store/lmdb/env.hpp"
#include "store/meta_rows.hpp"

namespace {

using namespace fairlead::store;

fairlead::status put(const std::string& directory, std::string_view row, std::string stored, std::uint32_t flipped = 0) {
  env_options options;
  options.directory = directory;
  auto opened = env::open(options);
  if (!opened) return opened.failure();
  auto txn = (*opened)->write();
  if (!txn) return txn.failure();
  const auto key = keys::meta(row);
  const auto sum = checksum(table::meta, key, stored) ^ flipped;
  for (unsigned shift = 0; shift < 32; shift += 8) stored.push_back(static_cast<char>(sum >> shift & 0xff));
  if (auto done = txn->put(table::meta, key, stored); !done) return done;
  return txn->commit();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc == 3 ? argv[2] : "";
  if (how != "newer" && how != "other" && how != "damaged") {
    std::cerr << "usage: change_store DIRECTORY newer|other|damaged\n";
    return 2;
  }
  const auto done = how == "newer" ? put(argv[1], meta::schema_row, meta::encode_u32(journaled_schema_version + 1))
                                   : put(argv[1], "other", "other", how == "damaged" ? 1 : 0);
  if (!done) std::cerr << done.failure().sentence << '\n';
  return done ? 0 : 1;
}
