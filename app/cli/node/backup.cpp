// `fairlead backup`: copies of a node's stores while it runs.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string_view>

#include "app/cli/commands.hpp"
#include "app/cli/progress.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "app/json/writer.hpp"
#include "messages/time.hpp"
#include "store/check/check.hpp"
#include "store/directory.hpp"
#include "store/disk/backup.hpp"
#include "store/disk/one_store.hpp"

namespace fairlead::app {

namespace {

namespace fs = std::filesystem;

struct backup_command {
  std::string path;
  std::string into;
  std::optional<unsigned> keep;
};

struct store_backup {
  std::string path;
  std::uint64_t tasks = 0;
  std::uint64_t archived_tasks = 0;
  std::uint64_t bytes = 0;
};

constexpr char backup_prefix[] = "fairlead-";
constexpr char incomplete_suffix[] = ".part";

/// `fairlead-2026-11-24T08-15-00Z`: in order of time, and a name for every file system.
std::string backup_name(std::int64_t unix_ms) {
  auto moment = format_utc(unix_ms).substr(0, std::string_view{"2026-11-24T08:15:00"}.size());
  std::replace(moment.begin(), moment.end(), ':', '-');
  return backup_prefix + moment + "Z";
}

/// The backups in a directory, complete or not, oldest first. Whatever else is there is left alone.
std::vector<std::string> backups_in(const std::string& directory, bool complete) {
  const auto whole = backup_name(0).size();
  std::vector<std::string> out;
  std::error_code failed;
  for (fs::directory_iterator it{directory, failed}, end; !failed && it != end; it.increment(failed)) {
    const auto name = it->path().filename().string();
    const bool ours = name.starts_with(backup_prefix) && name.size() >= whole && name[whole - 1] == 'Z' && it->is_directory(failed);
    if (ours && name.substr(whole) == (complete ? "" : incomplete_suffix)) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::uint64_t bytes_in(const std::string& directory) {
  std::uint64_t out = 0;
  std::error_code failed;
  for (fs::recursive_directory_iterator it{directory, failed}, end; !failed && it != end; it.increment(failed)) {
    std::error_code gone;
    if (const auto bytes = it->is_regular_file(gone) ? it->file_size(gone) : 0; !gone) out += bytes;
  }
  return out;
}

error backup_disk_error(const std::string& what, const std::error_code& why) {
  return {v1::ERROR_CODE_DISK, what + ": " + why.message(), "Check the disk and the permissions, or use another directory"};
}

status copy_shown(const std::string& from, const std::string& to, bool quiet) {
  progress_line progress{quiet};
  auto copying = std::async(std::launch::async, [&] { return store::back_up_store(from, to); });
  while (copying.wait_for(std::chrono::milliseconds{500}) != std::future_status::ready)
    if (progress.is_due()) progress.show(printable(from) + ": " + bytes_text(bytes_in(to)) + " copied");
  return copying.get();
}

constexpr int most_copies = 3;

result<store::check_report> check_copy(const std::string& copy) {
  const auto opened = store::one_store::open(copy, {}, store::one_store::access::read);
  if (!opened) return opened.failure();
  return store::check(*(*opened)->read(), {}, 1, &(*opened)->archives());
}

/// A task that an operator deletes while the archives are copied makes a copy that contradicts itself, so a damaged copy is made once more.
result<store_backup> back_up_and_check(const std::string& from, const std::string& to, bool quiet) {
  for (int copies = 1;; ++copies) {
    if (auto copied = copy_shown(from, to, quiet); !copied) return copied.failure();
    const auto report = check_copy(to);
    if (!report) return report.failure();
    if (report->clean()) return store_backup{from, report->tasks, report->archived_tasks, bytes_in(to)};
    if (copies == most_copies)
      return error{v1::ERROR_CODE_CORRUPT, "The store " + from + " is damaged: " + report->findings.front(),
                   "Stop the node, keep a copy of the store, and restore an earlier backup"};
    std::error_code failed;
    fs::remove_all(to, failed);
    if (failed) return backup_disk_error("The copy " + to + " cannot be removed", failed);
  }
}

status remove_backup(const std::string& path) {
  const auto part = path.ends_with(incomplete_suffix) ? path : path + incomplete_suffix;
  std::error_code failed;
  // Half of a backup must not look like one, also after a power cut.
  if (part != path) fs::rename(path, part, failed);
  if (!failed && part != path) {
    if (auto named = store::sync_directory(fs::path{path}.parent_path().string()); !named) return named;
  }
  if (!failed) fs::remove_all(part, failed);
  return failed ? status(backup_disk_error("The backup " + path + " cannot be removed", failed)) : nothing{};
}

/// The new backup stays, also if a clock that was ahead has given others later names.
result<std::vector<std::string>> rotate(const backup_command& what, const std::string& newest) {
  std::vector<std::string> out;
  auto all = backups_in(what.into, true);
  std::erase(all, newest);
  const std::size_t keep = what.keep ? *what.keep - 1 : all.size();
  for (std::size_t i = 0; i + keep < all.size(); ++i) {
    if (auto gone = remove_backup(what.into + "/" + all[i]); !gone) return gone.failure();
    out.push_back(std::move(all[i]));
  }
  return out;
}

void print_backup(cli_context& context, const std::string& whole, const std::vector<store_backup>& stores,
                  const std::vector<std::string>& removed) {
  if (context.json) {
    json_writer out;
    out.begin_object().key("path").string(whole).key("stores").begin_array();
    for (const auto& one : stores) {
      out.begin_object().key("path").string(one.path).key("tasks").number(one.tasks);
      out.key("archived_tasks").number(one.archived_tasks).key("bytes").number(one.bytes).end_object();
    }
    out.end_array().key("removed").begin_array();
    for (const auto& one : removed) out.string(one);
    print(context, out.end_array().end_object().text() + "\n");
    return;
  }
  for (const auto& one : stores)
    print(context, one.path + ": " + std::to_string(one.tasks) + " tasks, " + std::to_string(one.archived_tasks) + " archived, " +
                       bytes_text(one.bytes) + "\n");
  print(context, whole + ": checked and complete\n");
  for (const auto& one : removed) print(context, one + ": removed\n");
}

int back_up(cli_context& context, const backup_command& what) {
  const auto directories = store::stores_in(what.path);
  if (directories.empty()) return fail(store::no_store(what.path));
  if (auto ready = store::prepare_directory(what.into, false); !ready) return fail(ready.failure());
  const auto lock = store::directory_lock::take(what.into, false);
  if (!lock) {
    auto why = lock.failure();
    if (why.code == v1::ERROR_CODE_STORE_IN_USE)
      why = {why.code, "The directory " + what.into + " is in use, by another backup or as a store", "Wait, or use another directory"};
    return fail(why);
  }
  for (const auto& left : backups_in(what.into, false))
    if (auto gone = remove_backup(what.into + "/" + left); !gone) return fail(gone.failure());
  const auto whole = what.into + "/" + backup_name(now_unix_ms());
  const auto part = whole + incomplete_suffix;
  std::error_code failed;
  if (fs::exists(whole, failed))
    return fail({v1::ERROR_CODE_CONFLICT, "The backup " + whole + " is there already", "Run the command again in a second"});
  const bool one_of_several = directories.front() != what.path;
  if (one_of_several && !fs::create_directory(part, failed))
    return fail(backup_disk_error("The directory " + part + " cannot be created", failed));
  std::vector<store_backup> stores;
  for (const auto& one : directories) {
    auto done = back_up_and_check(one, one_of_several ? part + "/" + fs::path{one}.filename().string() : part, context.json);
    if (!done) {
      (void)remove_backup(part);
      return fail(done.failure());
    }
    stores.push_back(std::move(*done));
  }
  if (auto finished = store::publish_directory(part, whole); !finished) return fail(finished.failure());
  const auto removed = rotate(what, fs::path{whole}.filename().string());
  if (!removed) return fail(removed.failure());
  print_backup(context, whole, stores, *removed);
  return context.code;
}

}  // namespace

void add_backup_command(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("backup", "Copy the stores of a node, which may be running on this machine, and check the copy");
  auto what = std::make_shared<backup_command>();
  command->add_option("PATH", what->path, "Directory of the node's stores (store.path in the node file)")->required();
  command->add_option("DIR", what->into, "Directory of the backups; each is a directory of its own there")->required();
  command->add_option("--keep", what->keep, "Remove the oldest backups in DIR beyond this number, once the new one is complete")
      ->check(CLI::Range(1, 1'000'000));
  add_json_option(*command, context);
  command->callback([&context, what] {
    while (what->path.size() > 1 && what->path.back() == '/') what->path.pop_back();
    while (what->into.size() > 1 && what->into.back() == '/') what->into.pop_back();
    context.code = back_up(context, *what);
  });
}

}  // namespace fairlead::app
