#include <fairlead/context.hpp>

#include <algorithm>

#include "actors/agents/native.hpp"

namespace fairlead {

std::string_view context::key() const { return from_->idempotency_key; }
std::string_view context::task_id() const { return from_->task_id; }
std::string_view context::step() const { return from_->step_path; }
std::uint32_t context::attempt() const { return from_->attempt; }
std::uint32_t context::try_number() const { return from_->try_number; }
std::string_view context::checkpoint() const { return from_->checkpoint; }
std::string_view context::callback_url() const { return from_->callback_url; }
std::string_view context::perform_key() const { return from_->perform_key; }
bool context::in_doubt() const { return from_->in_doubt; }
std::string_view context::perform_output() const { return from_->perform_output; }
moment context::complete_by() const { return from_->complete_by; }
bool context::stopped() const { return from_->stopped(); }

bool context::heartbeat(std::optional<std::uint32_t> percent, std::string_view note, std::string_view checkpoint) {
  return from_->heartbeat(percent, note, checkpoint);
}

direction context::direction() const {
  switch (from_->direction) {
    case v1::DIRECTION_UNDO: return direction::undo;
    case v1::DIRECTION_LOOKUP: return direction::lookup;
    default: return direction::perform;
  }
}

duration context::time_left() const { return std::max(duration{0}, from_->complete_by - system_clock{}.now()); }

}  // namespace fairlead
