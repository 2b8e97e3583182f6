#include "app/metrics/metric_page.hpp"

#include <prometheus/text_serializer.h>

#include <limits>

#include "actors/core/distribution.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t longest_value = 500;

}  // namespace

struct metric_page::families {
  std::vector<prometheus::MetricFamily> all;
  std::map<std::string, std::size_t, std::less<>> places;
  std::set<std::pair<std::string, labels>> seen;

  /// Null for a series that exists already: a reader refuses a whole page with a repeated series.
  prometheus::ClientMetric* add(const char* name, const char* help, prometheus::MetricType type, const labels& of) {
    if (!seen.emplace(name, of).second) return nullptr;
    const auto [at, is_new] = places.emplace(name, all.size());
    if (is_new) {
      all.emplace_back();
      all.back().name = name;
      all.back().help = help;
      all.back().type = type;
    }
    auto& out = all[at->second].metric.emplace_back();
    // An invalid UTF-8 byte would cost the whole page, too.
    for (const auto& [key, value] : of) out.label.push_back({key, core::clean_text(value, longest_value)});
    return &out;
  }
};

metric_page::metric_page() : families_(std::make_unique<families>()) {}
metric_page::~metric_page() = default;

void metric_page::counter(const char* name, const char* help, const labels& of, double value) {
  if (auto* metric = families_->add(name, help, prometheus::MetricType::Counter, of)) metric->counter.value = value;
}

void metric_page::gauge(const char* name, const char* help, const labels& of, double value) {
  if (auto* metric = families_->add(name, help, prometheus::MetricType::Gauge, of)) metric->gauge.value = value;
}

void metric_page::histogram(const char* name, const char* help, const labels& of, const v1::Distribution& values, double units) {
  const auto& bounds = core::distribution_bounds;
  if (values.counts_size() != static_cast<int>(bounds.size()) + 1) return;
  auto* metric = families_->add(name, help, prometheus::MetricType::Histogram, of);
  if (metric == nullptr) return;
  auto& out = metric->histogram;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    below += values.counts(static_cast<int>(i));
    out.bucket.push_back({below, static_cast<double>(bounds[i]) / units});
  }
  out.sample_count = below + values.counts(static_cast<int>(bounds.size()));
  out.bucket.push_back({out.sample_count, std::numeric_limits<double>::infinity()});
  out.sample_sum = values.sum() / units;
}

std::string metric_page::text() const { return prometheus::TextSerializer{}.Serialize(families_->all); }

}  // namespace fairlead::app
