#include "tests/simulation/people/callers.hpp"

namespace fairlead::simulation {

namespace {

constexpr int most_calls = 40;

}  // namespace

void callers::tell(const late_answer& what) {
  call one;
  one.tries_left = most_calls;
  one.what.add_ids(what.task);
  auto& action = *one.what.mutable_action();
  action.set_verb(v1::OPERATOR_VERB_CALLBACK);
  action.set_callback(what.callback);
  action.set_who("service");
  if (what.output) action.set_json(*what.output);
  if (what.fault) *action.mutable_fault() = *what.fault;
  calls_.push_back(std::move(one));
  send(calls_.size() - 1);
}

void callers::send(std::size_t which) {
  auto& one = calls_[which];
  if (one.answered || one.tries_left-- <= 0) return;
  const auto& action = one.what.action();
  world_.tell("service", "scheduler", world_.weigh(one.what), [&] {
    return "calls back about " + one.what.ids(0) + ": " + (action.has_fault() ? action.fault().code() : action.json().substr(0, 40)) +
           " by " + action.callback();
  });
  world_.count("callbacks sent");
  home_.request<v1::OperateReply>(
      "service",
      [this, request = one.what](scheduler& to, std::uint64_t ticket) {
        checker_.order_heard(ticket, request);
        to.answer(request, ticket);
      },
      [this, which](const v1::OperateReply& reply) { answered(which, reply); });
  world_.after(world_.callbacks.between(300, 2'500) * millisecond, [this, which] { send(which); });
}

void callers::answered(std::size_t which, const v1::OperateReply& reply) {
  if (reply.results().empty()) return;
  auto& one = calls_[which];
  const auto code = reply.results(0).error().code();
  if (code == v1::ERROR_CODE_INTERNAL && !checker_.of_bugs().about(one.what.ids(0)))
    throw rule_broken{"internal_error", "a callback about " + one.what.ids(0) + " met a bug: " + reply.results(0).error().sentence(),
                      false};
  one.answered = code != v1::ERROR_CODE_UNAVAILABLE && code != v1::ERROR_CODE_INTERNAL && code != v1::ERROR_CODE_OVERLOADED;
}

}  // namespace fairlead::simulation
