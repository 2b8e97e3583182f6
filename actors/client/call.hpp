#pragma once
// One request of a client on its way to an answer: sent, sent again after a loss, answered once.

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "actors/client/http_link.hpp"
#include "actors/protocol/handles.hpp"
#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead {

class client_call;
using client_call_ptr = std::shared_ptr<client_call>;
/// What another thread has the client actor do.
using client_work_ptr = std::shared_ptr<std::function<void()>>;

/// The way to one node: one of the two.
struct client_link {
  gateway_actor gateway;
  std::shared_ptr<http_link> http;

  explicit operator bool() const { return gateway || http != nullptr; }
};

/// How one try of a call went.
enum class try_end {
  answered,  // the caller has its answer
  repeat,    // the node answers `unavailable`: try again
  silent,    // no answer in time: try again
  lost,      // the connection is gone
  alien,     // the other side does not know the message
};

}  // namespace fairlead

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::client_call_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::client_work_ptr)

namespace fairlead {

/// The client actor: messages from gateways, and from its own process.
using client_shell = client_sink::extend<
    // A caller's request.
    caf::reacts_to<client_call_ptr>,
    // The end of a post over HTTP.
    caf::reacts_to<client_work_ptr>,
    // Own reminder: look for calls that have timed out or want another try.
    caf::reacts_to<expire_atom>>;

using steady_time = std::chrono::steady_clock::time_point;

/// After the hand-over only the client actor uses the call, except for the future of its promise.
class client_call {
 public:
  client_call(steady_time deadline, duration try_limit) : deadline_(deadline), try_limit_(try_limit) {}
  virtual ~client_call() = default;

  steady_time deadline() const { return deadline_; }
  duration try_limit() const { return try_limit_; }

  /// Sends the request once. `ended` is called in the actor's context, at most once.
  virtual void send(client_shell::pointer self, const client_link& to, duration limit, std::function<void(try_end)> ended) = 0;
  /// Answers the caller with an error.
  virtual void fail(error why) = 0;
  /// True for the first connection of a client: one round over all addresses without success is its end.
  virtual bool one_round() const { return false; }

  std::uint32_t try_number = 0;
  std::uint32_t repeats_in_row = 0;  // at the node that is asked now
  bool in_flight = false;
  steady_time sent_at{};
  steady_time not_before{};

 private:
  steady_time deadline_;
  duration try_limit_;
};

inline try_end classify(const caf::error& failure) {
  if (failure == caf::sec::request_timeout) return try_end::silent;
  if (failure == caf::sec::unexpected_message || failure == caf::sec::unexpected_response) return try_end::alien;
  return try_end::lost;
}

template <class Request, class Reply>
class request_call final : public client_call, public std::enable_shared_from_this<request_call<Request, Reply>> {
 public:
  request_call(Request request, steady_time deadline, duration try_limit)
      : client_call(deadline, try_limit), request_(std::move(request)) {}

  std::future<result<Reply>> answer() { return promise_.get_future(); }

  /// Answers for which `says_nothing` holds are treated like `unavailable`. Set before the hand-over.
  void repeat_while(std::function<bool(const Reply&)> says_nothing) { says_nothing_ = std::move(says_nothing); }

  void send(client_shell::pointer self, const client_link& to, duration limit, std::function<void(try_end)> ended) override {
    // Answers to an earlier try (its timeout comes long after the loss of its node), or after the call's end, are dropped.
    auto current = [self_hold = this->shared_from_this(), mine = try_number] {
      return !self_hold->ended_ && self_hold->try_number == mine ? self_hold.get() : nullptr;
    };
    if (to.http) {
      to.http->post(Request::descriptor()->name(), request_.SerializeAsString(), limit, [current, ended](const http_reply& reply) {
        if (auto* call = current()) ended(call->take(reply));
      });
      return;
    }
    self->request(to.gateway, limit, request_)
        .then(
            [current, ended](Reply& reply) {
              if (auto* call = current()) ended(call->take(reply));
            },
            [current, ended](const caf::error& failure) {
              if (current() != nullptr) ended(classify(failure));
            });
  }

  /// The last `unavailable` of a node, if any, says more than the client can.
  void fail(error why) override {
    ended_ = true;
    promise_.set_value(last_.code == v1::ERROR_CODE_UNAVAILABLE ? last_ : std::move(why));
  }

 private:
  try_end take(const http_reply& came) {
    Reply reply;
    switch (came.how) {
      case http_reply::kind::message:
        if (!reply.ParseFromString(came.message)) return try_end::alien;
        return take(reply);
      case http_reply::kind::refused: *reply.mutable_error() = came.why.to_proto(); return take(reply);
      case http_reply::kind::unknown: return try_end::alien;
      case http_reply::kind::silent: return try_end::silent;
      default: return try_end::lost;
    }
  }

  try_end take(Reply& reply) {
    if (reply.error().code() == v1::ERROR_CODE_UNAVAILABLE) {
      last_ = error::from_proto(reply.error());
      return try_end::repeat;
    }
    if (says_nothing_ && says_nothing_(reply)) return try_end::repeat;
    ended_ = true;
    if (reply.error().code() != v1::ERROR_CODE_OK)
      promise_.set_value(error::from_proto(reply.error()));
    else
      promise_.set_value(std::move(reply));
    return try_end::answered;
  }

  Request request_;
  std::function<bool(const Reply&)> says_nothing_;
  std::promise<result<Reply>> promise_;
  error last_;  // code internal: there was none
  bool ended_ = false;
};

/// Is answered as soon as a gateway is connected.
class connect_call final : public client_call {
 public:
  connect_call(steady_time deadline, bool one_round) : client_call(deadline, duration{0}), one_round_(one_round) {}

  std::future<status> answer() { return promise_.get_future(); }

  void send(client_shell::pointer, const client_link&, duration, std::function<void(try_end)> ended) override {
    promise_.set_value(nothing{});
    ended(try_end::answered);
  }
  void fail(error why) override { promise_.set_value(std::move(why)); }
  bool one_round() const override { return one_round_; }

 private:
  std::promise<status> promise_;
  bool one_round_;
};

}  // namespace fairlead
