#pragma once
// One run: a node with the Scheduler and the Supervisor of production over a store in memory, the agents and services of one task, and their weather.
// Time is virtual. Whoever plays agents, services and operators is in world_agents.cpp and world_people.cpp.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "actors/core/workflow/declarative.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "app/simulate/callbacks.hpp"
#include "app/simulate/contract.hpp"
#include "app/simulate/samples.hpp"
#include "app/simulate/services.hpp"
#include "app/simulate/weather.hpp"
#include "store/memory/memory_store.hpp"

namespace fairlead::app::simulate {

/// What all runs have in common.
struct stage {
  std::vector<v1::WorkflowDefinition> workflows;  // the first one is simulated
  std::map<std::string, samples> values;          // by workflow
  contracts promised;
  std::function<v1::EvaluateReply(const v1::EvaluateRequest&)> evaluate;
  std::shared_ptr<const store::memory_store::moment> deployed;  // a store that has the workflows
  std::uint64_t most_happenings = 200'000;                      // of a run; one that goes on has stalled

  const v1::WorkflowDefinition* definition_of(const std::string& workflow) const;
};

/// Makes the store of a stage. An error says why a node would not deploy a workflow.
status deploy(stage& on);

/// A step for which an operator is needed that the service could have spared.
struct stuck_step {
  std::uint64_t task_number = 0;
  std::uint32_t step = 0;
  std::string code;      // of its fault
  bool of_undo = false;  // it is the key of the undo
  friend auto operator<=>(const stuck_step&, const stuck_step&) = default;
};

struct run_end {
  std::string word;          // completed, undone, failed, parked, paused, refused or stalled
  std::string reason;        // why, if it is parked, failed or refused
  std::uint64_t events = 0;  // in the histories of its tasks
  std::vector<trouble> troubles;
  std::vector<std::pair<std::int64_t, std::string>> story;  // only of a run that tells
  std::vector<v1::TaskRecord> tasks;                        // the simulated one, and those that it began: number 1 and on
  std::map<std::string, ledger_entry> ledger;
  std::set<stuck_step> stuck;
};

class world final : private commit_port, private scheduler_outbox, private supervisor_outbox, private observer, private clock {
 public:
  /// `on` and `left_out` outlive the world.
  world(const stage& on, std::uint64_t seed, const weather::sites* left_out, bool tells);
  ~world() override;

  run_end run();

 private:
  using attempt_id = std::tuple<std::uint64_t, std::uint32_t, int, std::uint32_t>;  // task, step, direction, attempt
  struct seat {                                                                     // an instance of an agent
    v1::RegisterAgent registration;
    bool beside = false;  // in the process of the node
    bool alive = true;
    std::uint64_t epoch = 0;  // the highest that it has obeyed
    std::set<attempt_id> held;
    std::map<attempt_id, v1::Outcome> unacknowledged;
  };
  struct happening {
    std::int64_t at_ms = 0;
    std::uint64_t order = 0;
    std::function<void()> what;
    friend bool operator<(const happening& a, const happening& b) {  // the first is the top of the queue
      return a.at_ms != b.at_ms ? a.at_ms > b.at_ms : a.order > b.order;
    }
  };
  struct core_of_node;

  // clock
  moment now() const override { return from_unix_ms(wall_ms()); }
  moment steady() const override { return from_unix_ms(start_ms + now_ms_); }

  // ports of the Scheduler and the Supervisor
  void commit(store::batch what) override { waiting_.push_back(std::move(what)), arm_write(); }
  void perform(const std::string& instance, v1::PerformBatch what) override;
  void acknowledge(const std::string& instance, v1::OutcomeAckBatch what) override;
  void acknowledge(const std::string&, v1::HeartbeatAckBatch) override {}
  void hint(v1::RecoveryHintBatch what) override;
  void wake_cron(moment) override {}
  std::weak_ptr<const void> evaluate(v1::EvaluateRequest what) override;
  void reply(std::uint64_t ticket, request_reply what) override;
  void notify(std::uint64_t, v1::FinishedNotice) override {}
  void recover(v1::RecoverBatch what) override;
  void stalest(stalest_task) override {}
  void waiting(waiting_tasks) override {}
  void on_transition(const transition& what) override;
  bool wants_transitions() const override { return tells_; }
  void on_note(note_level level, std::string_view component, std::string_view sentence) override;

  // world.cpp: time, the node and its store
  void after(std::int64_t ms, std::function<void()> what) { queue_.push({now_ms_ + ms, next_order_++, std::move(what)}); }
  /// Not once the core that is there now has died.
  void after_in_core(std::int64_t ms, std::function<void()> what);
  std::int64_t wall_ms() const { return start_ms + now_ms_ + set_by_ms_; }
  void tell(std::string words);
  void tell_scheduler(const std::function<void(scheduler&)>& what);
  void after_message();
  void arm_write();
  void write();
  void note_changed(const std::vector<store::batch>& group);
  void start_node();
  void kill_node(const std::string& when, dice roll);
  void set_clock(dice roll);
  std::optional<std::int64_t> next_wake();
  void wake();
  bool step_on();
  std::vector<v1::TaskRecord> tasks() const;
  run_end end();

  // world_agents.cpp
  void make_seats();
  void register_seat(const std::string& instance);
  void begin(const std::string& instance, std::uint64_t incarnation, std::uint64_t epoch, const v1::Perform& what);
  void work(const std::string& instance, const v1::Perform& what);
  void ask_service(const std::string& instance, const v1::Perform& what, std::int64_t lease_end_ms);
  service_answer request(const std::string& agent, const v1::Perform& what);
  void accept(const std::string& agent, const v1::Perform& what);
  void answer_later(const std::string& agent, const v1::Perform& what, const course_of_work& course);
  void call_back(v1::OperatorAction what, const std::string& id, int times);
  void report(const std::string& instance, const v1::Perform& what, service_answer answer);
  void send_outcomes(const std::string& instance);
  void beat(const std::string& instance, const v1::Perform& what, std::uint64_t sequence, std::int64_t until_ms);
  void kill_seat(const std::string& instance);
  bool is_down(const std::string& agent);
  std::uint64_t site_of(const v1::Perform& what, std::string_view kind) const;
  static std::string name_of(const v1::Perform& what);

  // world_people.cpp
  void submit();
  void plan_people();
  void operate(const v1::OperatorAction& what, const std::string& id);
  void send_again(const v1::OperatorAction& what, const std::string& id, int times);
  void give_signals();
  bool help();

  static constexpr std::int64_t start_ms = 1'767'225'600'000;  // 2026-01-01

  const stage& on_;
  const bool tells_;
  weather weather_;
  services services_;
  core::declarative_engine engine_;
  store::memory_store store_{store::memory_store::durability::when_told};
  std::int64_t now_ms_ = 0;     // since the submission
  std::int64_t set_by_ms_ = 0;  // by which the wall clock is wrong
  std::priority_queue<happening> queue_;
  std::uint64_t next_order_ = 1;

  std::unique_ptr<scheduler> shell_;  // null: the node is down
  std::unique_ptr<supervisor> supervisor_;
  std::uint64_t core_ = 0;
  std::vector<store::batch> waiting_;
  bool writing_ = false;
  std::uint64_t commits_ = 0;
  std::int64_t next_scan_ms_ = 0;
  std::int64_t next_wake_ms_ = 0;  // time goes on between two looks
  std::uint64_t next_ticket_ = 1;
  std::uint64_t submit_ticket_ = 0;
  bool submitted_ = false;
  std::optional<std::string> refused_;
  std::optional<std::string> broken_;  // the run cannot go on

  std::map<std::string, seat> seats_;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> outages_;  // of agents: from, to
  std::set<std::string> signals_planned_;
  bool has_signals_ = false;
  std::set<std::uint64_t> changed_;  // tasks, since signals were looked for: steps begin to wait by commits
  int helped_ = 0;
  std::set<stuck_step> stuck_;
  std::map<std::string, accepted_work> accepted_;  // by key
  std::set<std::uint64_t> unanswered_;             // callbacks, by the tickets of their requests
  std::vector<std::pair<std::int64_t, std::string>> story_;
};

}  // namespace fairlead::app::simulate
