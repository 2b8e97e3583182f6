// Agents and their requests to services: what is lost, late, refused, or carried out although nobody hears of it.

#include <algorithm>
#include <utility>

#include "app/simulate/world.hpp"
#include "messages/time.hpp"

namespace fairlead::app::simulate {

namespace {

// How often in 10,000 attempts of a run of middling weather.
constexpr unsigned lost_hand_overs = 80;
constexpr unsigned agent_dies_before = 40, agent_dies_after = 60;
constexpr unsigned busy_answers = 250, refusals = 150, refused_undos = 10;
constexpr unsigned broken_before = 120, broken_after = 220, late_performs = 120, slow_services = 60;
constexpr unsigned lost_outcomes = 100;
constexpr unsigned unknown_look_ups = 800;
constexpr unsigned agent_outages = 400;  // in 10,000 runs and agents
constexpr int most_callbacks = 100;      // of a service that gets no answer
constexpr std::int64_t callback_again_ms = 60'000;

std::uint64_t site_of_agent(const std::string& agent, std::string_view kind) { return mixed(mixed(3, agent), kind); }

}  // namespace

std::uint64_t world::site_of(const v1::Perform& what, std::string_view kind) const {
  const auto place = mixed(what.task_number(), what.step_path());
  return mixed(core::mix(place ^ (std::uint64_t{what.attempt()} << 8) ^ static_cast<std::uint64_t>(what.direction())), kind);
}

/// `attempt 2 to undo step charge (payment.refund)`, without the agent.
std::string world::name_of(const v1::Perform& what) {
  const auto* verb = what.direction() == v1::DIRECTION_UNDO ? "undo" : what.direction() == v1::DIRECTION_LOOKUP ? "look up" : "perform";
  return "attempt " + std::to_string(what.attempt()) + " to " + verb + " " + step_of(what);
}

void world::make_seats() {
  std::map<std::string, std::set<std::string>> calls;
  std::map<std::string, std::map<std::string, const v1::StepDefinition*>> by_labels;
  for (const auto& workflow : on_.workflows)
    for (const auto& step : workflow.steps()) {
      if (step.kind() != v1::STEP_KIND_CALL) continue;
      calls[step.agent()].insert(step.call());
      if (!step.undo().call().empty()) calls[step.agent()].insert(step.undo().call());
      std::string labels;
      for (const auto& label : step.labels()) labels += label.key() + "=" + label.value() + ";";
      by_labels[step.agent()].emplace(labels, &step);
    }
  for (const auto& [agent, kinds] : by_labels) {
    auto roll = weather_.at(site_of_agent(agent, "place"));
    int number = 0;
    for (const auto& [labels, step] : kinds) {
      auto& one = seats_["n" + std::to_string(++number) + "/" + agent];
      one.beside = roll.chance(40);
      auto& as = one.registration;
      as.set_agent(agent);
      as.set_instance("n" + std::to_string(number) + "/" + agent);
      as.set_incarnation(1);
      as.set_capacity(1'000);
      as.set_kind("native");
      for (const auto& call : calls[agent]) as.add_calls(call);
      for (const auto& call : on_.promised.lookups_of(agent))
        if (calls[agent].count(call) != 0) as.add_lookups(call);
      for (const auto& policy : on_.promised.policies_of(agent))
        if (calls[agent].count(policy.call()) != 0) *as.add_policies() = policy;
      *as.mutable_labels() = step->labels();
    }
    const auto site = site_of_agent(agent, "outage");
    auto when = weather_.at(site);
    const auto from = when.spread(1, 60'000), to = from + when.spread(1'000, 2'700'000);
    if (weather_.strikes(site, agent_outages, from,
                         [&, agent = agent] { return "the service of " + agent + " is down for " + format_duration(to - from); }))
      outages_[agent] = {from, to};
  }
}

bool world::is_down(const std::string& agent) {
  const auto found = outages_.find(agent);
  return found != outages_.end() && now_ms_ >= found->second.first && now_ms_ < found->second.second;
}

void world::register_seat(const std::string& instance) {
  auto& one = seats_.at(instance);
  if (!one.alive || !shell_) return;
  after_in_core(5, [this, instance] {
    auto& one = seats_.at(instance);
    if (!one.alive) return;
    one.registration.set_epoch(one.epoch);
    one.registration.set_revision(one.registration.revision() + 1);
    const auto welcome = shell_->add_agent(one.registration, true);
    if (welcome.has_error()) broken_ = welcome.error().sentence();
    one.epoch = std::max(one.epoch, welcome.epoch());
    after_message();
    send_outcomes(instance);
  });
}

void world::kill_seat(const std::string& instance) {
  auto& one = seats_.at(instance);
  one.alive = false;
  one.held.clear();
  one.unacknowledged.clear();
  one.epoch = 0;
  one.registration.set_incarnation(one.registration.incarnation() + 1);
  after(2'000, [this, instance, process = one.registration.incarnation()] {
    auto& one = seats_.at(instance);
    if (one.registration.incarnation() != process) return;
    one.alive = true;
    register_seat(instance);
  });
}

// ---- attempts ----

void world::perform(const std::string& instance, v1::PerformBatch what) {
  const auto incarnation = seats_.at(instance).registration.incarnation();
  for (auto& item : *what.mutable_items()) {
    if (weather_.strikes(site_of(item, "hand-over"), lost_hand_overs, now_ms_,
                         [&] { return "the hand-over of " + name_of(item) + " is lost"; })) {
      tell("the hand-over of " + name_of(item) + " is lost");
      continue;
    }
    // Until the agent has it the budget counts the time of the way.
    after(4, [this, instance, incarnation, epoch = what.epoch(), item = std::move(item)] { begin(instance, incarnation, epoch, item); });
  }
}

void world::begin(const std::string& instance, std::uint64_t incarnation, std::uint64_t epoch, const v1::Perform& what) {
  auto& one = seats_.at(instance);
  if (!one.alive || one.registration.incarnation() != incarnation || epoch < one.epoch) return;
  one.epoch = epoch;
  if (!one.held.emplace(what.task_number(), what.step(), what.direction(), what.attempt()).second) return;
  const auto& agent = one.registration.agent();
  const auto dies = [&](const char* kind, unsigned how_often, const char* when) {
    if (!weather_.strikes(site_of(what, kind), how_often, now_ms_,
                          [&] { return "the agent " + agent + " dies " + when + " " + name_of(what); }))
      return false;
    tell("the agent " + agent + " dies " + when + " " + name_of(what));
    return true;
  };
  if (dies("dies before", agent_dies_before, "before it makes")) return kill_seat(instance);
  if (dies("dies after", agent_dies_after, "in the middle of")) {
    const auto asked = what;
    after(10, [this, agent, asked] { request(agent, asked); });
    return kill_seat(instance);
  }
  work(instance, what);
}

/// What the service makes of the request, and what the agent hears of it.
void world::work(const std::string& instance, const v1::Perform& what) {
  const auto agent = seats_.at(instance).registration.agent();
  auto roll = weather_.at(site_of(what, "work"));
  const auto takes_ms = roll.spread(5, 300);
  const auto lease_end_ms = now_ms_ + what.budget_ms() - 10;
  if (what.heartbeat_ms() > 0) beat(instance, what, 1, lease_end_ms);
  const auto answers = [&](std::int64_t at_ms, service_answer answer) {
    // At the end of its lease an agent stops and says nothing.
    if (now_ms_ + at_ms >= lease_end_ms) return;
    after(at_ms, [this, instance, what, answer = std::move(answer)] { report(instance, what, answer); });
  };
  const auto strikes = [&](const char* kind, unsigned how_often, const std::string& words) {
    if (!weather_.strikes(site_of(what, kind), how_often, now_ms_, [&] { return name_of(what) + ": " + words; })) return false;
    tell(name_of(what) + ": " + words);
    return true;
  };
  const auto performs = [&](std::int64_t at_ms) { after(at_ms, [this, agent, what] { request(agent, what); }); };
  if (is_down(agent)) {
    tell(name_of(what) + ": the service of " + agent + " is down");
    return answers(5, {fault_of(v1::FAULT_KIND_TRANSIENT, "connection_refused", "the service is down"), {}, {}});
  }
  if (strikes("busy", busy_answers, "the service answers 503, and does nothing")) {
    auto fault = fault_of(v1::FAULT_KIND_TRANSIENT, "http_503", "the service is busy");
    fault.set_key_spent(on_.promised.of(agent, what.call()).replays_errors);
    return answers(takes_ms, {std::move(fault), {}, {}});
  }
  if (what.direction() == v1::DIRECTION_LOOKUP) {
    // One that can deny can always tell.
    if (!on_.promised.of(agent, what.call()).denies && strikes("unknown", unknown_look_ups, "the service does not know"))
      return answers(takes_ms, {std::nullopt, "null", v1::LOOKUP_VERDICT_UNKNOWN});
  } else if (strikes("refused", what.direction() == v1::DIRECTION_UNDO ? refused_undos : refusals,
                     "the service answers 422, and does nothing")) {
    return answers(takes_ms, {fault_of(v1::FAULT_KIND_PERMANENT, "http_422", "the service refuses it"), {}, {}});
  }
  // A look-up changes nothing, so it is never in doubt.
  const auto doubt = what.direction() == v1::DIRECTION_LOOKUP ? v1::FAULT_KIND_TRANSIENT : v1::FAULT_KIND_IN_DOUBT;
  const auto lost = fault_of(doubt, "connection_lost", "the connection was lost");
  if (strikes("broken before", broken_before, "the connection is lost before the service gets the request"))
    return answers(takes_ms, {lost, {}, {}});
  if (strikes("broken after", broken_after, "the service carries it out, and its answer is lost")) {
    performs(takes_ms);
    return answers(takes_ms + 5, {lost, {}, {}});
  }
  if (strikes("late", late_performs, "a gateway answers 504, and the service carries it out later")) {
    performs(roll.spread(100, services::longest_way_ms));
    return answers(takes_ms, {fault_of(doubt, "http_504", "a gateway did not wait"), {}, {}});
  }
  if (strikes("slow", slow_services, "the service carries it out, and answers after the end of the lease")) return performs(takes_ms);
  if (now_ms_ + takes_ms >= lease_end_ms) return performs(takes_ms);
  after(takes_ms, [this, instance, agent, what] { report(instance, what, request(agent, what)); });
}

service_answer world::request(const std::string& agent, const v1::Perform& what) {
  if (what.direction() != v1::DIRECTION_PERFORM || what.callback().empty()) return services_.carry_out(agent, what, now_ms_);
  accept(agent, what);
  return {};
}

/// The work of a step with a callback: done later, under a key once.
void world::accept(const std::string& agent, const v1::Perform& what) {
  const auto& key = what.idempotency_key();
  const auto [known, fresh] = accepted_.try_emplace(key);
  auto& work = known->second;
  const auto again = !fresh && on_.promised.of(agent, what.call()).honours_keys;
  tell(agent + "." + what.call() + " for " + step_of(what) + (again ? ": was accepted before" : ": accepted"));
  if (fresh) decide_work(work, weather_, what, now_ms_);
  work.callback = what.callback();
  std::int64_t within_ms = 60'000;
  if (const auto* definition = on_.definition_of(what.workflow()))
    for (const auto& step : definition->steps())
      if (step.name() == what.step_path()) within_ms = step.callback_ms();
  const auto course = course_of(weather_, what, within_ms, now_ms_);
  if (course.loses_work) return;
  after(course.in_ms, [this, agent, what, course] { answer_later(agent, what, course); });
}

/// The moment at which the work is done, or has failed.
void world::answer_later(const std::string& agent, const v1::Perform& what, const course_of_work& course) {
  const auto& work = accepted_.at(what.idempotency_key());
  v1::OperatorAction action;
  action.set_verb(v1::OPERATOR_VERB_CALLBACK);
  action.set_who("service");
  action.set_callback(work.callback);
  if (work.fails) {
    *action.mutable_fault() = *work.fails;
  } else {
    auto done = services_.carry_out(agent, what, now_ms_);
    if (done.fault)
      *action.mutable_fault() = std::move(*done.fault);
    else
      action.set_json(work.bare ? "null" : done.output);
  }
  if (course.silent) return;
  tell("the service of " + step_of(what) + " calls back" +
       (action.has_fault() ? ": the work was not done"
        : work.bare        ? " without an output"
                           : ""));
  call_back(action, what.task_id(), most_callbacks);
  if (course.again_in_ms == 0) return;
  if (course.differs && !action.has_fault()) action.set_json("[" + action.json() + "]");
  after(course.again_in_ms, [this, action, step = step_of(what), id = what.task_id()] {
    tell("the service of " + step + " calls back once more");
    call_back(action, id, most_callbacks);
  });
}

/// A service sends its callback until it is answered.
void world::call_back(v1::OperatorAction what, const std::string& id, int times) {
  std::uint64_t ticket = 0;
  if (shell_) {
    ticket = next_ticket_++;
    unanswered_.insert(ticket);
    v1::OperateRequest request;
    *request.mutable_action() = what;
    request.add_ids(id);
    tell_scheduler([&](scheduler& to) { to.answer(request, ticket); });
  }
  if (times == 1) return;
  after(callback_again_ms, [this, what = std::move(what), id, times, ticket] {
    if (ticket == 0 || unanswered_.erase(ticket) > 0) call_back(what, id, times - 1);
  });
}

// ---- outcomes ----

void world::report(const std::string& instance, const v1::Perform& what, service_answer answer) {
  auto& one = seats_.at(instance);
  const attempt_id id{what.task_number(), what.step(), what.direction(), what.attempt()};
  if (!one.alive || one.held.count(id) == 0) return;
  v1::Outcome out;
  out.set_task_number(what.task_number());
  out.set_step(what.step());
  out.set_direction(what.direction());
  out.set_attempt(what.attempt());
  out.set_tries(1);
  if (answer.fault)
    *out.mutable_fault() = std::move(*answer.fault);
  else
    out.set_output(std::move(answer.output));
  out.set_verdict(answer.verdict);
  one.unacknowledged[id] = std::move(out);
  if (!weather_.strikes(site_of(what, "outcome"), lost_outcomes, now_ms_,
                        [&] { return "the outcome of " + name_of(what) + " is lost, and sent again"; }))
    return send_outcomes(instance);
  tell("the outcome of " + name_of(what) + " is lost");
  after(5'000, [this, instance] { send_outcomes(instance); });
}

void world::send_outcomes(const std::string& instance) {
  const auto& one = seats_.at(instance);
  if (!one.alive || one.unacknowledged.empty()) return;
  v1::OutcomeBatch batch;
  batch.set_instance(instance);
  batch.set_incarnation(one.registration.incarnation());
  for (const auto& [id, outcome] : one.unacknowledged) *batch.add_items() = outcome;
  // What a node that is down does not get is sent when the instance registers with the next one.
  after_in_core(3, [this, batch = std::move(batch)] { tell_scheduler([&](scheduler& to) { to.outcomes(batch); }); });
}

void world::acknowledge(const std::string& instance, v1::OutcomeAckBatch what) {
  auto& one = seats_.at(instance);
  for (const auto& item : what.items()) {
    const attempt_id id{item.task_number(), item.step(), item.direction(), item.attempt()};
    one.unacknowledged.erase(id);
    one.held.erase(id);
  }
}

void world::beat(const std::string& instance, const v1::Perform& what, std::uint64_t sequence, std::int64_t until_ms) {
  after(std::max<std::int64_t>(what.heartbeat_ms() / 3, 1), [this, instance, what, sequence, until_ms] {
    auto& one = seats_.at(instance);
    const attempt_id id{what.task_number(), what.step(), what.direction(), what.attempt()};
    if (now_ms_ >= until_ms || !one.alive || one.held.count(id) == 0 || one.unacknowledged.count(id) != 0) return;
    v1::HeartbeatBatch batch;
    batch.set_instance(instance);
    batch.set_incarnation(one.registration.incarnation());
    auto& item = *batch.add_items();
    item.set_task_number(what.task_number());
    item.set_step(what.step());
    item.set_direction(what.direction());
    item.set_attempt(what.attempt());
    item.set_sequence(sequence);
    tell_scheduler([&](scheduler& to) { to.heartbeats(batch); });
    beat(instance, what, sequence + 1, until_ms);
  });
}

}  // namespace fairlead::app::simulate
