#pragma once
// The part of a check that verifies one task: everything that its row implies must exist. It counts the expected entries. If every expected
// entry exists and a table has no more entries than expected, the table holds nothing else.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "messages/task.pb.h"
#include "store/keys.hpp"
#include "store/store.hpp"

namespace fairlead::store {

using report_finding = std::function<void(std::string sentence)>;

/// Every index entry that the row of `record` implies, as (table, key).
void for_each_index_entry(const v1::TaskRecord& record, const std::function<void(table, std::string_view)>& visit);

class task_check {
 public:
  task_check(const snapshot& of, report_finding report) : of_(of), report_(std::move(report)) {}

  /// `key` must decode; `payload` is the verified value.
  void look_at(number_key key, std::string_view payload);

  /// The same for a row of an archive, where there are no indexes. Returns the record, if it is one.
  std::optional<v1::TaskRecord> look_at_archived(number_key key, std::string_view payload);

  std::uint64_t expected(table where) const { return expected_[static_cast<std::size_t>(where)]; }
  const v1::ShardState& counted() const noexcept { return counted_; }
  std::uint64_t greatest_number() const noexcept { return greatest_number_; }

 private:
  std::optional<v1::TaskRecord> parse(number_key key, std::string_view payload);
  void finding(const v1::TaskRecord& record, std::string_view what);
  bool moves(const v1::TaskRecord& record);
  void check_id(const v1::TaskRecord& record);
  void check_entries(const v1::TaskRecord& record);
  void check_due(const v1::TaskRecord& record);
  void check_history(const v1::TaskRecord& record);
  void check_payloads(const v1::TaskRecord& record);
  void check_definition(const v1::TaskRecord& record);
  void check_alert(const v1::TaskRecord& record);
  void check_family(const v1::TaskRecord& record);
  bool present(table where, std::string_view key);

  const snapshot& of_;
  report_finding report_;
  std::array<std::uint64_t, table_count> expected_{};
  v1::ShardState counted_;
  std::uint64_t greatest_number_ = 0;
  std::set<std::string> known_definitions_;
};

}  // namespace fairlead::store
