#include "actors/gateway/local.hpp"

#include "actors/queries/alert_queries.hpp"
#include "actors/queries/ended_tasks.hpp"
#include "actors/queries/job_queries.hpp"
#include "actors/queries/task_queries.hpp"
#include "actors/queries/workflow_queries.hpp"
#include "actors/replies/outbox.hpp"
#include "actors/system/time_zones.hpp"
#include "store/keys.hpp"

namespace fairlead {

v1::StatesReply read_here(const shard_desk& desk, const v1::StatesRequest& what, moment) { return states_of(what, *desk.reads->read()); }
v1::TaskListReply read_here(const shard_desk& desk, const v1::TaskListRequest& what, moment now) {
  const auto view = desk.reads->read();
  return lists_ended(what) ? list_ended_tasks(what, *view, *desk.archives, now) : list_tasks(what, *view, now);
}
v1::TaskShowReply read_here(const shard_desk& desk, const v1::TaskShowRequest& what, moment) {
  return show_task(what, *desk.reads->read(), *desk.archives);
}
v1::WorkflowListReply read_here(const shard_desk& desk, const v1::WorkflowListRequest&, moment) {
  return list_workflows(*desk.reads->read());
}
v1::WorkflowShowReply read_here(const shard_desk& desk, const v1::WorkflowShowRequest& what, moment) {
  return show_workflow(what, *desk.reads->read());
}
v1::AlertListReply read_here(const shard_desk& desk, const v1::AlertListRequest& what, moment) {
  return list_alerts(what, *desk.reads->read());
}
v1::AlertShowReply read_here(const shard_desk& desk, const v1::AlertShowRequest& what, moment) {
  return show_alert(what, *desk.reads->read());
}
v1::JobListReply read_here(const shard_desk& desk, const v1::JobListRequest& what, moment) { return list_jobs(what, *desk.reads->read()); }
v1::JobShowReply read_here(const shard_desk& desk, const v1::JobShowRequest& what, moment now) {
  return show_job(what, *desk.reads->read(), time_zones::of_system(), now);
}
v1::JobHistoryReply read_here(const shard_desk& desk, const v1::JobHistoryRequest& what, moment) {
  return job_history(what, *desk.reads->read());
}

void describe_here(const shard_desk& desk, const std::string& node, v1::StatusReply& reply) {
  const auto view = desk.reads->read();
  // The first entry of the due index is the earliest wake-up.
  const auto scanned = view->scan(store::table::due, {}, {}, [&reply](std::string_view key, std::string_view) {
    if (const auto entry = store::keys::decode_due(key)) reply.set_oldest_due_unix_ms(entry->due_unix_ms);
    return false;
  });
  if (!scanned.ok()) *reply.mutable_error() = scanned.failure().to_proto();
  add_failing_receivers(*view, reply);

  reply.clear_shards();
  auto* line = reply.add_shards();
  if (desk.describe) desk.describe(*line);
  line->set_shard(desk.shard);
  line->set_node(node);
  line->set_here(true);
  line->set_up(reply.error().code() == v1::ERROR_CODE_OK);
  if (!line->up()) line->set_reason(reply.error().sentence());
  line->set_epoch(reply.epoch());
  *line->mutable_counts() = reply.counts();
  line->set_oldest_due_unix_ms(reply.oldest_due_unix_ms());
  line->set_stalest_task(reply.stalest_task());
  line->set_stalest_since_unix_ms(reply.stalest_since_unix_ms());
  line->set_resumed_tasks(reply.resumed_tasks());
  line->set_resuming(reply.resuming());
  *line->mutable_traffic() = reply.traffic();
  // The store knows its size; the Scheduler knows the bytes reserved in it.
  line->mutable_store()->set_reserved_bytes(reply.store().reserved_bytes());
  *reply.mutable_store() = line->store();
  reply.set_node(node);
}

}  // namespace fairlead
