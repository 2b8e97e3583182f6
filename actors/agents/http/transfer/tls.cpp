#include "actors/agents/http/transfer/tls.hpp"

#include <openssl/ssl.h>
#include <unistd.h>

#include <string_view>

namespace fairlead::agents {

namespace {

constexpr long ca_cache_s = 300;  // replaced authorities take effect after this time at the latest

bool is_openssl() {
  const auto* library = curl_version_info(CURLVERSION_NOW)->ssl_version;
  return library != nullptr && std::string_view{library}.substr(0, 8) == "OpenSSL/";
}

int index_of_ends() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

void on_event(const SSL* which, int where, int alert) try {
  auto* const ends = static_cast<tls_ends*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(which), index_of_ends()));
  if (ends == nullptr) return;
  // A new connection may have the address of an ended one.
  if (where == SSL_CB_HANDSHAKE_START) ends->begun(which);
  if (where == SSL_CB_READ_ALERT && (alert & 0xff) == SSL_AD_CLOSE_NOTIFY) ends->end(which);
} catch (...) {  // out of memory: the answer then counts as cut
}

CURLcode on_new_context(CURL*, void* context, void* ends) {
  auto* const of = static_cast<SSL_CTX*>(context);
  if (SSL_CTX_set_ex_data(of, index_of_ends(), ends) != 1) return CURLE_OUT_OF_MEMORY;
  SSL_CTX_set_info_callback(of, &on_event);
  return CURLE_OK;
}

}  // namespace

bool set_tls(CURL* e, const http_tls& tls) {
  const long least = tls.least == http_tls::version::tls_1_3 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2;
  if (!set(e, CURLOPT_SSL_VERIFYPEER, 1L) || !set(e, CURLOPT_SSL_VERIFYHOST, 2L) || !set(e, CURLOPT_SSLVERSION, least)) return false;
  if (!tls.ca_file.empty() && !set(e, CURLOPT_CAINFO, tls.ca_file.c_str())) return false;
  // With a folder besides the file libcurl would read all authorities anew for each connection; and besides the agent's own file it would
  // trust others, too.
  const auto* system_file = curl_version_info(CURLVERSION_NOW)->cainfo;
  const bool has_file = !tls.ca_file.empty() || (system_file != nullptr && ::access(system_file, R_OK) == 0);
  if (has_file && !set(e, CURLOPT_CAPATH, static_cast<const char*>(nullptr))) return false;
  if (!set(e, CURLOPT_CA_CACHE_TIMEOUT, ca_cache_s)) return false;
  if (tls.client_certificate.empty()) return true;
  const auto& key = tls.client_key.empty() ? tls.client_certificate : tls.client_key;
  return set(e, CURLOPT_SSLCERT, tls.client_certificate.c_str()) && set(e, CURLOPT_SSLKEY, key.c_str());
}

bool tls_ends::watch(CURL* e) {
  return !is_openssl() || (set(e, CURLOPT_SSL_CTX_FUNCTION, &on_new_context) && set(e, CURLOPT_SSL_CTX_DATA, this));
}

tls_ends::connection tls_ends::of(CURL* e) {
  const curl_tlssessioninfo* found = nullptr;
  if (curl_easy_getinfo(e, CURLINFO_TLS_SSL_PTR, &found) != CURLE_OK || found == nullptr) return nullptr;
  return found->backend == CURLSSLBACKEND_OPENSSL ? found->internals : nullptr;
}

}  // namespace fairlead::agents
