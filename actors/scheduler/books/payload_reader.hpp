#pragma once
// Gives decisions the payloads that are not inline in the row: uncommitted ones from memory, the others from the store.

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "actors/core/task/decision.hpp"
#include "store/keys.hpp"
#include "store/rows/task_rows.hpp"
#include "store/store.hpp"

namespace fairlead {

class payload_reader final : public core::payload_source {
 public:
  payload_reader(const std::unordered_map<std::uint32_t, std::string>& fresh, const store::store& reads) : fresh_(fresh), reads_(reads) {}

  result<std::string_view> load(const v1::TaskRecord& record, std::uint32_t slot) const override {
    const auto found = fresh_.find(slot);
    if (found != fresh_.end()) return std::string_view{found->second};
    if (!snapshot_) snapshot_ = reads_.read();
    const auto key = store::keys::payload(store::default_namespace, record.number(), slot);
    auto stored = snapshot_->get(store::table::payload, key);
    if (!stored) return stored.failure();
    if (!*stored)
      return error{v1::ERROR_CODE_NOT_FOUND, "payload " + std::to_string(slot) + " of task " + record.id() + " is missing",
                   "run fairlead store check and restore a backup"};
    return **stored;
  }

 private:
  const std::unordered_map<std::uint32_t, std::string>& fresh_;
  const store::store& reads_;
  mutable std::unique_ptr<store::snapshot> snapshot_;  // opened only when a payload is asked for
};

/// Gives decisions about a child that carries out its parent's call what the parent has. `live`: the parent as the Scheduler knows it; null:
/// it is read from the store when it is asked for.
class parent_reader final : public core::parent_source {
 public:
  parent_reader(std::uint64_t number, const v1::TaskRecord* live, const std::unordered_map<std::uint32_t, std::string>* fresh,
                const store::store& reads)
      : number_(number), live_(live), reads_(reads), payloads_(fresh != nullptr ? *fresh : none_, reads) {}

  result<const v1::TaskRecord*> record() const override {
    if (live_ != nullptr || read_) return live_ != nullptr ? live_ : &*read_;
    auto stored = store::load_task(*reads_.read(), number_);
    if (!stored) return stored.failure();
    if (!*stored) return static_cast<const v1::TaskRecord*>(nullptr);
    read_ = std::move(**stored);
    return &*read_;
  }
  const core::payload_source& payloads() const override { return payloads_; }

 private:
  const std::unordered_map<std::uint32_t, std::string> none_;
  std::uint64_t number_;
  const v1::TaskRecord* live_;
  const store::store& reads_;
  payload_reader payloads_;
  mutable std::optional<v1::TaskRecord> read_;
};

}  // namespace fairlead
