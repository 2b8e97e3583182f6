// /v1/tasks: lists, single tasks, submissions.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/core/task/task.hpp"
#include "app/api/api.hpp"
#include "app/json/submission.hpp"
#include "app/json/task.hpp"
#include "app/json/times.hpp"
#include "app/json/words.hpp"
#include "messages/ids.hpp"
#include "messages/task_states.hpp"

namespace fairlead::app::api {

namespace {

constexpr duration longest_wait = std::chrono::seconds{30};

std::string path_of(const std::string& id) { return "/v1/tasks/" + door::encode_percent(id); }

/// A cursor goes on with one list: with its filters. FNV-1a, so that it holds on every node and release.
std::string seal_of(const v1::TaskListRequest& of) {
  auto filters = of;
  filters.clear_cursor();
  filters.clear_page_size();
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : filters.SerializeAsString()) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string out(16, '0');
  for (auto i = out.rbegin(); i != out.rend(); ++i, hash >>= 4) *i = "0123456789abcdef"[hash & 15];
  return out;
}

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

result<bool> read_flag(const std::string& name, const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  return invalid("The parameter " + name + " is neither true nor false.", "Give true or false.");
}

/// The parameters of a list, and whether all of them were sound; else the client has its answer.
class list_reader {
 public:
  explicit list_reader(exchange& from) : from_(from) { out_.set_partial(true); }

  std::optional<v1::TaskListRequest> read() {
    for (const auto& word : from_.parameters("state")) {
      const auto state = task_state_from_word(word);
      if (!state) return refuse("state", invalid("There is no state '" + word + "'.", "States are " + task_state_words() + "."));
      out_.add_states(*state);
    }
    flag("parked", [this](bool on) { out_.set_parked_only(on); });
    flag("archived", [this](bool on) { out_.set_archived(on); });
    text("workflow", [this](const std::string& name) { out_.set_workflow(name); });
    for (const auto& label : from_.parameters("label")) {
      const auto colon = label.find(':');
      if (colon == std::string::npos || colon == 0)
        return refuse("label", invalid("The label '" + label + "' has no key.", "Give KEY:VALUE."));
      auto* const one = out_.add_labels();
      one->set_key(label.substr(0, colon));
      one->set_value(label.substr(colon + 1));
    }
    age("older_than", [this](std::int64_t ms) { out_.set_older_than_ms(ms); });
    age("younger_than", [this](std::int64_t ms) { out_.set_younger_than_ms(ms); });
    text("ended_since", [this](const std::string& moment) {
      const auto at = read_start("ended_since", moment);
      at ? out_.set_ended_since_unix_ms(*at) : from_.refuse_at("ended_since", at.failure());
    });
    text("page_size", [this](const std::string& number) {
      std::uint32_t size = 0;
      if (!read_number(number, size) || size == 0 || size > max_page_size)
        from_.refuse_at("page_size", invalid("The parameter page_size is no number from 1 to 1000.", "Give one, or leave it out for 100."));
      out_.set_page_size(size);
    });
    text("cursor", [this](const std::string& cursor) {
      const auto seal = seal_of(out_);
      if (!cursor.starts_with(seal + "."))
        from_.refuse_at("cursor",
                        invalid("The cursor is not one of this list.", "Give the same filters as for the page that had it in `next`."));
      else
        out_.set_cursor(cursor.substr(seal.size() + 1));
    });
    if (from_.refuse_rest()) return std::nullopt;
    return out_;
  }

 private:
  std::nullopt_t refuse(const std::string& name, const error& why) {
    from_.refuse_at(name, why);
    return std::nullopt;
  }
  template <class Take>
  void text(const std::string& name, const Take& take) {
    const auto given = from_.parameter(name);
    if (given && given->empty())
      return from_.refuse_at(name, invalid("The parameter " + name + " is empty.", "Give a value, or leave it out."));
    if (given) take(*given);
  }
  template <class Take>
  void flag(const std::string& name, const Take& take) {
    text(name, [&](const std::string& word) {
      const auto on = read_flag(name, word);
      on ? take(*on) : from_.refuse_at(name, on.failure());
    });
  }
  template <class Take>
  void age(const std::string& name, const Take& take) {
    text(name, [&](const std::string& words) {
      const auto ms = read_duration(name, words, 1);
      ms ? take(*ms) : from_.refuse_at(name, ms.failure());
    });
  }

  exchange& from_;
  v1::TaskListRequest out_;
};

/// `?wait=30s`; nullopt: there is none. Refuses others than from 0 to 30 s.
std::optional<duration> wait_of(exchange& x) {
  const auto text = x.parameter("wait");
  if (!text) return std::nullopt;
  const auto ms = read_duration("wait", *text, 0);
  if (!ms || *ms > longest_wait.count()) {
    x.refuse_at("wait", ms ? invalid("The parameter wait is longer than 30s.", "Give at most 30s, and ask again.") : ms.failure());
    return std::nullopt;
  }
  return duration{*ms};
}

std::string next_path(const v1::TaskListRequest& list, const std::string& cursor) {
  std::string out = "/v1/tasks?";
  const auto add = [&out](const std::string& name, const std::string& value) {
    out += (out.back() == '?' ? "" : "&") + name + "=" + door::encode_percent(value);
  };
  for (const auto state : list.states()) add("state", core::state_word(static_cast<v1::TaskState>(state)));
  if (list.parked_only()) add("parked", "true");
  if (list.archived()) add("archived", "true");
  if (!list.workflow().empty()) add("workflow", list.workflow());
  for (const auto& label : list.labels()) add("label", label.key() + ":" + label.value());
  if (list.older_than_ms() != 0) add("older_than", std::to_string(list.older_than_ms()) + "ms");
  if (list.younger_than_ms() != 0) add("younger_than", std::to_string(list.younger_than_ms()) + "ms");
  if (list.ended_since_unix_ms() != 0) add("ended_since", format_utc(list.ended_since_unix_ms()));
  if (list.page_size() != 0) add("page_size", std::to_string(list.page_size()));
  add("cursor", seal_of(list) + "." + cursor);
  return out;
}

void show(const exchange_ptr& x, const std::string& id) {
  v1::TaskShowRequest request;
  request.set_id(id);
  x->ask<v1::TaskShowRequest>(request, [x](v1::TaskShowReply& reply) {
    if (!may_wait_for_agent(reply)) return x->say(200, task_show_json(reply));
    // Without that answer the task is shown all the same.
    x->ask_any<v1::StatusRequest>({}, {}, [x, task = std::move(reply)](const result<v1::StatusReply>& status) {
      x->say(200, task_show_json(task, status ? agents_of(*status) : known_agents{}));
    });
  });
}

// ---- submissions ----

/// Until the task has ended or is parked, or the time is over. What goes wrong meanwhile changes nothing: the task is submitted.
void wait_for_end(const exchange_ptr& x, v1::SubmitResult taken, std::uint64_t after, std::chrono::steady_clock::time_point until) {
  if (x->is_over()) return;
  const auto left = std::max(std::chrono::duration_cast<duration>(until - std::chrono::steady_clock::now()), duration{0});
  v1::WatchRequest request;
  request.set_id(taken.id());
  request.set_after_sequence(after);
  request.set_wait_ms(left.count());
  x->ask_any<v1::WatchRequest>(request, left, [x, taken = std::move(taken), after, until](const result<v1::WatchReply>& reply) {
    const door::headers located{{"Location", path_of(taken.id())}};
    if (reply && (has_ended(reply->state()) || reply->parked())) {
      v1::TaskEnd end;
      end.set_id(taken.id());
      end.set_state(reply->state());
      end.set_parked(reply->parked());
      end.set_reason(reply->reason());
      return x->say(taken.created() ? 201 : 200, submit_json(taken, &end), located);
    }
    if (!reply || std::chrono::steady_clock::now() >= until) return x->say(202, submit_json(taken), located);
    wait_for_end(x, taken, reply->events().empty() ? after : reply->events().rbegin()->sequence(), until);
  });
}

/// `keyed`: the id is a key that the client made up for this request.
void submit(const exchange_ptr& x, v1::Submission item, bool keyed) {
  const auto wait = wait_of(*x);
  if (x->refuse_rest()) return;
  if (item.workflow().empty()) return x->refuse_at("/workflow", invalid("The body names no workflow.", R"(Give "workflow": NAME.)"));
  if (item.input().size() > max_input_bytes)
    return x->refuse(
        {"too_large", "The input has more than 256 KiB.", "Keep large data elsewhere and give a reference to it.", "/input", {}, false});
  v1::SubmitRequest request;
  *request.add_items() = std::move(item);
  x->ask<v1::SubmitRequest>(std::move(request), [x, wait, keyed](v1::SubmitReply& reply) {
    if (reply.results().empty()) return x->refuse(error{v1::ERROR_CODE_INTERNAL, "The answer has no result.", "Report this as a bug."});
    auto& taken = *reply.mutable_results(0);
    if (const auto& why = taken.error(); why.code() != v1::ERROR_CODE_OK) {
      auto refused = door::problem_of(error::from_proto(why));
      if (keyed && why.code() == v1::ERROR_CODE_CONFLICT) refused.code = "key_reused";
      return x->refuse(std::move(refused));
    }
    if (!wait) return x->say(taken.created() ? 201 : 200, submit_json(taken), {{"Location", path_of(taken.id())}});
    wait_for_end(x, std::move(taken), 0, std::chrono::steady_clock::now() + *wait);
  });
}

std::optional<v1::Submission> read_body(exchange& x) {
  std::string pointer;
  auto item = parse_submission(x.what().body, pointer);
  if (item) return std::move(*item);
  x.refuse_at(pointer, item.failure());
  return std::nullopt;
}

/// The string of draft-ietf-httpapi-idempotency-key-header-07, `"8e03978e"`; the same without quotes is taken as well.
std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return std::string{text};
}

}  // namespace

void list_tasks(exchange_ptr x) {
  const auto list = list_reader{*x}.read();
  if (!list) return;
  x->ask<v1::TaskListRequest>(*list, [x, list = *list](const v1::TaskListReply& reply) {
    json_writer out;
    out.begin_object().key("items").begin_array();
    for (const auto& task : reply.items()) out.raw(task_summary_json(task));
    out.end_array().key("next");
    reply.cursor().empty() ? out.null() : out.string(next_path(list, reply.cursor()));
    out.key("missing").raw(missing_json(reply.missing()));
    x->say(200, out.end_object().text());
  });
}

void show_task(exchange_ptr x) {
  const auto wait = wait_of(*x);
  std::uint64_t after = 0;
  const auto given = x->parameter("after");
  if (given && !read_number(*given, after))
    x->refuse_at("after", invalid("The parameter after is no sequence number.", "Give the number of the last event that you know."));
  if (x->refuse_rest()) return;
  const auto id = x->part(0);
  if (!wait) return show(x, id);
  v1::WatchRequest request;
  request.set_id(id);
  request.set_after_sequence(after);
  request.set_wait_ms(wait->count());
  x->ask<v1::WatchRequest>(
      request,
      [x, id, after](const v1::WatchReply& reply) {
        if (!reply.events().empty() || has_ended(reply.state())) return show(x, id);
        x->say(204, "", {{"Next-After", std::to_string(after)}});
      },
      *wait);
}

void put_task(exchange_ptr x) {
  auto item = read_body(*x);
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
  auto item = read_body(*x);
  if (!item) return;
  const auto header = door::find_header(x->what().head, "Idempotency-Key");
  if (header) {
    const auto key = unquoted(*header);
    if (!valid_task_id(key))
      return x->refuse(
          invalid("The Idempotency-Key is not a task id, which it becomes.", "A key has 1 to 256 characters of A-Z a-z 0-9 . _ : @ / -"));
    if (!item->id().empty() && item->id() != key)
      return x->refuse_at("/id", invalid("The id in the body is not the Idempotency-Key.", "Give one of the two."));
    item->set_id(key);
  }
  if (item->id().empty()) item->set_id(make_uuid_v7(to_unix_ms(x->in().time->now())));
  submit(x, std::move(*item), header.has_value());
}

}  // namespace fairlead::app::api
