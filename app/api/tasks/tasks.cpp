// /v1/tasks: lists and single tasks.

#include <chrono>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/text.hpp"
#include "app/api/api.hpp"
#include "app/api/query.hpp"
#include "app/door/range.hpp"
#include "app/json/node/task_filters.hpp"
#include "app/json/task.hpp"
#include "app/json/words.hpp"
#include "messages/payloads.hpp"
#include "messages/task_states.hpp"
#include "store/archive_day.hpp"

namespace fairlead::app::api {

namespace {

constexpr std::size_t most_head_bytes = 2'048;  // of a payload, where only its head is asked for

/// What all lists of tasks take.
v1::TaskListRequest begin_list(exchange& from, const page_asked& page, bool of_ended) {
  v1::TaskListRequest out;
  out.set_partial(true);
  out.set_page_size(page.size);
  out.set_cursor(page.cursor);
  for (const auto& word : from.parameters("state")) {
    const auto state = task_state_from_word(word);
    if (state && (!of_ended || has_ended(*state)))
      out.add_states(*state);
    else if (state)
      from.refuse_at("state", invalid("Tasks that are " + word + " have not ended.", "Leave this state out, or use GET /v1/tasks."));
    else
      from.refuse_at("state", invalid("There is no state '" + word + "'.", "States are " + task_state_words() + "."));
  }
  for (const auto& one : task_texts)
    if (!of_ended || !one.of_parked)
      take_text(from, one.name, [&](const std::string& text) {
        if (text.size() > one.most_bytes || text.find('\0') != std::string::npos)
          from.refuse_at(one.name, invalid("The parameter " + std::string{one.name} + " has more than " + std::to_string(one.most_bytes) +
                                               " bytes, or a zero byte.",
                                           "Give a name, a code, or the beginning of an id."));
        *(out.*one.of)() = text;
      });
  for (const auto& one : task_flags)
    if (!of_ended || one.of_ended) take_flag(from, one.name, [&](bool on) { (out.*one.set)(on); });
  if (const auto why = misfit_of_parents(out, "The parameter parent", "top_level")) from.refuse_at("parent", *why);
  take_labels(from, *out.mutable_labels());
  return out;
}

/// `until`: the name of the parameter that has the end of the time.
void check_times(exchange& from, const std::string& until, const v1::TaskListRequest& what) {
  if (what.ended_until_unix_ms() != 0 && what.ended_until_unix_ms() <= what.ended_since_unix_ms())
    from.refuse_at(until, invalid("The moment of " + until + " is not after that since which tasks have ended.", "Give a later moment."));
}

v1::TaskListRequest read_list(exchange& from, const page_asked& page) {
  auto out = begin_list(from, page, false);
  for (const auto& one : task_times) {
    std::int64_t ms = 0;
    one.is_moment ? take_moment(from, one.name, ms) : take_age(from, one.name, ms);
    (out.*one.set)(ms);
  }
  check_times(from, "ended_until", out);
  return out;
}

constexpr std::int64_t day_ms = std::chrono::milliseconds{std::chrono::days{1}}.count();

/// `day=2026-11-22`: from the beginning of the day, in UTC, to that of the next. Or from `since` to `until`, moments.
void take_days(exchange& from, v1::TaskListRequest& out) {
  const auto given = from.parameter("day");
  std::int64_t since = 0, until = 0;
  take_moment(from, "since", since);
  take_moment(from, "until", until);
  if (given && (since != 0 || until != 0)) {
    from.refuse_at("day", invalid("The parameters day and since or until are given together.", "Give a day, or the other two."));
    return;
  }
  if (since != 0 || until != 0) {
    out.set_ended_since_unix_ms(since);
    out.set_ended_until_unix_ms(until);
    check_times(from, "until", out);
    return;
  }
  const auto day = given ? store::parse_day(*given) : std::nullopt;
  if (!day || *day < 1) {
    from.refuse_at("day", invalid(given ? "'" + *given + "' is no day since 1970-01-02." : "The parameter day is missing.",
                                  "Give a day in UTC, such as 2026-11-22, or the moments since and until."));
    return;
  }
  out.set_ended_since_unix_ms(*day * day_ms);
  out.set_ended_until_unix_ms((*day + 1) * day_ms);
  if (out.ended_since_unix_ms() > to_unix_ms(from.in().time->now()))
    from.refuse(error{v1::ERROR_CODE_NOT_FOUND, "The day " + *given + " has not begun.", "Give an earlier day. Days are those of UTC."});
}

void say_tasks(exchange& to, const page_asked& page, const v1::TaskListReply& reply) {
  json_writer out;
  out.begin_object().key("items").begin_array();
  for (const auto& task : reply.items()) out.raw(task_summary_json(task));
  page.write_end(out.end_array().key("by").text_or_null(reply.by()), reply.cursor(), reply);
  to.say(200, out.text());
}

/// How much of the payloads is shown: `?payloads=`.
enum class payloads { none, head, full };

payloads take_payloads(exchange& from) {
  auto out = payloads::full;
  take_text(from, "payloads", [&](const std::string& word) {
    if (word == "full") return;
    out = word == "head" ? payloads::head : payloads::none;
    if (word != "head" && word != "none")
      from.refuse_at("payloads", invalid("The parameter payloads is not one of its words.", "Give none, head or full."));
  });
  return out;
}

/// In place of each payload the beginning of its text, and its length.
void cut_payloads(v1::TaskRecord& task) {
  const auto cut = [](v1::Payload& one) {
    if (one.json().empty()) return;
    json_writer out;
    out.begin_object().key("head").string(core::clean_text(one.json(), most_head_bytes));
    one.set_json(out.key("bytes").number(std::uint64_t{one.json().size()}).end_object().text());
  };
  for (auto& signal : *task.mutable_signals()) signal.mutable_data()->set_size(size_of(signal.data()));
  for_each_value(task, cut);
}

void say_task(const exchange_ptr& x, v1::TaskShowReply reply, payloads shown, const known_agents& agents) {
  if (shown == payloads::none || !x->by().sees_payloads()) hide_payloads(*reply.mutable_task());
  if (shown == payloads::head) cut_payloads(*reply.mutable_task());
  x->say_resource(reply.task().history_size(), task_show_json(reply, agents));
}

void show(const exchange_ptr& x, const std::string& id, payloads shown) {
  v1::TaskShowRequest request;
  request.set_id(id);
  x->ask<v1::TaskShowRequest>(request, [x, shown](v1::TaskShowReply& reply) {
    if (!may_wait_for_agent(reply) || !x->by().has(right::look)) return say_task(x, std::move(reply), shown, {});
    // Without that answer the task is shown all the same.
    x->ask_any<v1::StatusRequest>({}, {}, [x, shown, task = std::move(reply)](const result<v1::StatusReply>& status) {
      say_task(x, task, shown, status ? agents_of(*status) : known_agents{});
    });
  });
}

/// The part of it that the header Range asks for.
void say_payload(exchange& to, const std::string& json) {
  const auto length = std::to_string(json.size());
  door::headers more{
      {"Content-Disposition", "attachment"}, {"Content-Security-Policy", "sandbox; default-src 'none'"}, {"Accept-Ranges", "bytes"}};
  const auto asked = door::part_of(to.what().head, json.size());
  if (std::holds_alternative<door::beyond_body>(asked))
    return to.refuse({"range_not_satisfiable",
                      "The header Range begins behind the end: there are " + length + " bytes.",
                      "Ask for a part that begins before byte " + length + ", or leave the header out.",
                      {},
                      {{"Content-Range", "bytes */" + length}},
                      false});
  const auto* const part = std::get_if<door::body_part>(&asked);
  if (part == nullptr) return to.say(200, json, std::move(more));
  more.emplace_back("Content-Range",
                    "bytes " + std::to_string(part->first) + "-" + std::to_string(part->first + part->bytes - 1) + "/" + length);
  to.say(206, json.substr(part->first, part->bytes), std::move(more));
}

/// One payload as it is stored. A browser keeps it as a file, and runs nothing of it. `of`: it, of the task; null: there is none.
void show_payload(const exchange_ptr& x, std::function<const v1::Payload*(const v1::TaskRecord&, error& why)> of) {
  if (x->refuse_rest() || (!x->by().sees_payloads() && !x->may(right::payloads))) return;
  v1::TaskShowRequest request;
  request.set_id(x->part(0));
  x->ask<v1::TaskShowRequest>(request, [x, of = std::move(of)](const v1::TaskShowReply& reply) {
    error why;
    const auto* const payload = of(reply.task(), why);
    if (payload == nullptr) return x->refuse(why);
    say_payload(*x, payload->json().empty() ? "null" : payload->json());
  });
}

const v1::StepRecord* step_of(const v1::TaskRecord& task, const std::string& path, error& why) {
  for (const auto& one : task.steps())
    if (one.path() == path) return &one;
  why = {v1::ERROR_CODE_NOT_FOUND, "Task " + task.id() + " has no step " + path + ".", "The task itself lists its steps."};
  return nullptr;
}

/// Also before it was undone.
bool has_completed(const v1::StepRecord& step) {
  return step.state() == v1::STEP_STATE_COMPLETED || step.state() == v1::STEP_STATE_UNDOING || step.state() == v1::STEP_STATE_UNDONE;
}

}  // namespace

void hide_payloads(v1::TaskRecord& task) {
  for (auto& signal : *task.mutable_signals()) signal.mutable_data()->set_size(size_of(signal.data()));
  for_each_value(task, [](v1::Payload& one) { one.clear_json(); });
  for (auto& step : *task.mutable_steps()) step.clear_log();
}

void list_tasks(exchange_ptr x) {
  const page_asked page{*x};
  const auto list = read_list(*x, page);
  if (x->refuse_rest()) return;
  x->ask<v1::TaskListRequest>(list, [x, page](const v1::TaskListReply& reply) { say_tasks(*x, page, reply); });
}

void list_ended(exchange_ptr x) {
  const page_asked page{*x};
  auto list = begin_list(*x, page, true);
  take_days(*x, list);
  if (x->refuse_rest()) return;
  x->ask<v1::TaskListRequest>(list, [x, page, until = list.ended_until_unix_ms()](const v1::TaskListReply& reply) {
    const auto nothing_at_all = page.cursor.empty() && reply.cursor().empty() && reply.items().empty() && reply.missing().empty();
    if (nothing_at_all && until > 0 && until <= reply.kept_from_unix_ms())
      return x->refuse(error{v1::ERROR_CODE_NOT_FOUND, "The tasks that ended then are no longer kept.",
                             "To keep tasks longer, see retention.keep in the node file, and retention in workflows."});
    say_tasks(*x, page, reply);
  });
}

void list_states(exchange_ptr x) {
  std::vector<std::string> ids;
  if (x->refuse_rest()) return;
  if (!x->read_body({{"ids", texts_into(ids, max_request_items), true}})) return;
  v1::StatesRequest request;
  for (auto& id : ids) request.add_ids(std::move(id));
  x->ask<v1::StatesRequest>(request, [x](const v1::StatesReply& reply) {
    json_writer out;
    out.begin_object().key("items").begin_array();
    for (const auto& one : reply.items()) out.raw(state_json(one));
    x->say(200, out.end_array().end_object().text());
  });
}

void show_task(exchange_ptr x) {
  const auto wait = take_wait(*x);
  const auto shown = take_payloads(*x);
  std::uint64_t after = 0;
  take_number(*x, "after", std::uint64_t{0}, ~std::uint64_t{0}, [&](std::uint64_t sequence) { after = sequence; });
  if (x->refuse_rest()) return;
  const auto id = x->part(0);
  if (!wait) return show(x, id, shown);
  v1::WatchRequest request;
  request.set_id(id);
  request.set_after_sequence(after);
  request.set_wait_ms(wait->count());
  request.set_answer_if_ahead(true);
  x->ask<v1::WatchRequest>(
      request,
      [x, id, shown, after](const v1::WatchReply& reply) {
        if (!reply.events().empty() || has_ended(reply.state()) || is_ahead(after, reply)) return show(x, id, shown);
        x->say(204, "", {{"Next-After", std::to_string(after)}});
      },
      *wait);
}

void show_history(exchange_ptr x) {
  const page_asked page{*x};
  const auto after = page.number(*x);
  if (x->refuse_rest()) return;
  v1::TaskShowRequest request;
  request.set_id(x->part(0));
  x->ask<v1::TaskShowRequest>(request, [x, page, after](const v1::TaskShowReply& reply) {
    const auto& task = reply.task();
    json_writer out;
    out.begin_object().key("items").begin_array();
    auto left = page_size_of(page.size);
    std::uint64_t last = 0;
    for (const auto& event : task.recent()) {
      if (event.sequence() <= after) continue;
      if (left-- == 0) break;
      last = event.sequence();
      const auto step = static_cast<int>(event.step());
      out.raw(event_json(event, step > 0 && step <= task.steps_size() ? task.steps(step - 1).path() : ""));
    }
    page.write_next(out.end_array(), last == 0 || last == task.history_size() ? "" : std::to_string(last));
    x->say(200, out.end_object().text());
  });
}

void show_input(exchange_ptr x) {
  show_payload(x, [](const v1::TaskRecord& task, error&) { return &task.input(); });
}

void show_step_input(exchange_ptr x) {
  show_payload(x, [path = x->part(1)](const v1::TaskRecord& task, error& why) -> const v1::Payload* {
    const auto* const step = step_of(task, path, why);
    if (step == nullptr || step->has_input()) return step == nullptr ? nullptr : &step->input();
    if (has_completed(*step)) {
      why = {v1::ERROR_CODE_NOT_FOUND, "The input of step " + path + " of task " + task.id() + " is not kept: the step has completed.",
             "It was made of the task's input and the outputs of other steps, which are kept: fairlead task show " + task.id() +
                 " shows them."};
      return nullptr;
    }
    why = {v1::ERROR_CODE_WRONG_STATE, "Step " + path + " of task " + task.id() + " has no input yet.",
           "It gets one when it begins: fairlead task show " + task.id() + " shows what it waits for."};
    return nullptr;
  });
}

void show_step_output(exchange_ptr x) {
  show_payload(x, [path = x->part(1)](const v1::TaskRecord& task, error& why) -> const v1::Payload* {
    const auto* const step = step_of(task, path, why);
    if (step == nullptr || step->has_output()) return step == nullptr ? nullptr : &step->output();
    why = {v1::ERROR_CODE_WRONG_STATE, "Step " + path + " of task " + task.id() + " has no output.",
           "It has one once it is completed: fairlead task show " + task.id() + " shows its state."};
    return nullptr;
  });
}

}  // namespace fairlead::app::api
