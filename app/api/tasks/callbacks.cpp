// POST /v1/callbacks/{callback} and …/fail: a service says how the work has ended that it accepted before. The text in the path is its right to do
// so, and nobody is asked for a token.

#include <optional>
#include <string>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/core/text/json.hpp"
#include "actors/gateway/requests/audit_entries.hpp"
#include "app/api/api.hpp"
#include "app/json/writer.hpp"
#include "messages/ids.hpp"
#include "messages/tickets.hpp"

namespace fairlead::app::api {

namespace {

constexpr std::size_t most_code_bytes = 64, most_message_bytes = 1'024;

/// Also of a text that was made up: nobody learns from the answer which tasks there are.
error no_such_callback() {
  return {v1::ERROR_CODE_NOT_FOUND, "Nothing here waits for this callback.",
          "Use the whole URL as it was given out. One from before a restore of the shard counts no more."};
}

/// For the history of the task.
std::string sender_of(const door::peer& from) {
  if (from.uid) return "uid " + std::to_string(*from.uid);
  return from.address.empty() ? "unknown" : from.address;
}

const char* word_of(const v1::OperateResult& done) { return done.repeated() ? "repeated" : done.kept() ? "kept" : "accepted"; }

void refuse(const exchange_ptr& x, const v1::Error& why) {
  if (why.code() == v1::ERROR_CODE_NOT_FOUND) return x->refuse(no_such_callback());
  if (why.code() == v1::ERROR_CODE_KEY_REUSED)
    return x->refuse(error{v1::ERROR_CODE_KEY_REUSED, "This callback has come before, with other content.",
                           "Nothing was changed. What came first counts; send the same content again to see that it is taken."});
  x->refuse(error::from_proto(why));
}

/// nullopt: it was refused.
std::optional<callback_name> name_of(const exchange_ptr& x) {
  if (x->refuse_rest()) return std::nullopt;
  auto named = read_callback(x->part(0));
  if (named && possible_task_id(named->task_id)) {
    x->note_action("callback", called_back_step(*named));
    return named;
  }
  x->refuse(no_such_callback());
  return std::nullopt;
}

/// Only what the shard does not know is counted: whoever sends a callback again is not held up.
std::string unknown_of(const exchange_ptr& x) { return "unknown callbacks of " + sender_of(x->what().from); }

/// Before the shard checks the signature. True: it was refused.
bool is_braked(const exchange_ptr& x) {
  const auto& in = x->in();
  if (!in.access->has_made_noise(unknown_of(x), in.time->now())) return false;
  x->refuse({"overloaded",
             "Too many callbacks that nothing waits for came from here.",
             "Send the same again in a minute.",
             {},
             {},
             false,
             {},
             door::a_minute_s});
  return true;
}

void send(const exchange_ptr& x, const callback_name& named, v1::OperatorAction action) {
  if (is_braked(x)) return;
  v1::OperateRequest request;
  action.set_verb(v1::OPERATOR_VERB_CALLBACK);
  action.set_callback(x->part(0));
  action.set_who(sender_of(x->what().from));
  *request.mutable_action() = std::move(action);
  request.add_ids(named.task_id);
  x->ask_for_node<v1::OperateRequest>(std::move(request), [x](const v1::OperateReply& reply) {
    if (reply.results().empty()) return x->refuse(error{v1::ERROR_CODE_INTERNAL, "The answer has no result.", "Report this as a bug."});
    const auto& done = reply.results(0);
    if (done.error().code() == v1::ERROR_CODE_NOT_FOUND) x->in().access->is_noise(unknown_of(x), x->in().time->now());
    if (done.error().code() != v1::ERROR_CODE_OK) return refuse(x, done.error());
    x->note_state(state_after(done));
    if (done.repeated()) x->note_less();
    json_writer out;
    x->say(200, out.begin_object().key("result").string(word_of(done)).end_object().text());
  });
}

}  // namespace

void take_callback(exchange_ptr x) {
  const auto named = name_of(x);
  if (!named || !x->takes_json()) return;
  const auto body = core::trim_json(x->text());
  if (body.size() > max_output_bytes)
    return x->refuse({"too_large",
                      "The body has " + std::to_string(body.size()) + " bytes; an output has at most 1 MiB.",
                      "Keep large data elsewhere, and send its address.",
                      {},
                      {},
                      false});
  // Sent again with other white space it is the same.
  v1::OperatorAction action;
  action.set_json("null");
  if (!body.empty()) {
    if (const auto sound = core::check_json(body); !sound.ok())
      return x->refuse_at("", invalid("The body is not JSON: " + sound.failure().sentence, "Send JSON, or no body at all for null."));
    action.set_json(core::minify_json(body));
  }
  send(x, *named, std::move(action));
}

void take_failed_callback(exchange_ptr x) {
  const auto named = name_of(x);
  if (!named) return;
  std::string kind, code, message;
  if (!x->read_body({{"kind", text_into(kind)}, {"code", text_into(code)}, {"message", text_into(message)}})) return;
  if (!kind.empty() && kind != "transient" && kind != "permanent")
    return x->refuse_at("/kind", invalid("There is no kind of fault '" + kind + "' here.",
                                         "Give transient (another attempt may succeed) or permanent (it cannot), or leave kind out for "
                                         "permanent. A service that does not know yet sends no callback."));
  const auto too_long = [&x](const char* field, std::size_t bytes, std::size_t most) {
    if (bytes > most)
      x->refuse_at(std::string{"/"} + field, invalid(std::string{"Field '"} + field + "' has " + std::to_string(bytes) +
                                                         " bytes; at most " + std::to_string(most) + " are taken.",
                                                     "Give a shorter text."));
    return bytes > most;
  };
  if (too_long("code", code.size(), most_code_bytes) || too_long("message", message.size(), most_message_bytes)) return;
  v1::OperatorAction action;
  auto& fault = *action.mutable_fault();
  fault.set_kind(kind == "transient" ? v1::FAULT_KIND_TRANSIENT : v1::FAULT_KIND_PERMANENT);
  fault.set_code(std::move(code));
  fault.set_message(std::move(message));
  send(x, *named, std::move(action));
}

}  // namespace fairlead::app::api
