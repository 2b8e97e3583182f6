#include "actors/scheduler/books/worker_book.hpp"

#include <algorithm>

#include "store/rows/worker_rows.hpp"

namespace fairlead {

namespace {

error taken(const std::string& instance) {
  return {v1::ERROR_CODE_CONFLICT, "Another process is registered as worker instance " + instance + ".",
          "Register under another instance name, or with take_over when that process is surely dead."};
}

error heard_lately(const std::string& instance) {
  return {v1::ERROR_CODE_CONFLICT, "The process of worker instance " + instance + " was heard lately, so it cannot be taken over.",
          "Wait until that process is silent, register under another instance name, or use a token with the role vouch."};
}

error no_worker(const std::string& instance) {
  return {v1::ERROR_CODE_CONFLICT, instance + " is the name of an agent instance that is no worker over HTTP.",
          "Register under another instance name."};
}

error no_session(const std::string& instance) {
  return {v1::ERROR_CODE_FORBIDDEN, "This is no session of worker instance " + instance + ".", "Register without a session."};
}

error taken_over(const std::string& instance) {
  return {v1::ERROR_CODE_CONFLICT, "A later process has taken worker instance " + instance + " over.",
          "Stop this process, or register it under another instance name."};
}

error key_reused(const std::string& instance) {
  return {v1::ERROR_CODE_KEY_REUSED, "The key was used for another registration of worker instance " + instance + ".",
          "Send the first registration again as it was, or use a key that is new for each process."};
}

error too_many() {
  return {v1::ERROR_CODE_OVERLOADED, std::to_string(worker_book::most) + " worker instances are known, which is the maximum.",
          "Use the same instance names again, or wait: instances that have left are forgotten after a day."};
}

error no_key() {
  return {v1::ERROR_CODE_UNAVAILABLE, "The node cannot sign sessions: its system gives no random bytes.",
          "Check the system's random device, then restart the node."};
}

bool is_of(const v1::WorkKey& key, const v1::Lineage& lineage) {
  return key.lineage().made_unix_ms() == lineage.made_unix_ms() && key.lineage().bits() == lineage.bits();
}

std::string begun_by(const v1::WorkerSessionRequest& what) { return what.key().empty() ? std::string{} : what.who() + " " + what.key(); }

/// Not known where the request or the row is one of an earlier release.
bool is_another(const v1::WorkerSessionRequest& what, const v1::WorkerRecord& than) {
  return !what.digest().empty() && !than.begun_as().empty() && what.digest() != than.begun_as();
}

v1::WorkerSessionReply refused(const error& why) {
  v1::WorkerSessionReply out;
  *out.mutable_error() = why.to_proto();
  return out;
}

}  // namespace

worker_book::worker_book(const clock& time, std::uint32_t shard, v1::Lineage lineage, std::string fresh_key)
    : time_(time), shard_(shard), lineage_(std::move(lineage)), key_(std::move(fresh_key)) {}

status worker_book::open(const store::snapshot& from) {
  auto key = store::load_work_key(from);
  if (!key) return key.failure();
  signed_ = *key && !(*key)->key().empty();
  // A backup that was restored brings the key of its own lineage, and whoever got sessions since the backup must not keep them.
  if (signed_ && is_of(**key, lineage_)) {
    key_ = std::move(*(*key)->mutable_key());
    key_stored_ = true;
  }
  const auto now = time_.now();
  return store::for_each_worker(from, [&](std::string_view instance, const v1::WorkerRecord& record) {
    rows_[std::string{instance}] = {record, now};
    return true;
  });
}

/// Whether there is a key. Its row is in the batch of the first signature, or earlier.
bool worker_book::sign(store::batch& out) {
  if (key_.empty()) return false;
  if (key_stored_) return true;
  v1::WorkKey record;
  record.set_key(key_);
  *record.mutable_lineage() = lineage_;
  store::put_work_key(out, record);
  key_stored_ = signed_ = true;
  return true;
}

v1::WorkerSessionReply worker_book::answer(const v1::WorkerSessionRequest& what, const standings& of, store::batch& out) {
  if (!sign(out)) return refused(no_key());
  forget_some(of, out);
  return what.session().empty() ? begin(what, of(what.instance()), out) : resume(what, out);
}

moment worker_book::last_sign(const row& of) const { return std::max(from_unix_ms(of.record.given_at_unix_ms()), of.heard); }

/// Why the instance gets no higher incarnation.
std::optional<error> worker_book::why_not(const v1::WorkerSessionRequest& what, const standing& now) const {
  const auto& instance = what.instance();
  if (now.registered && !now.worker) return no_worker(instance);
  const auto known = rows_.find(instance);
  // Nothing was heard of an instance that is unknown to the registry: it may be at work for other shards.
  const bool may_live = known != rows_.end() && !known->second.record.left() && time_.now() - last_sign(known->second) < forgotten_after;
  const bool is_here = now.present || now.holds;
  if (!what.take_over() && (is_here || may_live)) return taken(instance);
  const bool is_heard = now.present && !(planted_ != nullptr && planted_->take_over_alive);
  if (is_heard && !what.vouched()) return heard_lately(instance);
  if (known == rows_.end() && rows_.size() >= most) return too_many();
  return std::nullopt;
}

v1::WorkerSessionReply worker_book::begin(const v1::WorkerSessionRequest& what, const standing& now, store::batch& out) {
  // A copy of the request that began the session must not take over what the first has begun.
  const auto known = rows_.find(what.instance());
  const auto by = begun_by(what);
  const bool is_same_key = known != rows_.end() && !by.empty() && known->second.record.begun_by() == by && !known->second.record.left();
  if (is_same_key && is_another(what, known->second.record)) return refused(key_reused(what.instance()));
  if (is_same_key && known->second.record.agent() == what.name()) {
    heard(what.instance(), out);
    return session_of(what.instance(), known->second.record, out);
  }
  if (const auto why = why_not(what, now)) return refused(*why);
  auto& of = rows_[what.instance()];
  const auto at = time_.now();
  const auto last = std::max(of.record.incarnation(), now.incarnation);
  of.record.set_agent(what.name());
  if (last == 0 || planted_ == nullptr || !planted_->reuse_incarnation)
    of.record.set_incarnation(std::max(last + 1, static_cast<std::uint64_t>(std::max<std::int64_t>(to_unix_ms(at), 0))));
  of.record.set_given_at_unix_ms(to_unix_ms(at));
  of.record.set_left(false);
  of.record.set_begun_by(by);
  of.record.set_begun_as(by.empty() ? std::string{} : what.digest());
  of.heard = at;
  store::put_worker(out, what.instance(), of.record);
  return session_of(what.instance(), of.record, out);
}

/// Why a text that says this of itself is no session, or none that counts.
std::optional<error> worker_book::check(const session_name& said, std::string_view text) const {
  const auto known = rows_.find(said.instance);
  if (key_.empty() || !is_session_of(key_, text) || known == rows_.end()) return no_session(said.instance);
  const auto& record = known->second.record;
  if (record.incarnation() > said.incarnation) return taken_over(said.instance);
  if (record.incarnation() < said.incarnation || record.agent() != said.agent) return no_session(said.instance);
  return std::nullopt;
}

v1::WorkerSessionReply worker_book::resume(const v1::WorkerSessionRequest& what, store::batch& out) {
  const auto said = read_session(what.session());
  if (!said || said->shard != shard_ || said->agent != what.name() || said->instance != what.instance())
    return refused(no_session(what.instance()));
  if (const auto why = check(*said, what.session())) return refused(*why);
  heard(what.instance(), out);
  if (planted_ != nullptr && planted_->new_incarnation_on_move) {
    auto& record = rows_.at(what.instance()).record;
    record.set_incarnation(record.incarnation() + 1);
    store::put_worker(out, what.instance(), record);
  }
  return session_of(what.instance(), rows_.at(what.instance()).record, out);
}

v1::WorkerSessionReply worker_book::session_of(const std::string& instance, const v1::WorkerRecord& record, store::batch& out) {
  sign(out);
  v1::WorkerSessionReply reply;
  reply.set_incarnation(record.incarnation());
  reply.set_session(make_session(key_, shard_, record.agent(), instance, record.incarnation()));
  return reply;
}

std::optional<error> worker_book::refuse(const v1::RegisterAgent& what, store::batch& out) {
  if (what.session().empty()) return std::nullopt;
  const auto said = read_session(what.session());
  if (!said || said->agent != what.agent() || said->instance != what.instance() || said->incarnation != what.incarnation())
    return no_session(what.instance());
  if (said->shard != shard_) return std::nullopt;
  if (auto why = check(*said, what.session())) return why;
  heard(what.instance(), out);
  return std::nullopt;
}

void worker_book::heard(const std::string& instance, store::batch& out) {
  auto& of = rows_.at(instance);
  of.heard = time_.now();
  if (!of.record.left()) return;
  of.record.set_left(false);
  store::put_worker(out, instance, of.record);
}

void worker_book::left(const std::string& instance, std::uint64_t incarnation, store::batch& out) {
  const auto known = rows_.find(instance);
  if (known == rows_.end() || known->second.record.incarnation() != incarnation || known->second.record.left()) return;
  known->second.record.set_left(true);
  store::put_worker(out, instance, known->second.record);
}

/// A few rows at a time, so that no session waits for all of them.
void worker_book::forget_some(const standings& of, store::batch& out) {
  const auto now = time_.now();
  for (int i = 0; i < looked_at && !rows_.empty(); ++i) {
    auto next = rows_.upper_bound(looked_up_to_);
    if (next == rows_.end()) next = rows_.begin();
    looked_up_to_ = next->first;
    auto& one = next->second;
    const auto known = of(next->first);
    if (known.present || known.holds) {
      one.heard = now;
      continue;
    }
    const auto last = one.record.left() ? from_unix_ms(one.record.given_at_unix_ms()) : last_sign(one);
    if (now - last < forgotten_after) continue;
    store::erase_worker(out, next->first);
    rows_.erase(next);
  }
}

std::string worker_book::ticket_for(const attempt_name& of, std::string_view instance, std::uint64_t incarnation, store::batch& out) {
  return sign(out) ? make_ticket(key_, of, instance, incarnation) : std::string{};
}

std::string worker_book::callback_for(const callback_name& of, store::batch& out) {
  return sign(out) ? make_callback(key_, of) : std::string{};
}

}  // namespace fairlead
