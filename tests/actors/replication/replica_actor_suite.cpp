// Replicas of a shard as actors in one system: how they find each other, begin the shard and agree on who leads, under CAF's deterministic scheduler.

#define CAF_SUITE replica_actor_suite

#include "actors/replication/wire.hpp"
#include "tests/actors/replication/replicas_fixture.hpp"

using namespace fairlead;
using testing::names;

namespace {
struct fixture : testing::replicas_fixture {};
}  // namespace

CAF_TEST_FIXTURE_SCOPE(replica_actor_tests, fixture)

CAF_TEST(a_shard_begins_once_all_three_know_each_other_and_one_leads_it) {
  stop("n3");
  connect("n1");
  connect("n2");
  pass(3'000);
  CAF_CHECK(nodes["n1"].seat->consensus() == nullptr);
  begin("n3");
  connect("n3");
  pass(5'000);
  for (const auto& name : names) {
    CAF_REQUIRE(nodes[name].seat->consensus() != nullptr);
    CAF_CHECK(!nodes[name].fatal);
  }
  CAF_REQUIRE_EQUAL(leader().size(), 2U);
  CAF_CHECK(asks(leader()));
  for (const auto& name : names)
    if (name != leader()) CAF_CHECK(!asks(name));
}

CAF_TEST(another_leads_when_the_leader_is_gone_and_that_one_follows_when_it_is_back) {
  connect_all();
  pass(5'000);
  const auto first = leader();
  CAF_REQUIRE_EQUAL(first.size(), 2U);
  stop(first);
  pass(5'000);
  const auto second = leader();
  CAF_REQUIRE_EQUAL(second.size(), 2U);
  CAF_CHECK_NOT_EQUAL(first, second);
  begin(first);
  connect(first);
  pass(5'000);
  CAF_CHECK_EQUAL(leader(), second);
  const auto seen = nodes[first].seat->describe();
  CAF_CHECK_EQUAL(seen.leader(), second);
  CAF_CHECK_EQUAL(seen.shown_index(), nodes[second].seat->describe().shown_index());
}

CAF_TEST(a_node_that_is_drained_before_it_leads_or_after_hands_its_lead_over) {
  // Before the shard has begun, too.
  CAF_CHECK(nodes["n1"].seat->decline(true).ok());
  connect_all();
  pass(5'000);
  const auto first = leader();
  CAF_CHECK(first == "n2" || first == "n3");
  CAF_CHECK(nodes[first].seat->decline(true).ok());
  pass(1'000);
  const auto second = leader();
  CAF_CHECK(second != first);
  CAF_CHECK(second == "n2" || second == "n3");
  // Its store is damaged, so it does not matter that it is drained no longer.
  CAF_CHECK(nodes["n1"].seat->decline(true, why_not_lead::damaged).ok());
  CAF_CHECK(nodes["n1"].seat->decline(false).ok());
  CAF_CHECK(nodes[first].seat->decline(false).ok());
  CAF_CHECK(nodes[second].seat->decline(true).ok());
  pass(1'000);
  CAF_CHECK_EQUAL(leader(), first);
  CAF_CHECK(nodes["n1"].seat->decline(false, why_not_lead::damaged).ok());
  CAF_CHECK(nodes[first].seat->decline(true).ok());
  pass(1'000);
  CAF_CHECK_EQUAL(leader(), "n1");
}

CAF_TEST(a_leader_that_is_alone_gives_up_and_says_so_to_who_asks) {
  connect_all();
  pass(5'000);
  const auto first = leader();
  for (const auto& name : names)
    if (name != first) stop(name);
  auto waiting = self->request(nodes[first].actor, caf::infinite, confirm_atom_v, std::uint64_t{0});
  pass(3'000);
  CAF_CHECK(!leads(first));
  bool led = true;
  waiting.receive([&](bool answer) { led = answer; }, [](const caf::error&) {});
  CAF_CHECK(!led);
  CAF_CHECK(!nodes[first].fatal);
}

CAF_TEST(the_clock_of_a_lead_is_not_moved_by_the_leader_that_follows) {
  connect_all();
  pass(5'000);
  const auto first = leader();
  auto& seat = *nodes[first].seat;
  seat.begin_lead();
  const auto& led = seat.time();
  const auto shown = [](const fairlead::clock& of) { return to_unix_ms(of.now()); };
  CAF_CHECK_EQUAL(shown(led), time.now_ms);

  // What another leader's clock showed four seconds ago has waited since then.
  v1::ReplicaBatch late;
  for (const auto& name : names) {
    if (name == first) continue;
    auto& other = *nodes[name].seat->consensus();
    raft::message said{nodes[name].seat->settings().how.self, seat.settings().how.self, other.view().term + 1,
                       raft::heartbeat{0, 0, time.now_ms}};
    *late.add_messages() = encode(said, 0);
    break;
  }
  boot_ms += 4'000;
  time.now_ms += 4'000;
  self->send(nodes[first].actor, late);
  consume_messages();
  CAF_CHECK(!leads(first));
  CAF_CHECK_EQUAL(seat.describe().clock_ahead_ms(), -4'000);
  CAF_CHECK_EQUAL(shown(led), time.now_ms);
}

CAF_TEST(a_batch_of_the_scheduler_counts_once_a_majority_has_it) {
  connect_all();
  pass(5'000);
  const auto first = leader();
  auto& it = *nodes[first].seat->consensus();
  commit_request asked;
  asked.what.sequence = nodes[first].stores->at(0).sequence() + 1;
  asked.what.epoch = it.view().epoch;
  asked.what.put(store::table::task, "key", "value");
  const auto sequence = asked.what.sequence;
  self->send(nodes[first].actor, std::move(asked));
  pass(200);
  std::uint64_t told = 0;
  CAF_REQUIRE(!self->mailbox().empty());
  self->receive([&](const committed& what) { told = what.sequence; });
  CAF_CHECK_EQUAL(told, sequence);
  for (const auto& name : names) CAF_CHECK_EQUAL(nodes[name].stores->at(0).sequence(), sequence);
}

CAF_TEST(a_node_that_lost_its_disk_gets_what_the_others_have_and_votes_again) {
  connect_all();
  pass(5'000);
  const auto first = leader();
  CAF_REQUIRE_EQUAL(first.size(), 2U);
  const auto lost = first == "n3" ? "n1" : "n3";
  const auto former = nodes[lost].id;
  stop(lost);
  get_disk(lost, 900);
  begin(lost);
  connect(lost);
  pass(2'000);
  const auto members = [&](const std::string& at) { return nodes[at].seat->consensus()->view().members; };
  CAF_CHECK(members(first).votes(former));
  CAF_CHECK(members(first).standbys == std::vector<raft::replica_id>{900});
  CAF_CHECK_EQUAL(nodes[first].seat->describe().may_lose(), 0U);
  pass(raft::lost_after_ms + 2'000);
  CAF_CHECK_EQUAL(leader(), first);
  for (const auto& name : names) {
    CAF_CHECK(members(name).votes(900));
    CAF_CHECK(!members(name).has(former));
    CAF_CHECK(members(name).standbys.empty());
    CAF_CHECK(nodes[name].seat->others().members() == members(name));
    CAF_CHECK(!nodes[name].fatal);
  }
  CAF_CHECK_EQUAL(nodes[first].seat->describe().may_lose(), 1U);
  CAF_CHECK_EQUAL(nodes[first].seat->describe().others_size(), 2);
  // The new one counts.
  for (const auto& name : names)
    if (name != first && name != lost) stop(name);
  pass(5'000);
  CAF_CHECK(asks(leader()));
}

CAF_TEST(a_shard_that_has_lived_on_one_node_gets_replicas_on_others) {
  stop("n1");
  get_disk("n1", 800);
  std::uint64_t sequence = 0;
  {
    const auto stores = open("n1", false);
    auto& own = stores->at(0);
    CAF_REQUIRE(own.claim_shard(0, 1, "store").ok());
    CAF_REQUIRE(own.claim_lineage(first_lineage(5, 5)).ok());
    replica alone(own, {}, [this] { return boot_ms; });
    const auto epoch = alone.raise_epoch();
    CAF_REQUIRE(epoch.ok());
    for (int i = 0; i < 20; ++i) {
      store::batch what;
      what.put(store::table::task, "key" + std::to_string(i), "value");
      what.sequence = own.sequence() + 1;
      what.epoch = *epoch;
      CAF_REQUIRE(alone.commit({what}).ok());
    }
    // Some is in the tables, and some in the journal alone.
    CAF_REQUIRE(own.apply().ok());
    store::batch last;
    last.put(store::table::task, "last", "value");
    sequence = last.sequence = own.sequence() + 1;
    last.epoch = *epoch;
    CAF_REQUIRE(alone.commit({last}).ok());
  }
  {
    const auto stores = open("n1", true);
    CAF_REQUIRE(stores->at(0).be_replica(nodes["n1"].id, *raft::encode({{nodes["n1"].id}, {}})).ok());
  }
  begin("n1");
  connect("n1");
  pass(2'000);
  CAF_CHECK_EQUAL(leader(), "n1");
  CAF_CHECK_EQUAL(nodes["n1"].stores->at(0).sequence(), sequence);
  CAF_CHECK(nodes["n1"].stores->at(0).read()->get(store::table::task, "last")->has_value());
  const auto members = nodes["n1"].seat->consensus()->view().members;
  CAF_CHECK(members.voters == std::vector<raft::replica_id>{nodes["n1"].id});
}

CAF_TEST(who_is_no_replica_of_the_shard_is_refused_by_name_and_changes_nothing) {
  connect_all();
  pass(5'000);
  const auto before = nodes["n1"].seat->others().me().SerializeAsString();
  const auto stranger = caf::actor_cast<caf::strong_actor_ptr>(self);

  v1::ReplicaHello you;
  you.set_node("n9");
  you.set_replica(4711);
  CAF_CHECK(introduce("n1", you, stranger).error().sentence().find("Node n9 is none of those that hold shard 0") != std::string::npos);
  you = nodes["n2"].seat->others().me();
  you.mutable_lineage()->set_made_unix_ms(5);
  CAF_CHECK(introduce("n1", you, stranger).error().sentence().find("began apart") != std::string::npos);
  you = nodes["n2"].seat->others().me();
  you.set_node("n3");
  CAF_CHECK(introduce("n1", you, stranger).error().sentence().find("copy of the other") != std::string::npos);
  CAF_CHECK(introduce("n1", nodes["n2"].seat->others().me(), nullptr).error().sentence().find("without an actor") != std::string::npos);

  CAF_CHECK_EQUAL(nodes["n1"].seat->others().me().SerializeAsString(), before);
  CAF_CHECK(asks(leader()));
}

CAF_TEST(bytes_that_are_no_message_of_a_replica_are_dropped) {
  connect_all();
  pass(5'000);
  v1::ReplicaBatch batch;
  auto* const one = batch.add_messages();
  one->set_from(nodes["n2"].seat->settings().how.self);
  one->set_to(nodes["n1"].seat->settings().how.self);
  for (const auto& name : names) self->send(nodes[name].actor, batch);
  pass(1'000);
  for (const auto& name : names) CAF_CHECK(!nodes[name].fatal);
  CAF_CHECK(asks(leader()));
}

CAF_TEST_FIXTURE_SCOPE_END()
