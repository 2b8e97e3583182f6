#include "actors/replication/copies/copy_giver.hpp"

#include <algorithm>
#include <utility>

#include "actors/replication/copies/copy_taker.hpp"
#include "store/failpoint.hpp"
#include "store/journaled/chunk_hash.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"

namespace fairlead {

namespace {

constexpr std::int64_t offer_every_ms = 1'000;
// Looking at a large copy takes the other replica minutes, in which it says nothing.
constexpr std::int64_t given_up_after_ms = 600'000;
constexpr std::int64_t longest_silence_ms = 30'000;
constexpr std::int64_t again_after_ms = 5'000;
constexpr std::int64_t again_after_refusal_ms = 30'000;

}  // namespace

bool copy_giver::wanted_by(raft::replica_id who) const {
  const auto now = world_.of->view();
  return std::any_of(now.others.begin(), now.others.end(), [&](const auto& one) {
    return one.id == who && one.lacks_base && !one.went_back && world_.boot_ms() - one.last_contact_ms < longest_silence_ms;
  });
}

void copy_giver::tick() {
  const auto now_ms = world_.boot_ms();
  if (copy_ && !wanted_by(to_)) {
    end("is not needed any more: it has what it lacked, or is away");
  }
  if (copy_ && now_ms - heard_ms_ > given_up_after_ms) {
    end("is not asked for");
    not_before_ms_[to_] = now_ms + again_after_ms;
  }
  if (copy_) {
    if (now_ms - offered_ms_ >= offer_every_ms) offer();
    return;
  }
  // Whoever has waited longest: one that refuses must not keep the others from theirs.
  std::optional<raft::replica_id> next;
  for (const auto& one : world_.of->view().others) {
    const bool wants = one.lacks_base && !one.went_back && now_ms - one.last_contact_ms < world_.of->settings().election_ms;
    if (!wants || now_ms < not_before_ms_[one.id]) continue;
    if (!next || not_before_ms_[one.id] < not_before_ms_[*next]) next = one.id;
  }
  if (next && take_turn()) begin(*next);
}

bool copy_giver::take_turn() {
  has_turn_ = !world_.turn || !world_.turn->exchange(true);
  return has_turn_;
}

void copy_giver::give_turn_back() {
  if (std::exchange(has_turn_, false) && world_.turn) world_.turn->store(false);
}

void copy_giver::begin(raft::replica_id whom) {
  not_before_ms_[whom] = world_.boot_ms() + again_after_ms;
  to_ = whom;
  if (!make()) return give_turn_back();
  heard_ms_ = world_.boot_ms();
  world_.note("a copy of the state, " + std::to_string(copy_->bytes()) + " bytes, is sent to node " + world_.node_of(whom));
  offer();
}

/// False: there is none.
bool copy_giver::make() {
  // The tables are at least as of here. What comes while they are copied is kept.
  if (!world_.of->keep_for_copy({to_, world_.own->applied_index(), 0, 0})) return false;
  auto made = world_.own->below().copy();
  if (!made) {
    not_before_ms_[to_] = world_.boot_ms() + again_after_refusal_ms;
    world_.of->end_copy(made.failure().sentence);
    world_.note("no copy of the state can be made: " + made.failure().sentence);
    return false;
  }
  const auto row = (*made)->read_tables()->get(store::table::meta, store::keys::meta(store::meta::applied_row));
  const auto at = row && row->has_value() ? store::meta::decode_applied(**row) : std::nullopt;
  copy_ = std::move(*made);
  name_ = world_.new_name();
  const auto behind = at ? world_.of->keep_for_copy({to_, at->index, 0, copy_->bytes()}) : std::nullopt;
  if (behind)
    behind_ = *behind;
  else
    end("was made for nothing: what came meanwhile is not kept");
  return behind.has_value();
}

void copy_giver::end(const std::string& why) {
  world_.note("the copy of the state for node " + world_.node_of(to_) + " " + why);
  world_.of->end_copy();
  copy_.reset();
  give_turn_back();
}

void copy_giver::fail(const std::string& what, const error& why) {
  not_before_ms_[to_] = world_.boot_ms() + again_after_refusal_ms;
  end("ends: " + what + ": " + why.sentence);
  world_.of->end_copy(why.sentence);
}

v1::ReplicaCopy copy_giver::message() const {
  v1::ReplicaCopy out;
  out.set_shard(world_.shard);
  out.set_from(world_.of->settings().self);
  out.set_to(to_);
  out.set_copy(name_);
  return out;
}

void copy_giver::offer() {
  offered_ms_ = world_.boot_ms();
  auto out = message();
  auto& offer = *out.mutable_offer();
  offer.set_bytes(copy_->bytes());
  offer.set_index(behind_.index);
  offer.set_term(behind_.term);
  offer.set_stamp_ms(behind_.stamp_ms);
  offer.mutable_members()->ParseFromString(*raft::encode(behind_.who));
  world_.send(std::move(out));
}

void copy_giver::asked(const v1::ReplicaCopy& what) {
  if (!copy_ || what.copy() != name_ || what.from() != to_) return;
  if (what.has_refused()) {
    // What it lacks by now comes soon: the shard may wait for it.
    const bool has_it = what.refused().has_it();
    not_before_ms_[to_] = world_.boot_ms() + (has_it ? offer_every_ms : again_after_refusal_ms);
    end(has_it ? "is not needed any more: it has the entry with which that ends" : "is refused: " + what.refused().why());
    if (!has_it && world_.on_refused) world_.on_refused();
    return world_.of->end_copy(has_it ? "" : what.refused().why());
  }
  heard_ms_ = offered_ms_ = world_.boot_ms();
  const auto bytes_asked = what.has_want() ? what.want().offset() : copy_->bytes();
  if (!world_.of->keep_for_copy({to_, behind_.index, std::min(bytes_asked, copy_->bytes()), copy_->bytes()}))
    return end("took too long: what came meanwhile is not kept");
  if (what.has_want()) return send_chunks(what.want().offset());
  if (what.has_ask_archives()) return list_archives();
  if (what.has_want_archive()) return send_part(what.want_archive());
}

void copy_giver::send_chunks(std::uint64_t offset) {
  for (int i = 0; i < copy_taker::chunks_at_once && offset < copy_->bytes(); ++i) {
    const auto bytes = copy_->read(offset, copy_taker::chunk_bytes);
    if (!bytes) return fail("it cannot be read", bytes.failure());
    auto out = message();
    auto& chunk = *out.mutable_chunk();
    chunk.set_offset(offset);
    chunk.set_data(*bytes);
    chunk.set_hash(store::hash_of_chunk(*bytes, offset));
    offset += bytes->size();
    world_.send(std::move(out));
    if (store::failpoint("copy.sent")) return fail("it is cut short", store::failpoint_error("copy.sent"));
  }
}

// They are read behind the tables: a task that moves in between is in both, and never in neither.
void copy_giver::list_archives() {
  // What cannot be read here is not asked for: another replica may still have it.
  std::vector<std::string> unreadable;
  const auto all = world_.archives->summaries(&unreadable);
  if (!all) return fail("its archives cannot be listed", all.failure());
  for (const auto& sentence : unreadable) world_.note("an archive does not go along with the copy: " + sentence);
  auto out = message();
  auto& said = *out.mutable_archives();
  for (const auto& one : *all) copy_taker::put(one, *said.add_all());
  world_.send(std::move(out));
}

void copy_giver::send_part(const v1::ReplicaCopy::WantArchive& what) {
  const store::archive_day which{what.which().day(), what.which().keep_days()};
  const auto part = world_.archives->read(which, what.begin(), copy_taker::chunk_bytes);
  // Its time is over since it was listed: then nobody misses it.
  const bool gone = !part.ok() && part.failure().code == v1::ERROR_CODE_NOT_FOUND;
  if (!part.ok() && !gone) return fail("an archive cannot be read", part.failure());
  auto out = message();
  auto& said = *out.mutable_archive_part();
  *said.mutable_which() = what.which();
  said.set_begin(what.begin());
  if (!gone) {
    said.set_rows(part->rows);
    said.set_next(part->next);
  }
  world_.send(std::move(out));
  if (store::failpoint("copy.archive_sent")) return fail("it is cut short", store::failpoint_error("copy.archive_sent"));
}

}  // namespace fairlead
