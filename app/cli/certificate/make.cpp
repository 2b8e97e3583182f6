// `fairlead certificate create-ca` and `fairlead certificate issue`.

#include <algorithm>
#include <filesystem>
#include <memory>

#include "app/certificates/files.hpp"
#include "app/cli/certificate/facts.hpp"

namespace fairlead::app {

namespace {

struct output_options {
  std::string folder;  // empty: the working folder
  bool force = false;

  existing_files existing() const { return force ? existing_files::replace : existing_files::refuse; }
};

struct authority_command {
  std::string name = "Fairlead certificate authority";
  std::int64_t days = default_authority_days;
  output_options to;
};

struct issue_command {
  std::vector<std::string> names;
  std::string authority;
  bool server = false;
  bool client = false;
  std::int64_t days = default_certificate_days;
  output_options to;
};

void write_and_print(cli_context& context, const named_pem& certificate, const named_pem& key, existing_files existing, moment now) {
  // The key first: a certificate without its key is of no use.
  if (auto written = write_together({{key.path, key.text, true}, {certificate.path, certificate.text}}, existing); !written)
    context.code = fail(written.failure());
  else
    print_written(context, certificate, key.path, now);
}

void create_authority(cli_context& context, const authority_command& what, moment now) {
  const auto made = make_authority(what.name, what.days, now);
  if (!made) {
    context.code = fail(made.failure());
    return;
  }
  write_and_print(context, {authority_certificate_path(what.to.folder), made->certificate}, {authority_key_path(what.to.folder), made->key},
                  what.to.existing(), now);
}

bool is_file_of(const authority& by, const std::string& path) {
  std::error_code unknown;
  return std::filesystem::equivalent(path, by.certificate.path, unknown) || std::filesystem::equivalent(path, by.key.path, unknown);
}

result<certificate_order> order_of(const issue_command& what) {
  certificate_order out;
  for (const auto& text : what.names) {
    auto name = read_certificate_name(text);
    if (!name) return name.failure();
    if (std::find(out.names.begin(), out.names.end(), *name) == out.names.end()) out.names.push_back(std::move(*name));
  }
  if (what.server || what.client) out.uses = {what.server, what.client};
  out.days = what.days;
  return out;
}

void issue(cli_context& context, const issue_command& what, moment now) {
  const auto order = order_of(what);
  const auto by = order ? read_authority(what.authority) : result<authority>{order.failure()};
  const auto made = by ? issue_certificate(*order, *by, now) : result<certificate_and_key>{by.failure()};
  if (!made) {
    context.code = fail(made.failure());
    return;
  }
  const auto path = (std::filesystem::path(what.to.folder) / (file_name_of(order->names.front()) + ".pem")).string();
  const auto key_path = key_path_of(path);
  for (const auto& one : {path, key_path}) {
    if (!is_file_of(*by, one)) continue;
    context.code = fail(invalid("The file " + one + " belongs to the authority", "Write the certificate into another folder with --out"));
    return;
  }
  write_and_print(context, {path, made->certificate}, {key_path, made->key}, what.to.existing(), now);
}

void add_output_options(CLI::App& command, cli_context& context, output_options& to) {
  command.add_option("--out", to.folder, "Folder of the new files (default: this folder); it is created if it is missing")
      ->type_name("FOLDER");
  command.add_flag("--force", to.force, "Replace files that are there already");
  add_json_option(command, context);
}

void add_days_option(CLI::App& command, std::int64_t& days) {
  command.add_option("--days", days, "How many days the certificate is valid, 1 to 36500 (default " + std::to_string(days) + ")");
}

}  // namespace

void add_make_certificate_commands(CLI::App& group, cli_context& context) {
  auto* create =
      group.add_subcommand("create-ca", "Make a certificate authority: ca.pem for everybody, and ca-key.pem, which must stay secret");
  auto making = std::make_shared<authority_command>();
  create->add_option("--name", making->name, "Name of the authority (default '" + making->name + "')")->type_name("NAME");
  add_days_option(*create, making->days);
  add_output_options(*create, context, making->to);
  create->callback([&context, making] { create_authority(context, *making, system_clock{}.now()); });

  auto* issuing = group.add_subcommand("issue", "Make a certificate and its key, signed by the authority in a folder");
  auto what = std::make_shared<issue_command>();
  issuing->add_option("NAME", what->names, "DNS names, IP addresses and URIs under which it is valid; the first one names the files")
      ->required();
  issuing->add_option("--ca", what->authority, "Folder with ca.pem and ca-key.pem")->required()->type_name("FOLDER");
  issuing->add_flag("--server", what->server, "For servers; without --server and --client it is for both");
  issuing->add_flag("--client", what->client, "For clients");
  add_days_option(*issuing, what->days);
  add_output_options(*issuing, context, what->to);
  issuing->callback([&context, what] { issue(context, *what, system_clock{}.now()); });
}

}  // namespace fairlead::app
