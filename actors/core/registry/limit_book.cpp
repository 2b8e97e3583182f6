#include "actors/core/registry/limit_book.hpp"

#include <algorithm>
#include <array>

#include "actors/core/text/json.hpp"
#include "actors/core/waits.hpp"

namespace fairlead::core {

namespace {

constexpr std::size_t longest_key = 256;
constexpr std::int64_t ns_per_ms = 1'000'000;
constexpr std::int64_t longest_per_ms = 315'360'000'000;  // ten years: the sums below stay far from the end of int64

std::int64_t to_ns(moment at) { return to_unix_ms(at) * ns_per_ms; }

/// Two keys with the same hash would only share a limit: a good mix is enough, and no secret is needed.
std::string digest(std::string_view text) {
  std::array<std::uint64_t, 2> sum{0xcbf29ce484222325ULL, 0x9e3779b97f4a7c15ULL};
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    sum[0] = (sum[0] ^ byte) * 0x100000001b3ULL;
    sum[1] = (sum[1] + byte + (sum[1] << 7)) * 0xd6e8feb86659fd93ULL;
    sum[1] ^= sum[1] >> 29;
  }
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "#" + std::to_string(text.size()) + ":";
  for (const auto part : sum)
    for (int shift = 60; shift >= 0; shift -= 4) out += digits[(part >> shift) & 15];
  return out;
}

/// `.customer.id` within the input; nullopt: no path.
std::optional<plain_path> parse_key(const std::string& key) {
  if (key.empty()) return std::nullopt;
  if (key == ".") return parse_plain_path(".input");
  return parse_plain_path(".input" + key);
}

void set_numbers(limit_rule& to, const v1::LimitPolicy& policy) {
  to.policy = policy;
  to.interval_ns = 0;
  to.tolerance_ns = 0;
  if (policy.rate() == 0) return;
  const auto per_ms = std::clamp<std::int64_t>(policy.rate_per_ms() > 0 ? policy.rate_per_ms() : 1'000, 1, longest_per_ms);
  to.interval_ns = std::max<std::int64_t>(per_ms * ns_per_ms / policy.rate(), 1);
  const auto burst = std::max<std::int64_t>(std::int64_t{policy.rate()} * std::min<std::int64_t>(per_ms, 1'000) / per_ms, 1);
  to.tolerance_ns = (burst - 1) * to.interval_ns;
}

}  // namespace

std::string limit_key(const std::optional<plain_path>& path, std::string_view input) {
  if (!path) return {};
  auto value = trim_json(input);
  for (std::size_t i = 1; i < path->parts.size(); ++i) {
    const auto& part = path->parts[i];
    const auto inner = part.is_key ? json_member(value, part.key) : json_element(value, part.index);
    if (!inner) return {};
    value = *inner;
  }
  if (value.size() > longest_key) return digest(value);
  // All spellings of a string are one key.
  if (value.empty() || value.front() != '"' || value.find('\\') == std::string_view::npos) return std::string{value};
  std::string out;
  append_json_string(out, decode_json_string(value));
  return out;
}

bool limit_rule::has_room(const limit_bucket& in, moment now) const {
  if (policy.concurrency() > 0 && in.held >= policy.concurrency()) return false;
  if (interval_ns == 0) return true;
  // No bucket can have run further ahead than one interval.
  return is_over(in.full_at_ns - tolerance_ns, to_ns(now), interval_ns);
}

std::string limit_rule::name() const {
  std::string out = "limit ";
  if (policy.concurrency() > 0) out += std::to_string(policy.concurrency()) + " at a time";
  if (policy.rate() > 0) {
    if (policy.concurrency() > 0) out += " and ";
    out += std::to_string(policy.rate()) + " in " + format_duration(policy.rate_per_ms() > 0 ? policy.rate_per_ms() : 1'000);
  }
  if (!policy.call().empty()) out += " for " + policy.call();
  if (!policy.key().empty()) out += " by " + policy.key();
  return out;
}

bool limit_book::set_policies(const google::protobuf::RepeatedPtrField<v1::LimitPolicy>& policies, moment now) {
  std::vector<std::unique_ptr<limit_rule>> next;
  bool changed = false;
  for (const auto& policy : policies) {
    if (policy.concurrency() == 0 && policy.rate() == 0) continue;
    // The first rule of the same call and key that is not taken over yet: one may be for the rate and another for the concurrency.
    const auto same = std::find_if(rules_.begin(), rules_.end(), [&](const auto& rule) {
      return rule && rule->policy.call() == policy.call() && rule->policy.key() == policy.key() &&
             (rule->policy.rate() > 0) == (policy.rate() > 0) && (rule->policy.concurrency() > 0) == (policy.concurrency() > 0);
    });
    if (same != rules_.end()) {
      next.push_back(std::move(*same));
      auto& rule = *next.back();
      set_numbers(rule, policy);
      for (auto& [key, bucket] : rule.buckets)
        bucket->full_at_ns = std::min(bucket->full_at_ns, to_ns(now) + rule.tolerance_ns + rule.interval_ns);
      continue;
    }
    auto rule = std::make_unique<limit_rule>();
    set_numbers(*rule, policy);
    rule->path = parse_key(policy.key());
    rule->keyed = !policy.key().empty();
    rule->full_from_ns = to_ns(now) + rule->tolerance_ns;
    next.push_back(std::move(rule));
    changed = true;
  }
  for (auto& old : rules_) {
    if (!old) continue;
    changed = true;
    old->retired = true;
    if (!old->buckets.empty()) retired_.push_back(std::move(old));
  }
  rules_ = std::move(next);
  return changed;
}

bool limit_book::wants_input(std::string_view call) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const auto& rule) { return rule->keyed && rule->matches(call); });
}

limit_bucket& limit_book::bucket(limit_rule& of, std::string key, moment now) {
  auto& entry = of.buckets[key];
  if (entry) return *entry;
  entry = std::make_unique<limit_bucket>();
  entry->rule = &of;
  entry->key = std::move(key);
  entry->id = next_id_++;
  entry->full_at_ns = of.interval_ns == 0 ? 0 : std::max(to_ns(now), of.full_from_ns);
  entry->place = in_turn_.insert(in_turn_.end(), entry.get());
  return *entry;
}

std::vector<limit_bucket*> limit_book::common(std::string_view call, moment now) {
  std::vector<limit_bucket*> out;
  for (const auto& rule : rules_)
    if (!rule->keyed && rule->matches(call)) out.push_back(&bucket(*rule, {}, now));
  return out;
}

std::vector<limit_bucket*> limit_book::keyed(std::string_view call, std::string_view input, moment now) {
  sweep(now);
  std::vector<limit_bucket*> out;
  for (const auto& rule : rules_)
    if (rule->keyed && rule->matches(call)) out.push_back(&bucket(*rule, limit_key(rule->path, input), now));
  return out;
}

std::optional<moment> limit_book::opens_at(const limit_bucket& in) {
  const auto& rule = *in.rule;
  if (rule.interval_ns == 0 || (rule.policy.concurrency() > 0 && in.held >= rule.policy.concurrency())) return std::nullopt;
  return from_unix_ms((in.full_at_ns - rule.tolerance_ns + ns_per_ms - 1) / ns_per_ms);
}

void limit_book::take(limit_bucket& in, moment now) {
  ++in.held;
  const auto& rule = *in.rule;
  if (rule.interval_ns == 0) return;
  in.full_at_ns = std::clamp(in.full_at_ns, to_ns(now), to_ns(now) + rule.tolerance_ns) + rule.interval_ns;
}

bool limit_book::give_back(limit_bucket& in, std::optional<moment> unused_since, moment now) {
  if (in.held > 0) --in.held;
  if (unused_since) {
    const auto interval_ns = in.rule->interval_ns;
    in.full_at_ns -= std::clamp<std::int64_t>(interval_ns - (to_ns(now) - to_ns(*unused_since)), 0, interval_ns);
  }
  return !drop_if_idle(in, now);
}

void limit_book::let_go(limit_bucket& in, moment now) {
  if (in.users > 0) --in.users;
  drop_if_idle(in, now);
}

bool limit_book::drop_if_idle(limit_bucket& which, moment now) {
  auto& rule = *which.rule;
  if (which.held > 0 || which.users > 0) return false;
  if (!rule.retired && rule.interval_ns > 0 && which.full_at_ns > to_ns(now)) return false;
  // The single bucket of an unkeyed rule is small, and needed again at once.
  if (!rule.retired && !rule.keyed) return false;
  in_turn_.erase(which.place);
  const auto key = std::move(which.key);
  rule.buckets.erase(key);
  if (rule.retired && rule.buckets.empty()) std::erase_if(retired_, [&](const auto& one) { return one.get() == &rule; });
  return true;
}

void limit_book::sweep(moment now) {
  for (int i = 0; i < 2 && !in_turn_.empty(); ++i) {
    auto* const next = in_turn_.front();
    if (!drop_if_idle(*next, now)) in_turn_.splice(in_turn_.end(), in_turn_, in_turn_.begin());
  }
}

std::vector<const limit_rule*> limit_book::rules() const {
  std::vector<const limit_rule*> out;
  out.reserve(rules_.size());
  for (const auto& rule : rules_) out.push_back(rule.get());
  return out;
}

bool valid_limit_key(std::string_view key) {
  constexpr std::size_t longest = 256;
  if (key == ".") return true;  // the whole input
  if (key.empty() || key.size() > longest || (key.front() != '.' && key.front() != '[')) return false;
  const auto path = parse_plain_path(".input" + std::string{key});
  return path && !path->optional;
}

}  // namespace fairlead::core
