#include "actors/replication/copies/copy_taker.hpp"

#include <algorithm>
#include <utility>

#include "store/failpoint.hpp"
#include "store/journaled/chunk_hash.hpp"

namespace fairlead {

namespace {

constexpr std::int64_t ask_again_after_ms = 5'000;
// The leader has ended, or leads no more.
constexpr std::int64_t forgotten_after_ms = 300'000;

}  // namespace

void copy_taker::put(const store::archive::summary& what, v1::ReplicaCopy::Archive& to) {
  to.set_day(what.which.day);
  to.set_keep_days(what.which.keep_days);
  to.set_rows(what.rows);
  to.set_sum(what.sum);
}

void copy_taker::take(const v1::ReplicaCopy& what) {
  if (what.has_offer()) return offered(what);
  if (!incoming_ || what.copy() != offer_.copy() || what.from() != offer_.from()) return;
  heard_ms_ = world_.boot_ms();
  if (what.has_chunk()) came(what.chunk());
  if (what.has_archives()) listed(what.archives());
  if (what.has_archive_part()) came(what.archive_part());
}

void copy_taker::offered(const v1::ReplicaCopy& what) {
  const auto members = raft::decode_members(what.offer().members().SerializeAsString());
  if (!members || what.offer().bytes() == 0) return;
  if (incoming_ && offer_.copy() == what.copy()) return;  // tick() asks for what does not come
  incoming_.reset();
  offer_ = what;
  heard_ms_ = world_.boot_ms();
  // It is offered until the leader has heard what came of it.
  if (what.offer().index() <= world_.of->view().commit_index)
    return refuse(error{v1::ERROR_CODE_WRONG_STATE, "it ends with entry " + std::to_string(what.offer().index()) + ", which is here.", ""},
                  true);
  auto begun = world_.own->below().receive(what.offer().bytes());
  if (!begun) return refuse(begun.failure());
  incoming_ = std::move(*begun);
  bytes_ = what.offer().bytes();
  listed_ = false;
  lacks_.clear();
  world_.note("a copy of the state comes in, " + std::to_string(bytes_) + " bytes");
  ask();
}

void copy_taker::tick() {
  if (!incoming_) return follow_own_tables();
  const auto now_ms = world_.boot_ms();
  if (now_ms - heard_ms_ > forgotten_after_ms)
    incoming_.reset();
  else if (now_ms - asked_ms_ > ask_again_after_ms)
    ask();
}

v1::ReplicaCopy copy_taker::message() const {
  v1::ReplicaCopy out;
  out.set_shard(offer_.shard());
  out.set_from(offer_.to());
  out.set_to(offer_.from());
  out.set_copy(offer_.copy());
  return out;
}

/// For what it lacks next.
void copy_taker::ask() {
  asked_ms_ = world_.boot_ms();
  auto out = message();
  if (incoming_->bytes() < bytes_) {
    asked_up_to_ = std::min<std::uint64_t>(bytes_, incoming_->bytes() + chunks_at_once * chunk_bytes);
    out.mutable_want()->set_offset(incoming_->bytes());
  } else if (!listed_) {
    out.mutable_ask_archives();
  } else {
    *out.mutable_want_archive()->mutable_which() = lacks_.front();
    out.mutable_want_archive()->set_begin(begin_);
  }
  world_.send(std::move(out));
}

/// Nothing has changed. The leader shows why, and makes another one later.
void copy_taker::refuse(const error& why, bool has_it) {
  world_.note("the copy of the state is not taken: " + why.sentence);
  incoming_.reset();
  auto out = message();
  out.mutable_refused()->set_why(why.sentence);
  out.mutable_refused()->set_has_it(has_it);
  world_.send(std::move(out));
}

void copy_taker::came(const v1::ReplicaCopy::Chunk& chunk) {
  const bool next = chunk.offset() == incoming_->bytes() && chunk.offset() < bytes_;
  const bool sound = next && !chunk.data().empty() && chunk.data().size() <= bytes_ - chunk.offset() &&
                     store::hash_of_chunk(chunk.data(), chunk.offset()) == chunk.hash();
  if (!sound) return;  // what is damaged is asked for again
  if (auto written = incoming_->write(chunk.data()); !written) return refuse(written.failure());
  if (store::failpoint("copy.chunk")) return refuse(store::failpoint_error("copy.chunk"));
  if (incoming_->bytes() >= asked_up_to_) ask();
}

/// Archives are filled before the copy is in place: whatever is in them then, a task that the tables do not have any more is there.
void copy_taker::listed(const v1::ReplicaCopy::Archives& what) {
  if (incoming_->bytes() < bytes_ || std::exchange(listed_, true)) return;
  const auto own = world_.archives->summaries();
  if (!own) return refuse(own.failure());
  for (const auto& one : what.all()) {
    const store::archive::summary there{{one.day(), one.keep_days()}, one.rows(), one.sum()};
    if (std::find(own->begin(), own->end(), there) == own->end()) lacks_.push_back(one);
  }
  begin_.clear();
  if (lacks_.empty()) return finish();
  if (auto noted = world_.archives->note_adding(true); !noted) return refuse(noted.failure());
  ask();
}

void copy_taker::came(const v1::ReplicaCopy::ArchivePart& part) {
  if (lacks_.empty() || part.begin() != begin_ || part.which().day() != lacks_.front().day() ||
      part.which().keep_days() != lacks_.front().keep_days())
    return;
  if (!part.rows().empty()) {
    const auto added = world_.archives->add({part.which().day(), part.which().keep_days()}, part.rows());
    if (!added) return refuse(added.failure());
    if (store::failpoint("copy.archive")) return refuse(store::failpoint_error("copy.archive"));
  }
  begin_ = part.next();
  if (begin_.empty()) lacks_.pop_front();
  lacks_.empty() ? finish() : ask();
}

void copy_taker::finish() {
  const auto whole = std::exchange(incoming_, nullptr);
  const auto& offer = offer_.offer();
  const raft::base behind{offer.index(), offer.term(), raft::decode_members(offer.members().SerializeAsString()).value(), offer.stamp_ms()};
  if (auto sound = world_.own->check_copy(*whole, {behind.index, behind.term, behind.stamp_ms, offer.members().SerializeAsString()});
      !sound)
    return refuse(sound.failure());
  if (store::failpoint("copy.checked")) return refuse(store::failpoint_error("copy.checked"));
  if (auto noted = world_.archives->note_adding(true); !noted) return refuse(noted.failure());
  const auto installed = world_.of->install(*whole, behind);
  const auto code = installed.ok() ? v1::ERROR_CODE_OK : installed.failure().code;
  if (code == v1::ERROR_CODE_WRONG_STATE) return refuse(installed.failure(), true);
  if (code == v1::ERROR_CODE_UNAVAILABLE) return refuse(installed.failure());
  if (code != v1::ERROR_CODE_OK) return world_.on_fatal(installed.failure());
  world_.note("the copy of the state is in place");
  follow_own_tables();
}

/// By what the tables say, and not by what the leader's archives lack: nothing is deleted because something is absent. Also where the copy was not
/// taken, for what was deleted here meanwhile may have come with its archives.
void copy_taker::follow_own_tables() {
  if (!world_.archives->is_adding()) return;
  auto done = world_.archives->follow(*world_.own->read());
  if (done) done = world_.archives->note_adding(false);
  if (!done) world_.note("the archives cannot be brought in line with the tables: " + done.failure().sentence);
}

}  // namespace fairlead
