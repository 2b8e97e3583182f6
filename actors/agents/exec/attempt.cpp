#include "actors/agents/exec/attempt.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "actors/core/text/text.hpp"

namespace fairlead::agents {

namespace {

// Bytes kept of stderr: what outcome.cpp hides if the beginning is lost, and after it what is shown or kept as the log.
constexpr std::size_t kept_errors = longest_secret_spelling + core::kept_log_bytes;
constexpr int turns = 4;  // reads in a row before other attempts have their turn
constexpr auto longest_margin = std::chrono::milliseconds{20};

/// This process never waits on `ours`.
bool make_pipe(descriptor& ours, descriptor& theirs, bool to_child) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  theirs.reset(to_child ? ends[0] : ends[1]);
  ours.reset(to_child ? ends[1] : ends[0]);
  return fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0;
}

/// Calls `take` with the bytes that have arrived, and closes `from` at its end.
template <class Take>
void drain(descriptor& from, int most, Take take) {
  std::array<char, 65'536> buffer;
  for (int turn = 0; from && turn < most; ++turn) {
    const auto got = read(from.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return from.reset();
    take(std::string_view{buffer.data(), static_cast<std::size_t>(got)});
  }
}

std::int64_t ns(std::chrono::steady_clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}

bool write_order(descriptor& into, const std::string& bytes) {
  // Not in a pipe, which might be too small, nor in a file, since the order holds secrets.
  into.reset(memfd_create("order", MFD_CLOEXEC));
  if (!into) return false;
  for (std::size_t done = 0; done < bytes.size();) {
    const auto wrote = write(into.get(), bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    done += static_cast<std::size_t>(wrote);
  }
  return true;
}

}  // namespace

int exec_attempt::open(int null_device) {
  null_device_ = null_device;
  // Killing takes a moment too, so it begins early. The grace is part of the time left; a short attempt gives little of it.
  const auto left = job_->deadline - std::chrono::steady_clock::now();
  const auto kill_at = job_->deadline - std::min<std::chrono::steady_clock::duration>(longest_margin, left / 10);
  const auto grace = std::min<std::chrono::steady_clock::duration>(std::chrono::milliseconds{job_->stop_grace_ms}, left / 10);
  job_->order.kill_at_ns = ns(kill_at);
  job_->order.terminate_at_ns = ns(kill_at - grace);

  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return errno;
  control_.reset(ends[0]);
  theirs_.control.reset(ends[1]);
  if (fcntl(control_.get(), F_SETFL, O_NONBLOCK) != 0) return errno;
  if (job_->has_input && !make_pipe(input_, theirs_.input, true)) return errno;
  if ((job_->has_output && !make_pipe(output_, theirs_.output, false)) || !make_pipe(errors_, theirs_.errors, false) ||
      !make_pipe(progress_, theirs_.progress, false) || !write_order(theirs_.order, encode(job_->order)))
    return errno;
  return 0;
}

sent_descriptors exec_attempt::theirs() const {
  return {theirs_.control.get(),
          theirs_.order.get(),
          job_->has_input ? theirs_.input.get() : null_device_,
          job_->has_output ? theirs_.output.get() : theirs_.errors.get(),
          theirs_.errors.get(),
          theirs_.progress.get()};
}

int exec_attempt::watched(channel which) const {
  switch (which) {
    case channel::control: return control_.get();
    case channel::input: return input_.get();
    case channel::output: return output_.get();
    case channel::errors: return errors_.get();
    case channel::progress: return progress_.get();
  }
  return -1;
}

unsigned exec_attempt::events(channel which) { return which == channel::input ? EPOLLOUT : EPOLLIN; }

void exec_attempt::happened(channel which) {
  switch (which) {
    case channel::control: return hear();
    case channel::input: return feed();
    case channel::output: return take_output();
    case channel::errors: return take_errors();
    case channel::progress: return take_progress();
  }
}

void exec_attempt::feed() {
  while (input_) {
    const auto sent = write(input_.get(), job_->input.data() + fed_, job_->input.size() - fed_);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent > 0) fed_ += static_cast<std::size_t>(sent);
    // A command that does not read all of its input may still succeed.
    if (sent < 0 || fed_ >= job_->input.size()) input_.reset();
  }
}

void exec_attempt::take_output() {
  drain(output_, turns, [this](std::string_view bytes) {
    if (result_.output.size() + bytes.size() <= job_->max_output_bytes) {
      result_.output += bytes;
    } else {
      end(reason::too_much);
    }
  });
}

void exec_attempt::take_errors() {
  drain(errors_, turns, [this](std::string_view bytes) {
    auto& kept = result_.errors;
    kept += bytes;
    if (kept.size() <= 2 * kept_errors) return;  // rarely, because all of it moves
    kept.erase(0, kept.size() - kept_errors);
    result_.errors_cut = true;
  });
}

void exec_attempt::take_progress() {
  // One read, so that a flood of lines becomes one report for every 64 KiB.
  drain(progress_, 1, [this](std::string_view bytes) {
    if (auto said = lines_.take(bytes)) said_ = std::move(said);
  });
}

void exec_attempt::hear() {
  while (!over_) {
    shepherd_record record;
    // Records are far smaller than a socket's buffer, so they arrive whole.
    const auto got = read(control_.get(), &record, sizeof record);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got != sizeof record || record.mark != shepherd_record{}.mark) break;
    last_ = record;
    if (record.what == shepherd_says::is_there) {
      shepherd_ = record.value;
    } else {
      over_ = true;
    }
  }
  over_ = true;
  // All writers are gone, except processes that were passed the pipe by a writer; nobody waits for these.
  constexpr int all = 64;
  drain(output_, all, [this](std::string_view bytes) {
    if (result_.output.size() + bytes.size() <= job_->max_output_bytes) {
      result_.output += bytes;
    } else {
      end(reason::too_much);
    }
  });
  take_errors();
  take_progress();
}

void exec_attempt::end(reason why) {
  if (ended_) return;
  ended_ = true;
  why_ = why;
  output_.reset();
  shutdown(control_.get(), SHUT_WR);
  nudge();
}

void exec_attempt::nudge() const {
  if (shepherd_ > 0 && !over_) kill(shepherd_, SIGCONT);
}

exec_ending exec_attempt::ending_of() {
  using kind = exec_ending::kind;
  auto out = std::move(result_);
  out.stage = last_.stage;
  out.value = last_.value;
  out.asked = last_.asked != 0;
  out.broken_progress = lines_.broken();
  switch (last_.what) {
    // Nothing starts before the shepherd has reported itself.
    case shepherd_says::is_there:
      out.how = shepherd_ > 0 ? kind::lost : kind::not_started;
      if (shepherd_ <= 0) out.value = EAGAIN;
      break;
    case shepherd_says::not_started: out.how = kind::not_started; return out;
    case shepherd_says::exited: out.how = kind::exited; break;
    case shepherd_says::signalled: out.how = last_.by != ended_by::itself || out.asked ? kind::timed_out : kind::signalled; break;
  }
  if (ended_ && why_ == reason::too_much) out.how = kind::too_large;
  if (ended_ && why_ == reason::ran_out && out.how != kind::exited && out.how != kind::not_started) out.how = kind::timed_out;
  return out;
}

}  // namespace fairlead::agents
