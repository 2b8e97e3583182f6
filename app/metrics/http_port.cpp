#include "app/metrics/http_port.hpp"

#include <microhttpd.h>
#include <sys/socket.h>

#include <cstring>
#include <exception>
#include <list>
#include <string_view>
#include <utility>

#include "app/process/listen_socket.hpp"

namespace fairlead::app {

namespace {

/// From this number on the oldest connection makes room for a new one: a flood of silent connections cannot shut others out. Every request
/// is answered at once and its connection closed, so the oldest connection is the least likely to be genuine.
constexpr std::size_t most_connections = 256;
/// The library takes at most this number; the difference is for closed connections that the library has not dropped yet.
constexpr unsigned hard_limit = 2 * most_connections;
/// Request line and headers of one connection and its answer's headers; beyond it 414 or 431.
constexpr std::size_t connection_bytes = 16 * 1024;
constexpr unsigned idle_seconds = 5;

}  // namespace

struct http_port::state {
  http_handlers handlers;
  std::uint16_t port = 0;
  MHD_Daemon* daemon = nullptr;

  struct peer {
    int socket = -1;
    bool told_to_go = false;
  };
  using peers = std::list<peer>;
  // Only for the port's thread, oldest first.
  peers open;
  peers leaving;

  ~state() {
    if (daemon != nullptr) MHD_stop_daemon(daemon);
  }

  http_answer answer_to(std::string_view method, const std::string& path) const {
    if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD)
      return {MHD_HTTP_METHOD_NOT_ALLOWED, http_answer{}.content_type, "only GET and HEAD\n"};
    const auto found = handlers.find(path);
    if (found == handlers.end()) {
      std::string known = "there is";
      for (const auto& [name, handler] : handlers) known += " " + name;
      return {MHD_HTTP_NOT_FOUND, http_answer{}.content_type, known + "\n"};
    }
    try {
      return found->second();
    } catch (const std::exception& bug) {  // the library is C: no exception may pass through it
      return {MHD_HTTP_INTERNAL_SERVER_ERROR, http_answer{}.content_type, std::string{"internal error: "} + bug.what() + "\n"};
    }
  }

  /// Also called before a request's body has been read: with an answer at that moment the library reads no body and closes.
  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* url, const char* method, const char*, const char*,
                               std::size_t*, void**) {
    const auto answer = static_cast<const state*>(self)->answer_to(method, url);
    auto* response = MHD_create_response_from_buffer(answer.body.size(), const_cast<char*>(answer.body.data()), MHD_RESPMEM_MUST_COPY);
    if (response == nullptr) return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.content_type.c_str());
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (answer.status == MHD_HTTP_METHOD_NOT_ALLOWED) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    const auto queued = MHD_queue_response(connection, answer.status, response);
    MHD_destroy_response(response);
    return queued;
  }

  static void on_connection(void* self, MHD_Connection* connection, void** socket_context, MHD_ConnectionNotificationCode what) {
    auto& mine = *static_cast<state*>(self);
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
      const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
      if (info == nullptr) return;
      if (mine.open.size() >= most_connections) mine.send_oldest_away();
      *socket_context = new peers::iterator{mine.open.insert(mine.open.end(), peer{info->connect_fd})};
    } else if (const std::unique_ptr<peers::iterator> at{static_cast<peers::iterator*>(std::exchange(*socket_context, nullptr))}; at) {
      ((*at)->told_to_go ? mine.leaving : mine.open).erase(*at);
    }
  }

  /// The library sees the connection's end and drops it in its next round.
  void send_oldest_away() {
    open.front().told_to_go = true;
    ::shutdown(open.front().socket, SHUT_RDWR);
    leaving.splice(leaving.end(), open, open.begin());
  }

  /// Paths are compared as written: `%00` must not end a path early.
  static std::size_t keep_escaped(void*, MHD_Connection*, char* text) { return std::strlen(text); }

  /// The library's complaints about hostile or hasty clients belong in no log.
  static void on_complaint(void*, const char*, va_list) {}
};

http_port::http_port(std::unique_ptr<state> s) : state_(std::move(s)) {}
http_port::~http_port() = default;

std::uint16_t http_port::port() const noexcept { return state_->port; }

result<std::unique_ptr<http_port>> http_port::start(const listen_address& address, http_handlers handlers) {
  const auto at = to_text(address);
  const auto refused = [&at](const std::string& why) {
    return error{v1::ERROR_CODE_UNAVAILABLE, "cannot serve HTTP on " + at + ": " + why,
                 "stop the program that listens there (ss -ltnp shows it), or set http.listen to another address"};
  };
  auto listener = listen_on(address);
  if (!listener) return refused(listener.failure().sentence);

  auto s = std::make_unique<state>();
  s->handlers = std::move(handlers);
  s->port = listener->port();
  s->daemon =
      MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, nullptr, nullptr, &state::on_request, s.get(),
                       MHD_OPTION_EXTERNAL_LOGGER, &state::on_complaint, nullptr, MHD_OPTION_LISTEN_SOCKET, listener->fd(),
                       MHD_OPTION_CONNECTION_LIMIT, hard_limit, MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_bytes,
                       MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds, MHD_OPTION_NOTIFY_CONNECTION, &state::on_connection, s.get(),
                       MHD_OPTION_UNESCAPE_CALLBACK, &state::keep_escaped, nullptr, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
  if (s->daemon == nullptr) return refused("the HTTP library did not start");
  listener->release();  // the library closes it
  return std::unique_ptr<http_port>{new http_port{std::move(s)}};
}

}  // namespace fairlead::app
