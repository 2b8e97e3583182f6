// Leases that hang on heartbeats, what attempts leave to those after them, and tries.

#include <algorithm>

#include "store/checksum.hpp"
#include "store/task_rows.hpp"
#include "tests/simulation/checker.hpp"

namespace fairlead::simulation {

namespace {

std::uint32_t made(const v1::StepRecord& step, v1::Direction direction) {
  return direction == v1::DIRECTION_UNDO ? step.undo().made() : direction == v1::DIRECTION_LOOKUP ? step.lookup().made() : step.attempt();
}

constexpr std::int64_t whole_ms = 2;  // clocks count those

std::string text_of(const v1::HeartbeatAck& what) {
  return "heartbeat " + std::to_string(what.sequence()) + " of attempt " + std::to_string(what.attempt()) + " of step " +
         std::to_string(what.step()) + " of task " + std::to_string(what.task_number());
}

}  // namespace

void checker::decided(const store::batch& what) {
  what.for_each([&](const store::operation& op) {
    if (op.where != store::table::task || op.what == store::operation::kind::erase || op.value.size() < store::checksum_bytes) return;
    v1::TaskRecord record;
    if (!record.ParseFromArray(op.value.data(), static_cast<int>(op.value.size() - store::checksum_bytes))) return;
    for (int i = 0; i < record.steps_size(); ++i) {
      const auto& step = record.steps(i);
      if (step.complete_by_unix_ms() == 0) continue;
      auto& past = steps_[{record.id(), static_cast<std::uint32_t>(i)}];
      past.decided_us.try_emplace({step.direction(), made(step, step.direction()), step.complete_by_unix_ms()}, world_.now_us());
    }
  });
}

void checker::heartbeat_sent(const v1::Heartbeat& what) {
  auto* one = find(what.task_number(), what.step(), what.direction(), what.attempt());
  if (one == nullptr) return;
  one->beats[what.sequence()] = world_.now_us();
  if (what.checkpoint().empty()) return;
  auto& kept = steps_.at({ids_.at(what.task_number()), what.step()}).progress[what.direction()];
  kept.sent.push_back({what.attempt(), what.sequence(), what.checkpoint()});
}

void checker::renewed(const v1::HeartbeatAck& what) {
  if (!what.held()) return;
  auto* one = find(what.task_number(), what.step(), what.direction(), what.attempt());
  if (one == nullptr) world::broken("fence", text_of(what) + " was acknowledged, and the attempt was never handed over");
  const auto sent = one->beats.find(what.sequence());
  if (sent == one->beats.end()) world::broken("fence", text_of(what) + " was acknowledged, and was never sent");
  const auto view = reads_->read();
  const auto stored = store::load_task(*view, what.task_number());
  if (archives_.has(ids_.at(what.task_number()))) return;
  if (!stored.ok() || !*stored) world::broken("durable_before_effect", text_of(what) + " was acknowledged, and the task is not there");
  const auto& step = (*stored)->steps(static_cast<int>(what.step()));
  const auto out =
      step.complete_by_unix_ms() != 0 && step.direction() == what.direction() && made(step, what.direction()) == what.attempt();
  if (made(step, what.direction()) < what.attempt())
    world::broken("durable_before_effect", text_of(what) + " was acknowledged, and the store does not know the attempt");
  world_.count("renewals");
  if (one->heartbeat_ms > 0) {
    const auto left_ms = (sent->second - world_.now_us()) / millisecond + one->heartbeat_ms;
    const auto until = std::min(one->complete_by_ms, clock_.now_ms() + left_ms);
    // Where the clock was set between sending and renewal, the two count from different moments.
    if (clock_.set_since(sent->second)) {
      if (out) one->lease_ms = step.heartbeat_by_unix_ms();
    } else {
      if (out && step.heartbeat_by_unix_ms() + whole_ms < until)
        world::broken("durable_before_effect", text_of(what) + " was acknowledged, and the store ends the lease " +
                                                   std::to_string(until - step.heartbeat_by_unix_ms()) + " ms before the agent does");
      one->lease_ms = std::max(one->lease_ms, until - whole_ms);
    }
  }
  auto& kept = steps_.at({ids_.at(what.task_number()), what.step()}).progress[what.direction()];
  for (std::size_t i = kept.sent.size(); i > kept.kept; --i) {
    const auto& one_sent = kept.sent[i - 1];
    if (one_sent.attempt != what.attempt() || one_sent.sequence != what.sequence()) continue;
    kept.kept = i;
    break;
  }
}

void checker::judge_checkpoint(const step_name& of, history& past, const v1::Perform& what) {
  if (what.direction() == v1::DIRECTION_LOOKUP) return;
  auto& kept = past.progress[what.direction()];
  // What is done under another key is another piece of work.
  const auto same_work = kept.key.empty() || kept.key == what.idempotency_key();
  kept.key = what.idempotency_key();
  if (!same_work) kept.kept = 0;
  if (!what.checkpoint().empty()) world_.count("checkpoints handed on");
  world_.judges("checkpoint");
  const auto least = kept.kept == 0 ? std::size_t{0} : kept.kept - 1;
  for (std::size_t i = kept.sent.size(); i > least; --i)
    if (kept.sent[i - 1].text == what.checkpoint()) return;
  if (what.checkpoint().empty() && kept.kept == 0) return;
  world::broken("checkpoint", describe(what) + " of " + of.task + " gets " +
                                  (what.checkpoint().empty() ? std::string{"no checkpoint"} : "the checkpoint " + what.checkpoint()) +
                                  (kept.kept == 0 ? ", which nobody left" : ", and " + kept.sent[kept.kept - 1].text + " was kept"));
}

void checker::judge_expiry(const step_name& of, const history& past, const hand_over& next, const agent_site& site, bool in_doubt) const {
  const auto valid_for_ms = site.profile->key_valid_for_ms;
  const auto since = past.keys_since_ms.find(next.key);
  if (valid_for_ms == 0 || next.direction != v1::DIRECTION_PERFORM || since == past.keys_since_ms.end()) return;
  if (clock_.settings() != 0 || next.decided_ms - since->second <= valid_for_ms) return;
  // Whoever has it tried again in spite of all means it.
  const auto asked = orders_.find(of.task);
  if (asked != orders_.end() && std::any_of(asked->second.begin(), asked->second.end(),
                                            [](const v1::OperatorAction& order) { return order.verb() == v1::OPERATOR_VERB_RETRY; }))
    return;
  world_.judges("expired_key");
  if (in_doubt)
    world::broken("expired_key", of.task + " step " + std::to_string(of.step) + " was handed over in doubt under the key " + next.key +
                                     " " + std::to_string(next.decided_ms - since->second) + " ms after its first use, and " + site.agent +
                                     " honours it for " + std::to_string(valid_for_ms) + " ms");
}

void checker::try_begins(const agent_site& where, std::uint64_t incarnation, const v1::Perform& what) {
  auto* one = find(what.task_number(), what.step(), what.direction(), what.attempt());
  const auto text = describe(what) + " try " + std::to_string(what.try_number());
  if (one == nullptr) world::broken("fence", text + " begins at " + where.instance + " and was never handed over");
  if (one->instance != where.instance || one->incarnation != incarnation)
    world::broken("fence", text + " begins at " + where.instance + ", and was handed over to " + one->instance);
  world_.judges("try_differs");
  if (what.idempotency_key() != one->key)
    world::broken("key", text + " has key " + what.idempotency_key() + ", the attempt was handed over with " + one->key);
  if (what.input() != one->input) world::broken("try_differs", text + " has another input than was handed over");
}

}  // namespace fairlead::simulation
