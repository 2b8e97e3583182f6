#include "app/door/tls/tls_trust.hpp"

#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "app/door/tls/tls_shown.hpp"
#include "app/yaml/document.hpp"
#include "messages/time.hpp"

namespace fairlead::app::door {

namespace {

constexpr unsigned most_shown = 8;  // in a chain
constexpr unsigned most_names = 64;
constexpr std::size_t most_name_bytes = 4'096;

using x509_row = std::vector<gnutls_x509_crt_t>;

/// Frees what the trust list has not taken.
class imported {
 public:
  imported() = default;
  imported(const imported&) = delete;
  imported& operator=(const imported&) = delete;
  ~imported() {
    for (auto* const one : row) gnutls_x509_crt_deinit(one);
  }
  x509_row row;
};

bool is_authority(gnutls_x509_crt_t one) {
  unsigned critical = 0;
  return gnutls_x509_crt_get_ca_status(one, &critical) > 0;
}

std::int64_t end_of(gnutls_x509_crt_t one) { return std::int64_t{gnutls_x509_crt_get_expiration_time(one)} * 1'000; }

/// Null: the text is known already.
result<std::shared_ptr<const trusted_authorities>> load_authorities(const std::string& file, const trusted_authorities* known) {
  std::vector<app::problem> problems;
  const auto text = read_text_file(file, problems);
  if (!text) return invalid(app::to_text(problems.front()), "give the path of a PEM file that the node's user can read");
  if (known != nullptr && *text == known->text) return std::shared_ptr<const trusted_authorities>{};
  const gnutls_datum_t pem{reinterpret_cast<unsigned char*>(const_cast<char*>(text->data())), static_cast<unsigned>(text->size())};
  gnutls_x509_crt_t* found = nullptr;
  unsigned count = 0;
  if (gnutls_x509_crt_list_import2(&found, &count, &pem, GNUTLS_X509_FMT_PEM, 0) < 0 || count == 0)
    return invalid("the file " + file + " has no certificate in PEM, or a damaged one", "give the certificates of authorities: ca.pem");
  imported all;
  all.row.assign(found, found + count);
  gnutls_free(found);
  for (std::size_t i = 0; i < all.row.size(); ++i)
    if (!is_authority(all.row[i]))
      return invalid("certificate " + std::to_string(i + 1) + " in the file " + file + " is not that of an authority",
                     "give certificates of authorities only; fairlead certificate show says what a file has");
  auto out = std::make_shared<trusted_authorities>();
  out->text = *text;
  for (auto* const one : all.row)
    if (const auto ends = end_of(one); ends > 0 && (out->ends_unix_ms == 0 || ends < out->ends_unix_ms)) out->ends_unix_ms = ends;
  if (gnutls_x509_trust_list_add_cas(out->list, all.row.data(), count, 0) != static_cast<int>(count))
    return invalid("the certificates in the file " + file + " cannot be used", "give the certificates of authorities: ca.pem");
  all.row.clear();
  return std::shared_ptr<const trusted_authorities>{std::move(out)};
}

/// As a sentence. `status` is not 0.
std::string trouble_of(unsigned status, gnutls_x509_crt_t first, std::time_t now) {
  if ((status & GNUTLS_CERT_PURPOSE_MISMATCH) != 0) return "The certificate is not one for clients.";
  if ((status & (GNUTLS_CERT_SIGNER_NOT_FOUND | GNUTLS_CERT_SIGNATURE_FAILURE | GNUTLS_CERT_SIGNER_NOT_CA)) != 0)
    return "The client certificate is of an authority that this node does not trust.";
  if ((status & GNUTLS_CERT_EXPIRED) != 0)
    return gnutls_x509_crt_get_expiration_time(first) <= now ? "The client certificate has expired at " + format_utc(end_of(first)) + "."
                                                             : "The authority of the client certificate has expired.";
  if ((status & GNUTLS_CERT_NOT_ACTIVATED) != 0) return "The client certificate is not valid yet.";
  if ((status & GNUTLS_CERT_INSECURE_ALGORITHM) != 0) return "The client certificate is signed in a way that is not safe any more.";
  return "The client certificate is not valid.";
}

std::string lower(std::string text) {
  for (auto& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

/// A certificate with several common names has none: which of them is meant cannot be known.
std::string common_name_of(gnutls_x509_crt_t one) {
  const auto read = [one](unsigned index) {
    std::array<char, most_name_bytes> text{};
    auto size = text.size();
    const bool good = gnutls_x509_crt_get_dn_by_oid(one, GNUTLS_OID_X520_COMMON_NAME, index, 0, text.data(), &size) == 0;
    return good ? std::string{text.data(), size} : std::string{};
  };
  return read(1).empty() ? read(0) : std::string{};
}

std::vector<std::string> names_in(gnutls_x509_crt_t one) {
  std::vector<std::string> out;
  for (unsigned i = 0; i < most_names; ++i) {
    std::array<char, most_name_bytes> text{};
    auto size = text.size();
    const int kind = gnutls_x509_crt_get_subject_alt_name(one, i, text.data(), &size, nullptr);
    if (kind == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE) break;
    if (kind < 0) continue;  // too long, or of a kind that is not known
    std::string name{text.data(), size};
    if (kind == GNUTLS_SAN_DNSNAME) out.push_back("dns:" + lower(std::move(name)));
    // A URI must not pass for a name of another kind.
    else if (kind == GNUTLS_SAN_URI && !name.starts_with("dns:") && !name.starts_with("cn:"))
      out.push_back(std::move(name));
  }
  if (const auto name = common_name_of(one); !name.empty()) out.push_back("cn:" + name);
  return out;
}

}  // namespace

result<std::shared_ptr<client_trust>> client_trust::open(std::string file) {
  return open_as<client_trust>([file = std::move(file)](const trusted_authorities* known) { return load_authorities(file, known); });
}

std::int64_t client_trust::ends_unix_ms() const { return current()->ends_unix_ms; }

std::shared_ptr<const client_certificate> shown_certificate(gnutls_session_t session, const trusted_authorities& by) {
  unsigned count = 0;
  const auto* const shown = gnutls_certificate_get_peers(session, &count);
  if (shown == nullptr || count == 0) return nullptr;
  auto out = std::make_shared<client_certificate>();
  if (count > most_shown) {
    out->trouble = "The client certificate has more than 8 certificates with it.";
    return out;
  }
  imported chain;
  for (unsigned i = 0; i < count; ++i) {
    gnutls_x509_crt_init(&chain.row.emplace_back());
    if (gnutls_x509_crt_import(chain.row.back(), &shown[i], GNUTLS_X509_FMT_DER) == 0) continue;
    out->trouble = "The client certificate is damaged.";
    return out;
  }
  auto* const first = chain.row.front();
  std::string purpose{GNUTLS_KP_TLS_WWW_CLIENT};
  std::array<gnutls_typed_vdata_st, 1> wanted{};
  wanted[0].type = GNUTLS_DT_KEY_PURPOSE_OID;
  wanted[0].data = reinterpret_cast<unsigned char*>(purpose.data());
  wanted[0].size = 0;  // it ends with a zero
  unsigned status = 0;
  if (gnutls_x509_trust_list_verify_crt2(by.list, chain.row.data(), count, wanted.data(), wanted.size(), 0, &status, nullptr) != 0)
    out->trouble = "The client certificate cannot be checked.";
  else if (status != 0)
    out->trouble = trouble_of(status, first, std::time(nullptr));
  else
    out->names = names_in(first);
  out->ends_unix_ms = end_of(first);
  return out;
}

}  // namespace fairlead::app::door
