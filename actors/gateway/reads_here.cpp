#include "actors/gateway/reads_here.hpp"

#include <utility>

#include "actors/core/cluster/alert_numbers.hpp"
#include "actors/core/cluster/routing.hpp"
#include "actors/gateway/local.hpp"
#include "actors/gateway/requests/checks.hpp"
#include "actors/gateway/requests/cut.hpp"

namespace fairlead {

const shard_desk* reads_here::alone_here(std::uint32_t shard) const {
  for (const auto& one : desks_)
    if (one.shard == shard) return one.is_of_several() ? nullptr : &one;
  return nullptr;
}

std::optional<v1::TaskShowReply> reads_here::read(const v1::TaskShowRequest& what) const {
  if (shard_count_ == 0 || what.has_shard() || check_request(what)) return std::nullopt;
  const auto shard = core::shard_of_task(what.id(), shard_count_);
  const auto* const desk = alone_here(shard);
  if (desk == nullptr) return std::nullopt;
  auto out = read_here(*desk, what, {});
  number_alert(out, shard, shard_count_);
  return out;
}

std::optional<v1::StatesReply> reads_here::read(const v1::StatesRequest& what) const {
  if (shard_count_ == 0 || what.has_shard() || check_request(what)) return std::nullopt;
  const auto cut = cut_by_shard(what, shard_count_);
  std::vector<v1::StatesReply> answers;
  for (const auto& [shard, part] : cut.parts) {
    const auto* const desk = alone_here(shard);
    if (desk == nullptr) return std::nullopt;
    answers.push_back(read_here(*desk, part, {}));
  }
  return put_together(what, cut.positions, std::move(answers));
}

void number_alert(v1::TaskShowReply& in, std::uint32_t shard, std::uint32_t shard_count) {
  if (const auto alert = in.task().alert(); alert != 0) in.mutable_task()->set_alert(core::alert_number({shard, alert}, shard_count));
}

}  // namespace fairlead
