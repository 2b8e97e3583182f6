// What a checker wants to know of a workflow.

#include <algorithm>
#include <utility>

#include "tests/simulation/plans/workflows.hpp"

namespace fairlead::simulation {

shape shape::of_item(std::uint32_t index) const {
  v1::WorkflowDefinition out;
  out.set_name(definition_.name());
  out.set_keep_days(definition_.keep_days());
  out.set_on_failure(v1::ON_FAILURE_FAIL);
  auto& one = *out.add_steps();
  one = step(index);
  one.clear_for_each();
  one.clear_needs();
  one.clear_join();
  one.clear_when_json();
  one.clear_on_failure();
  one.clear_cool_off_ms();
  one.clear_with_json();
  out.set_output_json(R"("${ .steps.)" + one.name() + R"( }")");
  return shape{std::move(out)};
}

bool shape::has_joins() const {
  return std::any_of(definition_.steps().begin(), definition_.steps().end(), [](const auto& one) { return one.join() != 0; });
}

std::vector<bool> shape::droppable() const {
  std::vector<bool> out(size());
  // Generated steps only need earlier ones.
  for (auto i = size(); i-- > 0;) {
    bool needed = false, lost = true;
    for (auto later = i + 1; later < size(); ++later) {
      if (!needs_[later][i]) continue;
      needed = true;
      lost = lost && (out[later] || leaves_steps_over(later));
    }
    out[i] = needed && lost;
  }
  return out;
}

shape::shape(v1::WorkflowDefinition definition) : definition_(std::move(definition)) {
  const auto count = static_cast<std::size_t>(definition_.steps_size());
  after_.assign(count, std::vector<bool>(count, false));
  needs_ = after_;
  // Generated steps only need earlier ones.
  for (std::size_t i = 0; i < count; ++i) {
    for (const auto& need : definition_.steps(static_cast<int>(i)).needs()) {
      for (std::size_t j = 0; j < i; ++j) {
        if (definition_.steps(static_cast<int>(j)).name() != need) continue;
        after_[i][j] = true;
        needs_[i][j] = true;
        for (std::size_t k = 0; k < j; ++k)
          if (after_[j][k]) after_[i][k] = true;
      }
    }
  }
}

}  // namespace fairlead::simulation
