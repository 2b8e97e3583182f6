// Changes a store whose node is not running, in a way that its checksums do not show. Usage: change_store DIRECTORY newer|other
//
//   newer   a later release wrote it: its schema version is one that this release does not know
//   other   it has a row that the log of its shard does not have

#include <iostream>
#include <string_view>

#include "store/checksum.hpp"
#include "store/keys.hpp"
#include "store/lmdb/env.hpp"
#include "store/meta_rows.hpp"

namespace {

using namespace fairlead::store;

fairlead::status put(const std::string& directory, std::string_view row, std::string stored) {
  env_options options;
  options.directory = directory;
  auto opened = env::open(options);
  if (!opened) return opened.failure();
  auto txn = (*opened)->write();
  if (!txn) return txn.failure();
  const auto key = keys::meta(row);
  const auto sum = checksum(table::meta, key, stored);
  for (unsigned shift = 0; shift < 32; shift += 8) stored.push_back(static_cast<char>(sum >> shift & 0xff));
  if (auto done = txn->put(table::meta, key, stored); !done) return done;
  return txn->commit();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc == 3 ? argv[2] : "";
  if (how != "newer" && how != "other") {
    std::cerr << "usage: change_store DIRECTORY newer|other\n";
    return 2;
  }
  const auto done =
      how == "newer" ? put(argv[1], meta::schema_row, meta::encode_u32(journaled_schema_version + 1)) : put(argv[1], "other", "other");
  if (!done) std::cerr << done.failure().sentence << '\n';
  return done ? 0 : 1;
}
