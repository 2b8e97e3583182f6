#include "app/files/deploy_order.hpp"

#include <utility>

namespace fairlead::app {

namespace {

class ordering {
 public:
  explicit ordering(const std::vector<v1::WorkflowDefinition>& all) : all_(all), seen_(all.size()) {}

  std::vector<std::size_t> run() {
    for (std::size_t i = 0; i < all_.size(); ++i) add(i);
    return std::move(order_);
  }

 private:
  void add(std::size_t one) {
    if (seen_[one]) return;
    seen_[one] = true;
    for (const auto& step : all_[one].steps()) {
      if (step.kind() != v1::STEP_KIND_WORKFLOW) continue;
      for (std::size_t i = 0; i < all_.size(); ++i)
        if (all_[i].name() == step.workflow()) add(i);
    }
    order_.push_back(one);
  }

  const std::vector<v1::WorkflowDefinition>& all_;
  std::vector<bool> seen_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::vector<std::size_t> deploy_order(const std::vector<v1::WorkflowDefinition>& all) { return ordering{all}.run(); }

}  // namespace fairlead::app
