// /v1/clients/{client}/replies:take: status events of the tasks that were submitted with this client as their receiver.

#include "app/json/replies.hpp"
#include "actors/core/request_limits.hpp"
#include "app/api/api.hpp"
#include "app/api/query.hpp"

namespace fairlead::app::api {

namespace {

/// A token of a client takes only what is meant for its own name: what is taken is gone for the others.
bool may_take_for(const exchange_ptr& x, const std::string& client) {
  const auto& by = x->by();
  if (!by.is_known() || client == by.name) return true;
  if (!by.has(right::see_tasks)) {
    x->refuse({"forbidden",
               by.name + " may not take the status events of another client.",
               "Take those of " + by.name + ", or ask with a token that may see the tasks of others.",
               {},
               {},
               false});
    return false;
  }
  if (!x->note_in_audit()) return false;
  x->note_action("take", {});
  return true;
}

}  // namespace

void take_replies(exchange_ptr x) {
  v1::RepliesRequest request;
  std::int64_t wait_ms = 0;
  std::uint32_t page_size = 0;
  if (x->refuse_rest()) return;
  const auto& client = x->part(0);
  if (!may_take_for(x, client)) return;
  const auto take = [&](std::size_t, std::string_view value, std::string& pointer) -> status {
    auto& one = *request.add_positions();
    std::uint32_t shard = 0;
    std::uint64_t acknowledged = 0;
    auto read =
        read_json_object(value, "Each item", {{"shard", number_into(shard), true}, {"acknowledged", number_into(acknowledged), true}},
                         pointer, " of 'positions'");
    one.set_shard(shard);
    one.set_acknowledged(acknowledged);
    return read;
  };
  const auto read = x->read_body({{"positions", each_into(max_request_items, take, 0)},
                                  {"wait_ms", number_into(wait_ms, 0, longest_wait.count())},
                                  {"page_size", number_into(page_size, 1, max_page_size)}});
  if (!read) return;
  request.set_client(client);
  request.set_wait_ms(wait_ms);
  request.set_page_size(page_size);
  x->ask<v1::RepliesRequest>(
      request, [x, request](const v1::RepliesReply& reply) { x->say(200, replies_json(request, reply)); }, duration{wait_ms});
}

}  // namespace fairlead::app::api
