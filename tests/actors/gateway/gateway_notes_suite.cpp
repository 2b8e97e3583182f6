// What a client changes over the port is in the audit before the client has its answer. Over CAF's two virtual nodes: the client is on earth, the gateway
// on mars.

#define CAF_SUITE gateway_notes_suite

#include "actors/gateway/gateway.hpp"
#include "tests/actors/suite_world.hpp"

using namespace fairlead;

namespace {

class slow_audit final : public audit_port {
 public:
  v1::AuditListReply read(const v1::AuditListRequest&) const override { return {}; }
  bool is_sound() const override { return sound; }
  void note(std::vector<noted_request> what, std::function<void(const status&)> then) override {
    for (auto& one : what) noted.push_back(std::move(one));
    written = std::move(then);
  }

  bool sound = true;
  std::vector<noted_request> noted;
  std::function<void(const status&)> written;  // of the latest ones
};

struct notes_world : point_to_point_fixture<test_coordinator_fixture<testing::suite_config>> {
  notes_world() {
    prepare_connection(mars, earth, "mars", 7101);
    gateway_setup setup;
    setup.node = "mars";
    setup.time = &time;
    setup.shard_count = 1;
    setup.audit = audit;
    setup.operate = [this](const v1::NodeOperateRequest&, const std::function<void(v1::NodeOperateReply)>& done) {
      ++operations;
      v1::NodeOperateReply reply;
      reply.set_held(3);
      done(reply);
    };
    here = mars.sys.spawn(run_gateway, std::move(setup));
    settle();
    mars.publish(here, 7101);
    there = earth.remote_actor<gateway_actor>("mars", 7101);
    settle();
  }
  ~notes_world() {
    caf::anon_send_exit(here, caf::exit_reason::user_shutdown);
    settle();
  }

  void settle() { testing::settle(earth, mars); }

  static v1::NodeOperateRequest drain() {
    v1::NodeOperateRequest out;
    out.set_verb(v1::NODE_VERB_DRAIN);
    out.set_who("ana");
    return out;
  }

  /// The answer, once the entry was written, or could not be. `before`: what is to hold until then.
  template <class Asker, class Before>
  v1::NodeOperateReply ask(Asker& from, const gateway_actor& whom, const v1::NodeOperateRequest& what, const Before& before,
                           const status& written = nothing{}) {
    v1::NodeOperateReply out;
    auto pending = from->request(whom, caf::infinite, what);
    settle();
    before();
    if (audit->written) std::exchange(audit->written, nullptr)(written);
    settle();
    pending.receive([&](const v1::NodeOperateReply& reply) { out = reply; }, [](const caf::error&) { CAF_FAIL("no answer"); });
    return out;
  }

  testing::manual_clock time;
  std::shared_ptr<slow_audit> audit = std::make_shared<slow_audit>();
  int operations = 0;
  gateway_actor here;
  gateway_actor there;
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(gateway_notes_tests, notes_world)

CAF_TEST(a_client_of_another_process_is_answered_once_it_is_noted_what_it_did) {
  caf::scoped_actor client{earth.sys};
  const auto reply = ask(client, there, drain(), [&] {
    CAF_CHECK_EQUAL(operations, 1);
    CAF_CHECK(!client->has_next_message());
  });
  CAF_CHECK_EQUAL(reply.held(), 3u);
  CAF_REQUIRE_EQUAL(audit->noted.size(), 1u);
  CAF_CHECK_EQUAL(audit->noted[0].entry.path(), "/v1/nodes/mars/actions");
  CAF_CHECK_EQUAL(audit->noted[0].entry.verb(), "drain");
  CAF_CHECK_EQUAL(audit->noted[0].entry.who(), "ana");
  CAF_CHECK(audit->noted[0].end == v1::ERROR_CODE_OK);
}

CAF_TEST(what_cannot_be_noted_is_not_done_or_said_to_be_in_doubt) {
  caf::scoped_actor client{earth.sys};
  const auto lost = ask(
      client, there, drain(), [] {}, error{v1::ERROR_CODE_DISK, "the disk is gone", ""});
  CAF_CHECK_EQUAL(lost.error().sentence(), "this could not be noted in the audit of node mars");
  audit->sound = false;
  const auto refused = ask(client, there, drain(), [] {});
  CAF_CHECK_EQUAL(refused.error().sentence(), "the audit of node mars cannot be written");
  CAF_CHECK_EQUAL(operations, 1);
}

CAF_TEST(requests_of_this_process_and_of_other_gateways_are_noted_where_they_came_in) {
  caf::scoped_actor own{mars.sys};
  CAF_CHECK_EQUAL(ask(own, here, drain(), [] {}).held(), 3u);
  caf::scoped_actor client{earth.sys};
  auto passed_on = drain();
  passed_on.set_passed_on(true);
  CAF_CHECK_EQUAL(ask(client, there, passed_on, [] {}).held(), 3u);
  CAF_CHECK(audit->noted.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
