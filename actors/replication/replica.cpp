#include "actors/replication/replica.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/protocol/confirm.hpp"
#include "store/journal/payloads.hpp"

namespace fairlead {

namespace {

using fairlead::store::log_record;
using fairlead::store::record_type;

// A group of one needs no entries. They are dropped early: memory that is used again soon is still in the processor's cache (5 % of the tasks of a
// busy node).
constexpr std::uint64_t most_entries_alone = 4;
constexpr std::size_t most_bytes_alone = std::size_t{32} << 10;

constexpr std::int64_t longest_unnoted_ms = 20;
constexpr raft::log_term first_term = 1;

// Whoever lacks nothing older than this keeps up.
constexpr std::int64_t longest_behind_ms = 1'000;
// Election timeouts that a Scheduler that begins anew waits for its epoch, while this replica leads.
constexpr std::int64_t waits_of_an_epoch = 10;
// Entries are kept for a replica that gets a copy, so long since it has said something, as long as they are no more than so many times what is
// kept anyhow, and while the journal has room for what comes.
constexpr std::int64_t longest_kept_for_copy_ms = 600'000;
constexpr std::size_t most_kept_for_copy = 8;
// With so much of the journal in use entries are kept only for those who are about to get them. The journal is shared: a shard without work
// would otherwise keep the files with its last entries from all others for ever.
constexpr std::size_t scarce_percent = 75;

raft::settings settings_of(const replica_settings& how) {
  return {.self = how.self, .election_ms = how.election_ms, .heartbeat_ms = how.heartbeat_ms, .seed = how.seed};
}

log_record to_log_record(const raft::hard_state& what) {
  return {record_type::hard, 0, what.term, 0, std::make_shared<const std::string>(fairlead::store::encode_vote(what.vote))};
}

log_record to_log_record(const raft::cut& what) {
  return {record_type::cut, what.first_removed, what.last_term, 0, raft::encode(what.who)};
}

log_record to_log_record(const raft::entry& what) {
  return {static_cast<record_type>(what.kind), what.index, what.term, what.stamp_ms, what.payload};
}

error not_leader(const fairlead::store::journaled_store& own) {
  return {v1::ERROR_CODE_UNAVAILABLE, "This replica of shard " + std::to_string(own.shard()) + " does not lead.",
          "Nothing to do: the replica that leads takes the work."};
}

}  // namespace

replica::replica(fairlead::store::journaled_store& own, replica_settings how, std::function<std::int64_t()> boot_ms, lead_clock* time)
    : own_(own),
      how_(std::move(how)),
      boot_ms_(std::move(boot_ms)),
      time_(resumed(time, own_)),
      consensus_(settings_of(how_), recovered_of(own_.take_log(), how_), now()),
      place_(how_.self, how_.election_ms, boot_ms_()) {
  own_.keep_above(alone() ? own_.shown_index() : consensus_.entries().base_index());
  if (const auto& noted = own_.noted_clock()) noted_clock_ = *noted;
}

void replica::serve(replica_port* port) {
  const std::lock_guard lock(guard_);
  port_ = port;
  if (port_ == nullptr) return;
  // Whoever was told before may not have come to act on it.
  port_->leads_no_longer();
  if (epoch_ != 0) port_->leads(epoch_);
}

raft::recovered replica::recovered_of(fairlead::store::recovered_log log, const replica_settings& how) {
  raft::recovered out;
  out.hard = {log.term, log.vote};
  out.from = {log.base_index, log.base_term, raft::decode_members(log.base_members).value_or(how.born_with), log.base_stamp_ms};
  out.entries.reserve(log.entries.size());
  for (auto& one : log.entries)
    out.entries.push_back({one.index, one.term, one.stamp_ms, static_cast<raft::entry_kind>(one.type), std::move(one.payload)});
  out.applied = std::max(log.base_index, log.applied_index);
  // What was written before consensus had terms.
  if (out.from.index != 0) out.from.term = std::max(out.from.term, first_term);
  return out;
}

bool replica::alone() const {
  const auto& all = consensus_.entries().current_members();
  return all.voters.size() + all.standbys.size() == 1 && all.has(how_.self);
}

/// A process that has heard of no leader yet may lead all the same: it goes on from what an earlier one on this node has heard.
lead_clock* replica::resumed(lead_clock* time, const fairlead::store::journaled_store& own) {
  if (const auto& noted = own.noted_clock(); time != nullptr && noted) time->resume(noted->ahead_ms, noted->wall_unix_ms);
  return time;
}

/// Before entries of a leader whose clock is further behind than a start would take it to be, or far ahead of that.
void replica::note_clock() {
  const auto ahead_ms = time_->ahead_ms();
  const auto wall_ms = to_unix_ms(time_->now()) - ahead_ms;
  const auto off_ms = ahead_ms - lead_clock::shrunk(noted_clock_.ahead_ms, wall_ms - noted_clock_.wall_unix_ms);
  // What is heard comes sooner or later by some milliseconds.
  if (off_ms >= -1 && off_ms < longest_unnoted_ms) return;
  noted_clock_ = {ahead_ms, wall_ms, 0};
  records_.insert(records_.begin(), {record_type::clock, own_.written_index(), static_cast<raft::log_term>(wall_ms), ahead_ms, nullptr});
}

raft::moment replica::now() { return {boot_ms_(), time_ != nullptr ? to_unix_ms(time_->now()) : own_.read_time()}; }

/// The index that the input was given; 0: none, or it was refused.
raft::log_index replica::step(const raft::input& in, raft::moment at) {
  auto out = consensus_.step(in, at);
  const auto accepted = out.accepted;
  // What it has heard last may have been under way for long. Its own first message says already what its log says.
  if (const auto elected = consensus_.epoch(); elected != std::exchange(elected_, elected) && elected != 0 && time_ != nullptr)
    time_->reach(consensus_.shown_stamp_ms());
  take(std::move(out));
  return accepted;
}

void replica::take(raft::output out) {
  if (!out.messages.empty() && port_ != nullptr) port_->send(std::move(out.messages));
  for (const auto& one : out.records) {
    // Where the log begins is said by the journal's own segments.
    if (const auto* record = std::get_if<raft::hard_state>(&one)) records_.push_back(to_log_record(*record));
    if (const auto* record = std::get_if<raft::cut>(&one)) records_.push_back(to_log_record(*record));
    if (const auto* record = std::get_if<raft::entry>(&one)) records_.push_back(to_log_record(*record));
  }
  position_ = out.position;
  committed_.insert(committed_.end(), std::make_move_iterator(out.committed.begin()), std::make_move_iterator(out.committed.end()));
  confirmed_.insert(confirmed_.end(), out.confirmed.begin(), out.confirmed.end());
}

status replica::tick() {
  const std::lock_guard lock(guard_);
  step(raft::tick{});
  if (time_ != nullptr) own_.note_clock_ahead(time_->ahead_ms());
  if (!alone()) {
    trim();
    if (auto carried = carry_over(); !carried) return carried;
  }
  look_at_place();
  look_at_members();
  return nothing{};
}

status replica::receive(const raft::message& what) {
  const std::lock_guard lock(guard_);
  const auto before = consensus_.last_stamp();
  step(raft::received{what});
  // This one may lead next. What a leader has said long ago is no news.
  const auto heard = consensus_.last_stamp();
  const bool is_news = heard.stamp_ms != before.stamp_ms || heard.boot_ms != before.boot_ms;
  if (time_ == nullptr || !is_news) return nothing{};
  time_->follow(heard.stamp_ms, heard.boot_ms);
  own_.note_clock_ahead(time_->ahead_ms());
  return nothing{};
}

std::uint64_t replica::confirm(std::uint64_t epoch) {
  const std::lock_guard lock(guard_);
  const auto ticket = ++last_ticket_;
  const bool began = begun_ && epoch_ != 0 && consensus_.epoch() != 0 && epoch_ >= consensus_.epoch();
  const bool outlived = epoch == confirm_begun ? !began : epoch != 0 && (epoch != epoch_ || epoch < consensus_.epoch());
  if (outlived)
    confirmed_.push_back({ticket, false, 0});
  else
    step(raft::confirm{ticket});
  return ticket;
}

status replica::unreachable(raft::replica_id who) {
  const std::lock_guard lock(guard_);
  step(raft::unreachable{who});
  return nothing{};
}

status replica::transfer(raft::replica_id to) {
  const std::lock_guard lock(guard_);
  step(raft::transfer{to});
  return nothing{};
}

std::optional<raft::base> replica::keep_for_copy(const copy_on_way& what) {
  const std::lock_guard lock(guard_);
  auto out = consensus_.entries().base_at(what.behind);
  if (!out) return out;
  copy_ = what;
  copy_until_ms_ = boot_ms_() + longest_kept_for_copy_ms;
  no_copy_.clear();
  return out;
}

void replica::end_copy(const std::string& why) {
  const std::lock_guard lock(guard_);
  copy_ = {};
  no_copy_ = why;
}

status replica::install(fairlead::store::incoming_copy& from, const raft::base& behind) {
  const std::lock_guard lock(guard_);
  if (auto settled = settle_locked(); !settled) return settled;
  // With that entry in its own log it may have confirmed what is behind it.
  const bool has_it = consensus_.entries().term_at(behind.index) == behind.term || behind.index <= consensus_.commit_index();
  if (has_it || consensus_.current_role() == raft::role::leader || !consensus_.quarantined().empty()) {
    return error{v1::ERROR_CODE_WRONG_STATE, "This replica of shard " + std::to_string(own_.shard()) + " needs this copy no more.",
                 "Nothing to do."};
  }
  const fairlead::store::log_base base{behind.index, behind.term, behind.stamp_ms, *raft::encode(behind.who)};
  if (auto installed = own_.install(from, base); !installed) return installed;
  const auto hard = consensus_.hard();
  consensus_ = raft::consensus(settings_of(how_), {hard, behind, {}, behind.index}, now());
  position_ = durable_position_ = 0;
  elected_ = epoch_ = 0;
  if (place_.declines()) step(raft::decline{true});
  own_.keep_above(behind.index);
  shown_.notify_all();
  return nothing{};
}

result<replica::proposal> replica::propose(const std::vector<fairlead::store::batch>& group) {
  const std::lock_guard lock(guard_);
  if (epoch_ == 0 || consensus_.epoch() == 0) return proposal::not_leader;
  if (uncommitted_bytes_ > how_.most_uncommitted_bytes) return proposal::later;
  auto payloads = own_.payloads_of(group, proposed_sequence_, proposed_epoch_);
  if (!payloads) return payloads.failure();
  // At one moment it takes all of them or none.
  const auto at = now();
  for (auto& one : *payloads) {
    const auto bytes = one->size();
    if (step(raft::propose{raft::entry_kind::batches, std::move(one)}, at) == 0)
      return consensus_.epoch() != 0 ? proposal::later : proposal::not_leader;  // it hands over, or its journal stands still
    uncommitted_bytes_ += bytes;
  }
  if (!group.empty()) proposed_sequence_ = group.back().sequence;
  return proposal::taken;
}

bool replica::propose_rows(const fairlead::store::batch& what) {
  const std::lock_guard lock(guard_);
  auto row = std::make_shared<const std::string>(what.bytes());
  return epoch_ != 0 && consensus_.epoch() != 0 && step(raft::propose{raft::entry_kind::rows, std::move(row)}) != 0;
}

bool replica::wants_settle() const {
  const std::lock_guard lock(guard_);
  // Somebody has to be told that it leads no longer, or waits for an answer.
  const auto is_due = [&](const raft::confirmation& one) { return !one.led || one.index <= own_.shown_index(); };
  return position_ != durable_position_ || !committed_.empty() || std::any_of(confirmed_.begin(), confirmed_.end(), is_due) ||
         (epoch_ != 0 && consensus_.epoch() == 0);
}

status replica::settle() {
  const std::lock_guard lock(guard_);
  return settle_locked();
}

status replica::settle_locked() {
  for (;;) {
    if (!records_.empty()) {
      if (time_ != nullptr) note_clock();
      const auto records = std::exchange(records_, {});
      if (auto written = own_.write(records); !written) return written;
    }
    if (position_ != durable_position_) {
      durable_position_ = position_;
      step(raft::durable{position_});
    }
    const auto sequence = own_.sequence();
    for (const auto& one : std::exchange(committed_, {})) {
      if (auto shown = show(one); !shown) return shown;
    }
    // Those of another leader follow that one's epoch, and the Scheduler here knows nothing of them.
    if (own_.sequence() != sequence && port_ != nullptr && epoch_ != 0 && own_.epoch() == epoch_) port_->committed(own_.sequence());
    look_at_leadership();
    for (const auto& one : std::exchange(confirmed_, {})) {
      if (one.led && one.index > own_.shown_index())
        confirmed_.push_back(one);
      else if (port_ != nullptr)
        port_->confirmed(one.ticket, one.led);
    }
    trim();
    if (records_.empty() && position_ == durable_position_ && committed_.empty()) return nothing{};
  }
}

status replica::show(const raft::entry& what) {
  auto done = own_.show(to_log_record(what));
  if (!done) return done;
  if (what.kind == raft::entry_kind::batches) uncommitted_bytes_ -= std::min(uncommitted_bytes_, what.bytes().size());
  shown_.notify_all();
  return done;
}

/// A Scheduler may begin when the leader's own first entry is shown, and with it all that former leaders have left.
void replica::look_at_leadership() {
  const auto own = consensus_.epoch();
  const bool begins_early = how_.planted != nullptr && how_.planted->begin_unshown;
  const auto leads = own != 0 && (own_.shown_index() >= own || begins_early);
  if (!leads && epoch_ != 0) {
    epoch_ = 0;
    asked_epoch_ = 0;
    uncommitted_bytes_ = 0;
    shown_.notify_all();
    if (port_ != nullptr) port_->leads_no_longer();
  }
  if (!leads || epoch_ >= own) return;
  // It may have led before and lost that in between.
  if (epoch_ != 0 && port_ != nullptr) port_->leads_no_longer();
  epoch_ = proposed_epoch_ = own_.epoch();
  proposed_sequence_ = own_.sequence();
  uncommitted_bytes_ = 0;
  begun_ = false;
  if (port_ != nullptr) port_->leads(epoch_);
}

/// At most `up_to`. As a follower, which knows nothing of the others, it is that.
raft::log_index replica::confirmed_by_all_in_contact(raft::log_index up_to) const {
  if (consensus_.current_role() != raft::role::leader) return up_to;
  for (const auto& [id, known] : consensus_.others())
    if (!known.lacks_base && !known.went_back() && boot_ms_() - known.last_contact_ms < how_.election_ms)
      up_to = std::min(up_to, known.match);
  return up_to;
}

bool replica::is_scarce() const { return own_.journal_used_percent() >= scarce_percent || own_.journal_files_left() <= 2; }

/// Drops entries that nobody needs from memory, and lets the journal drop them.
void replica::trim() {
  // It says no more of its log, and the journal is the other shards', too.
  if (!consensus_.quarantined().empty()) return own_.keep_above(own_.applied_index());
  const auto& log = consensus_.entries();
  const auto base = log.base_index();
  if (alone()) {
    const auto shown = own_.shown_index();
    if (shown < base + most_entries_alone && log.bytes() < most_bytes_alone) return;
    step(raft::compact{shown});
  } else {
    const auto applied = own_.applied_index();
    const auto used_percent = own_.journal_used_percent();
    const bool room = used_percent < 50;
    const bool scarce = is_scarce();
    // The journal is shared, and must not fill with what one shard keeps for a replica that may never come back. An entry takes a block of it.
    const auto keep = room ? how_.keep_bytes : how_.keep_bytes / 2;
    const auto many = room ? applied : keep / fairlead::store::journal_block_bytes;
    if (applied <= base || (!scarce && log.bytes() <= keep && applied - base <= many)) return;
    auto up_to = std::max(base, scarce ? confirmed_by_all_in_contact(applied) : applied - std::min(applied, many));
    const auto kept = log.bytes_behind(up_to);
    for (auto over = kept - std::min(kept, keep); up_to < applied; ++up_to) {
      const auto bytes = log.at(up_to + 1).bytes().size();
      if (bytes > over) break;
      over -= bytes;
    }
    const bool kept_for_copy =
        copy_.to != 0 && boot_ms_() <= copy_until_ms_ && !scarce && log.bytes_behind(copy_.behind) <= most_kept_for_copy * how_.keep_bytes;
    if (kept_for_copy) up_to = std::min(up_to, std::max(copy_.behind, base));
    if (up_to == base) return;
    step(raft::compact{up_to});
  }
  own_.keep_above(log.base_index());
}

/// Entries that nobody knows to count, because there is no majority, stand in the oldest file of the journal, which the other shards of the node need.
/// They are written once more, behind a cut of themselves, in one append: the journal has them at any moment.
status replica::carry_over() {
  const auto& log = consensus_.entries();
  const auto shown = own_.shown_index();
  const bool rests = records_.empty() && position_ == durable_position_;
  if (!rests || log.last_index() <= shown || own_.applied_index() != shown) return nothing{};
  // What it keeps for others stays in the oldest file all the same.
  if (consensus_.quarantined().empty() && shown != log.base_index()) return nothing{};
  // With one file left it would wait for room that nobody makes.
  if (!is_scarce() || own_.journal_files_left() < 2 || !own_.keeps_oldest_file()) return nothing{};
  std::vector<fairlead::store::log_record> again{to_log_record(raft::cut{shown + 1, *log.term_at(shown), log.members_at(shown)})};
  for (auto at = shown + 1; at <= log.last_index(); ++at) again.push_back(to_log_record(log.at(at)));
  return own_.fits_one_append(again) ? own_.write(again) : status(nothing{});
}

bool keeps_up(const replica_view::other& one, std::int64_t boot_ms, std::int64_t shard_ms, std::int64_t election_ms) {
  return one.match != 0 && !one.lacks_base && !one.went_back && boot_ms - one.last_contact_ms < election_ms &&
         (one.lacks_since_ms == 0 || shard_ms - one.lacks_since_ms < longest_behind_ms);
}

replica_view replica::view() const {
  const std::lock_guard lock(guard_);
  return view_locked();
}

replica_view replica::view_locked() const {
  replica_view out;
  out.role = consensus_.current_role();
  out.term = consensus_.term();
  out.leader = consensus_.leader();
  out.epoch = epoch_;
  const auto& log = consensus_.entries();
  out.last_index = log.last_index();
  out.commit_index = consensus_.commit_index();
  out.shown_index = own_.shown_index();
  out.contact_ms = out.role == raft::role::leader ? consensus_.majority_contact_ms() : consensus_.last_stamp().boot_ms;
  out.members = log.current_members();
  for (const auto& [id, known] : consensus_.others()) {
    const auto lacks = std::max(known.match, log.base_index()) + 1;
    out.others.push_back({id, known.match, log.bytes_behind(known.match), lacks <= out.last_index ? log.at(lacks).stamp_ms : 0,
                          known.last_contact_ms, known.lacks_base, known.went_back(), known.declines});
  }
  out.quarantined = consensus_.quarantined();
  out.went_back = consensus_.went_back();
  out.copy = copy_;
  out.no_copy = no_copy_;
  return out;
}

// An entry at a time: what is shown can be applied, and makes room in the journal for the next.
status replica::commit(const std::vector<fairlead::store::batch>& group) {
  const std::lock_guard lock(guard_);
  if (consensus_.epoch() == 0) return not_leader(own_);
  auto payloads = own_.payloads_of(group, proposed_sequence_, proposed_epoch_);
  if (!payloads) return payloads.failure();
  for (auto& one : *payloads) {
    if (step(raft::propose{raft::entry_kind::batches, std::move(one)}) == 0) return not_leader(own_);
    if (auto settled = settle_locked(); !settled) return settled;
  }
  if (!group.empty()) proposed_sequence_ = group.back().sequence;
  if (own_.sequence() == proposed_sequence_) return nothing{};
  return error{v1::ERROR_CODE_INTERNAL, "A commit of shard " + std::to_string(own_.shard()) + " waits for other replicas.",
               "This is a bug; report it."};
}

result<std::uint64_t> replica::raise_epoch() {
  std::unique_lock lock(guard_);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds{waits_of_an_epoch * how_.election_ms};
  for (;;) {
    const auto got = ask_epoch_locked();
    if (!got.ok() || *got != 0) return got;
    if (std::chrono::steady_clock::now() >= until) break;
    // What keeps it from taking an entry, such as a lead that is being handed over, ends without anything being shown.
    shown_.wait_for(lock, std::chrono::milliseconds{how_.heartbeat_ms});
  }
  return error{v1::ERROR_CODE_TIMED_OUT,
               "The other replicas of shard " + std::to_string(own_.shard()) + " have not taken the epoch of a Scheduler that begins anew.",
               "Look at their disks. Another node leads meanwhile."};
}

result<std::uint64_t> replica::ask_epoch() {
  const std::lock_guard lock(guard_);
  return ask_epoch_locked();
}

result<std::uint64_t> replica::ask_epoch_locked() {
  if (epoch_ != 0 && consensus_.epoch() != 0 && !begun_) {
    begun_ = true;
    return epoch_;
  }
  // Of a leader before, it is in vain.
  if (asked_epoch_ < consensus_.epoch()) asked_epoch_ = 0;
  if (asked_epoch_ == 0 && consensus_.epoch() != 0) {
    asked_epoch_ = step(raft::propose{raft::entry_kind::epoch, nullptr});
    // From here on nothing of an earlier Scheduler is taken: it would follow this entry.
    if (asked_epoch_ != 0) proposed_epoch_ = asked_epoch_;
  } else if (asked_epoch_ == 0 && alone()) {
    step(raft::tick{});
    if (auto settled = settle_locked(); !settled) return settled.failure();
    asked_epoch_ = consensus_.epoch();
  }
  if (auto settled = settle_locked(); !settled) return settled.failure();
  if (consensus_.epoch() == 0) {
    asked_epoch_ = 0;
    return not_leader(own_);
  }
  if (asked_epoch_ == 0) return std::uint64_t{0};  // it takes no entry at the moment
  if (own_.epoch() < asked_epoch_) return std::uint64_t{0};
  begun_ = true;
  asked_epoch_ = 0;
  return proposed_epoch_ = epoch_ = own_.epoch();
}

}  // namespace fairlead
