#pragma once
// The paths of the API. A handler runs in an actor of its own, and may wait for as long as it likes.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/api/exchange.hpp"

namespace fairlead::app::api {

/// Files of people take long to read, and must not hold up the actors of the node. What is answered at once needs no actor, and what another actor answers
/// (answered_elsewhere) needs none of its own.
enum class runs { among_actors, in_its_thread, at_once, answered_elsewhere };

/// What the path asks the node, whose row has the right that it needs. Paths that ask nothing are open to whoever is known.
template <class Request>
constexpr std::optional<right> needs = row_of<Request>::needs;

struct route {
  std::string_view method;
  std::string_view path;
  void (*handle)(exchange_ptr);
  std::optional<right> needed{};
  runs where = runs::among_actors;
  keeps conditions = keeps::none;
};

/// Answered without asking who sends the request: anybody may, or whoever was given the path.
bool is_open_to_all(std::string_view path);

/// All of them.
const std::vector<route>& routes();

door::service make_service(std::shared_ptr<const surroundings> in);

// ---- handlers ----

void show_version(exchange_ptr x);
void show_openapi(exchange_ptr x);
void show_problem(exchange_ptr x);
void show_me(exchange_ptr x);

void list_tasks(exchange_ptr x);
void list_ended(exchange_ptr x);
void show_task(exchange_ptr x);
void list_states(exchange_ptr x);
void show_history(exchange_ptr x);
void show_events(exchange_ptr x);
void show_input(exchange_ptr x);
void show_step_input(exchange_ptr x);
void show_step_output(exchange_ptr x);
void put_task(exchange_ptr x);
void post_task(exchange_ptr x);
void submit_batch(exchange_ptr x);
void act_on_task(exchange_ptr x);
void signal_task(exchange_ptr x);
void take_callback(exchange_ptr x);
void take_failed_callback(exchange_ptr x);
void act_on_tasks(exchange_ptr x);

void list_operations(exchange_ptr x);
void show_operation(exchange_ptr x);
void show_operation_events(exchange_ptr x);
void act_on_operation(exchange_ptr x);
void take_replies(exchange_ptr x);

void list_workflows(exchange_ptr x);
void show_workflow(exchange_ptr x);
void deploy_workflow(exchange_ptr x);
void check_workflow(exchange_ptr x);
void delete_workflow(exchange_ptr x);

void list_jobs(exchange_ptr x);
void show_job(exchange_ptr x);
void list_launches(exchange_ptr x);
void show_next_times(exchange_ptr x);
void put_job(exchange_ptr x);
void apply_jobs(exchange_ptr x);
void delete_job(exchange_ptr x);
void act_on_job(exchange_ptr x);

void list_agents(exchange_ptr x);
void show_agent(exchange_ptr x);
void act_on_agent(exchange_ptr x);

void list_alerts(exchange_ptr x);
void show_alert(exchange_ptr x);
void acknowledge_alerts(exchange_ptr x);
void release_brake(exchange_ptr x);

void show_status(exchange_ptr x);
void show_cluster(exchange_ptr x);
void list_nodes(exchange_ptr x);
void show_tree(exchange_ptr x);
void act_on_node(exchange_ptr x);
void call_doctor(exchange_ptr x);
void list_audit(exchange_ptr x);
void take_request(exchange_ptr x);

void register_worker(exchange_ptr x);
void take_attempts(exchange_ptr x);
void take_heartbeats(exchange_ptr x);
void take_outcomes(exchange_ptr x);
void drain_worker(exchange_ptr x);
void end_worker(exchange_ptr x);

// ---- what holds for JSON and for messages ----

/// Takes away what the right `payloads` is about. The JSON has null for each.
void hide_payloads(v1::TaskRecord& task);
/// Writes into the submission who sends it, and from where.
void set_submitter(const exchange& x, v1::Submission& item);
/// What this client may not submit, although it may submit. `pointer`: of the field at fault.
std::optional<error> refuse_for(const principal& by, const v1::Submission& item, std::string& pointer);

}  // namespace fairlead::app::api
