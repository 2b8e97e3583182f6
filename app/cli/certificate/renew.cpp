// `fairlead certificate renew`.

#include <memory>
#include <optional>

#include "app/certificates/files.hpp"
#include "app/cli/certificate/facts.hpp"

namespace fairlead::app {

namespace {

struct renew_command {
  std::string path;
  std::string authority;
  std::int64_t days = default_certificate_days;
  bool new_key = false;
};

status renew(cli_context& context, const renew_command& what, moment now) {
  const auto before = read_pem_file(what.path);
  if (!before) return before.failure();
  const auto by = read_authority(what.authority);
  if (!by) return by.failure();
  const auto key_path = key_path_of(what.path);
  std::optional<named_pem> key;
  if (!what.new_key) {
    auto read = read_pem_file(key_path);
    if (!read && read.failure().code == v1::ERROR_CODE_NOT_FOUND)
      return error{v1::ERROR_CODE_NOT_FOUND, "The certificate " + what.path + " has no key beside it: there is no file " + key_path,
                   "Put the key there, or make a new one with --new-key"};
    if (!read) return read.failure();
    key = std::move(*read);
  }
  const auto renewed = renew_certificate(*before, key ? &*key : nullptr, what.days, *by, now);
  if (!renewed) return renewed.failure();
  std::vector<file_to_write> files;
  if (what.new_key) files.push_back({key_path, renewed->key, true});
  files.push_back({what.path, renewed->certificate});
  if (auto written = write_together(std::move(files), existing_files::renew); !written) return written.failure();
  print_written(context, {what.path, renewed->certificate}, what.new_key ? key_path : "", now);
  return nothing{};
}

}  // namespace

void add_renew_certificate_command(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("renew", "Replace a certificate by one for the same names, uses and key that is valid from now on");
  auto what = std::make_shared<renew_command>();
  command->add_option("FILE", what->path, "The certificate; its key is in the file beside it that ends in -key.pem")->required();
  command->add_option("--ca", what->authority, "Folder with ca.pem and ca-key.pem")->required()->type_name("FOLDER");
  command->add_option("--days", what->days,
                      "How many days the certificate is valid, 1 to 36500 (default " + std::to_string(what->days) + ")");
  command->add_flag("--new-key", what->new_key, "Make a new key, too");
  add_json_option(*command, context);
  command->callback([&context, what] {
    if (const auto done = renew(context, *what, system_clock{}.now()); !done) context.code = fail(done.failure());
  });
}

}  // namespace fairlead::app
