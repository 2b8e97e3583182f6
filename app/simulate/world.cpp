#include "app/simulate/world.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/task/record.hpp"
#include "actors/core/task/task.hpp"
#include "messages/task_states.hpp"
#include "store/keys.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::app::simulate {

namespace {

constexpr std::uint64_t most_in_family = 500;   // tasks in progress; twice as many are refused
constexpr std::int64_t scan_period_ms = 1'000;  // of the Supervisor

/// The ports that deploying needs: everything is durable at once, and the answers are kept.
class deploying final : public commit_port, public scheduler_outbox, public observer, public clock {
 public:
  explicit deploying(store::memory_store& in) : in_(in) {}
  void commit(store::batch what) override { waiting.push_back(std::move(what)); }
  void perform(const std::string&, v1::PerformBatch) override {}
  void acknowledge(const std::string&, v1::OutcomeAckBatch) override {}
  void acknowledge(const std::string&, v1::HeartbeatAckBatch) override {}
  void hint(v1::RecoveryHintBatch) override {}
  void wake_cron(moment) override {}
  std::weak_ptr<const void> evaluate(v1::EvaluateRequest) override { return {}; }
  void reply(std::uint64_t, request_reply what) override {
    if (const auto* one = std::get_if<v1::DeployReply>(&what); one != nullptr && one->error().code() != v1::ERROR_CODE_OK)
      refused = error::from_proto(one->error());
  }
  void notify(std::uint64_t, v1::FinishedNotice) override {}
  void on_transition(const transition&) override {}
  bool wants_transitions() const override { return false; }
  void on_note(note_level, std::string_view, std::string_view) override {}
  moment now() const override { return from_unix_ms(1'767'225'600'000); }
  moment steady() const override { return now(); }

  status settle(scheduler& shell) {
    while (shell.wants_flush() || !waiting.empty()) {
      if (shell.wants_flush()) shell.flush();
      auto group = std::move(waiting);
      waiting.clear();
      if (group.empty()) continue;
      if (auto done = in_.commit(group); !done.ok()) return done;
      shell.on_committed(group.back().sequence);
    }
    return nothing{};
  }

  std::optional<error> refused;
  std::vector<store::batch> waiting;

 private:
  store::memory_store& in_;
};

std::string state_of(const v1::TaskRecord& record) {
  if (core::has_ended(record)) return core::state_word(record.state());
  return record.parked() ? "parked" : record.paused() ? "paused" : "stalled";
}

}  // namespace

const v1::WorkflowDefinition* stage::definition_of(const std::string& workflow) const {
  for (const auto& one : workflows)
    if (one.name() == workflow) return &one;
  return nullptr;
}

status deploy(stage& on) {
  store::memory_store in;
  deploying ports{in};
  const core::declarative_engine engine;
  scheduler shell{{&ports, &in, &ports, &ports, &ports, &engine, nullptr, false, {}, std::string(32, 'k')}, {}};
  const auto epoch = in.raise_epoch();
  if (!epoch.ok()) return epoch.failure();
  if (auto opened = shell.open(*epoch); !opened.ok()) return opened;
  for (const auto& one : on.workflows) {
    v1::DeployRequest request;
    *request.mutable_definition() = one;
    shell.answer(request, 1);
    if (auto done = ports.settle(shell); !done.ok()) return done;
    if (ports.refused) return *ports.refused;
  }
  on.deployed = in.keep();
  return nothing{};
}

world::world(const stage& on, std::uint64_t seed, const weather::sites* left_out, bool tells)
    : on_(on),
      tells_(tells),
      weather_(seed, left_out),
      services_(
          on.promised,
          [this](const v1::Perform& what) -> std::string {
            const auto* definition = on_.definition_of(what.workflow());
            if (definition == nullptr) return "{}";
            const auto path = what.step_path();
            for (const auto& step : definition->steps())
              if (step.name() == path) return on_.values.at(what.workflow()).output(step, weather_.at(mixed(1, what.idempotency_key())));
            return "{}";
          },
          [this](const std::string& words) { tell(words); }) {
  store_.put_back(*on.deployed);
}

world::~world() = default;

void world::tell(std::string words) {
  if (tells_) story_.emplace_back(now_ms_, std::move(words));
}

// ---- the node ----

void world::after_in_core(std::int64_t ms, std::function<void()> what) {
  after(ms, [this, core = core_, what = std::move(what)] {
    if (shell_ && core == core_) what();
  });
}

void world::tell_scheduler(const std::function<void(scheduler&)>& what) {
  if (!shell_) return;
  what(*shell_);
  after_message();
}

void world::after_message() {
  if (shell_->fatal()) {
    broken_ = shell_->fatal()->sentence;
    return;
  }
  if (shell_->wants_flush()) shell_->flush();
}

void world::arm_write() {
  if (std::exchange(writing_, true)) return;
  after_in_core(1, [this] { write(); });
}

void world::write() {
  writing_ = false;
  const auto group = std::exchange(waiting_, {});
  if (group.empty()) return;
  const auto site = core::mix(++commits_);
  const auto may_die = submitted_;
  const auto number = std::to_string(commits_);
  if (may_die && weather_.strikes(mixed(site, "before"), 60, now_ms_, [&] { return "the node is killed before commit " + number; }))
    return kill_node("before commit " + number, weather_.at(mixed(site, "before")));
  if (const auto done = store_.commit(group); !done.ok()) {
    broken_ = done.failure().sentence;
    return;
  }
  store_.sync();
  if (has_signals_) note_changed(group);
  if (may_die && weather_.strikes(mixed(site, "behind"), 90, now_ms_,
                                  [&] { return "the node is killed behind commit " + number + ": what it was to send is lost"; }))
    return kill_node("behind commit " + number, weather_.at(mixed(site, "behind")));
  if (may_die && weather_.strikes(mixed(site, "clock"), 25, now_ms_, [] { return std::string{"the clock of the node is set"}; }))
    set_clock(weather_.at(mixed(site, "clock")));
  shell_->on_committed(group.back().sequence);
  after_message();
}

void world::note_changed(const std::vector<store::batch>& group) {
  for (const auto& one : group)
    one.for_each([&](const store::operation& op) {
      if (op.where != store::table::task) return;
      if (const auto key = store::keys::decode_task(op.key)) changed_.insert(key->number);
    });
}

void world::set_clock(dice roll) {
  const auto by = roll.spread(1'000, 7'200'000) * (roll.chance(50) ? 1 : -1);
  set_by_ms_ += by;
  tell("the clock of the node is set " + std::string{by > 0 ? "forward" : "back"} + " by " + format_duration(by > 0 ? by : -by));
}

void world::kill_node(const std::string& when, dice roll) {
  tell("the node is killed " + when);
  shell_.reset();
  supervisor_.reset();
  ++core_;
  waiting_.clear();
  writing_ = false;
  store_.crash();
  for (auto& [name, one] : seats_)
    if (one.beside) kill_seat(name);
  after(roll.spread(100, roll.chance(10) ? 3'600'000 : 20'000), [this] { start_node(); });
}

void world::start_node() {
  const auto epoch = store_.raise_epoch();
  scheduler_limits limits;
  limits.family_tasks = most_in_family;
  shell_ = std::make_unique<scheduler>(
      scheduler::ports{this, &store_, this, this, this, &engine_, nullptr, false, {}, std::string(32, 'k')}, limits);
  supervisor_ = std::make_unique<supervisor>(supervisor::ports{this, &store_, this, this}, duration{scan_period_ms});
  next_scan_ms_ = now_ms_;
  if (epoch.ok()) {
    if (const auto opened = shell_->open(*epoch); !opened.ok()) broken_ = opened.failure().sentence;
  } else {
    broken_ = epoch.failure().sentence;
  }
  if (broken_) return;
  if (commits_ > 0) tell("the node is up again");
  while (shell_->resume_some()) after_message();
  after_message();
  for (const auto& [name, one] : seats_) register_seat(name);
}

// ---- its ports ----

void world::hint(v1::RecoveryHintBatch what) {
  after_in_core(2, [this, what = std::move(what)] { supervisor_->hint(what); });
}

void world::recover(v1::RecoverBatch what) {
  after_in_core(2, [this, what = std::move(what)] { tell_scheduler([&](scheduler& to) { to.recover(what); }); });
}

std::weak_ptr<const void> world::evaluate(v1::EvaluateRequest what) {
  auto outstanding = std::make_shared<const char>();
  std::weak_ptr<const void> out = outstanding;
  auto reply = on_.evaluate(what);
  reply.set_ticket(what.ticket());
  after_in_core(2, [this, reply = std::move(reply), outstanding = std::move(outstanding)] {
    tell_scheduler([&](scheduler& to) { to.evaluated(reply); });
  });
  return out;
}

void world::reply(std::uint64_t ticket, request_reply what) {
  if (const auto* one = std::get_if<v1::SubmitReply>(&what); one != nullptr && ticket == submit_ticket_) {
    const auto& why = one->results().empty() ? one->error() : one->results(0).error();
    if (why.code() != v1::ERROR_CODE_OK) refused_ = why.sentence();
    submitted_ = true;
  } else if (const auto* done = std::get_if<v1::OperateReply>(&what); done != nullptr && !done->results().empty()) {
    const auto& why = done->results(0).error();
    if (why.code() != v1::ERROR_CODE_UNAVAILABLE) unanswered_.erase(ticket);
    if (why.code() != v1::ERROR_CODE_OK) tell("refused: " + why.sentence());
  }
}

void world::on_transition(const transition& what) {
  const auto of = what.task_id == simulated_id ? std::string{} : std::string{what.task_id};
  std::string words =
      what.step.empty() ? "task" + (of.empty() ? "" : " " + of) : "step " + std::string{what.step} + (of.empty() ? "" : " of " + of);
  words += ": " + std::string{what.from} + " -> " + std::string{what.to};
  if (what.attempt > 0) words += ", attempt " + std::to_string(what.attempt);
  if (!what.detail.empty()) words += " (" + std::string{what.detail} + ")";
  tell(std::move(words));
}

void world::on_note(note_level level, std::string_view component, std::string_view sentence) {
  if (level == note_level::error) broken_ = std::string{component} + ": " + std::string{sentence};
}

// ---- time ----

/// When the Scheduler or the Supervisor has something to do although nothing happens.
std::optional<std::int64_t> world::next_wake() {
  if (!shell_) return std::nullopt;
  std::optional<std::int64_t> out;
  const auto sooner = [&](std::int64_t at_ms) {
    at_ms = std::max(at_ms, next_wake_ms_);
    if (!out || at_ms < *out) out = at_ms;
  };
  const auto by_steady = [this](moment wall) { return to_unix_ms(wall) - start_ms - set_by_ms_; };
  if (const auto next = shell_->next_offer()) sooner(by_steady(*next));
  if (const auto next = supervisor_->next_hint()) sooner(by_steady(*next));
  const auto view = store_.read();
  (void)view->scan(store::table::due, "", "", [&](std::string_view key, std::string_view) {
    if (const auto entry = store::keys::decode_due(key))
      sooner(std::max<std::int64_t>(entry->due_unix_ms - start_ms - set_by_ms_, next_scan_ms_));
    return false;
  });
  return out;
}

void world::wake() {
  next_wake_ms_ = now_ms_ + 1;
  const auto next = shell_->next_offer();
  if (next && *next <= now()) tell_scheduler([](scheduler& to) { to.offer(); });
  if (broken_) return;
  supervisor_->fire();
  if (now_ms_ < next_scan_ms_) return;
  next_scan_ms_ = now_ms_ + scan_period_ms;
  if (const auto done = supervisor_->scan(); !done.ok()) broken_ = done.failure().sentence;
}

/// False: nothing more happens.
bool world::step_on() {
  const auto soon = !queue_.empty() && queue_.top().at_ms <= now_ms_ + 20;
  if (!soon) {
    give_signals();
    const auto next = next_wake();
    if (next && (queue_.empty() || *next < queue_.top().at_ms)) {
      now_ms_ = std::max(now_ms_, *next);
      wake();
      return true;
    }
    if (queue_.empty()) return shell_ && help();
  }
  auto what = queue_.top().what;
  now_ms_ = std::max(now_ms_, queue_.top().at_ms);
  queue_.pop();
  what();
  return true;
}

run_end world::run() {
  make_seats();
  start_node();
  submit();
  plan_people();
  for (std::uint64_t i = 0; !broken_ && !refused_ && step_on(); ++i)
    if (i >= on_.most_happenings) {
      broken_ = "the task goes on after " + std::to_string(i) + " happenings and " + format_duration(now_ms_);
      break;
    }
  return end();
}

std::vector<v1::TaskRecord> world::tasks() const {
  std::vector<v1::TaskRecord> out;
  const auto view = store_.read();
  // All of them: what is not looked at would be found to be sound.
  for (std::uint64_t number = 1;; ++number) {
    auto one = store::load_task(*view, number);
    if (!one.ok() || !*one) break;
    out.push_back(std::move(**one));
  }
  return out;
}

run_end world::end() {
  run_end out;
  out.troubles = weather_.troubles();
  out.story = std::move(story_);
  out.ledger = services_.ledger();
  out.stuck = std::move(stuck_);
  if (refused_) {
    out.word = "refused";
    out.reason = *refused_;
    return out;
  }
  out.tasks = tasks();
  if (broken_ || out.tasks.empty()) {
    out.word = "stalled";
    out.reason = broken_.value_or("the task was lost");
    return out;
  }
  for (const auto& one : out.tasks) out.events += one.history_size();
  const auto& task = out.tasks.front();
  out.word = state_of(task);
  out.reason = task.parked() ? task.parked_reason() : task.state() == v1::TASK_STATE_FAILED ? task.failed_reason() : task.undo_reason();
  return out;
}

}  // namespace fairlead::app::simulate
