#pragma once
// The judge of a shard of which an earlier moment has been put back. What the checker knows of one history that only goes on holds no
// longer: it falls silent, but for what the ends of tasks mean, and that tasks come to one. This one judges what may not get from one
// lineage into another. It goes by what left the Schedulers of all of them, by the ledger of effects, and by what stood in the stores
// that are kept and lost.
//
// Rules:
//   old_lineage          an agent that has met a later lineage begins or reports what an earlier one has handed over; or it is taken, or a callback
//                        that an earlier one has given out
//   number_reused        the number of a task, an alert or an attempt of the lost time is given out once more
//   restored_not_doubted a step that was not completed at the moment that is put back is performed without a look-up where its agent makes
//                        them, or under another key than it had, and nobody has said that it was never performed; the same of a step that the
//                        lost time has performed in a task that carries out a step of one which the restored store knows
//   two_effects          two effects of one step of a task that the restored store knows stand, across all lineages

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "messages/agent.pb.h"
#include "messages/api.pb.h"
#include "messages/lineage.hpp"
#include "store/store.hpp"
#include "tests/simulation/agents/agents.hpp"
#include "tests/simulation/plans/workflows.hpp"
#include "tests/simulation/world/ledger.hpp"

namespace fairlead::simulation {

class restore_judge {
 public:
  restore_judge(world& in, const ledger& book) : world_(in), ledger_(book) {}
  void connect(const agents& staff) { agents_ = &staff; }

  /// A backup is made, or what is left of a shard is found to end at an earlier moment.
  void kept(std::unique_ptr<store::snapshot> view, std::int64_t at_us);
  /// The store is lost as it stands, and what was kept is put in its place.
  void lost(const store::snapshot& view);
  /// The restore has come to its end.
  void restored(const v1::Lineage& to, const store::snapshot& view);
  /// The shard goes on from an earlier moment.
  bool on() const noexcept { return lineages_ != 0; }

  /// As it leaves a Scheduler, of whichever lineage. `plan`: of the task; null where nobody asks. `record`: the task as it is durable.
  void handed_over(const v1::Perform& what, const shape* plan, const v1::TaskRecord& record);
  /// An agent's outcomes come to the Scheduler.
  void reported(const v1::OutcomeBatch& what);
  void accepted(const v1::OutcomeAck& what);
  /// A callback has come to the Scheduler, and is answered.
  void called(std::uint64_t ticket, const std::string& callback) { calls_[ticket] = callback; }
  void answered(std::uint64_t ticket, const v1::OperateResult& what);
  /// An operator's order has come to it.
  void ordered(const v1::OperateRequest& what);
  void committed(const store::batch& what);

  /// Whether the effects of a step are beyond what can be promised of it: its task was lost, and was submitted again; it was undone in
  /// the lost time; an operator had its task go on with another input then, under a key that nobody knows any more; or one settles it
  /// after the restore, and has looked for the one key that the record names. Also where the lost time had performed it under another key
  /// than the backup names, and nobody can find that by a look-up under the next one, or an operator has gone on without.
  bool beyond(const effect_name& of) const {
    if (on() && moved_on_.count(of) != 0 && ordered_.count(of.task) != 0) return true;
    return on() && (lost_ids_.count(of.task) != 0 || edited_since_.count(of.task) != 0 || settled_.count(of.task) != 0 ||
                    undone_since_.count(of) != 0 || moved_far_.count(of) != 0);
  }

  /// Whether the task was over in what was put back. Of a recovered shard that may never have counted: then its end names what is in doubt.
  bool had_ended(const std::string& task) const { return on() && known_then(task) != nullptr && live_then(task) == nullptr; }

  /// Whether the task was over in what was put back, and the lost time has performed the step all the same: the task was undone then, which
  /// the restored store does not know.
  bool performed_after_end(const effect_name& of) const { return had_ended(of.task) && performed_since_.count(of) != 0; }

  /// Whether the task had gone on without the step before that, because it had failed for certain. Of a recovered shard that may never have
  /// counted: then the step is in doubt, its task goes on without it all the same, and the end names it.
  bool passed_over_then(const std::string& task, const std::string& step) const {
    return on() && passed_over_then_.count({task, step}) != 0;
  }

  /// Whether the task was undone in what was put back. A recovery goes on with the undo of such a one where that may never have counted.
  bool was_undone(const std::string& task) const;

  /// Whether the lost time had performed the step under the next key, and no look-up has said that it never happened under the key of the
  /// backup: then nothing leads to the next one, and the undo asks for the effect of the first. `generation`: the step's once it is undone.
  bool moved_on_unseen(const effect_name& of, std::uint32_t generation) const;

 private:
  using attempt_name = std::tuple<std::uint64_t, std::uint32_t, v1::Direction, std::uint32_t>;
  template <class Said>
  static attempt_name name_of(const Said& what) {
    return {what.task_number(), what.step(), what.direction(), what.attempt()};
  }
  bool looks_up(const std::string& agent) const;
  void judge_number(const v1::Perform& what);
  void judge_doubt(const effect_name& of, const v1::Perform& what, const shape& plan, const v1::TaskRecord& record);
  void judge_child_doubt(const effect_name& of, const v1::Perform& what, const shape& plan, const v1::TaskRecord& record);
  /// Somebody has given an order for the task, or for one whose step it carries out.
  bool is_ordered(const std::string& task) const;
  /// As it was kept. Of several replicas one may have kept that a task is over, by a write that never counted.
  const v1::TaskRecord* known_then(const std::string& task) const;
  const v1::TaskRecord* live_then(const std::string& task) const;
  /// The step of this path in a task as it was kept: by another version it may have another number. Null: that version has none.
  static const v1::StepRecord* step_then(const v1::TaskRecord& then, const std::string& path);

  world& world_;
  const ledger& ledger_;
  const agents* agents_ = nullptr;
  std::uint32_t lineages_ = 0;  // that have begun since the first
  v1::Lineage now_;
  std::map<attempt_name, std::set<std::uint32_t>> handed_;   // by which lineages
  std::vector<std::pair<std::int64_t, effect_name>> undos_;  // handed over, and when
  std::vector<std::pair<std::int64_t, std::string>> edits_;  // orders with another input, by task, and when
  std::map<std::string, std::uint32_t> callbacks_;           // by which lineage they were given out
  std::map<std::uint64_t, std::string> calls_;               // by ticket
  struct performed {
    std::int64_t at_us = 0;
    effect_name of;
    std::string key;
    bool looks_up = false;
  };
  std::vector<performed> performs_;  // handed over
  std::set<effect_name> moved_on_;   // the lost time has performed them under the next key
  std::set<effect_name> moved_far_;  // or under one that no look-up finds
  std::int64_t kept_us_ = 0;
  std::uint32_t kept_lineage_ = 0;
  std::set<std::pair<store::table, std::string>> kept_keys_;  // of tasks and alerts
  std::set<std::pair<store::table, std::string>> lost_keys_;
  std::map<std::string, v1::TaskRecord> kept_tasks_;                // by id
  std::set<std::string> lost_ids_;                                  // of tasks that are not among these
  std::set<std::pair<std::string, std::string>> passed_over_then_;  // without doubt: task and path
  std::set<effect_name> undone_since_;
  std::set<effect_name> performed_since_;
  std::set<std::string> edited_since_;            // tasks
  std::set<std::string> settled_;                 // as never happened
  std::map<effect_name, std::uint32_t> lookups_;  // the number of the last one when this lineage began
  std::set<effect_name> performed_;
  std::set<std::string> ordered_;  // tasks
};

}  // namespace fairlead::simulation
