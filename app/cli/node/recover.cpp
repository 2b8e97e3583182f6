// `fairlead cluster recover`: a shard that has lost the majority of its replicas goes on from one of them, as another lineage.

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/raft/types.hpp"
#include "actors/shard/restore.hpp"
#include "app/cli/commands.hpp"
#include "app/json/writer.hpp"
#include "app/node/notes.hpp"
#include "messages/ids.hpp"
#include "messages/lineage.hpp"
#include "messages/time.hpp"
#include "store/disk/one_store.hpp"
#include "store/disk/settle.hpp"

namespace fairlead::app {

namespace {

struct recover_command {
  std::string store;
  std::string journal;
  std::vector<std::string> others;
  bool accept_loss = false;
  bool relaunch = false;
};

struct survivor {
  std::string path;
  std::uint32_t shard = 0;
  std::uint64_t replica = 0;
  raft::members members;        // of the shard, as its log says
  store::log_base end;          // its last entry
  std::uint64_t uncertain = 0;  // entries that no leader has told it to count, as far as its tables say
  v1::Lineage lineage;

  bool votes() const { return members.votes(replica); }
  /// As an election decides: whoever has the last entry of the latest term, and of these the longest log.
  bool has_more_than(const survivor& other) const { return std::pair{end.term, end.index} > std::pair{other.end.term, other.end.index}; }
};

error no_replica(const std::string& path) {
  return {
      v1::ERROR_CODE_WRONG_STATE, "The store " + path + " is none of several copies of a shard.",
      "Start the node if the recovery is done. Use fairlead restore for a backup, for a store that lived on one node, and to complete a "
      "recovery that was interrupted"};
}

result<survivor> look_at(const std::string& path, const std::string& journal) {
  const auto opened = store::one_store::open(path, journal, store::one_store::access::read);
  if (!opened) return opened.failure();
  const auto& it = **opened;
  const auto members = it.replica() ? raft::decode_members(it.log_end().members) : std::nullopt;
  if (!members) return no_replica(path);
  if (it.log_end().index == 0)
    return error{v1::ERROR_CODE_WRONG_STATE, "The store " + path + " is new: it has nothing of the shard.",
                 "Recover the shard from the store of a node that has held it. If no store of it is left, restore a backup"};
  survivor out{path, it.shard(), it.replica()->id, *members, it.log_end(), 0, {}};
  out.uncertain = out.end.index - std::min(out.end.index, it.applied_index());
  const auto view = it.read();
  const auto row = view->get(store::table::meta, store::keys::meta(store::meta::lineage_row));
  if (!row) return row.failure();
  if (const auto known = row->has_value() ? store::meta::decode_lineage(**row) : std::nullopt) out.lineage = *known;
  return out;
}

result<std::vector<survivor>> look_at_others(const recover_command& what, const survivor& own) {
  std::vector<survivor> out;
  for (const auto& path : what.others) {
    auto one = look_at(path, {});
    if (!one) return one.failure();
    if (one->shard != own.shard)
      return error{v1::ERROR_CODE_CONFLICT, "The stores " + own.path + " and " + path + " are not copies of the same shard.",
                   "Compare stores of shard " + std::to_string(own.shard) + " only"};
    if (compare(one->lineage, own.lineage) != lineage_order::same)
      return error{v1::ERROR_CODE_CONFLICT,
                   "The stores " + own.path + " and " + path + " are of different lineages (" + fairlead::to_text(own.lineage) + ", " +
                       fairlead::to_text(one->lineage) + "): the shard was restored, recovered or begun anew in between",
                   "Decide which lineage is to go on, and compare its stores only"};
    out.push_back(std::move(*one));
  }
  return out;
}

std::string describe(const survivor& of) {
  const auto voters = std::to_string(of.members.voters.size());
  return of.path + ": shard " + std::to_string(of.shard) + ", " +
         (of.votes() ? "one of " + voters + " voting replicas" : "none of the " + voters + " replicas that vote") + "; last entry " +
         std::to_string(of.end.index) + " of term " + std::to_string(of.end.term) + ", made " + format_utc(of.end.stamp_ms) + " (" +
         format_duration(std::max<std::int64_t>(now_unix_ms() - of.end.stamp_ms, 0)) + " ago)\n";
}

void write_survivor(json_writer& out, const survivor& of) {
  out.key("path")
      .string(of.path)
      .key("shard")
      .number(std::uint64_t{of.shard})
      .key("voters")
      .number(std::uint64_t{of.members.voters.size()});
  out.key("votes").boolean(of.votes());
  out.key("last_index").number(of.end.index).key("last_term").number(of.end.term).key("last_entry_at").string(format_utc(of.end.stamp_ms));
  out.key("entries_not_applied").number(of.uncertain);
}

std::string report_json(const survivor& own, const std::vector<survivor>& others, const std::optional<restore_report>& done) {
  json_writer out;
  out.begin_object();
  write_survivor(out, own);
  out.key("others").begin_array();
  for (const auto& one : others) {
    out.begin_object();
    write_survivor(out, one);
    out.end_object();
  }
  out.end_array().key("recovered").boolean(done.has_value());
  if (done) {
    out.key("lineage").string(fairlead::to_text(done->lineage)).key("tasks").number(done->tasks);
    out.key("steps_in_doubt").number(done->steps).key("jobs_with_missed_times").number(done->jobs).key("alert").number(done->alert);
  }
  return out.end_object().text() + "\n";
}

/// Of those that vote, as `own` knows them, how many stores are given.
std::size_t voters_among(const survivor& own, const std::vector<survivor>& others) {
  std::set<std::uint64_t> given{own.replica};
  for (const auto& one : others) given.insert(one.replica);
  return static_cast<std::size_t>(std::count_if(given.begin(), given.end(), [&](auto id) { return own.members.votes(id); }));
}

std::string report_text(const survivor& own, const std::vector<survivor>& others, const std::optional<restore_report>& done) {
  auto out = describe(own);
  for (const auto& one : others) out += describe(one);
  if (!done) {
    const auto given = voters_among(own, others);
    const bool is_majority = 2 * given > own.members.voters.size();
    if (is_majority)
      out += "These are " + std::to_string(given) + " of the " + std::to_string(own.members.voters.size()) +
             " replicas that vote, which is a majority: start their nodes, and nothing is lost.\n";
    out += "Nothing was changed. What was acknowledged and is not in this store is lost when the shard goes on from here";
    if (own.uncertain != 0) out += "; entries count that may never have been acknowledged (at most " + std::to_string(own.uncertain) + ")";
    if (is_majority) return out + ".\nIf no node leads after that, stop all of them, and run it again with --accept-loss.\n";
    return out + ".\nLook at the stores of all nodes that are left (--compare), stop those nodes, and run it again with --accept-loss.\n";
  }
  out += "The shard goes on from here as lineage " + fairlead::to_text(done->lineage) +
         ".\ntasks that continue: " + std::to_string(done->tasks) +
         "; steps that may have been carried out since: " + std::to_string(done->steps) + "\n";
  return out +
         "Recover the other shards of this node as well, if it has any, and start it. Move the stores and the journal of all other nodes "
         "of the "
         "shard away, and run `fairlead cluster join` on each with the address of this node: they get the shard from here. Alert " +
         std::to_string(done->alert) + " lists what is left to do: fairlead alert show " + std::to_string(done->alert) + "\n";
}

/// As `fairlead restore` does it. Cut short, it is run again; once the store is settled, `fairlead restore` completes it.
result<restore_report> carry_out(const recover_command& what) {
  if (auto marked = store::mark_for_recovery(what.store); !marked) return marked.failure();
  if (auto settled = store::settle_store(what.store, what.journal, true); !settled) return settled.failure();
  auto opened = store::lmdb_store::open(store::options_of_tool(what.store));
  if (!opened) return opened.failure();
  return restore_shard(**opened, {.now_unix_ms = now_unix_ms(), .bits = random_bits(), .relaunch = what.relaunch, .recovered = true});
}

int recover(cli_context& context, recover_command what) {
  while (what.store.size() > 1 && what.store.back() == '/') what.store.pop_back();
  if (const auto kept = check_not_given_up(what.store); !kept.ok()) return fail(kept.failure());
  const auto own = look_at(what.store, what.journal);
  if (!own) return fail(own.failure());
  const auto others = look_at_others(what, *own);
  if (!others) return fail(others.failure());
  const auto newest =
      std::max_element(others->begin(), others->end(), [](const auto& one, const auto& other) { return other.has_more_than(one); });
  if (newest != others->end() && newest->has_more_than(*own)) {
    return fail({v1::ERROR_CODE_CONFLICT,
                 "The store " + newest->path + " has more than " + own->path + ": its last entry is " + std::to_string(newest->end.index) +
                     " of term " + std::to_string(newest->end.term) + ", not " + std::to_string(own->end.index) + " of term " +
                     std::to_string(own->end.term) + ".",
                 "Recover the shard from " + newest->path});
  }
  std::optional<restore_report> done;
  if (what.accept_loss) {
    auto report = carry_out(what);
    if (!report) return fail(report.failure());
    done = std::move(*report);
  }
  print(context, context.json ? report_json(*own, *others, done) : report_text(*own, *others, done));
  return context.code;
}

}  // namespace

void add_recover_command(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand(
      "recover", "Let a shard that has lost the majority of its nodes for good go on from the store of one; no node may be running on it");
  auto what = std::make_shared<recover_command>();
  command->add_option("STORE", what->store, "Directory of the store (store.path in the node file; in a cluster its folder shard-N)")
      ->required();
  command->add_option("--compare", what->others, "Directories of other stores of the shard that are left: the one with most is to be used");
  add_journal_option(*command, what->journal, "STORE");
  command->add_flag("--accept-loss", what->accept_loss, "Do it. Without it nothing is changed, and the command says what there is");
  command->add_flag("--relaunch", what->relaunch,
                    "Jobs catch up on scheduled times since the last entry; without it these times are skipped");
  add_json_option(*command, context);
  command->callback([&context, what] { context.code = recover(context, *what); });
}

}  // namespace fairlead::app
