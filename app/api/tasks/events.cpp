// GET /v1/tasks/{id}/events and /v1/operations/{id}/events: what happens to a task, as server-sent events (HTML Living Standard, 9.2).

#include <chrono>
#include <memory>
#include <utility>

#include "app/api/api.hpp"
#include "app/api/query.hpp"
#include "app/api/tasks/operations.hpp"
#include "app/bulk/operation.hpp"
#include "app/json/task.hpp"
#include "messages/task_states.hpp"

namespace fairlead::app::api {

namespace {

/// Something is sent at least this often, so that proxies and clients see that the stream lives.
constexpr duration quiet_at_most = std::chrono::seconds{15};
/// An operation tells several times a second how far it has come.
constexpr duration between_progress = std::chrono::seconds{1};

struct place_in_task {
  std::uint64_t sequence = 0;
  std::int64_t progress_unix_ms = 0;
};

/// The task that a stream is about.
struct followed {
  std::string id;
  bool is_operation = false;
  place_in_task at{};
  std::string shown{};  // of an operation: how far it had come when this was sent last
};
using followed_ptr = std::shared_ptr<followed>;

std::string event_text(const char* kind, const std::string& json, std::uint64_t sequence = 0) {
  return (sequence == 0 ? "" : "id: " + std::to_string(sequence) + "\n") + "event: " + kind + "\ndata: " + json + "\n\n";
}

/// The progress of an operation is sent in another form (send_news).
std::string events_of(const v1::WatchReply& reply, followed& of) {
  std::string out;
  auto& at = of.at;
  for (const auto& event : reply.events()) {
    const auto step = path_of(reply, event);
    out += event_text(step.empty() ? "state" : "step", event_json(event, step), event.sequence());
    at.sequence = event.sequence();
  }
  auto newest = at.progress_unix_ms;
  for (const auto& one : reply.progress()) {
    if (one.progress().at_unix_ms() <= at.progress_unix_ms) continue;
    if (!of.is_operation) out += event_text("progress", progress_json(one));
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

/// The id makes a client that is cut off here come again from the beginning.
const std::string& reset_text() {
  static const std::string text =
      "id: 0\n" +
      event_text("reset",
                 json_writer{}
                     .begin_object()
                     .key("reason")
                     .string("The task has no event of this number: the client knows another history, such as that before a restore.")
                     .end_object()
                     .text());
  return text;
}

/// What the client gets in place of a stream.
void refuse(const exchange_ptr& x, const followed& of, const error& why) {
  of.is_operation&& why.code == v1::ERROR_CODE_NOT_FOUND ? x->refuse(unknown_operation(x->part(0))) : x->refuse(why);
}

/// Of a task that has ended: the events behind the place that its record or its archive has, unless the answer has them; all if the place
/// is none of them. None if the record of a task
/// was deleted; an operation is not known any more then.
void read_whole(const exchange_ptr& x, const followed_ptr& of, const v1::WatchReply& end,
                std::function<void(const result<v1::WatchReply>&)> then) {
  v1::TaskShowRequest request;
  request.set_id(of->id);
  x->ask_any<v1::TaskShowRequest>(request, {},
                                  [of, end = v1::WatchReply{end}, then = std::move(then)](const result<v1::TaskShowReply>& reply) mutable {
                                    if (!reply && (of->is_operation || reply.failure().code != v1::ERROR_CODE_NOT_FOUND))
                                      return then(reply.failure());
                                    if (reply && of->is_operation) of->shown = bulk::operation_json(reply->task());
                                    if (reply && end.events().empty()) {
                                      end.set_latest(reply->task().history_size());
                                      const auto after = is_ahead(of->at.sequence, end) ? 0 : of->at.sequence;
                                      for (const auto& step : reply->task().steps()) end.add_step_paths(step.path());
                                      for (const auto& event : reply->task().recent())
                                        if (event.sequence() > after) *end.add_events() = event;
                                    }
                                    then(end);
                                  });
}

void send_end(const exchange_ptr& x, const v1::WatchReply& reply, followed& of) {
  std::string text;
  if (is_ahead(of.at.sequence, reply)) {
    text = reset_text();
    of.at = {};
  }
  text += events_of(reply, of);
  // Of a task whose record is gone there are no events. The client needs a place all the same, so that it is told "no more" when it comes again.
  x->send(text + event_text("end", of.is_operation ? of.shown : end_json(reply), of.at.sequence == 0 ? 1 : 0));
  x->end_stream();
}

/// Sends events and, of an operation, how far it has come, if that has changed.
void send_news(const exchange_ptr& x, const followed_ptr& of, std::string text, std::function<void()> then) {
  const auto send = [x, then = std::move(then)](std::string all) {
    x->send(all.empty() ? ": nothing new\n\n" : std::move(all));
    then();
  };
  if (!of->is_operation) return send(std::move(text));
  v1::TaskShowRequest request;
  request.set_id(of->id);
  x->ask_any<v1::TaskShowRequest>(request, {}, [x, of, text = std::move(text), send](const result<v1::TaskShowReply>& reply) {
    if (!reply) return say_bye(x, reply.failure().sentence);
    auto json = bulk::operation_json(reply->task());
    if (json == of->shown) return send(text);
    of->shown = std::move(json);
    send(text + event_text("progress", of->shown));
  });
}

void follow(const exchange_ptr& x, const followed_ptr& of, bool has_begun) {
  if (x->is_over()) return;
  v1::WatchRequest request;
  request.set_id(of->id);
  request.set_after_sequence(of->at.sequence);
  request.set_answer_if_ahead(true);
  request.set_after_progress_unix_ms(
      std::max<std::int64_t>(of->at.progress_unix_ms + (of->is_operation ? between_progress.count() - 1 : 0), 1));
  // The first answer comes at once, so that a task that does not exist is refused, and not streamed.
  request.set_wait_ms(has_begun ? quiet_at_most.count() : 0);
  x->ask_any<v1::WatchRequest>(request, has_begun ? quiet_at_most : duration{0}, [x, of, has_begun](const result<v1::WatchReply>& reply) {
    if (!has_begun) {
      if (!reply) return refuse(x, *of, reply.failure());
      if (has_ended(reply->state()) && (reply->events().empty() || of->is_operation))
        return read_whole(x, of, *reply, [x, of](const result<v1::WatchReply>& whole) {
          if (!whole) return refuse(x, *of, whole.failure());
          // A client that reconnects by itself behind the end takes 204 for "no more".
          if (whole->events().empty() && of->at.sequence != 0) return x->say(204, "");
          begin(x);
          send_end(x, *whole, *of);
        });
      begin(x);
    }
    if (!reply) return say_bye(x, reply.failure().sentence);
    if (!x->may_go_on())
      return say_bye(x, "Whoever began this stream may not go on: a token or certificate has ended or was revoked, or has other rights.");
    if (has_ended(reply->state())) {
      // The record may have been archived between two answers.
      if (!reply->events().empty() && !of->is_operation) return send_end(x, *reply, *of);
      return read_whole(x, of, *reply, [x, of](const result<v1::WatchReply>& whole) {
        whole ? send_end(x, *whole, *of) : say_bye(x, whole.failure().sentence);
      });
    }
    if (is_ahead(of->at.sequence, *reply)) {
      x->send(reset_text());
      of->at = {};
      return follow(x, of, true);
    }
    send_news(x, of, events_of(*reply, *of), [x, of] { follow(x, of, true); });
  });
}

void begin_to_follow(const exchange_ptr& x, followed of) {
  take_number(*x, "after", std::uint64_t{0}, ~std::uint64_t{0}, [&](std::uint64_t sequence) { of.at.sequence = sequence; });
  if (x->refuse_rest()) return;
  // What the client itself has seen goes before where it began.
  const auto last = door::find_header(x->what().head, "Last-Event-ID");
  if (last && !last->empty() && !read_number(*last, of.at.sequence))
    return x->refuse_at("Last-Event-ID",
                        invalid("The header Last-Event-ID is no sequence number.", "Send the id of the last event that came."));
  follow(x, std::make_shared<followed>(std::move(of)), false);
}

}  // namespace

void show_events(exchange_ptr x) { begin_to_follow(x, {x->part(0)}); }

void show_operation_events(exchange_ptr x) { begin_to_follow(x, {bulk::task_of_operation(x->part(0)), true}); }

}  // namespace fairlead::app::api
