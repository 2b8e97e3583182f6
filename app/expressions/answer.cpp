#include "app/expressions/answer.hpp"

#include <cstdint>
#include <utility>

#include "messages/agent.pb.h"

namespace fairlead::app {
namespace {

/// The index of the expression at fault is in the reply.
status evaluate(const v1::EvaluateRequest& request, program_cache& programs, v1::EvaluateReply& reply) {
  const bool only_compile = request.document().empty();
  if (only_compile && request.expressions_size() > 1) {
    if (programs.are_sound(request.expressions())) return nothing{};
    return error{v1::ERROR_CODE_EXPRESSION, "the expressions do not compile together", "ask for each of them alone"};
  }
  auto document = jq_document::parse(only_compile ? "null" : request.document());
  if (!document.ok()) return document.failure();
  for (int i = 0; i < request.expressions_size(); ++i) {
    reply.set_failed_expression(static_cast<std::uint32_t>(i));
    const auto program = programs.get(request.expressions(i));
    if (!program.ok()) return program.failure();
    if (only_compile) continue;
    auto text = program.value()->run(document.value());
    if (!text.ok()) return text.failure();
    reply.add_results(std::move(text).value());
  }
  reply.clear_failed_expression();
  return nothing{};
}

}  // namespace

std::optional<std::string> answer_request(const std::string& request, program_cache& programs) {
  v1::EvaluateRequest what;
  if (!what.ParseFromString(request)) return std::nullopt;
  v1::EvaluateReply reply;
  reply.set_ticket(what.ticket());
  if (const auto done = evaluate(what, programs, reply); !done.ok()) {
    reply.clear_results();
    *reply.mutable_error() = done.failure().to_proto();
  }
  return reply.SerializeAsString();
}

}  // namespace fairlead::app
