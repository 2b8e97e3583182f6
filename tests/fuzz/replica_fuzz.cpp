// A replica of a shard before bytes that another node sends: cut, repeated, out of order, forged.
//
// The input is a list of messages, each a length of two bytes and as many bytes of a v1::ReplicaMessage, or of a v1::ReplicaHello. Between them
// the replica's own disk catches up, time passes, and it is asked to lead. Whatever comes: nothing is read or written outside its bounds, no
// exception leaves, what the replica itself sends would be taken by another, and what it has given out is neither cut nor given out twice. Once
// its shard has begun no hello changes with which replicas. (That it agrees with anybody is not asked: whoever may forge messages may forge a
// leader.)

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "actors/core/cluster/shard_nodes.hpp"
#include "actors/core/raft/consensus.hpp"
#include "actors/replication/acquaintance.hpp"
#include "actors/replication/wire.hpp"

namespace {

using namespace fairlead;

constexpr std::uint16_t shard = 3;

[[noreturn]] void broken(const std::string& what) {
  std::fprintf(stderr, "replica_fuzz: %s\n", what.c_str());
  std::abort();
}

class replica {
 public:
  explicit replica(raft::replica_id self) : core_{settings(self), start(), now_} {}

  void step(const raft::input& in) {
    now_.boot_ms += 40;
    const auto out = core_.step(in, now_);
    for (const auto& each : out.records)
      if (const auto* removed = std::get_if<raft::cut>(&each); removed != nullptr && removed->first_removed <= given_out_)
        broken("what was given out is cut");
    for (const auto& each : out.committed)
      if (each.index != ++given_out_) broken("entries are given out out of order");
    for (const auto& each : out.messages) {
      v1::ReplicaMessage bytes;
      if (!bytes.ParseFromString(encode(each, shard).SerializeAsString())) broken("its own message cannot be read");
      if (const auto there = decode(bytes); !there) broken("its own message is refused: " + there.failure().sentence);
    }
    position_ = out.position;
  }

  void sync() { step(raft::durable{position_}); }

 private:
  static raft::settings settings(raft::replica_id self) {
    raft::settings out;
    out.self = self;
    out.seed = self;
    return out;
  }

  static raft::recovered start() {
    raft::recovered out;
    out.hard = {4, 0};
    out.from = {10, 2, {{1, 2, 3}, {4}}};
    for (raft::log_index index = 11; index <= 20; ++index)
      out.entries.push_back({index, index < 15 ? 3U : 4U, 0, raft::entry_kind::batches, std::make_shared<const std::string>("entry")});
    out.applied = 10;
    return out;
  }

  raft::moment now_{1'000'000, 1'000'000};
  raft::consensus core_;
  std::uint64_t position_ = 0;
  raft::log_index given_out_ = 10;
};

const std::vector<std::string> nodes{"n1", "n2", "n3"};

v1::ReplicaHello hello(raft::replica_id id, bool begun) {
  v1::ReplicaHello out;
  out.set_shard(shard);
  out.set_node("n" + std::to_string(id));
  out.set_replica(id);
  *out.mutable_nodes() = core::shard_nodes_of(nodes);
  if (!begun) return out;
  for (const raft::replica_id each : {1, 2, 3}) out.mutable_members()->add_voters(each);
  out.set_store_id("store");
  out.mutable_lineage()->set_made_unix_ms(7);
  return out;
}

class door {
 public:
  explicit door(bool begun) : known_{hello(1, begun)} {}

  void meet(const v1::ReplicaHello& you) {
    const auto before = shard_of(known_.me());
    const auto had_begun = known_.members().has_value();
    const auto met = known_.meet(you);
    if (!met.ok() && met.failure().sentence.empty()) broken("a hello is refused without a word");
    if ((had_begun || !met.ok()) && shard_of(known_.me()) != before) broken("a hello has changed with which replicas a shard began");
    if (known_.began() && !known_.members()->votes(1)) broken("it belongs to a shard that it has no part in");
    for (const auto& each : known_.others())
      if (const auto* const one = known_.known(each); one != nullptr && known_.node_of(one->replica()) != each)
        broken("two nodes have one replica");
    known_.begin({}, "store");
  }

 private:
  /// All but the list of nodes, which goes with its version.
  static std::string shard_of(v1::ReplicaHello of) {
    of.clear_nodes();
    return of.SerializeAsString();
  }

  acquaintance known_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  replica one{1};
  door fresh{false};
  door begun{true};
  for (std::size_t at = 0; at + 3 <= size;) {
    const auto what = data[at];
    const std::size_t length = data[at + 1] | (data[at + 2] << 8);
    at += 3;
    const auto there = static_cast<int>(std::min(length, size - at));
    v1::ReplicaMessage bytes;
    v1::ReplicaHello you;
    if ((what & 128) != 0) {
      if (you.ParseFromArray(data + at, there)) fresh.meet(you), begun.meet(you);
    } else if (bytes.ParseFromArray(data + at, there)) {
      if (const auto message = decode(bytes)) one.step(raft::received{*message});
    }
    at += length;
    if ((what & 1) != 0) one.sync();
    if ((what & 2) != 0)
      for (int i = 0; i < 60; ++i) one.step(raft::tick{});
    if ((what & 4) != 0) one.step(raft::propose{raft::entry_kind::batches, std::make_shared<const std::string>("more")});
    if ((what & 8) != 0) one.step(raft::confirm{what});
    if ((what & 16) != 0) one.step(raft::change_members{{{1, 2}, {3}}});
    if ((what & 32) != 0) one.step(raft::transfer{2});
    if ((what & 64) != 0) one.step(raft::compact{12});
  }
  return 0;
}

// Random bytes are hardly ever a sound message with sound checksums. So half of the mutations begin with one.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned int seed) {
  if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  auto random = seed / 2;
  const auto below = [&random](unsigned n) {
    random = random * 1'664'525 + 1'013'904'223;
    return (random >> 8) % n;
  };
  const raft::log_term term = 4 + below(4);
  const raft::replica_id from = 2 + below(2);
  raft::message next{from, 1, term, raft::timeout_now{}};
  switch (below(8)) {
    case 0: next.body = raft::vote_request{below(2) == 0, false, 10 + below(15), 2 + below(2)}; break;
    case 1:
    case 2: next.body = raft::vote_reply{below(2) == 0, below(4) != 0}; break;
    case 3: next.body = raft::append_reply{below(6), below(3) == 0, 10 + below(16), 9 + below(14), 9 + below(14), below(5)}; break;
    case 4: next.body = raft::heartbeat{below(25), below(4), below(1'000), below(16) == 0 ? below(25) : 0, below(4)}; break;
    case 5: next.body = raft::heartbeat_reply{below(4)}; break;
    default: {
      raft::append what{below(5), 8 + below(14), 2 + below(3), below(30), below(1'000), {}};
      for (unsigned i = 0, n = below(4); i < n; ++i) {
        raft::entry one{what.previous_index + 1 + i, term - below(2), 5, raft::entry_kind::batches,
                        std::make_shared<const std::string>("new")};
        if (below(4) == 0) one.kind = raft::entry_kind::members, one.payload = raft::encode({{1, 2}, {3, 4}});
        what.entries.push_back(one);
      }
      next.body = what;
    }
  }
  auto bytes = encode(next, shard).SerializeAsString();
  const bool introduces = below(8) == 0;
  if (introduces) {
    auto you = hello(1 + below(4), below(2) == 0);
    if (below(4) == 0) you.set_replica(below(5));
    if (below(4) == 0) you.mutable_members()->add_voters(below(5));
    if (below(4) == 0) you.mutable_lineage()->set_made_unix_ms(below(9));
    bytes = you.SerializeAsString();
  }
  if (size + bytes.size() + 3 > max_size || bytes.size() > 0xffff) return LLVMFuzzerMutate(data, size, max_size);
  auto* to = data + size;
  *to++ = static_cast<std::uint8_t>(1 | below(128) | (introduces ? 128 : 0));
  *to++ = static_cast<std::uint8_t>(bytes.size() & 0xff);
  *to++ = static_cast<std::uint8_t>(bytes.size() >> 8);
  std::copy(bytes.begin(), bytes.end(), to);
  return size + 3 + bytes.size();
}
