#pragma once
// The part of a check that verifies messages to operators and submitters: alerts, and the outboxes of reply addresses.

#include <cstdint>

#include "store/check/scan.hpp"

namespace fairlead::store {

class notice_check {
 public:
  explicit notice_check(check_scan& all) : all_(all) {}

  void run();

  std::uint64_t unresolved_alerts() const noexcept { return unresolved_alerts_; }
  std::uint64_t greatest_alert() const noexcept { return greatest_alert_; }
  std::uint64_t outbox_events() const noexcept { return outbox_events_; }
  std::uint64_t greatest_position() const noexcept { return greatest_position_; }

 private:
  void check_alerts();
  void check_addresses();
  void check_outboxes();
  void check_services();
  void check_alert_of(std::string_view key, std::uint64_t number);

  check_scan& all_;
  std::uint64_t unresolved_alerts_ = 0;
  std::uint64_t greatest_alert_ = 0;
  std::uint64_t outbox_events_ = 0;
  std::uint64_t greatest_position_ = 0;
};

}  // namespace fairlead::store
