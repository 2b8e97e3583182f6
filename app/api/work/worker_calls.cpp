#include "app/api/work/worker_calls.hpp"

#include <utility>

#include "actors/core/text/text.hpp"
#include "actors/workers/workers.hpp"
#include "app/access/audit_list.hpp"
#include "app/door/problem.hpp"

namespace fairlead::app::api {

namespace {

constexpr std::size_t most_noted_ticket = 80;

door::problem gone(const std::string& worker) {
  return {"gone",
          "This node does not carry the worker " + worker + " (any more).",
          "Register again (POST /v1/workers) with the session of the former registration, and name in `have` all tickets that the worker "
          "holds.",
          {},
          {},
          false};
}

/// Whoever guesses tries it many times, so it is noted only so often.
void note_unless_noise(const exchange& x, const std::string& kind, audit_entry what) {
  const auto& in = x.in();
  if (!in.audit || in.access->is_noise(kind + " of " + owner_of(x), in.time->now())) return;
  in.audit->note(what, [](const status&) {});
}

}  // namespace

std::string owner_of(const exchange& x) { return x.by().kind + " " + x.by().name; }

bool takes_workers(exchange& x) {
  if (x.in().workers) return true;
  x.refuse(error{v1::ERROR_CODE_UNAVAILABLE, "This node takes no workers.", "Ask another node, or try again once this node has started."});
  return false;
}

void call_worker(const exchange_ptr& x, std::function<void(agents::worker_session&)> then) {
  if (!takes_workers(*x)) return;
  x->in().workers->call(x->part(0), owner_of(*x), [x, then = std::move(then)](agents::worker_session* worker) {
    worker != nullptr ? then(*worker) : refuse_as_gone(x);
  });
}

void refuse_as_gone(const exchange_ptr& x) {
  const auto why = gone(x->part(0));
  // A worker whose node has started again asks for its former id, and does no wrong.
  if (!x->in().workers->is_of_another(x->part(0), owner_of(*x))) return x->refuse(why);
  auto entry = audit_entry_of(x->in(), x->by(), x->what());
  entry.status = door::find_problem_kind(why.code)->status;
  entry.code = why.code;
  note_unless_noise(*x, "gone", std::move(entry));
  x->refuse(why);
}

void refuse_of_worker(const exchange_ptr& x, const error& why) {
  why.code == v1::ERROR_CODE_NOT_FOUND ? refuse_as_gone(x) : x->refuse(why);
}

bool read_items(exchange& x, const std::vector<json_field>& fields, const bool& is_too_large) {
  if (!x.takes_json()) return false;
  std::string pointer;
  const auto read = read_json_object(x.text().empty() ? "{}" : std::string_view{x.text()}, "The body", fields, pointer);
  if (read) return true;
  if (!is_too_large) {
    x.refuse_at(pointer, read.failure());
    return false;
  }
  const auto& why = read.failure();
  x.refuse({"too_large", why.sentence, why.remedy, {{pointer, why.sentence, why.remedy}}, {}, false});
  return false;
}

void note_not_held(const exchange& x, const std::string& verb, const std::string& ticket, const std::string& why) {
  auto entry = audit_entry_of(x.in(), x.by(), x.what());
  entry.verb = verb;
  entry.reason = "not held: " + core::clean_text(ticket, most_noted_ticket) + (why.empty() ? "" : ": " + core::clean_text(why, 200));
  set_end(entry, v1::ERROR_CODE_WRONG_STATE);
  note_unless_noise(x, "not held", std::move(entry));
}

}  // namespace fairlead::app::api
