#include "actors/scheduler/commit/certificate_watch.hpp"

#include "actors/core/certificate_stage.hpp"
#include "store/rows/alert_rows.hpp"

namespace fairlead {

namespace {

v1::AlertRecord draft_of_end(const v1::CertificateReport& seen, bool has_ended) {
  const bool of_api = seen.use() == v1::CERTIFICATE_USE_API;
  v1::AlertRecord out;
  out.set_kind(v1::ALERT_KIND_CERTIFICATE_ENDS);
  out.set_node(seen.node());
  out.set_certificate(seen.use());
  out.set_certificate_ends_at_unix_ms(seen.ends_at_unix_ms());
  out.set_sentence("node " + seen.node() + ": " + (of_api ? "the certificate of its API" : "an authority in its api.tls.client_ca") +
                   (has_ended ? " has ended at " : " ends at ") + format_utc(seen.ends_at_unix_ms()));
  out.set_remedy(
      of_api ? "replace the file of api.tls.certificate on that node: fairlead certificate renew; the node takes it without a stop"
             : "add the next authority to the file of api.tls.client_ca, give clients certificates of it, then remove the former one");
  return out;
}

}  // namespace

status certificate_watch::open() {
  return store::for_each_unresolved(batches_.committed(), [this](const v1::AlertRecord& one) {
    if (one.kind() != v1::ALERT_KIND_CERTIFICATE_ENDS) return true;
    const auto ends_at = one.certificate_ends_at_unix_ms();
    told_[{one.node(), one.certificate()}] = {one.number(), ends_at, core::certificate_stage(ends_at - one.raised_at_unix_ms()),
                                              time_.steady()};
    return true;
  });
}

status certificate_watch::look(const v1::CertificateReport& seen) {
  const bool is_known_use = seen.use() == v1::CERTIFICATE_USE_API || seen.use() == v1::CERTIFICATE_USE_CLIENTS;
  if (!is_known_use || seen.node().empty() || seen.ends_at_unix_ms() <= 0) return nothing{};
  const auto stage = core::certificate_stage(seen.ends_at_unix_ms() - to_unix_ms(time_.now()));
  const auto known = told_.find({seen.node(), seen.use()});
  if (known == told_.end()) {
    if (stage != 0) tell(seen, stage);
    return nothing{};
  }
  known->second.heard = time_.steady();
  const bool is_same = known->second.ends_at_unix_ms == seen.ends_at_unix_ms();
  if (is_same && stage != 0 && stage <= known->second.stage) return nothing{};
  const auto number = known->second.alert;
  told_.erase(known);
  // Who acknowledged the former alert has not heard that the end is nearer.
  if (stage != 0) tell(seen, stage);
  return alerts_.resolve(number, batches_.page(), batches_.committed());
}

status certificate_watch::look_at_silent() {
  for (auto it = told_.begin(); it != told_.end();) {
    if (time_.steady() - it->second.heard < silent_after) {
      ++it;
      continue;
    }
    const auto number = it->second.alert;
    it = told_.erase(it);
    if (auto resolved = alerts_.resolve(number, batches_.page(), batches_.committed()); !resolved.ok()) return resolved;
  }
  return nothing{};
}

void certificate_watch::tell(const v1::CertificateReport& seen, int stage) {
  const auto left_ms = seen.ends_at_unix_ms() - to_unix_ms(time_.now());
  told_[{seen.node(), seen.use()}] = {alerts_.raise(draft_of_end(seen, left_ms <= 0), batches_.page()), seen.ends_at_unix_ms(), stage,
                                      time_.steady()};
}

}  // namespace fairlead
