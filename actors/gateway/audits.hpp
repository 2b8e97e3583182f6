#pragma once
// The audits of nodes: each node keeps its own, and a list has the entries of all nodes that answer. What clients change over the port is noted as what they
// change over the API.

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "actors/gateway/from_any_thread.hpp"
#include "actors/gateway/gateway.hpp"
#include "actors/gateway/local.hpp"
#include "actors/gateway/requests/audit_entries.hpp"
#include "actors/gateway/routes.hpp"
#include "actors/protocol/handles.hpp"
#include "actors/supervision/supervised.hpp"

namespace fairlead {

/// Longer than any request takes: one whose Scheduler ends before it answers is never answered.
inline constexpr duration noted_answer_limit{610'000};

class gateway_audits {
 public:
  using self_pointer = supervised_pointer<gateway_actor>;

  gateway_audits(self_pointer self, const gateway_routes& routes, const gateway_setup& setup)
      : self_(self), routes_(routes), setup_(setup) {}

  /// `what` has been checked.
  caf::result<v1::AuditListReply> answer(v1::AuditListRequest& what);

  /// Whether the request in hand comes from another process, and this node keeps an audit.
  bool is_asked_from_outside() const {
    const auto& asker = self_->current_sender();
    return setup_.audit && asker && asker->node() != self_->node();
  }
  /// Answers once it is noted what became of the request.
  template <class Request>
  caf::result<reply_of<Request>> ask_and_note(Request what, std::vector<noted_request> entries) {
    using reply = reply_of<Request>;
    if (!setup_.audit->is_sound())
      return refusal<reply>({v1::ERROR_CODE_DISK, "the audit of node " + setup_.node + " cannot be written",
                             "look at the disk of that node: it is full or broken"});
    for (auto& one : entries) one.entry.set_at_unix_ms(to_unix_ms(setup_.time->now()));
    const auto noted = std::make_shared<std::vector<noted_request>>(std::move(entries));
    auto promise = self_->make_response_promise<reply>();
    const std::function<void(reply)> deliver = from_any_thread(self_, promise);
    // This gateway asks itself: so the answer comes by here, whichever actor gives it.
    self_->request(caf::actor_cast<gateway_actor>(caf::actor_cast<caf::strong_actor_ptr>(self_)), noted_answer_limit, std::move(what))
        .then(
            [this, noted, deliver](reply& answer) {
              note_ends(answer, *noted);
              const auto kept = std::make_shared<reply>(std::move(answer));
              setup_.audit->note(std::move(*noted), [kept, deliver, node = setup_.node](const status& written) {
                // A refusal has done nothing, and stays what it is.
                if (written.ok() || kept->error().code() != v1::ERROR_CODE_OK) return deliver(std::move(*kept));
                deliver(refusal<reply>({v1::ERROR_CODE_DISK, "this could not be noted in the audit of node " + node,
                                        "what was asked for may have been done: look, and see to the disk of that node"}));
              });
            },
            [this, noted, promise](caf::error& why) mutable {
              for (auto& one : *noted) one.end = why == caf::sec::request_timeout ? v1::ERROR_CODE_TIMED_OUT : v1::ERROR_CODE_UNAVAILABLE;
              setup_.audit->note(std::move(*noted), [](const status&) {});
              promise.deliver(std::move(why));
            });
    return promise;
  }

 private:
  struct round;
  void ask_nodes(const std::shared_ptr<round>& page, const link_report& report);

  self_pointer self_;
  const gateway_routes& routes_;
  const gateway_setup& setup_;
};

}  // namespace fairlead
