#include "actors/replies/outbox.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "actors/delivery/webhook_port.hpp"
#include "store/content_hash.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"

namespace fairlead {

namespace {

constexpr std::size_t max_client_name_bytes = 128;

/// Visits the positions of one receiver's events after `after`; `visit` returns false to stop.
template <class Visitor>
status scan_outbox(const store::snapshot& view, std::string_view address, std::uint64_t after, Visitor&& visit) {
  if (after == std::numeric_limits<std::uint64_t>::max()) return nothing{};
  const auto from = store::keys::outbox(store::default_namespace, address, after + 1);
  const auto to = store::keys::after(store::keys::outbox_prefix(store::default_namespace, address));
  return view.scan(store::table::outbox, from, to, visit);
}

}  // namespace

bool valid_client_name(const std::string& name) {
  return !name.empty() && name.size() <= max_client_name_bytes && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::string_view{"._:@/-"}.find(c) < 6;
  });
}

std::optional<error> check_reply_address(const v1::ReplyAddress& address) {
  if (address.client().empty() == address.webhook().empty())
    return invalid(address.client().empty() ? "The reply address names neither a client nor a webhook"
                                            : "The reply address names both a client and a webhook",
                   "Give exactly one of the two, or no reply address");
  if (!address.webhook().empty()) {
    auto checked = check_webhook_url(address.webhook());
    if (!checked.ok()) return checked.failure();
    return std::nullopt;
  }
  if (valid_client_name(address.client())) return std::nullopt;
  return invalid("The client name of the reply address is not valid", "Use 1 to 128 letters, digits and . _ : @ / -");
}

void put_status(store::batch& out, v1::ShardState& shard, const v1::ReplyAddress& to, v1::StatusEvent event) {
  shard.set_next_position(shard.next_position() + 1);
  shard.set_outbox_events(shard.outbox_events() + 1);
  event.set_position(shard.next_position());
  *event.mutable_to() = to;
  event.mutable_to()->clear_steps();
  out.put(store::table::outbox, store::keys::outbox(store::default_namespace, store::reply_address_hash(to), event.position()),
          event.SerializeAsString());
}

result<std::vector<v1::StatusEvent>> read_outbox(const store::snapshot& view, std::string_view address, std::uint64_t after,
                                                 std::size_t limit) {
  std::vector<v1::StatusEvent> out;
  std::optional<error> damage;
  const auto scanned = scan_outbox(view, address, after, [&](std::string_view key, std::string_view payload) {
    v1::StatusEvent event;
    if (!event.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
      damage = store::damaged_value(store::table::outbox, key);
      return false;
    }
    out.push_back(std::move(event));
    return out.size() < limit;
  });
  if (!scanned.ok()) return scanned.failure();
  if (damage) return *damage;
  return out;
}

void add_failing_receivers(const store::snapshot& view, v1::StatusReply& to) {
  constexpr int most_shown = 20;
  const auto scanned = view.scan(store::table::reply_address, {}, {}, [&to](std::string_view, std::string_view payload) {
    if (!to.add_replies_failing()->ParseFromArray(payload.data(), static_cast<int>(payload.size())))
      to.mutable_replies_failing()->RemoveLast();
    return to.replies_failing_size() < most_shown;
  });
  if (!scanned.ok()) *to.mutable_error() = scanned.failure().to_proto();
}

void reply_outbox::look_at_epoch(const store::snapshot& view) {
  const auto epoch = view.get_progress().epoch;
  if (epoch == epoch_) return;
  epoch_ = epoch;
  taken_.clear();
}

result<courier_rows> reply_outbox::take(std::string_view address, std::uint64_t position) {
  const std::lock_guard lock{guard_};
  // Read under the lock: a view from before an erasure that settle() has forgotten meanwhile would show its events again.
  const auto view = reads_.read();
  look_at_epoch(*view);
  const auto known = taken_.find(address);
  const auto before = known == taken_.end() ? 0 : known->second;
  auto last = before;
  courier_rows out;
  out.rows.epoch = epoch_;
  const auto scanned = scan_outbox(*view, address, before, [&](std::string_view key, std::string_view) {
    const auto entry = store::keys::decode_outbox(key);
    if (!entry || entry->position > position || out.delivered_events >= rows_at_once) return false;
    out.rows.erase(store::table::outbox, key);
    ++out.delivered_events;
    last = entry->position;
    return true;
  });
  if (!scanned.ok()) return scanned.failure();
  if (last > before) taken_.insert_or_assign(std::string{address}, last);
  return out;
}

std::uint64_t reply_outbox::taken(std::string_view address) const {
  const std::lock_guard lock{guard_};
  const auto known = taken_.find(address);
  return known == taken_.end() ? 0 : known->second;
}

status reply_outbox::settle() {
  const std::lock_guard lock{guard_};
  if (taken_.empty()) return nothing{};
  const auto view = reads_.read();
  look_at_epoch(*view);
  for (auto it = taken_.begin(); it != taken_.end();) {
    bool there = false;
    const auto scanned = scan_outbox(*view, it->first, 0, [&](std::string_view key, std::string_view) {
      const auto entry = store::keys::decode_outbox(key);
      there = entry && entry->position <= it->second;
      return false;
    });
    if (!scanned.ok()) return scanned.failure();
    it = there ? std::next(it) : taken_.erase(it);
  }
  return nothing{};
}

}  // namespace fairlead
