#pragma once
// Faults of consensus that tests switch on, one at a time, to show that they would be seen. Never set in production. The names in brackets
// are those of docs/adr/0033-consensus.md.

namespace fairlead::raft {

struct planted_faults {
  bool commit_former_term = false;  // what a majority has is committed, whatever its term (B1, R1)
  // The next two make probes without entries as well: as they are, the first message that agrees shows all left-over entries to be so.
  bool confirm_unchecked = false;       // a follower confirms its last entry, not the last that the leader's messages have shown (B2, R2)
  bool commit_unchecked = false;        // a follower commits what the leader has, up to its own last entry (B3, R3)
  bool commit_newest_only = false;      // the leader commits only when all that it has is confirmed (B4, R4)
  bool vote_before_durable = false;     // a vote leaves before it is durable
  bool confirm_before_durable = false;  // entries are confirmed before they are durable
  bool count_undurable = false;         // the leader counts itself for entries that its own disk lacks
  bool keep_cut_members = false;        // members stay in force although their entry was cut (B6, R7)
  bool lead_same_term = false;          // a sole voter leads in its former term after a start (B7, R8)
  bool vote_twice = false;              // a vote is given without regard to one given before
  bool vote_for_any_log = false;        // a vote is given to a candidate that lacks entries
  bool confirm_unasked = false;         // a leader says that it leads without asking anybody
  bool change_two_voters = false;       // the next change of members begins before the last is committed
  bool count_standbys = false;          // what a standby has confirmed counts as if it voted
  bool elect_with_standbys = false;     // standbys are asked for their vote, and it counts
  bool elect_with_removed = false;      // replicas that are members no more are asked for their vote, and it counts
  bool lead_without_disk = false;       // a leader whose journal stands still goes on as if it did not (D16)
  bool forget_matched_cut = false;      // a cut does not lower what was taken to be durable
};

}  // namespace fairlead::raft
