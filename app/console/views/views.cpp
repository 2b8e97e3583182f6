#include "app/console/views/views.hpp"

#include <cmath>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <type_traits>
#include <vector>

#include "app/cli/node/agent_text.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "app/json/node/agents.hpp"
#include "app/json/node/nodes.hpp"
#include "app/json/writer.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

template <class List>
std::string listed(const List& items) {
  std::string out;
  for (const auto& item : items) {
    if (!out.empty()) out += ",";
    if constexpr (std::is_same_v<std::decay_t<decltype(item)>, std::string>)
      out += item;
    else
      out += std::to_string(item);
  }
  return out.empty() ? "-" : out;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string incarnation_text(std::uint64_t incarnation) { return incarnation == 0 ? "-" : std::to_string(incarnation); }

/// The last part of a path, indented by the depth of the path.
std::string indented(const std::string& path) {
  const auto depth = static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
  const auto last = path.rfind('/');
  return std::string(2 * depth, ' ') + (last == std::string::npos ? path : path.substr(last + 1));
}

std::string outside_text(const v1::InspectReply& reply) {
  if (reply.outside() == 0) return "";
  return std::to_string(reply.outside()) + (reply.outside() == 1 ? " live actor is" : " live actors are") +
         " not in the supervision tree: please report it\n";
}

std::vector<const v1::SupervisedActor*> ordered(const v1::InspectReply& reply, const actors_order& order) {
  std::vector<const v1::SupervisedActor*> out;
  for (const auto& actor : reply.actors())
    if (!actor.guardian()) out.push_back(&actor);
  const auto figure = [&](const v1::SupervisedActor* of) -> std::uint64_t {
    if (order.by == "mailbox") return of->mailbox();
    if (order.by == "handled") return of->handled();
    return order.by == "restarts" ? of->restarts() : 0;
  };
  std::stable_sort(out.begin(), out.end(), [&](const auto* a, const auto* b) {
    if (figure(a) != figure(b)) return figure(a) > figure(b);
    return order.by == "path" && a->path() < b->path();
  });
  return out;
}

/// `6.1 MiB 38%`, or `6.1 MiB + 9.2 MiB 95%` while running tasks have reserved space.
std::string share_text(const v1::StoreStatus& store) {
  auto text = bytes_text(store.used_bytes());
  if (store.reserved_bytes() != 0) text += " + " + bytes_text(store.reserved_bytes());
  const auto taken = store.used_bytes() + store.reserved_bytes();
  return store.max_bytes() == 0 ? text : text + " " + std::to_string(taken * 100 / store.max_bytes()) + "%";
}

const char* shard_state(const v1::ShardStatus& shard) {
  if (!shard.up()) return "down";
  return shard.resuming() ? "resuming" : "up";
}

std::string mean_text(double sum, std::uint64_t count, const char* unit) {
  if (count == 0) return "-";
  return std::to_string(std::llround(sum / static_cast<double>(count))) + unit;
}

bool matches(const std::string& part, std::initializer_list<const std::string*> names) {
  return part.empty() || std::any_of(names.begin(), names.end(), [&](const auto* name) { return name->find(part) != std::string::npos; });
}

/// `charge 3/8, all 40 in 1s`. `3/8`: 3 of at most 8 are in use.
std::string limits_text(const v1::ServiceStatus& service) {
  std::string out;
  for (const auto& limit : service.limits()) {
    const auto& policy = limit.policy();
    if (!out.empty()) out += ", ";
    out += policy.call().empty() ? "all" : policy.call();
    if (!policy.key().empty()) out += " for each " + policy.key();
    out += " " + std::to_string(limit.held());
    if (policy.concurrency() != 0) out += "/" + std::to_string(policy.concurrency());
    if (policy.rate() != 0) out += " at " + std::to_string(policy.rate()) + " in " + format_duration(policy.rate_per_ms());
    if (limit.waiting() != 0) out += " (" + std::to_string(limit.waiting()) + " wait)";
  }
  return or_dash(out);
}

}  // namespace

std::string nodes_text(const v1::StatusReply& reply) {
  text_table table{{{"NODE"},
                    {"ADDRESS", align::left, narrow::drop},
                    {"STATE"},
                    {"SINCE"},
                    {"VERSION", align::left, narrow::drop},
                    {"INCARNATION", align::right, narrow::drop},
                    {"ROLES", align::left, narrow::drop},
                    {"SHARDS", align::left, narrow::drop},
                    {"CONNECTS", align::right, narrow::drop},
                    {"WHY", align::left, narrow::below}}};
  table.add({reply.node(), "-", reply.draining() ? "here, draining" : "here", time_cell(reply.started_at_unix_ms()),
             or_dash(reply.version()), incarnation_text(reply.incarnation()), listed(reply.roles()), listed(shards_here(reply)), "-", ""});
  for (const auto& peer : reply.peers())
    table.add({or_dash(peer.node()), or_dash(peer.address().empty() ? peer.listens_on() : peer.address()), peer_state(peer),
               time_cell(peer.since_unix_ms()), or_dash(peer.version()), incarnation_text(peer.incarnation()), listed(peer.roles()),
               listed(peer.shards()), std::to_string(peer.connects()), shortened(peer.reason(), 120)});
  return (reply.cluster().empty() ? "" : "cluster " + printable(reply.cluster()) + "\n") + table.text();
}

std::string tree_text(const v1::InspectReply& reply) {
  text_table table{{{"ACTOR"}, {"STATE"}, {"RESTART"}, {"RESTARTS", align::right}, {"SINCE"}, {"LAST REASON", align::left, narrow::below}}};
  for (const auto& actor : reply.actors())
    table.add({indented(actor.path()), actor.state(), actor.guardian() ? actor.strategy() : or_dash(actor.restart()),
               std::to_string(actor.restarts()), time_cell(actor.started_at_unix_ms()), shortened(actor.last_reason(), 120)});
  return "node " + printable(reply.node()) + ", log level " + printable(or_dash(reply.log_level())) + "\n" + table.text() +
         outside_text(reply);
}

std::string actors_text(const v1::InspectReply& reply, const actors_order& order) {
  const auto all = ordered(reply, order);
  text_table table{{{"ACTOR"}, {"STATE"}, {"MAILBOX", align::right}, {"HANDLED", align::right}, {"RESTARTS", align::right}, {"SINCE"}}};
  for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), order.top); ++i)
    table.add({all[i]->path(), all[i]->state(), std::to_string(all[i]->mailbox()), std::to_string(all[i]->handled()),
               std::to_string(all[i]->restarts()), time_cell(all[i]->started_at_unix_ms())});
  auto out = table.text();
  if (all.size() > order.top) out += "and " + std::to_string(all.size() - order.top) + " more: --top shows them\n";
  return out + outside_text(reply);
}

std::string actors_json(const v1::InspectReply& reply, const actors_order& order) {
  json_writer out;
  begin_inspection(out, reply);
  const auto all = ordered(reply, order);
  for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), order.top); ++i) write_actor(out, *all[i]);
  return out.end_array().key("count").number(std::uint64_t{all.size()}).end_object().text();
}

std::string shards_text(const v1::StatusReply& reply) {
  if (reply.shards().empty()) return "No shards: this node has no shard, and is not connected with a node that has one.\n";
  text_table table{{{"SHARD", align::right},
                    {"NODE"},
                    {"STATE"},
                    {"EPOCH", align::right, narrow::drop},
                    {"PENDING", align::right},
                    {"RUNNING", align::right},
                    {"UNDOING", align::right, narrow::drop},
                    {"PARKED", align::right},
                    {"COMPLETED", align::right, narrow::drop},
                    {"UNDONE", align::right, narrow::drop},
                    {"STORE", align::right},
                    {"SEQUENCE", align::right, narrow::drop},
                    {"COMMITS", align::right, narrow::drop},
                    {"A COMMIT", align::right, narrow::drop},
                    {"NEXT WAKE-UP", align::left, narrow::drop},
                    {"WHY", align::left, narrow::below}}};
  for (const auto& shard : reply.shards()) {
    const auto& counts = shard.counts();
    const auto& commits = shard.commits();
    const auto number = [&](std::uint64_t value) { return shard.up() ? std::to_string(value) : "-"; };
    table.add({std::to_string(shard.shard()), or_dash(shard.node()), shard_state(shard), number(shard.epoch()), number(counts.pending()),
               number(counts.running()), number(counts.undoing()), number(counts.parked()), number(counts.completed()),
               number(counts.undone()), shard.up() ? share_text(shard.store()) : "-", number(shard.store().sequence()),
               number(shard.store().commits()), mean_text(commits.micros().sum(), commits.commits(), " us"),
               time_cell(shard.oldest_due_unix_ms()), shortened(shard.reason(), 120)});
  }
  return table.text();
}

std::string shards_json(const v1::StatusReply& reply) {
  json_writer out;
  out.begin_object().key("shards").begin_array();
  for (const auto& shard : reply.shards()) {
    const auto& counts = shard.counts();
    out.begin_object().key("shard").number(shard.shard()).key("node");
    shard.node().empty() ? out.null() : out.string(shard.node());
    out.key("here").boolean(shard.here()).key("state").string(shard_state(shard)).key("reason").string(shard.reason());
    out.key("epoch").number(std::uint64_t{shard.epoch()}).key("counts").begin_object();
    out.key("pending").number(std::uint64_t{counts.pending()}).key("running").number(std::uint64_t{counts.running()});
    out.key("completed").number(std::uint64_t{counts.completed()}).key("undoing").number(std::uint64_t{counts.undoing()});
    out.key("undone").number(std::uint64_t{counts.undone()}).key("parked").number(std::uint64_t{counts.parked()});
    out.key("archived").number(std::uint64_t{counts.archived()}).key("paused").number(std::uint64_t{counts.paused()}).end_object();
    out.key("due_entries").number(std::uint64_t{counts.due_entries()}).key("oldest_due").moment(shard.oldest_due_unix_ms());
    out.key("stalest_task").string(shard.stalest_task()).key("stalest_since").moment(shard.stalest_since_unix_ms());
    out.key("resumed_tasks").number(std::uint64_t{shard.resumed_tasks()}).key("store").begin_object();
    out.key("path").string(shard.store().path()).key("used_bytes").number(std::uint64_t{shard.store().used_bytes()});
    out.key("reserved_bytes").number(std::uint64_t{shard.store().reserved_bytes()});
    out.key("max_bytes").number(std::uint64_t{shard.store().max_bytes()}).key("sequence").number(std::uint64_t{shard.store().sequence()});
    out.key("commits").number(std::uint64_t{shard.store().commits()}).end_object();
    out.key("commits").begin_object().key("commits").number(std::uint64_t{shard.commits().commits()});
    out.key("batches").seconds(shard.commits().batches().sum()).key("bytes").seconds(shard.commits().bytes().sum());
    out.key("micros").seconds(shard.commits().micros().sum()).end_object().end_object();
  }
  return out.end_array().end_object().text();
}

v1::StatusReply filtered(const v1::StatusReply& reply, const registry_filter& filter) {
  v1::StatusReply out;
  std::set<std::string> kept;
  for (const auto& agent : reply.agents()) {
    if (!matches(filter.name, {&agent.agent(), &agent.instance(), &agent.node()})) continue;
    if (filter.sick && !agent.sick()) continue;
    if (filter.away && !agent.away()) continue;
    if (filter.draining && !agent.draining()) continue;
    if (filter.waiting && agent.waiting() == 0) continue;
    *out.add_agents() = agent;
    kept.insert(agent.agent());
  }
  const bool about_instances = filter.sick || filter.away || filter.draining;
  for (const auto& service : reply.services()) {
    const auto& name = service.record().agent();
    const bool fits = matches(filter.name, {&name}) && !about_instances && (!filter.waiting || service.waiting() != 0);
    if (fits || kept.count(name) != 0) *out.add_services() = service;
  }
  return out;
}

std::string registry_text(const v1::StatusReply& reply) {
  if (reply.agents().empty() && reply.services().empty()) return "No agent matches.\n";
  auto out = instances_text(reply);
  text_table table{{{"SERVICE"},
                    {"BREAKER"},
                    {"SINCE"},
                    {"WINDOW", align::left, narrow::drop},
                    {"LIMITS", align::left, narrow::drop},
                    {"WAITING", align::right},
                    {"WHY", align::left, narrow::below}}};
  for (const auto& service : reply.services()) {
    const auto& record = service.record();
    const auto why = service.reasons().empty() ? record.breaker_reason() : service.reasons(0);
    table.add({record.agent(), breaker_word(record.breaker()), time_cell(record.breaker_since_unix_ms()),
               std::to_string(service.window_failed()) + "/" + std::to_string(service.window_tries()) + " failed", limits_text(service),
               std::to_string(service.waiting()), shortened(why, 100)});
  }
  if (!table.empty()) out += (out.empty() ? "" : "\n") + std::string{"Services\n"} + table.text();
  return out;
}

}  // namespace fairlead::app
