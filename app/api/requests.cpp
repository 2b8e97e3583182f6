// POST /v1/requests/{request}: the requests of the command line as they are, protobuf messages, for each row of their table. What the paths of JSON
// keep a client from by reading its fields one by one, these messages could say: here it is taken out of them, or refused.

#include <algorithm>
#include <map>
#include <utility>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "actors/gateway/requests/audit_entries.hpp"
#include "actors/gateway/requests/checks.hpp"
#include "app/api/api.hpp"
#include "app/api/query.hpp"
#include "app/bulk/action.hpp"
#include "app/bulk/operation.hpp"
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
void drop_words_of_nodes(Request& what) {
  if constexpr (requires { what.clear_by_node(); }) what.clear_by_node();
}
void drop_words_of_nodes(v1::NodeOperateRequest& what) {
  what.clear_hops();
  what.clear_only_ask();
  what.clear_passed_on();
}
void drop_words_of_nodes(v1::ShardNodesRequest& what) { what.clear_passed_on(); }
void drop_words_of_nodes(v1::AuditListRequest& what) { what.clear_passed_on(); }

// ---- what the audit has of a request ----

template <class Request>
std::vector<noted_request> entries_of(const Request& what, const std::string& node) {
  if constexpr (is_noted<Request>) return to_note(what, node);
  return {};
}
/// What is confirmed is erased, and whose it is nobody has checked.
std::vector<noted_request> entries_of(const v1::RepliesRequest& what, const std::string&) { return to_note(what); }

// ---- what a reply has that whoever asks may not see ----

template <class Reply>
void hide(const principal&, Reply&) {}
void hide(const principal& from, v1::TaskShowReply& reply) {
  if (from.sees_payloads() || !reply.has_task()) return;
  auto& task = *reply.mutable_task();
  // What the path of an operation shows, this one shows too.
  if (bulk::is_operation(task.id()) && task.workflow() == bulk::workflow_name)
    bulk::hide_payloads(task);
  else
    hide_payloads(task);
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
void say_reply(const exchange_ptr& x, result<Reply> answer, std::vector<noted_request> noted = {}) {
  Reply reply;
  if (answer)
    reply = std::move(*answer);
  else
    *reply.mutable_error() = answer.failure().to_proto();
  hide(x->by(), reply);
  note_ends(reply, noted);
  x->note_deeds(noted);
  x->say_message(reply.SerializeAsString());
}

template <class Request>
void pass_on(const exchange_ptr& x, Request request, std::vector<noted_request> noted) {
  const auto more = more_time_for(request);
  x->ask_any<Request>(std::move(request), more,
                      [x, noted = std::move(noted)](result<reply_of<Request>> answer) { say_reply(x, std::move(answer), noted); });
}

/// What is wrong with an item refuses that item alone, as in POST /v1/tasks:batch.
void pass_on(const exchange_ptr& x, v1::SubmitRequest request, const std::vector<noted_request>&) {
  const auto refused = take_refused(request, [&](v1::Submission& item) {
    std::string pointer;
    auto why = refuse_for(x->by(), item, pointer);
    if (!why) set_submitter(*x, item);
    return why;
  });
  // Nobody is there to take a notice.
  request.clear_notify();
  if (request.items().empty()) return say_reply<v1::SubmitReply>(x, with_refused({}, refused));
  x->ask_any<v1::SubmitRequest>(std::move(request), {}, [x, refused](result<v1::SubmitReply> answer) {
    if (answer) answer = with_refused(std::move(*answer), refused);
    say_reply(x, std::move(answer));
  });
}

/// Replies are taken away from whoever has the name, and names are bound to nobody.
template <class Request>
bool may_send(exchange& x, const Request& what) {
  return x.may(right_for(what)) && (!std::is_same_v<Request, v1::RepliesRequest> || x.may(right::act));
}

/// Which agents whoever asks may work for, and whether it may vouch, is read from the fields of JSON.
bool may_send(exchange& x, const v1::WorkerSessionRequest&) {
  x.refuse({"forbidden", "Workers do not register by this path.", "Use POST /v1/workers.", {}, {}, false});
  return false;
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
  auto noted = entries_of(request, x->in().node);
  for (auto& one : noted) one.entry.set_at_unix_ms(to_unix_ms(x->in().time->now()));
  if (!x->note_in_audit(noted)) return;
  pass_on(x, std::move(request), std::move(noted));
}

using taker = void (*)(const exchange_ptr&);

template <class... Rows>
std::map<std::string_view, taker> takers_of(request_table<Rows...>) {
  std::map<std::string_view, taker> out{{Rows::request::descriptor()->name(), &take_message<typename Rows::request>}...};
  // Workers have paths of their own, where it is checked whose workers they may be and what they vouch for.
  out.erase(v1::WorkerSessionRequest::descriptor()->name());
  return out;
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
