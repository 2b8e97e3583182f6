#pragma once
// Keeps an alert about each certificate of a node that ends soon: another one 21, 7 and 1 days before, and when it has ended. The rows of these alerts
// say all that a Scheduler must know of them, so a later one goes on with them. One thread.

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "actors/alerts/book.hpp"
#include "actors/scheduler/commit/pipeline.hpp"
#include "messages/error.hpp"
#include "messages/node.pb.h"
#include "messages/time.hpp"

namespace fairlead {

class certificate_watch {
 public:
  /// Nodes repeat their reports every few seconds. A node without one for so long has gone, or has no such certificate any more.
  static constexpr duration silent_after = std::chrono::hours{24};

  /// The arguments must outlive the certificate_watch.
  certificate_watch(commit_pipeline& batches, alert_book& alerts, const clock& time) : batches_(batches), alerts_(alerts), time_(time) {}

  /// Finds the unresolved alerts.
  status open();
  /// Raises an alert, or another one when the end has come nearer, and resolves it when the certificate lasts longer again.
  status look(const v1::CertificateReport& seen);
  /// Resolves alerts about certificates of which nothing was heard for silent_after.
  status look_at_silent();

 private:
  using key = std::pair<std::string, v1::CertificateUse>;  // by node
  struct told {
    std::uint64_t alert = 0;
    std::int64_t ends_at_unix_ms = 0;
    int stage = 0;  // as core::certificate_stage, when the alert was raised
    moment heard;   // by the steady clock
  };

  void tell(const v1::CertificateReport& seen, int stage);

  commit_pipeline& batches_;
  alert_book& alerts_;
  const clock& time_;
  std::map<key, told> told_;
};

}  // namespace fairlead
