#include "actors/agents/http/transfer/multi.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>

namespace fairlead::agents {

namespace {

constexpr std::size_t events_at_once = 256;

bool libcurl_is_ready() {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ready;
}

}  // namespace

http_multi::http_multi(std::uint32_t connections) {
  multi_.reset(libcurl_is_ready() ? curl_multi_init() : nullptr);
  if (!multi_) throw std::runtime_error("libcurl cannot be initialised");
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  if (epoll_ < 0 || wake_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    ::close(epoll_);
    ::close(wake_);
    throw std::runtime_error("the system gives no file descriptor to wait with");
  }
  auto* const multi = multi_.get();
  const auto limit = static_cast<long>(connections);
  curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, limit);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, limit);
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &http_multi::on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &http_multi::on_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
}

http_multi::~http_multi() {
  multi_.reset();  // reports the sockets that it no longer watches
  ::close(epoll_);
  ::close(wake_);
}

void http_multi::wake() {
  const std::uint64_t one = 1;
  // The write fails only if a wake is pending already.
  static_cast<void>(::write(wake_, &one, sizeof one) == static_cast<ssize_t>(sizeof one));
}

void http_multi::watch(curl_socket_t socket, std::uint32_t events, bool known) {
  epoll_event event{};
  event.events = events;
  event.data.fd = socket;
  // A number that was closed and given out again may be known to only one side.
  if (::epoll_ctl(epoll_, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event) == 0) return;
  if (errno == ENOENT) ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event);
  if (errno == EEXIST) ::epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event);
}

int http_multi::on_socket(CURL*, curl_socket_t socket, int what, void* self, void* known) {
  auto& m = *static_cast<http_multi*>(self);
  if (what == CURL_POLL_REMOVE) {
    epoll_event none{};
    ::epoll_ctl(m.epoll_, EPOLL_CTL_DEL, socket, &none);
    return 0;
  }
  std::uint32_t events = 0;
  if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) events |= EPOLLIN;
  if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) events |= EPOLLOUT;
  m.watch(socket, events, known != nullptr);
  if (known == nullptr) curl_multi_assign(m.multi_.get(), socket, &m);
  return 0;
}

int http_multi::on_timer(CURLM*, long ms, void* self) {
  auto& m = *static_cast<http_multi*>(self);
  if (ms < 0) {
    m.timer_.reset();
  } else {
    m.timer_ = steady::now() + std::chrono::milliseconds{ms};
  }
  return 0;
}

void http_multi::wait(std::chrono::milliseconds patience) {
  if (timer_) patience = std::min(patience, std::chrono::ceil<std::chrono::milliseconds>(*timer_ - steady::now()));
  const auto ms = std::clamp<std::int64_t>(patience.count(), 0, 60'000);
  std::array<epoll_event, events_at_once> events;
  const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), static_cast<int>(ms));
  int running = 0;
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == wake_) {
      std::uint64_t wakes = 0;
      static_cast<void>(::read(wake_, &wakes, sizeof wakes) == static_cast<ssize_t>(sizeof wakes));
      continue;
    }
    int mask = 0;
    if ((event.events & EPOLLIN) != 0) mask |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) mask |= CURL_CSELECT_OUT;
    if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) mask |= CURL_CSELECT_ERR;
    curl_multi_socket_action(multi_.get(), event.data.fd, mask, &running);
  }
  if (timer_ && *timer_ <= steady::now()) {
    timer_.reset();  // before the call, which may set the next one
    curl_multi_socket_action(multi_.get(), CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

std::optional<std::pair<CURL*, CURLcode>> http_multi::ended() {
  int left = 0;
  while (const auto* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg == CURLMSG_DONE) return std::pair{message->easy_handle, message->data.result};
  }
  return std::nullopt;
}

}  // namespace fairlead::agents
