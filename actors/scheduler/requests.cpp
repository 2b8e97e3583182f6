// Requests of clients and operators to the Scheduler.

#include <algorithm>
#include <utility>
#include <vector>

#include "actors/core/request_limits.hpp"
#include "actors/core/task/reason.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/workflow/advice.hpp"
#include "actors/scheduler/actions.hpp"
#include "actors/scheduler/books/payload_reader.hpp"
#include "actors/scheduler/books/submission_check.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "store/content_hash.hpp"

namespace fairlead {

void scheduler::answer(v1::SubmitRequest what, std::uint64_t ticket, std::uint64_t subscriber) {
  v1::SubmitReply reply;
  if (draining_) {
    *reply.mutable_error() = error{v1::ERROR_CODE_UNAVAILABLE, "the node is stopping", "submit again when the node runs again"}.to_proto();
  } else if (what.items_size() > max_request_items) {
    *reply.mutable_error() = invalid("the request holds " + std::to_string(what.items_size()) + " tasks, at most " +
                                         std::to_string(max_request_items) + " are allowed in a request",
                                     "send several requests")
                                 .to_proto();
  } else {
    core::comparison_budget budget;
    for (auto& item : *what.mutable_items()) {
      *reply.add_results() = take(item, what.notify() ? subscriber : 0, budget);
      flush_if_large();
    }
  }
  // The answer waits for the batch also for refused or known submissions: it may depend on versions that are not durable yet.
  batches_.after().replies.emplace_back(ticket, std::move(reply));
}

v1::SubmitResult scheduler::take(v1::Submission& item, std::uint64_t subscriber, core::comparison_budget& budget) {
  v1::SubmitResult out;
  out.set_id(item.id());
  const auto refused = [&out](const error& why) {
    *out.mutable_error() = why.to_proto();
    return out;
  };
  if (const auto why = check_submission(item, limits_.input_bytes)) return refused(*why);
  auto input = item.input().empty() ? std::string{"null"} : core::minify_json(item.input());
  auto hash = store::submission_hash(item.workflow(), input, item.labels(), item.priority(), item.has_reply() ? &item.reply() : nullptr,
                                     item.start_at_unix_ms(), item.delay_ms());

  const auto known = lookup(item.id());
  if (!known) {
    fail(known.failure());
    return refused(known.failure());
  }
  if (*known) {
    if ((*known)->content_hash != hash)
      return refused({v1::ERROR_CODE_CONFLICT,
                      "task " + item.id() + " exists with another workflow, input, label, priority, reply address or start",
                      "use another id, or submit exactly the same again"});
    if (subscriber != 0) follow(item.id(), (*known)->number, subscriber);
    return out;
  }
  if (const auto why = refuse_new()) {
    // By the next commit the store may be less full; the refused client must be able to find the reason.
    if (why->code == v1::ERROR_CODE_STORE_FULL) store_watch_.tell();
    return refused(*why);
  }
  auto definition = catalog_.current(item.workflow(), committed());
  if (!definition) return refused(definition.failure());
  if (const auto why = faults_.ignore_schema ? std::nullopt : (*definition)->refuse_input(input, &budget)) return refused(*why);
  const auto number = create(item, std::move(input), std::move(hash), std::move(*definition), subscriber, {});
  families_.settle(number);
  out.set_created(true);
  if (const auto* task = find(number); task != nullptr && task->record.scheduled())
    out.set_start_at_unix_ms(task->record.start_at_unix_ms());
  return out;
}

std::optional<error> scheduler::refuse_new() const {
  if (!faults_.ignore_full && store_watch_.full()) return store_watch_.refusal();
  if (batches_.uncommitted_bytes() > limits_.uncommitted_bytes)
    return error{v1::ERROR_CODE_OVERLOADED, "too much data is waiting to be written to disk (limits.uncommitted_bytes)",
                 "submit again in a moment"};
  if (queued_tasks() >= limits_.pending_tasks)
    return error{v1::ERROR_CODE_OVERLOADED,
                 std::to_string(queued_tasks()) + " tasks are pending, which is the maximum (limits.pending_tasks)", "submit again later"};
  return std::nullopt;
}

result<std::optional<scheduler::recent_id>> scheduler::lookup(const std::string& id) {
  const auto recent = recent_ids_.find(id);
  if (recent != recent_ids_.end()) return std::optional<recent_id>{recent->second};
  auto stored = store::find_task(committed(), id);
  if (!stored) return stored.failure();
  if (!*stored) return std::optional<recent_id>{};
  return std::optional<recent_id>{recent_id{(*stored)->number(), (*stored)->content_hash()}};
}

std::uint64_t scheduler::create(v1::Submission& item, std::string minified, std::string hash, workflow_catalog::handle definition,
                                std::uint64_t subscriber, task_part part) {
  const auto number = batches_.counts().next_task_number();
  batches_.counts().set_next_task_number(number + 1);
  auto owned = std::make_unique<live_task>();
  auto& task = *owned;
  task.definition = std::move(definition);

  core::new_task source;
  source.number = number;
  source.id = item.id();
  source.name_space = "default";
  source.content_hash = hash;
  source.input = std::move(minified);
  source.labels.assign(std::make_move_iterator(item.mutable_labels()->begin()), std::make_move_iterator(item.mutable_labels()->end()));
  source.priority = item.priority();
  source.start_at_unix_ms = item.start_at_unix_ms();
  source.delay_ms = item.delay_ms();
  if (!item.submitted_by().empty()) source.submitted_by = core::clean_text(item.submitted_by(), who_limit);
  if (item.has_origin()) source.origin = cleaned(item.origin());
  if (item.has_reply()) source.reply = std::move(*item.mutable_reply());
  const auto at_once = part.parent.has_value();  // the room that its parent takes is its own
  source.launch = std::move(part.launch);
  source.deadline_unix_ms = part.deadline_unix_ms;
  source.parent = std::move(part.parent);
  source.restored_from_unix_ms = part.restored_from_unix_ms;
  source.first_restored_from_unix_ms = part.first_restored_from_unix_ms;
  source.item = std::move(part.item);

  const payload_reader payloads{task.fresh_payloads, *world_.reads};
  slots_.begin_claims();
  const auto ctx = context_for(task, payloads);
  core::decision made;
  task.record = core::create_task(std::move(source), ctx, made);
  if (at_once || (queued_tasks() == 0 && active_tasks() < limits_.running_tasks && !task.record.scheduled())) {
    // Submission and start share one write; payloads stored by the creation must be readable for the start.
    store_payloads(task, made);
    auto started = [&] {
      try {
        return core::decide(task.record, core::task_admitted{}, ctx);
      } catch (const std::exception& bug) {
        slots_.undo_claims();
        world_.log->on_note(note_level::error, "scheduler", "task " + task.record.id() + ": internal error at its start: " + bug.what());
        core::take_back_start(task.record, ctx);
        const core::task_poisoned by{"internal error at the start of this task: " + core::clean_text(bug.what(), 500)};
        return core::decide(task.record, by, ctx);
      }
    }();
    if (started.fatal) {
      fail(*started.fatal);
      return number;
    }
    made.append(std::move(started));
  }
  if (subscriber != 0) subscribers_.emplace(number, subscriber);
  strays_.task_is_back(task.record.id(), batches_.rows());
  recent_ids_[task.record.id()] = {number, std::move(hash)};
  batches_.after().new_ids.push_back(task.record.id());
  write(task, store::task_index_state{}, made, false);
  ++traffic_.submitted;
  traffic_.count(core::task_admitted{}, made, task.record);
  gather(task, made);
  live_.emplace(number, std::move(owned));
  return number;
}

void scheduler::follow(const std::string& id, std::uint64_t number, std::uint64_t subscriber) {
  v1::TaskEnd end;
  end.set_id(id);
  const auto over = [&end](const v1::TaskRecord& record) {
    end.set_state(record.state());
    end.set_parked(record.parked());
    end.set_reason(core::reason_of(record));
    end.set_has_output(record.has_output());
    return has_ended(record.state()) || record.parked();
  };
  // The newest version counts: an uncommitted end has been gathered for other subscribers already.
  bool ended = false;
  if (const auto* live = find(number)) {
    ended = over(live->record);
  } else if (const auto stored = store::load_task(committed(), number); stored.ok() && *stored) {
    ended = over(**stored);
  } else if (const auto tombstone = store::find_task(committed(), id); tombstone.ok() && *tombstone) {
    end.set_state((*tombstone)->final_state());
    ended = has_ended(end.state());
  }
  if (ended) {
    *batches_.after().notices[subscriber].add_items() = std::move(end);
    return;
  }
  const auto [first, last] = subscribers_.equal_range(number);
  if (std::none_of(first, last, [&](const auto& one) { return one.second == subscriber; })) subscribers_.emplace(number, subscriber);
}

void scheduler::unsubscribe(std::uint64_t subscriber) {
  std::erase_if(subscribers_, [&](const auto& one) { return one.second == subscriber; });
}

void scheduler::launch_due(const due_jobs& what) { launches_.due(what); }

void scheduler::answer(const v1::JobApplyRequest& what, std::uint64_t ticket) {
  batches_.after().replies.emplace_back(ticket, launches_.apply(what));
}

void scheduler::answer(const v1::JobOperateRequest& what, std::uint64_t ticket) {
  batches_.after().replies.emplace_back(ticket, launches_.operate(what));
}

void scheduler::answer(const v1::DeployRequest& what, std::uint64_t ticket) {
  v1::DeployReply reply;
  if (draining_) {
    *reply.mutable_error() = error{v1::ERROR_CODE_UNAVAILABLE, "the node is stopping", "deploy again when the node runs again"}.to_proto();
  } else {
    auto deployed =
        catalog_.deploy(what.definition(), what.source(), to_unix_ms(world_.time->now()), what.check_only() ? nullptr : &batches_.rows());
    if (!deployed) {
      *reply.mutable_error() = deployed.failure().to_proto();
    } else {
      reply.set_content_hash(deployed->content_hash);
      reply.set_created(deployed->created);
      for (const auto& step : what.definition().steps())
        if (step.kind() == v1::STEP_KIND_CALL && !slots_.offers(step.agent(), step.call()))
          reply.add_warnings("step " + step.name() + ": no agent offers " + step.agent() + "." + step.call() +
                             " at the moment; the step will wait for one");
      const auto looks_up = [this](const std::string& agent, const std::string& call) { return slots_.looks_up(agent, call); };
      const auto carries = [this](const std::string& agent, const auto& labels) { return slots_.carries(agent, labels); };
      const auto knows = [this](const std::string& name) { return catalog_.knows(name); };
      for (const auto& advice : core::advise(what.definition(), looks_up, carries, knows))
        reply.add_warnings("step " + advice.step + ", " + advice.field + ": " + advice.sentence + "; " + advice.remedy);
    }
  }
  batches_.after().replies.emplace_back(ticket, std::move(reply));
}

void scheduler::answer(const v1::WorkflowDeleteRequest& what, std::uint64_t ticket) {
  v1::WorkflowDeleteReply reply;
  const auto refuse = [&](const error& why) { *reply.mutable_error() = why.to_proto(); };
  const auto name = core::clean_text(what.name(), 128);
  const auto job = launches_.job_of(what.name());
  if (!job) return;
  if (draining_) {
    refuse(node_is_stopping());
  } else if (!job->empty()) {
    refuse({v1::ERROR_CODE_WRONG_STATE, "job " + *job + " launches workflow " + name,
            "delete the job first, or give it another workflow: fairlead job delete " + *job});
  } else if (!catalog_.knows(what.name())) {
    refuse({v1::ERROR_CODE_NOT_FOUND, "there is no workflow " + name, "fairlead workflow list shows all workflows"});
  } else if (!what.check_only()) {
    catalog_.erase(what.name(), batches_.rows());
    world_.log->on_note(note_level::info, "scheduler", "workflow " + name + " was deleted by " + core::clean_text(what.who(), who_limit));
  }
  batches_.after().replies.emplace_back(ticket, std::move(reply));
}

void scheduler::answer(const v1::WatchRequest& what, std::uint64_t ticket) {
  const auto refuse = [&](const error& why) {
    v1::WatchReply reply;
    *reply.mutable_error() = why.to_proto();
    world_.out->reply(ticket, std::move(reply));
  };
  const error unknown{v1::ERROR_CODE_NOT_FOUND, "there is no task " + core::clean_text(what.id(), 256),
                      "fairlead task list shows all tasks"};
  const auto known = lookup(what.id());
  if (!known || !*known) return refuse(known ? unknown : known.failure());
  const auto visible = is_visible_to(what.submitted_by(), what.id());
  if (!visible || !*visible) return refuse(visible ? unknown : visible.failure());
  const auto number = (*known)->number;
  const bool on_its_way = recent_ids_.count(what.id()) != 0;
  auto reply = watches::describe(number, what.after_sequence(), committed());
  if (reply.error().code() == v1::ERROR_CODE_NOT_FOUND) {
    // Archived or deleted: the tombstone still holds the final state.
    const auto tombstone = store::find_task(committed(), what.id());
    if (tombstone.ok() && *tombstone && has_ended((*tombstone)->final_state())) {
      reply.Clear();
      reply.set_state((*tombstone)->final_state());
    }
  }
  const auto over = has_ended(reply.state());
  const auto news = !reply.has_error() && watches::has_news(reply, what.after_progress_unix_ms());
  const auto ahead = what.answer_if_ahead() && reply.latest() != 0 && what.after_sequence() > reply.latest();
  if (news || over || ahead || (reply.has_error() && !on_its_way)) {
    world_.out->reply(ticket, std::move(reply));
    return;
  }
  const auto wait = std::clamp(duration{what.wait_ms()}, duration{0}, watches::longest_wait);
  watches_.add(number, {ticket, what.after_sequence(), what.after_progress_unix_ms(), world_.time->now() + wait});
}

void scheduler::expire_watches() {
  if (faults_.forget_poll) return;
  std::vector<watches::answer> answers;
  watches_.expire(world_.time->now(), committed(), answers);
  for (auto& answer : answers) world_.out->reply(answer.ticket, std::move(answer.reply));
}

void scheduler::describe(v1::StatusReply& out) const {
  out.set_epoch(epoch());
  out.mutable_store()->set_reserved_bytes(store_watch_.reserved_bytes());
  *out.mutable_counts() = batches_.committed_counts();
  slots_.describe(out);
  *out.mutable_traffic() = traffic_.to_proto();
  out.set_resumed_tasks(sweep_.taken_up());
  out.set_resuming(sweep_.under_way());
  out.set_stalest_task(stalest_.id);
  out.set_stalest_since_unix_ms(stalest_.since_unix_ms);
}

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
  core::operated event{action, hash_of(action), performance_of(called)};
  if (action.verb() == v1::OPERATOR_VERB_MIGRATE) {
    auto target = catalog_.stored(task->record.workflow(), action.to_hash(), committed());
    if (!target) {
      fail(target.failure());
      return refused(target.failure());
    }
    event.target = std::move(*target);
  }
  if (action.verb() == v1::OPERATOR_VERB_UNDO && was_over && task->record.has_parent() && !faults_.undo_child_alone) {
    if (families_.is_built_on(task->record))
      return refused({v1::ERROR_CODE_WRONG_STATE, "task " + id + " is a part of task " + task->record.parent().id(),
                      "fairlead task undo " + task->record.parent().id() + " undoes both"});
  }
  // A telling may have been lost by a crashed decision; while a task is parked nothing else brings it again.
  if (task->record.parked()) families_.tell_of_children(number);
  const auto done = apply(*task, event);
  if (const auto* now = find(number); now == nullptr || !now->poison.empty())
    return refused({v1::ERROR_CODE_INTERNAL,
                    "task " + id + ": " + (now != nullptr ? now->poison : "an internal error occurred in this task"),
                    "read the node's log"});
  if (was_over && !done.refused && !done.repeated) {
    archive_.reopened(number, batches_.sequence());
    families_.tell_of(task->record);
  }
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

void scheduler::answer(const v1::AlertAckRequest& what, std::uint64_t ticket) {
  v1::AlertAckReply reply;
  if (what.numbers_size() > max_request_items) {
    *reply.mutable_error() = too_many_items("alerts").to_proto();
  } else if (draining_) {
    *reply.mutable_error() = node_is_stopping().to_proto();
  } else {
    for (const auto number : what.numbers()) {
      auto& one = *reply.add_results();
      auto done = alerts_.acknowledge(number, core::clean_text(what.who(), who_limit), core::clean_text(what.note(), reason_limit),
                                      batches_.page(), committed());
      if (done) {
        launches_.acknowledged(*done);
        failing_.acknowledged(*done);
        *one.mutable_alert() = std::move(*done);
      } else {
        *one.mutable_error() = done.failure().to_proto();
      }
    }
  }
  batches_.after().replies.emplace_back(ticket, std::move(reply));
}

void scheduler::answer(const v1::BrakeReleaseRequest& what, std::uint64_t ticket) {
  v1::BrakeReleaseReply reply;
  if (draining_) {
    *reply.mutable_error() = node_is_stopping().to_proto();
  } else if (batches_.counts().undo_brake_since_unix_ms() == 0) {
    *reply.mutable_error() = error{v1::ERROR_CODE_WRONG_STATE, "the brake on mass undo is not on",
                                   "nothing is held: no release is needed; fairlead status shows the brake"}
                                 .to_proto();
  } else {
    reply.set_held(batches_.counts().undo_held());
    batches_.counts().set_undo_brake_since_unix_ms(0);
    brake_.reset();
    // The alert keeps who released the brake and why.
    alerts_.acknowledge(batches_.counts().undo_brake_alert(), core::clean_text(what.who(), who_limit),
                        core::clean_text(what.reason(), reason_limit), batches_.page(), committed());
    const auto resolved = alerts_.resolve(batches_.counts().undo_brake_alert(), batches_.page(), committed());
    if (!resolved.ok()) {
      fail(resolved.failure());
      return;
    }
    batches_.counts().set_undo_brake_alert(0);
    world_.log->on_note(note_level::info, "scheduler",
                        "the brake on mass undo was released by " + core::clean_text(what.who(), who_limit) + ": " +
                            core::clean_text(what.reason(), reason_limit));
  }
  batches_.after().replies.emplace_back(ticket, std::move(reply));
}

void scheduler::answer(const v1::DoctorRequest& what, std::uint64_t ticket) {
  v1::DoctorReply reply;
  if (draining_) {
    *reply.mutable_error() = node_is_stopping().to_proto();
  } else {
    reply = strays_.forget_all(batches_.counts(), batches_.rows());
    world_.log->on_note(
        note_level::info, "scheduler",
        std::to_string(reply.effects_size()) + " effects without a task were forgotten by " + core::clean_text(what.who(), who_limit));
  }
  batches_.after().replies.emplace_back(ticket, std::move(reply));
}

}  // namespace fairlead
