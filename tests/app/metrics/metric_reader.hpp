#pragma once
// Reads Prometheus' text format as strictly as its own parser does, and more: what a server would take with a warning is refused here too.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace fairlead::app::testing {

class metric_reader {
 public:
  /// Throws a sentence for a page that breaks a rule.
  explicit metric_reader(const std::string& page) {
    if (page.empty() || page.back() != '\n') throw std::runtime_error("the page does not end with a line break");
    std::istringstream lines{page};
    for (std::string line; std::getline(lines, line);) take(line);
    for (const auto& [name, type] : types_) {
      if ((type == "counter") != (name.size() > 6 && name.substr(name.size() - 6) == "_total"))
        throw std::runtime_error(name + ": counters, and nothing else, end with _total");
      if (type == "histogram") check_histogram(name);
    }
  }

  /// Of the series as it is written; fails the test when there is none.
  double at(const std::string& series) const {
    const auto found = values_.find(series);
    if (found == values_.end()) {
      ADD_FAILURE() << "there is no " << series;
      return std::nan("");
    }
    return found->second;
  }
  bool has(const std::string& series) const { return values_.count(series) > 0; }
  /// Series whose text begins so.
  std::size_t count(const std::string& beginning) const {
    std::size_t out = 0;
    for (auto at = values_.lower_bound(beginning); at != values_.end() && at->first.compare(0, beginning.size(), beginning) == 0; ++at)
      ++out;
    return out;
  }
  std::string type_of(const std::string& family) const { return types_.count(family) > 0 ? types_.at(family) : ""; }
  const std::map<std::string, std::string>& types() const { return types_; }

 private:
  void take(const std::string& line) {
    static const std::regex help{R"x(# HELP (fairlead_[a-z0-9_]+) ([A-Z0-9][^\\]*[^.]))x"};
    static const std::regex type{R"x(# TYPE (fairlead_[a-z0-9_]+) (counter|gauge|histogram))x"};
    static const std::string label = R"x([a-z_]+="(?:[^"\\]|\\[\\n"])*")x";
    static const std::regex sample{R"x((fairlead_[a-z0-9_]+)(\{)x" + label + "(?:," + label +
                                   R"x()*\})? ([-+]?[0-9.]+(?:e[-+]?[0-9]+)?))x"};
    std::smatch found;
    if (std::regex_match(line, found, help)) {
      if (!helped_.insert(found[1]).second) throw std::runtime_error("two HELP lines: " + line);
      helped_last_ = found[1];
      return;
    }
    if (std::regex_match(line, found, type)) {
      if (helped_last_ != found[1]) throw std::runtime_error("no HELP before: " + line);
      family_ = found[1];
      types_[family_] = found[2];
      return;
    }
    if (!std::regex_match(line, found, sample)) throw std::runtime_error("neither HELP nor TYPE nor a sample: " + line);
    const std::string name = found[1];
    const bool of_histogram = !family_.empty() && types_[family_] == "histogram";
    const auto expected =
        of_histogram ? name == family_ + "_bucket" || name == family_ + "_sum" || name == family_ + "_count" : name == family_;
    if (!expected) throw std::runtime_error("a sample that stands under " + family_ + ": " + line);
    const std::string series = name + std::string{found[2]};
    if (!values_.emplace(series, std::stod(found[3])).second) throw std::runtime_error("twice: " + series);
    order_.push_back(series);
  }

  /// Buckets rise, the last one is +Inf and counts what `_count` does.
  void check_histogram(const std::string& name) const {
    std::map<std::string, std::vector<std::pair<double, double>>> buckets;
    static const std::regex bucket{R"x(([a-z0-9_]+)_bucket\{(.*?),?le="([^"]+)"\})x"};
    for (const auto& series : order_) {
      std::smatch found;
      if (!std::regex_match(series, found, bucket) || found[1] != name) continue;
      buckets[found[2]].emplace_back(std::stod(found[3]), values_.at(series));
    }
    if (buckets.empty()) throw std::runtime_error(name + " has no buckets");
    for (const auto& [labels, all] : buckets) {
      for (std::size_t i = 1; i < all.size(); ++i)
        if (all[i].first <= all[i - 1].first || all[i].second < all[i - 1].second)
          throw std::runtime_error(name + ": the buckets do not rise");
      const auto braced = labels.empty() ? "" : "{" + labels + "}";
      if (!std::isinf(all.back().first)) throw std::runtime_error(name + ": the last bucket has a bound");
      if (all.back().second != values_.at(name + "_count" + braced))
        throw std::runtime_error(name + ": _count is not what the buckets hold");
      if (values_.count(name + "_sum" + braced) == 0) throw std::runtime_error(name + ": no _sum");
    }
  }

  std::set<std::string> helped_;
  std::string helped_last_;
  std::string family_;
  std::map<std::string, std::string> types_;
  std::map<std::string, double> values_;
  std::vector<std::string> order_;
};

}  // namespace fairlead::app::testing
