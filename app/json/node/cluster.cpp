#include "app/json/node/cluster.hpp"

#include "actors/core/task/task.hpp"
#include "app/json/node/agents.hpp"
#include "messages/task_states.hpp"

namespace fairlead::app {

namespace {

void write_replica(json_writer& out, const v1::ReplicaStatus& one, const v1::StatusReply& reply) {
  out.begin_object().key("node").string(one.node()).key("release").string(release_of(one.node(), reply));
  out.key("votes").boolean(one.votes());
  out.key("behind_entries").number(std::uint64_t{one.behind_entries()}).key("behind_bytes").number(std::uint64_t{one.behind_bytes()});
  out.key("behind_ms").number(std::int64_t{one.behind_ms()}).key("heard_ms_ago").number(std::int64_t{one.heard_ms_ago()});
  out.key("needs_copy").boolean(one.needs_copy()).key("copied_bytes").number(std::uint64_t{one.copied_bytes()});
  out.key("copy_bytes")
      .number(std::uint64_t{one.copy_bytes()})
      .key("leaves")
      .boolean(one.leaves())
      .key("stands_by")
      .boolean(one.stands_by());
  out.key("trouble").string(one.trouble()).end_object();
}

}  // namespace

std::string release_of(const std::string& node, const v1::StatusReply& reply) {
  if (node == reply.node()) return reply.version();
  for (const auto& peer : reply.peers())
    if (peer.node() == node) return peer.version();
  return {};
}

const std::string& reply_receiver(const v1::ReplyAddressRecord& of) {
  return of.address().webhook().empty() ? of.address().client() : of.address().webhook();
}

void write_journal(json_writer& out, const v1::JournalStatus& journal) {
  out.begin_object().key("path").string(journal.path()).key("direct").boolean(journal.direct());
  out.key("segment_bytes").number(std::uint64_t{journal.segment_bytes()}).key("segments").number(std::uint64_t{journal.segments()});
  out.key("most_segments").number(std::uint64_t{journal.most_segments()}).key("kept_by_shard");
  journal.has_kept_by_shard() ? out.number(std::uint64_t{journal.kept_by_shard()}) : out.null();
  out.key("spare_segments").number(std::uint64_t{journal.spare_segments()}).key("groups").number(std::uint64_t{journal.groups()});
  out.key("written_bytes").number(std::uint64_t{journal.written_bytes()}).end_object();
}

void write_comparison(json_writer& out, const v1::ReplicationStatus& of) {
  if (!of.has_comparison()) {
    out.null();
    return;
  }
  const auto& what = of.comparison();
  out.begin_object().key("number").number(std::uint64_t{what.number()}).key("asked_at").moment(what.asked_at_unix_ms());
  out.key("ended_at").moment(what.ended_at_unix_ms()).key("index").number(std::uint64_t{what.index()});
  out.key("no_majority").boolean(what.no_majority()).key("nodes").begin_array();
  for (const auto& one : what.replicas()) {
    out.begin_object().key("node").string(one.node()).key("answered").boolean(one.answered());
    out.key("differs").boolean(one.differs()).end_object();
  }
  out.end_array().end_object();
}

std::string cluster_json(const v1::StatusReply& reply) {
  json_writer out;
  out.begin_object().key("cluster").string(reply.cluster()).key("node").string(reply.node()).key("shards").begin_array();
  for (const auto& shard : reply.shards()) {
    out.begin_object().key("shard").number(std::uint64_t{shard.shard()}).key("node").text_or_null(shard.node());
    out.key("up").boolean(shard.up()).key("reason").string(shard.reason()).key("epoch").number(std::uint64_t{shard.epoch()});
    out.key("aside").string(shard.aside());
    out.key("journal");
    if (shard.store().has_journal())
      write_journal(out, shard.store().journal());
    else
      out.null();
    out.key("replication");
    if (!shard.has_replication()) {
      out.null().end_object();
      continue;
    }
    const auto& known = shard.replication();
    out.begin_object().key("told_by").string(known.node()).key("role").string(known.role()).key("term").number(std::uint64_t{known.term()});
    out.key("leader").text_or_null(known.leader());
    out.key("format").number(std::uint64_t{known.format()}).key("nodes").begin_array();
    for (const auto& node : known.nodes()) out.string(node);
    out.end_array().key("may_lose_nodes").number(std::uint64_t{known.may_lose()});
    out.key("last_index").number(std::uint64_t{known.last_index()}).key("commit_index").number(std::uint64_t{known.commit_index()});
    out.key("shown_index").number(std::uint64_t{known.shown_index()});
    out.key("contact_ms_ago").number(std::int64_t{known.contact_ms_ago()});
    out.key("clock_ahead_ms").number(std::int64_t{known.clock_ahead_ms()}).key("trouble").string(known.trouble());
    out.key("comparison");
    write_comparison(out, known);
    out.key("replicas").begin_array();
    for (const auto& one : known.others()) write_replica(out, one, reply);
    out.end_array().end_object().end_object();
  }
  return out.end_array().end_object().text();
}

std::string status_json(const v1::StatusReply& reply) {
  json_writer out;
  out.begin_object().key("node").string(reply.node()).key("version").string(reply.version());
  out.key("started_at").moment(reply.started_at_unix_ms()).key("epoch").number(std::uint64_t{reply.epoch()});
  const auto& counts = reply.counts();
  out.key("counts").begin_object();
  for (const auto& one : task_states) out.key(core::state_word(one.state)).number(one.count(counts));
  out.key("parked").number(std::uint64_t{counts.parked()});
  out.key("archived").number(std::uint64_t{counts.archived()}).key("paused").number(std::uint64_t{counts.paused()}).end_object();
  out.key("alerts").begin_object().key("unresolved").number(std::uint64_t{counts.unresolved_alerts()}).end_object();
  out.key("jobs").begin_object().key("all").number(std::uint64_t{counts.jobs()}).key("paused").number(std::uint64_t{counts.jobs_paused()});
  out.key("launches").number(std::uint64_t{counts.launches()}).key("skipped").number(std::uint64_t{counts.launches_skipped()});
  out.key("in_flight").number(std::uint64_t{counts.launches_in_flight()});
  out.key("waiting_for_room").number(std::uint64_t{counts.launches_waiting_room()});
  out.key("waiting_for_agents").number(std::uint64_t{counts.launches_waiting_agents()}).end_object();
  out.key("undo_brake").begin_object().key("since").moment(counts.undo_brake_since_unix_ms());
  out.key("held").number(std::uint64_t{counts.undo_held()}).end_object();
  out.key("agents").begin_array();
  for (const auto& agent : reply.agents()) write_agent(out, agent);
  out.end_array().key("services").begin_array();
  for (const auto& service : reply.services()) write_service(out, service);
  out.end_array();
  const auto& store = reply.store();
  out.key("store").begin_object().key("path").string(store.path()).key("used_bytes").number(std::uint64_t{store.used_bytes()});
  out.key("reserved_bytes").number(std::uint64_t{store.reserved_bytes()});
  out.key("max_bytes").number(std::uint64_t{store.max_bytes()}).key("sequence").number(std::uint64_t{store.sequence()});
  out.key("commits").number(std::uint64_t{store.commits()});
  out.key("unapplied_bytes").number(std::uint64_t{store.unapplied_bytes()});
  out.key("shard_time_ahead_ms").number(std::int64_t{store.shard_time_ahead_ms()}).end_object();
  out.key("journal");
  write_journal(out, store.journal());
  out.key("oldest_due").moment(reply.oldest_due_unix_ms()).key("resumed_tasks").number(std::uint64_t{reply.resumed_tasks()});
  out.key("resuming").boolean(reply.resuming());
  out.key("stalest_task").string(reply.stalest_task()).key("stalest_since").moment(reply.stalest_since_unix_ms());
  out.key("replies").begin_object().key("waiting").number(std::uint64_t{counts.outbox_events()}).key("failing").begin_array();
  for (const auto& one : reply.replies_failing()) {
    out.begin_object().key("receiver").string(reply_receiver(one)).key("since").moment(one.failing_since_unix_ms());
    out.key("failures").number(one.failures()).key("why").string(one.last_failure()).end_object();
  }
  out.end_array().end_object();
  out.key("cluster").string(reply.cluster()).key("incarnation").number(std::uint64_t{reply.incarnation()});
  out.key("draining").boolean(reply.draining()).key("refused_messages").number(std::uint64_t{reply.refused_messages()});
  out.key("shards").begin_array();
  for (const auto& one : reply.shards()) {
    out.begin_object().key("shard").number(std::uint64_t{one.shard()}).key("node").string(one.node()).key("here").boolean(one.here());
    out.key("up").boolean(one.up()).key("reason").string(one.reason()).key("epoch").number(std::uint64_t{one.epoch()});
    out.key("running").number(std::uint64_t{one.counts().running()}).key("parked").number(std::uint64_t{one.counts().parked()});
    out.key("used_bytes").number(std::uint64_t{one.store().used_bytes()});
    out.key("reserved_bytes").number(std::uint64_t{one.store().reserved_bytes()}).end_object();
  }
  out.end_array().key("peers").begin_array();
  for (const auto& one : reply.peers()) {
    out.begin_object().key("node").string(one.node()).key("address").string(one.address()).key("connected").boolean(one.connected());
    out.key("refused").boolean(one.refused()).key("reason").string(one.reason()).key("since").moment(one.since_unix_ms());
    out.key("version").string(one.version()).end_object();
  }
  out.end_array().end_object();
  return out.text();
}

}  // namespace fairlead::app
