#include "actors/gateway/requests/cut.hpp"

#include <map>
#include <string>

#include "actors/core/cluster/alert_numbers.hpp"
#include "actors/core/cluster/routing.hpp"
#include "messages/error.hpp"

namespace fairlead {

namespace {

/// Sorts the places of a request by shard. `add(part, place)` copies the item at a place; `shard_of` returns `count` for an item to leave
/// out.
template <class Request, class ShardOf, class Add>
cut_request<Request> cut(int size, const Request& common, std::uint32_t count, ShardOf&& shard_of, Add&& add) {
  std::map<std::uint32_t, std::vector<int>> places;
  for (int i = 0; i < size; ++i)
    if (const auto shard = shard_of(i); shard < count) places[shard].push_back(i);
  cut_request<Request> out;
  for (auto& [shard, at] : places) {
    out.parts.emplace_back(shard, common);
    for (const auto i : at) add(out.parts.back().second, i);
    out.positions.push_back(std::move(at));
  }
  return out;
}

v1::Error miscounted() {
  return error{v1::ERROR_CODE_INTERNAL, "a shard sent the wrong number of answers", "report this as a bug"}.to_proto();
}

/// Gives each item its result. If a part failed as a whole, or has a wrong number of results, each of its items gets the error.
template <class Reply>
void place(Reply& out, const std::vector<std::vector<int>>& positions, std::vector<Reply>& answers) {
  for (std::size_t part = 0; part < positions.size(); ++part) {
    auto& answer = answers[part];
    auto why = answer.error();
    if (why.code() == v1::ERROR_CODE_OK && answer.results_size() != static_cast<int>(positions[part].size())) why = miscounted();
    for (std::size_t i = 0; i < positions[part].size(); ++i) {
      auto* result = out.mutable_results(positions[part][i]);
      if (why.code() == v1::ERROR_CODE_OK)
        result->Swap(answer.mutable_results(static_cast<int>(i)));
      else
        *result->mutable_error() = why;
    }
  }
}

}  // namespace

cut_request<v1::SubmitRequest> cut_by_shard(v1::SubmitRequest what, std::uint32_t count) {
  v1::SubmitRequest common;
  common.set_notify(what.notify());
  return cut(
      what.items_size(), common, count, [&](int i) { return core::shard_of_task(what.items(i).id(), count); },
      [&](v1::SubmitRequest& part, int i) { *part.add_items() = std::move(*what.mutable_items(i)); });
}

cut_request<v1::StatesRequest> cut_by_shard(const v1::StatesRequest& what, std::uint32_t count) {
  v1::StatesRequest common;
  common.set_submitted_by(what.submitted_by());
  return cut(
      what.ids_size(), common, count, [&](int i) { return core::shard_of_task(what.ids(i), count); },
      [&](v1::StatesRequest& part, int i) { part.add_ids(what.ids(i)); });
}

cut_request<v1::OperateRequest> cut_by_shard(const v1::OperateRequest& what, std::uint32_t count) {
  v1::OperateRequest common;
  *common.mutable_action() = what.action();
  common.set_submitted_by(what.submitted_by());
  return cut(
      what.ids_size(), common, count, [&](int i) { return core::shard_of_task(what.ids(i), count); },
      [&](v1::OperateRequest& part, int i) { part.add_ids(what.ids(i)); });
}

cut_request<v1::AlertAckRequest> cut_by_shard(const v1::AlertAckRequest& what, std::uint32_t count) {
  v1::AlertAckRequest common;
  common.set_who(what.who());
  common.set_note(what.note());
  return cut(
      what.numbers_size(), common, count,
      [&](int i) { return what.numbers(i) == 0 ? count : core::alert_of_number(what.numbers(i), count).shard; },
      [&](v1::AlertAckRequest& part, int i) { part.add_numbers(core::alert_of_number(what.numbers(i), count).number); });
}

cut_request<v1::JobApplyRequest> cut_by_shard(v1::JobApplyRequest what, std::uint32_t count) {
  v1::JobApplyRequest common;
  common.set_who(what.who());
  common.set_check_only(what.check_only());
  common.set_if_revision(what.if_revision());
  common.set_must_exist(what.must_exist());
  common.set_must_be_new(what.must_be_new());
  return cut(
      what.jobs_size(), common, count, [&](int i) { return core::shard_of_key(what.jobs(i).name(), count); },
      [&](v1::JobApplyRequest& part, int i) { *part.add_jobs() = std::move(*what.mutable_jobs(i)); });
}

cut_request<v1::JobOperateRequest> cut_by_shard(const v1::JobOperateRequest& what, std::uint32_t count) {
  v1::JobOperateRequest common;
  *common.mutable_action() = what.action();
  return cut(
      what.names_size(), common, count, [&](int i) { return core::shard_of_key(what.names(i), count); },
      [&](v1::JobOperateRequest& part, int i) { part.add_names(what.names(i)); });
}

v1::SubmitReply put_together(const v1::SubmitRequest& ids, const std::vector<std::vector<int>>& positions,
                             std::vector<v1::SubmitReply> answers) {
  v1::SubmitReply out;
  for (const auto& item : ids.items()) out.add_results()->set_id(item.id());
  place(out, positions, answers);
  return out;
}

v1::StatesReply put_together(const v1::StatesRequest& what, const std::vector<std::vector<int>>& positions,
                             std::vector<v1::StatesReply> answers) {
  v1::StatesReply out;
  for (const auto& id : what.ids()) out.add_items()->set_id(id);
  for (std::size_t part = 0; part < positions.size(); ++part) {
    auto& answer = answers[part];
    auto why = answer.error();
    if (why.code() == v1::ERROR_CODE_OK && answer.items_size() != static_cast<int>(positions[part].size())) why = miscounted();
    if (why.code() != v1::ERROR_CODE_OK) {
      if (out.error().code() == v1::ERROR_CODE_OK) *out.mutable_error() = why;
      continue;
    }
    for (std::size_t i = 0; i < positions[part].size(); ++i)
      out.mutable_items(positions[part][i])->Swap(answer.mutable_items(static_cast<int>(i)));
  }
  return out;
}

v1::OperateReply put_together(const v1::OperateRequest& what, const std::vector<std::vector<int>>& positions,
                              std::vector<v1::OperateReply> answers) {
  v1::OperateReply out;
  for (const auto& id : what.ids()) out.add_results()->set_id(id);
  place(out, positions, answers);
  return out;
}

v1::JobApplyReply put_together(const v1::JobApplyRequest& names, const std::vector<std::vector<int>>& positions,
                               std::vector<v1::JobApplyReply> answers) {
  v1::JobApplyReply out;
  for (const auto& spec : names.jobs()) out.add_results()->set_name(spec.name());
  place(out, positions, answers);
  return out;
}

v1::JobOperateReply put_together(const v1::JobOperateRequest& what, const std::vector<std::vector<int>>& positions,
                                 std::vector<v1::JobOperateReply> answers) {
  v1::JobOperateReply out;
  for (const auto& name : what.names()) out.add_results()->set_name(name);
  place(out, positions, answers);
  return out;
}

v1::AlertAckReply put_together(const v1::AlertAckRequest& what, const cut_request<v1::AlertAckRequest>& cut,
                               std::vector<v1::AlertAckReply> answers, std::uint32_t count) {
  v1::AlertAckReply out;
  for (int i = 0; i < what.numbers_size(); ++i) {
    auto* result = out.add_results();
    if (what.numbers(i) == 0)
      *result->mutable_error() =
          error{v1::ERROR_CODE_NOT_FOUND, "there is no alert 0", "fairlead alert list --all shows all alerts"}.to_proto();
  }
  place(out, cut.positions, answers);
  for (std::size_t part = 0; part < cut.positions.size(); ++part)
    for (const auto i : cut.positions[part]) {
      auto* result = out.mutable_results(i);
      if (result->has_alert())
        result->mutable_alert()->set_number(what.numbers(i));
      else if (result->error().code() == v1::ERROR_CODE_NOT_FOUND && count > 1)
        result->mutable_error()->set_sentence("there is no alert " + std::to_string(what.numbers(i)));
    }
  return out;
}

}  // namespace fairlead
