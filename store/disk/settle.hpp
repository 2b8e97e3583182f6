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

/// What became of the journal.
enum class settled_journal {
  none,     // there was none
  removed,  // everything in it is in the stores
  kept,     // its files are kept under names that end in `.lost`, because work may be in them
  foreign,  // none of these stores names it, so it stays as it is
};

struct settled_node {
  std::vector<settled_store> stores;
  std::string journal;  // its directory
  settled_journal outcome = settled_journal::none;
};

/// Brings all that the journal has to the stores in `directories` and removes the journal. `journal`: its directory; empty: that in the first
/// store's directory, or beside it, whichever is there. The stores and the journal are locked until the end, but for a store that is taken
/// out of a lost journal. With `accept_loss` a store whose journal is missing or damaged goes on with what its tables have.
///
/// Nothing is written before all stores and the journal were looked at; cut short, it is run again. Errors: those of one_store::open, and
/// wrong_state: the node has more stores that may be in this journal.
result<settled_node> settle_node(const std::vector<std::string>& directories, const std::string& journal, bool accept_loss);

/// The same for one store, whose journal stays. `accept_log`: as one_store::settle.
status settle_store(const std::string& directory, const std::string& journal = {}, bool accept_log = false);

/// The store asks for a restore: no node takes it before.
status mark_for_restore(const std::string& directory);
/// The same of one of several copies, before its log is accepted (settle_store).
status mark_for_recovery(const std::string& directory);

/// Takes the store out of a journal that is missing or damaged, with what the tables have. The store then needs a restore before any node
/// takes it, because work that was acknowledged may be lost.
status leave_journal(const std::string& directory);

}  // namespace fairlead::store
