#include "actors/agents/http_transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "actors/agents/attempt_results.hpp"

namespace fairlead::agents {

namespace {

using steady = std::chrono::steady_clock;

// libcurl sends a request a second time when a kept-alive connection turns out to be closed before any byte of a response. Once is
// allowed (same headers, same Idempotency-Key); a service that does it again is reported instead.
constexpr std::uint32_t max_sends = 2;
constexpr std::size_t max_header_bytes = 65'536;
constexpr long idle_connection_s = 30;

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

}  // namespace

http_transfer::http_transfer(std::uint64_t ticket, std::unique_ptr<http_job> job, curl_easy_handle easy, const http_limits& limits)
    : ticket_(ticket), job_(std::move(job)), easy_(std::move(easy)), max_response_bytes_(limits.max_response_bytes) {
  ready_ = easy_ != nullptr && set_up(limits) && set_body() && set_headers();
}

bool http_transfer::set_up(const http_limits& limits) {
  CURL* e = easy_.get();
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(job_->deadline - steady::now()).count();
  return set(e, CURLOPT_PRIVATE, this) && set(e, CURLOPT_ERRORBUFFER, error_text_.data()) &&
         set(e, CURLOPT_URL, job_->request.url.c_str()) && set(e, CURLOPT_PATH_AS_IS, 1L) && set(e, CURLOPT_PROTOCOLS_STR, "http,https") &&
         set(e, CURLOPT_FOLLOWLOCATION, 0L) && set(e, CURLOPT_PROXY, "") && set(e, CURLOPT_NOSIGNAL, 1L) &&
         set(e, CURLOPT_SSL_VERIFYPEER, 1L) && set(e, CURLOPT_SSL_VERIFYHOST, 2L) &&
         set(e, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1)) && set(e, CURLOPT_MAXAGE_CONN, idle_connection_s) &&
         // Cancelling during a name look-up would otherwise wait for the system's resolver.
         set(e, CURLOPT_QUICK_EXIT, 1L) && set(e, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect_timeout_ms)) &&
         set(e, CURLOPT_TIMEOUT_MS, static_cast<long>(std::max<std::int64_t>(1, left))) &&
         set(e, CURLOPT_HEADERFUNCTION, &http_transfer::on_header) && set(e, CURLOPT_HEADERDATA, this) &&
         set(e, CURLOPT_WRITEFUNCTION, &http_transfer::on_body) && set(e, CURLOPT_WRITEDATA, this) &&
         set(e, CURLOPT_PREREQFUNCTION, &http_transfer::on_sending) && set(e, CURLOPT_PREREQDATA, this);
}

bool http_transfer::set_body() {
  CURL* e = easy_.get();
  const auto& request = job_->request;
  if (request.method == "HEAD") return set(e, CURLOPT_NOBODY, 1L);
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

int http_transfer::on_sending(void* self, char*, char*, int, int) {
  auto& t = *static_cast<http_transfer*>(self);
  if (steady::now() >= t.job_->deadline || t.answer_.sends >= max_sends) return CURL_PREREQFUNC_ABORT;
  ++t.answer_.sends;
  return CURL_PREREQFUNC_OK;
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
    t.answer_.headers.emplace_back(lower_case(trimmed(line.substr(0, colon))), trimmed(line.substr(colon + 1)));
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

bool http_transfer::expired(CURLcode code) const {
  // libcurl counts whole milliseconds from a start of its own.
  return (code == CURLE_OPERATION_TIMEDOUT || code == CURLE_ABORTED_BY_CALLBACK) &&
         steady::now() >= job_->deadline - std::chrono::milliseconds{2};
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
    out.message = "the lease ended within the response";
  } else if (headers_complete_) {
    out.how = http_answer::ending::answered;
    if (out.cut == http_answer::damage::none) out.cut = http_answer::damage::truncated;
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
    out.how = http_answer::ending::impossible;
    out.code = "bad_request_template";
  } else if (code == CURLE_COULDNT_RESOLVE_HOST) {
    out.code = "dns";
  } else if (code == CURLE_COULDNT_CONNECT) {
    out.code = os == ECONNREFUSED ? "connection_refused" : "unreachable";
  } else if (code == CURLE_OPERATION_TIMEDOUT || code == CURLE_ABORTED_BY_CALLBACK) {
    out.code = "connect_timeout";
  } else if (is_tls(code)) {
    out.code = "tls";
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
  if (out.cut == http_answer::damage::too_large) {
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
