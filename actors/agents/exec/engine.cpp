#include "actors/agents/exec/engine.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <new>
#include <system_error>

namespace fairlead::agents {

namespace {

constexpr int idle_wait_ms = 10'000;
constexpr int busy_wait_ms = 2;
constexpr auto nudge_every = std::chrono::seconds{1};
constexpr auto shut_down_limit = std::chrono::milliseconds{1'800};

// The data of an event: a ticket with a channel in its low bits; ticket 0 is the loop's own.
constexpr std::uint64_t channels = 8;
constexpr std::uint64_t wake_token = 0;
constexpr std::uint64_t spawner_token = 1;

descriptor checked(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return descriptor{fd};
}

bool watch_descriptor(int epoll, int fd, unsigned events, std::uint64_t token) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = token;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

exec_engine::exec_engine(callbacks owner, std::uint32_t concurrency, std::string shepherd)
    : owner_(std::move(owner)),
      concurrency_(concurrency),
      epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wake_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      null_(checked(open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null")),
      spawner_(std::move(shepherd)) {
  if (!watch_descriptor(epoll_.get(), wake_.get(), EPOLLIN, wake_token))
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
}

void exec_engine::wake() {
  const std::uint64_t one = 1;
  // The write fails only if a wake is pending already.
  [[maybe_unused]] const auto wrote = write(wake_.get(), &one, sizeof one);
}

void exec_engine::run() {
  // A command that closes its input early must not end the node; signals to the node are for other threads.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  exec_jobs jobs;
  std::vector<std::uint64_t> stops;
  for (;;) {
    jobs.clear();
    stops.clear();
    if (!owner_.take(jobs, stops)) break;
    try {
      turn(jobs, stops);
      wait();
    } catch (const std::bad_alloc&) {
      // The affected attempts report nothing, and their leases end them. The others go on.
    }
  }
  end_all();
}

void exec_engine::turn(exec_jobs& jobs, const std::vector<std::uint64_t>& stops) {
  for (auto& [ticket, job] : jobs) waiting_.emplace_back(ticket, std::move(job));
  for (const auto ticket : stops) drop(ticket);
  mind_timers();
  admit();
}

void exec_engine::wait() {
  std::array<epoll_event, 128> events;
  const auto count = epoll_wait(epoll_.get(), events.data(), events.size(), patience_ms());
  for (int i = 0; i < count; ++i) happened(events[static_cast<std::size_t>(i)].data.u64);
}

void exec_engine::happened(std::uint64_t token) {
  if (token == wake_token) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = read(wake_.get(), &count, sizeof count);
    return;
  }
  if (token == spawner_token) return spawner_changed();
  const auto ticket = token / channels;
  const auto found = active_.find(ticket);
  if (found == active_.end()) return;
  auto& attempt = *found->second.attempt;
  const bool was_ending = attempt.ending();
  attempt.happened(static_cast<exec_attempt::channel>(token % channels));
  if (auto said = attempt.progress(); said && owner_.live(attempt.job().key, ticket)) attempt.job().progressed(std::move(*said));
  if (attempt.over()) return conclude(ticket);
  if (attempt.ending() && !was_ending) set_timer(found->second, steady::now() + nudge_every);
}

void exec_engine::drop(std::uint64_t ticket) {
  if (const auto it = active_.find(ticket); it != active_.end()) {
    // Its place is free again only when its processes are gone.
    it->second.told = true;
    it->second.attempt->end(exec_attempt::reason::stopped);
    set_timer(it->second, steady::now() + nudge_every);
    return;
  }
  const auto same = [&](const auto& entry) { return entry.first == ticket; };
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), same), waiting_.end());
  overdue_.erase(std::remove_if(overdue_.begin(), overdue_.end(), [&](const overdue& o) { return o.ticket == ticket; }), overdue_.end());
}

void exec_engine::admit() {
  busy_ = false;
  while (!waiting_.empty() && active_.size() < concurrency_) {
    if (spawner_.now() == exec_spawner::state::absent) {
      const int code = spawner_.start();
      if (code == 0 && !watch_descriptor(epoll_.get(), spawner_.socket(), EPOLLIN, spawner_token)) spawner_.drop();
      if (spawner_.now() == exec_spawner::state::absent) return give_up_waiting(code != 0 ? code : EAGAIN);
    }
    if (spawner_.now() != exec_spawner::state::ready) return;
    auto [ticket, job] = std::move(waiting_.front());
    waiting_.pop_front();
    if (steady::now() + std::chrono::milliseconds{1} >= job->deadline) {
      could_not_start(ticket, std::move(job), start_stage::too_late, 0);
    } else if (!begin(ticket, job)) {
      waiting_.emplace_front(ticket, std::move(job));
      busy_ = true;
      return;
    }
  }
}

bool exec_engine::begin(std::uint64_t ticket, std::unique_ptr<exec_job>& job) {
  auto attempt = std::make_unique<exec_attempt>(ticket, std::move(job));
  int code = attempt->open(null_.get());
  if (code == 0 && !watch(*attempt)) code = errno;
  if (code == 0) code = spawner_.send(attempt->theirs());
  if (code == EAGAIN || code == EPIPE || code == ECONNRESET || code == ENOTCONN) {
    if (code != EAGAIN) spawner_.drop();
    job = attempt->release_job();
    return false;
  }
  if (code != 0) {
    could_not_start(ticket, attempt->release_job(), start_stage::fork, code);
    return true;
  }
  attempt->close_theirs();
  const auto deadline = attempt->job().deadline;
  auto& entry = active_[ticket];
  entry.attempt = std::move(attempt);
  set_timer(entry, deadline);
  return true;
}

bool exec_engine::watch(const exec_attempt& attempt) {
  using channel = exec_attempt::channel;
  for (const auto which : {channel::control, channel::input, channel::output, channel::errors, channel::progress}) {
    const int fd = attempt.watched(which);
    const auto token = attempt.ticket() * channels + static_cast<std::uint64_t>(which);
    if (fd >= 0 && !watch_descriptor(epoll_.get(), fd, exec_attempt::events(which), token)) return false;
  }
  return true;
}

void exec_engine::give_up_waiting(int code) {
  auto waiting = std::move(waiting_);
  waiting_.clear();
  for (auto& [ticket, job] : waiting) could_not_start(ticket, std::move(job), start_stage::fork, code);
}

void exec_engine::spawner_changed() {
  if (spawner_.now() == exec_spawner::state::absent) return;
  const bool was_ready = spawner_.now() == exec_spawner::state::ready;
  // A spawner that never became ready will not do better at the next start.
  if (!spawner_.listen() && !was_ready) give_up_waiting(ENOEXEC);
}

void exec_engine::mind_timers() {
  const auto now = steady::now();
  const auto late = std::stable_partition(overdue_.begin(), overdue_.end(), [&](const overdue& o) { return o.report_at > now; });
  for (auto it = late; it != overdue_.end(); ++it) finish(it->ticket, *it->job, std::move(it->ending));
  overdue_.erase(late, overdue_.end());
  const auto hopeless =
      std::stable_partition(waiting_.begin(), waiting_.end(), [&](const auto& entry) { return entry.second->deadline > now; });
  for (auto it = hopeless; it != waiting_.end(); ++it) could_not_start(it->first, std::move(it->second), start_stage::too_late, 0);
  waiting_.erase(hopeless, waiting_.end());
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const auto ticket = timers_.begin()->second;
    auto& entry = active_.at(ticket);
    auto& attempt = *entry.attempt;
    if (!attempt.ending()) {
      // The shepherd has ended the command by now, or is late.
      attempt.end(exec_attempt::reason::ran_out);
      set_timer(entry, now + stop_grace);
      continue;
    }
    if (!entry.told) {
      entry.told = true;
      exec_ending late;
      late.how = exec_ending::kind::timed_out;
      finish(ticket, attempt.job(), std::move(late));
    }
    attempt.nudge();
    set_timer(entry, now + nudge_every);
  }
}

void exec_engine::set_timer(running& of, steady::time_point at) {
  const auto ticket = of.attempt->ticket();
  timers_.erase({of.due, ticket});
  of.due = at;
  timers_.emplace(at, ticket);
}

void exec_engine::conclude(std::uint64_t ticket) {
  auto entry = std::move(active_.extract(ticket).mapped());
  timers_.erase({entry.due, ticket});
  if (entry.told) return;
  auto ending = entry.attempt->ending_of();
  auto job = entry.attempt->release_job();
  const bool ran_out = ending.how == exec_ending::kind::timed_out;
  if (ran_out && !job->of_a_try) {
    overdue_.push_back({std::max(job->deadline, steady::now()) + stop_grace, ticket, std::move(job), std::move(ending)});
    return;
  }
  finish(ticket, *job, std::move(ending));
}

void exec_engine::could_not_start(std::uint64_t ticket, std::unique_ptr<exec_job> job, start_stage stage, int code) {
  exec_ending ending;
  ending.how = exec_ending::kind::not_started;
  ending.stage = stage;
  ending.value = code;
  if (stage == start_stage::too_late && !job->of_a_try) {
    overdue_.push_back({steady::now() + stop_grace, ticket, std::move(job), std::move(ending)});
    return;
  }
  finish(ticket, *job, std::move(ending));
}

void exec_engine::finish(std::uint64_t ticket, const exec_job& job, exec_ending ending) {
  if (!owner_.claim(job.key, ticket)) return;
  try {
    job.finished(std::move(ending));
  } catch (...) {
    // A completion only passes the result on. No other receiver exists, and the other commands must go on.
  }
}

void exec_engine::end_all() {
  for (auto& [ticket, entry] : active_) {
    entry.told = true;
    entry.attempt->end(exec_attempt::reason::stopped);
  }
  waiting_.clear();
  overdue_.clear();
  const auto until = steady::now() + shut_down_limit;
  while (!active_.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady::now()).count();
    // The shepherds end the rest by their orders; this thread no longer waits.
    if (left <= 0) break;
    std::array<epoll_event, 128> events;
    const auto count = epoll_wait(epoll_.get(), events.data(), events.size(), static_cast<int>(left));
    for (int i = 0; i < count; ++i) happened(events[static_cast<std::size_t>(i)].data.u64);
  }
  active_.clear();
  spawner_.drop();
}

int exec_engine::patience_ms() const {
  auto wait_ms = std::chrono::milliseconds{busy_ ? busy_wait_ms : idle_wait_ms};
  auto until = steady::now() + wait_ms;
  if (!timers_.empty()) until = std::min(until, timers_.begin()->first);
  for (const auto& late : overdue_) until = std::min(until, late.report_at);
  for (const auto& [ticket, job] : waiting_) until = std::min(until, job->deadline);
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(until - steady::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, idle_wait_ms));
}

}  // namespace fairlead::agents
