// `fairlead workflow diff`: what differs between two versions of a workflow.

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "app/cli/problems.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/versions/versions.hpp"
#include "app/files/workflow_file.hpp"
#include "app/json/writer.hpp"
#include "store/content_hash.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t fewest_digits = 8;
constexpr std::size_t shown_digits = 12;

struct diff_options {
  std::vector<std::string> what;  // NAME, or FILE, or two files
  std::string from;
  std::string to;
};

/// A name of a workflow has neither a slash nor a dot.
bool names_file(const std::string& word) {
  std::error_code failed;
  return word.find_first_of("/.") != std::string::npos || std::filesystem::is_regular_file(word, failed);
}

compared_version version_of(const v1::WorkflowShowReply& reply, bool current) {
  const auto& workflow = reply.workflow();
  auto hash = store::to_hex(workflow.content_hash());
  auto label = workflow.definition().name() + " " + hash.substr(0, shown_digits) + (current ? " (current)" : "");
  return {std::move(label), std::move(hash), workflow.definition()};
}

/// nullopt: the file has problems, which are told.
std::optional<compared_version> version_in(const std::string& path, cli_context& context) {
  auto file = read_workflow(path, nullptr);
  if (!file.problems.empty()) {
    context.code = fail_with(file.problems);
    return std::nullopt;
  }
  auto hash = store::to_hex(store::definition_hash(file.definition));
  return compared_version{path, std::move(hash), std::move(file.definition)};
}

std::string value_text(const std::optional<std::string>& value) { return value ? printable(*value) : "(none)"; }

void show(cli_context& context, const compared_version& from, const compared_version& to) {
  const auto all = core::compare(from.definition, to.definition);
  print(context, context.json ? differences_json(from, to, all) + "\n" : differences_text(from, to, all));
  if (context.code == exit_ok && !all.empty()) context.code = exit_failed;
}

void compare_files(cli_context& context, const diff_options& options) {
  const auto from = version_in(options.what[0], context);
  if (!from) return;
  if (const auto to = version_in(options.what[1], context)) show(context, *from, *to);
}

void compare_with_node(cli_context& context, const diff_options& options) {
  const auto is_file = names_file(options.what.front());
  std::optional<compared_version> file;
  if (is_file) {
    file = version_in(options.what.front(), context);
    if (!file) return;
  }
  auto connected = connect(context);
  if (!connected) return static_cast<void>(context.code = fail(connected.failure()));
  const auto name = file ? file->definition.name() : options.what.front();
  const auto from = ask_for_version(*connected, name, options.from);
  if (!from) return static_cast<void>(context.code = fail(from.failure()));
  const auto before = version_of(*from, options.from.empty());
  if (file) return show(context, before, *file);
  const auto to = ask_for_version(*connected, name, options.to);
  if (!to) return static_cast<void>(context.code = fail(to.failure()));
  show(context, before, version_of(*to, options.to.empty()));
}

void run_diff(cli_context& context, const diff_options& options) {
  const auto refuse = [&](const error& why) { context.code = fail(why); };
  const auto two = options.what.size() == 2;
  if (two && (!options.from.empty() || !options.to.empty()))
    return refuse(invalid("--from and --to are of versions that are deployed, and two files are given", "Leave them out"));
  if (two) return compare_files(context, options);
  if (names_file(options.what.front()) && !options.to.empty())
    return refuse(invalid("--to is of a version that is deployed, and a file is given", "Leave it out: the file is compared with --from"));
  if (!names_file(options.what.front()) && options.from.empty() && options.to.empty())
    return refuse(invalid("Both versions are the current one of workflow " + printable(options.what.front()),
                          "Give --from HASH; fairlead workflow list shows the versions that tasks go by"));
  compare_with_node(context, options);
}

}  // namespace

result<v1::WorkflowShowReply> ask_for_version(client& from, const std::string& workflow, const std::string& version) {
  v1::WorkflowShowRequest request;
  request.set_name(workflow);
  if (version.empty()) return from.workflow(request);
  // An odd last digit is looked at below.
  auto hash = store::from_hex(version.substr(0, version.size() - version.size() % 2));
  if (!hash || version.size() < fewest_digits || version.size() > 2 * store::content_hash_bytes)
    return invalid("'" + printable(version) + "' names no version of a workflow",
                   "Give at least 8 digits of its content, 0 to 9 and a to f; fairlead workflow list shows them");
  request.set_content_hash(std::move(*hash));
  auto shown = from.workflow(request);
  if (shown && !store::to_hex(shown->workflow().content_hash()).starts_with(version))
    return error{v1::ERROR_CODE_NOT_FOUND, "There is no version " + printable(version) + " of workflow " + printable(workflow),
                 "fairlead workflow list shows the versions that tasks go by"};
  return shown;
}

std::string differences_text(const compared_version& from, const compared_version& to, const std::vector<core::difference>& all) {
  std::string out = "from  " + printable(from.label) + "\nto    " + printable(to.label) + "\n\n";
  if (all.empty()) return out + "The two are the same.\n";
  text_table table{{{"STEP"}, {"KEY"}, {"FROM", align::left, narrow::below}, {"TO", align::left, narrow::below}}};
  for (const auto& one : all) {
    const auto whole = one.what == core::difference::kind::added     ? "(added)"
                       : one.what == core::difference::kind::removed ? "(removed)"
                                                                     : "";
    table.add({one.step.empty() ? "(workflow)" : printable(one.step), one.key.empty() ? whole : printable(one.key), value_text(one.before),
               value_text(one.after)});
  }
  return out + table.text();
}

std::string differences_json(const compared_version& from, const compared_version& to, const std::vector<core::difference>& all) {
  json_writer out;
  const auto side = [&out](const char* key, const compared_version& one) {
    out.key(key).begin_object().key("name").string(one.definition.name()).key("content_hash").string(one.hash).end_object();
  };
  const auto value = [&out](const char* key, const std::optional<std::string>& text) {
    out.key(key);
    text ? out.string(*text) : out.null();
  };
  out.begin_object().key("same").boolean(all.empty());
  side("from", from);
  side("to", to);
  out.key("differences").begin_array();
  for (const auto& one : all) {
    using kind = core::difference::kind;
    out.begin_object().key("step").text_or_null(one.step).key("change");
    out.string(one.what == kind::added ? "added" : one.what == kind::removed ? "removed" : "changed").key("key").text_or_null(one.key);
    value("from", one.before);
    value("to", one.after);
    out.end_object();
  }
  return out.end_array().end_object().text();
}

void add_workflow_diff(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand(
      "diff",
      "Show what differs between two versions of a workflow, by step and key. The exit code is 0 if nothing differs, 1 if something does");
  auto options = std::make_shared<diff_options>();
  command
      ->add_option("WHAT", options->what,
                   "Name of a workflow, with --from or --to; a file, which is compared with the current version; or two files")
      ->required()
      ->expected(1, 2);
  command->add_option("--from", options->from, "The version whose content begins so (default: the current one)")->type_name("HASH");
  command->add_option("--to", options->to, "The version whose content begins so (default: the current one)")->type_name("HASH");
  add_client_options(*command, context);
  command->callback([&context, options] { run_diff(context, *options); });
}

}  // namespace fairlead::app
