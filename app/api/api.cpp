#include "app/api/api.hpp"

#include <atomic>
#include <utility>

#include "app/api/openapi.hpp"
#include "app/door/guards.hpp"
#include "app/door/lane.hpp"
#include "app/door/paths.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app::api {

namespace {

/// What changes more than tasks of its own: tasks themselves have who submitted them. A signal or a callback may decide what becomes of a task.
bool is_for_audit(const route& one) {
  return one.needed == right::act || one.handle == &signal_task || is_callback(one.path) || one.needed == right::deploy ||
         (one.needed == right::administer && !door::is_safe(one.method));
}

/// About whoever asks and the node, and so in no namespace.
bool is_in_namespace(std::string_view path) { return path != "/v1/me" && !is_open_to_all(path); }

door::problem unacceptable(bool is_stream) {
  return {"not_acceptable",
          is_stream ? "The header Accept allows no stream of events." : "The header Accept allows no JSON.",
          is_stream ? "Send Accept: text/event-stream, or no such header." : "Send Accept: application/json, or no such header.",
          {},
          {},
          false};
}

/// Files that are read at once, each in a thread of its own.
constexpr int most_reading = 8;

}  // namespace

const std::vector<route>& routes() {
  static const std::vector<route> all{
      {"GET", "/v1/version", &show_version},
      {"GET", "/v1/openapi.json", &show_openapi},
      {"GET", "/v1/problems/{code}", &show_problem},
      {"GET", "/v1/me", &show_me},
      {"GET", "/v1/tasks", &list_tasks, needs<v1::TaskListRequest>},
      {"GET", "/v1/ended", &list_ended, needs<v1::TaskListRequest>},
      {"POST", "/v1/tasks", &post_task, needs<v1::SubmitRequest>, runs::among_actors, keeps::if_none_match},
      {"POST", "/v1/tasks:batch", &submit_batch, needs<v1::SubmitRequest>},
      {"POST", "/v1/tasks:states", &list_states, needs<v1::StatesRequest>, runs::at_once},
      {"POST", "/v1/tasks:act", &act_on_tasks, needs<v1::OperateRequest>},
      {"GET", "/v1/tasks/{id}", &show_task, needs<v1::TaskShowRequest>, runs::at_once},
      {"PUT", "/v1/tasks/{id}", &put_task, needs<v1::SubmitRequest>, runs::among_actors, keeps::if_none_match},
      {"GET", "/v1/tasks/{id}/history", &show_history, needs<v1::TaskShowRequest>},
      {"GET", "/v1/tasks/{id}/events", &show_events, needs<v1::WatchRequest>},
      {"GET", "/v1/tasks/{id}/input", &show_input, needs<v1::TaskShowRequest>},
      {"GET", "/v1/tasks/{id}/steps/{step}/input", &show_step_input, needs<v1::TaskShowRequest>},
      {"GET", "/v1/tasks/{id}/steps/{step}/output", &show_step_output, needs<v1::TaskShowRequest>},
      {"POST", "/v1/tasks/{id}/actions", &act_on_task, needs<v1::OperateRequest>, runs::among_actors, keeps::if_match},
      {"POST", "/v1/tasks/{id}/signals/{name}", &signal_task, right::submit, runs::among_actors, keeps::if_match},
      {"POST", "/v1/callbacks/{callback}", &take_callback},
      {"POST", "/v1/callbacks/{callback}/fail", &take_failed_callback},
      {"GET", "/v1/operations", &list_operations, needs<v1::TaskListRequest>},
      {"GET", "/v1/operations/{id}", &show_operation, needs<v1::TaskShowRequest>},
      {"GET", "/v1/operations/{id}/events", &show_operation_events, needs<v1::WatchRequest>},
      {"POST", "/v1/operations/{id}/actions", &act_on_operation, needs<v1::OperateRequest>, runs::among_actors, keeps::if_match},
      {"POST", "/v1/clients/{client}/replies:take", &take_replies, needs<v1::RepliesRequest>},
      {"GET", "/v1/workflows", &list_workflows, needs<v1::WorkflowListRequest>},
      {"POST", "/v1/workflows", &deploy_workflow, needs<v1::DeployRequest>, runs::in_its_thread},
      {"POST", "/v1/workflows:check", &check_workflow, needs<v1::WorkflowListRequest>, runs::in_its_thread},
      {"GET", "/v1/workflows/{name}", &show_workflow, needs<v1::WorkflowShowRequest>},
      {"DELETE", "/v1/workflows/{name}", &delete_workflow, needs<v1::WorkflowDeleteRequest>},
      {"GET", "/v1/jobs", &list_jobs, needs<v1::JobListRequest>},
      {"POST", "/v1/jobs:apply", &apply_jobs, needs<v1::JobApplyRequest>, runs::in_its_thread},
      {"POST", "/v1/jobs:next", &show_next_times, needs<v1::JobListRequest>, runs::in_its_thread},
      {"GET", "/v1/jobs/{name}", &show_job, needs<v1::JobShowRequest>},
      {"PUT", "/v1/jobs/{name}", &put_job, needs<v1::JobApplyRequest>, runs::in_its_thread, keeps::both},
      {"DELETE", "/v1/jobs/{name}", &delete_job, needs<v1::JobApplyRequest>, runs::among_actors, keeps::if_match},
      {"GET", "/v1/jobs/{name}/launches", &list_launches, needs<v1::JobHistoryRequest>},
      {"POST", "/v1/jobs/{name}/actions", &act_on_job, needs<v1::JobOperateRequest>, runs::among_actors, keeps::if_match},
      {"GET", "/v1/agents", &list_agents, needs<v1::StatusRequest>},
      {"GET", "/v1/agents/{name}", &show_agent, needs<v1::StatusRequest>},
      {"POST", "/v1/agents/{name}/actions", &act_on_agent, needs<v1::AgentOperateRequest>},
      {"POST", "/v1/workers", &register_worker, needs<v1::WorkerSessionRequest>},
      {"DELETE", "/v1/workers/{worker}", &end_worker, needs<v1::WorkerSessionRequest>, runs::answered_elsewhere},
      {"POST", "/v1/workers/{worker}/take", &take_attempts, needs<v1::WorkerSessionRequest>, runs::answered_elsewhere},
      {"POST", "/v1/workers/{worker}/heartbeats", &take_heartbeats, needs<v1::WorkerSessionRequest>, runs::answered_elsewhere},
      {"POST", "/v1/workers/{worker}/outcomes", &take_outcomes, needs<v1::WorkerSessionRequest>, runs::answered_elsewhere},
      {"POST", "/v1/workers/{worker}/drain", &drain_worker, needs<v1::WorkerSessionRequest>, runs::answered_elsewhere},
      {"GET", "/v1/alerts", &list_alerts, needs<v1::AlertListRequest>},
      {"POST", "/v1/alerts:ack", &acknowledge_alerts, needs<v1::AlertAckRequest>},
      {"GET", "/v1/alerts/{number}", &show_alert, needs<v1::AlertShowRequest>},
      {"POST", "/v1/brake:release", &release_brake, needs<v1::BrakeReleaseRequest>},
      {"GET", "/v1/status", &show_status, needs<v1::StatusRequest>},
      {"GET", "/v1/cluster", &show_cluster, needs<v1::StatusRequest>},
      {"GET", "/v1/nodes", &list_nodes, needs<v1::StatusRequest>},
      {"GET", "/v1/nodes/{node}/tree", &show_tree, needs<v1::InspectRequest>},
      {"POST", "/v1/nodes/{node}/actions", &act_on_node, needs<v1::NodeOperateRequest>},
      {"POST", "/v1/doctor", &call_doctor, needs<v1::DoctorRequest>},
      {"GET", "/v1/audit", &list_audit, needs<v1::AuditListRequest>},
      // The right depends on the request.
      {"POST", "/v1/requests/{request}", &take_request},
  };
  return all;
}

bool is_open_to_all(std::string_view path) { return path == "/v1/version" || path.starts_with("/v1/problems/") || is_callback(path); }

namespace {

/// What becomes of each request of a port.
class server {
 public:
  explicit server(std::shared_ptr<const surroundings> in) : in_(std::move(in)) {
    for (const auto& one : routes()) table_.push_back({one.method, one.path});
  }

  /// True: the answer comes soon.
  bool take(door::request what, const std::shared_ptr<door::answerer>& to) {
    principal by;
    if (!is_open_to_all(what.path()) && !admit(what, to, by)) return false;
    auto found = door::find_path(table_, what.head.method, what.path());
    if (const auto* const refused = std::get_if<door::problem>(&found)) return refuse(by, what, *refused, to);
    if (auto* const done = std::get_if<door::answer>(&found)) {
      (*to)(std::move(*done));
      return false;
    }
    auto& match = std::get<door::path_match>(found);
    const auto& route = routes()[match.index];
    const bool is_stream = route.path.ends_with("/events");
    if (!door::accepts(what.head, is_stream ? door::media_events : door::media_json)) return refuse(by, what, unacceptable(is_stream), to);
    const bool in_namespace = is_in_namespace(what.path());
    // A query may ask to wait.
    const bool at_once = route.where == runs::at_once && what.query().empty();
    const auto one = std::make_shared<exchange>(in_, std::move(by), std::move(what), std::move(match.parts), to);
    if (is_for_audit(route) && !one->note_in_audit()) return false;
    // Before anything is read.
    if (!one->may_begin(in_namespace, route.needed) || !one->keeps_conditions(route.conditions)) return false;
    if (at_once || route.where == runs::answered_elsewhere)
      lane_.post([one, handle = route.handle] { one->run_here(handle); });
    else
      begin(one, route);
    return at_once;
  }

 private:
  bool admit(const door::request& what, const std::shared_ptr<door::answerer>& to, principal& by) const {
    auto admitted = in_->access->admit(door::find_header(what.head, "Authorization"), what.from, in_->time->now());
    if (auto* const known = std::get_if<principal>(&admitted)) {
      by = std::move(*known);
      return true;
    }
    const auto& refused = std::get<door::problem>(admitted);
    auto said = door::to_answer(refused, what.id);
    auto noted = audit_entry_of(*in_, {}, what);
    noted.status = said.status;
    noted.code = refused.code;
    // Too many wrong ones are not noted: they would fill the disk.
    if (refused.code == "overloaded")
      (*to)(std::move(said));
    else
      answer_noted(*in_, {std::move(noted)}, what.id, std::move(said), to);
    return false;
  }

  /// False: as take().
  bool refuse(const principal& by, const door::request& what, const door::problem& why, const std::shared_ptr<door::answerer>& to) const {
    auto said = door::to_answer(why, what.id);
    // A path that does not exist changes nothing.
    auto noted = why.code == "not_found" ? std::nullopt : refused_entry_of(*in_, by, what, why);
    if (noted)
      answer_noted(*in_, {std::move(*noted)}, what.id, std::move(said), to);
    else
      (*to)(std::move(said));
    return false;
  }

  void begin(const exchange_ptr& one, const route& route) {
    const auto run = [one, handle = route.handle](caf::event_based_actor* self) { one->run_in(self, handle); };
    if (route.where != runs::in_its_thread) {
      in_->system->spawn(run);
      return;
    }
    if (++*reading_ > most_reading) {
      --*reading_;
      return one->refuse({"overloaded", "This node reads too many files at once.", "Try again later.", {}, {}, false});
    }
    one->hold({nullptr, [reading = reading_](void*) { --*reading; }});
    in_->system->spawn<caf::detached>(run);
  }

  const std::shared_ptr<const surroundings> in_;
  std::vector<door::path_pattern> table_;
  const std::shared_ptr<std::atomic<int>> reading_ = std::make_shared<std::atomic<int>>(0);
  door::lane lane_;
};

}  // namespace

door::service make_service(std::shared_ptr<const surroundings> in) {
  return [all = std::make_shared<server>(std::move(in))](door::request what, const std::shared_ptr<door::answerer>& to) {
    return all->take(std::move(what), to);
  };
}

void show_version(exchange_ptr x) {
  if (x->refuse_rest()) return;
  json_writer out;
  out.begin_object().key("version").string(x->in().version).key("node").string(x->in().node).key("api").string("v1");
  x->say(200, out.end_object().text());
}

void show_me(exchange_ptr x) {
  if (x->refuse_rest()) return;
  const auto& me = x->by();
  json_writer out;
  out.begin_object().key("name").string(me.name).key("kind").string(me.kind).key("roles").begin_array();
  for (const auto& word : me.roles) out.string(word);
  out.end_array().key("rights").begin_array();
  for (const auto& one : right_words())
    if (me.has(one.one)) out.string(one.word);
  out.end_array();
  out.key("namespaces").texts_or_null(me.namespaces).key("agents").texts_or_null(me.agents);
  out.key("expires_at").moment(me.expires_unix_ms).key("token").text_or_null(me.token);
  x->say(200, out.key("last_used_at").moment(me.last_used_unix_ms).end_object().text());
}

void show_openapi(exchange_ptr x) {
  if (x->refuse_rest()) return;
  x->say(200, std::string{openapi_json()});
}

void show_problem(exchange_ptr x) {
  if (x->refuse_rest()) return;
  const auto* const kind = door::find_problem_kind(x->part(0));
  if (kind == nullptr)
    return x->refuse(
        error{v1::ERROR_CODE_NOT_FOUND, "There is no problem code " + x->part(0) + ".", "GET /v1/openapi.json has the codes."});
  x->say(200, door::kind_json(*kind));
}

}  // namespace fairlead::app::api
