#include "actors/expressions/pool.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include "actors/core/expression/check.hpp"
#include "actors/core/expression/together.hpp"
#include "actors/expressions/process.hpp"
#include "messages/time.hpp"

namespace fairlead {
namespace {

using steady = std::chrono::steady_clock;
constexpr int max_start_failures = 5;
constexpr int max_times_lost = 2;
// Of a group that is checked together. An expression that binds names takes jq far longer, and counts for several.
constexpr std::size_t most_in_group = 1'024;
constexpr std::size_t most_group_bytes = 131'072;
constexpr std::size_t counts_with_names = 8;
constexpr int hung_after = 30;  // time limits, without having used one of the processors

std::string frame_of(const v1::EvaluateRequest& request) {
  const auto size = static_cast<std::uint32_t>(request.ByteSizeLong());
  std::string out;
  out.reserve(size + 4);
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>((size >> shift) & 0xFF);
  request.AppendToString(&out);
  return out;
}

struct outstanding {
  v1::EvaluateRequest request;
  expression_pool::callback done;
  std::string frame;
  int times_lost = 0;  // its worker was killed from outside

  void fail(error why) const {
    v1::EvaluateReply reply;
    reply.set_ticket(request.ticket());
    *reply.mutable_error() = why.to_proto();
    done(std::move(reply));
  }

  /// "expression ${ … }" or "one of the expressions ${ … }, ${ … }": it is unknown which one ended the worker.
  std::string subject() const {
    std::string out = request.expressions_size() == 1 ? "expression" : "one of the expressions";
    for (int i = 0; i < request.expressions_size(); ++i) out += (i > 0 ? ", ${ " : " ${ ") + request.expressions(i) + " }";
    return out;
  }
};

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status)) + ", " + strsignal(WTERMSIG(status));
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

bool killed_from_outside(int status) {
  return WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGHUP);
}

}  // namespace

class expression_pool::impl {
 public:
  explicit impl(expression_pool_options options) : options_(std::move(options)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  ~impl() {
    shut_down();
    close(wake_);
  }

  void evaluate(outstanding entry) {
    {
      const std::lock_guard lock(mutex_);
      if (!stopping_) {
        incoming_.push_back(std::move(entry));
        if (!thread_.joinable()) begin();
        if (incoming_.size() == 1) wake();
        return;
      }
    }
    entry.fail(stopped());
  }

  void start_copy(const std::function<int()>& work) {
    const std::lock_guard lock(mutex_);
    if (thread_.joinable() || stopping_ || worker_) return;
    if (auto made = expression_process::start_copy(work); made.ok()) take(std::move(made).value());
  }

  void shut_down() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      wake();
    }
    const std::lock_guard lock(join_mutex_);
    if (thread_.joinable()) thread_.join();
  }

  int worker_pid() const { return pid_; }

 private:
  static error stopped() { return {v1::ERROR_CODE_UNAVAILABLE, "expressions are no longer evaluated: the node is shutting down", ""}; }

  void wake() const { eventfd_write(wake_, 1); }

  void begin() {
    // Signals are for the node's main thread.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread_.native_handle(), "expressions");
  }

  void run() {
    while (take_incoming()) {
      if (!worker_ && !queue_.empty() && steady::now() >= retry_at_) start();
      if (worker_ && ready_) write();
      wait();
      if (worker_ && !read()) worker_ended();
      if (worker_ && timer_armed() && steady::now() >= deadline_) deadline_passed();
    }
    drop_worker();
    while (!queue_.empty()) answer_head_with(stopped());
  }

  bool take_incoming() {
    const std::lock_guard lock(mutex_);
    for (auto& entry : incoming_) queue_.push_back(std::move(entry));
    incoming_.clear();
    return !stopping_;
  }

  /// Also while the first request is being written: a worker that does not read is noticed, too.
  bool timer_armed() const { return worker_ && (!ready_ || sent_ > 0 || offset_ > 0); }

  void wait() {
    std::array<pollfd, 2> what{pollfd{wake_, POLLIN, 0}, pollfd{-1, 0, 0}};
    if (worker_) what[1] = {worker_->descriptor(), static_cast<short>(ready_ && sent_ < queue_.size() ? POLLIN | POLLOUT : POLLIN), 0};
    int timeout_ms = -1;
    if (timer_armed() || (!worker_ && !queue_.empty())) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>((worker_ ? deadline_ : retry_at_) - steady::now());
      timeout_ms = static_cast<int>(std::max<std::int64_t>(0, left.count()));
    }
    poll(what.data(), what.size(), timeout_ms);
    eventfd_t count = 0;
    eventfd_read(wake_, &count);
  }

  void start() {
    auto made = expression_process::start(options_.executable, options_.arguments);
    made.ok() ? take(std::move(made).value()) : start_failed(made.failure());
  }

  void take(std::unique_ptr<expression_process> made) {
    worker_ = std::move(made);
    pid_ = worker_->pid();
    deadline_ = steady::now() + options_.start_limit;
  }

  /// Tries again soon, then less and less often. Callers that wait for a worker get an error after some failures.
  void start_failed(error why) {
    ++start_failures_;
    retry_at_ = steady::now() + std::chrono::milliseconds(10) * (1 << std::min(start_failures_, 7));
    if (start_failures_ < max_start_failures) return;
    why.remedy = "Check the memory and process limits of the node.";
    while (!queue_.empty()) answer_head_with(why);
  }

  void write() {
    while (sent_ < queue_.size()) {
      const auto& frame = queue_[sent_].frame;
      if (sent_ == 0 && offset_ == 0) arm();
      offset_ += worker_->write_some(std::string_view(frame).substr(offset_));
      if (offset_ < frame.size()) return;
      offset_ = 0;
      if (sent_++ == 0) arm();
    }
  }

  void arm() {
    armed_at_ = steady::now();
    deadline_ = armed_at_ + options_.time_limit;
    used_before_ = worker_->cpu_time();
  }

  /// False: the worker has ended.
  bool read() {
    const bool open = worker_->read_some(inbox_);
    std::size_t at = 0;
    while (worker_ && inbox_.size() - at >= 4) {
      std::uint32_t size = 0;
      for (std::size_t i = 0; i < 4; ++i) size |= static_cast<std::uint32_t>(static_cast<unsigned char>(inbox_[at + i])) << (8 * i);
      if (inbox_.size() - at - 4 < size) break;
      at += 4;
      if (size == 0) {
        ready_ = true;
        if (sent_ > 0) arm();
      } else {
        accept(inbox_.data() + at, size);
      }
      at += size;
    }
    inbox_.erase(0, at);
    return open || !worker_;
  }

  void accept(const char* bytes, std::size_t size) {
    v1::EvaluateReply reply;
    if (sent_ == 0 || !reply.ParseFromArray(bytes, static_cast<int>(size)) || reply.ticket() != queue_.front().request.ticket()) {
      // Not the protocol: nothing that the process says can be trusted.
      drop_worker();
      if (!queue_.empty()) answer_head_with({v1::ERROR_CODE_INTERNAL, "the expression worker sent an invalid answer", ""});
      return;
    }
    start_failures_ = 0;
    --sent_;
    if (sent_ > 0 || offset_ > 0) arm();
    const auto entry = std::move(queue_.front());
    queue_.pop_front();
    entry.done(std::move(reply));
  }

  void worker_ended() {
    const int status = worker_->reap();
    const bool evaluating = sent_ > 0;
    drop_worker();
    if (!evaluating) return start_failed({v1::ERROR_CODE_UNAVAILABLE, "the expression worker ended early: " + describe_end(status), ""});
    auto& head = queue_.front();
    if (killed_from_outside(status) && head.times_lost++ < max_times_lost) return;
    const bool memory = WIFEXITED(status) && WEXITSTATUS(status) == expression_worker_out_of_memory;
    answer_head_with({v1::ERROR_CODE_EXPRESSION,
                      head.subject() + (memory ? " needed more than " + std::to_string(options_.memory_bytes >> 20) +
                                                     " MiB of memory: evaluation stopped"
                                               : " ended the process that evaluated it (" + describe_end(status) + ")"),
                      "Simplify the expression, or do this work in a step."});
  }

  void deadline_passed() {
    // A poll that woke long after its deadline means that this process stood still, and perhaps the worker, too.
    if (steady::now() - deadline_ > options_.time_limit) {
      armed_at_ = steady::now();
      deadline_ = armed_at_ + (ready_ ? options_.time_limit : options_.start_limit);
      return;
    }
    if (!ready_) {
      drop_worker();
      return start_failed({v1::ERROR_CODE_UNAVAILABLE, "the expression worker did not become ready", ""});
    }
    // On a busy machine the worker waits for a processor, which is no fault of the expression.
    const auto left = options_.time_limit - (worker_->cpu_time() - used_before_);
    const bool hangs = steady::now() - armed_at_ > hung_after * options_.time_limit;
    if (left.count() > 0 && !hangs) {
      deadline_ = steady::now() + std::max<steady::duration>(left, std::chrono::milliseconds{1});
      return;
    }
    drop_worker();
    if (left.count() > 0) return answer_head_with({v1::ERROR_CODE_UNAVAILABLE, "the expression worker does not get on", ""});
    answer_head_with(
        {v1::ERROR_CODE_EXPRESSION,
         queue_.front().subject() + " took longer than " + format_duration(options_.time_limit.count()) + ": evaluation stopped",
         "Simplify the expression, or do this work in a step."});
  }

  /// Requests sent and not answered are sent again to the next worker.
  void drop_worker() {
    worker_.reset();
    pid_ = 0;
    ready_ = false;
    sent_ = offset_ = 0;
    inbox_.clear();
  }

  void answer_head_with(const error& why) {
    const auto entry = std::move(queue_.front());
    queue_.pop_front();
    entry.fail(why);
  }

  const expression_pool_options options_;
  const int wake_;

  std::mutex mutex_;
  std::vector<outstanding> incoming_;
  bool stopping_ = false;
  std::mutex join_mutex_;
  std::atomic<int> pid_ = 0;

  // Used only by the pool's thread once there is one.
  std::deque<outstanding> queue_;  // the worker has the first `sent_` of these, and works on the front one
  std::unique_ptr<expression_process> worker_;
  bool ready_ = false;
  std::size_t sent_ = 0;
  std::size_t offset_ = 0;  // bytes sent of the next frame
  std::string inbox_;
  steady::time_point deadline_;  // of the front request, or of the start
  // Of the front request:
  steady::time_point armed_at_;
  std::chrono::nanoseconds used_before_{};  // of the processors, by the worker
  steady::time_point retry_at_;
  int start_failures_ = 0;

  std::thread thread_;
};

expression_pool::expression_pool(expression_pool_options options) : impl_(std::make_unique<impl>(std::move(options))) {}
expression_pool::~expression_pool() = default;

void expression_pool::evaluate(v1::EvaluateRequest request, callback done) {
  // The worker would end at it, and be asked again for ever.
  if (request.ByteSizeLong() > max_expression_request_bytes)
    return outstanding{std::move(request), std::move(done), {}}.fail(
        {v1::ERROR_CODE_EXPRESSION, "the expressions read more than " + std::to_string(max_expression_request_bytes >> 20) + " MiB",
         "Read only the members that are needed."});
  auto frame = frame_of(request);
  request.clear_document();  // the frame has it
  impl_->evaluate({std::move(request), std::move(done), std::move(frame)});
}

void expression_pool::start_copy(const std::function<int()>& work) { impl_->start_copy(work); }

status expression_pool::check(const std::vector<std::string>& expressions) {
  for (auto& one : check_each(expressions))
    if (!one.ok()) return std::move(one);
  return nothing{};
}

// Expressions with one shape compile alike: the first of them is asked for, and the others only if it is at fault, because what is told of
// an expression is in its own words. Where no names are bound, compiling is cheaper than comparing.
std::vector<status> expression_pool::check_each(const std::vector<std::string>& all) {
  struct known {
    std::string_view text;
    std::size_t alike;  // the first with the same shape
  };
  std::vector<known> expressions;
  std::unordered_map<std::string_view, std::size_t> places;
  std::unordered_map<std::string, std::size_t> shapes;
  for (const auto& one : all) {
    const auto at = expressions.size();
    if (!places.emplace(one, at).second) continue;
    const auto shape = core::binds_nothing(one) ? std::nullopt : core::shape_of(one);
    expressions.push_back({one, shape ? shapes.emplace(*shape, at).first->second : at});
  }
  std::vector<status> out(expressions.size(), status{nothing{}});
  const auto ask_for = [&](const auto& wanted) {
    std::vector<std::size_t> which;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      if (!wanted(i)) continue;
      which.push_back(i);
      texts.emplace_back(expressions[i].text);
    }
    auto told = check_groups(texts);
    for (std::size_t i = 0; i < which.size(); ++i) out[which[i]] = std::move(told[i]);
  };
  ask_for([&](std::size_t i) { return expressions[i].alike == i; });
  ask_for([&](std::size_t i) { return expressions[i].alike != i && !out[expressions[i].alike].ok(); });
  std::vector<status> of_all;
  for (const auto& one : all) of_all.push_back(out[places.at(one)]);
  return of_all;
}

// Several expressions compile together almost as fast as one alone, so a worker is asked for groups. A group that does not compile is asked
// for again in smaller ones, until it is known which of its expressions is at fault.
std::vector<status> expression_pool::check_groups(const std::vector<std::string>& expressions) {
  struct group {
    std::size_t begin, end;
    std::future<v1::EvaluateReply> reply;
  };
  std::vector<status> out(expressions.size(), status{nothing{}});
  std::vector<group> asked;
  const auto ask = [&](std::size_t begin, std::size_t end) {
    auto promise = std::make_shared<std::promise<v1::EvaluateReply>>();
    asked.push_back({begin, end, promise->get_future()});
    v1::EvaluateRequest request;
    request.set_ticket(asked.size());
    for (auto i = begin; i < end; ++i) request.add_expressions(expressions[i]);
    evaluate(std::move(request), [promise](v1::EvaluateReply reply) { promise->set_value(std::move(reply)); });
  };
  for (std::size_t begin = 0, end = 0; begin < expressions.size(); begin = end) {
    for (std::size_t count = 0, bytes = 0; end < expressions.size(); ++end) {
      const auto times = core::binds_nothing(expressions[end]) ? 1 : counts_with_names;
      count += times;
      bytes += times * expressions[end].size();
      if (end > begin && (count > most_in_group || bytes > most_group_bytes)) break;
    }
    ask(begin, end);
  }
  while (!asked.empty()) {
    auto replies = std::exchange(asked, {});
    for (auto& [begin, end, reply] : replies) {
      const auto answer = reply.get();
      if (!answer.has_error()) continue;
      const auto size = end - begin;
      if (size == 1 || answer.error().code() != v1::ERROR_CODE_EXPRESSION) {
        std::fill(out.begin() + static_cast<std::ptrdiff_t>(begin), out.begin() + static_cast<std::ptrdiff_t>(end),
                  status{error::from_proto(answer.error())});
        continue;
      }
      const auto part = (size + 7) / 8;
      for (auto at = begin; at < end; at += part) ask(at, std::min(at + part, end));
    }
  }
  return out;
}

int expression_pool::worker_pid() const { return impl_->worker_pid(); }

void expression_pool::shut_down() { impl_->shut_down(); }

}  // namespace fairlead
