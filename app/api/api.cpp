#include "app/api/api.hpp"

#include <utility>

#include "app/door/paths.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app::api {

const std::vector<route>& routes() {
  static const std::vector<route> all{
      {"GET", "/v1/version", &show_version}, {"GET", "/v1/problems/{code}", &show_problem}, {"GET", "/v1/tasks", &list_tasks},
      {"POST", "/v1/tasks", &post_task},     {"GET", "/v1/tasks/{id}", &show_task},         {"PUT", "/v1/tasks/{id}", &put_task},
  };
  return all;
}

door::service make_service(std::shared_ptr<const surroundings> in) {
  std::vector<door::path_pattern> table;
  for (const auto& one : routes()) table.push_back({one.method, one.path});
  return [in = std::move(in), table = std::move(table)](door::request what, const std::shared_ptr<door::answerer>& to) {
    auto found = door::find_path(table, what.head.method, what.path());
    if (const auto* const refused = std::get_if<door::problem>(&found)) return (*to)(door::to_answer(*refused, what.id));
    if (auto* const done = std::get_if<door::answer>(&found)) return (*to)(std::move(*done));
    auto& match = std::get<door::path_match>(found);
    const auto one = std::make_shared<exchange>(in, std::move(what), std::move(match.parts), to);
    in->system->spawn([one, handle = routes()[match.index].handle](caf::event_based_actor* self) { one->run_in(self, handle); });
  };
}

void show_version(exchange_ptr x) {
  if (x->refuse_rest()) return;
  json_writer out;
  out.begin_object().key("version").string(x->in().version).key("node").string(x->in().node).key("api").string("v1");
  x->say(200, out.end_object().text());
}

void show_problem(exchange_ptr x) {
  if (x->refuse_rest()) return;
  const auto* const kind = door::find_problem_kind(x->part(0));
  if (kind == nullptr)
    return x->refuse(error{v1::ERROR_CODE_NOT_FOUND, "There is no problem code " + x->part(0) + ".", "docs/api.md lists the codes."});
  x->say(200, door::kind_json(*kind));
}

}  // namespace fairlead::app::api
