#pragma once
// Shared by the parts of a check: the list of findings, and the scan of a table that reports unsound rows.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/check/check.hpp"
#include "store/keys.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// The task of a key in one of the tables of tasks. The key must decode.
std::uint64_t task_number_of(table where, std::string_view key);

class check_scan {
 public:
  /// `place` comes before every finding: the archive concerned.
  check_scan(const snapshot& of, const check_progress& progress, check_report& report, std::size_t max_findings, std::string place = {})
      : of_(of), progress_(progress), report_(report), max_findings_(max_findings), place_(std::move(place)) {}

  void add(std::string sentence);
  void add(table where, std::string_view key, std::string_view what);

  /// Calls `look(key, payload)` for every sound value whose key decodes; reports the others.
  template <class Look>
  void scan(table where, Look&& look) {
    const auto total = of_.count(where);
    std::uint64_t done = 0;
    auto finished = of_.scan_all(where, [&](std::string_view key, std::optional<std::string_view> payload) {
      if (progress_ && done % progress_every == 0) progress_(where, done, total);
      ++done;
      if (!keys::decodes(where, key)) {
        add(where, key, "the key is none of this table's");
      } else if (!payload) {
        add(where, key, "the value is damaged (checksum)");
      } else {
        look(key, *payload);
      }
      return true;
    });
    if (!finished) add(std::string("Table ") + table_name(where) + " cannot be read on: " + finished.failure().sentence);
    if (progress_) progress_(where, done, total);
    report_.values += done;
  }

  /// For history or payload: each row has its task, and parses.
  void check_parts(table where);

  const snapshot& of() const noexcept { return of_; }
  check_report& report() noexcept { return report_; }
  std::size_t max_findings() const noexcept { return max_findings_; }

 private:
  static constexpr std::uint64_t progress_every = 10'000;

  const snapshot& of_;
  const check_progress& progress_;
  check_report& report_;
  std::size_t max_findings_;
  std::string place_;
};

}  // namespace fairlead::store
