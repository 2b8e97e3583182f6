// POST /v1/requests/{request}: the requests of the command line as they are, protobuf messages, for each row of their table. What the paths of JSON
// keep a client from by reading its fields one by one, these messages could say: here it is taken out of them, or refused.

#include <algorithm>
#include <map>
#include <utility>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "actors/core/text/text.hpp"
#include "app/api/api.hpp"
#include "app/api/query.hpp"
#include "app/door/guards.hpp"

namespace fairlead::app::api {

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// ---- any message ----

/// Calls `what` with the messages inside of `in`, as deep as they go, and with itself; true as soon as `what` is.
template <class What>
bool any_inside(Message& in, const What& what) {
  if (what(in)) return true;
  const auto& reflection = *in.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(in, &fields);
  for (const auto* const field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const auto count = field->is_repeated() ? reflection.FieldSize(in, field) : 1;
    for (int i = 0; i < count; ++i)
      if (any_inside(*(field->is_repeated() ? reflection.MutableRepeatedMessage(&in, field, i) : reflection.MutableMessage(&in, field)),
                     what))
        return true;
  }
  return false;
}

/// A field of a later release may be a condition, and must not be passed over.
bool has_unknown_fields(Message& in) {
  return any_inside(in, [](Message& one) { return one.GetReflection()->GetUnknownFields(one).field_count() != 0; });
}

/// Wherever a message says who asks.
void set_who(Message& in, const std::string& who) {
  any_inside(in, [&](Message& one) {
    const auto* const field = one.GetDescriptor()->FindFieldByName("who");
    if (field != nullptr && field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && !field->is_repeated())
      one.GetReflection()->SetString(&one, field, who);
    return false;
  });
}

// ---- what nodes say to each other in the same messages ----

/// Which shard a node passes its part of a request on to.
bool is_for_nodes(const Message& what) {
  const auto* const field = what.GetDescriptor()->FindFieldByName("shard");
  return field != nullptr && field->has_presence() && what.GetReflection()->HasField(what, field);
}
template <class Request>
void drop_words_of_nodes(Request&) {}
void drop_words_of_nodes(v1::NodeOperateRequest& what) {
  what.clear_hops();
  what.clear_only_ask();
  what.clear_passed_on();
}
void drop_words_of_nodes(v1::ShardNodesRequest& what) { what.clear_passed_on(); }

// ---- what the audit has of a request ----

struct deed {
  std::string verb, objects, reason;
};

/// `OPERATOR_VERB_SETTLE_COMPLETED` -> `settle_completed`, as the JSON has it.
std::string verb_word(std::string name) {
  if (const auto at = name.find("_VERB_"); at != std::string::npos) name.erase(0, at + 6);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return name;
}

constexpr int most_objects = 20;

template <class Items, class Name>
std::string names_of_objects(const Items& items, const Name& name) {
  std::string out;
  int left = most_objects;
  for (const auto& one : items) {
    if (left-- == 0) return out + " and " + std::to_string(items.size() - most_objects) + " more";
    out += (out.empty() ? "" : " ") + name(one);
  }
  return out;
}
std::string itself(const std::string& name) { return name; }

/// Of a request that only looks.
template <class Request>
deed deed_of(const Request&) {
  return {};
}
deed deed_of(const v1::OperateRequest& what) {
  return {verb_word(v1::OperatorVerb_Name(what.action().verb())), names_of_objects(what.ids(), itself), what.action().reason()};
}
deed deed_of(const v1::RepliesRequest& what) { return {"take", what.client(), ""}; }
deed deed_of(const v1::DeployRequest& what) { return {"deploy", what.definition().name(), ""}; }
deed deed_of(const v1::WorkflowDeleteRequest& what) { return {"delete", what.name(), ""}; }
deed deed_of(const v1::JobApplyRequest& what) {
  return {"apply", names_of_objects(what.jobs(), [](const v1::JobSpec& job) { return job.name(); }), ""};
}
deed deed_of(const v1::JobOperateRequest& what) {
  return {verb_word(v1::JobVerb_Name(what.action().verb())), names_of_objects(what.names(), itself), what.action().reason()};
}
deed deed_of(const v1::AlertAckRequest& what) {
  return {"ack", names_of_objects(what.numbers(), [](std::uint64_t number) { return std::to_string(number); }), what.note()};
}
deed deed_of(const v1::BrakeReleaseRequest& what) { return {"release", "", what.reason()}; }
deed deed_of(const v1::AgentOperateRequest& what) {
  return {verb_word(v1::AgentVerb_Name(what.verb())), what.instance().empty() ? what.agent() : what.instance(), what.reason()};
}
deed deed_of(const v1::DoctorRequest& what) {
  return {what.repair() ? "repair" : what.forget_effects() ? "forget_effects" : "look", "", ""};
}
deed deed_of(const v1::NodeOperateRequest& what) {
  return {verb_word(v1::NodeVerb_Name(what.verb())), what.forgotten().empty() ? what.node() : what.forgotten(), what.reason()};
}
deed deed_of(const v1::ShardNodesRequest& what) {
  return {verb_word(v1::ShardNodesRequest::Verb_Name(what.verb())), "shard " + std::to_string(what.shard()) + " " + what.node().name(),
          what.reason()};
}

/// As the paths of JSON are (is_noted in api.cpp).
template <class Request>
bool changes_something(const Request& what) {
  const auto needed = right_for(what);
  return needed == right::act || needed == right::deploy || needed == right::administer;
}
/// What is confirmed is erased, and whose it is nobody has checked.
bool changes_something(const v1::RepliesRequest& what) { return what.acknowledged() != 0 || !what.positions().empty(); }
bool changes_something(const v1::ShardNodesRequest& what) { return what.verb() != v1::ShardNodesRequest::SHOW; }

/// Of the refusal that a reply has; empty: something was done.
template <class Reply>
std::string refusal_in(const Reply& reply) {
  if (reply.error().code() != v1::ERROR_CODE_OK) return code_word(reply.error().code());
  if constexpr (requires { reply.results(); }) {
    const auto is_refused = [](const auto& one) { return one.error().code() != v1::ERROR_CODE_OK; };
    if (!reply.results().empty() && std::all_of(reply.results().begin(), reply.results().end(), is_refused))
      return code_word(reply.results(0).error().code());
  }
  return {};
}

// ---- what a reply has that whoever asks may not see ----

template <class Reply>
void hide(const principal&, Reply&) {}
void hide(const principal& from, v1::TaskShowReply& reply) {
  if (from.sees_payloads() || !reply.has_task()) return;
  hide_payloads(*reply.mutable_task());
  // Of an input that is easy to guess the hash tells what it is.
  reply.mutable_task()->clear_content_hash();
  reply.mutable_task()->clear_actions();
}
void hide(const principal& from, v1::WatchReply& reply) {
  if (from.sees_payloads()) return;
  for (auto& one : *reply.mutable_progress()) one.mutable_progress()->clear_checkpoint();
}
/// An input that an operator has given to one launch becomes that of its task.
void hide(const principal& from, v1::JobShowReply& reply) {
  if (from.sees_payloads()) return;
  reply.mutable_job()->clear_runs();
  for (auto& open : *reply.mutable_job()->mutable_open()) open.clear_input();
}

// ---- one request ----

/// How long the answer may take beyond answer_limit.
template <class Request>
duration more_time_for(const Request&) {
  return {};
}
duration waited_for(std::int64_t ms) { return std::clamp(duration{ms}, duration{0}, longest_wait); }
duration more_time_for(const v1::WatchRequest& what) { return waited_for(what.wait_ms()); }
duration more_time_for(const v1::RepliesRequest& what) { return waited_for(what.wait_ms()); }
duration more_time_for(const v1::DeployRequest&) { return deploy_time; }
duration more_time_for(const v1::NodeOperateRequest&) { return operate_time; }
duration more_time_for(const v1::DoctorRequest&) { return doctor_time; }

/// What the node refuses is in the reply, as the command line knows it.
template <class Reply>
void say_reply(exchange& x, result<Reply> answer) {
  Reply reply;
  if (answer)
    reply = std::move(*answer);
  else
    *reply.mutable_error() = answer.failure().to_proto();
  hide(x.by(), reply);
  x.say_message(reply.SerializeAsString(), refusal_in(reply));
}

template <class Request>
void pass_on(const exchange_ptr& x, Request request) {
  const auto more = more_time_for(request);
  x->ask_any<Request>(std::move(request), more, [x](result<reply_of<Request>> answer) { say_reply(*x, std::move(answer)); });
}

/// What is wrong with an item refuses that item alone, as in POST /v1/tasks:batch.
void pass_on(const exchange_ptr& x, v1::SubmitRequest request) {
  v1::SubmitReply results;
  v1::SubmitRequest sound;
  std::vector<int> sent;  // the results that the node gives
  for (auto& item : *request.mutable_items()) {
    auto& result = *results.add_results();
    result.set_id(item.id());
    std::string pointer;
    if (const auto why = refuse_for(x->by(), item, pointer)) {
      *result.mutable_error() = why->to_proto();
      continue;
    }
    item.set_submitted_by(x->by().is_known() ? x->who() : "");
    sent.push_back(results.results_size() - 1);
    *sound.add_items() = std::move(item);
  }
  // Nobody is there to take a notice.
  if (sound.items().empty()) return say_reply<v1::SubmitReply>(*x, std::move(results));
  const auto all = std::make_shared<v1::SubmitReply>(std::move(results));
  x->ask_any<v1::SubmitRequest>(std::move(sound), {}, [x, all, sent](result<v1::SubmitReply> answer) {
    if (!answer) return say_reply(*x, std::move(answer));
    for (int i = 0; i < answer->results_size() && i < static_cast<int>(sent.size()); ++i)
      all->mutable_results(sent[static_cast<std::size_t>(i)])->Swap(answer->mutable_results(i));
    say_reply<v1::SubmitReply>(*x, std::move(*all));
  });
}

/// Replies are taken away from whoever has the name, and names are bound to nobody.
template <class Request>
bool may_send(exchange& x, const Request& what) {
  return x.may(right_for(what)) && (!std::is_same_v<Request, v1::RepliesRequest> || x.may(right::act));
}

template <class Request>
void take_message(const exchange_ptr& x) {
  const auto& name = Request::descriptor()->name();
  Request request;
  if (!request.ParseFromString(x->what().body))
    return x->refuse(invalid("The body is no message " + name + ".", "Use the command line of the node's release."));
  if (has_unknown_fields(request))
    return x->refuse(invalid("The message " + name + " has a field that this node does not know.",
                             "Use the command line of the node's release, or upgrade the node."));
  if (is_for_nodes(request))
    return x->refuse(invalid("The message " + name + " names a shard, as only nodes do.", "Leave the field shard out."));
  if (!may_send(*x, request)) return;
  drop_words_of_nodes(request);
  if (x->by().is_known()) set_who(request, x->who());
  if (changes_something(request)) {
    if (!x->note_in_audit()) return;
    const auto done = deed_of(request);
    x->note_action(done.verb, done.reason, done.objects);
  }
  pass_on(x, std::move(request));
}

using taker = void (*)(const exchange_ptr&);

template <class... Rows>
std::map<std::string_view, taker> takers_of(request_table<Rows...>) {
  return {{Rows::request::descriptor()->name(), &take_message<typename Rows::request>}...};
}

}  // namespace

void take_request(exchange_ptr x) {
  static const auto takers = takers_of(client_requests{});
  if (x->refuse_rest()) return;
  // Their replies have more of others than the paths of JSON show.
  if (x->by().sees_only_own())
    return x->refuse({"forbidden",
                      x->who() + " sees only its own tasks, and this path is for the command line of operators.",
                      "Use the paths of JSON, such as PUT /v1/tasks/{id}, or ask for a token with the role viewer besides.",
                      {},
                      {},
                      false});
  if (!x->may(right::look)) return;
  const auto found = takers.find(x->part(0));
  if (found == takers.end())
    return x->refuse(
        error{v1::ERROR_CODE_NOT_FOUND, "There is no request " + x->part(0) + ".", "Use the command line of the node's release."});
  const auto type = door::find_header(x->what().head, "Content-Type");
  if (!type || !door::is_protobuf(*type))
    return x->refuse({"unsupported_media_type",
                      "The body is no protobuf message.",
                      "Send one with Content-Type: application/x-protobuf, or use the paths of JSON.",
                      {},
                      {},
                      false});
  found->second(x);
}

}  // namespace fairlead::app::api
