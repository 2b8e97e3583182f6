#include <algorithm>

#include "app/certificates/certificates.hpp"
#include "app/certificates/openssl.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t longest_authority_name = 64;  // of a common name, by X.509

status check_authority_name(const std::string& name) {
  const auto blank = [](char c) { return c == ' '; };
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::all_of(name.begin(), name.end(), blank)) return invalid("The name of the authority is empty", "Give --name a text");
  if (std::any_of(name.begin(), name.end(), control))
    return invalid("The name of the authority has control characters", "Give --name one line of printable text");
  if (name.size() > longest_authority_name)
    return invalid("The name of the authority has " + std::to_string(name.size()) + " bytes",
                   "Give --name a text of at most " + std::to_string(longest_authority_name) + " bytes");
  return nothing{};
}

}  // namespace

result<certificate_and_key> make_authority(const std::string& name, std::int64_t days, moment now) {
  for (const auto& checked : {check_authority_name(name), check_days(days)})
    if (!checked) return checked.failure();
  const auto key = make_key();
  if (!key) return key.failure();
  const auto begun = begin_certificate(**key, now - valid_before_now, now + std::chrono::days{days});
  if (!begun) return begun.failure();
  auto& it = **begun;
  auto* const subject = X509_get_subject_name(&it);
  const bool done = X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(name.data()),
                                               static_cast<int>(name.size()), -1, 0) == 1 &&
                    X509_set_issuer_name(&it, subject) == 1 && add_extension(it, it, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                    add_extension(it, it, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                    add_extension(it, it, NID_subject_key_identifier, "hash") && sign_certificate(it, **key);
  certificate_and_key out{done ? pem_of(it) : std::string{}, done ? pem_of(**key) : std::string{}};
  if (out.certificate.empty() || out.key.empty()) return openssl_failed("The certificate of the authority cannot be made");
  return out;
}

}  // namespace fairlead::app
