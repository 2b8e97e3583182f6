#pragma once
// `fairlead store settle`: the stores of a node become whole without its journal, so that any release can open them.

#include <string>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::store {

struct settled_store {
  std::string directory;
  bool lost_its_journal = false;  // it needs a restore, because only the journal had some of the work
};

struct settled_node {
  std::vector<settled_store> stores;
  std::string journal;         // its directory
  std::string put_aside;       // where the journal is now, if work may be in it; empty: it is removed, or there was none
  bool journal_stays = false;  // it is none of these stores
};

/// Brings all that the journal has to the stores in `directories` and removes the journal. `journal`: its directory; empty: that in the first
/// store's directory, or beside it, whichever is there. Each store and the journal are locked until the end. With `accept_loss` a store
/// whose journal is missing or damaged goes on with what its tables have, and the journal is put aside.
///
/// Nothing is written unless all of it can be done. Errors: those of one_store::open, and wrong_state: the journal has work of a shard that is
/// not among these stores.
result<settled_node> settle_node(const std::vector<std::string>& directories, std::string journal, bool accept_loss);

/// The same for one store, whose journal stays.
status settle_store(const std::string& directory, const std::string& journal = {});

/// The store asks for a restore: no node takes it before.
status mark_for_restore(const std::string& directory);

/// Takes the store out of a journal that is missing or damaged, with what the tables have. The store then needs a restore before any node
/// takes it, because work that was acknowledged may be lost.
status leave_journal(const std::string& directory);

}  // namespace fairlead::store
