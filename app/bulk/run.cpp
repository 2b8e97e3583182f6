#include "app/bulk/run.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/request_limits.hpp"
#include "app/bulk/action.hpp"
#include "app/bulk/tally.hpp"
#include "app/json/node/task_action.hpp"

namespace fairlead::app::bulk {

namespace {

constexpr duration look_every = std::chrono::seconds{1};  // at the operation's own task, and its heartbeat
constexpr duration first_pause = std::chrono::milliseconds{500};
constexpr duration longest_pause = std::chrono::seconds{3};
constexpr duration wait_slice = std::chrono::milliseconds{100};
/// Acts four times a second, so that a stop is soon seen.
constexpr std::uint32_t chunks_a_second = 4;
constexpr std::uint32_t most_a_chunk = 500;
constexpr const char* paused_note = "paused";

/// Nothing was done, and the same request may be taken later.
bool is_for_later(v1::ErrorCode code) {
  switch (code) {
    case v1::ERROR_CODE_UNAVAILABLE:
    case v1::ERROR_CODE_OVERLOADED:
    case v1::ERROR_CODE_TIMED_OUT:
    case v1::ERROR_CODE_STALE_EPOCH:
    case v1::ERROR_CODE_STORE_FULL: return true;
    default: return false;
  }
}

duration longer(duration pause) { return pause == duration{0} ? first_pause : std::min(pause * 2, longest_pause); }

class run {
 public:
  run(const world& in, const agents::native_context& context, action what)
      : in_(in),
        context_(context),
        what_(std::move(what)),
        at_(tally::of(context.checkpoint)),
        token_("op:" + std::string{context.task_id.substr(id_prefix.size())}),
        may_be_done_(what_.what.verb() != v1::OPERATOR_VERB_DELETE && context.attempt > 1) {}

  agents::attempt_result to_the_end() {
    while (!at_.over || !left_.empty() || !at_.aside.empty()) {
      if (!may_go_on()) return ended_early();
      if (left_.empty()) has_its_turn_again() ? take_aside() : take_next();
      if (!left_.empty()) act();
    }
    return agents::completed(at_.text());
  }

 private:
  enum class why_end { none, lease, node, stopped };

  agents::attempt_result ended_early() {
    if (end_ == why_end::stopped) {
      at_.stopped = true;
      at_.aside.clear();
      return agents::completed(at_.text());
    }
    if (refused_) return agents::permanent_fault(code_word(refused_->code), refused_->sentence);
    tell("goes on at another node");
    return agents::transient_fault("node_ending", "the node ended while it carried out the operation");
  }

  /// False: for no longer, and `end_` or `refused_` says why. Waits while the operation is paused.
  bool may_go_on() {
    for (;;) {
      if (refused_) return false;
      if (context_.stopped()) return end_as(why_end::lease);
      if (in_.is_ending()) return end_as(why_end::node);
      if (in_.steady() < next_look_) return true;
      next_look_ = in_.steady() + look_every;
      tell(note_);
      v1::TaskShowRequest request;
      request.set_id(std::string{context_.task_id});
      const auto own = in_.show(request);
      // What cannot be seen now was running when it was seen last.
      if (!own) return own.failure().code != v1::ERROR_CODE_NOT_FOUND || end_as(why_end::stopped);
      const auto& task = own->task();
      if (task.state() != v1::TASK_STATE_RUNNING || task.failing()) return end_as(why_end::stopped);
      if (!task.paused()) {
        if (note_ == paused_note) note_.clear();
        return true;
      }
      tell(paused_note);
      in_.wait(look_every);
    }
  }

  bool end_as(why_end why) {
    end_ = why;
    return false;
  }

  std::size_t chunk_size() const { return std::clamp<std::size_t>(what_.rate / chunks_a_second, 1, most_a_chunk); }

  bool has_its_turn_again() const { return !at_.aside.empty() && (at_.over || in_.steady() >= aside_until_); }

  void take_aside() {
    if (in_.steady() < aside_until_) return sleep_until(aside_until_);
    left_.assign(at_.aside.begin(), at_.aside.begin() + static_cast<std::ptrdiff_t>(std::min(at_.aside.size(), chunk_size())));
    is_again_ = true;
  }

  /// The next tasks to act on; none: the node does not answer, and has been waited for, or the page has none.
  void take_next() {
    if (!what_.ids.empty()) {
      const auto from = std::min<std::size_t>(at_.next_id, what_.ids.size());
      const auto to = std::min(from + chunk_size(), what_.ids.size());
      for (auto i = from; i < to; ++i)
        if (!is_operation(what_.ids[i])) left_.push_back(what_.ids[i]);
      page_.next_id = to;
      at_end_ = to == what_.ids.size();
      if (left_.empty()) page_done();
      return;
    }
    auto request = what_.which;
    request.set_as_of_unix_ms(what_.as_of_unix_ms);
    request.set_page_size(static_cast<std::uint32_t>(chunk_size()));
    request.set_cursor(at_.cursor);
    tell(note_);
    auto reply = in_.list(request);
    if (!reply) {
      if (!is_for_later(reply.failure().code)) refused_ = reply.failure();
      return pause(reply.failure());
    }
    pause_ = {};
    for (const auto& task : reply->items()) {
      if (is_operation(task.id()) || left_to_parent(what_.what.verb(), task.id()) || has_ended_since(task)) continue;
      if (misfit_of(what_.what.verb(), task.state(), task.parked(), task.paused()).empty())
        left_.push_back(task.id());
      else if (may_be_done_)
        doubtful_.insert(task.id());
    }
    left_.insert(left_.end(), doubtful_.begin(), doubtful_.end());
    page_.cursor = reply->cursor();
    at_end_ = reply->cursor().empty();
    if (left_.empty()) page_done();
  }

  /// The dry run of a deletion has counted what had ended by then.
  bool has_ended_since(const v1::TaskSummary& task) const {
    return what_.what.verb() == v1::OPERATOR_VERB_DELETE && task.finished_at_unix_ms() > what_.as_of_unix_ms;
  }

  void act() {
    v1::OperateRequest request;
    *request.mutable_action() = what_.what;
    // A deletion takes none, and changes nothing the second time.
    if (what_.what.verb() != v1::OPERATOR_VERB_DELETE) request.mutable_action()->set_token(token_);
    for (const auto& id : left_) request.add_ids(id);
    const auto began = in_.steady();
    tell(note_);
    const auto reply = in_.operate(request);
    if (!reply) {
      if (!is_for_later(reply.failure().code)) refused_ = reply.failure();
      return pause(reply.failure());
    }
    std::vector<std::string> later;
    std::optional<error> why;
    const auto acted = left_.size();
    auto has_repeated = doubtful_.empty();
    for (const auto& one : reply->results()) {
      if (!is_for_later(one.error().code())) {
        has_repeated = has_repeated || one.repeated();
        if (!doubtful_.contains(one.id()) || one.repeated()) at_.add(one);
        continue;
      }
      later.push_back(one.id());
      why = error::from_proto(one.error());
    }
    left_.clear();
    if (!may_set_aside(later)) {
      left_ = std::move(later);
      return pause(*why);
    }
    pause_ = {};
    const auto is_again = std::exchange(is_again_, false);
    const auto has_none_before = at_.aside.empty();
    if (is_again) at_.aside.erase(at_.aside.begin(), at_.aside.begin() + static_cast<std::ptrdiff_t>(acted));
    at_.aside.insert(at_.aside.end(), later.begin(), later.end());
    if (is_again || has_none_before) {
      aside_pause_ = why ? longer(aside_pause_) : duration{0};
      aside_until_ = in_.steady() + aside_pause_;
    }
    if (!is_again) {
      may_be_done_ = may_be_done_ && has_repeated;
      doubtful_.clear();
      begin_next_page();
    }
    tell(why ? why->sentence : "");
    // The next ones when these have had their time.
    sleep_until(began + duration{static_cast<std::int64_t>(acted * 1'000 / what_.rate)});
  }

  /// Whether the operation goes on without these for now: the checkpoint must have room for them. What may be done already stays with its page.
  bool may_set_aside(const std::vector<std::string>& later) const {
    std::size_t bytes = 0;
    for (const auto* const all : {&at_.aside, &later})
      for (const auto& id : *all) bytes += id.size() + 3;
    return later.empty() || is_again_ || (doubtful_.empty() && bytes <= most_aside_bytes);
  }

  void page_done() {
    begin_next_page();
    tell({});
  }

  void begin_next_page() {
    at_.cursor = page_.cursor;
    at_.next_id = page_.next_id;
    at_.over = at_end_;
  }

  void tell(const std::string& note) {
    note_ = note;
    const auto percent = what_.count == 0 ? 0 : std::min<std::uint64_t>(100, at_.answered() * 100 / what_.count);
    const auto said = note.empty() ? std::string{working_note} : note;
    // Of a page in progress the checkpoint is that of its beginning, and so are the counts.
    const auto checkpoint = left_.empty() ? at_.text() : std::string{};
    // One that is too large is left out: the heartbeat keeps the lease all the same.
    if (!context_.heartbeat(static_cast<std::uint32_t>(percent), said, checkpoint) && !checkpoint.empty())
      context_.heartbeat(static_cast<std::uint32_t>(percent), said);
  }

  void pause(const error& why) {
    pause_ = longer(pause_);
    tell(why.sentence);
    sleep_until(in_.steady() + pause_);
  }

  void sleep_until(duration end) {
    for (auto now = in_.steady(); now < end && !context_.stopped() && !in_.is_ending(); now = in_.steady())
      in_.wait(std::min(end - now, wait_slice));
  }

  const world& in_;
  const agents::native_context& context_;
  const action what_;
  tally at_;
  const std::string token_;
  tally page_;                     // only where the next page begins
  std::vector<std::string> left_;  // of the page in progress
  // What was done since the checkpoint, before the death of a node, is in another state, which the action does not fit any more: such tasks are asked
  // for again, until a page has none that the operation had done already.
  bool may_be_done_;
  std::set<std::string> doubtful_;  // of the page in progress
  bool at_end_ = false;             // the page in progress is the last one
  duration next_look_{0};
  duration pause_{0};
  bool is_again_ = false;  // what is left are the first of those that were set aside, and no page
  duration aside_until_{0}, aside_pause_{0};
  std::string note_;
  why_end end_ = why_end::none;
  std::optional<error> refused_;
};

}  // namespace

agents::attempt_result carry_out(const world& in, const agents::native_context& context, std::string_view input) {
  if (!is_operation(context.task_id))
    return agents::permanent_fault("forbidden", "Only a confirmed operation of the API may act on many tasks: POST /v1/tasks:act");
  auto what = action_of_input(input);
  if (!what) return agents::permanent_fault("bad_input", what.failure().sentence);
  // The id is made of the input: nobody has put another one in its place.
  if (id_of(input_of(*what)) != context.task_id) return agents::permanent_fault("forbidden", "The input is not the one that was confirmed");
  return run{in, context, std::move(*what)}.to_the_end();
}

}  // namespace fairlead::app::bulk
