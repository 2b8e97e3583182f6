#pragma once
// Steps that are answered later: which callbacks services have sent, what the shard has said of them, and what has come of them. A performance is all
// that is done under one key of a step; its callback names it. What services have done the judges of effects know.
//
// Rules:
//   callback_name     attempts under one key have the same callback, others another one, and it names its step
//   callback_output   a step or a round is completed by nothing but a callback that came, a look-up or an operator
//   callback_lost     a callback that was acknowledged counts, at once or when the attempt in progress has ended
//   callback_old      nothing comes of one that is of an earlier performance, says another thing than the one before, or comes when all is over
//   callback_answer   one that could count is not refused, and none is said to have come before that has not
//   key_after_fault   what a callback has said to have failed is not performed again under the same key
//   callback_early    a wait for a callback does not end before its time by the shard's clock
//   callback_late     it ends when its time is over

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "messages/agent.pb.h"
#include "messages/api.pb.h"
#include "messages/task.pb.h"
#include "messages/tickets.hpp"
#include "store/store.hpp"
#include "tests/simulation/plans/workflows.hpp"
#include "tests/simulation/world/clocks.hpp"
#include "tests/simulation/world/ledger.hpp"
#include "tests/simulation/world/services.hpp"

namespace fairlead::simulation {

class callback_book {
 public:
  /// A task as a reader sees it; null: it is not there, or nobody has deployed its workflow.
  struct task {
    const v1::TaskRecord* record = nullptr;
    const shape* plan = nullptr;
  };

  callback_book(world& in, const host_clock& of_shard) : world_(in), clock_(of_shard) {}
  void connect(const services& behind) { services_ = &behind; }

  /// For the first time, or once more.
  void handed_over(const v1::Perform& what, std::uint32_t shard, const shape& plan);
  /// The attempt, for the first time.
  void judge_key(const v1::Perform& what) const;
  /// What an undo says of the perform.
  void judge_undo(const v1::Perform& what, const shape& plan) const;
  /// This version of the task goes to the disk.
  void decided(const v1::TaskRecord& record, const shape& plan);
  /// `key`: under which the step was handed over last. `ended_with`: what the step, or a round of it, has given since `before`.
  void became_durable(const v1::TaskRecord& now, std::uint32_t index, const std::string& key, const std::string* ended_with);

  /// The Scheduler hears a callback.
  void hears(std::uint64_t ticket, const v1::OperateRequest& what, const task& of);
  /// Its answer leaves.
  void answers(std::uint64_t ticket, const v1::OperateResult& what, const task& of);

  /// It is a performance that is answered later.
  bool has(const std::string& key) const { return by_key_.count(key) != 0; }
  /// What was given under the key, as far as it is durable; null: nothing yet.
  const std::string* given(const std::string& key) const;
  /// Some callback of the performance has come.
  bool is_called(const std::string& key) const;
  /// Now and then. `since_us`: since when this Scheduler is there.
  void look_for_late(const v1::TaskRecord& record, const shape& plan, std::int64_t since_us) const;

 private:
  /// Of a step, by the generation of its key.
  using name = std::pair<step_name, std::uint32_t>;
  struct performance {
    std::string key;
    std::string text;
    std::map<std::string, std::uint32_t> heard;  // what callbacks say, and how often the Scheduler has heard that
    std::optional<std::string> kept;             // was acknowledged, and counts once the attempt in progress has ended
    std::optional<std::string> output;           // as is durable
    std::optional<std::uint32_t> failed;         // was acknowledged: the number of the latest attempt then
  };
  struct hearing {
    name of;
    std::string says;
    bool is_known = false;  // a reader saw the task
    bool could_count = false;
    std::string over;            // why nothing may come of it
    bool left_in_doubt = false;  // the task has gone on without the step, and nobody knows whether it was carried out
    std::uint64_t sequence = 0;  // of the task's last event
  };
  struct waiting {
    std::optional<std::int64_t> since_us;  // the callback of the attempt has been awaited, perhaps no longer
    std::uint32_t attempt = 0;
    std::uint64_t epoch = 0;               // of the Scheduler that began to
    std::uint64_t version = 0;             // of the task, as decided last,
    std::uint64_t sequence = 0;            // and the last of its events
    std::optional<std::uint32_t> durable;  // the attempt whose callback is awaited, as a reader sees it
  };
  static name name_of(const callback_name& what) { return {{what.task_id, what.step}, what.generation}; }
  performance* find(const std::string& key);
  const performance* find(const std::string& key) const;
  static bool is_taken_up(const hearing& heard, const v1::TaskRecord* now);
  void confirm(const hearing& heard, const v1::OperateResult& what, const task& of);
  void judge_refusal(const hearing& heard, const v1::Error& why, const task& of) const;
  void judge_kept(performance& its, const v1::TaskRecord& now, const name& of) const;
  void judge_missed(const v1::TaskRecord& record, std::uint32_t index, const waiting& its, const shape& plan) const;
  std::int64_t tolerance_ms() const { return clock_.settings() == 0 ? whole_ms : 5'000; }

  world& world_;
  const host_clock& clock_;
  const services* services_ = nullptr;
  std::map<name, performance> performances_;
  std::map<std::string, name> by_key_;
  std::map<std::uint64_t, hearing> heard_;  // by ticket
  std::map<step_name, waiting> waits_;
};

}  // namespace fairlead::simulation
