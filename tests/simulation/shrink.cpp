#include "tests/simulation/shrink.hpp"

#include <algorithm>

namespace fairlead::simulation {

namespace {

class shrinker {
 public:
  shrinker(const options& failing, int most_runs) : best_(failing), left_(most_runs) {
    best_.transcript = false;
    const auto first = run(best_);
    rule_ = first.rule;
    faults_ = first.faults;
    orders_ = first.orders;
    for (int i = 0; i < 2; ++i) {
      switch_concerns_off();
      cut(&options::most_tasks, 1);
      cut(&options::most_steps, 1);
      cut(&options::most_jobs, 1);
      cut_budget(&options::most_orders, orders_);
      cut_budget(&options::most_faults, faults_);
    }
  }

  const options& best() const { return best_; }

 private:
  bool still_fails(const options& smaller) {
    if (left_-- <= 0) return false;
    const auto found = run(smaller);
    if (found.rule != rule_) return false;
    best_ = smaller;
    faults_ = std::min(best_.most_faults, found.faults);
    orders_ = std::min(best_.most_orders, found.orders);
    return true;
  }

  void switch_concerns_off() {
    for (unsigned i = 0; i < static_cast<unsigned>(concern::count); ++i) {
      if (!best_.has(static_cast<concern>(i))) continue;
      auto smaller = best_;
      smaller.concerns &= ~(1ULL << i);
      still_fails(smaller);
    }
  }

  void cut(int options::*what, int least) {
    for (int value = least; value < best_.*what; ++value) {
      auto smaller = best_;
      smaller.*what = value;
      if (still_fails(smaller)) return;
    }
  }

  // Budgets are bisected: fewer faults may fail where more do not, so this finds a small one and not always the smallest.
  void cut_budget(std::uint64_t options::*what, std::uint64_t used) {
    std::uint64_t low = 0;
    std::uint64_t high = std::min(used, best_.*what);
    while (low < high && left_ > 0) {
      const auto middle = low + (high - low) / 2;
      auto smaller = best_;
      smaller.*what = middle;
      if (still_fails(smaller))
        high = middle;
      else
        low = middle + 1;
    }
  }

  options best_;
  std::string rule_;
  std::uint64_t faults_ = 0;
  std::uint64_t orders_ = 0;
  int left_;
};

}  // namespace

options shrink(const options& failing, int most_runs) { return shrinker{failing, most_runs}.best(); }

std::string command_line(const options& of) {
  std::string out = "--seed " + std::to_string(of.seed);
  for (unsigned i = 0; i < static_cast<unsigned>(concern::count); ++i)
    if (!of.has(static_cast<concern>(i))) out += std::string{" --without "} + concern_name(static_cast<concern>(i));
  if (of.most_tasks != options{}.most_tasks) out += " --tasks " + std::to_string(of.most_tasks);
  if (of.most_steps != options{}.most_steps) out += " --steps " + std::to_string(of.most_steps);
  if (of.most_jobs != options{}.most_jobs) out += " --cron-jobs " + std::to_string(of.most_jobs);
  if (of.most_faults != ~0ULL) out += " --faults " + std::to_string(of.most_faults);
  if (of.most_orders != ~0ULL) out += " --orders " + std::to_string(of.most_orders);
  if (of.always_restores) out += " --restores";
  if (of.always_items) out += " --items";
  if (of.always_replicated) out += " --replicated";
  return out;
}

}  // namespace fairlead::simulation
