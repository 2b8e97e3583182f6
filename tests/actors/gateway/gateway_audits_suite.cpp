// The audits of several nodes as one list, under CAF's deterministic scheduler.

#define CAF_SUITE gateway_audits_suite

#include "tests/actors/gateway/gateway_world.hpp"

using namespace fairlead;

namespace {

links_actor::behavior_type made_up_links(links_actor::pointer, std::shared_ptr<const link_report> known) {
  return {
      [](const v1::Hello&, const caf::strong_actor_ptr&) { return v1::HelloReply{}; },
      [](watch_atom, const caf::strong_actor_ptr&) {},
      [known](report_atom) { return *known; },
      [](const v1::NodeOperateRequest&) { return v1::NodeOperateReply{}; },
      [](const v1::ShardClaim&) {},
      [](const v1::ReplicaHello&) {},
      [](link_atom) {},
  };
}

struct audits_world : testing::gateway_world {
  std::shared_ptr<link_report> known = std::make_shared<link_report>();
  links_actor links = sys.spawn(made_up_links, known);
  std::vector<gateway_actor> noting;
  std::vector<std::function<void(v1::AuditListReply)>> unanswered;

  ~audits_world() override {
    for (const auto& one : noting) caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(links, caf::exit_reason::user_shutdown);
    consume_messages();
  }

  /// A node that has noted entries at these moments, newest first.
  gateway_actor node(const std::string& name, std::vector<std::int64_t> moments, bool answers = true) {
    gateway_setup setup;
    setup.node = name;
    setup.time = &time;
    setup.shard_count = 1;
    setup.links = links;
    setup.read_audit = [this, moments = std::move(moments), answers](const v1::AuditListRequest& what,
                                                                     std::function<void(v1::AuditListReply)> done) {
      if (!answers) return unanswered.push_back(std::move(done));
      v1::AuditListReply page;
      if (!what.cursor().empty()) page.mutable_error()->set_code(v1::ERROR_CODE_INVALID_ARGUMENT);
      for (const auto at : moments) {
        auto& one = *page.add_items();
        one.set_at_unix_ms(at);
        one.set_place("p" + std::to_string(at));
      }
      done(std::move(page));
    };
    noting.push_back(sys.spawn(run_gateway, std::move(setup)));
    known->gateways.emplace_back(name, caf::actor_cast<caf::strong_actor_ptr>(noting.back()));
    consume_messages();
    return noting.back();
  }

  static std::string shown(const v1::AuditListReply& page) {
    std::string out;
    for (const auto& one : page.items()) out += one.node() + ":" + std::to_string(one.at_unix_ms()) + " ";
    for (const auto& one : page.missing()) out += "- " + one.sentence();
    return out;
  }
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(gateway_audits_tests, audits_world)

CAF_TEST(any_node_lists_what_all_have_noted_and_one_alone_by_its_name) {
  const auto n5 = node("n5", {50, 20});
  known->gateways.clear();  // no node is connected to itself
  const auto n6 = node("n6", {40, 30});
  v1::AuditListRequest what;
  CAF_CHECK_EQUAL(shown(ask<v1::AuditListReply>(n5, what)), "n5:50 n6:40 n6:30 n5:20 ");
  what.set_node("n6");
  CAF_CHECK_EQUAL(shown(ask<v1::AuditListReply>(n5, what)), "n6:40 n6:30 ");
  what.set_node("n5");
  CAF_CHECK_EQUAL(shown(ask<v1::AuditListReply>(n5, what)), "n5:50 n5:20 ");
  what.set_node("n9");
  CAF_CHECK_EQUAL(std::string{ask<v1::AuditListReply>(n5, what).error().sentence()}, "node n9 is not connected to node n5");
  what.clear_node();
  what.set_cursor("nothing");
  CAF_CHECK_EQUAL(ask<v1::AuditListReply>(n5, what).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
}

CAF_TEST(nodes_that_are_away_or_do_not_answer_are_named) {
  const auto n5 = node("n5", {50, 20});
  known->gateways.clear();
  node("n6", {}, false);
  auto& peer = known->peers.emplace_back();
  peer.set_node("n7");
  peer.set_reason("the connection was lost");
  auto waiting = self->request(n5, caf::infinite, v1::AuditListRequest{});
  consume_messages();
  CAF_CHECK(self->mailbox().empty());
  CAF_CHECK_EQUAL(unanswered.size(), 1u);
  advance_time(std::chrono::milliseconds{1'300});
  consume_messages();
  CAF_CHECK_EQUAL(shown(get<v1::AuditListReply>(waiting)),
                  "n5:50 n5:20 - node n6 cannot say what it has noted: it does not answer in time- node n7 is not connected to node n5");
}

CAF_TEST(nodes_that_take_each_other_for_the_one_with_the_shard_pass_a_list_on_once) {
  const auto n5 = node("n5", {50});
  const auto n6 = node("n6", {40});
  known->gateways.clear();
  route(n5, 0, n6, "n6");
  route(n6, 0, n5, "n5");
  CAF_CHECK_EQUAL(shown(ask<v1::AuditListReply>(n5, v1::AuditListRequest{})), "n6:40 ");
}

CAF_TEST(a_node_without_an_audit_has_nothing_to_say) {
  connect();
  CAF_CHECK_EQUAL(shown(ask<v1::AuditListReply>(n1, v1::AuditListRequest{})), "");
}

CAF_TEST_FIXTURE_SCOPE_END()
