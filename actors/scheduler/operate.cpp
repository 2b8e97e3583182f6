// What operators, signals and callbacks do to tasks.

#include <optional>
#include <string>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/text.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "messages/tickets.hpp"
#include "store/content_hash.hpp"

namespace fairlead {

namespace {

error no_callback() {
  return {v1::ERROR_CODE_NOT_FOUND, "nothing here waits for this callback",
          "use the whole URL as it was given out; one from before a restore of the shard counts no more"};
}

/// Empty: the action has no token, and is no callback.
std::string hash_of(v1::OperatorAction action) {
  if (action.token().empty() && action.verb() != v1::OPERATOR_VERB_CALLBACK) return {};
  action.clear_token();
  action.clear_callback();
  action.clear_if_sequence();
  action.clear_who();
  return store::content_hash(action.SerializeAsString());
}

core::performance_name performance_of(const std::optional<callback_name>& called) {
  return called ? core::performance_name{called->step, called->generation} : core::performance_name{};
}

}  // namespace

void scheduler::answer(const v1::OperateRequest& what, std::uint64_t ticket) {
  v1::OperateReply reply;
  auto action = what.action();
  action.set_who(core::clean_text(action.who(), who_limit));
  action.set_reason(core::clean_text(action.reason(), reason_limit));
  if (draining_) {
    *reply.mutable_error() = node_is_stopping().to_proto();
  } else if (what.ids_size() > max_request_items) {
    *reply.mutable_error() = too_many_items("tasks").to_proto();
  } else if (action.who().empty()) {
    *reply.mutable_error() = nobody_asks().to_proto();
  } else if (action.has_json() && action.json().size() > limits_.output_bytes) {
    *reply.mutable_error() =
        error{v1::ERROR_CODE_INVALID_ARGUMENT,
              "the JSON has " + std::to_string(action.json().size()) + " bytes, the limit is " + std::to_string(limits_.output_bytes),
              "put large data elsewhere and pass a reference to it"}
            .to_proto();
  } else {
    for (const auto& id : what.ids()) {
      *reply.add_results() = operate_on(id, action, what.submitted_by());
      if (fatal_) return;
      flush_if_large();
    }
  }
  batches_.after().replies.emplace_back(ticket, std::move(reply));
  serve_waiting();
}

/// Tasks of others are unknown to `submitter`; empty: to nobody.
result<bool> scheduler::is_visible_to(const std::string& submitter, const std::string& id) {
  if (submitter.empty()) return true;
  const auto tombstone = store::find_task(committed(), id);
  if (!tombstone) return tombstone.failure();
  return *tombstone && (*tombstone)->submitted_by() == submitter;
}

v1::OperateResult scheduler::operate_on(const std::string& id, const v1::OperatorAction& action, const std::string& submitter) {
  v1::OperateResult out;
  out.set_id(id);
  const auto refused = [&out](const error& why) {
    *out.mutable_error() = why.to_proto();
    return out;
  };
  const auto called = action.verb() == v1::OPERATOR_VERB_CALLBACK ? read_callback(action.callback()) : std::nullopt;
  const auto genuine = called && called->shard == limits_.shard && called->task_id == id && workers_.is_callback(action.callback());
  if (action.verb() == v1::OPERATOR_VERB_CALLBACK && !genuine) return refused(no_callback());
  const auto known = lookup(id);
  if (!known) {
    fail(known.failure());
    return refused(known.failure());
  }
  const auto visible = is_visible_to(submitter, id);
  if (!visible) {
    fail(visible.failure());
    return refused(visible.failure());
  }
  if (!*known || !*visible)
    return refused({v1::ERROR_CODE_NOT_FOUND, "there is no task " + core::clean_text(id, 256), "fairlead task list shows all tasks"});
  const auto number = (*known)->number;
  if (action.verb() == v1::OPERATOR_VERB_DELETE) {
    const auto why = delete_task(id, number, action, out);
    forget_if_idle(number);
    return why ? refused(*why) : out;
  }
  auto* task = is_leaving(number) ? nullptr : load(number);
  if (task == nullptr) {
    if (fatal_) return refused(*fatal_);
    if (find(number) != nullptr)
      return refused({v1::ERROR_CODE_UNAVAILABLE, "task " + id + " is being parked because of an internal error", "try again in a moment"});
    return refused(gone(id));
  }
  const auto was_over = has_ended(task->record.state());
  const auto was_parked = task->record.parked();
  const auto done = apply(*task, core::operated{action, hash_of(action), performance_of(called)});
  if (const auto* now = find(number); now == nullptr || !now->poison.empty())
    return refused({v1::ERROR_CODE_INTERNAL,
                    "task " + id + ": " + (now != nullptr ? now->poison : "an internal error occurred in this task"),
                    "read the node's log"});
  if (was_over && !done.refused && !done.repeated) archive_.reopened(number, batches_.sequence());
  out.set_state(task->record.state());
  out.set_kept(called ? core::is_answered_early(task->record, called->step)
                      : !action.signal().empty() && core::kept_signals(task->record, action.signal()) > 0);
  out.set_parked(task->record.parked());
  out.set_paused(task->record.paused());
  out.set_reason(task->record.parked_reason());
  out.set_sequence(task->record.history_size());
  out.set_repeated(done.repeated);
  if (done.refused) *out.mutable_error() = done.refused->to_proto();
  if (was_parked && !task->record.parked() && !has_ended(task->record.state()) && task->record.has_launch()) {
    const auto others = launches_.beside(task->record);
    if (!others.empty())
      out.set_notice("it runs beside " + others.front() +
                     (others.size() == 1 ? "" : " and " + std::to_string(others.size() - 1) + " more") + ", another launch of job " +
                     task->record.launch().job());
  }
  forget_if_idle(number);
  return out;
}

}  // namespace fairlead
