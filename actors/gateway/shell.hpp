#pragma once
// The gateway's inside: one function for each message. Requests about one shard go to it directly; others go to all shards, and the answers
// are merged.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/core/cluster/routing.hpp"
#include "actors/gateway/audits.hpp"
#include "actors/gateway/fan_out.hpp"
#include "actors/gateway/gateway.hpp"
#include "actors/gateway/relays.hpp"
#include "actors/gateway/requests/audit_entries.hpp"
#include "actors/gateway/requests/checks.hpp"
#include "actors/gateway/requests/cut.hpp"
#include "actors/gateway/requests/job_lists.hpp"
#include "actors/gateway/requests/lists.hpp"

namespace fairlead {

/// Less than the five seconds after which a client repeats a request, so that the client hears which shard is missing.
inline constexpr duration answer_limit{4'000};
inline constexpr duration status_limit{2'000};
inline constexpr duration deploy_limit{15'000};
inline constexpr duration doctor_limit{600'000};
inline constexpr duration longest_poll{30'000};
/// For the report of the links.
inline constexpr duration report_limit{1'000};

class gateway_shell {
 public:
  using self_pointer = supervised_pointer<gateway_actor>;
  template <class Reply>
  using promise_of = caf::typed_response_promise<Reply>;

  gateway_shell(self_pointer self, gateway_setup setup);

  /// A request of client_requests. What a client changes over the port is noted.
  template <class Request>
  caf::result<reply_of<Request>> take(Request& what) {
    if constexpr (is_noted<Request>)
      if (audits_.is_asked_from_outside())
        if (auto entries = to_note(what, setup_.node); !entries.empty()) return audits_.ask_and_note(std::move(what), std::move(entries));
    return handle(what);
  }

  caf::result<v1::HelloReply> hello(v1::Hello& what, caf::strong_actor_ptr who);
  caf::result<v1::ReplicaWelcome, caf::strong_actor_ptr> meet_replica(v1::ReplicaHello& what, caf::strong_actor_ptr who);
  caf::result<v1::AgentWelcome, caf::strong_actor_ptr> register_agent(v1::RegisterAgent& what, caf::strong_actor_ptr who);
  void relay(const v1::FinishedNotice& notice);
  void report(const v1::CertificateReport& what);
  void learn(const shard_route& route);
  void learn(const shard_total& total) { routes_.set_count(total.count); }

 private:
  /// As its row says.
  template <class Request>
  caf::result<reply_of<Request>> handle(Request& what) {
    constexpr auto is_about = row_of<Request>::is_about;
    if constexpr (is_about == about::one_task)
      return of_one(what, [&] { return core::shard_of_task(what.id(), routes_.count()); });
    else if constexpr (is_about == about::one_name)
      return of_one(what, [&] { return core::shard_of_key(what.name(), routes_.count()); });
    else if constexpr (is_about == about::many)
      return of_many(what);
    else if constexpr (is_about == about::any_shard)
      return from_any(what);
    else if constexpr (is_about == about::every_shard)
      return of_all(what);
    else
      return answer(what);
  }

  /// Of a request with some items that nobody may submit.
  caf::result<v1::SubmitReply> submit_others(v1::SubmitRequest& what, refused_items reserved);

  // Requests whose row says `special`.
  caf::result<v1::SubmitReply> answer(v1::SubmitRequest& what);
  caf::result<v1::TaskListReply> answer(v1::TaskListRequest& what);
  caf::result<v1::TaskShowReply> answer(v1::TaskShowRequest& what);
  caf::result<v1::DeployReply> answer(v1::DeployRequest& what);
  caf::result<v1::WorkflowDeleteReply> answer(v1::WorkflowDeleteRequest& what);
  caf::result<v1::JobShowReply> answer(v1::JobShowRequest& what);
  caf::result<v1::JobOperateReply> answer(v1::JobOperateRequest& what);
  caf::result<v1::AlertListReply> answer(v1::AlertListRequest& what);
  caf::result<v1::AlertShowReply> answer(v1::AlertShowRequest& what);
  caf::result<v1::AlertAckReply> answer(v1::AlertAckRequest& what);
  caf::result<v1::RepliesReply> answer(v1::RepliesRequest& what);
  caf::result<v1::StatusReply> answer(v1::StatusRequest& what);
  caf::result<v1::DoctorReply> answer(v1::DoctorRequest& what);
  caf::result<v1::InspectReply> answer(v1::InspectRequest& what);
  caf::result<v1::NodeOperateReply> answer(v1::NodeOperateRequest& what);
  caf::result<v1::ShardNodesReply> answer(v1::ShardNodesRequest& what);
  caf::result<v1::AuditListReply> answer(v1::AuditListRequest& what);

  struct alert_page;
  struct status_round;

  caf::result<v1::NodeOperateReply> forget_node(v1::NodeOperateRequest& what);
  void ask_round(v1::NodeOperateRequest what, std::function<void(v1::NodeOperateReply)> then);

  /// Why a request is refused at once: it makes no sense, or another gateway wrongly believes that its shard is here.
  template <class Request>
  std::optional<error> refuse(const Request& what) {
    auto why = check_request(what);
    if (why)
      ++refused_;
    else if (what.has_shard() && routes_.here(what.shard()) == nullptr)
      why = error{v1::ERROR_CODE_UNAVAILABLE, "shard " + std::to_string(what.shard()) + " is not on node " + setup_.node,
                  "repeat the request in a moment", true};
    else if (!what.has_shard() && routes_.count() == 0)
      why = routes_.unknown_count();
    return why;
  }

  /// The shard of a request that can only be about one: the shard it names, or the only shard of the cluster.
  template <class Request>
  std::optional<std::uint32_t> only_shard(const Request& what) const {
    if (what.has_shard()) return what.shard();
    if (routes_.count() == 1) return 0;
    return std::nullopt;
  }

  /// Passes a request on to the holder of the shard; within this process the answer goes directly to the client.
  template <class Request>
  caf::result<reply_of<Request>> at(std::uint32_t shard, Request& what, duration limit) {
    const auto* desk = routes_.here(shard);
    if constexpr (row_of<Request>::by == answered_by::store) {
      if (desk != nullptr && !desk->is_of_several()) return read_here(*desk, what, setup_.time->now());
    } else if constexpr (!std::is_same_v<Request, v1::StatusRequest> && !std::is_same_v<Request, v1::DoctorRequest>) {
      if (desk != nullptr && (!desk->is_of_several() || !is_read<Request>))
        return self_->delegate(handler_here<Request>(*desk), std::move(what));
    }
    auto promise = self_->make_response_promise<reply_of<Request>>();
    asks_.ask(shard, std::move(what), limit, deliver_to(promise));
    return promise;
  }

  /// How long an answer may take; for a long poll its wait comes on top.
  template <class Request>
  static duration limit_of(const Request&) {
    return answer_limit;
  }
  static duration limit_of(const v1::WatchRequest& what) {
    return std::clamp(duration{what.wait_ms()}, duration{0}, longest_poll) + answer_limit;
  }

  template <class Request, class Shard>
  caf::result<reply_of<Request>> of_one(Request& what, Shard shard_of) {
    if (const auto why = refuse(what)) return refusal<reply_of<Request>>(*why);
    const auto shard = only_shard(what);
    return at(shard ? *shard : shard_of(), what, limit_of(what));
  }

  /// Tasks or jobs: the request is cut by shard, the parts are sent at once, and the answers are put together in the order of the request.
  template <class Request>
  caf::result<reply_of<Request>> of_many(Request& what) {
    using reply = reply_of<Request>;
    if (const auto why = refuse(what)) return refusal<reply>(*why);
    if (const auto shard = only_shard(what)) return at(*shard, what, answer_limit);
    auto promise = self_->make_response_promise<reply>();
    auto cut = cut_by_shard(what, routes_.count());
    asks_.ask_each<Request>(std::move(cut.parts), answer_limit,
                            [what, promise, positions = std::move(cut.positions)](std::vector<reply> answers) mutable {
                              promise.deliver(put_together(what, positions, std::move(answers)));
                            });
    return promise;
  }

  /// For data that all shards have: asks a shard of this node, else takes the first answer.
  template <class Request>
  caf::result<reply_of<Request>> from_any(Request& what) {
    if (const auto why = refuse(what)) return refusal<reply_of<Request>>(*why);
    if (const auto shard = only_shard(what)) return at(*shard, what, answer_limit);
    for (const auto& desk : routes_.desks())
      if (routes_.here(desk.shard) != nullptr) return at(desk.shard, what, answer_limit);
    auto promise = self_->make_response_promise<reply_of<Request>>();
    ask_next(0, std::move(what), promise);
    return promise;
  }

  template <class Request>
  void ask_next(std::uint32_t shard, Request what, promise_of<reply_of<Request>> promise) {
    asks_.ask(shard, what, answer_limit, [this, shard, what, promise](reply_of<Request> answer) mutable {
      if (answer.error().code() == v1::ERROR_CODE_UNAVAILABLE && shard + 1 < routes_.count())
        ask_next(shard + 1, std::move(what), std::move(promise));
      else
        promise.deliver(std::move(answer));
    });
  }

  /// Asks all shards and merges the answers.
  template <class Request>
  caf::result<reply_of<Request>> of_all(Request& what) {
    using reply = reply_of<Request>;
    if (const auto why = refuse(what)) return refusal<reply>(*why);
    if (const auto shard = only_shard(what)) return at(*shard, what, answer_limit);
    auto promise = self_->make_response_promise<reply>();
    asks_.ask_all(what, answer_limit,
                  [promise, what](std::vector<reply> answers) mutable { promise.deliver(merge(what, std::move(answers))); });
    return promise;
  }

  template <class Reply>
  static void give(promise_of<Reply> promise, Reply answer) {
    promise.deliver(std::move(answer));
  }

  template <class Reply>
  static std::function<void(Reply)> deliver_to(promise_of<Reply> promise) {
    return [promise](Reply answer) mutable { promise.deliver(std::move(answer)); };
  }

  /// Takes one of the few places for work that keeps a thread busy; the place is free again when the last copy is gone. Null: none is free.
  static std::shared_ptr<void> place_in(const std::shared_ptr<int>& taken, int most);
  /// Number of places for a request: a request cut by another gateway comes here once for each shard of this node.
  template <class Request>
  int places_for(const Request& what, int most) const {
    return what.has_shard() ? most * static_cast<int>(std::max<std::size_t>(routes_.desks().size(), 1)) : most;
  }

  std::uint64_t relay_to(const caf::strong_actor_ptr& client);
  void forget_client(const caf::actor_addr& who);

  void check_expressions(const v1::DeployRequest& what, std::function<void(v1::DeployReply)> then);
  void ask_replies(std::shared_ptr<const v1::RepliesRequest> what, std::int64_t wait_ms, promise_of<v1::RepliesReply> promise);
  void page_alerts(std::shared_ptr<alert_page> page);
  caf::result<v1::JobOperateReply> rewind_all(v1::JobOperateRequest& what);
  void complete_status(const std::shared_ptr<status_round>& round);
  /// The answer to a request that makes no sense, or that was passed on to another node; nullopt: the request is about this node.
  template <class Request>
  std::optional<caf::result<reply_of<Request>>> not_here(Request& what);
  /// Finds the gateway of another node by its name and asks it.
  template <class Request, class Reply>
  void ask_node(const std::string& node, Request what, promise_of<Reply> promise);

  self_pointer self_;
  gateway_setup setup_;
  gateway_routes routes_;
  gateway_asks asks_;
  gateway_audits audits_;
  gateway_relays relays_;
  std::unordered_map<caf::actor_addr, std::uint64_t> client_numbers_;
  std::unordered_map<std::uint64_t, caf::actor_addr> clients_;
  std::uint64_t next_client_ = 1;
  std::shared_ptr<int> deployments_ = std::make_shared<int>(0);
  std::shared_ptr<int> doctors_ = std::make_shared<int>(0);
  std::uint64_t refused_ = 0;
};

}  // namespace fairlead
