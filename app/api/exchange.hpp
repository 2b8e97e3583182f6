#pragma once
// One request on its way through the node: an actor of its own asks the gateway, and answers the client.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <caf/event_based_actor.hpp>

#include "actors/gateway/reads_here.hpp"
#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "app/access/audit.hpp"
#include "app/access/gate.hpp"
#include "app/api/long_polls.hpp"
#include "app/door/listener.hpp"
#include "app/door/problem.hpp"
#include "app/door/target.hpp"
#include "app/json/fields.hpp"
#include "messages/time.hpp"

namespace fairlead {
class workers;
}

namespace fairlead::app::api {

/// Which conditions a change keeps. A header that it does not keep is refused: whoever sends it relies on it.
enum class keeps { none, if_match, if_none_match, both };

/// Of the node.
struct surroundings {
  caf::actor_system* system = nullptr;
  gateway_actor gateway;
  std::optional<reads_here> reads;  // as long as requests come
  std::string node;
  std::string version;
  const clock* time = nullptr;
  std::shared_ptr<gate> access{};
  std::shared_ptr<audit_log> audit{};
  std::shared_ptr<long_polls> polls = std::make_shared<long_polls>();
  std::shared_ptr<fairlead::workers> workers{};  // null: this node takes none
};

/// A path whose text is the right to send it: whoever reads it in a log or in the audit could do so, too.
bool is_callback(std::string_view path);

/// What the audit has of a request, but for its end. Without the text of a callback.
audit_entry audit_entry_of(const surroundings& in, const principal& by, const door::request& what);
/// Answers once the entries, at least one, are on the disk. If one cannot be written, and something was done, the answer says so instead.
void answer_noted(const surroundings& in, const std::vector<audit_entry>& what, const std::string& request_id, door::answer said,
                  const std::shared_ptr<door::answerer>& to);
/// Of a change that is refused before anything looks at what it asks for. nullopt: it is not worth an entry, as it changes nothing, or whoever
/// sent it was refused so often in this minute that entries would fill the disk.
std::optional<audit_entry> refused_entry_of(const surroundings& in, const principal& by, const door::request& what,
                                            const door::problem& why);

/// How long the node may take for one question, beyond what the question itself waits.
inline constexpr duration answer_limit = std::chrono::seconds{15};
/// Beyond that: for the expressions of a workflow to be checked, and each shard to take it; for a drain, which moves leads, and a reload, which
/// starts agents; for the doctor, who looks at every live task.
inline constexpr duration deploy_time = std::chrono::seconds{30};
inline constexpr duration operate_time = std::chrono::seconds{30};
inline constexpr duration doctor_time = std::chrono::seconds{45};

class exchange;
using exchange_ptr = std::shared_ptr<exchange>;

/// Only for its actor, once that runs.
class exchange : public std::enable_shared_from_this<exchange> {
 public:
  exchange(std::shared_ptr<const surroundings> in, principal by, door::request what, std::vector<std::string> parts,
           std::shared_ptr<door::answerer> to);

  /// Before anything else: whether whoever sent the request may use its namespace, whether there is that, and whether it has the right. False: the
  /// request was refused. `in_namespace`: whether the path belongs to one. Also outside of the actor.
  bool may_begin(bool in_namespace, std::optional<right> needed);
  /// Of a change: false, and it is refused, if it has a condition that its path does not keep.
  bool keeps_conditions(keeps which);
  /// `place`: held as long as this.
  void hold(std::shared_ptr<void> place) { place_ = std::move(place); }

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

  /// The revision in the header If-Match; 0: there is none, or `*`. A list without a tag of ours is refused.
  std::uint64_t wanted_revision();
  /// Whether the header is there, and is `*`: `If-Match: *` takes only what exists, `If-None-Match: *` only what does not.
  bool is_any(std::string_view condition) const;
  /// The header Idempotency-Key without its quotes. An empty one, or one that is not UTF-8, is refused.
  std::optional<std::string> key();
  /// The same of an action; empty: there is none. A longer one than an action may have is refused, too.
  std::string action_key();
  /// Whoever sent the request.
  const principal& by() const { return by_; }
  /// Its name, for histories and logs.
  const std::string& who() const { return by_.name; }
  /// False: the request was refused, because whoever sent it lacks the right.
  bool may(right needed);
  /// The answer is noted in the audit, whatever it is. False: the audit cannot be written, so the request was refused.
  bool note_in_audit();
  /// The same of a request that is not one of JSON, by what it does; of one that does nothing, no answer is noted.
  bool note_in_audit(const std::vector<noted_request>& deeds);
  /// What became of them.
  void note_deeds(const std::vector<noted_request>& deeds);
  /// Of the action that the request asks for.
  void note_action(const std::string& verb, const std::string& reason);
  /// What the request is about, where the path does not say it: the audit has an entry for each. `why`: the refusal of this one alone.
  void note_object(const std::string& object, v1::ErrorCode why = v1::ERROR_CODE_OK);
  /// Of the task, once the action was done.
  void note_state(const std::string& after);
  /// What somebody unknown sends in vain, or again, is noted only a hundred times a minute: it would fill the disk.
  void note_less();

  void say(unsigned status, std::string json, door::headers more = {});
  /// `if_unsent`: as in door::answer.
  void say_or(std::string json, std::function<void()> if_unsent);
  /// A protobuf message.
  void say_message(std::string bytes);
  /// One resource with its ETag; 304 if the client has it already. `revision`: what wanted_revision() is compared with; 0: nothing is.
  void say_resource(std::uint64_t revision, std::string json);
  /// Server-sent events: the answer begins with `first`, and goes on until end_stream.
  void begin_stream(std::string first);
  void send(std::string more) { to_->send(std::move(more)); }
  void end_stream() { to_->end(); }
  void refuse(const error& why);
  void refuse(door::problem why);
  /// The parameter, or the field of the body.
  void refuse_at(const std::string& pointer, const error& why);
  /// `gone` is called once, from any thread, if the client goes before it has its answer; at once if it has gone. It must return at once, and must not
  /// hold this.
  void on_gone(std::function<void()> gone) {
    if (!is_answered_) to_->on_gone(std::move(gone));
  }
  /// Takes the place of a long poll before something is done that is to be waited for: a refusal says that nothing was done. False: there is none, and
  /// the request is refused.
  bool take_place_to_wait();
  /// For a stream: whether whoever began it may still look.
  bool may_go_on() const;
  /// The answer may still wait for the audit.
  bool is_over() const { return is_answered_ || to_->is_over(); }
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
  /// As ask(), for what the node does on its own account, once whoever asks may do what it is done for.
  template <class Request>
  void ask_for_node(Request request, std::function<void(reply_of<Request>&)> then, duration wait = {}) {
    send<Request>(std::move(request), wait, [self = shared_from_this(), then = std::move(then)](result<reply_of<Request>> answer) {
      if (!answer) return self->refuse(answer.failure());
      then(*answer);
    });
  }
  /// `then` gets errors, too.
  template <class Request>
  void ask_any(Request request, duration wait, std::function<void(result<reply_of<Request>>)> then) {
    if (!may(right_for(request))) return;
    if constexpr (requires { request.set_submitted_by(std::string{}); })
      if (by_.sees_only_own()) request.set_submitted_by(by_.name);
    send(std::move(request), wait, std::move(then));
  }

  void run_in(caf::event_based_actor* self, const std::function<void(exchange_ptr)>& handler);
  /// Without an actor, unless an answer has to be waited for.
  void run_here(const std::function<void(exchange_ptr)>& handler);

 private:
  template <class Request>
  void send(Request request, duration wait, std::function<void(result<reply_of<Request>>)> then) {
    // Only before there is an actor: the thread that runs this then ends with the port, and actors end later than the shards.
    if constexpr (requires { in_->reads->read(request); })
      if (auto answer = self_ == nullptr && in_->reads ? in_->reads->read(request) : std::nullopt)
        return answer->error().code() != v1::ERROR_CODE_OK ? then(error::from_proto(answer->error())) : then(std::move(*answer));
    if (self_ == nullptr)
      return later_.push_back([this, request = std::move(request), wait, then = std::move(then)] { send(request, wait, then); });
    if constexpr (requires { request.wait_ms(); })
      if (wait > duration{} && !may_wait()) return;
    const auto shared = std::make_shared<std::function<void(result<reply_of<Request>>)>>(std::move(then));
    self_->request(in_->gateway, wait + answer_limit, std::move(request))
        .then(
            [self = shared_from_this(), shared](reply_of<Request>& answer) {
              answer.error().code() != v1::ERROR_CODE_OK ? (*shared)(error::from_proto(answer.error())) : (*shared)(std::move(answer));
            },
            [self = shared_from_this(), shared](const caf::error& why) { (*shared)(lost(why)); });
  }

  /// Of a long poll: it holds a place of the node, and is for nobody once its client has gone. False: it was refused.
  bool may_wait();
  void answer_with(door::answer what, const std::string& code = {});
  bool may_note();
  static error lost(const caf::error& why);
  bool read_query();
  bool may_use(const std::string& name_space);

  const std::shared_ptr<const surroundings> in_;
  const principal by_;
  const door::request what_;
  const std::vector<std::string> parts_;
  const std::shared_ptr<door::answerer> to_;
  std::shared_ptr<void> place_, place_to_wait_;
  bool streams_ = false, ends_with_client_ = false;
  caf::event_based_actor* self_ = nullptr;
  std::vector<std::function<void()>> later_;  // what needs an actor
  std::multimap<std::string, std::string> query_;
  std::vector<audit_entry> noted_;  // without a status: its end is that of the answer
  bool notes_objects_ = false;
  bool is_answered_ = false;
};

}  // namespace fairlead::app::api
