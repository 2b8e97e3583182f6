#include "tests/simulation/world/services.hpp"

#include "actors/agents/attempt_results.hpp"

namespace fairlead::simulation {

std::string services::output_for(const std::string& key) {
  // Now and then more than a row takes, so that it stands in a slot of its own.
  const auto large = world_.shapes.chance(60) && world_.settings.has(concern::large_payloads);
  auto out = R"({"v":)" + std::to_string(next_output_++);
  if (large) out += R"(,"text":")" + std::string(4200, static_cast<char>('a' + key.size() % 26)) + '"';
  return out + "}";
}

bool services::forgotten(const known_key& what, const std::string& task, const asker& who) const {
  // Once the wall clock has been set nobody can count how old a key is.
  if (world_.clock_settings() != 0) return false;
  return who.key_valid_for_ms != 0 && kept_.count(task) == 0 &&
         world_.now_us() - what.first_us > (who.key_valid_for_ms + longest_way_ms) * millisecond;
}

fairlead::agents::attempt_result services::perform(known_key& known, bool fresh, const v1::Perform& what, const asker& who,
                                                   ledger_entry& entry, std::string& note) {
  const auto promised = known.state == fate::blocked || known.state == fate::promised_away;
  const auto refuses = world_.strikes(concern::tries, world_.handlers, 30);
  const auto as_transient = world_.handlers.chance(500);
  if (fresh) known.first_us = world_.now_us();
  if (fresh && !what.callback_url().empty()) tell_of_earlier(what);
  if (fresh && refuses) {
    known.state = fate::refused;
    known.answers_transient = as_transient;
  } else if (fresh || (!promised && forgotten(known, what.task_id(), who)) || (known.state == fate::refused && world_.long_calm())) {
    if (!what.callback_url().empty()) return accept(known, what, entry, note);
    // (In doubt the system keeps to a key however often it is refused: a service that never let go would hold up the end for ever. What a
    // time that was lost and put back has asked for under another key has come by then.)
    known.state = fate::performed;
    known.first_us = world_.now_us();
    if (known.output.empty()) known.output = output_for(what.idempotency_key());
    entry.changed = true;
    // Each effect stands for itself.
    if (++known.effects > 1) entry.key += "~" + std::to_string(known.effects);
    note = fresh ? "performed" : "performed ONCE MORE: the key was forgotten";
    return fairlead::agents::completed(known.output);
  }
  if (!what.callback_url().empty() && !promised && known.state != fate::refused) return accept_again(known, what, note);
  if (known.state == fate::refused) {
    note = "refused once and for all";
    auto answer = known.answers_transient ? fairlead::agents::transient_fault("failed", "it failed, and will under this key")
                                          : fairlead::agents::permanent_fault("failed", "it failed, and will under this key");
    answer.fault->set_key_spent(true);
    return answer;
  }
  // What was promised away is refused, so that nobody takes the silence for a success.
  note = known.state == fate::performed ? "performed before" : "no effect: the key is spent";
  if (promised) {
    auto answer = fairlead::agents::permanent_fault("key_spent", "this key was promised never to be performed");
    answer.fault->set_key_spent(true);
    return answer;
  }
  // A late perform is answered like any other; nobody may rely on it.
  return fairlead::agents::completed(known.output.empty() ? "{}" : known.output);
}

fairlead::agents::attempt_result services::carry_out(const v1::Perform& what, const asker& who) {
  ledger_entry entry;
  entry.at_us = world_.now_us();
  entry.begin = true;
  entry.of = {what.task_id(), what.step_path()};
  entry.direction = what.direction();
  entry.attempt = what.attempt();
  entry.epoch = who.epoch;
  entry.instance = who.instance;
  entry.incarnation = who.incarnation;
  entry.key = what.idempotency_key();
  book_.write(entry);
  entry.begin = false;

  fairlead::agents::attempt_result answer;
  std::string note;
  if (what.direction() == v1::DIRECTION_PERFORM) {
    const auto [at, fresh] = keys_.try_emplace(what.idempotency_key());
    answer = perform(at->second, fresh, what, who, entry, note);
  } else if (what.direction() == v1::DIRECTION_UNDO) {
    auto& known = keys_[what.perform_key()];
    // It remembers what it has undone from then on.
    known.first_us = world_.now_us();
    entry.changed = known.state == fate::performed && !known.output.empty();
    note = entry.changed ? "undone" : "nothing stands to be undone";
    known.state = fate::undone;
    if (entry.changed) book_.take_back(entry.of, what.perform_key());
    answer = fairlead::agents::completed("{}");
  } else {
    const auto [at, fresh] = keys_.try_emplace(what.perform_key());
    const auto is_open = !fresh && at->second.state == fate::accepted && world_.strikes(concern::callbacks, world_.callbacks, 300);
    if (!is_open && may_be_blocked(at->second.state, fresh)) at->second.state = fate::promised_away;
    const auto performed = at->second.state == fate::performed;
    if (performed) told_.insert(what.perform_key());
    note = performed ? "it was performed" : is_open ? "it is being done" : "it never happened";
    answer = fairlead::agents::completed(performed ? at->second.output : "null");
    answer.verdict = performed ? v1::LOOKUP_VERDICT_DONE : is_open ? v1::LOOKUP_VERDICT_UNKNOWN : v1::LOOKUP_VERDICT_NEVER_HAPPENED;
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
  if (may_be_blocked(at->second.state, fresh)) at->second.state = fate::blocked;
  if (at->second.state != fate::performed) return std::nullopt;
  told_.insert(perform_key);
  return at->second.output;
}

std::optional<std::string> printed_by(const std::string& task, std::uint32_t step, v1::Direction direction, std::uint32_t attempt) {
  if (step % 2 == 1) return std::nullopt;
  auto out = task + "/" + std::to_string(step) + " " + word(direction) + " " + std::to_string(attempt) + "\n";
  if (step % 4 == 2) out += std::string(5'000, '.');
  return out;
}

}  // namespace fairlead::simulation
