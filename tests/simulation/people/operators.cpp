#include "tests/simulation/people/operators.hpp"

#include "actors/core/task/task.hpp"
#include "actors/queries/alert_queries.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::simulation {

operators::operators(world& in, home& shard, services& behind, checker& judge, const clients& submitters,
                     const std::vector<agent_site>& sites, const std::vector<v1::WorkflowDefinition>& editions)
    : world_(in), home_(shard), services_(behind), checker_(judge), clients_(submitters), sites_(sites), editions_(editions) {}

v1::OperatorAction operators::action(v1::OperatorVerb verb, const std::string& step) {
  v1::OperatorAction out;
  out.set_verb(verb);
  out.set_step(step);
  out.set_reason("because");
  out.set_who("ops");
  return out;
}

void operators::begin(std::int64_t until_us) {
  if (world_.profiles.chance(300)) {
    const auto orders = world_.profiles.between(1, 5);
    for (std::int64_t i = 0; i < orders; ++i) world_.after(world_.profiles.between(0, until_us), [this] { order_of_agents(); });
  }
  plan_migrations(until_us);
  auto& luck = world_.operators;
  if (!luck.chance(600)) return;
  const auto count = luck.below(12);
  for (std::uint64_t i = 0; i < count; ++i) world_.after(luck.between(0, until_us), [this] { order_something(); });
}

void operators::undo(const std::string& id, std::function<void(bool taken)> answered) {
  if (orders_ < world_.settings.most_orders) order(id, action(v1::OPERATOR_VERB_UNDO), false, std::move(answered));
}

void operators::remove(const std::string& id, std::function<void(bool taken)> answered) {
  if (orders_ < world_.settings.most_orders) order(id, action(v1::OPERATOR_VERB_DELETE), false, std::move(answered));
}

void operators::order(const std::string& id, v1::OperatorAction what, bool at_once, std::function<void(bool taken)> told) {
  ++orders_;
  v1::OperateRequest request;
  *request.mutable_action() = what;
  request.add_ids(id);
  world_.tell("operator", "scheduler", world_.weigh(request), [&] {
    return v1::OperatorVerb_Name(what.verb()).substr(14) + " " + id + (what.step().empty() ? "" : "/" + what.step()) +
           (what.has_json() ? " " + what.json().substr(0, 80) : "");
  });
  checker_.ordered(id, what);
  if (what.verb() == v1::OPERATOR_VERB_RETRY) services_.keep_keys_of(id);
  world_.count("orders");
  const auto known = store::find_task(*home_.reads().read(), id);
  const auto is_there = home_.replicated() && !home_.put_back() && home_.shows_all() && known.ok() && known->has_value();
  const auto answered = [this, id, is_there, told = std::move(told)](const v1::OperateReply& reply) {
    // After a recovery from one store it need not be there any more.
    const auto stays = is_there && !home_.put_back();
    if (stays) world_.judges("stale_answer");
    if (stays && !reply.results().empty() && reply.results(0).error().sentence().starts_with("there is no task"))
      world::broken("stale_answer", "an operator is told that there is no task " + id + ", and there was when it was ordered");
    const auto taken = !reply.results().empty() && reply.results(0).error().code() == v1::ERROR_CODE_OK;
    if (taken) world_.count("orders taken");
    if (told) told(taken);
    if (!reply.results().empty() && reply.results(0).error().code() == v1::ERROR_CODE_INTERNAL && !checker_.of_bugs().about(id))
      throw rule_broken{"internal_error", "an order for " + id + " met a bug: " + reply.results(0).error().sentence(), false};
  };
  const auto ask = [request, this](scheduler& to, std::uint64_t ticket) {
    checker_.order_heard(ticket, request);
    to.answer(request, ticket);
  };
  // What an operator knows of a service holds at this moment; a settlement that arrives hours later may be about another attempt.
  if (at_once)
    home_.request_now<v1::OperateReply>("operator", ask, answered);
  else
    home_.request<v1::OperateReply>("operator", ask, answered);
}

/// No two are alike, so that each can be told from those before it.
std::string operators::other_input(const v1::TaskRecord& record, const v1::StepRecord& step) const {
  const auto kind = step.kind();
  const auto* plan = checker_.shape_of(record);
  if (plan != nullptr && step.definition() < plan->size() && plan->has_items(step.definition())) return other_list();
  if (kind == v1::STEP_KIND_WAIT)
    return orders_ % 4 == 0 ? R"("soon)" + std::to_string(orders_) + '"' : '"' + std::to_string(100 + 37 * orders_) + R"(ms")";
  if (kind == v1::STEP_KIND_VALUE) return R"({"v":)" + std::to_string(100 + orders_) + "}";
  return R"({"n":)" + std::to_string(100 + orders_) + "}";
}

bool operators::settle(const v1::TaskRecord& record, const v1::StepRecord& step) {
  const auto key = core::idempotency_key(record, step, v1::DIRECTION_PERFORM);
  // In doubt without an attempt are steps of a child that may have begun in the time that a restore lost: nothing else brings those on.
  const auto open = step.state() == v1::STEP_STATE_IN_DOUBT || step.doubtful();
  if (key.empty() || !open || step.complete_by_unix_ms() != 0) return false;
  const auto output = services_.inspect(key);
  auto what = action(output ? v1::OPERATOR_VERB_SETTLE_COMPLETED : v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED, step.path());
  if (output) what.set_json(*output);
  order(record.id(), what, true);
  return true;
}

void operators::order_something() {
  if (!world_.troubled(concern::operators) || orders_ >= world_.settings.most_orders || clients_.ids().empty()) return;
  auto& luck = world_.operators;
  if (luck.chance(80)) return acknowledge_alerts();
  if (luck.chance(40)) return release_brake();
  const auto id = any_task(luck);
  const auto view = home_.reads().read();
  const auto known = store::find_task(*view, id);
  if (!known.ok() || !*known) {
    order(id, action(v1::OPERATOR_VERB_CANCEL));
    return;
  }
  const auto record = store::load_task(*view, (*known)->number());
  if (!record.ok() || !*record) return;
  const auto index = static_cast<std::uint32_t>(luck.below(static_cast<std::uint64_t>((*record)->steps_size())));
  const auto& step = (*record)->steps(static_cast<int>(index));
  switch (luck.below(12)) {
    case 0:
    case 1: order(id, action(v1::OPERATOR_VERB_CANCEL)); break;
    case 2: order(id, action(v1::OPERATOR_VERB_UNDO)); break;
    case 3: order(id, action(v1::OPERATOR_VERB_PAUSE)); break;
    case 4: order(id, action(v1::OPERATOR_VERB_RESUME)); break;
    case 5: order(id, action(v1::OPERATOR_VERB_SKIP, step.path())); break;
    case 6: order(id, action(v1::OPERATOR_VERB_RETRY, luck.chance(500) ? step.path() : "")); break;
    case 7: {
      auto what = action(v1::OPERATOR_VERB_RETRY, step.path());
      what.set_json(other_input(**record, step));
      order(id, what);
      break;
    }
    case 8: order(id, action(v1::OPERATOR_VERB_RETRY, "no-such-step")); break;
    case 9:
      if (!settle(**record, step)) order(id, action(v1::OPERATOR_VERB_RESUME));
      break;
    case 10: terminate(id); break;
    default:
      if ((*record)->parked()) see_to(**record, static_cast<int>(luck.below(6)));
  }
}

void operators::see_to(const v1::TaskRecord& record, int round) {
  auto& luck = world_.operators;
  if (see_to_children(record, round)) return;
  const auto undoing = record.state() == v1::TASK_STATE_UNDOING;
  const auto says = [&](const char* what) { return record.parked_reason().find(what) != std::string::npos; };
  for (int i = 0; i < record.steps_size(); ++i) {
    const auto& step = record.steps(i);
    const auto open = step.state() == v1::STEP_STATE_IN_DOUBT || (step.doubtful() && step.state() != v1::STEP_STATE_COMPLETED);
    if (open && luck.chance(700) && settle(record, step)) return;
  }
  if (says("the output of the task") && luck.chance(500)) {
    auto what = action(v1::OPERATOR_VERB_SETTLE_COMPLETED);
    what.set_json(R"({"settled":)" + std::to_string(orders_) + "}");
    return order(record.id(), what);
  }
  // After a recovery.
  if (undoing && (says("cannot be undone any more") || says("does not say how to undo"))) return terminate(record.id());
  if (undoing || luck.chance(round < 8 ? 600 : 200)) return order(record.id(), action(v1::OPERATOR_VERB_RETRY));
  for (int i = 0; i < record.steps_size(); ++i) {
    const auto& step = record.steps(i);
    if (step.state() != v1::STEP_STATE_FAILED && step.state() != v1::STEP_STATE_PENDING) continue;
    // It holds nothing up, and while work for it stands every order for it is refused: what holds the task up comes after it.
    if (step.passed_over() && !luck.chance(150)) continue;
    if (luck.chance(300)) return order(record.id(), action(v1::OPERATOR_VERB_SKIP, step.path()));
    if (!luck.chance(500) || step.kind() == v1::STEP_KIND_SIGNAL) continue;
    auto what = action(v1::OPERATOR_VERB_RETRY, step.path());
    what.set_json(other_input(record, step));
    return order(record.id(), what);
  }
  if (luck.chance(100)) return terminate(record.id());
  order(record.id(), action(luck.chance(500) ? v1::OPERATOR_VERB_UNDO : v1::OPERATOR_VERB_CANCEL));
}

void operators::terminate(const std::string& id) {
  auto what = action(v1::OPERATOR_VERB_TERMINATE);
  what.set_at_once(world_.operators.chance(400));
  order(id, what);
  // While the attempts that it abandons may still be in progress.
  if (!what.at_once() || !world_.operators.chance(500)) return;
  world_.after(world_.operators.between(5, 1'500) * millisecond, [this, id] { undo(id, {}); });
}

void operators::let_go() {
  const auto view = home_.reads().read();
  for (const auto& [number, seen] : checker_.seen()) {
    const auto record = store::load_task(*view, number);
    if (!record.ok() || !*record) continue;
    if ((*record)->paused()) order((*record)->id(), action(v1::OPERATOR_VERB_RESUME));
    say_again(**record);
  }
  let_agents_go();
  if (view->get_progress().shard.undo_brake_since_unix_ms() != 0) release_brake();
}

// An order may have died with the node after its key was blocked in the service: whoever blocks a key says so until it is heard.
void operators::say_again(const v1::TaskRecord& record) {
  if (record.state() != v1::TASK_STATE_RUNNING) return;
  for (const auto& step : record.steps()) {
    const auto open =
        step.state() == v1::STEP_STATE_IN_DOUBT || step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_PENDING;
    if (!open || step.complete_by_unix_ms() != 0 || !services_.blocked(core::idempotency_key(record, step, v1::DIRECTION_PERFORM)))
      continue;
    // Every order for it is refused meanwhile. That task may be parked, and nobody sees to it before the node has come to rest.
    if (step.child().state() == v1::TASK_STATE_UNDOING) continue;
    if (settle(record, step)) continue;
    auto what = action(v1::OPERATOR_VERB_RETRY, step.path());
    what.set_json(other_input(record, step));
    order(record.id(), what);
  }
}

void operators::resolve(int round) {
  const auto view = home_.reads().read();
  for (const auto& [number, seen] : checker_.seen()) {
    const auto record = store::load_task(*view, number);
    if (record.ok() && *record && (*record)->parked()) see_to(**record, round);
  }
}

void operators::acknowledge_alerts() {
  ++orders_;
  v1::AlertAckRequest request;
  const auto page = list_alerts({}, *home_.reads().read());
  for (const auto& one : page.items()) request.add_numbers(one.number());
  request.add_numbers(4'711);
  request.set_who("ops");
  home_.request<v1::AlertAckReply>(
      "operator", [request](scheduler& to, std::uint64_t ticket) { to.answer(request, ticket); },
      [request](const v1::AlertAckReply& reply) {
        if (reply.results_size() != request.numbers_size() ||
            reply.results(reply.results_size() - 1).error().code() != v1::ERROR_CODE_NOT_FOUND)
          world::broken("refused", "an acknowledgement of alerts was not answered one by one");
      });
}

void operators::release_brake() {
  ++orders_;
  v1::BrakeReleaseRequest request;
  request.set_who("ops");
  request.set_reason("it is right to undo them");
  home_.request<v1::BrakeReleaseReply>(
      "operator", [request](scheduler& to, std::uint64_t ticket) { to.answer(request, ticket); }, [](const v1::BrakeReleaseReply&) {});
}

}  // namespace fairlead::simulation
