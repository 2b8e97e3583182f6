#include "tests/simulation/checker/alert_checker.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "actors/core/cluster/alert_numbers.hpp"
#include "store/checksum.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/alert_rows.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::string_view cursor_prefix = "alert_cursor/";
constexpr std::string_view start_prefix = "alert_start/";

std::optional<std::uint64_t> member(std::string_view body, std::string_view name) {
  const auto at = body.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t out = 0;
  const auto* digits = body.data() + at + name.size();
  if (std::from_chars(digits, body.data() + body.size(), out).ec != std::errc{}) return std::nullopt;
  return out;
}

/// What follows `prefix` in a key of the meta table.
std::optional<std::string> named(std::string_view key, std::string_view prefix) {
  const auto name = store::keys::decode_meta(key);
  if (!name || name->substr(0, prefix.size()) != prefix) return std::nullopt;
  return std::string{name->substr(prefix.size())};
}

}  // namespace

void alert_checker::committed(const std::vector<store::batch>& group) {
  std::vector<std::pair<std::string, std::uint64_t>> moved;
  for (const auto& one : group) {
    one.for_each([&](const store::operation& op) {
      const auto is_put = op.what == store::operation::kind::put;
      const auto payload = is_put ? store::verified_payload(op.where, op.key, op.value) : std::nullopt;
      if (op.where == store::table::alert && payload) {
        v1::AlertRecord alert;
        alert.ParseFromArray(payload->data(), static_cast<int>(payload->size()));
        newest_ = std::max(newest_, alert.number());
        alerts_[alert.number()] = alert;
      } else if (op.where == store::table::alert) {
        for (auto it = alerts_.begin(); it != alerts_.end(); ++it) {
          if (std::string_view{store::keys::alert(store::default_namespace, it->first)} != op.key) continue;
          if (store::is_unresolved(it->second))
            world::broken("alert_erased", "alert " + std::to_string(it->first) + " is erased, and nobody has resolved it");
          alerts_.erase(it);
          world_.count("old alerts erased");
          return;
        }
      } else if (op.where == store::table::meta && payload) {
        if (const auto name = named(op.key, start_prefix))
          by_name_[*name].seen_first = store::meta::decode_u64(payload->substr(0, 8)).value_or(0);
        if (const auto name = named(op.key, cursor_prefix)) moved.emplace_back(*name, store::meta::decode_u64(*payload).value_or(0));
      }
    });
  }
  for (const auto& [name, to] : moved) judge_cursor(name, to);
}

void alert_checker::judge_cursor(const std::string& name, std::uint64_t to) {
  auto& one = by_name_[name];
  if (one.known && to < one.cursor)
    world::broken("alert_cursor", "the cursor of " + name + " goes back from " + std::to_string(one.cursor) + " to " + std::to_string(to));
  for (auto number = one.cursor + 1; number <= to; ++number) {
    const auto alert = alerts_.find(number);
    if (one.has.count(number) != 0 || alert == alerts_.end()) continue;
    // What was over before the target was first looked at is none of its business.
    if (!store::is_unresolved(alert->second) && (!one.known || number <= one.seen_first)) continue;
    world::broken("alert_undelivered",
                  "the cursor of " + name + " has passed alert " + std::to_string(number) + ", which has never come there");
  }
  one.known = true;
  one.cursor = to;
}

void alert_checker::arrived(const std::string& target, const std::string& body) {
  const auto own = [this](std::uint64_t shown) { return core::alert_of_number(shown, shards_).number; };
  auto& one = by_name_[target];
  const auto digest = body.find("\"digest\":{") != std::string::npos;
  const auto first = member(body, digest ? "\"first\":" : "\"number\":");
  const auto last = digest ? member(body, "\"last\":") : first;
  if (!first || !last) world::broken("alert_undelivered", target + " has got what it cannot read: " + body);
  for (const auto shown : {*first, *last})
    if (core::alert_of_number(shown, shards_).shard != shard_)
      world::broken("alert_undelivered", target + " is told of alert " + std::to_string(shown) + ", which is another shard's");
  if (own(*last) > newest_)
    world::broken("durable_before_effect", target + " is told of alert " + std::to_string(*last) + ", which is not in the store");
  const auto is = alerts_.find(own(*first));
  if (body.find("\"event\":\"resolved\"") != std::string::npos) {
    if (one.alone.count(own(*first)) == 0)
      world::broken("alert_end", target + " is told of the end of an alert that it does not have: " + body);
    if (is != alerts_.end() && store::is_unresolved(is->second))
      world::broken("alert_end", target + " is told that an alert is resolved that is not: " + body);
    one.ends.insert(own(*first));
    world_.count("ends of alerts delivered");
    return;
  }
  for (auto number = own(*first); number <= own(*last); ++number) one.has.insert(number);
  world_.count(digest ? "digests of alerts" : "alerts delivered");
  if (digest) {
    // After a crash before its cursor moved: now it has them as a part of many.
    one.alone.erase(one.alone.lower_bound(own(*first)), one.alone.upper_bound(own(*last)));
    for (auto number = own(*first); number <= own(*last); ++number) one.in_digests.insert(number);
    return;
  }
  one.alone.insert(own(*first));
  if (is != alerts_.end() &&
      body.find(is->second.task_id().empty() ? "\"task\":null" : "\"task\":\"" + is->second.task_id()) == std::string::npos)
    world::broken("alert_undelivered", target + " is told of alert " + std::to_string(*first) + " with what it is not about: " + body);
}

bool alert_checker::all_told(const store::snapshot& durable) const {
  const auto newest = durable.get_progress().shard.next_alert();
  return std::all_of(targets_.begin(), targets_.end(), [&](const std::string& name) {
    const auto known = by_name_.find(name);
    if (known == by_name_.end() || !known->second.known) return false;
    for (const auto number : known->second.alone) {
      const auto alert = alerts_.find(number);
      // What a process has sent that is gone may come behind a digest of the next one, and the target has it by that one.
      const auto owed = number <= known->second.cursor && alert != alerts_.end() && !store::is_unresolved(alert->second) &&
                        known->second.in_digests.count(number) == 0;
      if (owed && known->second.ends.count(number) == 0) return false;
    }
    // Behind it there may be only what it does not get, or what is no longer there.
    return std::none_of(alerts_.upper_bound(known->second.cursor), alerts_.upper_bound(newest),
                        [&](const auto& one) { return store::is_unresolved(one.second) || one.first > known->second.seen_first; });
  });
}

}  // namespace fairlead::simulation
