#include "actors/agents/http_transfer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "actors/agents/attempt_results.hpp"

namespace fairlead::agents {

namespace {

using steady = std::chrono::steady_clock;

// libcurl sends a request a second time when a kept-alive connection turns out to be closed before any byte of a response. Once is
// allowed (same headers, same Idempotency-Key); a service that does it again is reported instead.
constexpr std::uint32_t max_sends = 2;
constexpr std::size_t max_header_bytes = 65'536;
constexpr std::size_t most_length_digits = 18;
constexpr long idle_connection_s = 30;
constexpr long ca_cache_s = 300;  // authorities that were exchanged are seen after this at the latest
constexpr long read_buffer_bytes = 8'192;
constexpr long write_buffer_bytes = 16'384;

template <class T>
bool set(CURL* easy, CURLoption option, T value) {
  return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool is_tls(CURLcode code) {
  switch (code) {
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH: return true;
    default: return false;
  }
}

// What answers may come compressed with: what is widespread, as far as this libcurl has it.
const char* encodings() {
  static const std::string all = [] {
    const auto features = curl_version_info(CURLVERSION_NOW)->features;
    std::string out;
    if ((features & CURL_VERSION_LIBZ) != 0) out = "gzip";
    if ((features & CURL_VERSION_BROTLI) != 0) out += out.empty() ? "br" : ", br";
    return out;
  }();
  return all.c_str();
}

bool set_tls(CURL* e, const http_tls& tls) {
  const long least = tls.least == http_tls::version::tls_1_3 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2;
  if (!set(e, CURLOPT_SSL_VERIFYPEER, 1L) || !set(e, CURLOPT_SSL_VERIFYHOST, 2L) || !set(e, CURLOPT_SSLVERSION, least)) return false;
  if (!tls.ca_file.empty() && !set(e, CURLOPT_CAINFO, tls.ca_file.c_str())) return false;
  // With a folder besides the file libcurl would read all authorities anew for each connection, and with a file of our own trust others too.
  const auto* system_file = curl_version_info(CURLVERSION_NOW)->cainfo;
  const bool has_file = !tls.ca_file.empty() || (system_file != nullptr && ::access(system_file, R_OK) == 0);
  if (has_file && !set(e, CURLOPT_CAPATH, static_cast<const char*>(nullptr))) return false;
  if (!set(e, CURLOPT_CA_CACHE_TIMEOUT, ca_cache_s)) return false;
  if (tls.client_certificate.empty()) return true;
  const auto& key = tls.client_key.empty() ? tls.client_certificate : tls.client_key;
  return set(e, CURLOPT_SSLCERT, tls.client_certificate.c_str()) && set(e, CURLOPT_SSLKEY, key.c_str());
}

}  // namespace

curl_easy_handle http_transfer::new_handle(const http_limits& limits) {
  curl_easy_handle out{curl_easy_init()};
  CURL* e = out.get();
  const bool good =
      e != nullptr && set(e, CURLOPT_PATH_AS_IS, 1L) && set(e, CURLOPT_PROTOCOLS_STR, "http,https") && set(e, CURLOPT_FOLLOWLOCATION, 0L) &&
      // Set even when empty: unset, the environment would say.
      set(e, CURLOPT_PROXY, limits.proxy.c_str()) && set(e, CURLOPT_NOPROXY, limits.no_proxy.c_str()) &&
      set(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) && set(e, CURLOPT_NOSIGNAL, 1L) &&
      set(e, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1)) && set(e, CURLOPT_MAXAGE_CONN, idle_connection_s) &&
      // Cancelling during a name look-up would otherwise wait for the system's resolver.
      set(e, CURLOPT_QUICK_EXIT, 1L) && set(e, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect_timeout_ms)) &&
      // Ten thousand transfers have a buffer each.
      set(e, CURLOPT_BUFFERSIZE, read_buffer_bytes) && set(e, CURLOPT_UPLOAD_BUFFERSIZE, write_buffer_bytes) &&
      set(e, CURLOPT_HEADERFUNCTION, &http_transfer::on_header) && set(e, CURLOPT_WRITEFUNCTION, &http_transfer::on_body) &&
      set(e, CURLOPT_PREREQFUNCTION, &http_transfer::on_sending) && set(e, CURLOPT_SOCKOPTFUNCTION, &http_transfer::on_new_socket) &&
      (!limits.compression || set(e, CURLOPT_ACCEPT_ENCODING, encodings())) && set_tls(e, limits.tls);
  if (!good) out.reset();
  return out;
}

http_transfer::http_transfer(std::uint64_t ticket, std::unique_ptr<http_job> job, curl_easy_handle easy, std::uint64_t max_response_bytes,
                             http_common& common)
    : ticket_(ticket), job_(std::move(job)), easy_(std::move(easy)), max_response_bytes_(max_response_bytes), common_(common) {
  ++common_.resolving;
  ready_ = easy_ != nullptr && set_up() && set_body() && set_headers();
}

bool http_transfer::set_up() {
  CURL* e = easy_.get();
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(job_->deadline - steady::now()).count();
  return set(e, CURLOPT_PRIVATE, this) && set(e, CURLOPT_ERRORBUFFER, error_text_.data()) &&
         set(e, CURLOPT_URL, job_->request.url.c_str()) && set(e, CURLOPT_TIMEOUT_MS, static_cast<long>(std::max<std::int64_t>(1, left))) &&
         set(e, CURLOPT_HEADERDATA, this) && set(e, CURLOPT_WRITEDATA, this) && set(e, CURLOPT_PREREQDATA, this) &&
         set(e, CURLOPT_SOCKOPTDATA, this);
}

bool http_transfer::set_body() {
  CURL* e = easy_.get();
  const auto& request = job_->request;
  // First of all, because it undoes what an earlier transfer of this handle has set.
  if (!set(e, CURLOPT_HTTPGET, 1L)) return false;
  if (request.method == "HEAD") return set(e, CURLOPT_CUSTOMREQUEST, static_cast<const char*>(nullptr)) && set(e, CURLOPT_NOBODY, 1L);
  if (request.body || request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    // The bytes are not copied: the job keeps them for as long as the transfer lives, so that they can be sent again.
    static constexpr char no_bytes[] = "";
    const auto* bytes = request.body ? request.body->data() : no_bytes;
    const auto size = static_cast<curl_off_t>(request.body ? request.body->size() : 0);
    if (!set(e, CURLOPT_POST, 1L) || !set(e, CURLOPT_POSTFIELDSIZE_LARGE, size) || !set(e, CURLOPT_POSTFIELDS, bytes)) return false;
  }
  return set(e, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

bool http_transfer::set_headers() {
  const auto add = [&](const std::string& line) {
    auto* longer = curl_slist_append(header_list_.get(), line.c_str());
    if (longer == nullptr) return false;
    static_cast<void>(header_list_.release());
    header_list_.reset(longer);
    return true;
  };
  bool typed = false;
  for (const auto& [name, value] : job_->request.headers) {
    typed = typed || lower_case(name) == "content-type";
    // A header without a value is spelled with a semicolon in libcurl; with a colon it would be left out.
    if (!add(trimmed(value).empty() ? name + ";" : name + ": " + value)) return false;
  }
  // Keep libcurl from adding headers of its own: it would wait a second for a "100 Continue" and call a body a form.
  if (!add("Expect:") || (!typed && !add("Content-Type:"))) return false;
  return set(easy_.get(), CURLOPT_HTTPHEADER, header_list_.get());
}

void http_transfer::resolved() {
  if (std::exchange(resolving_, false)) --common_.resolving;
}

// A service that sent more than it promised left the rest on the connection, where it would be taken for the next answer; one that has closed
// it would leave open whether it read the request.
bool http_transfer::connection_is_stale(const http_ends& ends) {
  long fresh = 0;
  if (curl_easy_getinfo(easy_.get(), CURLINFO_NUM_CONNECTS, &fresh) != CURLE_OK || fresh == 0) return !common_.sockets.at_rest(ends);
  common_.sockets.connected(opened_, ends);
  return false;
}

int http_transfer::on_new_socket(void* self, curl_socket_t socket, curlsocktype) try {
  auto& t = *static_cast<http_transfer*>(self);
  t.resolved();
  t.opened_.push_back(socket);
  return CURL_SOCKOPT_OK;
} catch (...) {
  return CURL_SOCKOPT_ERROR;  // out of memory; an exception must not pass through C
}

int http_transfer::on_sending(void* self, char* remote_address, char*, int remote_port, int local_port) try {
  auto& t = *static_cast<http_transfer*>(self);
  t.resolved();
  if (steady::now() >= t.job_->deadline || t.answer_.sends >= max_sends) return CURL_PREREQFUNC_ABORT;
  if (t.connection_is_stale({remote_address, remote_port, local_port})) {
    t.stale_ = t.answer_.sends == 0;
    return CURL_PREREQFUNC_ABORT;
  }
  ++t.answer_.sends;
  return CURL_PREREQFUNC_OK;
} catch (...) {
  return CURL_PREREQFUNC_ABORT;
}

std::size_t http_transfer::on_header(char* data, std::size_t size, std::size_t count, void* self) try {
  auto& t = *static_cast<http_transfer*>(self);
  const std::string_view raw{data, size * count};
  t.header_bytes_ += raw.size();
  if (t.header_bytes_ > max_header_bytes) {
    t.answer_.cut = http_answer::damage::too_large;
    return 0;
  }
  const auto line = trimmed(raw);
  if (raw.substr(0, 5) == "HTTP/") {
    t.answer_.headers.clear();  // an interim response went before
    const auto status = line.find(' ');
    const auto reason = status == std::string_view::npos ? status : line.find(' ', status + 1);
    t.answer_.reason = reason == std::string_view::npos ? "" : std::string{trimmed(line.substr(reason))};
  } else if (line.empty()) {
    long code = 0;
    curl_easy_getinfo(t.easy_.get(), CURLINFO_RESPONSE_CODE, &code);
    t.answer_.status = static_cast<int>(code);
    t.headers_complete_ = code >= 200;
  } else if (const auto colon = line.find(':'); colon != std::string_view::npos && !t.headers_complete_) {
    const auto& [name, value] = t.answer_.headers.emplace_back(lower_case(trimmed(line.substr(0, colon))), trimmed(line.substr(colon + 1)));
    // libcurl takes a length beyond its range for none at all.
    if (name == "content-length" && value.size() > most_length_digits) {
      t.answer_.cut = http_answer::damage::too_large;
      return 0;
    }
  }
  return raw.size();
} catch (...) {
  return 0;  // out of memory; an exception must not pass through C
}

std::size_t http_transfer::on_body(char* data, std::size_t size, std::size_t count, void* self) try {
  auto& t = *static_cast<http_transfer*>(self);
  const auto bytes = size * count;
  if (t.answer_.body.size() + bytes > t.max_response_bytes_) {
    t.answer_.cut = http_answer::damage::too_large;
    return 0;
  }
  t.answer_.body.append(data, bytes);
  return bytes;
} catch (...) {
  return 0;
}

bool http_transfer::past_deadline() const {
  // libcurl counts whole milliseconds from a start of its own.
  return steady::now() >= job_->deadline - std::chrono::milliseconds{2};
}

bool http_transfer::expired(CURLcode code) const {
  return (code == CURLE_OPERATION_TIMEDOUT || code == CURLE_ABORTED_BY_CALLBACK) && past_deadline();
}

std::string http_transfer::describe(CURLcode code) const {
  return printable(error_text_[0] != '\0' ? error_text_.data() : curl_easy_strerror(code), 200);
}

http_answer http_transfer::answer(CURLcode code) {
  auto out = std::move(answer_);
  if (code == CURLE_OK && headers_complete_) {
    out.how = http_answer::ending::answered;
  } else if (headers_complete_ && code == CURLE_OPERATION_TIMEDOUT) {
    out.code = "timeout";
    out.message = "the time ended within the response";
  } else if (headers_complete_) {
    out.how = http_answer::ending::answered;
    if (out.cut == http_answer::damage::none) {
      out.cut = http_answer::damage::truncated;
      out.message = describe(code);
    }
  } else if (out.sends == 0) {
    return unsent(code, std::move(out));
  } else {
    return unanswered(code, std::move(out));
  }
  return out;
}

http_answer http_transfer::unsent(CURLcode code, http_answer out) const {
  out.how = http_answer::ending::not_sent;
  out.message = describe(code);
  long os = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &os);
  if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) {
    out.how = http_answer::ending::refused;
    out.code = "bad_request_template";
  } else if (expired(code)) {
    out.code = "timeout";
  } else if (code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY) {
    out.code = "dns";
  } else if (code == CURLE_COULDNT_CONNECT) {
    out.code = os == ECONNREFUSED ? "connection_refused" : "unreachable";
  } else if (code == CURLE_OPERATION_TIMEDOUT || code == CURLE_ABORTED_BY_CALLBACK) {
    out.code = "connect_timeout";
  } else if (is_tls(code)) {
    out.code = "tls";
  } else if (long answered = 0;
             curl_easy_getinfo(easy_.get(), CURLINFO_HTTP_CONNECTCODE, &answered) == CURLE_OK && answered != 0 && answered != 200) {
    out.code = "proxy";
  } else {
    out.code = "connection_failed";
  }
  return out;
}

http_answer http_transfer::unanswered(CURLcode code, http_answer out) const {
  out.how = http_answer::ending::lost;
  out.message = "no answer after the request was sent: " + describe(code);
  long os = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &os);
  // A line of more than 100 KB is more than libcurl has room for.
  if (out.cut == http_answer::damage::too_large || code == CURLE_OUT_OF_MEMORY) {
    out.code = "response_too_large";
  } else if (code == CURLE_OPERATION_TIMEDOUT || os == ETIMEDOUT) {
    out.code = "timeout";
  } else if (code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_HTTP2) {
    out.code = "bad_response";
  } else {
    out.code = "connection_lost";
  }
  return out;
}

}  // namespace fairlead::agents
