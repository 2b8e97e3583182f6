#pragma once
// The declarative engine: a fixed graph of steps joined by `needs`. A step is ready when all steps that it needs are completed, skipped
// or passed over; one with `join` when enough of them are completed (join.hpp).
// Its undo is due when none of its descendants is left to be undone.

#include "actors/core/workflow/workflow.hpp"

namespace fairlead::core {

class declarative_engine final : public workflow_engine {
 public:
  void begin(const workflow& definition, v1::TaskRecord& record) const override;
  void next(const workflow& definition, const v1::TaskRecord& record, next_steps& out) const override;
  void next_undo(const workflow& definition, const v1::TaskRecord& record, next_steps& out) const override;
  void next_dropped(const workflow& definition, const v1::TaskRecord& record, next_steps& out) const override;
};

}  // namespace fairlead::core
