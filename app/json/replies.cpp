#include "app/json/replies.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include "actors/replies/message.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {

std::string replies_json(const v1::RepliesRequest& asked, const v1::RepliesReply& reply) {
  std::map<std::uint32_t, std::uint64_t> of_shard;
  for (const auto& one : asked.positions()) of_shard[one.shard()] = one.acknowledged();
  json_writer out;
  out.begin_object().key("replies").begin_array();
  for (const auto& event : reply.events()) {
    out.raw(fairlead::event_json(event));
    auto& position = of_shard[event.shard()];
    position = std::max(position, event.position());
  }
  out.end_array().key("positions").begin_array();
  for (const auto& [shard, position] : of_shard)
    out.begin_object().key("shard").number(shard).key("acknowledged").number(position).end_object();
  return out.end_array().end_object().text();
}

}  // namespace fairlead::app
