#include "actors/agents/http/transfer/transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/http/transfer/tls.hpp"
#include "actors/agents/text_template.hpp"

namespace fairlead::agents {

namespace {

using steady = std::chrono::steady_clock;

// libcurl sends a request a second time if a kept-alive connection turns out to be closed before any byte of a response. This is allowed
// once (same headers, same Idempotency-Key); a service that does it again is reported instead.
constexpr std::uint32_t max_sends = 2;
constexpr std::size_t max_header_bytes = 65'536;
constexpr std::size_t most_length_digits = 18;
constexpr long idle_connection_s = 30;
constexpr long read_buffer_bytes = 8'192;
constexpr long write_buffer_bytes = 16'384;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool has(const http_answer& answer, std::string_view header) {
  return std::any_of(answer.headers.begin(), answer.headers.end(), [header](const auto& one) { return one.first == header; });
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

// The accepted compressions: the common ones that this libcurl has.
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

}  // namespace

curl_easy_handle http_transfer::new_handle(const http_limits& limits) {
  curl_easy_handle out{curl_easy_init()};
  CURL* e = out.get();
  const bool good =
      e != nullptr && set(e, CURLOPT_PATH_AS_IS, 1L) && set(e, CURLOPT_PROTOCOLS_STR, "http,https") && set(e, CURLOPT_FOLLOWLOCATION, 0L) &&
      // Set even if empty: otherwise the environment would decide.
      set(e, CURLOPT_PROXY, limits.proxy.c_str()) && set(e, CURLOPT_NOPROXY, limits.no_proxy.c_str()) &&
      set(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) && set(e, CURLOPT_NOSIGNAL, 1L) &&
      set(e, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1)) && set(e, CURLOPT_MAXAGE_CONN, idle_connection_s) &&
      set(e, CURLOPT_MAXLIFETIME_CONN, static_cast<long>((limits.connection_age_ms + 999) / 1000)) &&
      // Cancelling during a name look-up would otherwise wait for the system's resolver.
      set(e, CURLOPT_QUICK_EXIT, 1L) && set(e, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect_timeout_ms)) &&
      // Ten thousand transfers each have a buffer.
      set(e, CURLOPT_BUFFERSIZE, read_buffer_bytes) && set(e, CURLOPT_UPLOAD_BUFFERSIZE, write_buffer_bytes) &&
      set(e, CURLOPT_HEADERFUNCTION, &http_transfer::on_header) && set(e, CURLOPT_WRITEFUNCTION, &http_transfer::on_body) &&
      set(e, CURLOPT_PREREQFUNCTION, &http_transfer::on_sending) && set(e, CURLOPT_SOCKOPTFUNCTION, &http_transfer::on_new_socket) &&
      // Connections of a socket cannot be told apart by their ends (sockets.hpp), so none is used again.
      (limits.unix_socket.empty() || (set(e, CURLOPT_UNIX_SOCKET_PATH, limits.unix_socket.c_str()) && set(e, CURLOPT_FORBID_REUSE, 1L))) &&
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
         set(e, CURLOPT_SOCKOPTDATA, this) && common_.ends_of_tls.watch(e);
}

bool http_transfer::set_body() {
  CURL* e = easy_.get();
  const auto& request = job_->request;
  // First of all, because it resets the options of the handle's earlier transfer.
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
    // libcurl spells a header without a value with a semicolon; with a colon it would drop the header.
    if (!add(trimmed(value).empty() ? name + ";" : name + ": " + value)) return false;
  }
  // Keeps libcurl from adding its own headers: it would wait a second for a "100 Continue" and call a body a form.
  if (!add("Expect:") || (!typed && !add("Content-Type:"))) return false;
  return set(easy_.get(), CURLOPT_HTTPHEADER, header_list_.get());
}

void http_transfer::resolved() {
  if (std::exchange(resolving_, false)) --common_.resolving;
}

// A service that sent more than it promised left the rest on the connection, where it would be taken for the next answer. A connection that
// the service has closed would leave it open whether the request was read.
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
  if (t.header_bytes_ > max_header_bytes) return t.refuse(http_answer::damage::too_large, "its headers have more than 64 KiB");
  const auto line = trimmed(raw);
  if (raw.substr(0, 5) == "HTTP/") {
    // Only 1.1 is spoken here; the end of an answer in another version is unknown.
    if (const auto version = raw.substr(0, 9); version != "HTTP/1.1 " && version != "HTTP/1.0 ")
      return t.refuse(http_answer::damage::none, "its protocol is " + printable(line.substr(0, line.find(' ')), 20));
    t.answer_.headers.clear();  // drops the headers of an interim response
    const auto status = line.find(' ');
    const auto reason = status == std::string_view::npos ? status : line.find(' ', status + 1);
    t.answer_.reason = reason == std::string_view::npos ? "" : std::string{trimmed(line.substr(reason))};
  } else if (line.empty()) {
    long code = 0;
    curl_easy_getinfo(t.easy_.get(), CURLINFO_RESPONSE_CODE, &code);
    t.answer_.status = static_cast<int>(code);
    if (auto why = t.why_not_framed(); !why.empty()) return t.refuse(http_answer::damage::none, std::move(why));
    t.headers_complete_ = code >= 200;
    if (t.headers_complete_ && t.goes_on_to_the_end()) t.to_end_of_ = tls_ends::of(t.easy_.get());
  } else if (const auto colon = line.find(':'); colon != std::string_view::npos && !t.headers_complete_) {
    const auto spelled = line.substr(0, colon);
    const auto& [name, value] = t.answer_.headers.emplace_back(lower_case(trimmed(spelled)), trimmed(line.substr(colon + 1)));
    const auto digits = std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (name == "content-length" && (value.empty() || !digits))
      return t.refuse(http_answer::damage::none, "its Content-Length '" + printable(value, 40) + "' is not a number");
    // libcurl ignores a length beyond its range.
    if (name == "content-length" && value.size() > most_length_digits)
      return t.refuse(http_answer::damage::too_large, "its Content-Length has more than 18 digits");
    // libcurl ignores such a line, other readers do not.
    if ((name == "content-length" || name == "transfer-encoding") && spelled.size() != name.size())
      return t.refuse(http_answer::damage::none, "it has a blank behind the name " + name);
  }
  return raw.size();
} catch (...) {
  return 0;  // out of memory; an exception must not pass through C
}

// A proxy on the way may see another end of such an answer, and take the rest for the answer to the next request.
std::string http_transfer::why_not_framed() const {
  return has(answer_, "content-length") && has(answer_, "transfer-encoding") ? "it has both a Content-Length and a Transfer-Encoding" : "";
}

bool http_transfer::goes_on_to_the_end() const {
  return !has(answer_, "content-length") && !has(answer_, "transfer-encoding") && job_->request.method != "HEAD" && answer_.status != 204 &&
         answer_.status != 304;
}

/// Ends the transfer and its connection.
std::size_t http_transfer::refuse(http_answer::damage how, std::string problem) {
  answer_.cut = how;
  problem_ = std::move(problem);
  return 0;
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
  // libcurl counts whole milliseconds from its own start.
  return steady::now() >= job_->deadline - std::chrono::milliseconds{2};
}

bool http_transfer::expired(CURLcode code) const {
  return (code == CURLE_OPERATION_TIMEDOUT || code == CURLE_ABORTED_BY_CALLBACK) && past_deadline();
}

std::string http_transfer::describe(CURLcode code) const {
  if (!problem_.empty()) return problem_;
  if (answer_.status == 101) return "status 101 (switching protocols), which was not requested";
  if (code == CURLE_OK) return "only the interim status " + std::to_string(answer_.status) + " came";
  return printable(error_text_[0] != '\0' ? error_text_.data() : curl_easy_strerror(code), 200);
}

http_answer http_transfer::answer(CURLcode code) {
  auto out = std::move(answer_);
  if (code == CURLE_OK && headers_complete_) {
    out.how = http_answer::ending::answered;
    if (to_end_of_ != nullptr && !common_.ends_of_tls.ended(to_end_of_)) {
      out.cut = http_answer::damage::truncated;
      out.message = "the connection was closed before TLS was ended";
    }
  } else if (headers_complete_ && code == CURLE_OPERATION_TIMEDOUT) {
    out.code = "timeout";
    out.message = "the time ended within the response";
  } else if (headers_complete_) {
    out.how = http_answer::ending::answered;
    if (out.cut == http_answer::damage::none) {
      out.cut = http_answer::damage::truncated;
      out.message = describe(code);
    } else {
      out.message = problem_;
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
  out.message = (problem_.empty() ? "no answer after the request was sent: " : "the answer is refused: ") + describe(code);
  long os = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &os);
  // libcurl has no room for a line of more than 100 KB.
  if (out.cut == http_answer::damage::too_large || code == CURLE_OUT_OF_MEMORY) {
    out.code = "response_too_large";
  } else if (code == CURLE_OPERATION_TIMEDOUT || os == ETIMEDOUT) {
    out.code = "timeout";
  } else if (code == CURLE_OK || !problem_.empty() || code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_UNSUPPORTED_PROTOCOL ||
             code == CURLE_HTTP2 || answer_.status == 101) {
    out.code = "bad_response";
  } else {
    out.code = "connection_lost";
  }
  return out;
}

}  // namespace fairlead::agents
