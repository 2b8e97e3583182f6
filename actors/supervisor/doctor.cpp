#include "actors/supervisor/doctor.hpp"

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "actors/supervisor/stall_check.hpp"
#include "store/rows/effect_rows.hpp"

namespace fairlead {

namespace {

constexpr std::size_t rows_a_snapshot = 2'000;
constexpr int most_findings = 100;

/// A perform without a lease would never expire, and no wake-up can cure that.
const v1::StepRecord* running_without_lease(const v1::TaskRecord& record) {
  for (const auto& step : record.steps())
    if (step.state() == v1::STEP_STATE_RUNNING && step.complete_by_unix_ms() == 0) return &step;
  return nullptr;
}

class examination {
 public:
  explicit examination(bool repair) : repair_(repair) {}

  diagnosis run(const store::store& from) {
    wake_up_sweep sweep;
    const auto each_task = [this](const v1::TaskRecord& record) { look(record); };
    while (true) {
      std::vector<wake_up_finding> found;
      const auto more = sweep.step(*from.read_settled(), rows_a_snapshot, found, each_task);
      if (!more) {
        *out_.reply.mutable_error() = more.failure().to_proto();
        return std::move(out_);
      }
      for (auto& one : found) report(one);
      if (!*more) return std::move(out_);
    }
  }

 private:
  void look(const v1::TaskRecord& record) {
    if (!is_live(record)) return;
    auto& reply = out_.reply;
    reply.set_looked_at(reply.looked_at() + 1);
    const auto since = last_progress_unix_ms(record);
    if (reply.stalest_task().empty() || since < reply.stalest_since_unix_ms()) {
      reply.set_stalest_task(record.id());
      reply.set_stalest_since_unix_ms(since);
    }
    if (const auto* step = running_without_lease(record))
      add(record.number(), record.id(), "step " + step->path() + " is running without complete_by: its lease would never end", false);
  }

  void report(wake_up_finding& one) {
    // A row may lack its entry while the index has a wrong entry for it: both are one repair.
    const auto first = asked_.insert(one.number).second;
    if (repair_ && first) {
      auto* item = out_.repairs.add_items();
      item->set_task_number(one.number);
      item->set_repair(true);
    }
    add(one.number, std::move(one.task_id), std::move(one.sentence), repair_);
  }

  void add(std::uint64_t number, std::string id, std::string sentence, bool repaired) {
    auto& reply = out_.reply;
    reply.set_found(reply.found() + 1);
    if (reply.findings_size() >= most_findings) return;
    auto* finding = reply.add_findings();
    finding->set_task_number(number);
    finding->set_task_id(std::move(id));
    finding->set_sentence(std::move(sentence));
    finding->set_repaired(repaired);
  }

  bool repair_;
  diagnosis out_;
  std::unordered_set<std::uint64_t> asked_;
};

}  // namespace

diagnosis examine(const store::store& from, const v1::DoctorRequest& what) {
  auto out = examination{what.repair()}.run(from);
  const auto now_committed = from.read();
  const auto listed = store::for_each_effect(*now_committed, [&](const v1::EffectRecord& one) {
    *out.reply.add_effects() = one;
    return true;
  });
  if (!listed.ok()) *out.reply.mutable_error() = listed.failure().to_proto();
  out.reply.set_effects_dropped(now_committed->get_progress().shard.effects_dropped());
  return out;
}

}  // namespace fairlead
