// The gateway's part about jobs. A job, its mark and its launches belong to the shard given by the job's name.

#include "actors/core/cluster/alert_numbers.hpp"
#include "actors/core/cluster/routing.hpp"
#include "actors/gateway/shell.hpp"

namespace fairlead {

caf::result<v1::JobOperateReply> gateway_shell::answer(v1::JobOperateRequest& what) {
  if (!what.names().empty() || only_shard(what)) return of_many(what);
  if (const auto why = refuse(what)) return refusal<v1::JobOperateReply>(*why);
  return rewind_all(what);
}

/// Shard by shard: the client goes on with the cursor in the reply.
caf::result<v1::JobOperateReply> gateway_shell::rewind_all(v1::JobOperateRequest& what) {
  const auto place = rewind_place(what.after(), routes_.count());
  if (!place) {
    ++refused_;
    return refusal<v1::JobOperateReply>(place.failure());
  }
  const auto shard = place->shard;
  what.set_after(place->after);
  auto promise = self_->make_response_promise<v1::JobOperateReply>();
  asks_.ask<v1::JobOperateRequest>(shard, std::move(what), answer_limit, [this, shard, promise](v1::JobOperateReply answer) mutable {
    if (answer.error().code() == v1::ERROR_CODE_OK) answer.set_after(rewind_cursor({shard, answer.after()}, routes_.count()));
    promise.deliver(std::move(answer));
  });
  return promise;
}

caf::result<v1::JobShowReply> gateway_shell::answer(v1::JobShowRequest& what) {
  if (const auto why = refuse(what)) return refusal<v1::JobShowReply>(*why);
  if (const auto shard = only_shard(what)) return at(*shard, what, answer_limit);
  const auto shard = core::shard_of_key(what.name(), routes_.count());
  auto promise = self_->make_response_promise<v1::JobShowReply>();
  // The shard's numbers of alerts become the cluster's.
  asks_.ask<v1::JobShowRequest>(shard, std::move(what), answer_limit, [this, shard, promise](v1::JobShowReply answer) mutable {
    if (const auto alert = answer.job().alert(); alert != 0)
      answer.mutable_job()->set_alert(core::alert_number({shard, alert}, routes_.count()));
    if (const auto alert = answer.job().missed_alert(); alert != 0)
      answer.mutable_job()->set_missed_alert(core::alert_number({shard, alert}, routes_.count()));
    promise.deliver(std::move(answer));
  });
  return promise;
}

}  // namespace fairlead
