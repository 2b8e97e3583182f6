#pragma once
// A page of metrics in the text format of Prometheus. Families and their metrics are in the order in which they were first added.

#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/api.pb.h"

namespace fairlead::app {

class metric_page {
 public:
  using labels = std::vector<std::pair<std::string, std::string>>;

  metric_page();
  ~metric_page();

  /// A value that only grows until its process or counting part restarts. The name ends with `_total`.
  void counter(const char* name, const char* help, const labels& of, double value);
  void gauge(const char* name, const char* help, const labels& of, double value);
  /// `values` are in a smaller unit: `units` of them are one of the metric's. Adds nothing for an empty distribution.
  void histogram(const char* name, const char* help, const labels& of, const v1::Distribution& values, double units);

  std::string text() const;

 private:
  struct families;
  std::unique_ptr<families> families_;
};

}  // namespace fairlead::app
