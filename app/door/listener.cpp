#include "app/door/listener.hpp"

#include <microhttpd.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <list>
#include <thread>

#include "app/config/config.hpp"
#include "app/door/connection.hpp"
#include "app/door/places.hpp"
#include "app/door/requests_in_progress.hpp"

namespace fairlead::app::door {

namespace {

using steady = std::chrono::steady_clock;

/// For the library to parse a head; what is too large by our own limits still fits, so that it is refused by a problem document.
constexpr std::size_t connection_bytes = 64 * 1024;
constexpr int look_every_ms = 250;
constexpr std::chrono::milliseconds end_within{1'000};

}  // namespace

struct listener::loop {
  requests_in_progress requests;
  std::shared_ptr<const tls_certificate> tls;
  std::shared_ptr<const client_trust> clients;
  std::uint16_t port = 0;
  MHD_Daemon* daemon = nullptr;
  std::thread thread;

  // Only for the loop's thread.
  std::list<connection> connections;
  connection_places places;
  steady::time_point next_look{};

  explicit loop(const listener_limits& given) : requests(given), places(given.connections, given.of_one_address) {}
  ~loop() {
    requests.stopping = true;
    requests.mail->wake();
    if (thread.joinable()) thread.join();
    if (daemon != nullptr) MHD_stop_daemon(daemon);
    if (requests.epoll >= 0) ::close(requests.epoll);
  }

  // ---- the thread ----

  // Other keys are numbers of requests.
  static constexpr std::uint64_t key_of_mail = 0;
  static constexpr std::uint64_t key_of_library = ~std::uint64_t{0};

  void run() {
    for (steady::time_point until{};;) {
      turn();
      if (!requests.stopping) continue;
      if (until == steady::time_point{}) {
        until = steady::now() + end_within;
        requests.finish_all();
      }
      drop_silent();
      if (connections.empty() || steady::now() >= until) break;
    }
  }

  void turn() {
    std::array<epoll_event, 64> events{};
    const int most_ms = requests.mail->leave() ? patience_ms() : 0;
    const int found = ::epoll_wait(requests.epoll, events.data(), static_cast<int>(events.size()), most_ms);
    for (int i = 0; i < found; ++i) {
      const auto key = events[static_cast<std::size_t>(i)].data.u64;
      if (key == key_of_mail) requests.mail->drain();
      if (key != key_of_mail && key != key_of_library) requests.lose_client(key);
    }
    requests.deliver();
    if (steady::now() >= next_look) look_at_deadlines();
    requests.has_more = false;
    MHD_run(daemon);
  }

  /// The library's epoll is edge-triggered inside: it says itself when it has more to do. It also says so of requests whose answers are to come soon.
  int patience_ms() const {
    if (requests.soon > 0 && !requests.has_more && requests.sending == 0) return static_cast<int>(soon_within.count());
    MHD_UNSIGNED_LONG_LONG library = 0;
    const bool has = MHD_get_timeout(daemon, &library) == MHD_YES;
    const int own = connections.empty() ? -1 : requests.stopping ? look_every_ms : ms_until(next_look);
    if (!has) return own;
    return own < 0 ? static_cast<int>(std::min<unsigned long long>(library, 60'000))
                   : static_cast<int>(std::min<unsigned long long>(library, static_cast<unsigned long long>(own)));
  }

  static int ms_until(steady::time_point then) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(then - steady::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }

  /// A state that is entered after this has at least the shortest limit before it, so ten thousand idle connections are looked at rarely.
  void look_at_deadlines() {
    const auto now = steady::now();
    const auto& limits = requests.limits;
    auto first = now + std::min({limits.head, limits.body, limits.answer, limits.reading, limits.idle});
    const auto limit_of = [&limits](phase p) {
      switch (p) {
        case phase::fresh:
        case phase::head: return limits.head;
        case phase::body: return limits.body;
        case phase::answering: return limits.reading;
        default: return limits.idle;
      }
    };
    for (auto& one : connections) {
      if (one.now == phase::waiting || one.told_to_go) continue;
      const auto end = one.since + limit_of(one.now);
      end < now ? one.send_away() : void(first = std::min(first, end));
    }
    for (auto one = requests.waiting.begin(); one != requests.waiting.end();) {
      const auto next = std::next(one);
      const auto end = one->second->handed_on_at() + limits.answer;
      if (!one->second->is_stream() && end >= now) first = std::min(first, end);
      if (!one->second->is_stream() && end < now)
        requests.finish(one, {"timed_out",
                              "The node did not answer in time.",
                              "What was asked for may have been done. A request that has an id or an Idempotency-Key can be sent again.",
                              {},
                              {},
                              false});
      one = next;
    }
    next_look = std::max(first, now + std::chrono::milliseconds{look_every_ms});
  }

  void drop_silent() {
    for (auto& one : connections)
      if (one.now != phase::answering && !one.told_to_go) one.send_away();
  }

  // ---- connections ----

  /// Before a connection is taken. One that is refused hears nothing: there is no answer that is cheaper than the attempt.
  static MHD_Result may_connect(void* self, const sockaddr* from, socklen_t size) {
    const auto address = address_of(from, size);
    return static_cast<loop*>(self)->places.may_come(address, address.empty() || is_loopback(address)) ? MHD_YES : MHD_NO;
  }

  static void on_connection(void* self, MHD_Connection* at, void** context, MHD_ConnectionNotificationCode what) {
    auto& mine = *static_cast<loop*>(self);
    using place = std::list<connection>::iterator;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
      const auto* info = MHD_get_connection_info(at, MHD_CONNECTION_INFO_CONNECTION_FD);
      auto& made = mine.connections.emplace_back();
      if (info != nullptr) made.fd = info->connect_fd;
      made.from = peer_of(made.fd);
      made.tls = mine.tls.get();
      made.clients = mine.clients.get();
      mine.places.came(made.from.address);
      if (const auto& counts = mine.requests.guards.counts) made.open.emplace(counts->connections);
      *context = new place{std::prev(mine.connections.end())};
    } else if (const std::unique_ptr<place> it{static_cast<place*>(std::exchange(*context, nullptr))}; it) {
      mine.places.went((*it)->from.address);
      mine.connections.erase(*it);
    }
  }

  /// Targets are decoded by whoever knows their parts.
  static std::size_t keep_escaped(void*, MHD_Connection*, char* text) { return std::strlen(text); }
  /// The library's complaints about hostile or hasty clients belong in no log.
  static void on_complaint(void*, const char*, va_list) {}
};

listener::listener(std::unique_ptr<loop> l) : loop_(std::move(l)) {}
listener::~listener() = default;

std::uint16_t listener::port() const noexcept { return loop_->port; }

result<std::unique_ptr<listener>> listener::start(listen_socket at, guard guards, service to, std::function<std::string()> make_id,
                                                  std::string version, std::shared_ptr<const tls_certificate> tls,
                                                  std::shared_ptr<const client_trust> clients, listener_limits limits) {
  const auto refused = [](const std::string& why) { return error{v1::ERROR_CODE_UNAVAILABLE, why, ""}; };
  auto l = std::make_unique<loop>(limits);
  auto& requests = l->requests;
  requests.guards = std::move(guards);
  requests.serve = std::move(to);
  requests.make_id = std::move(make_id);
  requests.version = std::move(version);
  l->tls = std::move(tls);
  l->clients = std::move(clients);
  l->port = at.port();
  requests.epoll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<MHD_OptionItem> more;
  if (l->tls) {
    more.push_back({MHD_OPTION_HTTPS_CERT_CALLBACK, 0, reinterpret_cast<void*>(&connection::give_keys)});
    more.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0, const_cast<char*>("NORMAL:-VERS-ALL:+VERS-TLS1.3")});
  }
  more.push_back({MHD_OPTION_END, 0, nullptr});
  // Not MHD_OPTION_STRICT_FOR_CLIENT: it answers a request without Host with two heads, and one whose target has a space not at all. The guard
  // refuses both.
  // The library closes it, mostly also where it does not start.
  const int listening = at.release();
  const unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | (l->tls ? unsigned{MHD_USE_TLS} : 0U);
  l->daemon = MHD_start_daemon(
      flags, 0, &loop::may_connect, l.get(), &requests_in_progress::on_request, &requests, MHD_OPTION_EXTERNAL_LOGGER, &loop::on_complaint,
      nullptr, MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(limits.connections),
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_bytes, MHD_OPTION_URI_LOG_CALLBACK, &requests_in_progress::on_target, &requests,
      MHD_OPTION_NOTIFY_COMPLETED, &requests_in_progress::on_completed, &requests, MHD_OPTION_NOTIFY_CONNECTION, &loop::on_connection,
      l.get(), MHD_OPTION_UNESCAPE_CALLBACK, &loop::keep_escaped, nullptr, MHD_OPTION_ARRAY, more.data(), MHD_OPTION_END);
  if (l->daemon == nullptr) return refused("the HTTP library did not start");
  const auto* const info = MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD);
  if (requests.epoll < 0 || info == nullptr || !watch(requests.epoll, requests.mail->fd(), loop::key_of_mail, EPOLLIN) ||
      !watch(requests.epoll, info->epoll_fd, loop::key_of_library, EPOLLIN))
    return refused("the system gives no epoll");
  l->thread = std::thread{[at = l.get()] { at->run(); }};
  return std::unique_ptr<listener>{new listener{std::move(l)}};
}

}  // namespace fairlead::app::door
