#pragma once
// The mark of a store whose node has not ended in order: the file `working` in its directory, with the inode of the data file that the node
// writes, or with two while another file takes its place. A copy of such a directory has the mark, and a data file with another inode.
//
// What a copy beside a running node has of each page may be of another moment, and LMDB does not notice: it would go on with it, or end the
// process. So the mark is looked at before LMDB opens the file. It is not synced: without it the copy is not recognised, and nothing else
// is lost.

#include <string>

#include "messages/error.hpp"

namespace fairlead::store {

/// Error corrupt: the data file in `directory` is a copy of one that a node had not left in order.
status check_not_copied(const std::string& directory);
/// A node begins to write the data file; the one in `or_that_in` may take its place. On a full disk there is no mark.
void mark_working(const std::string& directory, const std::string& or_that_in = {});
/// The store is whole by itself.
void remove_working_mark(const std::string& directory);

}  // namespace fairlead::store
