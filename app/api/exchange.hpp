#pragma once
// One request on its way through the node: an actor of its own asks the gateway, and answers the client.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <caf/event_based_actor.hpp>

#include "actors/protocol/handles.hpp"
#include "app/door/listener.hpp"
#include "app/door/problem.hpp"
#include "app/door/target.hpp"
#include "app/json/fields.hpp"
#include "messages/time.hpp"

namespace fairlead::app::api {

/// Of the node.
struct surroundings {
  caf::actor_system* system = nullptr;
  gateway_actor gateway;
  std::string node;
  std::string version;
  const clock* time = nullptr;
};

/// How long the node may take for one question, beyond what the question itself waits.
inline constexpr duration answer_limit = std::chrono::seconds{15};

class exchange;
using exchange_ptr = std::shared_ptr<exchange>;

/// Only for its actor, once that runs.
class exchange : public std::enable_shared_from_this<exchange> {
 public:
  /// `place`: held as long as this.
  exchange(std::shared_ptr<const surroundings> in, door::request what, std::vector<std::string> parts, std::shared_ptr<door::answerer> to,
           std::shared_ptr<void> place = {});

  const door::request& what() const { return what_; }
  /// What a segment in braces stands for.
  const std::string& part(std::size_t i) const { return parts_.at(i); }
  const surroundings& in() const { return *in_; }

  /// The parameters of the query are read one by one; refuse_rest() says whether there are others, and answers then.
  std::optional<std::string> parameter(const std::string& name);
  std::vector<std::string> parameters(const std::string& name);
  bool refuse_rest();
  /// What has not been read yet.
  const std::multimap<std::string, std::string>& query() const { return query_; }

  /// Reads the body, a JSON object. No body is an empty one. False: it was refused.
  bool read_body(const std::vector<json_field>& fields);
  /// Whether the body may be JSON. It is refused else.
  bool takes_json();
  /// The body as text: YAML, or JSON, which is YAML too.
  const std::string& text() const { return what_.body; }

  /// The revision in the header If-Match; 0: there is none, or `*`. A tag that is none of ours is refused.
  std::uint64_t wanted_revision();
  /// The header Idempotency-Key without its quotes. One that is not UTF-8 is refused.
  std::optional<std::string> key();
  /// Whoever sent the request, for histories and logs.
  std::string who() const { return "loopback"; }

  void say(unsigned status, std::string json, door::headers more = {});
  /// One resource with its ETag; 304 if the client has it already. `revision`: what wanted_revision() is compared with.
  void say_resource(std::uint64_t revision, std::string json);
  /// Server-sent events: the answer begins with `first`, and goes on until end_stream.
  void begin_stream(std::string first);
  void send(std::string more) { to_->send(std::move(more)); }
  void end_stream() { to_->end(); }
  void refuse(const error& why);
  void refuse(door::problem why);
  /// The parameter, or the field of the body.
  void refuse_at(const std::string& pointer, const error& why);
  bool is_over() const { return to_->is_over(); }
  /// The only result of a reply about one thing; null: it is an error, or missing, and becomes the client's answer.
  template <class Reply>
  auto only_result(const Reply& reply) -> decltype(&reply.results(0)) {
    if (reply.results().empty()) {
      refuse(error{v1::ERROR_CODE_INTERNAL, "The answer has no result.", "Report this as a bug."});
      return nullptr;
    }
    const auto& one = reply.results(0);
    if (one.error().code() == v1::ERROR_CODE_OK) return &one;
    refuse(error::from_proto(one.error()));
    return nullptr;
  }

  /// `then` is called with an answer without an error; an error becomes the client's answer. `wait`: as the request itself asks for.
  template <class Request>
  void ask(Request request, std::function<void(reply_of<Request>&)> then, duration wait = {}) {
    ask_any<Request>(std::move(request), wait, [self = shared_from_this(), then = std::move(then)](result<reply_of<Request>> answer) {
      if (!answer) return self->refuse(answer.failure());
      then(*answer);
    });
  }
  /// `then` gets errors, too.
  template <class Request>
  void ask_any(Request request, duration wait, std::function<void(result<reply_of<Request>>)> then) {
    const auto shared = std::make_shared<std::function<void(result<reply_of<Request>>)>>(std::move(then));
    self_->request(in_->gateway, wait + answer_limit, std::move(request))
        .then(
            [self = shared_from_this(), shared](reply_of<Request>& answer) {
              answer.error().code() != v1::ERROR_CODE_OK ? (*shared)(error::from_proto(answer.error())) : (*shared)(std::move(answer));
            },
            [self = shared_from_this(), shared](const caf::error& why) { (*shared)(lost(why)); });
  }

  void run_in(caf::event_based_actor* self, const std::function<void(exchange_ptr)>& handler);

 private:
  static error lost(const caf::error& why);
  bool read_query();

  const std::shared_ptr<const surroundings> in_;
  const door::request what_;
  const std::vector<std::string> parts_;
  const std::shared_ptr<door::answerer> to_;
  const std::shared_ptr<void> place_;
  caf::event_based_actor* self_ = nullptr;
  std::multimap<std::string, std::string> query_;
};

}  // namespace fairlead::app::api
