// /v1/jobs: lists, single jobs and their launches.

#include <memory>
#include <utility>

#include "actors/core/job/job.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/system/time_zones.hpp"
#include "app/api/api.hpp"
#include "app/api/query.hpp"
#include "app/json/job/jobs.hpp"
#include "app/json/job/next.hpp"

namespace fairlead::app::api {

void list_jobs(exchange_ptr x) {
  const page_asked page{*x};
  v1::JobListRequest list;
  list.set_partial(true);
  list.set_page_size(page.size);
  list.set_after(page.cursor);
  take_text(*x, "workflow", [&](const std::string& name) { list.set_workflow(name); });
  take_text(*x, "name_contains", [&](const std::string& part) { list.set_name_contains(part); });
  take_flag(*x, "paused", [&](bool on) { list.set_paused(on); });
  take_flag(*x, "failing", [&](bool on) { list.set_failing(on); });
  take_labels(*x, *list.mutable_labels());
  if (x->refuse_rest()) return;
  x->ask<v1::JobListRequest>(list, [x, page](const v1::JobListReply& reply) {
    json_writer out;
    out.begin_object().key("items").begin_array();
    for (const auto& job : reply.items()) write_job_summary(out, job);
    page.write_end(out.end_array(), reply.after(), reply);
    x->say(200, out.text());
  });
}

void show_job(exchange_ptr x) {
  v1::JobShowRequest request;
  request.set_name(x->part(0));
  take_number(*x, "coming", 1U, 100U, [&](std::uint32_t count) { request.set_coming(count); });
  if (x->refuse_rest()) return;
  x->ask<v1::JobShowRequest>(request, [x](v1::JobShowReply& reply) {
    // Which open launches are parked, the tasks know.
    v1::StatesRequest states;
    for (const auto& open : reply.job().open())
      if (open.state() == v1::LAUNCH_STATE_STARTED && states.ids_size() < max_request_items)
        states.add_ids(core::launch_id(reply.job().spec().name(), open.nominal_unix_ms()));
    const auto say = [x](const v1::JobShowReply& job, const parked_launches& parked) {
      x->say_resource(job.job().revision(), job_show_json(job, parked));
    };
    if (states.ids().empty() || !x->by().has(right::see_tasks)) return say(reply, {});
    x->ask_any<v1::StatesRequest>(states, {}, [say, states, job = std::move(reply)](const result<v1::StatesReply>& known) {
      parked_launches parked;
      const auto& name = job.job().spec().name();
      if (known)
        for (const auto& open : job.job().open())
          for (const auto& one : known->items())
            if (one.parked() && one.id() == core::launch_id(name, open.nominal_unix_ms())) parked.insert(open.nominal_unix_ms());
      say(job, parked);
    });
  });
}

void list_launches(exchange_ptr x) {
  const page_asked page{*x};
  v1::JobHistoryRequest request;
  request.set_name(x->part(0));
  request.set_page_size(page.size);
  const auto before = page.number(*x);
  std::int64_t from = 0, to = 0;
  take_moment(*x, "from", from);
  take_moment(*x, "to", to);
  take_flag(*x, "launches_only", [&](bool on) { request.set_launches_only(on); });
  if (x->refuse_rest()) return;
  request.set_from_unix_ms(from);
  request.set_to_unix_ms(to);
  request.set_before_unix_ms(static_cast<std::int64_t>(before));
  x->ask<v1::JobHistoryRequest>(request, [x, page](const v1::JobHistoryReply& reply) {
    json_writer out;
    out.begin_object().key("items").begin_array();
    for (const auto& entry : reply.items()) write_launch_entry(out, entry);
    page.write_next(out.end_array(), reply.before_unix_ms() == 0 ? "" : std::to_string(reply.before_unix_ms()));
    x->say(200, out.end_object().text());
  });
}

void show_next_times(exchange_ptr x) {
  next_question what;
  if (x->refuse_rest()) return;
  if (!x->read_body({{"schedule", text_into(what.expression), true},
                     {"time_zone", text_into(what.zone)},
                     {"dst", text_into(what.dst)},
                     {"after", text_into(what.after)},
                     {"count", number_into(what.count)},
                     {"job", text_into(what.job)}}))
    return;
  std::string field;
  const auto answer = coming_instants(what, time_zones::of_system(), to_unix_ms(x->in().time->now()), &field);
  if (!answer) return x->refuse_at("/" + field, answer.failure());
  json_writer out;
  out.begin_object().key("items").raw(next_json(*answer)).key("remark").text_or_null(answer->remark);
  x->say(200, out.end_object().text());
}

}  // namespace fairlead::app::api
