// `fairlead certificate show`.

#include <algorithm>
#include <memory>

#include "app/certificates/files.hpp"
#include "app/cli/certificate/facts.hpp"

namespace fairlead::app {

namespace {

/// The first certificate that is not valid now, if any.
status check_valid(const std::vector<certificate_facts>& all, const std::string& path, moment now) {
  const auto bad =
      std::find_if(all.begin(), all.end(), [now](const certificate_facts& it) { return now < it.not_before || now >= it.not_after; });
  if (bad == all.end()) return nothing{};
  const auto which = all.size() == 1 ? std::string{"The certificate"} : "Certificate " + std::to_string(bad - all.begin() + 1);
  const auto in = which + " in the file " + path;
  if (now < bad->not_before)
    return error{v1::ERROR_CODE_WRONG_STATE, in + " is valid only from " + second_text(bad->not_before), "Check the clock of this machine"};
  return error{v1::ERROR_CODE_WRONG_STATE, in + " expired at " + second_text(bad->not_after),
               bad->is_authority ? "Get the certificate of its successor. 'fairlead certificate create-ca' makes an authority of your own"
                                 : "Renew it with 'fairlead certificate renew', or ask the authority that issued it"};
}

status show(cli_context& context, const std::string& path, moment now) {
  const auto file = read_pem_file(path);
  if (!file) return file.failure();
  const auto all = read_certificates(*file);
  if (!all) return all.failure();
  if (context.json) {
    json_writer out;
    out.begin_object().key("file").string(path).key("certificates").begin_array();
    for (const auto& one : *all) write_facts(out, one, now);
    print(context, out.end_array().end_object().text() + "\n");
  } else {
    std::string out;
    for (const auto& one : *all) out += (out.empty() ? "" : "\n") + facts_text(one, now);
    print(context, out);
  }
  return check_valid(*all, path, now);
}

}  // namespace

void add_show_certificate_command(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("show", "Show all certificates of a file: names, issuer, validity, uses and fingerprint");
  auto path = std::make_shared<std::string>();
  command->add_option("FILE", *path, "The file, in PEM form")->required();
  add_json_option(*command, context);
  command->callback([&context, path] {
    if (const auto done = show(context, *path, system_clock{}.now()); !done) context.code = fail(done.failure());
  });
}

}  // namespace fairlead::app
