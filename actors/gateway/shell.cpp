#include "actors/gateway/shell.hpp"

#include <algorithm>

#include "actors/gateway/reads_here.hpp"
#include "actors/protocol/reminders.hpp"
#include "messages/ids.hpp"

namespace fairlead {

namespace {

constexpr int max_deployments = 4;  // checked at the same time
constexpr int max_doctors = 2;      // at the same time
constexpr int max_notices = 100'000;

}  // namespace

gateway_shell::gateway_shell(self_pointer self, gateway_setup setup)
    : self_(self),
      setup_(std::move(setup)),
      routes_(setup_.node, setup_.desks, setup_.shard_count),
      asks_(self, routes_, *setup_.time, setup_.node, setup_.doctor),
      audits_(self, routes_, setup_) {
  self_->set_down_handler([this](const caf::down_msg& gone) { forget_client(gone.source); });
  if (setup_.links) self_->send(setup_.links, watch_atom_v, caf::actor_cast<caf::strong_actor_ptr>(self_));
}

std::shared_ptr<void> gateway_shell::place_in(const std::shared_ptr<int>& taken, int most) {
  if (*taken >= most) return nullptr;
  ++*taken;
  return {taken.get(), [taken](void*) { --*taken; }};
}

// ---- tasks ----

caf::result<v1::SubmitReply> gateway_shell::answer(v1::SubmitRequest& what) {
  if (const auto why = refuse(what)) return refusal<v1::SubmitReply>(*why);
  if (auto reserved = take_reserved(what); !reserved.empty()) return submit_others(what, std::move(reserved));
  // A client without the library may omit ids. The library never does: a submission can be repeated only under the same id.
  for (auto& item : *what.mutable_items())
    if (item.id().empty()) item.set_id(make_uuid_v7(to_unix_ms(setup_.time->now())));
  // The holder of all the tasks knows the client itself.
  if (const auto shard = only_shard(what); shard && routes_.here(*shard) != nullptr) return at(*shard, what, answer_limit);
  auto ids = std::make_shared<v1::SubmitRequest>();
  for (const auto& item : what.items()) ids->add_items()->set_id(item.id());
  const bool notify = what.notify();
  // Read before the promise is made: the promise takes the sender out of the message.
  const auto client = notify ? relay_to(self_->current_sender()) : 0;
  auto cut = cut_by_shard(std::move(what), routes_.count());
  if (cut.parts.empty()) return v1::SubmitReply{};
  if (cut.parts.size() == 1 && routes_.here(cut.parts[0].first) != nullptr)
    return at(cut.parts[0].first, cut.parts[0].second, answer_limit);
  // Before the shards are asked: a task may end before its submission is acknowledged.
  if (client != 0)
    for (const auto& item : ids->items())
      if (valid_task_id(item.id())) relays_.add(item.id(), client);
  auto promise = self_->make_response_promise<v1::SubmitReply>();
  asks_.ask_each<v1::SubmitRequest>(
      std::move(cut.parts), answer_limit,
      [this, ids, client, promise, positions = std::move(cut.positions)](std::vector<v1::SubmitReply> answers) mutable {
        auto reply = put_together(*ids, positions, std::move(answers));
        if (client != 0)
          for (const auto& result : reply.results())
            // A submission without an answer may have been taken.
            if (result.error().code() != v1::ERROR_CODE_OK && result.error().code() != v1::ERROR_CODE_UNAVAILABLE)
              relays_.forget_task(result.id(), client);
        promise.deliver(std::move(reply));
      });
  return promise;
}

caf::result<v1::SubmitReply> gateway_shell::submit_others(v1::SubmitRequest& what, refused_items reserved) {
  if (what.items().empty()) return with_refused({}, std::move(reserved));
  auto promise = self_->make_response_promise<v1::SubmitReply>();
  const auto lost = [promise, reserved](const caf::error&) mutable {
    promise.deliver(refusal<v1::SubmitReply>({v1::ERROR_CODE_UNAVAILABLE, "the tasks were not submitted in time", "submit them again"}));
  };
  // As a request of its own, so that it goes the way that its shards need.
  self_->request(caf::actor_cast<gateway_actor>(self_), 2 * answer_limit, std::move(what))
      .then([promise, reserved](v1::SubmitReply& reply) mutable { promise.deliver(with_refused(std::move(reply), std::move(reserved))); },
            lost);
  return promise;
}

caf::result<v1::TaskListReply> gateway_shell::answer(v1::TaskListRequest& what) {
  if (const auto why = refuse(what)) return refusal<v1::TaskListReply>(*why);
  if (const auto shard = only_shard(what); shard && (what.has_shard() || !may_be_unknown(what))) return at(*shard, what, answer_limit);
  // A child is on the shard of its parent.
  const auto only = what.parent().empty() ? std::nullopt : std::optional{core::shard_of_task(what.parent(), routes_.count())};
  auto places = list_places(what.cursor(), routes_.count(), only);
  if (!places) {
    ++refused_;
    return refusal<v1::TaskListReply>(places.failure());
  }
  std::vector<std::pair<std::uint32_t, v1::TaskListRequest>> parts;
  for (std::uint32_t shard = 0; shard < places->size(); ++shard) {
    if ((*places)[shard].over) continue;
    parts.emplace_back(shard, what);
    parts.back().second.set_cursor((*places)[shard].cursor);
  }
  auto promise = self_->make_response_promise<v1::TaskListReply>();
  asks_.ask_each<v1::TaskListRequest>(std::move(parts), answer_limit,
                                      [what, promise, places = std::move(*places)](std::vector<v1::TaskListReply> answers) mutable {
                                        promise.deliver(merge_tasks(what, std::move(places), std::move(answers)));
                                      });
  return promise;
}

caf::result<v1::TaskShowReply> gateway_shell::answer(v1::TaskShowRequest& what) {
  if (const auto why = refuse(what)) return refusal<v1::TaskShowReply>(*why);
  if (const auto shard = only_shard(what)) return at(*shard, what, answer_limit);
  const auto shard = core::shard_of_task(what.id(), routes_.count());
  auto promise = self_->make_response_promise<v1::TaskShowReply>();
  asks_.ask<v1::TaskShowRequest>(shard, std::move(what), answer_limit, [this, shard, promise](v1::TaskShowReply answer) mutable {
    number_alert(answer, shard, routes_.count());
    promise.deliver(std::move(answer));
  });
  return promise;
}

// ---- workflows ----

void gateway_shell::check_expressions(const v1::DeployRequest& what, std::function<void(v1::DeployReply)> then) {
  if (!setup_.deployer) return then({});
  auto place = place_in(deployments_, places_for(what, max_deployments));
  if (!place)
    return then(refusal<v1::DeployReply>(error{v1::ERROR_CODE_OVERLOADED,
                                               std::to_string(max_deployments) + " deployments are already being checked",
                                               "deploy again in a moment"}));
  self_->request(setup_.deployer, deploy_limit, what)
      .then([then, place](v1::DeployReply& answer) { then(std::move(answer)); },
            [this, then, place](const caf::error&) {
              then(refusal<v1::DeployReply>(error{
                  v1::ERROR_CODE_UNAVAILABLE, "the expressions of the workflow could not be checked on node " + setup_.node + " in time",
                  "deploy again in a moment"}));
            });
}

caf::result<v1::DeployReply> gateway_shell::answer(v1::DeployRequest& what) {
  if (const auto why = refuse(what)) return refusal<v1::DeployReply>(*why);
  std::vector<std::pair<std::uint32_t, v1::DeployRequest>> parts;
  if (const auto shard = only_shard(what))
    parts.emplace_back(*shard, what);
  else
    for (std::uint32_t one = 0; one < routes_.count(); ++one) {
      // All shards or none, as far as this is known beforehand; a second deployment repairs the rest.
      if (routes_.holder(one).empty() && !routes_.leader_may_come_until(one, mailbox_time(*self_)))
        return refusal<v1::DeployReply>(routes_.unreachable(one));
      parts.emplace_back(one, what);
    }
  auto promise = self_->make_response_promise<v1::DeployReply>();
  check_expressions(what, [this, promise, parts = std::move(parts)](v1::DeployReply checked) mutable {
    if (checked.error().code() != v1::ERROR_CODE_OK) return give(promise, std::move(checked));
    asks_.ask_each<v1::DeployRequest>(std::move(parts), deploy_limit, [promise](std::vector<v1::DeployReply> answers) mutable {
      promise.deliver(merge_deployments(std::move(answers)));
    });
  });
  return promise;
}

caf::result<v1::WorkflowDeleteReply> gateway_shell::answer(v1::WorkflowDeleteRequest& what) {
  if (const auto why = refuse(what)) return refusal<v1::WorkflowDeleteReply>(*why);
  if (const auto shard = only_shard(what)) return at(*shard, what, answer_limit);
  auto promise = self_->make_response_promise<v1::WorkflowDeleteReply>();
  // Each shard knows its own jobs: all are asked before any forgets the workflow.
  auto ask = what;
  ask.set_check_only(true);
  asks_.ask_all<v1::WorkflowDeleteRequest>(ask, answer_limit, [this, what, promise](std::vector<v1::WorkflowDeleteReply> answers) mutable {
    auto merged = merge_workflow_deletions(answers);
    if (what.check_only() || merged.error().code() != v1::ERROR_CODE_OK) {
      promise.deliver(std::move(merged));
      return;
    }
    asks_.ask_all<v1::WorkflowDeleteRequest>(what, answer_limit, [promise](std::vector<v1::WorkflowDeleteReply> answers) mutable {
      auto done = merge_workflow_deletions(answers);
      // A job may have come, or a shard left, since all were asked.
      if (done.error().code() != v1::ERROR_CODE_OK) {
        done.mutable_error()->set_sentence("not every shard has deleted the workflow: " + done.error().sentence());
        done.mutable_error()->set_remedy("repeat the command once that is mended, or deploy the workflow again");
      }
      promise.deliver(std::move(done));
    });
  });
  return promise;
}

// ---- operators ----

caf::result<v1::DoctorReply> gateway_shell::answer(v1::DoctorRequest& what) {
  auto place = place_in(doctors_, places_for(what, max_doctors));
  if (!place)
    return refusal<v1::DoctorReply>({v1::ERROR_CODE_OVERLOADED, std::to_string(max_doctors) + " doctors are already checking the tasks",
                                     "repeat the command in a moment"});
  if (const auto why = refuse(what)) return refusal<v1::DoctorReply>(*why);
  auto promise = self_->make_response_promise<v1::DoctorReply>();
  const auto then = [promise, place](std::vector<v1::DoctorReply> answers) mutable { promise.deliver(merge_doctors(std::move(answers))); };
  if (const auto shard = only_shard(what))
    asks_.ask_each<v1::DoctorRequest>({{*shard, what}}, doctor_limit, then);
  else
    asks_.ask_all<v1::DoctorRequest>(what, doctor_limit, then);
  return promise;
}

// ---- status events ----

caf::result<v1::RepliesReply> gateway_shell::answer(v1::RepliesRequest& what) {
  if (const auto why = refuse(what)) return refusal<v1::RepliesReply>(*why);
  const auto wait = std::clamp(duration{what.wait_ms()}, duration{0}, longest_poll);
  if (const auto shard = only_shard(what)) {
    if (!what.positions().empty()) what = replies_of_shard(what, *shard);
    return at(*shard, what, wait + answer_limit);
  }
  if (what.acknowledged() != 0 && what.positions().empty()) {
    ++refused_;
    return refusal<v1::RepliesReply>({v1::ERROR_CODE_INVALID_ARGUMENT,
                                      "the cluster has " + std::to_string(routes_.count()) + " shards, so one position is not enough",
                                      "acknowledge by `positions`, one for each shard that events came from"});
  }
  auto promise = self_->make_response_promise<v1::RepliesReply>();
  ask_replies(std::make_shared<const v1::RepliesRequest>(what), wait.count(), promise);
  return promise;
}

void gateway_shell::ask_replies(std::shared_ptr<const v1::RepliesRequest> what, std::int64_t wait_ms,
                                promise_of<v1::RepliesReply> promise) {
  // The first shard with events ends the wait of all; the other polls then run on for nobody. Short polls keep their number small.
  constexpr std::int64_t slice_ms = 2'000;
  struct round {
    std::vector<std::pair<std::uint32_t, v1::RepliesReply>> answers;
    std::uint32_t missing = 0;
    bool over = false;
  };
  const auto state = std::make_shared<round>();
  state->missing = routes_.count();
  const auto slice = std::min(wait_ms, slice_ms);
  for (std::uint32_t shard = 0; shard < routes_.count(); ++shard) {
    auto part = replies_of_shard(*what, shard);
    part.set_wait_ms(slice);
    asks_.ask<v1::RepliesRequest>(shard, std::move(part), duration{slice} + answer_limit, [=, this](v1::RepliesReply answer) mutable {
      --state->missing;
      if (state->over) return;
      const bool first = !answer.events().empty() && slice > 0;
      state->answers.emplace_back(shard, std::move(answer));
      if (state->missing != 0 && !first) return;
      auto merged = merge_replies(*what, std::move(state->answers));
      state->over = true;
      if (merged.events().empty() && !merged.has_error() && wait_ms > slice) return ask_replies(what, wait_ms - slice, promise);
      promise.deliver(std::move(merged));
    });
  }
}

// ---- notices ----

std::uint64_t gateway_shell::relay_to(const caf::strong_actor_ptr& client) {
  if (!client) return 0;
  const auto [known, first] = client_numbers_.try_emplace(client->address(), next_client_);
  if (first) {
    clients_.emplace(next_client_++, client->address());
    self_->monitor(client->address());
  }
  return known->second;
}

void gateway_shell::forget_client(const caf::actor_addr& who) {
  const auto found = client_numbers_.find(who);
  if (found == client_numbers_.end()) return;
  relays_.forget_client(found->second);
  clients_.erase(found->second);
  client_numbers_.erase(found);
}

void gateway_shell::relay(const v1::FinishedNotice& notice) {
  if (notice.items_size() > max_notices) {
    ++refused_;
    return;
  }
  for (auto& [number, told] : relays_.take(notice)) {
    const auto client = clients_.find(number);
    if (client == clients_.end()) continue;
    if (const auto sink = caf::actor_cast<client_sink>(client->second)) self_->send(sink, std::move(told));
  }
}

void gateway_shell::learn(const shard_route& route) {
  if (route.shard == no_shard) return asks_.remind();
  if (routes_.learn(route, mailbox_time(*self_))) asks_.give_up(route.shard);
  asks_.look();
}

}  // namespace fairlead
