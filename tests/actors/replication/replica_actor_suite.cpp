// Replicas of a shard as actors in one system: how they find each other, begin the shard and agree on who leads, under CAF's deterministic scheduler.

#define CAF_SUITE replica_actor_suite

#include "actors/replication/replica_actor.hpp"

#include <map>

#include "actors/replication/wire.hpp"
#include "messages/lineage.hpp"
#include "store/journaled/stores.hpp"
#include "store/memory/memory_disk.hpp"
#include "tests/actors/suite_world.hpp"

using namespace fairlead;

namespace {

const std::vector<std::string> names{"n1", "n2", "n3"};

/// Says that all nodes are connected whose actors it is told of.
links_actor::behavior_type links_of(links_actor::pointer, const std::map<std::string, caf::strong_actor_ptr>* gateways) {
  return {
      [](const v1::Hello&, const caf::strong_actor_ptr&) { return v1::HelloReply{}; },
      [](watch_atom, const caf::strong_actor_ptr&) {},
      [gateways](report_atom) {
        link_report out;
        out.gateways.assign(gateways->begin(), gateways->end());
        return out;
      },
      [](const v1::NodeOperateRequest&) { return v1::NodeOperateReply{}; },
      [](const v1::ShardClaim&) {},
      [](const v1::ReplicaHello&) {},
      [](link_atom) {},
  };
}

struct fixture : testing::asking_fixture {
  struct node {
    std::unique_ptr<store::memory_disk> disk;
    std::unique_ptr<store::memory_store> tables;
    std::unique_ptr<store::journaled_stores> stores;
    std::unique_ptr<replica_seat> seat;
    replica_actor actor;
    std::vector<bool> led;
    std::optional<error> fatal;
    raft::replica_id id = 0;
  };

  std::int64_t boot_ms = 1'000'000;
  testing::manual_clock time;
  testing::quiet_observer log;
  std::map<std::string, caf::strong_actor_ptr> gateways;
  links_actor links;
  std::map<std::string, node> nodes;

  fixture() {
    links = sys.spawn(links_of, &gateways);
    for (const auto& name : names) {
      get_disk(name, static_cast<raft::replica_id>(name.back()));
      begin(name);
    }
  }

  /// An empty one. A store that is made on it gets the id.
  void get_disk(const std::string& name, raft::replica_id id) {
    nodes[name].disk = std::make_unique<store::memory_disk>(names.size());
    nodes[name].tables = std::make_unique<store::memory_store>();
    nodes[name].id = id;
  }

  ~fixture() override {
    for (const auto& name : names) stop(name);
    caf::anon_send_exit(links, caf::exit_reason::user_shutdown);
    consume_messages();
    gateways.clear();
  }

  std::unique_ptr<store::journaled_stores> open(const std::string& name, bool replicated) {
    auto& one = nodes[name];
    store::journal_options options;
    options.segment_bytes = std::uint64_t{256} << 10;
    options.max_bytes = options.segment_bytes * 64;
    options.release = "test";
    options.now_unix_ms = [this] { return time.now_ms; };
    options.boot_ms = [this] { return boot_ms; };
    options.random = [name, last = std::uint64_t{0}]() mutable { return std::hash<std::string>{}(name + std::to_string(++last)); };
    auto opened = store::journaled_stores::open(std::make_unique<store::lent_disk>(*one.disk),
                                                {{0, name, one.tables.get(), nullptr, replicated}}, options);
    CAF_REQUIRE(opened.ok());
    return std::move(*opened);
  }

  void begin(const std::string& name) {
    auto& one = nodes[name];
    one.stores = open(name, true);
    // As a node does with a store that is new.
    if (auto& own = one.stores->at(0); !own.replica()) CAF_REQUIRE(own.be_replica(one.id).ok());
    replica_seat::options how;
    how.node = name;
    how.nodes = names;
    how.how.election_ms = 1'000;
    how.how.heartbeat_ms = 100;
    how.how.seed = static_cast<std::uint64_t>(name.back());
    one.seat = std::make_unique<replica_seat>(one.stores->at(0), how, time, [this] { return boot_ms; });
    replica_setup setup;
    setup.seat = one.seat.get();
    setup.time = &time;
    setup.log = &log;
    setup.links = links;
    setup.on_fatal = [&one](const error& why) { one.fatal = why; };
    setup.on_leads = [&one](bool now) { one.led.push_back(now); };
    one.actor = sys.spawn(run_replica, std::move(setup));
  }

  /// The process ends; what is on its disk stays.
  void stop(const std::string& name) {
    auto& one = nodes[name];
    gateways.erase(name);
    if (one.actor) caf::anon_send_exit(one.actor, caf::exit_reason::user_shutdown);
    consume_messages();
    one.actor = nullptr;
    consume_messages();
    one.seat.reset();
    one.stores.reset();
    one.led.clear();
  }

  void connect(const std::string& name) { gateways[name] = caf::actor_cast<caf::strong_actor_ptr>(nodes[name].actor); }
  void connect_all() {
    for (const auto& name : names) connect(name);
  }

  void pass(std::int64_t ms) {
    for (std::int64_t passed = 0; passed < ms; passed += 50) {
      boot_ms += 50;
      time.now_ms += 50;
      advance_time(std::chrono::milliseconds{50});
      consume_messages();
    }
  }

  bool leads(const std::string& name) const {
    const auto& led = nodes.at(name).led;
    return !led.empty() && led.back();
  }
  std::string leader() const {
    std::string out;
    for (const auto& name : names)
      if (leads(name)) out += (out.empty() ? "" : " and ") + name;
    return out;
  }
  bool asks(const std::string& name) {
    bool out = false;
    auto waiting = self->request(nodes[name].actor, caf::infinite, confirm_atom_v, std::uint64_t{0});
    consume_messages();
    pass(200);
    waiting.receive([&](bool led) { out = led; }, [](const caf::error&) {});
    return out;
  }
  v1::ShardNodesReply change(const std::string& at, v1::ShardNodesRequest::Verb verb, const std::string& node, bool only_ask = false) {
    v1::ShardNodesRequest what;
    what.set_verb(verb);
    what.mutable_node()->set_name(node);
    if (nodes.count(node) != 0) what.mutable_node()->set_replica(nodes[node].id);
    what.set_who("ana");
    what.set_only_ask(only_ask);
    v1::ShardNodesReply out;
    auto waiting = self->request(nodes[at].actor, caf::infinite, what);
    consume_messages();
    pass(4'000);
    waiting.receive([&](v1::ShardNodesReply& said) { out = std::move(said); },
                    [this](const caf::error& why) { CAF_FAIL(sys.render(why)); });
    return out;
  }
  std::string nodes_of(const v1::ShardNodesReply& reply) {
    auto out = std::to_string(reply.error().code()) + reply.error().sentence();
    for (const auto& one : reply.nodes().nodes()) out += " " + one.name() + (one.leaves() ? "-" : "");
    return out;
  }
  v1::ReplicaWelcome introduce(const std::string& to, const v1::ReplicaHello& you, const caf::strong_actor_ptr& who) {
    v1::ReplicaWelcome out;
    auto waiting = self->request(nodes[to].actor, caf::infinite, you, who);
    consume_messages();
    waiting.receive([&](v1::ReplicaWelcome& said, const caf::strong_actor_ptr&) { out = std::move(said); },
                    [this](const caf::error& why) { CAF_FAIL(sys.render(why)); });
    return out;
  }
};

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
  CAF_CHECK(nodes["n1"].seat->decline(false).ok());
  CAF_CHECK(nodes[second].seat->decline(true).ok());
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
