#include "app/access/named_files.hpp"

#include <unistd.h>

#include <string>
#include <utility>

#include "app/access/tokens_file.hpp"
#include "app/door/tls/tls.hpp"
#include "app/door/tls/tls_trust.hpp"

namespace fairlead::app {

std::vector<problem> check_access_files(const node_config& config) {
  std::vector<problem> out;
  if (!config.api) return out;
  const auto& api = *config.api;
  const auto complain = [&](const config_place& at, const char* where, const error& why) {
    out.push_back({config.file, at.line, at.column, where, why.sentence, why.remedy});
  };
  if (!api.certificate.empty())
    if (const auto opened = door::tls_certificate::open(api.certificate, api.key); !opened)
      complain(api.certificate_at, "api.tls.certificate", opened.failure());
  if (!api.client_ca.empty())
    if (const auto opened = door::client_trust::open(api.client_ca); !opened)
      complain(api.client_ca_at, "api.tls.client_ca", opened.failure());
  const auto& tokens = config.access.tokens_file;
  if (tokens.empty()) return out;
  if (auto read = read_tokens(tokens); !read) {
    auto why = read.failure();
    if (::access(tokens.c_str(), F_OK) != 0) why.remedy = "make a token: fairlead token create NAME --role ROLE --file " + tokens;
    complain(config.access.tokens_file_at, "access.tokens_file", why);
  }
  return out;
}

status sound_access_files(const node_config& config) {
  auto problems = check_access_files(config);
  if (problems.empty()) return nothing{};
  auto& first = problems.front();
  auto remedy = std::exchange(first.remedy, {});
  if (problems.size() > 1)
    remedy += "; 'fairlead config check " + config.file + "' names all " + std::to_string(problems.size()) + " problems";
  return invalid(to_text(first), remedy);
}

}  // namespace fairlead::app
