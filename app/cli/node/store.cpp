#include <memory>

#include "app/cli/commands.hpp"
#include "app/cli/json.hpp"
#include "app/cli/screen/table.hpp"
#include "store/check/check.hpp"
#include "store/lmdb/store.hpp"

namespace fairlead::app {

namespace {

std::string report_json(const std::string& path, const store::check_report& report) {
  json_writer out;
  out.begin_object().key("path").string(path).key("ok").boolean(report.clean()).key("values").number(std::uint64_t{report.values});
  out.key("tasks")
      .number(std::uint64_t{report.tasks})
      .key("archived_tasks")
      .number(std::uint64_t{report.archived_tasks})
      .key("findings")
      .begin_array();
  for (const auto& finding : report.findings) out.string(finding);
  return out.end_array().key("findings_left_out").number(std::uint64_t{report.findings_left_out}).end_object().text() + "\n";
}

int check_store(cli_context& context, const std::string& path) {
  store::env_options options;
  options.directory = path;
  options.read_only = true;
  auto opened = store::lmdb_store::open(options);
  if (!opened) return fail(opened.failure());
  store::archive archives(path + "/archive");
  const auto report = store::check(*(*opened)->read(), {}, 100, &archives);
  if (context.json) {
    print(context, report_json(path, report));
  } else {
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

}  // namespace

void add_store_commands(CLI::App& app, cli_context& context) {
  auto* group = app.add_subcommand("store", "Check a state store");
  group->require_subcommand(1);
  auto* check =
      group->add_subcommand("check", "Verify a store and its archives: checksums, rows and indexes; no node may be running on it");
  auto path = std::make_shared<std::string>();
  check->add_option("PATH", *path, "Directory of the store (store.path in the node file)")->required();
  add_json_option(*check, context);
  check->callback([&context, path] { context.code = check_store(context, *path); });
}

}  // namespace fairlead::app
