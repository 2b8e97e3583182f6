#pragma once
// All typed actor handles, with one comment for each message.

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

/// Answers the requests of a table, and takes further messages.
template <class Table, class... More>
using actor_of = typename detail::actor_of<Table, More...>::type;

/// A client, as the gateway and the Scheduler see it.
using client_sink = caf::typed_actor<
    // Tasks that this client submitted with `notify` have ended or parked. Best effort: StatesRequest shows missed ones.
    caf::reacts_to<v1::FinishedNotice>>;

/// Hosts one agent instance.
using agent_actor = caf::typed_actor<
    // Attempts handed over.
    caf::reacts_to<v1::PerformBatch>,
    // Outcomes that are recorded or refused: the agent forgets them.
    caf::reacts_to<v1::OutcomeAckBatch>,
    // Heartbeats that are durable, and attempts that the agent no longer holds.
    caf::reacts_to<v1::HeartbeatAckBatch>,
    // A shard's time, and whether the shard knows this instance.
    caf::reacts_to<v1::BeaconAck>,
    // The location of a shard, or that it cannot be reached now. The instance registers with each reachable shard.
    caf::reacts_to<shard_route>, caf::reacts_to<shard_total>,
    // True: take no more work and finish the attempts held. False: take work again. Answered with the number of attempts held.
    caf::replies_to<drain_atom, bool>::with<std::uint32_t>,
    // Another definition for the attempts that begin from now on, or the end with the last attempt. Answered with true.
    caf::replies_to<agent_redefined>::with<bool>,
    // The backend has finished a try of an attempt.
    caf::reacts_to<attempt_finished>,
    // The backend has news of an attempt in progress.
    caf::reacts_to<attempt_progressed>,
    // Own reminder: a lease ends, a heartbeat or another try is due, or unacknowledged outcomes must be sent again.
    caf::reacts_to<expire_atom>,
    // Own reminder: send the gathered messages.
    caf::reacts_to<flush_atom>,
    // Own reminder: send beacons to the shards, and register where due.
    caf::reacts_to<beacon_atom>,
    // A request to a backend that lives with its host.
    caf::reacts_to<host_call>>;

/// Finds tasks that are due and asks for recovery.
using supervisor_actor = caf::typed_actor<
    // Steps that will need recovery at a known moment.
    caf::reacts_to<v1::RecoveryHintBatch>,
    // Own reminder: periodic scan of the due index.
    caf::reacts_to<scan_atom>,
    // Own reminder: a hinted moment has come.
    caf::reacts_to<expire_atom>>;

/// Finds jobs that are due and tells the Scheduler.
using cron_actor = caf::typed_actor<
    // From the Scheduler: a job may be due earlier than the cron knows.
    caf::reacts_to<job_due_at>,
    // Own reminder: look for due jobs.
    caf::reacts_to<scan_atom>>;

/// The Scheduler of one shard.
using scheduler_actor = actor_of<
    scheduler_requests,
    // The receiver of hints; the cron to tell about due jobs.
    caf::reacts_to<supervisor_actor>, caf::reacts_to<cron_actor>,
    // An agent instance registers (the handle: its agent_actor); from now on the two speak directly. Answered with this Scheduler.
    caf::replies_to<v1::RegisterAgent, caf::strong_actor_ptr>::with<v1::AgentWelcome, caf::strong_actor_ptr>,
    // The clock of an instance; answered by a BeaconAck to the instance.
    caf::reacts_to<v1::Beacon>,
    // Ends of attempts.
    caf::reacts_to<v1::OutcomeBatch>,
    // Attempts at which their agents still work.
    caf::reacts_to<v1::HeartbeatBatch>,
    // The Supervisor asks for recovery.
    caf::reacts_to<v1::RecoverBatch>,
    // The expression worker's answer.
    caf::reacts_to<v1::EvaluateReply>,
    // The store actor has made batches durable.
    caf::reacts_to<committed>,
    // Own reminder, queued behind the messages in the mailbox: close the batch.
    caf::reacts_to<flush_atom>,
    // Own reminder: take up the next tasks of the sweep after a start.
    caf::reacts_to<resume_atom>,
    // Own reminder: end long polls whose time is over.
    caf::reacts_to<expire_atom>,
    // Own reminder: waiting steps may start because time has passed (a breaker's probe, a rate), or an alert about absent agents is due.
    caf::reacts_to<offer_atom>,
    // The archiver has chosen tasks that move to an archive, or archives that are dropped, or something was done about them: commit it.
    caf::reacts_to<archive_rows>,
    // A courier has delivered events or given them up: record it.
    caf::reacts_to<courier_rows>,
    // The Supervisor reports the task that has gone longest without progress.
    caf::reacts_to<stalest_task>,
    // The Supervisor reports tasks that wait for something inside the process.
    caf::reacts_to<waiting_tasks>,
    // The cron reports due jobs.
    caf::reacts_to<due_jobs>,
    // A node says when a certificate of it ends; passed on by the gateway, to shard 0 alone.
    caf::reacts_to<v1::CertificateReport>,
    // No new tasks and no hand-overs from now on; answered once no agent of this node holds an attempt and everything is durable.
    caf::replies_to<drain_atom>::with<bool>>;

/// The one actor that a node publishes. Every request is answered, with an error if it cannot be served.
using gateway_actor = actor_of<
    client_requests,
    // Another node introduces itself, with its gateway.
    caf::replies_to<v1::Hello, caf::strong_actor_ptr>::with<v1::HelloReply>,
    // An agent instance (the handle: its agent_actor) registers with a shard of this node. Answered with that shard's Scheduler, with which
    // the instance speaks directly from then on; null with an error.
    caf::replies_to<v1::RegisterAgent, caf::strong_actor_ptr>::with<v1::AgentWelcome, caf::strong_actor_ptr>,
    // A replica of another node introduces itself (the handle: its replica_actor) to the one of the shard that is here, which answers.
    caf::replies_to<v1::ReplicaHello, caf::strong_actor_ptr>::with<v1::ReplicaWelcome, caf::strong_actor_ptr>,
    // Tasks that this gateway submitted to other nodes for its clients have ended or parked.
    caf::reacts_to<v1::FinishedNotice>,
    // When a certificate ends: of this node, from its API, or of a node that is connected, from that node's gateway.
    caf::reacts_to<v1::CertificateReport>,
    // From this node's links: where a shard is.
    caf::reacts_to<shard_route>, caf::reacts_to<shard_total>>;

/// Keeps the connections to the other nodes, and tells subscribers where the shards are.
using links_actor = caf::typed_actor<
    // Another node introduces itself; passed on by the gateway.
    caf::replies_to<v1::Hello, caf::strong_actor_ptr>::with<v1::HelloReply>,
    // Subscribes an actor (it takes shard_route and shard_total) to all routes, present and future.
    caf::reacts_to<watch_atom, caf::strong_actor_ptr>,
    // The state of the connections.
    caf::replies_to<report_atom>::with<link_report>,
    // An operator does not expect a node to come back.
    caf::replies_to<v1::NodeOperateRequest>::with<v1::NodeOperateReply>,
    // A shard of this node is up, or has a new epoch.
    caf::reacts_to<v1::ShardClaim>,
    // A replica here says which nodes are to hold its shard.
    caf::reacts_to<v1::ReplicaHello>,
    // Own reminder: connect again, check silent peers.
    caf::reacts_to<link_atom>>;

/// Makes the batches of a Scheduler count, and answers each group by `committed`.
using commit_actor = caf::typed_actor<caf::reacts_to<commit_request>>;

/// Group commit on its own thread.
using store_actor = caf::typed_actor<caf::reacts_to<commit_request>, caf::reacts_to<flush_atom>>;

/// Gives and takes copies of a shard's state, on its own thread. Own reminder: time passes.
using copies_actor = caf::typed_actor<caf::reacts_to<v1::ReplicaCopy>, caf::reacts_to<tick_atom>>;

/// One replica of a shard, on its own thread.
using replica_actor = caf::typed_actor<
    // From the Scheduler that leads the shard here.
    caf::reacts_to<commit_request>,
    // From other replicas of the shard.
    caf::reacts_to<v1::ReplicaBatch>,
    // Another replica introduces itself (the handle: its replica_actor); passed on by the gateway. Answered with this one.
    caf::replies_to<v1::ReplicaHello, caf::strong_actor_ptr>::with<v1::ReplicaWelcome, caf::strong_actor_ptr>,
    // Whether this replica has led when it was asked, under the epoch of the Scheduler that asks (0: under any; confirm_begun). It uses no clock.
    // Answered once readers here see all that counted then.
    caf::replies_to<confirm_atom, std::uint64_t>::with<bool>,
    // An operator changes the nodes that hold the shard. Answered once the change counts, by the replica that leads.
    caf::replies_to<v1::ShardNodesRequest>::with<v1::ShardNodesReply>,
    // Part of a copy of the state: for this replica's own copies_actor, or from that for another replica.
    caf::reacts_to<v1::ReplicaCopy>,
    // Own reminder, queued behind the messages in the mailbox: write what has gathered.
    caf::reacts_to<flush_atom>,
    // Own reminders: time passes; look for replicas that are not linked.
    caf::reacts_to<tick_atom>, caf::reacts_to<link_atom>>;

/// The gateway of another node, for replicas.
using replica_door =
    caf::typed_actor<caf::replies_to<v1::ReplicaHello, caf::strong_actor_ptr>::with<v1::ReplicaWelcome, caf::strong_actor_ptr>>;

/// Moves finished tasks to dated archives, off the hot path.
using archiver_actor = caf::typed_actor<caf::reacts_to<archive_atom>>;

/// Delivers the events of durable outboxes: alerts to webhooks and a command, status events to webhooks.
using courier_actor = caf::typed_actor<
    // Own reminder: look for events to deliver and for deliveries that have ended.
    caf::reacts_to<deliver_atom>>;

/// The long polls of clients for their status events.
using replies_actor = caf::typed_actor<
    // A client's request, delegated by the gateway.
    caf::replies_to<v1::RepliesRequest>::with<v1::RepliesReply>,
    // Own reminder: look for new events, and for waits that are over.
    caf::reacts_to<expire_atom>>;

}  // namespace fairlead
