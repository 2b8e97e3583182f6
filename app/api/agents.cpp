// /v1/agents.

#include <utility>

#include "app/api/api.hpp"
#include "app/json/api_request.hpp"
#include "app/json/node/agents.hpp"

namespace fairlead::app::api {

namespace {

struct agent_verb {
  const char* word;
  v1::AgentVerb verb;
};
constexpr agent_verb agent_verbs[] = {{"drain", v1::AGENT_VERB_DRAIN},
                                      {"resume", v1::AGENT_VERB_RESUME},
                                      {"breaker_open", v1::AGENT_VERB_BREAKER_OPEN},
                                      {"breaker_close", v1::AGENT_VERB_BREAKER_CLOSE}};

/// Instances are drained, and an agent was named: its instances are named beside the refusal.
void name_instances(const exchange_ptr& x, const std::string& word, const error& why) {
  x->ask_any<v1::StatusRequest>({}, {}, [x, word, why](const result<v1::StatusReply>& known) {
    auto said = door::problem_of(why);
    std::vector<help> instances;
    if (known)
      for (const auto& one : known->agents())
        if (one.agent() == x->part(0) && !one.instance().empty())
          instances.push_back(help_of({"fairlead agent " + word + " " + one.instance(), word + "s the instance " + one.instance()}));
    if (!instances.empty()) said.remedy = "It is an agent. Name one of its instances: `what_helps` has them.";
    // What works goes before what only shows.
    said.what_helps.insert(said.what_helps.begin(), instances.begin(), instances.end());
    x->refuse(std::move(said));
  });
}

}  // namespace

void list_agents(exchange_ptr x) {
  if (x->refuse_rest()) return;
  x->ask<v1::StatusRequest>({}, [x](const v1::StatusReply& reply) { x->say(200, agent_list_json(reply)); });
}

void show_agent(exchange_ptr x) {
  if (x->refuse_rest()) return;
  x->ask<v1::StatusRequest>({}, [x](const v1::StatusReply& reply) {
    const auto found = find_agent(reply, x->part(0));
    found ? x->say_resource(0, agent_show_json(reply, *found)) : x->refuse(found.failure());
  });
}

void act_on_agent(exchange_ptr x) {
  std::string word, reason;
  if (x->refuse_rest()) return;
  if (!x->read_body({{"verb", text_into(word), true}, {"reason", text_into(reason)}})) return;
  x->note_action(word, reason);
  v1::AgentOperateRequest request;
  for (const auto& one : agent_verbs)
    if (word == one.word) request.set_verb(one.verb);
  const auto verb = request.verb();
  if (verb == v1::AGENT_VERB_UNSPECIFIED)
    return x->refuse_at("/verb", invalid("There is no verb '" + word + "'.",
                                         "Verbs are drain and resume of an instance, breaker_open and breaker_close of an agent."));
  const auto of_instance = verb == v1::AGENT_VERB_DRAIN || verb == v1::AGENT_VERB_RESUME;
  (of_instance ? request.mutable_instance() : request.mutable_agent())->assign(x->part(0));
  request.set_who(x->who());
  request.set_reason(reason);
  x->ask_any<v1::AgentOperateRequest>(request, {}, [x, verb, word, of_instance](const result<v1::AgentOperateReply>& answer) {
    const auto& name = x->part(0);
    if (!answer) return of_instance ? name_instances(x, word, answer.failure()) : x->refuse(answer.failure());
    const auto& reply = *answer;
    switch (verb) {
      case v1::AGENT_VERB_DRAIN: return x->say(200, agent_drain_json(name, reply.held(), reply.held() == 0 ? "drained" : "draining"));
      case v1::AGENT_VERB_RESUME: return x->say(200, agent_resumed_json(name));
      default: return x->say(200, breaker_json(name, verb == v1::AGENT_VERB_BREAKER_OPEN, reply));
    }
  });
}

}  // namespace fairlead::app::api
