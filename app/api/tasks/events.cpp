// GET /v1/tasks/{id}/events: what happens to a task, as server-sent events (HTML Living Standard, 9.2).

#include <chrono>
#include <utility>

#include "app/api/api.hpp"
#include "app/api/query.hpp"
#include "app/json/task.hpp"
#include "messages/task_states.hpp"

namespace fairlead::app::api {

namespace {

/// Something is sent at least this often, so that proxies and clients see that the stream lives.
constexpr duration quiet_at_most = std::chrono::seconds{15};

struct place_in_task {
  std::uint64_t sequence = 0;
  std::int64_t progress_unix_ms = 0;
};

std::string event_text(const char* kind, const std::string& json, std::uint64_t sequence = 0) {
  return (sequence == 0 ? "" : "id: " + std::to_string(sequence) + "\n") + "event: " + kind + "\ndata: " + json + "\n\n";
}

std::string events_of(const v1::WatchReply& reply, place_in_task& at) {
  std::string out;
  for (const auto& event : reply.events()) {
    const auto step = path_of(reply, event);
    out += event_text(step.empty() ? "state" : "step", event_json(event, step), event.sequence());
    at.sequence = event.sequence();
  }
  auto newest = at.progress_unix_ms;
  for (const auto& one : reply.progress()) {
    if (one.progress().at_unix_ms() <= at.progress_unix_ms) continue;
    out += event_text("progress", progress_json(one));
    newest = std::max(newest, std::int64_t{one.progress().at_unix_ms()});
  }
  at.progress_unix_ms = newest;
  return out;
}

void begin(const exchange_ptr& x) { x->begin_stream("retry: 2000\n\n"); }

/// The client comes again, and finds out what is wrong.
void say_bye(const exchange_ptr& x, const std::string& reason) {
  x->send("event: bye\ndata: " + json_writer{}.begin_object().key("reason").string(reason).end_object().text() + "\n\n");
  x->end_stream();
}

/// Of a task that has ended: the events behind `after` that its record or its archive has. None if the record was deleted.
void read_whole(const exchange_ptr& x, std::uint64_t after, const v1::WatchReply& end,
                std::function<void(const result<v1::WatchReply>&)> then) {
  v1::TaskShowRequest request;
  request.set_id(x->part(0));
  x->ask_any<v1::TaskShowRequest>(
      request, {}, [x, after, end = v1::WatchReply{end}, then = std::move(then)](const result<v1::TaskShowReply>& reply) mutable {
        if (!reply && reply.failure().code != v1::ERROR_CODE_NOT_FOUND) return then(reply.failure());
        if (reply) {
          for (const auto& step : reply->task().steps()) end.add_step_paths(step.path());
          for (const auto& event : reply->task().recent())
            if (event.sequence() > after) *end.add_events() = event;
        }
        then(end);
      });
}

void send_end(const exchange_ptr& x, const v1::WatchReply& reply, place_in_task at) {
  const auto text = events_of(reply, at);
  // Of a task whose record is gone there are no events. The client needs a place all the same, so that it is told "no more" when it comes again.
  x->send(text + event_text("end", end_json(reply), at.sequence == 0 ? 1 : 0));
  x->end_stream();
}

void follow(const exchange_ptr& x, place_in_task at, bool has_begun) {
  if (x->is_over()) return;
  v1::WatchRequest request;
  request.set_id(x->part(0));
  request.set_after_sequence(at.sequence);
  request.set_after_progress_unix_ms(std::max<std::int64_t>(at.progress_unix_ms, 1));
  // The first answer comes at once, so that a task that does not exist is refused, and not streamed.
  request.set_wait_ms(has_begun ? quiet_at_most.count() : 0);
  x->ask_any<v1::WatchRequest>(request, has_begun ? quiet_at_most : duration{0},
                               [x, at, has_begun](const result<v1::WatchReply>& reply) mutable {
                                 if (!has_begun) {
                                   if (!reply) return x->refuse(reply.failure());
                                   if (has_ended(reply->state()) && reply->events().empty())
                                     return read_whole(x, at.sequence, *reply, [x, at](const result<v1::WatchReply>& whole) {
                                       if (!whole) return x->refuse(whole.failure());
                                       // A client that reconnects by itself behind the end takes 204 for "no more".
                                       if (whole->events().empty() && at.sequence != 0) return x->say(204, "");
                                       begin(x);
                                       send_end(x, *whole, at);
                                     });
                                   begin(x);
                                 }
                                 if (!reply) return say_bye(x, reply.failure().sentence);
                                 if (!x->may_go_on())
                                   return say_bye(x,
                                                  "Whoever began this stream may not go on: a token or certificate has ended or was "
                                                  "revoked, or has other rights.");
                                 if (has_ended(reply->state())) {
                                   // The record may have been archived between two answers.
                                   if (!reply->events().empty()) return send_end(x, *reply, at);
                                   return read_whole(x, at.sequence, *reply, [x, at](const result<v1::WatchReply>& whole) {
                                     whole ? send_end(x, *whole, at) : say_bye(x, whole.failure().sentence);
                                   });
                                 }
                                 auto text = events_of(*reply, at);
                                 x->send(text.empty() ? ": nothing new\n\n" : std::move(text));
                                 follow(x, at, true);
                               });
}

}  // namespace

void show_events(exchange_ptr x) {
  place_in_task at;
  take_number(*x, "after", std::uint64_t{0}, ~std::uint64_t{0}, [&](std::uint64_t sequence) { at.sequence = sequence; });
  if (x->refuse_rest()) return;
  // What the client itself has seen goes before where it began.
  const auto last = door::find_header(x->what().head, "Last-Event-ID");
  if (last && !last->empty() && !read_number(*last, at.sequence))
    return x->refuse_at("Last-Event-ID",
                        invalid("The header Last-Event-ID is no sequence number.", "Send the id of the last event that came."));
  follow(x, at, false);
}

}  // namespace fairlead::app::api
