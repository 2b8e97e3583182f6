#include "actors/gateway/audits.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "actors/gateway/from_any_thread.hpp"
#include "actors/gateway/local.hpp"
#include "actors/gateway/requests/audit_lists.hpp"
#include "actors/gateway/shell.hpp"

namespace fairlead {

namespace {

/// Of one node that reads its files, and of a node that asks all others; both in turn end within the 5 s that a client waits.
constexpr duration own_audit_limit{1'200};
constexpr duration all_audits_limit{2'600};

v1::Error unlisted(const std::string& sentence) {
  return error{v1::ERROR_CODE_UNAVAILABLE, sentence, "Read the log of that node, and ask again."}.to_proto();
}

/// The nodes that are known and not connected.
std::vector<v1::Error> not_connected(const link_report& report, const std::string& here) {
  std::set<std::string> connected{here};
  for (const auto& [node, gateway] : report.gateways) connected.insert(node);
  std::set<std::string> away;
  for (const auto& peer : report.peers)
    if (!peer.connected() && connected.count(peer.node()) == 0)
      away.insert("node " + (peer.node().empty() ? "at " + peer.address() : peer.node()) + " is not connected to node " + here);
  std::vector<v1::Error> out;
  for (const auto& sentence : away) out.push_back(unlisted(sentence));
  return out;
}

}  // namespace

/// A page in progress: the nodes are asked at once.
struct gateway_audits::round {
  v1::AuditListRequest what;
  audit_places places;
  std::vector<audit_source> sources;
  std::vector<v1::Error> away;
  std::size_t missing = 0;
  caf::typed_response_promise<v1::AuditListReply> promise;
};

caf::result<v1::AuditListReply> gateway_audits::answer(v1::AuditListRequest& what) {
  using reply = v1::AuditListReply;
  if (what.own() && !setup_.read_audit) return reply{};
  if (what.own()) {
    auto promise = self_->make_response_promise<reply>();
    setup_.read_audit(what, from_any_thread(self_, promise));
    return promise;
  }
  auto places = read_audit_cursor(what.cursor());
  if (!places) return refusal<reply>(places.failure());
  const auto page = std::make_shared<round>();
  page->promise = self_->make_response_promise<reply>();
  page->what = std::move(what);
  page->places = std::move(*places);
  const auto begin = [this, page] {
    if (!setup_.links) return ask_nodes(page, {});
    self_->request(setup_.links, report_limit, report_atom_v)
        .then([this, page](const link_report& report) { ask_nodes(page, report); },
              [this, page](const caf::error&) { ask_nodes(page, {}); });
  };
  // Nodes without shards do not know each other, but all know the nodes with shards.
  for (std::uint32_t shard = 0; setup_.desks.empty() && !page->what.passed_on() && shard < routes_.count(); ++shard)
    if (const auto via = routes_.there(shard)) {
      auto passed = page->what;
      passed.set_passed_on(true);
      self_->request(caf::actor_cast<gateway_actor>(via), all_audits_limit, std::move(passed))
          .then([page](reply& answer) { page->promise.deliver(std::move(answer)); }, [begin](const caf::error&) { begin(); });
      return page->promise;
    }
  begin();
  return page->promise;
}

void gateway_audits::ask_nodes(const std::shared_ptr<round>& page, const link_report& report) {
  std::vector<std::pair<std::string, caf::strong_actor_ptr>> whom{{setup_.node, caf::actor_cast<caf::strong_actor_ptr>(self_)}};
  for (const auto& one : report.gateways)
    if (one.second) whom.push_back(one);
  if (const auto& wanted = page->what.node(); !wanted.empty()) {
    std::erase_if(whom, [&](const auto& one) { return one.first != wanted; });
    if (whom.empty()) {
      page->promise.deliver(refusal<v1::AuditListReply>(
          {v1::ERROR_CODE_UNAVAILABLE, "node " + wanted + " is not connected to node " + setup_.node, "fairlead status shows the nodes"}));
      return;
    }
  } else {
    page->away = not_connected(report, setup_.node);
  }
  std::erase_if(whom, [&](const auto& one) {
    const auto known = page->places.find(one.first);
    return known != page->places.end() && known->second.over;
  });
  const auto complete = [page] {
    auto out = merge_audits(page->what, std::move(page->places), std::move(page->sources));
    if (!out.has_error())
      for (auto& one : page->away) *out.add_missing() = std::move(one);
    page->promise.deliver(std::move(out));
  };
  page->missing = whom.size();
  if (whom.empty()) return complete();
  for (const auto& [node, gateway] : whom) {
    auto part = page->what;
    part.clear_node();
    part.set_own(true);
    part.set_cursor(page->places[node].cursor);
    const auto take = [page, complete, name = node](v1::AuditListReply answer) {
      page->sources.push_back({name, std::move(answer)});
      if (--page->missing == 0) complete();
    };
    self_->request(caf::actor_cast<gateway_actor>(gateway), own_audit_limit, std::move(part))
        .then([take](v1::AuditListReply& answer) { take(std::move(answer)); },
              [take](const caf::error&) {
                v1::AuditListReply silent;
                *silent.mutable_error() = unlisted("it does not answer in time");
                take(std::move(silent));
              });
  }
}

}  // namespace fairlead
