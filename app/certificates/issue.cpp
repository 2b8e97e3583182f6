#include "app/certificates/certificates.hpp"
#include "app/certificates/openssl.hpp"
#include "app/certificates/subject_names.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t longest_common_name = 64;

struct signer {
  certificate_ptr certificate;
  key_ptr key;
};

result<signer> open_signer(const authority& by, moment now) {
  auto certificates = certificates_in(by.certificate);
  if (!certificates) return certificates.failure();
  auto key = key_in(by.key);
  if (!key) return key.failure();
  if (auto belongs = check_key_belongs(by.certificate, by.key); !belongs) return belongs.failure();
  auto& first = certificates->front();
  if (!may_sign_certificates(*first))
    return invalid("The certificate in the file " + by.certificate.path + " is not that of an authority",
                   "Name the folder that 'fairlead certificate create-ca' has written");
  const auto begin = moment_of(*X509_get0_notBefore(first.get()));
  const auto end = moment_of(*X509_get0_notAfter(first.get()));
  if (now < begin)
    return error{v1::ERROR_CODE_WRONG_STATE,
                 "The authority in the file " + by.certificate.path + " is valid only from " + second_text(begin),
                 "Check the clock of this machine"};
  if (now >= end)
    return error{v1::ERROR_CODE_WRONG_STATE, "The authority in the file " + by.certificate.path + " expired at " + second_text(end),
                 "Make another authority with 'fairlead certificate create-ca', and give its ca.pem to everyone who checks certificates"};
  return signer{std::move(first), std::move(*key)};
}

status check_end(moment end, const signer& by, const authority& files, moment now) {
  const auto last = moment_of(*X509_get0_notAfter(by.certificate.get()));
  if (end <= last) return nothing{};
  const auto whole_days = std::chrono::floor<std::chrono::days>(last - now).count();
  return invalid("The certificate would be valid longer than its authority in the file " + files.certificate.path + ", which ends at " +
                     second_text(last),
                 whole_days >= 1 ? "Use --days " + std::to_string(whole_days) + " or fewer, or make another authority"
                                 : "Make another authority with 'fairlead certificate create-ca'");
}

bool add_common_name(X509& to, const std::string& text) {
  return X509_NAME_add_entry_by_NID(X509_get_subject_name(&to), NID_commonName, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()), -1, 0) == 1;
}

bool fill(X509& it, const certificate_order& order, const signer& by) {
  // A common name has no room for a long one. Without a subject the names are critical, by RFC 5280.
  const auto& first = order.names.front().text;
  const bool named = first.size() <= longest_common_name;
  const auto names = general_names_of(order.names);
  const char* const uses = order.uses.server && order.uses.client ? "serverAuth,clientAuth"
                           : order.uses.server                    ? "serverAuth"
                                                                  : "clientAuth";
  auto& issuer = *by.certificate;
  return names != nullptr && (!named || add_common_name(it, first)) && X509_set_issuer_name(&it, X509_get_subject_name(&issuer)) == 1 &&
         add_extension(it, issuer, NID_basic_constraints, "CA:FALSE") &&
         add_extension(it, issuer, NID_key_usage, "critical,digitalSignature") && add_extension(it, issuer, NID_ext_key_usage, uses) &&
         add_extension(it, issuer, NID_subject_key_identifier, "hash") &&
         add_extension(it, issuer, NID_authority_key_identifier, "keyid:always") &&
         X509_add1_ext_i2d(&it, NID_subject_alt_name, names.get(), named ? 0 : 1, X509V3_ADD_DEFAULT) == 1 && sign_certificate(it, *by.key);
}

status check_order(const certificate_order& order) {
  if (order.names.empty()) return invalid("A certificate needs a name", "Give a DNS name, an IP address or a URI");
  if (!order.uses.server && !order.uses.client) return invalid("A certificate needs a use", "Give --server, --client or both");
  return check_days(order.days);
}

/// The certificate in PEM form, with those of the authority behind it.
result<std::string> sign_order(const certificate_order& order, EVP_PKEY& key, const authority& files, moment now) {
  if (auto checked = check_order(order); !checked) return checked.failure();
  const auto by = open_signer(files, now);
  if (!by) return by.failure();
  const auto end = now + std::chrono::days{order.days};
  if (auto checked = check_end(end, *by, files, now); !checked) return checked.failure();
  const auto begun = begin_certificate(key, now - valid_before_now, end);
  if (!begun) return begun.failure();
  auto out = fill(**begun, order, *by) ? pem_of(**begun) : std::string{};
  if (out.empty()) return openssl_failed("The certificate cannot be signed");
  const auto all = certificates_in(files.certificate);
  if (!all) return all.failure();
  for (const auto& one : *all) out += pem_of(*one);
  // An authority that was made elsewhere may have limits that nobody but the check knows.
  const auto fault = chain_fault({"", out}, files.certificate, now);
  if (!fault) return fault.failure();
  if (!fault->empty())
    return invalid("The authority in the file " + files.certificate.path + " may not issue this certificate: " + *fault,
                   "Use other names, or another authority");
  return out;
}

}  // namespace

result<certificate_and_key> issue_certificate(const certificate_order& order, const authority& by, moment now) {
  const auto key = make_key();
  if (!key) return key.failure();
  auto certificate = sign_order(order, **key, by, now);
  if (!certificate) return certificate.failure();
  certificate_and_key out{std::move(*certificate), pem_of(**key)};
  if (out.key.empty()) return openssl_failed("The private key cannot be written");
  return out;
}

result<certificate_and_key> renew_certificate(const named_pem& before, const named_pem* key, std::int64_t days, const authority& by,
                                              moment now) {
  const auto old = certificates_in(before);
  if (!old) return old.failure();
  auto& first = *old->front();
  if (X509_check_ca(&first) != 0)
    return invalid("The certificate in the file " + before.path + " is that of an authority, which cannot be renewed",
                   "Make another authority with 'fairlead certificate create-ca'");
  auto names = names_of(first, before.path);
  if (!names) return names.failure();
  if (key != nullptr)
    if (auto belongs = check_key_belongs(before, *key); !belongs) return belongs.failure();
  auto its_key = key != nullptr ? key_in(*key) : make_key();
  if (!its_key) return its_key.failure();
  const auto uses = X509_get_extended_key_usage(&first);  // all of them if it says nothing of them
  const certificate_order order{std::move(*names), {(uses & XKU_SSL_SERVER) != 0, (uses & XKU_SSL_CLIENT) != 0}, days};
  if (!order.uses.server && !order.uses.client)
    return invalid("The certificate in the file " + before.path + " is neither for a server nor for a client",
                   "Make another one with 'fairlead certificate issue'");
  auto certificate = sign_order(order, **its_key, by, now);
  if (!certificate) return certificate.failure();
  certificate_and_key out{std::move(*certificate), key != nullptr ? std::string{} : pem_of(**its_key)};
  if (key == nullptr && out.key.empty()) return openssl_failed("The private key cannot be written");
  return out;
}

}  // namespace fairlead::app
