// Work that services accept, and whose end they tell by a callback.

#include <string_view>
#include <utility>

#include "actors/agents/attempt_results.hpp"
#include "tests/simulation/world/services.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t calm_answer_us = 60 * millisecond;

/// From before the service's own answer to long after anybody waits for it. Once all is well it comes soon.
std::int64_t time_to_tell(world& in) {
  auto& luck = in.callbacks;
  const auto how = luck.below(100);
  const auto soon_us = luck.between(1, 400) * millisecond;
  const auto long_us = luck.between(400, 4'000) * millisecond;
  const auto late_us = luck.between(3, 16) * second;
  if (!in.trouble()) return soon_us % calm_answer_us;
  return how < 25 ? 0 : how < 65 ? soon_us : how < 85 ? long_us : late_us;
}

/// It goes by what it was told, as any service does.
std::string callback_in(const v1::Perform& what) {
  constexpr std::string_view path = "/v1/callbacks/";
  const auto at = what.callback_url().rfind(path);
  return at == std::string::npos ? std::string{} : what.callback_url().substr(at + path.size());
}

v1::Fault late_fault(bool is_transient, bool otherwise) {
  v1::Fault out;
  out.set_kind(is_transient ? v1::FAULT_KIND_TRANSIENT : v1::FAULT_KIND_PERMANENT);
  out.set_code(is_transient ? code_of_late_transient : code_of_late_permanent);
  out.set_message(otherwise ? "it was not done, for another reason" : "it was not done, and never will be under this key");
  return out;
}

}  // namespace

/// It is new, or its key has been forgotten.
fairlead::agents::attempt_result services::accept(known_key& known, const v1::Perform& what, const ledger_entry& asked, std::string& note) {
  known.first_us = world_.now_us();
  known.state = fate::accepted;
  known.asked = asked;
  known.shard = what.shard();
  known.callback = callback_in(what);
  known.fails = world_.strikes(concern::callbacks, world_.callbacks, 160);
  known.answers_transient = world_.callbacks.chance(600);
  known.is_silent = world_.strikes(concern::callbacks, world_.callbacks, 90);
  world_.count("work that is accepted");
  note = "accepted";
  begin_work(what.idempotency_key(), known);
  return fairlead::agents::completed(R"({"accepted":)" + std::to_string(next_output_++) + "}");
}

/// It keeps to what it has done, or does, and may tell of it once more.
fairlead::agents::attempt_result services::accept_again(known_key& known, const v1::Perform& what, std::string& note) {
  auto& luck = world_.callbacks;
  const auto tells = luck.chance(750) || !world_.trouble();
  const auto delay_us = time_to_tell(world_) % second;
  const auto tells_former = luck.chance(500);
  const auto former = std::exchange(known.callback, callback_in(what));
  known.shard = what.shard();
  known.asked.of = {what.task_id(), what.step_path()};
  // The shard has lost the time in which it gave that one out.
  if (!former.empty() && former != known.callback && tells_former) {
    world_.count("callbacks of an earlier lineage");
    tell({known.shard, what.task_id(), former, known.output.empty() ? std::nullopt : std::optional{known.output}, std::nullopt});
  }
  note = "accepted before";
  if (known.state != fate::accepted) {
    if (tells) tell_later(what.idempotency_key(), delay_us);
  } else if (known.is_silent && tells) {
    known.is_silent = false;
    begin_work(what.idempotency_key(), known);
  }
  return fairlead::agents::completed(R"({"accepted":)" + std::to_string(next_output_++) + "}");
}

void services::begin_work(const std::string& key, known_key& known) {
  auto& luck = world_.callbacks;
  const auto tell_us = time_to_tell(world_);
  const auto at_once = luck.chance(450);
  const auto work_us = luck.between(0, tell_us);
  const auto never = luck.chance(500);
  const auto twice = luck.chance(200);
  const auto otherwise = luck.chance(400);
  const auto again_us = luck.between(1, 5'000) * millisecond;
  const auto times = ++known.times;
  if (known.is_silent) world_.count("callbacks that never come");
  if (known.is_silent && never) return;
  if (at_once && !known.fails)
    do_work(key, times);
  else
    world_.after(work_us, [this, key, times] { do_work(key, times); });
  if (known.is_silent) return;
  tell_later(key, tell_us);
  if (twice) tell_later(key, tell_us + again_us, otherwise);
}

void services::do_work(const std::string& key, std::uint64_t times) {
  auto& known = keys_.at(key);
  // It may have been undone, blocked or promised away meanwhile.
  if (known.state != fate::accepted || known.times != times) return;
  if (known.fails) {
    known.state = fate::failed;
    return;
  }
  known.state = fate::performed;
  if (known.output.empty()) known.output = output_for(key);
  auto effect = known.asked;
  effect.at_us = world_.now_us();
  effect.changed = true;
  // Each effect stands for itself.
  if (++known.effects > 1) effect.key += "~" + std::to_string(known.effects);
  book_.write(std::move(effect));
  world_.tell("service", "", times, [&] { return "has done what it had accepted under " + key; });
}

void services::tell_later(const std::string& key, std::int64_t delay_us, bool otherwise) {
  world_.after(delay_us, [this, key, otherwise] { tell(key, otherwise); });
}

void services::tell(const std::string& key, bool otherwise) {
  const auto& known = keys_.at(key);
  late_answer out{known.shard, known.asked.of.task, known.callback, std::nullopt, std::nullopt};
  if (known.state == fate::failed) {
    out.fault = late_fault(known.answers_transient, otherwise);
  } else if (known.state == fate::performed || known.state == fate::undone) {
    if (otherwise)
      out.output = R"({"v":)" + std::to_string(700'000 + next_output_++) + "}";
    else if (!known.output.empty())
      out.output = known.output;
  } else {
    // Whoever asked has been told that it never happens.
    return;
  }
  tell(std::move(out));
}

/// At times it still speaks of the performance before this one, which has been answered or given up.
void services::tell_of_earlier(const v1::Perform& what) {
  auto& luck = world_.callbacks;
  const auto speaks = luck.chance(350);
  const auto delay_us = luck.between(0, 3'000) * millisecond;
  auto& latest = callbacks_[{what.task_id(), what.step_path()}];
  auto former = std::exchange(latest, callback_in(what));
  if (former.empty() || former == latest || !speaks || !world_.trouble()) return;
  late_answer out{what.shard(), what.task_id(), std::move(former), R"({"v":)" + std::to_string(800'000 + next_output_++) + "}",
                  std::nullopt};
  world_.after(delay_us, [this, out = std::move(out)] { tell(out); });
}

void services::tell(late_answer what) {
  if (on_late_answer) on_late_answer(what);
}

}  // namespace fairlead::simulation
