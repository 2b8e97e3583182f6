// A replica before what another node sends it as a copy of the state: cut, repeated, out of order, forged.
//
// The input is a list of messages, each a length of two bytes and as many bytes of a v1::ReplicaCopy; an empty one stands for the next message of
// a leader that sends a sound copy. Whatever comes: nothing is read or written outside its bounds, no exception leaves, and the tables have what
// they had, or all of the copy, and nothing in between.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>

#include "actors/replication/copies/copy_taker.hpp"
#include "store/journaled/chunk_hash.hpp"
#include "store/journaled/run.hpp"
#include "store/journaled/stores.hpp"
#include "store/keys.hpp"
#include "store/memory/memory_archive.hpp"
#include "store/memory/memory_disk.hpp"
#include "store/meta_rows.hpp"

namespace {

using namespace fairlead;

constexpr std::uint64_t last_index = 30;
using rows = std::map<std::string, std::string>;

[[noreturn]] void broken(const std::string& what) {
  std::fprintf(stderr, "copy_fuzz: %s\n", what.c_str());
  std::abort();
}

store::batch state(const std::string& value) {
  store::batch out;
  for (int i = 0; i < 40; ++i) out.put(store::table::task, "key " + std::to_string(i), value + std::string(100, 'x'));
  return out;
}

rows rows_of(const store::snapshot& from) {
  rows out;
  const auto scanned = from.scan_all(store::table::task, [&](std::string_view key, std::optional<std::string_view> payload) {
    if (!payload) broken("a value is damaged");
    out[std::string{key}] = *payload;
    return true;
  });
  if (!scanned) broken(scanned.failure().sentence);
  return out;
}

void write(store::memory_store& to, const store::batch& what) {
  if (!to.apply(store::run::of(what)->operations())) broken("tables in memory take nothing");
}

/// What the leader has.
const store::memory_store& leaders() {
  static const auto* const made = [] {
    auto* out = new store::memory_store;
    auto all = state("the leader's ");
    all.put(store::table::meta, store::keys::meta(store::meta::applied_row), store::meta::encode_applied({last_index, 3, 1'000}));
    write(*out, all);
    return out;
  }();
  return *made;
}

v1::ReplicaCopy message() {
  v1::ReplicaCopy out;
  out.set_from(2);
  out.set_to(1);
  out.set_copy("copy");
  return out;
}

class follower {
 public:
  follower() {
    write(tables_, state("its own "));
    before_ = rows_of(*tables_.read());
    store::journal_options options;
    options.segment_bytes = std::uint64_t{64} << 10;
    options.max_bytes = options.segment_bytes * 64;
    options.release = "fuzz";
    options.now_unix_ms = [this] { return now_ms_; };
    options.boot_ms = [this] { return now_ms_; };
    options.random = [this] { return now_ms_ * 7'919; };
    auto opened = store::journaled_stores::open(std::make_unique<store::lent_disk>(disk_), {{0, "fuzz", &tables_, nullptr, true}}, options);
    if (!opened) broken(opened.failure().sentence);
    stores_ = std::move(*opened);
    replica_settings how;
    how.self = 1;
    how.born_with.voters = {1, 2, 3};
    it_ = std::make_unique<replica>(stores_->at(0), how, [this] { return now_ms_; });
    copy_ = const_cast<store::memory_store&>(leaders()).copy().value();
    taker_.emplace(copy_taker::world{it_.get(), &stores_->at(0), &archives_, [this] { return now_ms_; },
                                     [this](v1::ReplicaCopy what) { asked_.push_back(std::move(what)); }, [](const std::string&) {},
                                     [](const error& why) { broken("the process would end: " + why.sentence); }});
  }

  void take(const v1::ReplicaCopy& what) {
    taker_->take(what);
    if (asked_.size() > 64) asked_.pop_front();
    const auto now = rows_of(*tables_.read());
    if (now != before_ && now != after_) broken("the tables have neither what they had nor the copy");
  }

  /// As the leader that has the copy.
  void go_on() {
    auto out = message();
    if (asked_.empty()) {
      auto& offer = *out.mutable_offer();
      offer.set_bytes(copy_->bytes());
      offer.set_index(last_index);
      offer.set_term(2);
      offer.set_stamp_ms(1'000);
      for (const raft::replica_id each : {1, 2, 3}) offer.mutable_members()->add_voters(each);
      return take(out);
    }
    const auto asked = asked_.front();
    asked_.pop_front();
    if (asked.has_want()) {
      const auto data = copy_->read(asked.want().offset(), 1'500).value();
      out.mutable_chunk()->set_offset(asked.want().offset());
      out.mutable_chunk()->set_data(data);
      out.mutable_chunk()->set_hash(store::hash_of_chunk(data, asked.want().offset()));
    }
    if (asked.has_ask_archives()) out.mutable_archives();
    if (asked.has_want_archive()) {
      *out.mutable_archive_part()->mutable_which() = asked.want_archive().which();
      out.mutable_archive_part()->set_begin(asked.want_archive().begin());
    }
    take(out);
  }

  void pass(std::int64_t ms) {
    now_ms_ += ms;
    taker_->tick();
  }

 private:
  std::int64_t now_ms_ = 1'000'000;
  store::memory_disk disk_{1};
  store::memory_store tables_;
  store::memory_archive archives_;
  std::unique_ptr<store::journaled_stores> stores_;
  std::unique_ptr<replica> it_;
  std::unique_ptr<store::tables_copy> copy_;
  std::optional<copy_taker> taker_;
  std::deque<v1::ReplicaCopy> asked_;
  rows before_, after_ = rows_of(*leaders().read());
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  follower one;
  for (std::size_t at = 0; at + 3 <= size;) {
    const auto what = data[at];
    const std::size_t length = data[at + 1] | (data[at + 2] << 8);
    at += 3;
    const auto there = static_cast<int>(std::min(length, size - at));
    v1::ReplicaCopy bytes;
    if (there == 0)
      one.go_on();
    else if (bytes.ParseFromArray(data + at, there))
      one.take(bytes);
    at += length;
    if ((what & 1) != 0) one.pass(3'000);
    if ((what & 2) != 0) one.pass(130'000);
  }
  return 0;
}

// Random bytes are hardly ever a message that is looked at. So most mutations add one that nearly fits, or let the sound copy go on.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned int seed) {
  if (seed % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  auto random = seed / 4;
  const auto below = [&random](unsigned n) {
    random = random * 1'664'525 + 1'013'904'223;
    return (random >> 8) % n;
  };
  auto next = message();
  const auto archive = [&](v1::ReplicaCopy::Archive& to) {
    to.set_day(20'000 + below(2));
    to.set_rows(below(3));
    to.set_sum(below(3));
  };
  switch (below(8)) {
    case 0: {
      auto& offer = *next.mutable_offer();
      if (below(2) == 0) next.set_copy("another");
      offer.set_bytes(below(3) * 3'000);
      offer.set_index(last_index + below(3) - 1);
      offer.set_term(below(4));
      for (unsigned i = 0, n = below(5); i < n; ++i) offer.mutable_members()->add_voters(1 + below(4));
      break;
    }
    case 1: {
      auto& chunk = *next.mutable_chunk();
      chunk.set_offset(below(5) * 1'500);
      chunk.set_data(std::string(below(2'000), 'c'));
      chunk.set_hash(below(3) == 0 ? 0 : store::hash_of_chunk(chunk.data(), chunk.offset()));
      break;
    }
    case 2:
      for (unsigned i = 0, n = below(3); i < n; ++i) archive(*next.mutable_archives()->add_all());
      next.mutable_archives();
      break;
    case 3: {
      auto& part = *next.mutable_archive_part();
      archive(*part.mutable_which());
      if (below(2) == 0) part.set_next("more");
      store::batch some;
      some.put(static_cast<store::table>(below(store::table_count)), "key", "value");
      part.set_rows(some.bytes().substr(0, below(60)));
      break;
    }
    default: next.Clear();
  }
  const auto bytes = next.SerializeAsString();
  if (size + bytes.size() + 3 > max_size) return LLVMFuzzerMutate(data, size, max_size);
  auto* to = data + size;
  *to++ = static_cast<std::uint8_t>(below(6) == 0 ? 1 + below(2) : 0);
  *to++ = static_cast<std::uint8_t>(bytes.size() & 0xff);
  *to++ = static_cast<std::uint8_t>(bytes.size() >> 8);
  std::copy(bytes.begin(), bytes.end(), to);
  return size + 3 + bytes.size();
}
