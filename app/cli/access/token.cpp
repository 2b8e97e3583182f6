// `fairlead token`: who may use the API. The file of tokens is all it needs; a node reads it again by itself.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include "actors/core/workflow/check.hpp"
#include "actors/protocol/access.hpp"
#include "app/access/gate.hpp"
#include "app/access/token.hpp"
#include "app/access/tokens_file.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "app/json/writer.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

constexpr std::int64_t day_ms = 86'400'000;
constexpr std::int64_t longest_ms = 3'650 * day_ms;

const char* state_of(const token_entry& one) {
  if (one.revoked_unix_ms != 0) return "revoked";
  return one.expires_unix_ms != 0 && one.expires_unix_ms <= now_unix_ms() ? "expired" : "valid";
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ",") + word;
  return out;
}

void write_token(json_writer& out, const token_entry& one, const std::string& text) {
  out.begin_object().key("id").string(one.id).key("name").string(one.name).key("state").string(state_of(one));
  if (!text.empty()) out.key("token").string(text);
  out.key("roles").begin_array();
  for (const auto& word : one.roles) out.string(word);
  out.end_array().key("namespaces").begin_array();
  for (const auto& name : one.namespaces) out.string(name);
  out.end_array().key("agents").texts_or_null(one.agents);
  out.key("expires_at").moment(one.expires_unix_ms).key("created_at").moment(one.created_unix_ms);
  out.key("created_by").string(one.created_by).key("revoked_at").moment(one.revoked_unix_ms);
  out.key("revoked_by").text_or_null(one.revoked_by).key("comment").text_or_null(one.comment).end_object();
}

struct creation {
  std::string file, name, expires = "90d", comment, by;
  std::vector<std::string> roles, namespaces, agents;
};

/// Everything but what is random.
result<token_entry> entry_of(const creation& asked) {
  token_entry out;
  if (!is_principal_name(asked.name))
    return invalid("'" + printable(asked.name) + "' is no name of a token", "a name has 1 to 64 characters of A-Z a-z 0-9 . _ @ -");
  for (const auto& word : asked.roles)
    if (find_role(word) == nullptr) return invalid("there is no role '" + printable(word) + "'", "roles are " + role_words());
  for (const auto& name : asked.namespaces)
    if (!is_namespace_name(name))
      return invalid("'" + printable(name) + "' is no name of a namespace",
                     "a name has 1 to 64 characters of a-z 0-9 . _ -, a letter or a digit first");
  if (asked.namespaces.size() > most_token_namespaces) return invalid("--namespace is given more than 16 times", "give fewer");
  for (const auto& name : asked.agents)
    if (!core::valid_agent_name(name)) return invalid("'" + printable(name) + "' is no name of an agent", "give the name that steps use");
  if (asked.agents.size() > most_token_agents) return invalid("--agent is given more than 64 times", "give fewer");
  // The agents say of which workers alone; without the right to be one they would bind nothing.
  if (!asked.agents.empty() && !rights_of(asked.roles).has(right::work))
    return invalid("--agent names agents, and no --role lets the token be a worker of an agent", "add --role agent, or leave --agent out");
  if (asked.comment.size() > 256) return invalid("the comment has more than 256 bytes", "shorten it");
  std::int64_t lasts_ms = 0;
  if (asked.expires != "never" && (!parse_duration(asked.expires, lasts_ms) || lasts_ms <= 0 || lasts_ms > longest_ms))
    return invalid("--expires: '" + printable(asked.expires) + "' is no duration up to 3650d", "give one such as 30d, or never");
  out.name = asked.name;
  out.roles = asked.roles;
  if (!asked.namespaces.empty()) out.namespaces = asked.namespaces;
  if (!asked.agents.empty()) out.agents = asked.agents;
  out.created_unix_ms = now_unix_ms();
  out.created_by = operator_name(asked.by);
  out.expires_unix_ms = lasts_ms == 0 ? 0 : out.created_unix_ms + lasts_ms;
  out.comment = asked.comment;
  return out;
}

int create(cli_context& context, const creation& asked) {
  auto entry = entry_of(asked);
  if (!entry) return fail(entry.failure());
  const auto made = make_token();
  if (!made) return fail({v1::ERROR_CODE_INTERNAL, "the system gives no random bytes", "try again"});
  entry->id = made->id;
  entry->hash = token_hash(made->text);
  const auto changed = change_tokens(asked.file, [&](std::vector<token_entry>& tokens) -> status {
    tokens.push_back(*entry);
    return nothing{};
  });
  if (!changed.ok()) return fail(changed.failure());
  if (context.json) {
    json_writer out;
    write_token(out, *entry, made->text);
    print(context, out.text() + "\n");
  } else {
    print(context, made->text + "\n");
    std::fputs(("The token of " + entry->name + " is shown only now. It " +
                (entry->expires_unix_ms == 0 ? std::string{"never expires"} : "expires at " + time_text(entry->expires_unix_ms)) + ".\n")
                   .c_str(),
               stderr);
  }
  return exit_ok;
}

int list(cli_context& context, const std::string& file, bool quiet) {
  const auto tokens = read_tokens(file);
  if (!tokens) return fail(tokens.failure());
  if (context.json) {
    json_writer out;
    out.begin_object().key("tokens").begin_array();
    for (const auto& one : *tokens) write_token(out, one, {});
    print(context, out.end_array().end_object().text() + "\n");
  } else if (quiet) {
    print(context, only(*tokens, [](const token_entry& one) { return one.id; }));
  } else if (tokens->empty()) {
    print(context, "No tokens.\n");
  } else {
    text_table table{{{"ID"},
                      {"NAME"},
                      {"STATE"},
                      {"ROLES"},
                      {"NAMESPACES"},
                      {"AGENTS"},
                      {"EXPIRES"},
                      {"CREATED", align::left, narrow::drop},
                      {"BY", align::left, narrow::drop}}};
    for (const auto& one : *tokens)
      table.add({one.id, one.name, state_of(one), joined(one.roles), joined(one.namespaces), one.agents ? joined(*one.agents) : "all",
                 one.expires_unix_ms == 0 ? cell{"never"} : time_cell(one.expires_unix_ms), time_cell(one.created_unix_ms),
                 one.created_by.empty() ? "-" : printable(one.created_by)});
    print(context, table.text());
  }
  return exit_ok;
}

int revoke(cli_context& context, const std::string& file, const std::vector<std::string>& words, const std::string& by) {
  std::vector<token_entry> revoked;
  const auto changed = change_tokens(file, [&](std::vector<token_entry>& tokens) -> status {
    for (const auto& word : words) {
      const auto is_meant = [&](const token_entry& one) { return one.id == word || one.name == word; };
      if (std::none_of(tokens.begin(), tokens.end(), is_meant))
        return error{v1::ERROR_CODE_NOT_FOUND, "there is no token '" + printable(word) + "' in " + file,
                     "fairlead token list shows the tokens"};
      for (auto& one : tokens) {
        if (!is_meant(one) || one.revoked_unix_ms != 0) continue;
        one.revoked_unix_ms = now_unix_ms();
        one.revoked_by = operator_name(by);
        revoked.push_back(one);
      }
    }
    return nothing{};
  });
  if (!changed.ok()) return fail(changed.failure());
  if (context.json) {
    json_writer out;
    out.begin_object().key("revoked").begin_array();
    for (const auto& one : revoked) write_token(out, one, {});
    print(context, out.end_array().end_object().text() + "\n");
  } else {
    for (const auto& one : revoked)
      print(context, "The token " + one.id + " of " + one.name + " is revoked. Nodes refuse it within a second.\n");
    if (revoked.empty()) print(context, "It was revoked before.\n");
  }
  return exit_ok;
}

void add_file_option(CLI::App& command, std::string& to) {
  command.add_option("--file", to, "The file of tokens: access.tokens_file of the node file")->required();
}

}  // namespace

void add_token_commands(CLI::App& app, cli_context& context) {
  auto* group = app.add_subcommand("token", "Tokens of the API: who may use it, and what they may do");
  group->require_subcommand(1);

  auto* making = group->add_subcommand("create", "Make a token and show it, once; the file gets its hash");
  const auto asked = std::make_shared<creation>();
  making->add_option("NAME", asked->name, "Whose token it is; histories and logs show this name")->required();
  making->add_option("--role", asked->roles, "A role: " + role_words() + "; may be given several times")->required();
  making->add_option(
      "--namespace", asked->namespaces,
      "A namespace that the token may ask for (default " + std::string{default_namespace_word} + "); may be given several times");
  making->add_option("--agent", asked->agents,
                     "An agent whose worker the token may be with the role agent (default all); may be given several times");
  making->add_option("--expires", asked->expires, "How long the token is valid, such as 30d, or never (default 90d)");
  making->add_option("--comment", asked->comment, "Kept in the file");
  add_file_option(*making, asked->file);
  add_operator_option(*making, asked->by);
  add_json_option(*making, context);
  making->callback([&context, asked] { context.code = create(context, *asked); });

  auto* listing = group->add_subcommand("list", "List the tokens of a file, revoked and expired ones too");
  const auto file = std::make_shared<std::string>();
  add_file_option(*listing, *file);
  add_json_option(*listing, context);
  const auto quiet = add_quiet_option(*listing, "ids");
  listing->callback([&context, file, quiet] { context.code = list(context, *file, *quiet); });

  auto* revoking = group->add_subcommand("revoke", "Revoke tokens: nodes refuse them within a second");
  const auto words = std::make_shared<std::vector<std::string>>();
  const auto of = std::make_shared<std::string>(), by = std::make_shared<std::string>();
  revoking->add_option("TOKEN", *words, "Ids, or names: then all tokens of the name")->required();
  add_file_option(*revoking, *of);
  add_operator_option(*revoking, *by);
  add_json_option(*revoking, context);
  revoking->callback([&context, words, of, by] { context.code = revoke(context, *of, *words, *by); });
}

}  // namespace fairlead::app
