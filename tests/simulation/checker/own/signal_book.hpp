#pragma once
// The signals of tasks: which were sent, which of them were confirmed, and which a step has taken. A signal with a token is one, however often it
// is sent; one without is another each time that the Scheduler hears it.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "messages/api.pb.h"
#include "messages/task.pb.h"
#include "tests/simulation/plans/workflows.hpp"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

class signal_book {
 public:
  /// A task as a reader sees it; null: it is not there, or nobody has deployed its workflow.
  struct task {
    const v1::TaskRecord* record = nullptr;
    const shape* plan = nullptr;
  };
  struct taking {
    std::string step;
    std::string name;
    std::string data;
  };

  explicit signal_book(world& in) : world_(in) {}

  /// The Scheduler hears a signal.
  void hears(std::uint64_t ticket, const v1::OperateRequest& what, const task& of);
  /// Its answer leaves.
  void answers(std::uint64_t ticket, const v1::OperateResult& what, const task& of);
  /// These steps have completed since a reader saw the task last.
  void taken(const std::string& task, const std::vector<taking>& steps);
  /// A confirmed signal of the name that no step has taken.
  bool is_kept(const std::string& task, const std::string& name) const;

 private:
  struct sent {
    std::string name;
    std::string token;
    std::string data;
    std::uint64_t heard = 0;        // first, in the order of what happens here
    std::uint64_t confirmed = 0;    // 0: nobody was told that it is there
    std::set<std::uint64_t> asked;  // tickets without an answer
    std::uint64_t taken = 0;        // when a reader saw that a step has taken it; 0: none has
    bool refused = false;
  };
  struct hearing {
    std::string task;
    std::size_t which = 0;
    bool over = false;     // the task could take no signals any more, as far as a reader saw
    bool first = false;    // under its token
    bool there = false;    // a reader saw the task
    bool awaited = false;  // by a step of the version that the task went by, as far as a reader saw
    std::uint64_t at = 0;  // in the order of what happens here
  };
  sent* find(const std::string& task, const taking& what);
  /// Another one has come before it for certain, and no step has taken that.
  const sent* overtaken_by(const std::string& task, const sent& what) const;
  void confirm(const hearing& heard, bool repeated, const task& of);
  void judge_refusal(const hearing& heard, const sent& what, const v1::Error& why, const task& of) const;

  world& world_;
  std::map<std::string, std::vector<sent>> sent_;  // by task
  std::map<std::uint64_t, hearing> heard_;         // by ticket
  std::uint64_t order_ = 0;
};

}  // namespace fairlead::simulation
