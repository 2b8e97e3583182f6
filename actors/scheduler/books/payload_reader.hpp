#pragma once
// Gives decisions the payloads that are not inline in the row: uncommitted ones from memory, the others from the store.

#include <memory>
#include <string>
#include <unordered_map>

#include "actors/core/task/decision.hpp"
#include "store/keys.hpp"
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

}  // namespace fairlead
