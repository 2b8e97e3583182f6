#pragma once
// A snapshot of journal and tables as one: the overlay, and below it what the tables had afterwards.

#include <memory>

#include "store/journaled/overlay.hpp"
#include "store/store.hpp"
#include "store/tables.hpp"

namespace fairlead::store {

class journaled_snapshot final : public snapshot {
 public:
  /// Takes the overlay first and the tables second, and drops the generations that the tables have. The other way round would miss a
  /// generation that is applied in between; without the drop an older value in the overlay would hide a newer one in the tables.
  static std::unique_ptr<snapshot> take(const overlay& over, const tables& below);
  /// The tables, and these generations, none of which they have.
  static std::unique_ptr<snapshot> of(std::unique_ptr<snapshot> below, std::vector<std::shared_ptr<const generation>> over);

  result<std::optional<std::string_view>> get(table where, std::string_view key) const override;
  status scan(table where, std::string_view from, std::string_view to, const visitor& visit) const override;
  status scan_reverse(table where, std::string_view from, std::string_view to, const visitor& visit) const override;
  status scan_all(table where, const inspector& visit) const override;
  /// Takes a probe of the tables for each key of the overlay.
  std::uint64_t count(table where) const override;
  progress get_progress() const override;

 private:
  journaled_snapshot(std::unique_ptr<snapshot> below, std::vector<std::shared_ptr<const generation>> over)
      : below_(std::move(below)), over_(std::move(over)) {}
  const operation* find(table where, std::string_view key) const;

  std::unique_ptr<snapshot> below_;
  std::vector<std::shared_ptr<const generation>> over_;
  std::optional<error> failed_;  // what the tables have is not known, so every read gives this
};

}  // namespace fairlead::store
