#pragma once
// The audits of nodes: each node keeps its own, and a list has the entries of all nodes that answer.

#include <memory>

#include "actors/gateway/gateway.hpp"
#include "actors/gateway/routes.hpp"
#include "actors/protocol/handles.hpp"
#include "actors/supervision/supervised.hpp"

namespace fairlead {

class gateway_audits {
 public:
  using self_pointer = supervised_pointer<gateway_actor>;

  gateway_audits(self_pointer self, const gateway_routes& routes, const gateway_setup& setup)
      : self_(self), routes_(routes), setup_(setup) {}

  /// `what` has been checked.
  caf::result<v1::AuditListReply> answer(v1::AuditListRequest& what);

 private:
  struct round;
  void ask_nodes(const std::shared_ptr<round>& page, const link_report& report);

  self_pointer self_;
  const gateway_routes& routes_;
  const gateway_setup& setup_;
};

}  // namespace fairlead
