#pragma once
// Notes which slots a decision takes, so that they can be given back when it crashes. What it gives back is not taken again: the agent said
// that it is through with it, or its lease is over.

#include <vector>

#include "actors/core/task/decision.hpp"

namespace fairlead {

class claim_journal final : public core::agent_directory {
 public:
  explicit claim_journal(core::agent_directory& inner) : inner_(inner) {}

  core::slot_answer claim(const core::slot_request& what) override {
    const auto answer = inner_.claim(what);
    if (answer.instance) taken_.push_back(what.holder);
    return answer;
  }
  bool wants_input(std::string_view agent, std::string_view call) const override { return inner_.wants_input(agent, call); }
  bool looks_up(std::string_view agent, std::string_view call) const override { return inner_.looks_up(agent, call); }
  std::int64_t key_valid_for_ms(std::string_view agent, std::string_view call) const override {
    return inner_.key_valid_for_ms(agent, call);
  }
  std::optional<std::uint64_t> incarnation_of(std::string_view instance) const override { return inner_.incarnation_of(instance); }
  void hold(std::string_view instance, const core::slot_request& what) override {
    inner_.hold(instance, what);
    taken_.push_back(what.holder);
  }
  void release(const core::slot_holder& holder, const core::slot_outcome& outcome) override { inner_.release(holder, outcome); }

  /// Gives back what was taken.
  void undo() {
    for (const auto& holder : taken_) inner_.release(holder, {});
    taken_.clear();
  }

 private:
  core::agent_directory& inner_;
  std::vector<core::slot_holder> taken_;
};

}  // namespace fairlead
