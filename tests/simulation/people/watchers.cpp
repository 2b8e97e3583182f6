#include "tests/simulation/people/watchers.hpp"

#include <algorithm>

#include "store/rows/task_rows.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t longest_wait_us = 30 * second;
constexpr std::int64_t slack_us = 400 * millisecond;  // the Scheduler looks every 250 ms
constexpr std::int64_t look_us = 200 * millisecond;
constexpr int most_late_looks = 3;

}  // namespace

void watchers::begin(std::int64_t until_us) {
  auto& luck = world_.polls;
  const auto any = luck.chance(350);
  const auto count = luck.between(1, 3);
  const auto when = luck.between(0, until_us / 2);
  if (!any || !world_.settings.has(concern::polls)) return;
  home_.on_watch_reply = [this](std::uint64_t ticket) { open_.erase(ticket); };
  all_.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all_.size(); ++i) world_.after(when + static_cast<std::int64_t>(i) * second, [this, i] { poll(i); });
  world_.after(look_us, [this] { look(); });
}

void watchers::poll(std::size_t which) {
  auto& luck = world_.polls;
  auto& one = all_[which];
  const auto wait_ms = luck.chance(50) ? luck.between(29'000, 40'000) : luck.between(0, 5'000);
  const auto again_ms = wait_ms + luck.between(200, 3'000);
  if (one.id.empty() || one.over || luck.chance(50)) one = {clients_.ids().empty() ? "none" : luck.pick(clients_.ids()), 0, false};
  // Events from some point on will do for most.
  if (one.has == 0 && luck.chance(200)) one.has = luck.below(4);
  v1::WatchRequest what;
  what.set_id(one.id);
  what.set_after_sequence(one.has);
  what.set_wait_ms(wait_ms);
  world_.count("polls");
  const auto least = home_.replicated() && home_.shows_all() ? events_of(what.id(), *home_.reads().read()) : 0;
  home_.request<v1::WatchReply>(
      "watcher" + std::to_string(which),
      [this, what](scheduler& to, std::uint64_t ticket) {
        open_[ticket] = {what.id(),
                         what.after_sequence(),
                         std::clamp<std::int64_t>(what.wait_ms() * millisecond, 0, longest_wait_us),
                         world_.now_us(),
                         to.epoch(),
                         0};
        to.answer(what, ticket);
      },
      [this, which, what, least](const v1::WatchReply& reply) { came(which, what, least, reply); });
  if (world_.trouble()) world_.after(again_ms * millisecond, [this, which] { poll(which); });
}

/// `least`: so many events had counted when it was asked.
void watchers::came(std::size_t which, const v1::WatchRequest& asked, std::uint64_t least, const v1::WatchReply& reply) {
  const auto after = asked.after_sequence();
  if (least > 0) world_.judges("stale_answer");
  const auto unknown = reply.error().code() == v1::ERROR_CODE_NOT_FOUND;
  // Of a task that has moved to an archive since, or was deleted, only the end is told.
  const auto id = store::find_task(*home_.reads().read(), asked.id());
  const auto left = id.ok() && *id && has_ended((*id)->final_state());
  const auto older = reply.error().code() == v1::ERROR_CODE_OK && reply.events().empty() && least > after && !left;
  if (least > 0 && (unknown || older))
    world::broken("stale_answer", "who asked for events of " + asked.id() + " behind " + std::to_string(after) + " is told of " +
                                      (unknown ? "no such task" : "none") + ", and there were " + std::to_string(least));
  auto next = after;
  for (const auto& event : reply.events()) {
    if (event.sequence() != ++next)
      world::broken("poll_gap", "who has " + std::to_string(after) + " events of " + asked.id() + " is told of event " +
                                    std::to_string(event.sequence()) + " where " + std::to_string(next) + " is due");
    const auto known = events_.emplace(std::pair{asked.id(), event.sequence()}, world::weigh(event)).first->second;
    if (known != world::weigh(event))
      world::broken("poll_gap", "event " + std::to_string(event.sequence()) + " of " + asked.id() + " is told in two ways");
  }
  // The person may follow another task by now.
  auto& one = all_[which];
  if (one.id != asked.id()) return;
  one.has = std::max(one.has, next);
  one.over = one.over || has_ended(reply.state());
}

std::uint64_t watchers::events_of(const std::string& id, const store::snapshot& durable) const {
  const auto known = store::find_task(durable, id);
  if (!known.ok() || !*known) return 0;
  const auto record = store::load_task(durable, (*known)->number());
  return record.ok() && *record ? (*record)->history_size() : 0;
}

bool watchers::has_news(const open_poll& one, const store::snapshot& durable) const { return events_of(one.id, durable) > one.after; }

void watchers::look() {
  world_.after(look_us, [this] { look(); });
  std::erase_if(open_, [this](const auto& one) { return !home_.serves() || one.second.epoch != home_.epoch(); });
  if (open_.empty() || !home_.serves()) return;
  const auto view = home_.reads().read();
  for (auto& [ticket, one] : open_) {
    auto until_us = one.asked_us + one.wait_us;
    // A clock that was set back may make it the longest wait from then.
    if (clock_.set_since(one.asked_us)) until_us = std::max(until_us, clock_.set_at_us() + longest_wait_us);
    if (world_.now_us() > until_us + slack_us && !home_.stopped_since(one.asked_us))
      world::broken("poll_late", "who follows " + one.id + " and waits for " + std::to_string(one.wait_us / millisecond) +
                                     " ms has no answer after " + std::to_string((world_.now_us() - one.asked_us) / millisecond) + " ms");
    if (!has_news(one, *view))
      one.late_looks = 0;
    else if (++one.late_looks > most_late_looks && home_.at_rest())
      world::broken("poll_missed", "who follows " + one.id + " from event " + std::to_string(one.after) + " on waits, and there is more");
  }
}

}  // namespace fairlead::simulation
