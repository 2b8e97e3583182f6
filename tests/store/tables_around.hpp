#pragma once
// Tables that do what others do, for tests that look in between or interrupt.

#include "store/tables.hpp"

namespace fairlead::store::testing {

class tables_around : public tables {
 public:
  /// `of` outlives this, and may be made after it.
  explicit tables_around(tables& of) : of_(of) {}

  status apply(const std::vector<operation>& sorted) override { return of_.apply(sorted); }
  std::unique_ptr<snapshot> read_tables() const override { return of_.read_tables(); }
  usage tables_usage() const override { return of_.tables_usage(); }
  result<std::unique_ptr<tables_copy>> copy() override { return of_.copy(); }
  result<std::unique_ptr<incoming_copy>> receive(std::uint64_t bytes) override { return of_.receive(bytes); }

 private:
  tables& of_;
};

}  // namespace fairlead::store::testing
