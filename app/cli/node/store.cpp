#include <algorithm>
#include <memory>

#include "app/cli/commands.hpp"
#include "app/cli/screen/table.hpp"
#include "app/json/writer.hpp"
#include "app/node/notes.hpp"
#include "app/node/replicas.hpp"
#include "store/check/check.hpp"
#include "store/directory.hpp"
#include "store/disk/one_store.hpp"
#include "store/disk/settle.hpp"

namespace fairlead::app {

namespace {

struct store_command {
  std::string path;
  std::string journal;
  bool accept_loss = false;
};

/// Damage to what the store has already: no finding, but a sign that the disk loses what was written.
std::vector<std::string> notes_of(const std::vector<store::journal_damage>& damages) {
  std::vector<std::string> out;
  for (const auto& one : damages)
    out.push_back("The journal is damaged at " + store::place_of(one) + "; the store has all that was there.");
  return out;
}

std::string report_json(const std::string& path, const store::check_report& report, const std::vector<std::string>& notes) {
  json_writer out;
  out.begin_object().key("path").string(path).key("ok").boolean(report.clean()).key("values").number(std::uint64_t{report.values});
  out.key("tasks")
      .number(std::uint64_t{report.tasks})
      .key("archived_tasks")
      .number(std::uint64_t{report.archived_tasks})
      .key("findings")
      .begin_array();
  for (const auto& finding : report.findings) out.string(finding);
  out.end_array().key("findings_left_out").number(std::uint64_t{report.findings_left_out}).key("notes").begin_array();
  for (const auto& note : notes) out.string(note);
  return out.end_array().end_object().text() + "\n";
}

int check_store(cli_context& context, const store_command& what) {
  const auto& path = what.path;
  const auto opened = store::one_store::open(path, what.journal, store::one_store::access::read);
  if (!opened) return fail(opened.failure());
  const auto report = store::check(*(*opened)->read(), {}, 100, &(*opened)->archives());
  const auto notes = notes_of((*opened)->damages());
  if (context.json) {
    print(context, report_json(path, report, notes));
  } else {
    for (const auto& note : notes) print(context, printable(note) + "\n");
    for (const auto& finding : report.findings) print(context, printable(finding) + "\n");
    if (report.findings_left_out > 0) print(context, "and " + std::to_string(report.findings_left_out) + " more\n");
    if (report.clean())
      print(context, path + ": ok, " + std::to_string(report.tasks) + " tasks, " + std::to_string(report.values) + " values\n");
  }
  if (!report.clean()) {
    const auto count = report.findings.size() + report.findings_left_out;
    return fail({v1::ERROR_CODE_CORRUPT,
                 "The store " + path + " is damaged: " + std::to_string(count) + (count == 1 ? " finding" : " findings"),
                 "Keep a copy of the store, then restore a backup"});
  }
  return context.code;
}

int settle_stores(cli_context& context, store_command what) {
  while (what.path.size() > 1 && what.path.back() == '/') what.path.pop_back();
  const auto directories = store::stores_in(what.path);
  if (directories.empty()) return fail(store::no_store(what.path));
  for (const auto& one : directories) {
    const auto its = look_at_store(one);
    for (const auto& checked :
         {check_not_given_up(one), check_held_alone(its), what.accept_loss ? status(nothing{}) : check_can_settle(its)})
      if (!checked.ok()) return fail(checked.failure());
  }
  const auto done = store::settle_node(directories, what.journal, what.accept_loss);
  if (!done) return fail(done.failure());
  json_writer out;
  out.begin_object().key("stores").begin_array();
  for (const auto& one : done->stores) {
    out.begin_object().key("path").string(one.directory).key("lost_its_journal").boolean(one.lost_its_journal).end_object();
    if (!context.json)
      print(context, one.directory + (one.lost_its_journal
                                          ? ": taken out of its journal; what only the journal had is lost. Run: fairlead restore " +
                                                one.directory + "\n"
                                          : std::string{": settled\n"}));
  }
  static constexpr const char* outcomes[] = {"none", "removed", "kept", "foreign"};
  out.end_array().key("journal").string(outcomes[static_cast<int>(done->outcome)]).end_object();
  if (context.json) {
    print(context, out.text() + "\n");
  } else if (done->outcome == store::settled_journal::kept) {
    print(context, done->journal + ": the files are kept, with the suffix .lost\n");
  } else if (done->outcome == store::settled_journal::foreign) {
    print(context, done->journal + ": is the journal of other stores, and stays\n");
  }
  return context.code;
}

}  // namespace

void add_store_commands(CLI::App& app, cli_context& context) {
  auto* group = app.add_subcommand("store", "Check a state store, or take it out of its journal");
  group->require_subcommand(1);
  auto what = std::make_shared<store_command>();
  auto* check = group->add_subcommand(
      "check", "Verify a store with its journal and its archives: checksums, rows and indexes; no node may be running on it");
  check->add_option("PATH", what->path, "Directory of the store (store.path in the node file; in a cluster its folder shard-N)")
      ->required();
  add_journal_option(*check, what->journal, "PATH");
  add_json_option(*check, context);
  check->callback([&context, what] { context.code = check_store(context, *what); });
  auto* settle = group->add_subcommand(
      "settle", "Bring all that the journal has to the stores and remove it, so that they are whole by themselves; no node may be running");
  settle->add_option("PATH", what->path, "Directory of the node's stores (store.path in the node file)")->required();
  add_journal_option(*settle, what->journal, "PATH");
  settle->add_flag("--accept-loss", what->accept_loss,
                   "Go on without a journal that is missing or damaged. What only the journal has is lost; each such store needs `fairlead "
                   "restore` afterwards");
  add_json_option(*settle, context);
  settle->callback([&context, what] { context.code = settle_stores(context, *what); });
}

}  // namespace fairlead::app
