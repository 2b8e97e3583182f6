// `fairlead restore`: a shard continues from a backup, as another lineage.

#include <algorithm>
#include <filesystem>
#include <memory>

#include "actors/shard/restore.hpp"
#include "app/cli/commands.hpp"
#include "app/json/writer.hpp"
#include "app/node/notes.hpp"
#include "app/node/replicas.hpp"
#include "messages/ids.hpp"
#include "messages/lineage.hpp"
#include "messages/time.hpp"
#include "store/directory.hpp"
#include "store/disk/one_store.hpp"
#include "store/disk/settle.hpp"
#include "store/lmdb/store.hpp"

namespace fairlead::app {

namespace {

namespace fs = std::filesystem;

struct restore_command {
  std::string store;
  std::string backup;
  std::string journal;
  bool relaunch = false;
  bool accept_loss = false;
};

error disk_error(const std::string& what, const std::string& why) {
  return {v1::ERROR_CODE_DISK, what + ": " + why, "Check the disk and the permissions; the backup was not changed"};
}

/// Lock files only show which process has the directory open.
bool is_lock(const fs::path& name) { return name == "lock" || name == "lock.mdb" || name == "node.lock"; }

bool is_free(const std::string& directory) {
  std::error_code failed;
  return !fs::exists(directory, failed) || fs::is_empty(directory, failed);
}

/// The copy is on disk when the function returns. An incomplete copy remains in `TO.part` beside
/// the target.
status copy_backup(const std::string& backup, const std::string& to) {
  std::error_code failed;
  if (!fs::exists(backup + "/data.mdb", failed)) return store::no_store(backup);
  // Half of a page that a node is writing would be copied.
  const auto lock = store::directory_lock::take(backup, true);
  if (!lock) return lock.failure();
  if (!is_free(to))
    return error{v1::ERROR_CODE_CONFLICT, "The directory " + to + " is not empty",
                 "Move the directory away and keep it: it may have data that the backup does not have. If the directory is itself the "
                 "backup, leave out --from"};
  const auto part = to + ".part";
  fs::remove_all(part, failed);
  fs::create_directory(part, failed);
  if (failed) return disk_error("The directory " + part + " cannot be created", failed.message());
  for (fs::directory_iterator it{backup, failed}, end; !failed && it != end; it.increment(failed)) {
    if (is_lock(it->path().filename())) continue;
    fs::copy(it->path(), fs::path{part} / it->path().filename(), fs::copy_options::recursive, failed);
    if (failed) break;
  }
  if (failed) return disk_error("The backup " + backup + " cannot be copied to " + part, failed.message());
  // Under its final name a node would take it for the store that it was.
  if (auto marked = store::mark_for_restore(part); !marked) return marked;
  return store::publish_directory(part, to);
}

std::string report_json(const restore_command& what, const restore_report& done) {
  json_writer out;
  out.begin_object().key("path").string(what.store).key("backup_at").string(format_utc(done.backup_unix_ms));
  out.key("lineage").string(fairlead::to_text(done.lineage)).key("tasks").number(done.tasks).key("steps_in_doubt").number(done.steps);
  out.key("jobs_with_missed_times").number(done.jobs).key("relaunch").boolean(what.relaunch).key("alert").number(done.alert);
  return out.end_object().text() + "\n";
}

std::string report_text(const restore_command& what, const restore_report& done) {
  auto out = what.store + ": continues from the backup of " + format_utc(done.backup_unix_ms) + " as lineage " +
             fairlead::to_text(done.lineage) + "\n";
  out += "tasks that continue: " + std::to_string(done.tasks) +
         "; steps that may have been carried out since the backup: " + std::to_string(done.steps) + "\n";
  if (done.jobs != 0)
    out += "jobs with scheduled times since the backup: " + std::to_string(done.jobs) +
           (what.relaunch ? "; the catch_up setting of each job applies\n" : "; these times are skipped\n");
  return out + "Start the node. Alert " + std::to_string(done.alert) + " lists what is left to do: fairlead alert show " +
         std::to_string(done.alert) + "\n";
}

int restore(cli_context& context, restore_command what) {
  while (what.store.size() > 1 && what.store.back() == '/') what.store.pop_back();
  if (const auto kept = check_not_given_up(what.store); !kept.ok()) return fail(kept.failure());
  const auto found = look_at_store(what.backup.empty() ? what.store : what.backup);
  if (const auto alone = what.backup.empty() ? check_held_alone(found) : status(nothing{}); !alone.ok()) return fail(alone.failure());
  for (const auto& safe : {check_others_are_lost(found), check_not_outlived(what.store, found.shard)})
    if (!safe.ok() && !what.accept_loss) return fail(safe.failure());
  if (!what.backup.empty())
    if (const auto copied = copy_backup(what.backup, what.store); !copied.ok()) return fail(copied.failure());
  std::error_code failed;
  if (!fs::exists(what.store + "/data.mdb", failed)) return fail(store::no_store(what.store));
  // Nothing is changed in a store that cannot be restored as it is.
  if (const auto readable = store::one_store::open(what.store, what.journal, store::one_store::access::read); !readable)
    return fail(readable.failure());
  // Before all else, so that no node takes it if this command ends in between.
  if (const auto marked = store::mark_for_restore(what.store); !marked.ok()) return fail(marked.failure());
  if (const auto settled = store::settle_store(what.store, what.journal); !settled.ok()) return fail(settled.failure());
  auto opened = store::lmdb_store::open(store::options_of_tool(what.store));
  if (!opened) return fail(opened.failure());
  const auto done = restore_shard(**opened, {now_unix_ms(), random_bits(), what.relaunch});
  if (!done) return fail(done.failure());
  print(context, context.json ? report_json(what, *done) : report_text(what, *done));
  return context.code;
}

}  // namespace

void add_restore_command(CLI::App& app, cli_context& context) {
  auto* command =
      app.add_subcommand("restore", "Make a shard's store usable again from a backup, as a new lineage; no node may be running on it");
  auto what = std::make_shared<restore_command>();
  command->add_option("STORE", what->store, "Directory of the store (store.path in the node file; in a cluster its folder shard-N)")
      ->required();
  command->add_option("--from", what->backup, "Backup to copy to STORE first. Without it, STORE itself must be the backup");
  add_journal_option(*command, what->journal, "STORE");
  command->add_flag("--relaunch", what->relaunch, "Jobs catch up on scheduled times since the backup; without it these times are skipped");
  command->add_flag("--accept-loss", what->accept_loss, "The shard is, or was, on several nodes: what they have beyond the backup is lost");
  add_json_option(*command, context);
  command->callback([&context, what] { context.code = restore(context, *what); });
}

}  // namespace fairlead::app
