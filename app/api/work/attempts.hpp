#pragma once
// What workers send and get about attempts, as JSON. docs/any-language.md has the worker's side.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actors/agents/worker/session.hpp"
#include "app/json/fields.hpp"

namespace fairlead::app::api {

/// A body that is read into a list of items. `too_large`: the error is about the size of a payload.
template <class Item>
struct asked_items {
  std::vector<Item> items;
  bool too_large = false;
};
using asked_beats = asked_items<agents::worker_session::beat>;
using asked_reports = asked_items<agents::worker_session::report>;

/// What a take may have. It writes to `out`, but for `came`.
std::vector<json_field> fields_of(agents::worker_session::take_request& out);
/// They write to `out`.
std::vector<json_field> fields_of(asked_beats& out);
std::vector<json_field> fields_of(asked_reports& out);

std::string take_json(const agents::worker_session::take_answer& what);
/// In the order of the request.
std::string beats_json(const asked_beats& asked, const std::vector<agents::worker_session::beat_answer>& answers);
std::string reports_json(const asked_reports& asked, const std::vector<agents::worker_session::report_answer>& answers);

}  // namespace fairlead::app::api
