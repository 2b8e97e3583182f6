#include "actors/supervision/guardian_state.hpp"

#include <algorithm>

namespace fairlead {

namespace {

constexpr auto own_time = std::chrono::seconds{1};  // time for the guardian itself when it is stopped

std::vector<core::restart_kind> kinds_of(const std::vector<child_spec>& children) {
  std::vector<core::restart_kind> out;
  for (const auto& one : children) out.push_back(one.restart);
  return out;
}

std::string strategy_of(const child_spec& spec) { return spec.below ? core::name_of(spec.below->policy().strategy) : ""; }

duration limit_of(const child_spec& spec) { return spec.below ? std::max(spec.shutdown, spec.below->stop_limit()) : spec.shutdown; }

caf::error failure_of(const std::string& text) { return caf::make_error(caf::sec::runtime_error, text); }

/// An actor that was told to end from outside has not failed.
bool is_failure(const caf::error& reason) { return reason && reason != caf::exit_reason::user_shutdown; }

std::string exception_text(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& bug) {
    return bug.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

std::string times(std::size_t count) { return count == 1 ? "once" : std::to_string(count) + " times"; }

}  // namespace

std::vector<child_spec> guardian_branch::children() const {
  const std::lock_guard lock{guard_};
  return spec_.children;
}

void guardian_branch::add(child_spec child) {
  const std::lock_guard lock{guard_};
  spec_.children.push_back(std::move(child));
}

void guardian_branch::remove(const std::string& id) {
  const std::lock_guard lock{guard_};
  std::erase_if(spec_.children, [&id](const child_spec& one) { return one.id == id; });
}

duration guardian_branch::stop_limit() const {
  duration out = own_time;
  for (const auto& one : children()) out += one.below ? limit_of(one) + own_time : 2 * limit_of(one);
  return out;
}

void guardian_branch::close_addresses() const {
  for (const auto& one : children()) {
    if (one.address) one.address->close();
    if (one.below) one.below->close_addresses();
  }
}

guardian::guardian(caf::actor_config& cfg, const guardian_world& world, std::shared_ptr<guardian_branch> branch,
                   given_up_handler on_given_up)
    : supervised(cfg),
      world_(world),
      branch_(std::move(branch)),
      on_given_up_(std::move(on_given_up)),
      is_root_(static_cast<bool>(on_given_up_)),
      book_(branch_->policy(), kinds_of(branch_->children())) {
  set_down_handler([this](const caf::down_msg& what) { on_down(what); });
  set_exit_handler([this](const caf::exit_msg& what) {
    begin_end(first_failure_ ? failure_of(first_failure_->sentence) : what.reason, first_failure_.has_value());
    advance();
  });
  first_start();
}

guardian::behavior_type guardian::make_behavior() {
  if (first_failure_) send(this, expire_atom_v, std::uint64_t{0});
  return {
      [this](add_child& what) -> caf::result<std::string> {
        if (ending_ || first_failure_) return branch_->path() + " is stopping";
        if (!stopping_) return add(std::move(what.child));
        // During a plan, indexes name the children to stop and start.
        waiting_.push_back({std::move(what.child), {}, make_response_promise<std::string>()});
        return waiting_.back().promise;
      },
      [this](remove_child& what) -> caf::result<std::string> {
        if (ending_ || first_failure_) return branch_->path() + " is stopping";
        auto promise = make_response_promise<std::string>();
        waiting_.push_back({{}, std::move(what.id), promise});
        if (!stopping_) serve_waiting();
        return promise;
      },
      [this](expire_atom, std::uint64_t timer) { on_time_over(timer); },
  };
}

void guardian::first_start() {
  for (auto& spec : branch_->children()) {
    auto& one = children_.emplace_back();
    one.spec = std::move(spec);
    one.path = branch_->path() + "/" + one.spec.id;
    auto problem = id_problem(one.spec.id);
    for (std::size_t i = 0; i + 1 < children_.size(); ++i)
      if (children_[i].spec.id == one.spec.id) problem = "two children are called " + one.spec.id;
    if (!problem.empty()) {
      first_failure_ = error{v1::ERROR_CODE_INVALID_ARGUMENT, branch_->path() + ": " + problem, "Give every child a name of its own."};
    } else {
      first_failure_ = start(one);
    }
    if (!first_failure_ && one.spec.below) first_failure_ = guardian_behind(one.handle)->first_failure();
    if (!first_failure_) continue;
    if (!one.running) world_.tree->ended(one.path, "given_up", first_failure_->sentence);
    return;
  }
}

std::optional<error> guardian::start(child& which) {
  std::optional<error> failure;
  const auto gauge = world_.tree->started(which.path, which.spec.restart, strategy_of(which.spec));
  try {
    const placement here{gauge};
    auto made = which.spec.start();
    if (!made) {
      failure = made.failure();
    } else if (!*made) {
      failure = error{v1::ERROR_CODE_INTERNAL, "its factory gave no actor", ""};
    } else {
      which.handle = std::move(*made);
    }
  } catch (...) {
    failure = error{v1::ERROR_CODE_INTERNAL, exception_text(std::current_exception()), ""};
  }
  if (failure) {
    failure->sentence = which.path + " could not be started: " + failure->sentence;
    world_.tree->ended(which.path, "restarting", failure->sentence);
    return failure;
  }
  which.running = true;
  which.killed = false;
  world_.tree->named(which.path, which.handle->id(), which.spec.below ? poke_of(which.handle) : nullptr);
  monitor(which.handle);
  if (which.spec.address) which.spec.address->lead_to(which.handle);
  return std::nullopt;
}

void guardian::stop(std::size_t which) {
  auto& one = children_[which];
  stopping_ = which;
  // Messages are held for the successor. At shutdown there is none, and the child may still answer.
  if (one.spec.address && !ending_) one.spec.address->lead_to(nullptr);
  caf::anon_send_exit(one.handle, caf::exit_reason::user_shutdown);
  arm(limit_of(one.spec));
}

void guardian::arm(duration limit) { delayed_send(this, limit, expire_atom_v, ++timer_); }

void guardian::on_time_over(std::uint64_t timer) {
  if (timer == 0) {
    if (!first_failure_) return;
    begin_end(failure_of(first_failure_->sentence), true);
    advance();
    return;
  }
  if (timer != timer_ || !stopping_) return;
  auto& one = children_[*stopping_];
  const auto limit = limit_of(one.spec);
  if (!one.killed) {
    one.killed = true;
    note(note_level::warning, one.path + " has not ended within " + format_duration(limit.count()) + " and is killed");
    caf::anon_send_exit(one.handle, caf::exit_reason::kill);
    arm(limit);
    return;
  }
  // The child hangs inside a handler, where nothing can end it. Another one could share its resources, so nothing is started any more.
  const auto text = one.path + " has not ended within " + format_duration(limit.count()) + ", nor after it was killed";
  note(note_level::error, text);
  demonitor(one.handle->address());
  one.running = false;
  left_behind_ = true;
  stopping_.reset();
  if (one.spec.address) one.spec.address->lead_to(nullptr);
  over(one, "given_up", text);
  begin_end(failure_of(text), true);
  advance();
}

void guardian::on_down(const caf::down_msg& what) {
  const auto at = std::find_if(children_.begin(), children_.end(),
                               [&what](const child& one) { return one.running && one.handle->address() == what.source; });
  if (at == children_.end()) return;
  const auto which = static_cast<std::size_t>(at - children_.begin());
  const auto text = reason_text(system(), what.reason);
  at->running = false;
  if (at->spec.address) at->spec.address->lead_to(nullptr);
  // A branch whose first start failed may have ended before this guardian ends for the same reason: nothing is restarted.
  if (first_failure_) begin_end(failure_of(first_failure_->sentence), true);
  if (at->spec.below && guardian_behind(at->handle)->left_behind()) {
    left_behind_ = true;
    begin_end(failure_of(text), true);
  }
  const bool told = stopping_ == which;
  if (told) stopping_.reset();
  if (removing_ && removing_->removed == at->spec.id && !ending_) {
    // However it has ended: nothing of it is left.
    to_stop_.erase(which);
    to_start_.erase(which);
    leave(*at);
    std::exchange(removing_, std::nullopt)->promise.deliver(std::string{});
  } else if (ending_) {
    // The caller that stops the tree must learn that something did not end as told.
    if (told && !is_failure(end_reason_) && (at->killed || is_failure(what.reason)))
      end_reason_ = failure_of(at->killed ? at->path + " had to be killed" : text);
    over(*at, told || !is_failure(what.reason) ? "stopped" : "given_up", text);
  } else if (told || to_stop_.contains(which)) {
    to_stop_.erase(which);
    if (to_start_.contains(which))
      world_.tree->ended(at->path, "restarting", text);
    else
      over(*at, "stopped", text);
  } else {
    ended_by_itself(which, what.reason, text);
  }
  advance();
}

void guardian::ended_by_itself(std::size_t which, const caf::error& reason, const std::string& text) {
  auto& one = children_[which];
  if (one.spec.may_leave && !reason) return leave(one);
  const auto plan = book_.ended(which, is_failure(reason), running(), now());
  if (!plan.give_up && plan.start.empty()) {
    if (is_failure(reason)) note(note_level::warning, one.path + " has ended and is not started again: " + text);
    over(one, "stopped", text);
    return;
  }
  world_.tree->ended(one.path, plan.give_up ? "given_up" : "restarting", text);
  take(plan, which, text);
}

void guardian::take(const core::restart_plan& plan, std::size_t which, const std::string& why) {
  const auto& path = children_[which].path;
  const auto& policy = branch_->policy();
  const auto within = " within " + format_duration(policy.within.count());
  if (plan.give_up) {
    begin_end(failure_of(path + " has ended " + times(book_.recent()) + within + ", the last time because: " + why), true);
    return;
  }
  note(note_level::warning, path + " has ended and is started again (" + times(book_.recent()) + within + ", " +
                                std::to_string(policy.restarts) + " allowed): " + why);
  // Plans of one strategy cover one another: stops and starts left over from an earlier plan are still to be done.
  for (const auto i : plan.stop)
    if (stopping_ != i) to_stop_.insert(i);
  to_start_.insert(plan.start.begin(), plan.start.end());
}

void guardian::advance() {
  while (!stopping_) {
    if (!to_stop_.empty()) {
      const auto which = *to_stop_.begin();
      to_stop_.erase(to_stop_.begin());
      if (children_[which].running) stop(which);
    } else if (ending_) {
      finish();
      return;
    } else if (!to_start_.empty()) {
      const auto which = *to_start_.begin();
      to_start_.erase(to_start_.begin());
      if (children_[which].running) continue;
      const auto failure = start(children_[which]);
      if (!failure) continue;
      const auto plan = book_.start_failed(which, running(), now());
      if (plan.give_up) world_.tree->ended(children_[which].path, "given_up", failure->sentence);
      take(plan, which, failure->sentence);
    } else {
      serve_waiting();
      return;
    }
  }
}

void guardian::over(child& which, const std::string& state, const std::string& reason) {
  world_.tree->ended(which.path, state, reason);
  which.over = true;
  // Below another guardian this may not be final: that guardian may restart the whole branch.
  const bool only_here = which.added && which.spec.restart == core::restart_kind::temporary;
  if (ending_ && !is_root_ && !only_here) return;
  if (which.spec.address) which.spec.address->close();
  if (which.spec.below) which.spec.below->close_addresses();
  if (!ending_ && only_here) world_.tree->removed(which.path);
}

void guardian::leave(child& which) {
  branch_->remove(which.spec.id);
  which.over = true;
  if (which.spec.address) which.spec.address->close();
  world_.tree->removed(which.path);
}

void guardian::begin_end(caf::error reason, bool gives_up) {
  if (ending_) return;
  ending_ = true;
  gives_up_ = gives_up;
  end_reason_ = std::move(reason);
  to_start_.clear();
  to_stop_.clear();
  for (std::size_t i = 0; i < children_.size(); ++i)
    if (children_[i].running && stopping_ != i) to_stop_.insert(i);
  serve_waiting();
}

void guardian::finish() {
  if (is_root_) {
    branch_->close_addresses();
    world_.tree->ended(branch_->path(), gives_up_ ? "given_up" : "stopped", reason_text(system(), end_reason_));
  }
  if (gives_up_ && !first_failure_) {
    const auto sentence = branch_->path() + " has given up: " + reason_text(system(), end_reason_);
    note(note_level::error, sentence);
    if (const auto tell = std::exchange(on_given_up_, nullptr))
      tell({v1::ERROR_CODE_INTERNAL, sentence, "Read the node's log for the cause, correct it, and start the node again."});
  }
  quit(end_reason_);
}

caf::invoke_message_result guardian::consume(caf::mailbox_element& x) {
  try {
    return supervised::consume(x);
  } catch (...) {
    // If the guardian ended now, its children would be left alone: they are stopped first, in order, as when it gives up.
    const auto text = "internal error in the guardian " + branch_->path() + ": " + exception_text(std::current_exception());
    current_mailbox_element(&x);
    if (x.mid.is_request()) make_response_promise().deliver(failure_of(text));
    crashed(text);
    return caf::invoke_message_result::consumed;
  }
}

void guardian::crashed(const std::string& what) {
  try {
    if (std::exchange(crashed_, true)) throw std::logic_error("a second exception while it stopped its children");
    // The message that met the exception may have reported the end of a child, or of a timer.
    for (auto& one : children_) {
      if (!one.running) continue;
      demonitor(one.handle->address());
      monitor(one.handle);
    }
    if (stopping_) arm(limit_of(children_[*stopping_].spec));
    ending_ = false;
    begin_end(failure_of(what), true);
    advance();
  } catch (const std::exception&) {
    quit(failure_of(what));
  }
}

void guardian::on_exit() {
  // Children are left only after the guardian's own kill, or a bug in the lines above.
  for (auto& one : children_)
    if (one.running) caf::anon_send_exit(one.handle, caf::exit_reason::kill);
  if (crashed_ && on_given_up_ && !first_failure_)
    std::exchange(on_given_up_, nullptr)({v1::ERROR_CODE_INTERNAL, branch_->path() + " has ended by an internal error", ""});
  serve_waiting();
}

std::string guardian::add(child_spec spec) {
  if (auto problem = id_problem(spec.id); !problem.empty()) return problem;
  for (auto& one : children_) {
    if (one.spec.id != spec.id) continue;
    if (!one.over) return branch_->path() + "/" + spec.id + " is there already";
    one.spec.id.clear();  // its name is free again
  }
  child one;
  one.spec = std::move(spec);
  one.path = branch_->path() + "/" + one.spec.id;
  one.added = true;
  auto failure = start(one);
  if (failure) {
    world_.tree->removed(one.path);
    return failure->sentence;
  }
  if (one.spec.below) failure = guardian_behind(one.handle)->first_failure();
  // A branch whose first start failed ends by itself, and is only awaited.
  if (failure) one.spec.restart = core::restart_kind::temporary;
  book_.add(one.spec.restart);
  if (one.spec.restart != core::restart_kind::temporary) branch_->add(one.spec);
  children_.push_back(std::move(one));
  return failure ? failure->sentence : std::string{};
}

void guardian::serve_waiting() {
  const bool stops = ending_ || getf(is_shutting_down_flag);
  if (stops && removing_) std::exchange(removing_, std::nullopt)->promise.deliver(branch_->path() + " is stopping");
  while (!waiting_.empty() && !removing_) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    if (stops)
      next.promise.deliver(branch_->path() + " is stopping");
    else if (next.removed.empty())
      next.promise.deliver(add(std::move(next.spec)));
    else
      remove(std::move(next));
  }
}

void guardian::remove(waiting_change what) {
  const auto at =
      std::find_if(children_.begin(), children_.end(), [&](const child& one) { return one.spec.id == what.removed && one.running; });
  if (at == children_.end()) {
    what.promise.deliver(branch_->path() + "/" + what.removed + " does not run");
    return;
  }
  removing_ = std::move(what);
  stop(static_cast<std::size_t>(at - children_.begin()));
}

std::vector<bool> guardian::running() const {
  std::vector<bool> out;
  for (const auto& one : children_) out.push_back(one.running);
  return out;
}

}  // namespace fairlead
