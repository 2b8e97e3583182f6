#include "app/cli/task/batch.hpp"

#include <algorithm>
#include <thread>

#include "actors/core/waits.hpp"
#include "app/json/submission.hpp"
#include "messages/ids.hpp"

namespace fairlead::app {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Together at most 256 items are sent and not yet acknowledged.
constexpr int submitters = 4;
constexpr std::size_t chunk_items = 64;
constexpr std::size_t queue_items = 1'024;

constexpr milliseconds first_backoff{50};
constexpr milliseconds longest_backoff{1'000};

/// A refusal that a later attempt may overcome.
bool passing(error_code code) {
  return code == v1::ERROR_CODE_OVERLOADED || code == v1::ERROR_CODE_UNAVAILABLE || code == v1::ERROR_CODE_TIMED_OUT;
}

double seconds_since(steady_clock::time_point start) { return std::chrono::duration<double>(steady_clock::now() - start).count(); }

}  // namespace

batch_run::batch_run(client& to, batch_options options) : to_(to), options_(std::move(options)) {}

batch_outcome batch_run::run(line_reader& in, progress_display& display) {
  if (options_.wait) to_.on_finished([this](const v1::FinishedNotice& notice) { on_notice(notice); });
  std::vector<std::thread> threads;
  threads.emplace_back([&] { read(in); });
  for (int i = 0; i < submitters; ++i) threads.emplace_back([this] { submit(); });
  if (options_.wait) threads.emplace_back([this] { poll(); });
  {
    std::unique_lock lock{mutex_};
    while (!over()) {
      changed_.wait_for(lock, milliseconds{50});
      auto now = progress();
      lock.unlock();
      display.show(now);
      lock.lock();
    }
  }
  changed_.notify_all();
  for (auto& thread : threads) thread.join();
  to_.on_finished({});
  display.finish(progress());
  std::sort(outcome_.refusals.begin(), outcome_.refusals.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  outcome_.seconds = seconds_since(started_);
  return outcome_;
}

bool batch_run::over() const {
  if (outcome_.gave_up) return true;
  return all_read_ && queue_.empty() && busy_ == 0 && open_.empty();
}

batch_progress batch_run::progress() const {
  batch_progress out;
  out.lines = options_.lines;
  out.acknowledged = outcome_.submitted + outcome_.already;
  out.refused = outcome_.refusals.size();
  out.ended = ended_;
  out.waiting = options_.wait;
  out.seconds = seconds_since(started_);
  return out;
}

void batch_run::refuse(std::uint64_t line, const std::string& id, error why) {
  outcome_.refusals.push_back({line, id, std::move(why)});
  changed_.notify_all();
}

void batch_run::give_up(const error& why) {
  if (!outcome_.gave_up) outcome_.gave_up = why;
  changed_.notify_all();
}

void batch_run::read(line_reader& in) {
  auto stop = [this] {
    std::lock_guard lock{mutex_};
    return outcome_.gave_up.has_value();
  };
  std::string line;
  for (std::uint64_t number = 1;; ++number) {
    const auto got = in.next(line, stop);
    if (got == line_read::line) {
      if (blank_line(line)) continue;
      if (auto parsed = parse_batch_line(line)) {
        enqueue(number, std::move(*parsed));
        continue;
      } else {
        std::lock_guard lock{mutex_};
        refuse(number, "", parsed.failure());
        continue;
      }
    }
    std::lock_guard lock{mutex_};
    if (got == line_read::too_long) {
      refuse(number, "", {v1::ERROR_CODE_INVALID_ARGUMENT, "The line is longer than 1 MiB", "An input has at most 256 KiB"});
      continue;
    }
    if (got == line_read::failed)
      give_up({v1::ERROR_CODE_DISK, "The batch file could not be read to its end", "Check the file, then submit it again"});
    all_read_ = true;
    changed_.notify_all();
    return;
  }
}

void batch_run::enqueue(std::uint64_t line, v1::Submission what) {
  // The id is set before the first request. A notice may arrive before the acknowledgement, and a
  // repeated request must not create a second task.
  if (what.id().empty()) what.set_id(make_uuid_v7(now_unix_ms()));
  what.set_workflow(options_.workflow);
  for (const auto& label : options_.labels) {
    auto same = [&](const v1::Label& own) { return own.key() == label.key(); };
    if (std::none_of(what.labels().begin(), what.labels().end(), same)) *what.add_labels() = label;
  }
  if (options_.priority && what.priority() == 0) what.set_priority(*options_.priority);
  if (what.start_at_unix_ms() == 0 && what.delay_ms() == 0) {
    what.set_start_at_unix_ms(options_.start.start_at_unix_ms());
    what.set_delay_ms(options_.start.delay_ms());
  }
  if (options_.reply && !what.has_reply()) *what.mutable_reply() = *options_.reply;

  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return queue_.size() < queue_items || outcome_.gave_up; });
  queue_.push_back({line, std::move(what)});
  changed_.notify_all();
}

std::vector<batch_run::item> batch_run::take_chunk() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return !queue_.empty() || all_read_ || outcome_.gave_up; });
  std::vector<item> out;
  if (outcome_.gave_up) return out;
  while (!queue_.empty() && out.size() < chunk_items) {
    if (options_.wait) {
      auto& open = open_[queue_.front().submission.id()];
      open.line = queue_.front().line;
      ++open.on_their_way;
    }
    out.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  if (!out.empty()) ++busy_;
  changed_.notify_all();
  return out;
}

void batch_run::submit() {
  for (auto chunk = take_chunk(); !chunk.empty(); chunk = take_chunk()) {
    std::uint64_t refusals = 0;
    auto until = steady_clock::now() + options_.patience;
    for (;;) {
      const auto before = chunk.size();
      if (!submit_chunk(chunk) || chunk.empty()) break;
      if (chunk.size() < before) {  // some items were accepted: that is progress
        refusals = 0;
        until = steady_clock::now() + options_.patience;
      }
      std::unique_lock lock{mutex_};
      if (steady_clock::now() > until)
        give_up({v1::ERROR_CODE_OVERLOADED,
                 "The node has accepted no task for " + format_duration(options_.patience.count()) + ": it is overloaded",
                 "Submit the remaining lines later"});
      if (changed_.wait_for(lock, core::backoff_after(++refusals, first_backoff, longest_backoff),
                            [&] { return outcome_.gave_up.has_value(); }))
        break;
    }
    std::lock_guard lock{mutex_};
    --busy_;
    changed_.notify_all();
  }
}

/// Keeps in `chunk` the items to be sent again. False: sending again would not help.
bool batch_run::submit_chunk(std::vector<item>& chunk) {
  v1::SubmitRequest request;
  request.set_notify(options_.wait);
  for (const auto& one : chunk) *request.add_items() = one.submission;
  auto reply = to_.submit(std::move(request));

  std::lock_guard lock{mutex_};
  if (!reply) {
    if (reply.failure().code == v1::ERROR_CODE_OVERLOADED) return true;
    give_up(reply.failure());
    return false;
  }
  std::vector<item> again;
  for (std::size_t i = 0; i < chunk.size(); ++i) take_answer(chunk[i], reply->results(static_cast<int>(i)), again);
  chunk = std::move(again);
  changed_.notify_all();
  return true;
}

void batch_run::take_answer(item& one, const v1::SubmitResult& answer, std::vector<item>& again) {
  const auto code = answer.error().code();
  if (passing(code)) {
    again.push_back(std::move(one));
    return;
  }
  const auto id = one.submission.id();
  if (code == v1::ERROR_CODE_OK)
    ++(answer.created() ? outcome_.submitted : outcome_.already);
  else
    refuse(one.line, id, error::from_proto(answer.error()));

  auto found = open_.find(id);
  if (found == open_.end()) return;
  auto& open = found->second;
  --open.on_their_way;
  if (code == v1::ERROR_CODE_OK) open.acknowledged = true;
  if (open.on_their_way > 0) return;
  if (!open.acknowledged) {
    open_.erase(found);
  } else if (open.end) {
    const auto end = *open.end;
    settle(end);
  }
}

}  // namespace fairlead::app
