#include "app/console/counters.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "actors/core/distribution.hpp"
#include "app/cli/screen/table.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {

namespace {

struct counter {
  const char* name;
  std::uint64_t (*of)(const v1::Traffic&);
};

constexpr std::array<counter, 11> counters{{
    {"submitted", [](const v1::Traffic& t) -> std::uint64_t { return t.submitted(); }},
    {"completed", [](const v1::Traffic& t) -> std::uint64_t { return t.completed(); }},
    {"undone", [](const v1::Traffic& t) -> std::uint64_t { return t.undone(); }},
    {"failed", [](const v1::Traffic& t) -> std::uint64_t { return t.failed(); }},
    {"parked", [](const v1::Traffic& t) -> std::uint64_t { return t.parked(); }},
    {"handed_over", [](const v1::Traffic& t) -> std::uint64_t { return t.handed_over(); }},
    {"steps_completed", [](const v1::Traffic& t) -> std::uint64_t { return t.steps_completed(); }},
    {"steps_failed", [](const v1::Traffic& t) -> std::uint64_t { return t.steps_failed(); }},
    {"steps_expired", [](const v1::Traffic& t) -> std::uint64_t { return t.steps_expired(); }},
    {"steps_undone", [](const v1::Traffic& t) -> std::uint64_t { return t.steps_undone(); }},
    {"misdirected", [](const v1::Traffic& t) -> std::uint64_t { return t.misdirected(); }},
}};

/// If the reply lists no shards, its totals count as one shard.
std::vector<v1::ShardStatus> shards_of(const v1::StatusReply& reply) {
  std::vector<v1::ShardStatus> out(reply.shards().begin(), reply.shards().end());
  if (out.empty() && reply.has_traffic()) {
    out.emplace_back().set_epoch(reply.epoch());
    out.back().set_up(true);
    *out.back().mutable_traffic() = reply.traffic();
  }
  return out;
}

/// The upper bound of the histogram bucket that holds the quantile `share`.
std::uint64_t quantile(const v1::Distribution& of, std::uint64_t count, double share) {
  const auto wanted = share * static_cast<double>(count);
  std::uint64_t below = 0;
  for (int i = 0; i < of.counts_size(); ++i) {
    below += of.counts(i);
    if (static_cast<double>(below) >= wanted && below != 0)
      return core::distribution_bounds[std::min<std::size_t>(static_cast<std::size_t>(i), core::distribution_bounds.size() - 1)];
  }
  return 0;
}

latency_line latency(const char* name, const v1::Distribution& of) {
  latency_line out{name};
  for (const auto count : of.counts()) out.count += count;
  if (out.count == 0) return out;
  out.mean_ms = of.sum() / static_cast<double>(out.count);
  out.half_ms = quantile(of, out.count, 0.5);
  out.ninety_ms = quantile(of, out.count, 0.9);
  out.ninety_nine_ms = quantile(of, out.count, 0.99);
  return out;
}

std::string rate_text(const std::optional<double>& rate) {
  if (!rate) return "-";
  char text[48];
  std::snprintf(text, sizeof text, "%.1f", *rate);
  return text;
}

std::string bound_text(std::uint64_t ms) { return "<= " + std::to_string(ms) + " ms"; }

}  // namespace

counters_view counters_memory::look(const v1::StatusReply& reply, std::optional<std::uint32_t> shard, moment now) {
  counters_view out;
  last_look fresh{now, {}};
  const auto before = looks_.find(shard);
  if (before != looks_.end()) out.seconds = std::chrono::duration<double>(now - before->second.at).count();
  for (const auto& one : counters) out.counters.push_back({one.name, 0, 0, {}});
  v1::Distribution step_ms;
  v1::Distribution task_ms;
  for (const auto& one : shards_of(reply)) {
    if (shard && one.shard() != *shard) continue;
    if (!one.up()) {
      // A shard that is down reports no counters. Its last values stay the base for the next rates.
      if (before != looks_.end())
        if (const auto had = before->second.shards.find(one.shard()); had != before->second.shards.end()) fresh.shards.insert(*had);
      continue;
    }
    auto& now_seen = fresh.shards[one.shard()];
    now_seen.epoch = one.epoch();
    const seen* then = nullptr;
    if (before != looks_.end())
      if (const auto had = before->second.shards.find(one.shard()); had != before->second.shards.end()) then = &had->second;
    for (std::size_t i = 0; i < counters.size(); ++i) {
      const auto value = counters[i].of(one.traffic());
      now_seen.values.push_back(value);
      out.counters[i].total += value;
      if (then == nullptr) continue;  // the last look did not list the shard, so its increase is not known
      const bool goes_on = then->epoch == one.epoch() && then->values[i] <= value;
      out.counters[i].since += value - (goes_on ? then->values[i] : 0);
    }
    core::merge(step_ms, one.traffic().step_ms());
    core::merge(task_ms, one.traffic().task_ms());
  }
  for (auto& line : out.counters) {
    if (out.seconds > 0)
      line.per_second = static_cast<double>(line.since) / out.seconds;
    else
      line.since = 0;
  }
  out.latencies = {latency("step", step_ms), latency("task", task_ms)};
  looks_[shard] = std::move(fresh);
  return out;
}

std::string counters_text(const counters_view& view) {
  text_table table{{{"COUNTER"}, {"TOTAL", align::right}, {"SINCE LAST LOOK", align::right}, {"A SECOND", align::right}}};
  for (const auto& line : view.counters)
    table.add({line.name, std::to_string(line.total), line.per_second ? std::to_string(line.since) : "-", rate_text(line.per_second)});
  text_table times{{{"FROM BEGIN TO END"},
                    {"COUNT", align::right},
                    {"MEAN", align::right},
                    {"50 %", align::right},
                    {"90 %", align::right},
                    {"99 %", align::right}}};
  for (const auto& line : view.latencies)
    if (line.count != 0)
      times.add({line.name, std::to_string(line.count), rate_text(line.mean_ms) + " ms", bound_text(line.half_ms),
                 bound_text(line.ninety_ms), bound_text(line.ninety_nine_ms)});
  auto out = table.text();
  if (!times.empty()) out += "\n" + times.text();
  if (view.seconds <= 0) out += "\nThe next repetition shows rates.\n";
  return out;
}

std::string counters_json(const counters_view& view) {
  json_writer out;
  out.begin_object().key("seconds");
  view.seconds > 0 ? out.seconds(view.seconds) : out.null();
  out.key("counters").begin_array();
  for (const auto& line : view.counters) {
    out.begin_object().key("name").string(line.name).key("total").number(line.total).key("since");
    line.per_second ? out.number(line.since) : out.null();
    out.key("per_second");
    line.per_second ? out.seconds(*line.per_second) : out.null();
    out.end_object();
  }
  out.end_array().key("times").begin_array();
  for (const auto& line : view.latencies) {
    out.begin_object().key("name").string(line.name).key("count").number(line.count).key("mean_ms").seconds(line.mean_ms);
    out.key("p50_ms").number(line.half_ms).key("p90_ms").number(line.ninety_ms).key("p99_ms").number(line.ninety_nine_ms).end_object();
  }
  return out.end_array().end_object().text();
}

}  // namespace fairlead::app
