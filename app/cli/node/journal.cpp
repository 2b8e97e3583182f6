// `fairlead journal`: what is in a journal, and whether it is whole.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "app/cli/commands.hpp"
#include "app/cli/screen/table.hpp"
#include "app/json/writer.hpp"
#include "messages/time.hpp"
#include "store/directory.hpp"
#include "store/journal/disk_files.hpp"
#include "store/journal/payloads.hpp"
#include "store/journal/recovery.hpp"
#include "store/keys.hpp"

namespace fairlead::app {

namespace {

struct journal_command {
  std::string path;
  int shard = -1;  // below 0: all
  std::uint64_t from = 0;
};

const char* name_of(store::record_type type) {
  switch (type) {
    case store::record_type::batch: return "batch";
    case store::record_type::epoch: return "epoch";
    case store::record_type::members: return "members";
    case store::record_type::hard: return "term";
    case store::record_type::cut: return "cut";
    case store::record_type::base: return "base";
    case store::record_type::standing: return "standing";
    case store::record_type::checkpoint: return "checkpoint";
    case store::record_type::close: return "close";
    case store::record_type::clock: return "clock";
    case store::record_type::rows: return "rows";
  }
  return "unknown";
}

/// The records of a journal that a node may be writing to at the same time.
result<store::recovered_journal> read_journal(const std::string& path, const store::record_visitor& visit) {
  std::error_code failed;
  const auto inside = store::journal_in(path);
  auto files =
      store::disk_files::in(std::filesystem::is_directory(inside, failed) ? inside : path, store::disk_files::access::read_while_written);
  if (!files) return files.failure();
  auto found = store::recover_journal(**files, {}, visit);
  if (!found) return found.failure();
  if (!found->has_value())
    return error{v1::ERROR_CODE_NOT_FOUND, "There is no journal in " + path + ".",
                 "Give the directory journal.path or store.path of the node."};
  return std::move(**found);
}

std::vector<std::string> findings_of(const store::recovered_journal& found) {
  std::vector<std::string> out;
  for (const auto& damage : found.damages)
    out.push_back(store::place_of(damage) + " is damaged" + (damage.records_lost ? store::time_before(damage) : "; its records are whole"));
  for (const auto& [shard, log] : found.shards)
    for (const auto& gap : log.gaps) out.push_back(store::words_of(shard, gap));
  return out;
}

error changed_meanwhile() {
  return {v1::ERROR_CODE_CONFLICT, "The node began or recycled files of the journal while they were read", "Run the command again"};
}

/// What a reading finds while the node begins or recycles a segment may be false. Damage stays: only what two readings in a row find alike
/// counts. `before_each` forgets what the visits of the reading before have counted.
result<store::recovered_journal> read_twice_if_damaged(const std::string& path, const store::record_visitor& visit,
                                                       const std::function<void()>& before_each) {
  constexpr int most_readings = 10;
  std::vector<std::string> before;
  for (int readings = 1;; ++readings) {
    before_each();
    auto found = read_journal(path, visit);
    auto now = found ? findings_of(*found) : std::vector<std::string>{found.failure().sentence};
    if (now.empty() || now == before) return found;
    if (readings == most_readings) return changed_meanwhile();
    before = std::move(now);
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  }
}

/// Keys only: values are what users have given.
std::vector<std::string> keys_of(const store::journal_record& record) {
  std::vector<std::string> out;
  const auto add = [&out](std::string_view operations) {
    for (store::operation one; store::batch::next(operations, one);)
      out.push_back((one.what == store::operation::kind::put ? "put " : "erase ") + store::keys::describe(one.where, one.key));
  };
  if (record.type == store::record_type::rows) add(record.payload);
  if (record.type != store::record_type::batch) return out;
  if (const auto batches = store::decode_batches(record.payload)) {
    for (const auto& one : *batches) add(one.operations);
  }
  return out;
}

int dump(cli_context& context, const journal_command& what) {
  const auto show = [&](const store::journal_record& record, std::uint64_t group) -> status {
    if (what.shard >= 0 && (record.shard != what.shard || !store::is_entry(record.type))) return nothing{};
    if (store::is_entry(record.type) && record.index < what.from) return nothing{};
    const auto keys = keys_of(record);
    if (context.json) {
      json_writer out;
      out.begin_object().key("group").number(group).key("type").string(name_of(record.type));
      out.key("shard").number(std::uint64_t{record.shard}).key("index").number(record.index);
      out.key("time").string(format_utc(record.stamp_ms));
      out.key("bytes").number(std::uint64_t{record.payload.size()}).key("keys").begin_array();
      for (const auto& key : keys) out.string(key);
      print(context, out.end_array().end_object().text() + "\n");
      return nothing{};
    }
    auto line = std::to_string(group) + "  " + format_utc(record.stamp_ms) + "  " + name_of(record.type);
    if (store::is_entry(record.type)) line += "  shard " + std::to_string(record.shard) + "  index " + std::to_string(record.index);
    print(context, line + "  " + std::to_string(record.payload.size()) + " bytes\n");
    for (const auto& key : keys) print(context, "    " + printable(key) + "\n");
    return nothing{};
  };
  const auto shown = read_journal(what.path, show);
  if (shown && shown->damages.empty()) return context.code;
  const auto found = read_twice_if_damaged(
      what.path, [](const store::journal_record&, std::uint64_t) -> status { return nothing{}; }, [] {});
  if (!found) return fail(found.failure());
  auto code = context.code;
  for (const auto& damage : found->damages) code = fail({v1::ERROR_CODE_CORRUPT, store::place_of(damage) + " is damaged", ""});
  if (!shown && found->damages.empty()) return fail(changed_meanwhile());
  return code;
}

int verify(cli_context& context, const journal_command& what) {
  std::uint64_t records = 0;
  const auto count = [&records](const store::journal_record&, std::uint64_t) -> status {
    ++records;
    return nothing{};
  };
  const auto found = read_twice_if_damaged(what.path, count, [&records] { records = 0; });
  if (!found) return fail(found.failure());
  const auto findings = findings_of(*found);
  if (context.json) {
    json_writer out;
    out.begin_object().key("path").string(what.path).key("ok").boolean(findings.empty());
    out.key("segments").number(std::uint64_t{found->used.size()}).key("records").number(records);
    out.key("closed").boolean(found->closed).key("findings").begin_array();
    for (const auto& one : findings) out.string(one);
    print(context, out.end_array().end_object().text() + "\n");
  } else {
    for (const auto& one : findings) print(context, one + "\n");
    if (findings.empty())
      print(context, what.path + ": ok, " + std::to_string(found->used.size()) + " segments, " + std::to_string(records) + " records\n");
  }
  if (findings.empty()) return context.code;
  return fail({v1::ERROR_CODE_CORRUPT, "The journal " + what.path + " is damaged: " + std::to_string(findings.size()) + " findings",
               "Keep a copy of the journal and the store. `fairlead store check` says whether the store needs what is damaged"});
}

}  // namespace

void add_journal_commands(CLI::App& app, cli_context& context) {
  auto* group = app.add_subcommand("journal", "Read a node's journal; the node may be running");
  group->require_subcommand(1);
  auto what = std::make_shared<journal_command>();
  const auto add = [&](const char* name, const char* purpose, int (*run)(cli_context&, const journal_command&)) {
    auto* command = group->add_subcommand(name, purpose);
    command
        ->add_option("PATH", what->path, "Directory of the journal, or of the node's stores (journal.path or store.path in the node file)")
        ->required();
    add_json_option(*command, context);
    command->callback([&context, what, run] { context.code = run(context, *what); });
    return command;
  };
  auto* dumping = add("dump", "List the records that are not recycled yet, with the keys that they write; values are never shown", dump);
  dumping->add_option("--shard", what->shard, "Only entries of this shard")->check(CLI::Range(0, 65'535));
  dumping->add_option("--from", what->from, "Only entries from this index on");
  add("verify", "Verify all checksums, and that no entry is missing between others", verify);
}

}  // namespace fairlead::app
