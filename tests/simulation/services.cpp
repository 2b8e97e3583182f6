#include "tests/simulation/services.hpp"

#include "actors/agents/attempt_results.hpp"

namespace fairlead::simulation {

namespace {

const char* word(v1::Direction direction) {
  return direction == v1::DIRECTION_UNDO ? "undo" : direction == v1::DIRECTION_LOOKUP ? "lookup" : "perform";
}

}  // namespace

std::string services::output_for(const std::string& key) {
  // Now and then more than a row takes, so that it stands in a slot of its own.
  const auto large = world_.shapes.chance(60) && world_.settings.has(concern::large_payloads);
  auto out = R"({"v":)" + std::to_string(next_output_++);
  if (large) out += R"(,"text":")" + std::string(4200, static_cast<char>('a' + key.size() % 26)) + '"';
  return out + "}";
}

agents::attempt_result services::carry_out(const v1::Perform& what, const asker& who) {
  ledger_entry entry;
  entry.at_us = world_.now_us();
  entry.begin = true;
  entry.of = {what.task_id(), what.step()};
  entry.direction = what.direction();
  entry.attempt = what.attempt();
  entry.epoch = who.epoch;
  entry.instance = who.instance;
  entry.incarnation = who.incarnation;
  entry.key = what.idempotency_key();
  book_.write(entry);
  entry.begin = false;

  agents::attempt_result answer;
  std::string note;
  if (what.direction() == v1::DIRECTION_PERFORM) {
    const auto [at, fresh] = keys_.try_emplace(what.idempotency_key());
    entry.changed = fresh;
    if (fresh) at->second.output = output_for(what.idempotency_key());
    note = fresh ? "performed" : at->second.state == fate::performed ? "performed before" : "no effect: the key is spent";
    // A late perform is answered like any other; nobody may rely on it.
    answer = agents::completed(at->second.output.empty() ? "{}" : at->second.output);
    // What was promised away is refused, so that nobody takes the silence for a success.
    if (at->second.state == fate::blocked || at->second.state == fate::promised_away)
      answer = agents::permanent_fault("key_spent", "this key was promised never to be performed");
  } else if (what.direction() == v1::DIRECTION_UNDO) {
    auto& known = keys_[what.perform_key()];
    entry.changed = known.state == fate::performed && !known.output.empty();
    note = entry.changed ? "undone" : "nothing stands to be undone";
    known.state = fate::undone;
    if (entry.changed) book_.take_back(entry.of, what.perform_key());
    answer = agents::completed("{}");
  } else {
    const auto [at, fresh] = keys_.try_emplace(what.perform_key());
    if (fresh) at->second.state = fate::promised_away;
    const auto performed = at->second.state == fate::performed;
    note = performed ? "it was performed" : "it never happened";
    answer = agents::completed(performed ? at->second.output : "null");
    answer.verdict = performed ? v1::LOOKUP_VERDICT_DONE : v1::LOOKUP_VERDICT_NEVER_HAPPENED;
  }
  book_.write(entry);
  world_.count(word(what.direction()));
  world_.tell("service", "", what.attempt(), [&] {
    return std::string{word(what.direction())} + " of " + what.task_id() + "/" + what.step_path() + " attempt " +
           std::to_string(what.attempt()) + " for " + who.instance + "#" + std::to_string(who.incarnation) + ", key " +
           (what.direction() == v1::DIRECTION_PERFORM ? what.idempotency_key() : what.idempotency_key() + " about " + what.perform_key()) +
           ": " + note;
  });
  return answer;
}

std::optional<std::string> services::inspect(const std::string& perform_key) {
  const auto [at, fresh] = keys_.try_emplace(perform_key);
  if (fresh) at->second.state = fate::blocked;
  if (at->second.state != fate::performed) return std::nullopt;
  return at->second.output;
}

}  // namespace fairlead::simulation
