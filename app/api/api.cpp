#include "app/api/api.hpp"

#include <atomic>
#include <utility>

#include "app/door/paths.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app::api {

namespace {

/// Files that are read at once, each in a thread of its own.
constexpr int most_reading = 8;

}  // namespace

const std::vector<route>& routes() {
  static const std::vector<route> all{
      {"GET", "/v1/version", &show_version},
      {"GET", "/v1/problems/{code}", &show_problem},
      {"GET", "/v1/tasks", &list_tasks},
      {"POST", "/v1/tasks", &post_task},
      {"POST", "/v1/tasks:batch", &submit_batch},
      {"POST", "/v1/tasks:states", &list_states},
      {"GET", "/v1/tasks/{id}", &show_task},
      {"PUT", "/v1/tasks/{id}", &put_task},
      {"GET", "/v1/tasks/{id}/history", &show_history},
      {"GET", "/v1/tasks/{id}/events", &show_events},
      {"GET", "/v1/tasks/{id}/input", &show_input},
      {"GET", "/v1/tasks/{id}/steps/{step}/input", &show_step_input},
      {"GET", "/v1/tasks/{id}/steps/{step}/output", &show_step_output},
      {"POST", "/v1/tasks/{id}/actions", &act_on_task},
      {"GET", "/v1/workflows", &list_workflows},
      {"POST", "/v1/workflows", &deploy_workflow, runs::in_its_thread},
      {"POST", "/v1/workflows:check", &check_workflow, runs::in_its_thread},
      {"GET", "/v1/workflows/{name}", &show_workflow},
      {"DELETE", "/v1/workflows/{name}", &delete_workflow},
      {"GET", "/v1/jobs", &list_jobs},
      {"POST", "/v1/jobs:apply", &apply_jobs, runs::in_its_thread},
      {"POST", "/v1/jobs:next", &show_next_times, runs::in_its_thread},
      {"GET", "/v1/jobs/{name}", &show_job},
      {"PUT", "/v1/jobs/{name}", &put_job, runs::in_its_thread},
      {"DELETE", "/v1/jobs/{name}", &delete_job},
      {"GET", "/v1/jobs/{name}/launches", &list_launches},
      {"POST", "/v1/jobs/{name}/actions", &act_on_job},
      {"GET", "/v1/agents", &list_agents},
      {"GET", "/v1/agents/{name}", &show_agent},
      {"POST", "/v1/agents/{name}/actions", &act_on_agent},
      {"GET", "/v1/alerts", &list_alerts},
      {"POST", "/v1/alerts:ack", &acknowledge_alerts},
      {"GET", "/v1/alerts/{number}", &show_alert},
      {"POST", "/v1/brake:release", &release_brake},
      {"GET", "/v1/status", &show_status},
      {"GET", "/v1/cluster", &show_cluster},
      {"GET", "/v1/nodes", &list_nodes},
      {"GET", "/v1/nodes/{node}/tree", &show_tree},
      {"POST", "/v1/nodes/{node}/actions", &act_on_node},
      {"POST", "/v1/doctor", &call_doctor},
  };
  return all;
}

door::service make_service(std::shared_ptr<const surroundings> in) {
  std::vector<door::path_pattern> table;
  for (const auto& one : routes()) table.push_back({one.method, one.path});
  const auto reading = std::make_shared<std::atomic<int>>(0);
  return [in = std::move(in), table = std::move(table), reading](door::request what, const std::shared_ptr<door::answerer>& to) {
    auto found = door::find_path(table, what.head.method, what.path());
    if (const auto* const refused = std::get_if<door::problem>(&found)) return (*to)(door::to_answer(*refused, what.id));
    if (auto* const done = std::get_if<door::answer>(&found)) return (*to)(std::move(*done));
    auto& match = std::get<door::path_match>(found);
    const auto& route = routes()[match.index];
    std::shared_ptr<void> place;
    if (route.where == runs::in_its_thread) {
      if (++*reading > most_reading) {
        --*reading;
        return (*to)(
            door::to_answer({"overloaded", "This node reads too many files at once.", "Try again later.", {}, {}, false}, what.id));
      }
      place = {nullptr, [reading](void*) { --*reading; }};
    }
    const auto one = std::make_shared<exchange>(in, std::move(what), std::move(match.parts), to, std::move(place));
    const auto begin = [one, handle = route.handle](caf::event_based_actor* self) { one->run_in(self, handle); };
    route.where == runs::in_its_thread ? in->system->spawn<caf::detached>(begin) : in->system->spawn(begin);
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
