#include "app/door/listener.hpp"

#include <microhttpd.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <thread>
#include <unordered_map>

#include "app/config/config.hpp"
#include "app/door/exchange.hpp"
#include "app/door/mailbox.hpp"
#include "app/door/places.hpp"
#include "app/door/problem.hpp"

namespace fairlead::app::door {

namespace {

using steady = std::chrono::steady_clock;

/// For the library to parse a head; what is too large by our own limits still fits, so that it is refused by a problem document.
constexpr std::size_t connection_bytes = 64 * 1024;
/// What a client that sends too much may send on before its connection is closed instead of answered.
constexpr std::size_t most_discarded_bytes = 4 * most_body_bytes;
constexpr int look_every_ms = 250;
constexpr std::chrono::milliseconds end_within{1'000};
/// A connection whose answer comes so soon stays with the library: to take it away and give it back costs more than to ask again.
constexpr std::chrono::milliseconds soon_within{2};
/// Of a stream. A client that has so much before it when more comes does not take what is sent.
constexpr std::size_t most_pending_bytes = 1 << 20;
constexpr std::size_t stream_block_bytes = 4 * 1024;

}  // namespace

struct listener::loop {
  guard guards;
  service serve;
  std::function<std::string()> make_id;
  std::string version;
  listener_limits limits;
  std::shared_ptr<const tls_certificate> tls;
  std::shared_ptr<const client_trust> clients;
  std::uint16_t port = 0;
  std::shared_ptr<mailbox> mail = std::make_shared<mailbox>();
  int epoll = -1;
  MHD_Daemon* daemon = nullptr;
  std::atomic<bool> stopping = false;
  std::thread thread;

  // Only for the loop's thread.
  std::list<connection> connections;
  connection_places places;
  std::unordered_map<std::uint64_t, exchange*> waiting;
  std::uint64_t last_number = 0;
  std::size_t body_bytes = 0;  // that have come, of requests that are not handed on
  steady::time_point next_look{};
  std::size_t soon = 0;     // requests whose answers are
  bool has_more = false;    // the library has gone on with a request in the latest turn, and may again at once
  std::size_t sending = 0;  // answers that are no streams, until the client has them

  explicit loop(const listener_limits& given) : limits(given), places(given.connections, given.of_one_address) {}
  ~loop() {
    stopping = true;
    mail->wake();
    if (thread.joinable()) thread.join();
    if (daemon != nullptr) MHD_stop_daemon(daemon);
    if (epoll >= 0) ::close(epoll);
  }

  // ---- the thread ----

  bool watch(int fd, std::uint64_t key, std::uint32_t events) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = key;
    return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
  }

  static constexpr std::uint64_t key_of_mail = 0;
  static constexpr std::uint64_t key_of_library = ~std::uint64_t{0};

  void run() {
    for (steady::time_point until{};;) {
      turn();
      if (!stopping) continue;
      if (until == steady::time_point{}) {
        until = steady::now() + end_within;
        end_waiting();
      }
      drop_silent();
      if (connections.empty() || steady::now() >= until) break;
    }
  }

  void turn() {
    std::array<epoll_event, 64> events{};
    const int found = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), mail->leave() ? patience_ms() : 0);
    for (int i = 0; i < found; ++i) {
      const auto key = events[static_cast<std::size_t>(i)].data.u64;
      if (key == key_of_mail) mail->drain();
      if (key == key_of_mail || key == key_of_library) continue;
      if (const auto one = waiting.find(key); one != waiting.end()) {
        one->second->gone = true;
        finish(one);
      }
    }
    for (auto& what : mail->take())
      if (const auto one = waiting.find(what.number); one != waiting.end()) take_letter(one, std::move(what));
    if (steady::now() >= next_look) look_at_deadlines();
    has_more = false;
    MHD_run(daemon);
  }

  /// The library's epoll is edge-triggered inside: it says itself when it has more to do. It also says so of requests whose answers are to come soon.
  int patience_ms() const {
    if (soon > 0 && !has_more && sending == 0) return static_cast<int>(soon_within.count());
    MHD_UNSIGNED_LONG_LONG library = 0;
    const bool has = MHD_get_timeout(daemon, &library) == MHD_YES;
    const int own = connections.empty() ? -1 : stopping ? look_every_ms : ms_until(next_look);
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
    auto first = now + std::min({limits.head, limits.body, limits.answer, limits.reading, limits.idle});
    const auto limit_of = [this](phase p) {
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
      end < now ? send_away(one) : void(first = std::min(first, end));
    }
    for (auto one = waiting.begin(); one != waiting.end();) {
      const auto next = std::next(one);
      const auto end = one->second->on->since + limits.answer;
      if (!one->second->streams && end >= now) first = std::min(first, end);
      if (!one->second->streams && end < now)
        finish(one, {"timed_out",
                     "The node did not answer in time.",
                     "What was asked for may have been done. A request that has an id or an Idempotency-Key can be sent again.",
                     {},
                     {},
                     false});
      one = next;
    }
    next_look = std::max(first, now + std::chrono::milliseconds{look_every_ms});
  }

  /// The library sees the connection's end and drops it.
  static void send_away(connection& one) {
    one.told_to_go = true;
    ::shutdown(one.fd, SHUT_RDWR);
  }

  void end_waiting() {
    while (!waiting.empty()) {
      const auto one = waiting.begin();
      if (one->second->streams) one->second->pending += one->second->reply->farewell;
      finish(one, ending());
    }
  }
  static problem ending() { return {"unavailable", "This node is ending.", "Ask another node, or try again later.", {}, {}, true}; }
  static problem too_many() { return {"overloaded", "This node has too many requests at once.", "Try again later.", {}, {}, true}; }

  void drop_silent() {
    for (auto& one : connections)
      if (one.now != phase::answering && !one.told_to_go) send_away(one);
  }

  // ---- one request ----

  using waiting_place = std::unordered_map<std::uint64_t, exchange*>::iterator;

  void take_letter(waiting_place which, letter what) {
    auto& one = *which->second;
    if (what.head) {
      one.reply = std::move(what.head);
      one.streams = !what.last;
    }
    if (!what.more.empty() && one.pending.size() - one.taken > most_pending_bytes) {
      one.gone = true;
      return finish(which);
    }
    one.pending += what.more;
    what.last ? finish(which) : resume(one);
  }

  /// Nothing more is to come for it. `why`: if it has no answer yet.
  void finish(waiting_place which, const problem& why = {}) {
    auto& one = *which->second;
    if (!one.reply && !one.gone) one.reply = to_answer(why, one.what.id);
    one.ended = true;
    mail->forget(which->first);
    // A stream whose client takes what is pending goes on by itself.
    if (one.soon) one.on->enter(phase::answering);
    resume(one);
    if (one.streams && one.gone) send_away(*one.on);
    waiting.erase(which);
    one.number = 0;
  }

  void resume(exchange& one) {
    if (!std::exchange(one.suspended, false)) return;
    (void)::epoll_ctl(epoll, EPOLL_CTL_DEL, one.on->fd, nullptr);
    one.on->enter(phase::answering);
    MHD_resume_connection(one.at);
  }

  /// Until there is something to send, or the client has gone. The library does not look at the connection meanwhile.
  void suspend(exchange& one) {
    one.suspended = true;
    one.on->enter(phase::waiting);
    MHD_suspend_connection(one.at);
    (void)watch(one.on->fd, one.number, EPOLLRDHUP | EPOLLHUP | EPOLLERR);
  }

  /// The first that is known of a request.
  static void* on_target(void* self, const char* target, MHD_Connection* at) {
    auto* const one = new exchange;
    one->what.head.target = target;
    one->at = at;
    one->by = self;
    one->on = connection::of(at);
    one->on->enter(phase::head);
    return one;
  }

  static MHD_Result on_request(void* self, MHD_Connection*, const char*, const char* method, const char* version, const char* data,
                               std::size_t* size, void** context) {
    auto& mine = *static_cast<loop*>(self);
    auto& one = *static_cast<exchange*>(*context);
    if (one.gone) return MHD_NO;
    if (!std::exchange(one.has_head, true)) {
      mine.has_more = true;
      return mine.take_head(one, method, version);
    }
    if (*size != 0) {
      mine.has_more = true;
      const auto taken = mine.take_body(one, {data, std::exchange(*size, 0)});
      return taken ? MHD_YES : MHD_NO;
    }
    if (one.soon && !one.reply) return mine.look_at_soon(one);
    mine.has_more = true;
    if (one.reply) return mine.send(one);
    return mine.hand_on(one);
  }

  MHD_Result take_head(exchange& one, const char* method, const char* version_text) {
    if (guards.counts) one.in_progress.emplace(guards.counts->requests);
    one.on->look_at_certificate(one.at);
    one.what.from = one.on->from;
    one.what.head.method = method;
    one.what.head.version = version_text;
    one.what.head.fields = headers_of(one.at);
    const auto given = find_header(one.what.head, "X-Request-Id");
    one.what.id = given && is_request_id(*given) ? std::string{*given} : make_id();
    if (const auto bad = guards.refuse(one.what.head)) return refuse(one, *bad);
    if (guards.is_known && announced_bytes(one.what.head).value_or(most_body_bytes) > most_unknown_body_bytes &&
        !guards.is_known(one.what.head, one.what.from))
      return refuse(one, {"unauthenticated",
                          "Nobody knows here who sends the request.",
                          "Send a token in the header Authorization, or show a client certificate.",
                          {},
                          {},
                          true});
    if (announced_bytes(one.what.head).value_or(0) + held_bytes() > limits.body_bytes || mail->requests() >= limits.requests)
      return refuse(one, too_many());
    one.on->enter(phase::body);
    return MHD_YES;
  }

  std::size_t held_bytes() const { return body_bytes + mail->bytes(); }

  /// With an answer before the body the library reads none, and closes.
  MHD_Result refuse(exchange& one, const problem& why) {
    one.reply = to_answer(why, one.what.id);
    return send(one);
  }

  /// False: the connection is to be closed.
  bool take_body(exchange& one, std::string_view data) {
    const bool fits =
        !one.reply && one.what.body.size() + data.size() <= most_body_bytes && held_bytes() + data.size() <= limits.body_bytes;
    if (fits) {
      one.what.body += data;
      body_bytes += data.size();
      return true;
    }
    // It is of a length that was not said before. The library answers only behind its end.
    if (!one.reply) {
      const bool is_large = one.what.body.size() + data.size() > most_body_bytes;
      one.reply = to_answer(
          is_large ? problem{"too_large", "The body has more than 4 MiB.", "Send it in parts.", {}, {}, true} : too_many(), one.what.id);
      drop_body(one);
    }
    one.discarded += data.size();
    return one.discarded <= most_discarded_bytes;
  }

  void drop_body(exchange& one) {
    body_bytes -= one.what.body.size();
    one.what.body = {};
  }

  MHD_Result hand_on(exchange& one) {
    if (stopping) return refuse(one, ending());
    one.number = ++last_number;
    waiting.emplace(one.number, &one);
    mail->await(one.number);
    auto to = std::make_shared<answerer>(mail, one.number, one.what.id, one.what.body.size());
    body_bytes -= one.what.body.size();
    one.on->enter(phase::waiting);
    one.soon = serve(std::exchange(one.what, request{{one.what.head.method, {}, {}, {}}, {}, one.what.id}), std::move(to));
    one.soon ? void(++soon) : suspend(one);
    return MHD_YES;
  }

  /// Its answer has not come yet.
  MHD_Result look_at_soon(exchange& one) {
    if (steady::now() < one.on->since + soon_within) return MHD_YES;
    forget_soon(one);
    suspend(one);
    return MHD_YES;
  }
  void forget_soon(exchange& one) {
    if (std::exchange(one.soon, false)) --soon;
  }

  /// The next bytes of a stream.
  static ssize_t on_block(void* of, std::uint64_t, char* to, std::size_t most) {
    auto& one = *static_cast<exchange*>(of);
    static_cast<loop*>(one.by)->has_more = true;
    if (one.gone) return MHD_CONTENT_READER_END_WITH_ERROR;
    if (one.pending.empty()) {
      if (one.ended) return MHD_CONTENT_READER_END_OF_STREAM;
      static_cast<loop*>(one.by)->suspend(one);
      return 0;
    }
    const auto size = std::min(most, one.pending.size() - one.taken);
    std::memcpy(to, one.pending.data() + one.taken, size);
    one.taken += size;
    // Not moved for each block: a long history has thousands.
    if (one.taken * 2 >= one.pending.size()) {
      one.pending.erase(0, one.taken);
      one.taken = 0;
    }
    return static_cast<ssize_t>(size);
  }

  MHD_Response* response_to(exchange& one) const {
    auto& body = one.reply->body;
    if (one.streams) return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, stream_block_bytes, &on_block, &one, nullptr);
    return MHD_create_response_from_buffer(body.size(), body.data(), MHD_RESPMEM_MUST_COPY);
  }

  MHD_Result send(exchange& one) {
    forget_soon(one);
    one.on->enter(phase::answering);
    count(one);
    if (!one.streams) {
      one.is_sent = true;
      ++sending;
    }
    auto& what = *one.reply;
    auto* const response = response_to(one);
    if (response == nullptr) return MHD_NO;
    what.body = {};  // the library has it
    const auto add = [&](const char* name, const std::string& value) { MHD_add_response_header(response, name, value.c_str()); };
    if (what.status != MHD_HTTP_NO_CONTENT && what.status != MHD_HTTP_NOT_MODIFIED) add(MHD_HTTP_HEADER_CONTENT_TYPE, what.content_type);
    add(MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    add("X-Content-Type-Options", "nosniff");
    add("X-Request-Id", one.what.id);
    add("Fairlead-Version", version);
    for (const auto& [name, value] : what.more) add(name.c_str(), value);
    if (what.close || stopping) add(MHD_HTTP_HEADER_CONNECTION, "close");
    const auto queued = MHD_queue_response(one.at, what.status, response);
    MHD_destroy_response(response);
    return queued;
  }

  void count(exchange& one) const {
    if (!guards.counts) return;
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(steady::now() - one.begun).count();
    guards.counts->on_answer(one.what.head.method, one.reply->status, static_cast<std::uint64_t>(took));
    if (one.streams) one.open.emplace(guards.counts->streams);
  }

  static void on_completed(void* self, MHD_Connection*, void** context, MHD_RequestTerminationCode) {
    auto& mine = *static_cast<loop*>(self);
    const std::unique_ptr<exchange> one{static_cast<exchange*>(std::exchange(*context, nullptr))};
    if (!one) return;
    mine.drop_body(*one);
    mine.forget_soon(*one);
    if (one->is_sent) --mine.sending;
    mine.has_more = true;
    if (one->number != 0) {
      mine.mail->forget(one->number);
      mine.waiting.erase(one->number);
    }
    one->on->enter(phase::idle);
  }

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
      if (const auto& counts = mine.guards.counts) made.open.emplace(counts->connections);
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
  l->guards = std::move(guards);
  l->serve = std::move(to);
  l->make_id = std::move(make_id);
  l->version = std::move(version);
  l->tls = std::move(tls);
  l->clients = std::move(clients);
  l->port = at.port();
  l->epoll = ::epoll_create1(EPOLL_CLOEXEC);
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
  l->daemon =
      MHD_start_daemon(flags, 0, &loop::may_connect, l.get(), &loop::on_request, l.get(), MHD_OPTION_EXTERNAL_LOGGER, &loop::on_complaint,
                       nullptr, MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(limits.connections),
                       MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_bytes, MHD_OPTION_URI_LOG_CALLBACK, &loop::on_target, l.get(),
                       MHD_OPTION_NOTIFY_COMPLETED, &loop::on_completed, l.get(), MHD_OPTION_NOTIFY_CONNECTION, &loop::on_connection,
                       l.get(), MHD_OPTION_UNESCAPE_CALLBACK, &loop::keep_escaped, nullptr, MHD_OPTION_ARRAY, more.data(), MHD_OPTION_END);
  if (l->daemon == nullptr) return refused("the HTTP library did not start");
  const auto* const info = MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD);
  if (l->epoll < 0 || info == nullptr || !l->watch(l->mail->fd(), loop::key_of_mail, EPOLLIN) ||
      !l->watch(info->epoll_fd, loop::key_of_library, EPOLLIN))
    return refused("the system gives no epoll");
  l->thread = std::thread{[at = l.get()] { at->run(); }};
  return std::unique_ptr<listener>{new listener{std::move(l)}};
}

}  // namespace fairlead::app::door
