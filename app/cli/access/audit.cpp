#include <memory>
#include <optional>

#include "app/cli/access/audit_text.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/pages.hpp"
#include "app/json/node/audit.hpp"
#include "app/json/times.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

struct audit_options {
  std::string node;
  std::string who;
  std::string token;
  std::string object;
  std::string verb;
  std::string path;
  std::string code;
  std::optional<std::string> since;
  std::optional<std::string> until;
  std::uint32_t limit = 100;
  std::string cursor;
};

result<v1::AuditListRequest> audit_request(const audit_options& options) {
  v1::AuditListRequest out;
  out.set_node(options.node);
  out.set_who(options.who);
  out.set_token(options.token);
  out.set_object(options.object);
  out.set_verb(options.verb);
  out.set_path(options.path);
  out.set_code(options.code);
  out.set_cursor(options.cursor);
  const auto now = now_unix_ms();
  std::int64_t since = 0, until = 0;
  if (const auto read = read_since("--since", options.since, now, since); !read) return read.failure();
  if (const auto read = read_since("--until", options.until, now, until); !read) return read.failure();
  out.set_since_unix_ms(since);
  out.set_until_unix_ms(until);
  return out;
}

result<v1::AuditListReply> fetch_audit(client& from, v1::AuditListRequest request, std::uint32_t limit) {
  return fetch_pages(
      std::move(request), limit, [&](const auto& one) { return from.audit(one); },
      [](const auto& page, auto& to) {
        to.set_cursor(page.cursor());
        return !page.cursor().empty();
      });
}

}  // namespace

void add_audit_command(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("audit", "List what was done over the API of the nodes, and what was refused, newest first");
  auto options = std::make_shared<audit_options>();
  command->add_option("NODE", options->node, "Only what this node has noted (default: all nodes)");
  command->add_option("--who", options->who, "Only entries of this token or user")->type_name("NAME");
  command->add_option("--token", options->token, "Only entries of the token with this id")->type_name("ID");
  command->add_option("--object", options->object, "Only what is about this task, job, workflow, agent, node or number of an alert")
      ->type_name("NAME");
  command->add_option("--verb", options->verb, "Only actions with this verb, such as skip")->type_name("VERB");
  command->add_option("--path", options->path, "Only entries of exactly this path, such as /v1/tasks/order-1/actions")->type_name("PATH");
  command->add_option("--code", options->code, "Only what was refused with this code, such as forbidden")->type_name("CODE");
  command->add_option("--since", options->since, "Only entries of that time or later: 3d (ago), or in UTC 2026-11-19 or 2026-11-19T08:00")
      ->type_name("TIME");
  command->add_option("--until", options->until, "Only entries before that time")->type_name("TIME");
  command->add_option("--limit", options->limit, "How many to list at most")
      ->type_name("N")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  command->add_option("--cursor", options->cursor, "Continue an earlier list, with the cursor that it printed")->type_name("CURSOR");
  add_client_options(*command, context);
  add_table_options(*command);
  command->callback([&context, options] {
    auto request = audit_request(*options);
    if (!request) {
      context.code = fail(request.failure());
      return;
    }
    run_request(
        context, [&](client& to) { return fetch_audit(to, *request, options->limit); }, audit_list_json, audit_text);
  });
}

}  // namespace fairlead::app
