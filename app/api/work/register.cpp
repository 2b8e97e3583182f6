// POST /v1/workers: a process begins to take attempts, or goes on with its session.

#include <optional>
#include <utility>

#include "actors/workers/workers.hpp"
#include "app/api/api.hpp"
#include "app/api/work/registration.hpp"
#include "app/api/work/worker_calls.hpp"
#include "app/json/writer.hpp"
#include "messages/tickets.hpp"
#include "store/content_hash.hpp"

namespace fairlead::app::api {

namespace {

/// A session that moves does not wait for its shard, which looks at the session again when the worker's host registers there.
constexpr duration patience_of_moves = std::chrono::seconds{2};

struct registration {
  v1::RegisterAgent as;
  std::optional<session_text> former;
  std::vector<std::string> have;
  bool may_be_copy = false;
};

/// Of what the body says, however it is written.
std::string digest_of(const v1::RegisterAgent& as, bool take_over) {
  return store::content_hash(as.SerializeAsString() + (take_over ? "take_over" : ""));
}

bool may_pass(v1::ErrorCode code) {
  return code == v1::ERROR_CODE_UNAVAILABLE || code == v1::ERROR_CODE_TIMED_OUT || code == v1::ERROR_CODE_STALE_EPOCH;
}

void carry(const exchange_ptr& x, registration what, std::uint64_t incarnation, std::string session) {
  workers::beginning first;
  first.as = std::move(what.as);
  first.as.set_incarnation(incarnation);
  first.as.set_session(session);
  first.moved = what.former || what.may_be_copy;
  first.moves = what.former ? what.former->moves + 1 : 0;
  first.have = std::move(what.have);
  first.owner = owner_of(*x);
  const session_text shown{std::move(session), first.moves};
  const auto id = x->in().workers->carry(std::move(first));
  if (!id) return x->refuse(id.failure());
  json_writer out;
  out.begin_object().key("worker").string(*id).key("session").string(to_text(shown)).key("incarnation").number(incarnation);
  out.key("silence_ms").number(std::int64_t{agents::worker_silence.count()});
  out.key("max_wait_ms").number(std::int64_t{agents::longest_take.count()});
  x->say(201, out.end_object().text(), {{"Location", "/v1/workers/" + *id}});
}

/// False: the audit cannot be written, so the request was refused.
bool note_registration(const exchange_ptr& x, const std::string& instance) {
  if (!x->note_in_audit()) return false;
  x->note_object(instance);
  return true;
}

/// Of a session that goes on, which is a worker that comes back, the audit has only that it is none of the worker's own.
bool is_foreign(v1::ErrorCode code) { return code == v1::ERROR_CODE_FORBIDDEN || code == v1::ERROR_CODE_CONFLICT; }

/// False: the session is none of this instance, and the request was refused.
bool names_instance(const exchange_ptr& x, const registration& what, std::optional<session_name>& named) {
  if (!what.former) return true;
  named = read_session(what.former->words);
  if (named && named->agent == what.as.agent() && named->instance == what.as.instance()) return true;
  if (!note_registration(x, what.as.instance())) return false;
  x->refuse_at("/session", invalid("Field 'session' is no session of the worker instance " + what.as.instance() + ".",
                                   "Give `session` of the former registration of this agent and instance as it was, or null."));
  return false;
}

}  // namespace

void register_worker(exchange_ptr x) {
  asked_registration asked;
  if (x->refuse_rest() || !x->read_body(asked.fields())) return;
  std::string pointer;
  auto as = asked.read(pointer);
  if (!as) return x->refuse_at(pointer, as.failure());
  if (!x->by().may_work_for(as->agent()))
    return x->refuse(
        {"forbidden",
         x->who() + " may not work for the agent " + as->agent() + ".",
         "Ask with a token of this agent (fairlead token create --agent " + as->agent() + "), or register as one that the token names.",
         {},
         {},
         false});
  const auto key = x->action_key();
  if (x->is_over()) return;
  if (asked.take_over && key.empty())
    return x->refuse_at("Idempotency-Key",
                        invalid("A registration with take_over needs the header Idempotency-Key: a copy of it must not take over "
                                "the process that the first has begun.",
                                "Send a key of your own that is new for each process."));
  if (!takes_workers(*x) || (!asked.session && !note_registration(x, as->instance()))) return;
  if (asked.take_over) x->note_action("take_over", {});
  registration what{std::move(*as), asked.session ? read_session_text(*asked.session) : std::nullopt, std::move(asked.have), false};
  std::optional<session_name> named;
  if (!names_instance(x, what, named)) return;

  v1::WorkerSessionRequest request;
  request.set_name(what.as.agent());
  request.set_instance(what.as.instance());
  if (what.former) request.set_session(what.former->words);
  request.set_take_over(asked.take_over);
  request.set_vouched(asked.take_over && x->by().has(right::vouch));
  request.set_who(x->who());
  request.set_key(key);
  request.set_digest(digest_of(what.as, asked.take_over));
  // It may be a copy of an earlier one, whose worker holds attempts already.
  what.may_be_copy = !key.empty();
  const auto wait = what.former ? patience_of_moves - answer_limit : duration{};
  x->ask_any<v1::WorkerSessionRequest>(std::move(request), wait,
                                       [x, what = std::move(what), named = std::move(named)](const result<v1::WorkerSessionReply>& answer) {
                                         if (answer) return carry(x, what, answer->incarnation(), answer->session());
                                         if (named && may_pass(answer.failure().code))
                                           return carry(x, what, named->incarnation, what.former->words);
                                         if (named && is_foreign(answer.failure().code) && !note_registration(x, what.as.instance()))
                                           return;
                                         x->refuse(answer.failure());
                                       });
}

}  // namespace fairlead::app::api
