#include "actors/replies/waiters.hpp"

#include <algorithm>
#include <string>

#include "actors/core/request_limits.hpp"
#include "actors/core/waits.hpp"
#include "store/content_hash.hpp"

namespace fairlead {

namespace {

v1::RepliesReply refused(error why) {
  v1::RepliesReply out;
  *out.mutable_error() = why.to_proto();
  return out;
}

}  // namespace

std::optional<v1::RepliesReply> reply_waiters::ask(const v1::RepliesRequest& what, std::uint64_t ticket) {
  v1::ReplyAddress who;
  who.set_client(what.client());
  if (!valid_client_name(what.client()))
    return refused({v1::ERROR_CODE_INVALID_ARGUMENT,
                    what.client().empty() ? "The client's name is empty" : "The client's name is not valid",
                    "Use 1 to 128 letters, digits and . _ : @ / -"});
  const auto view = world_.reads->read();
  if (what.acknowledged() > view->get_progress().shard.next_position())
    return refused({v1::ERROR_CODE_INVALID_ARGUMENT,
                    "Position " + std::to_string(what.acknowledged()) + " was acknowledged, but no event has a position that high",
                    "Acknowledge the position of the last event that was received; positions of another store are not valid here"});
  waiter one;
  one.address = store::reply_address_hash(who);
  one.after = what.acknowledged();
  one.page = page_size_of(what.page_size());
  const auto wait = std::clamp(duration{what.wait_ms()}, duration{0}, longest_wait);
  one.until = world_.time->now() + wait;
  if (what.acknowledged() > 0) {
    auto rows =
        world_.outbox->take(one.address, world_.faults.take_unseen ? view->get_progress().shard.next_position() : what.acknowledged());
    if (!rows.ok()) return refused(rows.failure());
    if (!rows->rows.empty()) world_.commit(std::move(*rows));
  }
  auto reply = read(*view, one);
  if (!reply.events().empty() || reply.has_error() || wait == duration{0}) return reply;
  if (waiting_.size() >= most_waiting)
    return refused({v1::ERROR_CODE_OVERLOADED, std::to_string(most_waiting) + " clients are already waiting for their events",
                    "Repeat the request in a moment, or without waiting"});
  waiting_.emplace(ticket, std::move(one));
  return std::nullopt;
}

std::vector<std::pair<std::uint64_t, v1::RepliesReply>> reply_waiters::look() {
  std::vector<std::pair<std::uint64_t, v1::RepliesReply>> out;
  if (waiting_.empty()) return out;
  const auto view = world_.reads->read();
  const auto now = world_.time->now();
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    auto reply = read(*view, it->second);
    const bool over = core::is_over(it->second.until, now, longest_wait);
    if (!over && reply.events().empty() && !reply.has_error()) {
      ++it;
      continue;
    }
    out.emplace_back(it->first, std::move(reply));
    it = waiting_.erase(it);
  }
  return out;
}

v1::RepliesReply reply_waiters::read(const store::snapshot& view, const waiter& who) const {
  auto events = read_outbox(view, who.address, std::max(who.after, world_.outbox->taken(who.address)), who.page);
  if (!events.ok()) return refused(events.failure());
  v1::RepliesReply out;
  for (auto& event : *events) {
    event.clear_to();
    *out.add_events() = std::move(event);
  }
  return out;
}

}  // namespace fairlead
