// Leases that hang on heartbeats, what attempts leave to those after them, and tries.

#include <algorithm>

#include "actors/core/task/record.hpp"
#include "store/checksum.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/checker.hpp"

namespace fairlead::simulation {

namespace {

std::string text_of(const v1::HeartbeatAck& what) {
  return "heartbeat " + std::to_string(what.sequence()) + " of attempt " + std::to_string(what.attempt()) + " of step " +
         std::to_string(what.step()) + " of task " + std::to_string(what.task_number());
}

}  // namespace

void checker::decided(const store::batch& what) {
  if (what.epoch < led_under_) return;
  what.for_each([&](const store::operation& op) {
    if (op.where != store::table::task || op.what == store::operation::kind::erase || op.value.size() < store::checksum_bytes) return;
    v1::TaskRecord record;
    if (!record.ParseFromArray(op.value.data(), static_cast<int>(op.value.size() - store::checksum_bytes))) return;
    if (const auto* plan = restores_.on() ? nullptr : shape_of(record)) contents_.decided(record, *plan);
    for (int i = 0; i < record.steps_size(); ++i) {
      const auto& step = record.steps(i);
      if (step.complete_by_unix_ms() == 0 && step.held_until_unix_ms() == 0) continue;
      const step_name name{record.id(), static_cast<std::uint32_t>(i)};
      auto& past = steps_[name];
      if (step.complete_by_unix_ms() != 0) {
        pace_.decided(name, step.direction(), core::attempt_of(step, step.direction()));
        past.decided_us.try_emplace({step.direction(), core::attempt_of(step, step.direction()), step.complete_by_unix_ms()},
                                    world_.now_us());
      }
      if (clock_.settings() != 0 && !restores_.on()) follow_lease(past, step);
    }
  });
}

/// A lease that a clock has put far away may be cut short once the clock is right, and not below what its agent may believe in true time: that counts
/// from when the hand-over or the last heartbeat left. The same holds for that of an abandoned attempt, for
/// which the undo of its task waits.
void checker::follow_lease(history& past, const v1::StepRecord& step) {
  if (past.all.empty()) return;
  auto& one = past.all.back();
  if (one.direction != step.direction() || one.attempt != core::attempt_of(step, step.direction())) return;
  const auto let_go = step.complete_by_unix_ms() == 0;
  const auto ends_ms = let_go ? step.held_until_unix_ms() : step.complete_by_unix_ms();
  // That is the earlier of the two ends that the attempt had.
  if (let_go && ends_ms >= one.lease_ms) return;
  if (one.complete_by_ms == ends_ms && (step.heartbeat_by_unix_ms() == 0 || step.heartbeat_by_unix_ms() >= one.lease_ms)) return;
  auto believed_us = one.believed_us;
  if (one.heartbeat_ms > 0) {
    auto heard_us = one.sent_us;
    for (const auto& [number, sent_us] : one.beats) heard_us = std::max(heard_us, sent_us);
    believed_us = std::min(believed_us, heard_us + one.heartbeat_ms * millisecond);
  }
  const auto lease_ms = step.heartbeat_by_unix_ms() == 0 ? ends_ms : std::min(ends_ms, step.heartbeat_by_unix_ms());
  const auto left_ms = (believed_us - world_.now_us()) / millisecond;
  // Where the clock was set forward between the decision and this batch, the lease counts from what it showed before, and its agent hears of that.
  const auto just_set = clock_.set_since(world_.now_us() - millisecond);
  if (!one.arrived && lease_ms < one.lease_ms && one.believed_us != 0 && !just_set) {
    world_.judges("lease_cut");
    if (left_ms > 0 && lease_ms - clock_.now_ms() + whole_ms < left_ms)
      world::broken("lease_cut", "the lease of attempt " + std::to_string(one.attempt) + " of step " + step.path() + " ends in " +
                                     std::to_string(lease_ms - clock_.now_ms()) + " ms, and " + one.instance + " may believe in it for " +
                                     std::to_string(left_ms) + " ms");
  }
  one.complete_by_ms = ends_ms;
  one.lease_ms = lease_ms;
  one.decided_us = world_.now_us();
}

void checker::heartbeat_sent(const v1::Heartbeat& what) {
  auto* one = restores_.on() ? nullptr : find(what.task_number(), what.step(), what.direction(), what.attempt());
  if (one == nullptr) return;
  one->beats[what.sequence()] = world_.now_us();
  if (what.checkpoint().empty()) return;
  auto& kept = steps_.at({ids_.at(what.task_number()), what.step()}).progress[what.direction()];
  kept.sent.push_back({what.attempt(), what.sequence(), what.checkpoint()});
}

void checker::renewed(const v1::HeartbeatAck& what) {
  if (!what.held() || restores_.on()) return;
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
      step.complete_by_unix_ms() != 0 && step.direction() == what.direction() && core::attempt_of(step, what.direction()) == what.attempt();
  if (core::attempt_of(step, what.direction()) < what.attempt())
    world::broken("durable_before_effect", text_of(what) + " was acknowledged, and the store does not know the attempt");
  world_.count("renewals");
  if (one->heartbeat_ms > 0) {
    const auto left_ms = (sent->second - world_.now_us()) / millisecond + one->heartbeat_ms;
    const auto until = std::min(one->complete_by_ms, clock_.now_ms() + left_ms);
    // Where the clock was set between sending and renewal, the two count from different moments.
    if (clock_.set_since(sent->second)) {
      // What is durable may have been cut since: then the cut counts.
      if (out && one->decided_us < sent->second) one->lease_ms = std::min(step.heartbeat_by_unix_ms(), until);
    } else {
      if (out && step.heartbeat_by_unix_ms() + whole_ms < until)
        world::broken("durable_before_effect", text_of(what) + " was acknowledged, and the store ends the lease " +
                                                   std::to_string(until - step.heartbeat_by_unix_ms()) + " ms before the agent does");
      one->lease_ms = std::max(one->lease_ms, until - whole_ms);
    }
  }
  auto& kept = steps_.at({ids_.at(what.task_number()), what.step()}).progress[what.direction()];
  // An acknowledgement of earlier work may come late.
  for (std::size_t i = kept.sent.size(); i > std::max(kept.kept, kept.begin); --i) {
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
  if (!same_work) {
    kept.kept = 0;
    kept.begin = kept.sent.size();
  }
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
  if (restores_.on()) return;
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
