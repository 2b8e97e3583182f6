// /v1/alerts, and the brake on mass undo.

#include <utility>

#include "actors/core/alert_words.hpp"
#include "actors/core/request_limits.hpp"
#include "app/api/api.hpp"
#include "app/api/query.hpp"
#include "app/json/node/alerts.hpp"

namespace fairlead::app::api {

namespace {

constexpr v1::AlertState alert_states[] = {v1::ALERT_STATE_OPEN, v1::ALERT_STATE_ACKNOWLEDGED, v1::ALERT_STATE_RESOLVED};

}  // namespace

void list_alerts(exchange_ptr x) {
  const page_asked page{*x};
  v1::AlertListRequest list;
  list.set_partial(true);
  list.set_page_size(page.size);
  list.set_before(page.number(*x));
  for (const auto& word : x->parameters("state")) {
    const auto count = list.states_size();
    for (const auto state : alert_states)
      if (word == core::alert_state_word(state)) list.add_states(state);
    if (list.states_size() == count)
      x->refuse_at("state", invalid("There is no state '" + word + "'.", "States are open, acknowledged and resolved."));
  }
  take_text(*x, "task", [&](const std::string& id) { list.set_task_id(id); });
  if (x->refuse_rest()) return;
  x->ask<v1::AlertListRequest>(list, [x, page](const v1::AlertListReply& reply) {
    json_writer out;
    out.begin_object().key("items").begin_array();
    for (const auto& alert : reply.items()) out.raw(alert_json(alert));
    page.write_next(out.end_array(), reply.before() == 0 ? "" : std::to_string(reply.before()));
    x->say(200, out.key("missing").raw(missing_json(reply.missing())).end_object().text());
  });
}

void show_alert(exchange_ptr x) {
  std::uint64_t number = 0;
  if (!read_number(x->part(0), number))
    x->refuse(error{v1::ERROR_CODE_NOT_FOUND, "There is no alert " + x->part(0) + ".", "Alerts have numbers."});
  if (x->refuse_rest()) return;
  v1::AlertShowRequest request;
  request.set_number(number);
  x->ask<v1::AlertShowRequest>(request, [x](const v1::AlertShowReply& reply) { x->say_resource(0, alert_json(reply.alert())); });
}

void acknowledge_alerts(exchange_ptr x) {
  v1::AlertAckRequest request;
  std::string note;
  const auto take = [&](std::size_t, std::string_view value, std::string&) -> status {
    std::uint64_t number = 0;
    if (!read_number(value, number) || number == 0)
      return invalid("Each item must be the number of an alert, " + found_kind(value), "Give numbers that GET /v1/alerts has.");
    request.add_numbers(number);
    return nothing{};
  };
  if (x->refuse_rest()) return;
  if (!x->read_body({{"numbers", each_into(max_request_items, take), true}, {"note", text_into(note)}})) return;
  x->note_action("ack", note);
  for (const auto number : request.numbers()) x->note_object(std::to_string(number));
  request.set_who(x->who());
  request.set_note(note);
  x->ask<v1::AlertAckRequest>(request, [x, request](const v1::AlertAckReply& reply) {
    for (int i = 0; i < reply.results_size() && i < request.numbers_size(); ++i)
      x->note_object(std::to_string(request.numbers(i)), reply.results(i).error().code());
    x->say(200, acknowledged_json(request, reply));
  });
}

void release_brake(exchange_ptr x) {
  v1::BrakeReleaseRequest request;
  if (x->refuse_rest()) return;
  if (!x->read_body({{"reason", text_into(*request.mutable_reason())}})) return;
  x->note_action("release", request.reason());
  request.set_who(x->who());
  x->ask<v1::BrakeReleaseRequest>(request, [x](const v1::BrakeReleaseReply& reply) { x->say(200, brake_release_json(reply)); });
}

}  // namespace fairlead::app::api
