#pragma once
// One task in virtual time, from its submission to the moment at which nothing more happens: the task machine and the workflow engine of
// production, a record and its payloads in memory, and a clock that goes on to whatever comes next. No thread, no node, no sleep. It knows
// neither files nor how a run is shown. Items of a step with `for_each` and a call are tasks of the run; children.cpp has them, and the
// children of which only the end is rehearsed.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "actors/core/task/task.hpp"
#include "actors/core/workflow/declarative.hpp"
#include "app/rehearsal/agents.hpp"

namespace fairlead::app {

struct rehearsed_task {
  std::string id = "task";
  std::uint64_t number = 1;    // the spread of backoffs comes of it
  std::string input = "null";  // JSON text
  std::vector<v1::Label> labels;
  std::int32_t priority = 0;
};

struct run_settings {
  std::int64_t start_unix_ms = 0;
  std::int64_t stop_at_ms = 0;             // since the submission; 0: once nothing more happens
  std::uint32_t most_decisions = 100'000;  // a task that needs more never ends
};

/// What an operator or a client does at a moment, and what came of it.
struct planned_action {
  std::int64_t at_ms = 0;  // since the submission
  v1::OperatorAction action;
  std::optional<std::uint32_t> item;  // of the action's step: it is done to the item's task
  bool given = false;                 // false after the run: nothing happened any more at that moment
  std::optional<error> refused;
};

/// One line of what has happened: an event of the task's history, or words about what its history does not say.
struct story_entry {
  std::int64_t at_ms = 0;
  std::optional<v1::HistoryEvent> event;
  std::string words;
  std::size_t task = 0;  // whose event it is; 0: the submitted one, others are of items
};

/// One item of a step with `for_each`, as its latest task says.
struct rehearsed_item {
  std::string state;                  // of the step that its task carries out, or of its child
  std::string fault;                  // code; empty: none
  std::optional<std::string> output;  // JSON text
};

class virtual_run final : private core::agent_directory, private core::payload_source {
 public:
  /// Evaluates what plain paths cannot say, as the expression worker does.
  using evaluator = std::function<v1::EvaluateReply(const v1::EvaluateRequest&)>;

  virtual_run(std::shared_ptr<const core::workflow> definition, rehearsed_agents& agents, evaluator evaluate, run_settings settings);
  virtual_run(const virtual_run&) = delete;
  virtual_run& operator=(const virtual_run&) = delete;

  /// Before submit.
  void plan(std::int64_t at_ms, v1::OperatorAction action, std::optional<std::uint32_t> item = std::nullopt);
  /// The error says why a node would refuse the task: its input does not fit.
  status submit(rehearsed_task task);
  /// Until the task has ended, nothing more happens, or the time to stop is there. An error says why the run cannot go on.
  status run();

  const core::workflow& definition() const { return *definition_; }
  const v1::TaskRecord& record(std::size_t task = 0) const { return tasks_.at(task)->record; }
  /// JSON text; `null` if there is none.
  std::string text_of(const v1::Payload& payload, std::size_t task = 0) const;
  /// nullopt: no task of the item has begun.
  std::optional<rehearsed_item> item(const v1::StepRecord& step, std::uint32_t item) const;
  /// `completed`, `parked`, …: the state of the task, or the hold over it.
  const char* state_word() const;
  const std::vector<rehearsed_attempt>& attempts() const { return attempts_; }
  /// Whether a child of the step, or of this item of it, was told to be undone or to end while it lived.
  bool was_cancelled(std::string_view step, std::optional<std::uint32_t> item = std::nullopt) const;
  const std::vector<planned_action>& actions() const { return planned_; }
  const std::vector<v1::AlertRecord>& alerts() const { return alerts_; }
  const std::vector<story_entry>& story() const { return story_; }
  /// From the submission to the latest event of the task.
  std::int64_t took_ms() const { return took_ms_; }

 private:
  struct evaluated {
    core::expressions_evaluated what;
    std::uint64_t ticket = 0;
  };
  struct heartbeat_due {
    std::uint32_t step = 0;
    v1::Direction direction = v1::DIRECTION_PERFORM;
    std::uint32_t attempt = 0;
    std::uint64_t sequence = 0;
    std::int64_t every_ms = 0, last_ms = 0;
  };
  struct action_due {
    std::size_t index = 0;  // into planned_
  };
  struct callback_due {
    std::string step;
    core::operated what;
  };
  enum class child_turn { end, park, resume, deadline };
  struct child_due {
    std::string id;
    child_turn what = child_turn::end;
  };
  using happening = std::variant<core::attempt_ended, evaluated, heartbeat_due, action_due, callback_due, child_due, core::child_changed,
                                 core::child_refused, core::items_gathered>;
  struct scheduled {
    std::int64_t at_ms = 0;  // unix
    std::uint64_t order = 0;
    std::size_t task = 0;  // index into tasks_
    happening what;
    friend bool operator<(const scheduled& a, const scheduled& b) {  // the first stands at the top of the queue
      return a.at_ms != b.at_ms ? a.at_ms > b.at_ms : a.order > b.order;
    }
  };

  // ---- agent_directory: every agent has one instance, which has always room ----
  core::slot_answer claim(const core::slot_request& what) override;
  bool wants_input(std::string_view, std::string_view) const override { return false; }
  bool looks_up(std::string_view agent, std::string_view call) const override { return agents_.looks_up(agent, call); }
  std::int64_t key_valid_for_ms(std::string_view, std::string_view) const override { return 0; }
  std::int64_t blocked_ms(std::string_view) const override { return 0; }
  std::optional<std::uint64_t> incarnation_of(std::string_view) const override { return 1; }
  void hold(std::string_view, const core::slot_request&) override {}
  void release(const core::slot_holder&, const core::slot_outcome&) override {}

  result<std::string_view> load(const v1::TaskRecord& record, std::uint32_t slot) const override;

  struct live_task {
    std::shared_ptr<const core::workflow> definition;
    v1::TaskRecord record;
    std::map<std::uint32_t, std::string> payloads;
    std::unordered_set<std::uint32_t> evaluating;
    std::unordered_map<std::uint32_t, std::uint64_t> tickets;  // by evaluation_key: the latest one asked
    int events_told = 0;
    std::int64_t due_ms = 0;  // its entry in dues_
  };
  /// What the undo of an item reads.
  struct submitted_task final : core::parent_source {
    explicit submitted_task(const virtual_run& of) : run(of) {}
    result<const v1::TaskRecord*> record() const override { return &run.tasks_.front()->record; }
    const core::payload_source& payloads() const override { return run; }
    const virtual_run& run;
  };

  struct live_child {
    rehearsed_child script;
    std::uint32_t step = 0;
    std::uint32_t item = 0;  // as ParentOf.item
    v1::TaskState state = v1::TASK_STATE_RUNNING;
    std::string reason{};  // of its end
    bool parked = false, paused = false, cancelled = false;
    std::optional<child_turn> held;  // what was due while it was paused
  };

  core::context context(std::size_t task);
  void at(std::int64_t unix_ms, happening what, std::size_t task = 0);
  std::int64_t since_start(std::int64_t unix_ms) const { return unix_ms - settings_.start_unix_ms; }
  core::decision apply(const core::event& what, std::size_t task = 0);
  void keep(std::size_t task, core::decision& made);
  void look_again(std::size_t task);
  void hand_over(std::size_t task, const v1::Perform& message);
  void ask_worker(std::size_t task, v1::EvaluateRequest request);
  std::string name_of(std::size_t task, const std::string& path) const;
  void say(std::string words) { story_.push_back({since_start(now_ms_), std::nullopt, std::move(words)}); }
  bool step_on();

  // ---- children.cpp ----
  void carry_out(core::child_order& what);
  void begin_child(const core::child_order& what);
  void begin_item(core::child_order& what);
  void obey(const core::child_order& what);
  void obey_item(const core::child_order& what, std::size_t task);
  void gather(const core::child_order& what);
  std::string output_of_item(const std::string& id, bool collects) const;
  result<std::size_t> task_of_item(const planned_action& what) const;
  void tell_of_item(std::size_t task);
  void change_child(const std::string& id, v1::TaskState state, const std::string& reason = {});
  void park_child(const std::string& id, const std::string& reason);

  void happen(const core::attempt_ended& what, std::size_t task);
  void happen(const evaluated& what, std::size_t task);
  void happen(const heartbeat_due& what, std::size_t task);
  void happen(const action_due& what, std::size_t task);
  void happen(const callback_due& what, std::size_t task);
  void happen(const child_due& what, std::size_t task);
  void happen(const core::child_changed& what, std::size_t task) { apply(what, task); }
  void happen(const core::child_refused& what, std::size_t task) { apply(what, task); }
  void happen(const core::items_gathered& what, std::size_t task) { apply(what, task); }

  std::shared_ptr<const core::workflow> definition_;
  rehearsed_agents& agents_;
  evaluator evaluate_;
  run_settings settings_;
  core::declarative_engine engine_;

  std::vector<std::unique_ptr<live_task>> tasks_;                                  // the submitted one, then those of items
  std::map<std::string, std::size_t> items_;                                       // by id: index into tasks_
  std::set<std::pair<std::int64_t, std::size_t>> dues_;                            // of tasks that have not ended
  std::map<std::uint32_t, std::shared_ptr<const core::workflow>> calls_of_items_;  // by index of the step's definition
  submitted_task parent_{*this};
  std::uint64_t next_ticket_ = 1;
  std::priority_queue<scheduled> queue_;
  std::uint64_t next_order_ = 1;
  std::int64_t now_ms_ = 0;
  std::int64_t took_ms_ = 0;
  std::uint32_t decisions_ = 0;
  std::size_t actions_left_ = 0;
  std::optional<error> broken_;

  std::map<std::string, live_child> children_;  // by id
  std::vector<rehearsed_attempt> attempts_;
  std::vector<planned_action> planned_;
  std::vector<v1::AlertRecord> alerts_;
  std::vector<story_entry> story_;
};

}  // namespace fairlead::app
