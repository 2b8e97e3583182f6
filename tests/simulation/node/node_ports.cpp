// The ports of a node: what leaves the Scheduler is judged at the door and goes on its way. The expression worker's answers come from its own code.

#include <memory>

#include "app/expressions/answer.hpp"
#include "tests/simulation/node/crier.hpp"
#include "tests/simulation/node/overseer.hpp"
#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

void node::perform(const std::string& instance, v1::PerformBatch what) {
  const auto* known = seat_of(instance);
  const auto incarnation = seats_.at(instance).incarnation;
  const auto when = stamp_for(instance);
  put(when, what);
  if (member_ && home_.is_over(term_)) judge_former_clock();
  for (const auto& one : what.items()) {
    world_.tell(me_, instance, world_.weigh(one), [&] {
      return std::string{word(one.direction())} + " " + one.task_id() + "/" + one.step_path() + " attempt " +
             std::to_string(one.attempt()) + " under epoch " + std::to_string(what.epoch()) + ", key " + one.idempotency_key() +
             ", for ms " + std::to_string(one.complete_by_unix_ms() - what.sent_unix_ms()) + (one.in_doubt() ? ", in doubt" : "");
    });
    checker_.handed_over(instance, incarnation, what.epoch(), one);
  }
  const auto dies = world_.strikes(failpoint_id::effect_perform);
  // As from another node: it comes when the next Scheduler is there.
  if (dies && world_.hosts.chance(500) && !agents_.local(instance, shard_))
    strays_[instance] = {std::move(what), when, seats_.at(instance).carrier};
  else if (known != nullptr)
    agents_.perform({instance, incarnation, known->carrier}, shard_, std::move(what), when);
  if (dies) throw process_killed{};
}

void node::acknowledge(const std::string& instance, v1::OutcomeAckBatch what) {
  world_.tell(me_, instance, world_.weigh(what), [&] {
    std::string text = "acknowledges:";
    for (const auto& one : what.items())
      text += " task " + std::to_string(one.task_number()) + " step " + std::to_string(one.step()) + " " + word(one.direction()) +
              " attempt " + std::to_string(one.attempt()) + (one.accepted() ? " accepted" : " refused");
    return text;
  });
  for (const auto& one : what.items()) checker_.acknowledged(instance, shell_->epoch(), one);
  if (const auto* known = seat_of(instance)) agents_.acknowledge({instance, known->incarnation, known->carrier}, shard_, std::move(what));
  pass(failpoint_id::effect_acknowledge);
}

void node::acknowledge(const std::string& instance, v1::HeartbeatAckBatch what) {
  pass(failpoint_id::effect_renew_untold);
  world_.tell(me_, instance, world_.weigh(what), [&] {
    std::string text = "renews:";
    for (const auto& one : what.items())
      text += " task " + std::to_string(one.task_number()) + " step " + std::to_string(one.step()) + " attempt " +
              std::to_string(one.attempt()) + " number " + std::to_string(one.sequence()) + (one.held() ? "" : " NOT HELD");
    return text;
  });
  for (const auto& one : what.items()) checker_.renewed(one);
  if (const auto* known = seat_of(instance)) agents_.acknowledge({instance, known->incarnation, known->carrier}, shard_, std::move(what));
  pass(failpoint_id::effect_renew);
}

void node::hint(v1::RecoveryHintBatch what) {
  world_.tell(me_, "supervisor", world_.weigh(what), [&] { return std::to_string(what.items_size()) + " hints"; });
  for (std::size_t i = 0; i < overseers_.size(); ++i) {
    world_.after(world_.network.between(2, 80), of_this_life([this, i, what] { in_process([&] { overseers_[i]->hint(what); }); }));
  }
  pass(failpoint_id::effect_hint);
}

void node::wake_cron(moment due) {
  world_.tell(me_, "cron", static_cast<std::uint64_t>(to_unix_ms(due)), [&] { return "look at " + format_utc(to_unix_ms(due)); });
  world_.after(world_.jobs.between(2, 80), of_this_life([this, due] {
                 if (crier_) in_process([&] { crier_->wake(due); });
               }));
  pass(failpoint_id::effect_wake_cron);
}

/// A worker process's own code answers, from the bytes of the request to the bytes of the reply. What the pool says for it when it is away, or
/// has died, is said here.
std::weak_ptr<const void> node::evaluate(v1::EvaluateRequest what) {
  static app::program_cache programs{app::expression_programs_kept, [] {}};
  world_.tell(me_, "worker", world_.weigh(what), [&] { return "evaluate for task " + std::to_string(what.task_number()); });
  v1::EvaluateReply reply;
  reply.set_ticket(what.ticket());
  auto delay = world_.network.between(1, 20) * millisecond;
  if (world_.strikes(concern::expressions, world_.network, 60)) {
    *reply.mutable_error() = error{v1::ERROR_CODE_UNAVAILABLE, "the worker is away", ""}.to_proto();
  } else if (world_.strikes(concern::expressions, world_.network, 15)) {
    *reply.mutable_error() = error{v1::ERROR_CODE_EXPRESSION, "the expression fails", ""}.to_proto();
  } else if (const auto answer = app::answer_request(what.SerializeAsString(), programs); !answer || !reply.ParseFromString(*answer)) {
    throw rule_broken{"worker", "the expression worker cannot read what it is asked", false};
  }
  if (world_.strikes(concern::expressions, world_.network, 80)) delay += world_.network.between(0, 4'000) * millisecond;
  auto outstanding = std::make_shared<const char>();
  std::weak_ptr<const void> out = outstanding;
  tell_scheduler(
      "evaluated", [reply = std::move(reply), outstanding = std::move(outstanding)](scheduler& to) { to.evaluated(reply); }, delay);
  pass(failpoint_id::evaluate_asked);
  return out;
}

void node::reply(std::uint64_t ticket, request_reply what) {
  if (const auto* submitted = std::get_if<v1::SubmitReply>(&what)) {
    for (const auto& one : submitted->results()) checker_.submission_acknowledged(one, *store_.read());
    checker_.submission_answered(ticket, *submitted);
  } else if (std::holds_alternative<v1::WatchReply>(what)) {
    if (home_.on_watch_reply) home_.on_watch_reply(ticket);
  } else if (const auto* operated = std::get_if<v1::OperateReply>(&what)) {
    checker_.order_answered(ticket, *operated);
  } else if (const auto* applied = std::get_if<v1::JobApplyReply>(&what)) {
    checker_.of_jobs().answered(*applied);
  } else if (const auto* of_job = std::get_if<v1::JobOperateReply>(&what)) {
    checker_.of_jobs().answered(*of_job, *store_.read());
  }
  auto asked = asked_.extract(ticket);
  if (!asked) return;
  const auto& [who, on_reply] = asked.mapped();
  std::visit(
      [&](const auto& one) { world_.tell(me_, who, world_.weigh(one), [&] { return one.GetTypeName() + " " + one.ShortDebugString(); }); },
      what);
  network_.send(me_ + ">" + who, true, [on_reply = on_reply, what = std::move(what)] { on_reply(what); });
  pass(failpoint_id::effect_reply);
}

void node::notify(std::uint64_t, v1::FinishedNotice what) {
  for (const auto& one : what.items()) checker_.noticed(one, shell_->epoch(), *store_.read());
  pass(failpoint_id::effect_notify);
}

void node::on_transition(const transition& what) {
  // Asked for only when there is a transcript, so nothing of it may count for the hash.
  world_.remark(me_, std::string{what.task_id} + (what.step.empty() ? "" : "/" + std::string{what.step}) + " " + std::string{what.from} +
                         " -> " + std::string{what.to} + (what.detail.empty() ? "" : " (" + std::string{what.detail} + ")"));
}

void node::on_note(note_level level, std::string_view component, std::string_view sentence) {
  world_.tell(component, "log", static_cast<std::uint64_t>(level), [&] { return std::string{sentence}; });
  if (level == note_level::error && checker_.of_bugs().explains(sentence)) return;
  if (level == note_level::error) throw rule_broken{"internal_error", std::string{component} + " says: " + std::string{sentence}, false};
}

void node::post(webhook_post what, std::function<void(status)> done) {
  const auto life = life_;
  const auto lead = lead_;
  const auto delay = world_.clients.between(1, 200) * millisecond;
  const auto lost = world_.strikes(concern::network, world_.clients, 60);
  const auto unanswered = world_.strikes(concern::network, world_.clients, 60);
  world_.after(delay, [this, life, lead, lost, unanswered, what = std::move(what), done = std::move(done)] {
    if (!lost && home_.on_post) home_.on_post(what.url, what.body);
    if (life != life_ || lead != lead_ || !up()) return;
    // The courier is no part of the core: it dies with the process.
    if (world_.strikes(failpoint_id::courier_unrecorded)) return die();
    in_process([&] {
      if (lost || unanswered)
        done(error{v1::ERROR_CODE_UNAVAILABLE, "nobody answers", ""});
      else
        done(nothing{});
    });
  });
}

}  // namespace fairlead::simulation
