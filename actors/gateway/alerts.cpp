// The gateway's part about alerts: clients see cluster numbers, shards use their own numbers.

#include <algorithm>

#include "actors/core/cluster/alert_numbers.hpp"
#include "actors/gateway/shell.hpp"

namespace fairlead {

namespace {

constexpr int most_rounds = 50;  // of requests for one page: with filters a shard may read many rows in vain

error no_such_alert(std::uint64_t number) {
  return {v1::ERROR_CODE_NOT_FOUND, "there is no alert " + std::to_string(number), "fairlead alert list --all shows all alerts"};
}

}  // namespace

/// A page in progress: it grows as shards answer.
struct gateway_shell::alert_page {
  v1::AlertListRequest what;
  v1::AlertListReply reply;
  std::vector<alert_source> sources;
  int rounds = 0;
  promise_of<v1::AlertListReply> promise;
};

caf::result<v1::AlertListReply> gateway_shell::answer(v1::AlertListRequest& what) {
  if (const auto why = refuse(what)) return refusal<v1::AlertListReply>(*why);
  if (const auto shard = only_shard(what)) return at(*shard, what, answer_limit);
  const auto page = std::make_shared<alert_page>();
  page->promise = self_->make_response_promise<v1::AlertListReply>();
  page->what = std::move(what);
  const auto begin = [this, page](std::int64_t raised_at_unix_ms) {
    std::vector<std::pair<std::uint32_t, v1::AlertListRequest>> parts;
    for (std::uint32_t shard = 0; shard < routes_.count(); ++shard)
      parts.emplace_back(shard, alerts_behind(page->what, shard, routes_.count(), raised_at_unix_ms));
    asks_.ask_each<v1::AlertListRequest>(std::move(parts), answer_limit, [this, page](std::vector<v1::AlertListReply> answers) {
      if (const auto* why = error_of_list(page->what, answers))
        return give(page->promise, refusal<v1::AlertListReply>(error::from_proto(*why)));
      for (std::uint32_t shard = 0; shard < answers.size(); ++shard) {
        auto& answer = answers[shard];
        if (left_out(page->what, answer))
          *page->reply.add_missing() = answer.error();
        else
          page->sources.push_back({shard, {answer.items().begin(), answer.items().end()}, 0, answer.before()});
      }
      page_alerts(page);
    });
  };
  if (page->what.before() == 0) {
    begin(0);
    return page->promise;
  }
  // The other shards go on by the moment at which the last alert of the page before was raised.
  const auto last = core::alert_of_number(page->what.before(), routes_.count());
  v1::AlertShowRequest show;
  show.set_number(last.number);
  asks_.ask<v1::AlertShowRequest>(last.shard, show, answer_limit, [page, begin](v1::AlertShowReply answer) {
    if (answer.error().code() == v1::ERROR_CODE_NOT_FOUND) {
      auto why = no_such_alert(page->what.before());
      why.sentence += " to go on behind";
      why.remedy = "start again with the newest alert";
      page->promise.deliver(refusal<v1::AlertListReply>(why));
    } else if (answer.error().code() != v1::ERROR_CODE_OK) {
      page->promise.deliver(refusal<v1::AlertListReply>(error::from_proto(answer.error())));
    } else {
      begin(answer.alert().raised_at_unix_ms());
    }
  });
  return page->promise;
}

void gateway_shell::page_alerts(std::shared_ptr<alert_page> page) {
  const auto dry = fill_page(page->reply, page->sources, page->what.page_size(), routes_.count());
  if (!dry) {
    if (!page->reply.items().empty() && more_alerts(page->sources)) page->reply.set_before(page->reply.items().rbegin()->number());
    return give(page->promise, std::move(page->reply));
  }
  if (++page->rounds > most_rounds)
    return give(page->promise,
                refusal<v1::AlertListReply>(error{v1::ERROR_CODE_OVERLOADED, "too many alerts had to be searched to fill the page",
                                                  "use a smaller --limit, or fewer filters"}));
  auto& source = page->sources[*dry];
  auto more = page->what;
  // The time bound of the first request lies after this cursor.
  more.clear_raised_before_unix_ms();
  more.set_before(source.before);
  asks_.ask<v1::AlertListRequest>(source.shard, more, answer_limit, [this, page, at = *dry](v1::AlertListReply answer) {
    if (answer.error().code() != v1::ERROR_CODE_OK)
      return give(page->promise, refusal<v1::AlertListReply>(error::from_proto(answer.error())));
    auto& from = page->sources[at];
    from.items.assign(answer.items().begin(), answer.items().end());
    from.taken = 0;
    from.before = answer.before();
    page_alerts(page);
  });
}

caf::result<v1::AlertShowReply> gateway_shell::answer(v1::AlertShowRequest& what) {
  if (const auto why = refuse(what)) return refusal<v1::AlertShowReply>(*why);
  if (const auto shard = only_shard(what)) return at(*shard, what, answer_limit);
  const auto number = what.number();
  if (number == 0) return refusal<v1::AlertShowReply>(no_such_alert(number));
  const auto of = core::alert_of_number(number, routes_.count());
  what.set_number(of.number);
  auto promise = self_->make_response_promise<v1::AlertShowReply>();
  asks_.ask<v1::AlertShowRequest>(of.shard, what, answer_limit, [promise, number](v1::AlertShowReply answer) mutable {
    if (answer.error().code() == v1::ERROR_CODE_NOT_FOUND) answer = refusal<v1::AlertShowReply>(no_such_alert(number));
    if (answer.has_alert()) answer.mutable_alert()->set_number(number);
    promise.deliver(std::move(answer));
  });
  return promise;
}

caf::result<v1::AlertAckReply> gateway_shell::answer(v1::AlertAckRequest& what) {
  if (const auto why = refuse(what)) return refusal<v1::AlertAckReply>(*why);
  if (const auto shard = only_shard(what)) return at(*shard, what, answer_limit);
  auto promise = self_->make_response_promise<v1::AlertAckReply>();
  const auto cut = std::make_shared<cut_request<v1::AlertAckRequest>>(cut_by_shard(what, routes_.count()));
  asks_.ask_each<v1::AlertAckRequest>(cut->parts, answer_limit, [this, what, promise, cut](std::vector<v1::AlertAckReply> answers) mutable {
    promise.deliver(put_together(what, *cut, std::move(answers), routes_.count()));
  });
  return promise;
}

}  // namespace fairlead
