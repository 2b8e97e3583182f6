// /v1/tasks: submissions.

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/core/reserved.hpp"
#include "actors/core/schema/schema.hpp"
#include "actors/core/task/reason.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/json.hpp"
#include "app/api/api.hpp"
#include "app/api/query.hpp"
#include "app/json/api_request.hpp"
#include "app/json/fields.hpp"
#include "app/json/submission.hpp"
#include "app/json/task.hpp"
#include "messages/ids.hpp"
#include "messages/task_states.hpp"

namespace fairlead::app::api {

namespace {

std::string task_path(const std::string& id) { return "/v1/tasks/" + door::encode_percent(id); }

/// How the task was when it was waited for, and its output where it has one that whoever asks may see.
void say_end(const exchange_ptr& x, const v1::SubmitResult& taken, v1::TaskEnd end, int status) {
  const auto say = [x, taken, status](const v1::TaskEnd& as, const std::string& output) {
    x->say(status, submit_json(taken, &as, output), {{"Location", task_path(taken.id())}});
  };
  // Of a task in the archive only its state has been told.
  const auto may_be_archived = !taken.created() && has_ended(end.state());
  if (!may_be_archived && (!end.has_output() || !x->by().sees_payloads())) return say(end, "");
  v1::TaskShowRequest request;
  request.set_id(taken.id());
  x->ask_any<v1::TaskShowRequest>(std::move(request), {}, [say, end = std::move(end)](const result<v1::TaskShowReply>& shown) mutable {
    // An output that cannot be read is left out of the answer, and not said to be null.
    end.set_has_output(!shown || shown->task().has_output());
    if (shown) end.set_reason(core::reason_of(shown->task()));
    say(end, shown ? shown->task().output().json() : std::string{});
  });
}

/// Until the task has ended or is parked, or the time is over, in the place that was taken before the task was submitted. What goes wrong
/// meanwhile changes nothing: the task is submitted, and the answer does not say how it is.
void wait_for_end(const exchange_ptr& x, v1::SubmitResult taken, std::uint64_t after, std::chrono::steady_clock::time_point until) {
  if (x->is_over()) return;
  const auto left = std::max(std::chrono::duration_cast<duration>(until - std::chrono::steady_clock::now()), duration{0});
  v1::WatchRequest request;
  request.set_id(taken.id());
  request.set_after_sequence(after);
  request.set_wait_ms(left.count());
  x->ask_any<v1::WatchRequest>(request, left, [x, taken = std::move(taken), after, until](const result<v1::WatchReply>& reply) {
    const door::headers located{{"Location", task_path(taken.id())}};
    if (!reply) return x->say(202, submit_json(taken), located);
    const bool ended = has_ended(reply->state()) || reply->parked();
    if (ended || std::chrono::steady_clock::now() >= until) {
      v1::TaskEnd end;
      end.set_id(taken.id());
      end.set_state(reply->state());
      end.set_parked(reply->parked());
      end.set_reason(reply->reason());
      end.set_has_output(reply->has_output());
      return say_end(x, taken, end, ended ? taken.created() ? 201 : 200 : 202);
    }
    wait_for_end(x, taken, reply->events().empty() ? after : reply->events().rbegin()->sequence(), until);
  });
}

/// `nightly@2026-11-24T03:30:00Z`: whoever had a task of this id before its time would keep the job from launching it.
bool is_id_of_launch(const std::string& id) {
  const auto at = id.rfind('@');
  std::int64_t unix_ms = 0;
  return at != std::string::npos && parse_utc(id.substr(at + 1), unix_ms);
}

/// For a client that knows only its own tasks, an id that another has used is taken, whatever its task is.
void conceal_others(const exchange_ptr& x, v1::SubmitReply reply, std::function<void(v1::SubmitReply&)> then) {
  const auto was_there = [](const v1::SubmitResult& one) {
    return one.error().code() == v1::ERROR_CODE_CONFLICT || (one.error().code() == v1::ERROR_CODE_OK && !one.created());
  };
  v1::StatesRequest states;
  if (x->by().sees_only_own())
    for (const auto& one : reply.results())
      if (was_there(one)) states.add_ids(one.id());
  if (states.ids().empty()) return then(reply);
  x->ask<v1::StatesRequest>(states, [was_there, kept = std::move(reply), then = std::move(then)](const v1::StatesReply& known) mutable {
    std::set<std::string> others;
    for (const auto& one : known.items())
      if (one.state() == v1::TASK_STATE_UNSPECIFIED) others.insert(one.id());
    for (auto& one : *kept.mutable_results())
      if (was_there(one) && others.count(one.id()) != 0)
        *one.mutable_error() =
            error{v1::ERROR_CODE_CONFLICT, "Task " + one.id() + " exists, and was submitted by somebody else.", "Use another id."}
                .to_proto();
    then(kept);
  });
}

door::problem large_input() {
  const std::string sentence = "The input has more than 256 KiB.", remedy = "Keep large data elsewhere and give a reference to it.";
  return {"too_large", sentence, remedy, {{"/input", sentence, remedy}}, {}, false};
}

/// `keyed`: the id is a key that the client made up for this request.
void submit(const exchange_ptr& x, v1::Submission item, bool keyed) {
  const auto wait = take_wait(*x);
  if (x->refuse_rest()) return;
  if (item.workflow().empty()) return x->refuse_at("/workflow", invalid("The body names no workflow.", R"(Give "workflow": NAME.)"));
  if (item.input().size() > max_input_bytes) return x->refuse(large_input());
  std::string pointer;
  if (const auto why = refuse_for(x->by(), item, pointer))
    return x->refuse_at(keyed && pointer == "/id" ? "Idempotency-Key" : pointer, *why);
  if (wait && !x->take_place_to_wait()) return;
  set_submitter(*x, item);
  v1::SubmitRequest request;
  *request.add_items() = std::move(item);
  const auto say = [x, wait, keyed](v1::SubmitReply& reply) {
    if (reply.results().empty()) return x->refuse(error{v1::ERROR_CODE_INTERNAL, "The answer has no result.", "Report this as a bug."});
    auto& taken = *reply.mutable_results(0);
    const auto& why = taken.error();
    const auto is_there = why.code() == v1::ERROR_CODE_CONFLICT || (why.code() == v1::ERROR_CODE_OK && !taken.created());
    if (is_there && x->is_any("If-None-Match"))
      return x->refuse(error{v1::ERROR_CODE_CHANGED, "Task " + taken.id() + " exists.", "Use another id, or leave If-None-Match out."});
    if (why.code() != v1::ERROR_CODE_OK) {
      auto refused = door::problem_of(error::from_proto(why));
      if (keyed && why.code() == v1::ERROR_CODE_CONFLICT) refused.code = "key_reused";
      for (auto& one : core::misfit_places(why.sentence()))
        refused.faults.push_back({"/input" + one.pointer, std::move(one.sentence), refused.remedy});
      return x->refuse(std::move(refused));
    }
    if (!wait) return x->say(taken.created() ? 201 : 200, submit_json(taken), {{"Location", task_path(taken.id())}});
    wait_for_end(x, std::move(taken), 0, std::chrono::steady_clock::now() + *wait);
  };
  x->ask<v1::SubmitRequest>(std::move(request), [x, say](v1::SubmitReply& reply) { conceal_others(x, std::move(reply), say); });
}

std::optional<v1::Submission> read_submission(exchange& x) {
  if (!x.takes_json()) return std::nullopt;
  std::string pointer;
  auto item = parse_submission(x.what().body, pointer);
  if (item) return std::move(*item);
  x.refuse_at(pointer, item.failure());
  return std::nullopt;
}

}  // namespace

void set_submitter(const exchange& x, v1::Submission& item) {
  const auto& from = x.what().from;
  item.set_submitted_by(x.by().is_known() ? x.who() : "");
  item.mutable_origin()->set_address(from.uid ? "unix:" + std::to_string(*from.uid) : from.address);
  item.mutable_origin()->set_token(x.by().token);
}

std::optional<error> refuse_for(const principal& by, const v1::Submission& item, std::string& pointer) {
  if (is_id_of_launch(item.id())) {
    pointer = "/id";
    return invalid("The id " + item.id() + " has the form of a launch of a job.", "Choose an id that does not end with @ and a moment.");
  }
  if (item.id() == "." || item.id() == "..") {
    pointer = "/id";
    return invalid("The id " + item.id() + " stands for another path in a URL, so that many clients cannot ask for the task.",
                   "Choose another id.");
  }
  if (item.id().starts_with(core::reserved_ids)) {
    pointer = "/id";
    return invalid("The id " + item.id() + " is one of the node's own operations.", "Choose another id, or use POST /v1/tasks:act.");
  }
  if (item.workflow() == core::operations_workflow) {
    pointer = "/workflow";
    return invalid("Tasks of the workflow " + item.workflow() + " are submitted by the node alone.",
                   "Use POST /v1/tasks:act to act on many tasks.");
  }
  if (item.reply().webhook().empty() || by.has(right::webhooks)) return std::nullopt;
  pointer = "/reply/webhook";
  return invalid(by.name + " may not have status events sent to a URL: the right webhooks is missing.",
                 "Ask for a token with the role webhooks, or fetch the events: fairlead replies.");
}

void put_task(exchange_ptr x) {
  auto item = read_submission(*x);
  if (!item) return;
  const auto& id = x->part(0);
  if (!item->id().empty() && item->id() != id)
    return x->refuse_at("/id", invalid("The id in the body is not that of the path.", "Leave it out."));
  if (!valid_task_id(id))
    return x->refuse(invalid("'" + id + "' is not a task id.", "An id has 1 to 256 characters of A-Z a-z 0-9 . _ : @ / -"));
  item->set_id(id);
  submit(x, std::move(*item), false);
}

void post_task(exchange_ptr x) {
  auto item = read_submission(*x);
  if (!item) return;
  const auto key = x->key();
  if (x->is_over()) return;
  if (key) {
    if (!valid_task_id(*key))
      return x->refuse_at("Idempotency-Key", invalid("The Idempotency-Key is not a task id, which it becomes.",
                                                     "A key has 1 to 256 characters of A-Z a-z 0-9 . _ : @ / -"));
    if (!item->id().empty() && item->id() != *key)
      return x->refuse_at("/id", invalid("The id in the body is not the Idempotency-Key.", "Give one of the two."));
    item->set_id(*key);
  }
  if (item->id().empty()) item->set_id(make_uuid_v7(to_unix_ms(x->in().time->now())));
  submit(x, std::move(*item), key.has_value());
}

namespace {

/// The id of an item that is refused, an object or not; empty: it has none that is a text.
std::string id_in(std::string_view item) {
  std::string out;
  if (!item.starts_with('{')) return out;
  // A value that is not a text is passed over.
  static_cast<void>(for_each_json_member(item, [&](const std::string& name, std::string_view value) -> status {
    if (name == "id" && value.starts_with('"')) out = core::decode_json_string(value);
    return nothing{};
  }));
  return out;
}

/// The result of one item of a batch.
void write_result(json_writer& out, const v1::SubmitResult& one, const std::string& code) {
  const auto& why = one.error();
  out.begin_object().key("id").text_or_null(one.id()).key("created").boolean(one.created()).key("start_at").moment(one.start_at_unix_ms());
  out.key("code").string(code).key("error").string(why.sentence());
  write_remedy(out, why.remedy());
  out.end_object();
}

}  // namespace

/// What is wrong with an item refuses that item alone.
void submit_batch(exchange_ptr x) {
  if (x->refuse_rest()) return;
  v1::SubmitRequest request;
  v1::SubmitReply results;
  std::vector<int> sent;             // the results that the node gives
  std::map<int, std::string> codes;  // of refusals whose code the node's messages do not have
  const auto take = [&](std::size_t i, std::string_view value, std::string& pointer) -> status {
    auto& result = *results.add_results();
    auto item = parse_submission(value, pointer);
    result.set_id(item ? item->id() : id_in(value));
    const auto refuse = [&, base = pointer](const std::string& field, const error& why) {
      pointer = base + field;
      item = why;
    };
    if (item && item->input().size() > max_input_bytes) {
      codes[static_cast<int>(i)] = large_input().code;
      refuse("/input", invalid(large_input().sentence, large_input().remedy));
    }
    if (item && item->id().empty())
      refuse("/id", invalid("The task has no id.", "Give each task an id, so that the batch can be sent again."));
    std::string field;
    if (const auto why = item ? refuse_for(x->by(), *item, field) : std::nullopt) refuse(field, *why);
    if (item) {
      sent.push_back(static_cast<int>(i));
      set_submitter(*x, *item);
      *request.add_items() = std::move(*item);
    } else {
      auto why = item.failure();
      why.sentence = pointer + ": " + why.sentence;
      *result.mutable_error() = why.to_proto();
    }
    return nothing{};
  };
  if (!x->read_body({{"tasks", each_into(max_request_items, take), true}})) return;
  const auto say = [x, sent, codes](v1::SubmitReply& all, v1::SubmitReply& answered) {
    for (int i = 0; i < answered.results_size() && i < static_cast<int>(sent.size()); ++i)
      all.mutable_results(sent[static_cast<std::size_t>(i)])->Swap(answered.mutable_results(i));
    json_writer out;
    out.begin_object().key("results").begin_array();
    for (int i = 0; i < all.results_size(); ++i) {
      const auto own = codes.find(i);
      write_result(out, all.results(i), own == codes.end() ? code_word(all.results(i).error().code()) : own->second);
    }
    x->say(200, out.end_array().end_object().text());
  };
  if (request.items().empty()) {
    v1::SubmitReply none;
    return say(results, none);
  }
  const auto all = std::make_shared<v1::SubmitReply>(std::move(results));
  x->ask<v1::SubmitRequest>(std::move(request), [x, say, all](v1::SubmitReply& answered) {
    conceal_others(x, std::move(answered), [say, all](v1::SubmitReply& known) { say(*all, known); });
  });
}

}  // namespace fairlead::app::api
