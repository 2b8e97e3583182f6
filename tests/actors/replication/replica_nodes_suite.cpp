// What operators and nodes ask of the leader of a shard: nodes come, go, begin with a new store, and get a later release.

#define CAF_SUITE replica_nodes_suite

#include "actors/core/cluster/shard_nodes.hpp"
#include "actors/core/raft/member_plan.hpp"
#include "actors/replication/wire.hpp"
#include "tests/actors/replication/replicas_fixture.hpp"

using namespace fairlead;
using testing::names;

namespace {
struct fixture : testing::replicas_fixture {};
}  // namespace

CAF_TEST_FIXTURE_SCOPE(replica_nodes_tests, fixture)

CAF_TEST(a_node_leaves_and_joins_again_with_an_empty_store) {
  using request = v1::ShardNodesRequest;
  connect_all();
  pass(5'000);
  const auto first = leader();
  const auto gone = first == "n3" ? "n2" : "n3";
  const auto other = first == "n3" || first == "n2" ? "n1" : "n2";
  CAF_CHECK_EQUAL(nodes_of(change(first, request::SHOW, "")), "0 n1 n2 n3");
  CAF_CHECK(change(other, request::SHOW, "").error().code() == v1::ERROR_CODE_UNAVAILABLE);
  CAF_CHECK(change(first, request::LEAVE, "n9").error().code() == v1::ERROR_CODE_NOT_FOUND);
  CAF_CHECK_EQUAL(nodes_of(change(first, request::LEAVE, gone, true)), "0 n1 n2 n3");
  const auto left = nodes_of(change(first, request::LEAVE, gone));
  CAF_CHECK(left.find(std::string(gone) + "-") != std::string::npos || left.find(gone) == std::string::npos);
  pass(2'000);
  // Of two nodes one votes.
  const auto two = nodes[first].seat->consensus()->view().members;
  CAF_CHECK(two == (raft::members{{nodes[first].id}, {nodes[other].id}}));
  CAF_CHECK(nodes_of(change(first, request::SHOW, "")).find(gone) == std::string::npos);

  stop(gone);
  get_disk(gone, 77);
  CAF_CHECK_EQUAL(nodes_of(change(first, request::JOIN, gone)), "0 n1 n2 n3");
  begin(gone);
  connect(gone);
  pass(5'000);
  const auto three = nodes[first].seat->consensus()->view().members;
  CAF_CHECK_EQUAL(three.voters.size(), 3U);
  CAF_CHECK(three.votes(77));
  CAF_CHECK(asks(first));
}

CAF_TEST(a_leader_that_is_to_leave_hands_over_first) {
  using request = v1::ShardNodesRequest;
  connect_all();
  pass(5'000);
  const auto first = leader();
  CAF_CHECK(change(first, request::LEAVE, first).error().code() == v1::ERROR_CODE_OK);
  CAF_CHECK(change(first, request::LEAVE, first).error().code() != v1::ERROR_CODE_NOT_FOUND);
  pass(3'000);
  const auto second = leader();
  CAF_REQUIRE_EQUAL(second.size(), 2U);
  CAF_CHECK(second != first);
  CAF_CHECK(!nodes[second].seat->consensus()->view().members.has(nodes[first].id));
  CAF_CHECK(nodes_of(change(second, request::SHOW, "")).find(first) == std::string::npos);
}

CAF_TEST(a_node_without_which_no_majority_follows_does_not_leave) {
  connect_all();
  pass(5'000);
  const auto first = leader();
  const auto away = first == "n3" ? "n2" : "n3";
  const auto other = first == "n3" || first == "n2" ? "n1" : "n2";
  stop(away);
  pass(3'000);
  CAF_CHECK_EQUAL(leader(), first);
  const auto refused = change(first, v1::ShardNodesRequest::LEAVE, other);
  CAF_CHECK(refused.error().code() == v1::ERROR_CODE_WRONG_STATE);
  CAF_CHECK(refused.error().sentence().find("cannot do without") != std::string::npos);
}

CAF_TEST(a_node_whose_store_is_damaged_gets_another_only_while_a_majority_of_the_votes_is_elsewhere) {
  connect_all();
  pass(5'000);
  const auto first = leader();
  const auto damaged = first == "n3" ? "n2" : "n3";
  const auto other = first == "n3" || first == "n2" ? "n1" : "n2";
  const auto lineage = nodes[first].seat->others().me().lineage();
  // It is running.
  CAF_CHECK(rebuild(first, damaged, 77, lineage).error().code() == v1::ERROR_CODE_CONFLICT);
  stop(damaged);
  pass(500);
  CAF_CHECK(rebuild(first, damaged, 77, next_lineage(lineage, time.now_ms, 5)).error().code() == v1::ERROR_CODE_CONFLICT);
  const auto agreed = rebuild(first, damaged, 77, lineage);
  CAF_CHECK_EQUAL(nodes_of(agreed), "0 n1 n2 n3");
  const auto* const listed = core::find_node(agreed.nodes(), damaged);
  CAF_REQUIRE(listed != nullptr);
  CAF_CHECK_EQUAL(listed->replica(), 77U);

  // The new store is being filled, and has no vote: the other one is needed.
  get_disk(damaged, 77);
  stop(other);
  pass(100);
  const auto refused = rebuild(first, other, 78, lineage);
  CAF_CHECK(refused.error().code() == v1::ERROR_CODE_WRONG_STATE || refused.error().code() == v1::ERROR_CODE_UNAVAILABLE);
  begin(other);
  connect(other);
  begin(damaged);
  connect(damaged);
  pass(raft::lost_after_ms + 7'000);
  const auto members = nodes[leader()].seat->consensus()->view().members;
  CAF_CHECK_EQUAL(members.voters.size(), 3U);
  CAF_CHECK(members.votes(77));
  // From then on it counts for the others.
  const auto by_now = leader();
  const auto next = by_now == "n3" ? "n2" : "n3";
  stop(next);
  pass(500);
  CAF_CHECK_EQUAL(nodes_of(rebuild(by_now, next, 79, lineage)), "0 n1 n2 n3");
}

CAF_TEST(a_later_format_is_written_once_all_nodes_know_it_and_who_does_not_is_refused_then) {
  using request = v1::ShardNodesRequest;
  upgrade_after_ms = 60'000;
  connect_all();
  pass(5'000);
  const auto restart = [&](const std::string& name, std::uint32_t reads) {
    stop(name);
    nodes[name].reads = reads;
    begin(name);
    connect(name);
    pass(3'000);
  };
  const auto format = [&](const v1::ShardNodesReply& reply) { return core::format_of(reply.nodes()); };
  restart("n2", 2);
  restart("n3", 2);
  CAF_CHECK(nodes["n1"].seat->decline(true).ok());
  pass(2'000);
  CAF_REQUIRE(leader() == "n2" || leader() == "n3");
  const auto early = change(leader(), request::UPGRADE, "");
  CAF_CHECK_EQUAL(early.error().sentence(), "Node n1 does not know format 2: it has release 0.1.");
  restart("n1", 2);
  CAF_CHECK_EQUAL(format(change(leader(), request::SHOW, "")), 1U);
  CAF_CHECK_EQUAL(format(change(leader(), request::UPGRADE, "", true)), 2U);
  CAF_CHECK_EQUAL(format(change(leader(), request::SHOW, "")), 1U);
  const auto seen = [&] { return nodes["n1"].seat->describe().format(); };
  CAF_CHECK_EQUAL(seen(), 1U);
  pass(70'000);
  CAF_CHECK_EQUAL(seen(), 2U);
  CAF_CHECK_EQUAL(format(change(leader(), request::SHOW, "")), 2U);

  // One that is started with the former release takes no part any more.
  const auto back = leader() == "n1" ? "n3" : "n1";
  restart(back, 1);
  const auto answer = introduce(leader(), nodes[back].seat->others().me(), caf::actor_cast<caf::strong_actor_ptr>(self));
  CAF_CHECK_EQUAL(answer.error().sentence(),
                  std::string("Node ") + back + " does not know format 2, in which shard 0 is written: it has release 0.1.");
  restart(back, 2);
  CAF_CHECK_EQUAL(nodes[leader()].seat->describe().may_lose(), 1U);
}

CAF_TEST(an_entry_that_only_a_later_release_knows_is_not_taken_and_the_replica_says_so_until_it_can_go_on) {
  connect_all();
  pass(5'000);
  const auto first = leader();
  const auto other = first == "n3" ? "n2" : "n3";
  auto& seat = *nodes[other].seat;
  const auto trouble = [&] { return seat.describe().trouble(); };
  const auto before = seat.consensus()->view();
  store::batch rows;
  rows.put(store::table::meta, "later", "x");
  auto bytes = rows.bytes();
  bytes[1] = 'x';
  const auto sent = [&](std::string payload, std::uint64_t number) {
    const raft::message what{nodes[first].id, nodes[other].id, before.term,
                             raft::append{number,
                                          before.last_index,
                                          before.term,
                                          before.commit_index,
                                          time.now_ms,
                                          {{before.last_index + 1, before.term, time.now_ms, raft::entry_kind::rows,
                                            std::make_shared<const std::string>(std::move(payload))}}}};
    v1::ReplicaBatch out;
    *out.add_messages() = encode(what, 0);
    return out;
  };
  self->send(nodes[other].actor, sent(bytes, 1'000));
  consume_messages();
  CAF_CHECK_EQUAL(seat.consensus()->view().last_index, before.last_index);
  const auto why = "Entry " + std::to_string(before.last_index + 1) + " of shard 0 has a table 120, which this release does not know.";
  CAF_CHECK_EQUAL(trouble(), why);
  CAF_CHECK(!nodes[other].fatal);
  // It follows as before.
  auto& it = *nodes[first].seat->consensus();
  commit_request asked;
  asked.what.sequence = nodes[first].stores->at(0).sequence() + 1;
  asked.what.epoch = it.view().epoch;
  asked.what.put(store::table::task, "key", "value");
  self->send(nodes[first].actor, std::move(asked));
  pass(500);
  CAF_CHECK_EQUAL(trouble(), "");
  CAF_CHECK(seat.consensus()->view().last_index > before.last_index);
}

CAF_TEST(a_shard_that_goes_on_elsewhere_in_a_later_lineage_stops_here) {
  connect_all();
  pass(5'000);
  const auto first = leader();
  const auto own = nodes[first].seat->others().me().lineage();
  lineages[0] = own;
  lineages[1] = next_lineage(own, 0, 5);
  pass(5'000);
  CAF_CHECK_EQUAL(leader(), first);
  // A node that has begun the shard on an empty store, alone or with others.
  for (const bool several : {false, true}) {
    lineages[0] = first_lineage(own.made_unix_ms() + 1'000, 5);
    lineages[0].set_several(several);
    pass(5'000);
    CAF_CHECK_EQUAL(leader(), first);
  }

  lineages[0] = next_lineage(own, 0, 5);
  pass(3'000);
  CAF_CHECK_EQUAL(leader(), "");
  CAF_CHECK(!asks(first));
  for (const auto& name : names) {
    CAF_CHECK(!nodes[name].fatal);
    const auto trouble = nodes[name].seat->describe().trouble();
    CAF_CHECK_EQUAL(trouble, "the shard goes on elsewhere in a later lineage (" + to_text(lineages[0]) + ")");
    // A new replica would take its lineage.
    const auto met = nodes[name].seat->meet(nodes[name == "n1" ? "n2" : "n1"].seat->others().me());
    CAF_CHECK(!met.ok() && met.failure().code == v1::ERROR_CODE_UNAVAILABLE);
  }
}

CAF_TEST(a_leave_that_is_proposed_is_not_refused_any_more) {
  using request = v1::ShardNodesRequest;
  connect_all();
  pass(5'000);
  const auto first = leader();
  const auto gone = first == "n3" ? "n2" : "n3";
  const auto other = first == "n3" || first == "n2" ? "n1" : "n2";
  request what;
  what.set_verb(request::LEAVE);
  what.mutable_node()->set_name(gone);
  what.set_who("ana");
  auto& seat = *nodes[first].seat;
  auto done = seat.change_nodes(what);
  CAF_REQUIRE(done.ok());
  CAF_CHECK(!*done);
  // By now the others could not do without it.
  stop(other);
  seat.lost(other);
  boot_ms += 5'000;
  done = seat.change_nodes(what);
  CAF_CHECK(done.ok());
}

CAF_TEST_FIXTURE_SCOPE_END()
