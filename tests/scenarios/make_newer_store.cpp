// Turns a store into one that a later release wrote: its schema version is one that this release does not know.
// Usage: make_newer_store DIRECTORY

#include <iostream>

#include "store/checksum.hpp"
#include "store/keys.hpp"
#include "store/lmdb/env.hpp"
#include "store/meta_rows.hpp"

namespace {

fairlead::status make_newer(const std::string& directory) {
  using namespace fairlead::store;
  env_options options;
  options.directory = directory;
  auto opened = env::open(options);
  if (!opened) return opened.failure();
  auto txn = (*opened)->write();
  if (!txn) return txn.failure();
  const auto key = keys::meta(meta::schema_row);
  auto stored = meta::encode_u32(journaled_schema_version + 1);
  const auto sum = checksum(table::meta, key, stored);
  for (unsigned shift = 0; shift < 32; shift += 8) stored.push_back(static_cast<char>(sum >> shift & 0xff));
  if (auto put = txn->put(table::meta, key, stored); !put) return put;
  return txn->commit();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_newer_store DIRECTORY\n";
    return 2;
  }
  const auto done = make_newer(argv[1]);
  if (!done) std::cerr << done.failure().sentence << '\n';
  return done ? 0 : 1;
}
