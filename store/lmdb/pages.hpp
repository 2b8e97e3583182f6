#pragma once
// Whether the pages of an LMDB data file hold together. LMDB has no checksums of its own, and follows whatever it finds in a page: out of its map,
// where the process ends by a signal, or to wrong rows. Values have checksums (store/checksum.hpp); this is for all that leads to them.
//
// The format: LMDB 0.9.24, mdb.c, MDB_page, MDB_node, MDB_db and MDB_meta, of a 64-bit little-endian machine.

#include <optional>
#include <string>

#include "messages/error.hpp"

namespace fairlead::store {

/// What is wrong first, as a sentence without a full stop that names the page; nullopt: nothing. Reads all pages in use of the newest transaction, one
/// after another in the order of keys. Nobody may write to the file meanwhile. Error: disk.
result<std::optional<std::string>> find_damaged_page(const std::string& path);

}  // namespace fairlead::store
