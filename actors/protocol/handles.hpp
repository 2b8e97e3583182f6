#pragma once
// Every typed handle of the system, one comment a message.

#include "actors/protocol/requests.hpp"
#include "actors/protocol/type_ids.hpp"

namespace fairlead {

namespace detail {

template <class Table, class... More>
struct actor_of;
template <class... Rows, class... More>
struct actor_of<request_table<Rows...>, More...>
    : std::type_identity<
          caf::typed_actor<typename caf::replies_to<typename Rows::request>::template with<typename Rows::reply>..., More...>> {};

}  // namespace detail

/// Answers the requests of a table, and takes more messages besides.
template <class Table, class... More>
using actor_of = typename detail::actor_of<Table, More...>::type;

/// A client, as the gateway and the Scheduler see it.
using client_sink = caf::typed_actor<
    // Tasks that this client submitted with `notify` have ended or parked. Best effort: StatesRequest tells what was missed.
    caf::reacts_to<v1::FinishedNotice>>;

/// Hosts one agent instance.
using agent_actor = caf::typed_actor<
    // Attempts handed over.
    caf::reacts_to<v1::PerformBatch>,
    // Outcomes that are recorded or refused: forget them.
    caf::reacts_to<v1::OutcomeAckBatch>,
    // Heartbeats that are durable, and attempts that are not the agent's any more.
    caf::reacts_to<v1::HeartbeatAckBatch>,
    // A shard says what the time is, and whether it knows this instance.
    caf::reacts_to<v1::BeaconAck>,
    // Where a shard is, or that it cannot be reached for the moment. The instance registers with each that can.
    caf::reacts_to<shard_route>, caf::reacts_to<shard_total>,
    // Take no more work and finish what is held (true), or take work again. Answered with how many attempts are held.
    caf::replies_to<drain_atom, bool>::with<std::uint32_t>,
    // The backend has finished a try of an attempt.
    caf::reacts_to<attempt_finished>,
    // The backend has something to tell of an attempt under way.
    caf::reacts_to<attempt_progressed>,
    // Own reminder: some lease ends, a heartbeat or another try is due, or unacknowledged outcomes want sending again.
    caf::reacts_to<expire_atom>,
    // Own reminder: send what has gathered.
    caf::reacts_to<flush_atom>,
    // Own reminder: tell the shards that it is there, and register where that is due.
    caf::reacts_to<beacon_atom>>;

/// Looks for what is due and asks for recovery.
using supervisor_actor = caf::typed_actor<
    // Steps that will want recovery at a known moment.
    caf::reacts_to<v1::RecoveryHintBatch>,
    // Own reminder: periodic scan of the due index.
    caf::reacts_to<scan_atom>,
    // Own reminder: a hinted moment has come.
    caf::reacts_to<expire_atom>>;

/// Finds jobs whose time has come and tells the Scheduler.
using cron_actor = caf::typed_actor<
    // From the Scheduler: a job is due earlier than it may have been.
    caf::reacts_to<job_due_at>,
    // Own reminder: look for what is due.
    caf::reacts_to<scan_atom>>;

/// The Scheduler of one shard.
using scheduler_actor = actor_of<
    scheduler_requests,
    // Who takes hints, and who is told when jobs are due.
    caf::reacts_to<supervisor_actor>, caf::reacts_to<cron_actor>,
    // An agent instance is there (the handle: its agent_actor); from now on they speak directly. Answered with this Scheduler.
    caf::replies_to<v1::RegisterAgent, caf::strong_actor_ptr>::with<v1::AgentWelcome, caf::strong_actor_ptr>,
    // What the clock of an instance shows; answered by a BeaconAck to the instance.
    caf::reacts_to<v1::Beacon>,
    // How attempts ended.
    caf::reacts_to<v1::OutcomeBatch>,
    // Attempts that their agents are still at.
    caf::reacts_to<v1::HeartbeatBatch>,
    // The Supervisor asks for recovery.
    caf::reacts_to<v1::RecoverBatch>,
    // The expression worker's answer.
    caf::reacts_to<v1::EvaluateReply>,
    // The store actor has made batches durable.
    caf::reacts_to<committed>,
    // Own reminder, queued behind what the mailbox holds: close the batch.
    caf::reacts_to<flush_atom>,
    // Own reminder: take up the next tasks of the sweep after a start.
    caf::reacts_to<resume_atom>,
    // Own reminder: long polls whose time is over.
    caf::reacts_to<expire_atom>,
    // Own reminder: time alone lets steps go that wait (a breaker's canary, a rate), or an alert about absent agents is due.
    caf::reacts_to<offer_atom>,
    // The archiver has copied tasks to an archive durably: erase them here.
    caf::reacts_to<archived_tasks>,
    // A courier has delivered or given up: record it.
    caf::reacts_to<courier_rows>,
    // The Supervisor has found out which task has gone longest without progress.
    caf::reacts_to<stalest_task>,
    // The Supervisor has found tasks that wait for something inside the process.
    caf::reacts_to<waiting_tasks>,
    // The cron has found jobs that are due.
    caf::reacts_to<due_jobs>,
    // Take no new tasks and hand nothing over any more; answered once no agent of this node holds an attempt and everything is durable.
    caf::replies_to<drain_atom>::with<bool>>;

/// The one actor a node publishes. Every request is answered, with an error of its own where it cannot be served.
using gateway_actor = actor_of<
    client_requests,
    // Another node introduces itself, with its gateway.
    caf::replies_to<v1::Hello, caf::strong_actor_ptr>::with<v1::HelloReply>,
    // An agent instance (the handle: its agent_actor) registers with a shard that this node holds. Answered with that shard's Scheduler, which
    // the two speak with directly from then on; null with an error.
    caf::replies_to<v1::RegisterAgent, caf::strong_actor_ptr>::with<v1::AgentWelcome, caf::strong_actor_ptr>,
    // Tasks that it has submitted to other nodes for its clients have ended or parked.
    caf::reacts_to<v1::FinishedNotice>,
    // From this node's links: where a shard is.
    caf::reacts_to<shard_route>, caf::reacts_to<shard_total>>;

/// Keeps the connections to the other nodes, and tells who is interested where the shards are.
using links_actor = caf::typed_actor<
    // Another node introduces itself; passed on by the gateway.
    caf::replies_to<v1::Hello, caf::strong_actor_ptr>::with<v1::HelloReply>,
    // This actor (it takes shard_route and shard_total) wants to be told of all routes, now and later.
    caf::reacts_to<watch_atom, caf::strong_actor_ptr>,
    // How the connections are.
    caf::replies_to<report_atom>::with<link_report>,
    // An operator does not expect a node back.
    caf::replies_to<v1::NodeOperateRequest>::with<v1::NodeOperateReply>,
    // A shard of this node is up, or has a new epoch.
    caf::reacts_to<v1::ShardClaim>,
    // Own reminder: try again to connect, look at silent peers.
    caf::reacts_to<link_atom>>;

/// Group commit on its own thread.
using store_actor = caf::typed_actor<caf::reacts_to<commit_request>, caf::reacts_to<flush_atom>>;

/// Moves finished tasks to dated archives, off the hot path.
using archiver_actor = caf::typed_actor<caf::reacts_to<archive_atom>>;

/// Delivers what stands in durable outboxes: alerts to webhooks and a command, status events to webhooks.
using courier_actor = caf::typed_actor<
    // Own reminder: look for what is to be delivered, and for deliveries that have ended.
    caf::reacts_to<deliver_atom>>;

/// The long polls of clients for their status events.
using replies_actor = caf::typed_actor<
    // A client's request, delegated by the gateway.
    caf::replies_to<v1::RepliesRequest>::with<v1::RepliesReply>,
    // Own reminder: look whether something has come, or a wait is over.
    caf::reacts_to<expire_atom>>;

}  // namespace fairlead
