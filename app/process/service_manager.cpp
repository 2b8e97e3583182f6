#include "app/process/service_manager.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

namespace fairlead::app {

namespace {

std::optional<std::string> taken_from_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  std::string out{value};
  ::unsetenv(name);
  return out;
}

std::optional<std::uint64_t> number_in(const std::optional<std::string>& text) {
  std::uint64_t out = 0;
  if (!text || text->empty()) return std::nullopt;
  const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), out);
  if (failed != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return out;
}

/// nullopt: the protocol knows no such name of a local socket.
std::optional<std::pair<sockaddr_un, socklen_t>> address_of(const std::string& name) {
  sockaddr_un out{};
  out.sun_family = AF_UNIX;
  if (name.size() < 2 || name.size() >= sizeof out.sun_path || (name[0] != '/' && name[0] != '@')) return std::nullopt;
  std::memcpy(out.sun_path, name.data(), name.size());
  // An abstract name begins with a zero byte and counts by its length; a name in the file system ends with a zero byte.
  if (name[0] == '@') out.sun_path[0] = '\0';
  return std::pair{out, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (name[0] == '@' ? 0 : 1))};
}

/// The protocol takes one assignment a line.
std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

bool is_good(const std::function<bool()>& healthy) {
  try {
    return healthy();
  } catch (const std::exception&) {  // if the check itself fails, the process is not healthy
    return false;
  }
}

}  // namespace

struct service_manager::state {
  int socket = -1;
  sockaddr_un address{};
  socklen_t address_size = 0;
  duration period{0};

  std::thread watcher;
  std::mutex guard;
  std::condition_variable over_changed;
  bool over = false;

  ~state() {
    end_watch();
    if (socket >= 0) ::close(socket);
  }

  /// A message that cannot be sent is dropped.
  void tell(const std::string& what) const {
    if (socket < 0) return;
    ::sendto(socket, what.data(), what.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), address_size);
  }

  void end_watch() {
    {
      const std::lock_guard lock{guard};
      over = true;
    }
    over_changed.notify_all();
    if (watcher.joinable()) watcher.join();
  }

  void watch(const std::function<bool()>& healthy) {
    std::unique_lock lock{guard};
    while (!over) {
      lock.unlock();
      if (is_good(healthy)) tell("WATCHDOG=1");
      lock.lock();
      over_changed.wait_for(lock, period / 2, [this] { return over; });
    }
  }
};

service_manager::service_manager(std::unique_ptr<state> s) : state_(std::move(s)) {}
service_manager::service_manager(service_manager&&) noexcept = default;
service_manager& service_manager::operator=(service_manager&&) noexcept = default;
service_manager::~service_manager() = default;

service_manager service_manager::from_environment() {
  auto s = std::make_unique<state>();
  const auto name = taken_from_environment("NOTIFY_SOCKET");
  const auto micros = number_in(taken_from_environment("WATCHDOG_USEC"));
  const auto pid_text = taken_from_environment("WATCHDOG_PID");
  const auto address = address_of(name.value_or(""));
  if (!address) return service_manager{std::move(s)};
  s->socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  // Waits a little for a manager that reads slowly (a lost READY=1 would cost the start), not for one that hangs.
  const timeval patience{1, 0};
  ::setsockopt(s->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  std::tie(s->address, s->address_size) = *address;
  // Another number: meant for another process, such as a wrapper that has passed its environment on.
  const bool for_us = !pid_text || number_in(pid_text) == static_cast<std::uint64_t>(::getpid());
  constexpr std::uint64_t longest = std::uint64_t{24} * 3'600'000'000;
  if (s->socket >= 0 && for_us && micros) s->period = duration{std::min(*micros, longest) / 1000};
  return service_manager{std::move(s)};
}

bool service_manager::there() const noexcept { return state_->socket >= 0; }
duration service_manager::watchdog_period() const noexcept { return state_->period; }

void service_manager::extend_start(duration by) { state_->tell("EXTEND_TIMEOUT_USEC=" + std::to_string(by.count() * 1000)); }
void service_manager::ready(const std::string& line) { state_->tell("READY=1\nSTATUS=" + in_one_line(line)); }
void service_manager::reloading() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto micros = static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000;
  state_->tell("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(micros));
}

void service_manager::say(const std::string& line) { state_->tell("STATUS=" + in_one_line(line)); }

void service_manager::stopping() {
  state_->end_watch();
  state_->tell("STOPPING=1\nSTATUS=ending");
}

void service_manager::watch(std::function<bool()> healthy) {
  if (state_->period.count() <= 0 || state_->watcher.joinable()) return;
  state_->watcher = std::thread{[s = state_.get(), healthy = std::move(healthy)] { s->watch(healthy); }};
}

}  // namespace fairlead::app
