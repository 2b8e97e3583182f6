#pragma once
// Notes what a decision does with slots, so that a decision that crashes can be undone there too.

#include <string>
#include <vector>

#include "actors/core/decision.hpp"

namespace fairlead {

class claim_journal final : public core::agent_directory {
 public:
  explicit claim_journal(core::agent_directory& inner) : inner_(inner) {}

  std::optional<core::agent_instance> claim(std::string_view agent) override {
    auto claimed = inner_.claim(agent);
    if (claimed) taken_.push_back({std::string{claimed->name}, claimed->incarnation});
    return claimed;
  }
  bool looks_up(std::string_view agent, std::string_view call) const override { return inner_.looks_up(agent, call); }
  std::optional<std::uint64_t> incarnation_of(std::string_view instance) const override { return inner_.incarnation_of(instance); }
  void hold(std::string_view instance) override {
    inner_.hold(instance);
    taken_.push_back({std::string{instance}, inner_.incarnation_of(instance).value_or(0)});
  }
  void release(std::string_view instance, std::uint64_t incarnation) override {
    inner_.release(instance, incarnation);
    given_.push_back({std::string{instance}, incarnation});
  }

  /// Puts every slot back to where it was.
  void undo() {
    for (const auto& slot : given_)
      if (inner_.incarnation_of(slot.instance) == slot.incarnation) inner_.hold(slot.instance);
    for (const auto& slot : taken_) inner_.release(slot.instance, slot.incarnation);
    given_.clear();
    taken_.clear();
  }

 private:
  struct slot {
    std::string instance;
    std::uint64_t incarnation = 0;
  };
  core::agent_directory& inner_;
  std::vector<slot> taken_;
  std::vector<slot> given_;
};

}  // namespace fairlead
