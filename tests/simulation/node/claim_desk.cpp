#include "tests/simulation/node/claim_desk.hpp"

#include <algorithm>

#include "store/content_hash.hpp"
#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t slack_us = 50 * millisecond;
constexpr std::int64_t waiters_look_us = duration{reply_waiters::look_period}.count() * millisecond;
constexpr std::int64_t longest_wait_us = duration{reply_waiters::longest_wait}.count() * millisecond;

reply_waiters::world around(const clock& time, const store::store& reads, reply_outbox& outbox, std::function<void(courier_rows)> commit,
                            core::planted_faults faults) {
  reply_waiters::world out;
  out.time = &time;
  out.reads = &reads;
  out.outbox = &outbox;
  out.commit = std::move(commit);
  out.faults = faults;
  return out;
}

}  // namespace

node::claim_desk::claim_desk(node& in)
    : node_(in),
      shell_(around(
          in.time(), in.store_, *in.outbox_,
          [this](courier_rows rows) { node_.tell_shard("claimed", [rows = std::move(rows)](scheduler& to) { to.delivered(rows); }); },
          in.world_.settings.planted)) {}

void node::claim_desk::ask(const v1::RepliesRequest& what, std::function<void(const v1::RepliesReply&)> on_reply) {
  node_.in_process([&] {
    const auto ticket = ++last_ticket_;
    if (const auto reply = shell_.ask(what, ticket)) {
      on_reply(*reply);
      return;
    }
    open_.emplace(ticket, open_poll{what, node_.world_.now_us(), std::move(on_reply)});
    arm();
  });
}

void node::claim_desk::arm() {
  if (armed_ || !shell_.anyone_waits()) return;
  armed_ = true;
  node_.world_.after(waiters_look_us, node_.of_this_lead([this] { look(); }));
}

void node::claim_desk::look() {
  node_.in_process([&] {
    armed_ = false;
    for (const auto& [ticket, reply] : shell_.look()) {
      const auto found = open_.find(ticket);
      if (found == open_.end()) world::broken("poll_late", "a claim is answered twice");
      const auto one = std::move(found->second);
      open_.erase(found);
      one.on_reply(reply);
    }
    for (const auto& [ticket, one] : open_) judge(one);
    arm();
  });
}

/// Who still waits does so for a reason, and not for longer than was said.
void node::claim_desk::judge(const open_poll& one) const {
  const auto wait_us = std::clamp<std::int64_t>(one.what.wait_ms() * millisecond, 0, longest_wait_us);
  auto until_us = one.asked_us + wait_us;
  // A clock that was set back may make it the longest wait from then.
  if (node_.clock_.set_since(one.asked_us)) until_us = std::max(until_us, node_.clock_.set_at_us() + longest_wait_us);
  if (node_.world_.now_us() > until_us + waiters_look_us + slack_us && !node_.stopped_since(one.asked_us) && node_.home_.is_led_by(node_))
    world::broken("poll_late", "a claim that waits for " + std::to_string(wait_us / millisecond) + " ms has no answer after " +
                                   std::to_string((node_.world_.now_us() - one.asked_us) / millisecond) + " ms");
  v1::ReplyAddress who;
  who.set_client(one.what.client());
  const auto address = store::reply_address_hash(who);
  const auto there = read_outbox(*node_.store_.read(), address, std::max(one.what.acknowledged(), node_.outbox_->taken(address)), 1);
  if (there.ok() && !there->empty()) world::broken("poll_missed", "a claim waits, and there are events for " + one.what.client());
}

}  // namespace fairlead::simulation
