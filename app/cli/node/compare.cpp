// `fairlead cluster compare`: whether all nodes that hold a shard have the same state.

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "actors/core/cluster/state_comparison.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/node/cluster.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/words.hpp"
#include "app/json/node/cluster.hpp"
#include "app/json/writer.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

constexpr std::chrono::hours patience{1};
constexpr std::chrono::seconds answer_limit{15};
/// A node that answers no more for so long may be the one that differs.
constexpr std::chrono::seconds silence{30};
constexpr std::chrono::milliseconds ask_every{300};

/// By shard: the number of the comparison that is waited for.
using awaited = std::map<std::uint32_t, std::uint64_t>;

/// nullptr: the shard lives on one node.
const v1::ReplicationStatus* of_several(const v1::ShardStatus& shard) {
  const auto& it = shard.replication();
  const bool is_alone = it.role() == "leader" && it.others().empty();
  return may_be_replicated(shard) && !is_alone ? &it : nullptr;
}

/// Has one begun for each shard that several nodes hold, unless one is in progress.
result<awaited> begin(client& to, const v1::StatusReply& known, const std::string& who) {
  awaited out;
  for (const auto& shard : known.shards()) {
    const auto* const it = of_several(shard);
    if (it == nullptr) continue;
    auto above = it->comparison().number();
    if (!core::in_progress(it->comparison())) {
      v1::ShardNodesRequest what;
      what.set_shard(shard.shard());
      what.set_verb(v1::ShardNodesRequest::COMPARE);
      what.set_above(above);
      what.set_who(who);
      if (const auto begun = to.change_nodes(what); !begun) return begun.failure();
      ++above;
    }
    out[shard.shard()] = above;
  }
  return out;
}

bool has_ended(const v1::ShardStatus& shard, const awaited& numbers) {
  const auto number = numbers.find(shard.shard());
  if (number == numbers.end()) return true;
  const auto* const it = of_several(shard);
  return it != nullptr && it->comparison().number() >= number->second && !core::in_progress(it->comparison());
}

std::string json_of(const v1::StatusReply& reply) {
  json_writer out;
  out.begin_object().key("shards").begin_array();
  for (const auto& shard : reply.shards()) {
    if (of_several(shard) == nullptr) continue;
    out.begin_object().key("shard").number(std::uint64_t{shard.shard()}).key("comparison");
    write_comparison(out, shard.replication());
    out.end_object();
  }
  return out.end_array().end_object().text() + "\n";
}

std::string text_of(const v1::StatusReply& reply) {
  std::string out;
  for (const auto& shard : reply.shards())
    if (of_several(shard) != nullptr) out += comparison_text(shard);
  return out.empty() ? "No shard is held by several nodes: there is nothing to compare.\n" : out;
}

int compare_states(cli_context& context, const std::string& by) {
  const auto timeout = timeout_of(context);
  if (!timeout) return fail(timeout.failure());
  const auto until = std::chrono::steady_clock::now() + timeout->value_or(duration{patience});
  auto to = connect_to_wait(context, answer_limit);
  if (!to) return fail(to.failure());
  auto known = to->status_of_node({});
  if (!known) return fail(known.failure());
  const auto numbers = begin(*to, *known, operator_name(by));
  if (!numbers) return fail(numbers.failure());
  const auto ended = [&](const auto& shard) { return has_ended(shard, *numbers); };
  auto answered = std::chrono::steady_clock::now();
  for (known = to->status_of_node({}); !known || !std::all_of(known->shards().begin(), known->shards().end(), ended);
       known = to->status_of_node({})) {
    if (stopped(context)) return context.code;
    const auto now = std::chrono::steady_clock::now();
    if (known) answered = now;
    if (!known && now - answered >= silence) return fail(known.failure());
    if (now >= until)
      return fail(error{v1::ERROR_CODE_TIMED_OUT, "The comparison has not ended in time; it goes on.",
                        "`fairlead cluster status` shows what comes of it"});
    std::this_thread::sleep_for(ask_every);
  }
  print(context, context.json ? json_of(*known) : text_of(*known));
  const auto is_fine = [](const auto& shard) {
    const auto& all = shard.replication().comparison();
    return std::all_of(all.replicas().begin(), all.replicas().end(), [](const auto& one) { return one.answered() && !one.differs(); });
  };
  if (context.code == exit_ok && !std::all_of(known->shards().begin(), known->shards().end(), is_fine)) context.code = exit_failed;
  return context.code;
}

}  // namespace

void add_compare_command(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand(
      "compare", "Compare the states of all nodes that hold a shard; exit code 0 when all are known and the same, 1 otherwise");
  auto by = std::make_shared<std::string>();
  add_operator_option(*command, *by);
  add_client_options(*command, context, "How long to wait for the end (default 1h)");
  command->callback([&context, by] { context.code = compare_states(context, *by); });
}

}  // namespace fairlead::app
