#include "tests/simulation/simulation.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <string>

#include "messages/items.hpp"
#include "store/rows/deletion_rows.hpp"
#include "store/rows/service_rows.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/own/child_book.hpp"
#include "tests/simulation/people/archive_people.hpp"
#include "tests/simulation/people/callers.hpp"
#include "tests/simulation/people/clients.hpp"
#include "tests/simulation/people/job_people.hpp"
#include "tests/simulation/people/operators.hpp"
#include "tests/simulation/people/signalers.hpp"
#include "tests/simulation/people/watchers.hpp"
#include "tests/simulation/plans/child_plans.hpp"
#include "tests/simulation/plans/crowd.hpp"
#include "tests/simulation/plans/edits.hpp"
#include "tests/simulation/shard/restores.hpp"
#include "tests/simulation/world/far_clock.hpp"
#include "tests/simulation/world/weather.hpp"
#include "tests/simulation/world/wrong_clock.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t rest_within_us = 1'200 * second;  // after the last fault, or what operators did; stalls are found long before
constexpr std::uint64_t looks_a_second = 4;
constexpr std::int64_t jobs_in_time_us = 10 * second;  // after the last fault
constexpr int most_rounds = 60;                        // of operators who see to what is parked
constexpr int rounds_an_item = 10;                     // more of them, as each item that they have seen to lets the next one begin

/// One shard with its node, those who use it, and who judges it.
struct realm {
  realm(world& in, network& net, services& behind, agents& staff, const ledger& book, const std::vector<v1::WorkflowDefinition>& workflows,
        const std::vector<v1::WorkflowDefinition>& versions, const std::vector<v1::WorkflowDefinition>& editions,
        const std::vector<agent_site>& sites, const job_era& era, std::uint32_t number, std::size_t replicas)
      : time(in, in.settings.has(concern::skewed_clocks) ? in.hosts.between(-second, 3'600 * second) : 0,
             in.hosts.between(1, 1'000'000) * second + in.hosts.between(0, 999)),
        judge(in, time, book),
        home(in, net, staff, judge, time, number, replicas),
        submitters(in, net, home, judge, workflows, versions, number == 0 ? "t" : "u"),
        people(in, home, behind, judge, submitters, sites, editions),
        couriers(in, home, judge, submitters, workflows, versions),
        services_calling(in, home, judge),
        owners(in, home, judge, time, era, workflows, sites, number == 0 ? "j" : "k"),
        wrong_time(in, home, owners, time, era),
        revenants(in, home, judge, submitters, people),
        followers(in, home, time, submitters),
        many(in, home, judge),
        odd_time(in, home, time),
        backups(in, home) {
    judge.connect(staff, behind, home.reads(), number);
    for (const auto& one : workflows) judge.knows(one);
    for (const auto& one : versions) judge.knows(one);
    for (const auto& one : editions) judge.knows(one);
  }

  host_clock time;
  checker judge;
  simulation::home home;
  clients submitters;
  operators people;
  signalers couriers;
  callers services_calling;
  job_people owners;
  far_clock wrong_time;
  archive_people revenants;
  watchers followers;
  crowd many;
  wrong_clock odd_time;
  restores backups;
};

std::vector<v1::WorkflowDefinition> workflows_of(world& in, const std::vector<agent_site>& sites, const job_era& era, bool is_crowd) {
  auto out = make_workflows(in, sites);
  if (era.any) out.push_back(make_job_workflow(in, sites));
  if (is_crowd) out.push_back(make_crowd_workflow(in, sites));
  // Retentions of their own.
  for (auto& one : out)
    if (in.archives.chance(200)) one.set_keep_days(static_cast<std::uint32_t>(in.archives.between(1, 3)));
  return out;
}

/// The edited versions of a workflow, and itself; empty: there are none.
std::vector<v1::WorkflowDefinition> editions_of(const world& in, const v1::WorkflowDefinition& of) {
  auto out = make_edits(in, of);
  if (!out.empty()) out.push_back(of);
  return out;
}

/// The workflow that is edited: the first, or in some runs the first one that is made for the tasks of steps.
const v1::WorkflowDefinition& edited_of(const world& in, const std::vector<v1::WorkflowDefinition>& all) {
  random_stream luck{in.settings.seed, 953};
  const auto child = std::find_if(all.begin(), all.end(), [](const auto& one) { return child_plan::is_one(one.name()); });
  return child != all.end() && luck.chance(400) ? *child : all.front();
}

/// Everything of one run, put together.
class scene {
 public:
  explicit scene(const options& what)
      : world_(what),
        replicas_(draw_replicas(world_)),
        put_back_(draw_restores(world_)),
        crowded_(draw_crowd(world_)),
        network_(world_),
        services_(world_, ledger_),
        sites_(make_sites(world_, replicas_ == 1, replicas_ == 1 && !put_back_)),
        era_(make_era(world_)),
        workflows_(workflows_of(world_, sites_, era_, crowded_)),
        versions_(make_versions(world_, sites_, workflows_)),
        editions_(editions_of(world_, edited_of(world_, workflows_))),
        agents_(world_, services_, sites_, what.planted) {
    // Tasks of both carry the same numbers, and their steps the same attempts.
    const auto two = world_.hosts.chance(300);
    const std::uint32_t shards = two && world_.settings.has(concern::second_shard) ? 2 : 1;
    std::vector<agents::shard*> homes;
    std::vector<checker*> judges;
    std::vector<host_clock*> clocks;
    for (std::uint32_t i = 0; i < shards; ++i) {
      realms_.push_back(std::make_unique<realm>(world_, network_, services_, agents_, ledger_, workflows_, versions_, editions_, sites_,
                                                era_, i, replicas_));
      homes.push_back(&realms_.back()->home);
      judges.push_back(&realms_.back()->judge);
      clocks.push_back(&realms_.back()->home.wall_of_first());
    }
    services_.on_late_answer = [this](const late_answer& what) { realms_[what.shard]->services_calling.tell(what); };
    retention_ = make_retention(world_);
    if (era_.any)
      world_.begin_at(era_.begin_ms - realms_.front()->time.ahead_us() / millisecond);
    else
      world_.begin_at(begin_of(retention_, *realms_.front()));
    agents_.connect(std::move(homes), std::move(judges), realms_.front()->time);
    for (auto& one : realms_) one->home.plan(retention_);
    weather_ = std::make_unique<weather>(world_, agents_, std::move(clocks));
    if (shards > 1) world_.count("runs with two shards");
    if (era_.any) world_.count("runs with jobs");
  }

  void run() {
    auto& luck = world_.shapes;
    network_.set_rates(luck.below(60), luck.below(60), luck.below(120));
    const auto trouble_us = luck.between(6, 25) * second;
    for (const auto& one : workflows_) world_.remark("plan", one.ShortDebugString());
    for (const auto& one : versions_) world_.remark("plan of another version", one.ShortDebugString());
    for (auto& one : realms_)
      if (!era_.any) one->odd_time.begin(trouble_us);
    for (auto& one : realms_) one->home.start();
    for (auto& one : realms_) one->home.begin(trouble_us);
    agents_.start_remote();
    for (auto& one : realms_) {
      one->submitters.begin(trouble_us);
      one->people.begin(trouble_us);
      one->couriers.begin(trouble_us);
      one->owners.begin(trouble_us);
      one->wrong_time.begin(trouble_us);
      one->revenants.begin(retention_);
      one->followers.begin(trouble_us);
      if (crowded_) one->many.begin(trouble_us);
    }
    if (put_back_) realms_[world_.restores.below(realms_.size())]->backups.begin(trouble_us);
    weather_->begin(trouble_us);
    look_around();
    while (world_.step(trouble_us)) {
    }
    world_.end_trouble();
    for (auto& one : realms_) one->home.enlarge();
    for (auto& one : realms_) one->home.heal();
    agents_.heal();
    world_.remark("fate", "makes no more trouble");
    calm(world_.operators.chance(500));
  }

  void report(verdict& out) {
    world_.report(out);
    for (const auto& one : realms_) out.orders += one->people.orders() + one->owners.orders();
  }

 private:
  /// Where what is archived is soon dropped, midnight comes within the run.
  std::int64_t begin_of(const retention_plan& plan, const realm& first) {
    constexpr std::int64_t midnight_ms = 1'700'006'400'000;
    const auto before_ms = world_.archives.between(0, 30'000);
    if (!plan.any || plan.policy.keep > std::chrono::hours{1}) return world_.start_ms();
    return midnight_ms - before_ms - first.time.ahead_us() / millisecond;
  }

  void look_around() {
    for (auto& one : realms_) {
      if (!one->home.serves() || !one->home.shows_all()) continue;
      const auto view = one->home.reads().read();
      if (one->home.put_back()) one->submitters.submit_what_is_lost(*view);
      if (++looks_ % looks_a_second == 0) {
        one->judge.look_for_absent(one->home.epoch(), *view);
        one->judge.look_for_late(one->home.epoch());
      }
      if (one->home.at_rest()) {
        one->judge.look_for_unsent(one->home.epoch(), *view);
        one->judge.look_for_untold(one->home.epoch());
        one->judge.of_bugs().look(one->home.core(), *view);
      }
      if (era_.any && world_.jobs.chance(20)) one->judge.of_jobs().whole(*view);
      if (era_.any && one->home.at_rest()) one->judge.of_jobs().look_around(*view);
    }
    world_.after(second / looks_a_second, [this] { look_around(); });
  }

  /// The faults are over: whatever lives gets on, and what a person holds or parked is seen to.
  void calm(bool resolves) {
    // A clock that is put right later is the last fault, or a process that stands still until later.
    auto from = world_.now_us();
    for (const auto& one : realms_)
      from = std::max({from, one->wrong_time.right_from_us(), one->odd_time.right_from_us(), one->home.awake_from_us()});
    int round = 0;
    const auto mends_clocks = era_.any && world_.jobs.chance(500);
    // Each round may begin sub-workflows anew that wait in vain for a signal at each of their levels.
    auto resolved = from;
    while (world_.now_us() - resolved < rest_within_us) {
      // No multiple of any period: else a scan could be on its way at each look.
      const auto until = world_.now_us() + 2 * second + 377;
      while (world_.step(until)) {
      }
      auto rests = era_.any ? see_to_jobs(world_.now_us() - from, mends_clocks) : true;
      auto parked = std::string{};
      for (auto& one : realms_) {
        const auto view = one->home.reads().read();
        if (one->home.put_back()) one->submitters.submit_what_is_lost(*view);
        one->judge.progress(*view);
        one->people.let_go();
        one->couriers.let_go();
        rests = rests && waiting_for(*one, *view) == 0 && quiet(*one, *view) && !absence_told_of(*view) &&
                one->judge.of_alerts().all_told(*view);
        if (parked.empty()) parked = any_parked_id(*one, *view);
      }
      if (!rests) continue;
      if (!resolves || parked.empty()) break;
      if (++round > most_rounds && round > most_rounds + rounds_an_item * most_items_begun())
        world::broken("unresolvable", "operators cannot bring " + parked + " to an end");
      // The rounds have a bound of their own. A shard that goes round for ever does not rest, and so gets no other one.
      world_.begin_round();
      for (auto& one : realms_) one->people.resolve(round);
      resolved = std::max(from, world_.now_us());
    }
    for (auto& one : realms_) {
      const auto view = one->home.reads().read();
      if (absence_told_of(*view)) world::broken("stale_alert", "an agent is said to be absent, and all of them are there");
      if (!one->submitters.satisfied() || !one->many.satisfied()) world::broken("stalled", "a submission is not answered");
      if (!one->home.settled()) world::broken("stalled", "the node does not come to rest");
      if (view->count(store::table::outbox) != 0) world::broken("stalled", "status events are not delivered");
      if (!one->judge.of_alerts().all_told(*view)) world::broken("stalled", "alerts are not delivered");
      if (!agents_.all_told()) world::broken("stalled", "an agent is not rid of an outcome");
      if (!one->owners.wound_down()) world::broken("stalled", "a deployment of a job is not answered");
      if (const auto what = one->judge.of_jobs().under_way()) world::broken("job_stalled", *what + " at the end");
      one->home.judge_end();
      one->judge.at_end(*view);
    }
  }

  /// What has come is decided; then nothing more comes, and what waits gets on. True once that is so.
  bool see_to_jobs(std::int64_t for_us, bool mends_clocks) {
    if (for_us < jobs_in_time_us) {
      for (auto& one : realms_)
        if (mends_clocks && one->judge.of_jobs().ahead()) one->owners.rewind(world_.jobs);
      return false;
    }
    bool out = winding_down_;
    for (auto& one : realms_) {
      one->judge.of_jobs().in_time();
      if (!winding_down_) one->owners.wind_down();
      out = out && one->owners.wound_down() && !one->judge.of_jobs().under_way();
    }
    winding_down_ = true;
    return out;
  }

  bool quiet(const realm& of, const store::snapshot& view) const {
    return of.submitters.satisfied() && of.many.satisfied() && of.home.settled() && view.count(store::table::outbox) == 0 &&
           agents_.all_told() && nothing_to_erase(view);
  }

  static bool nothing_to_erase(const store::snapshot& view) {
    bool none = true;
    return store::for_each_deletion(view, [&none](std::uint64_t) { return none = false; }).ok() && none;
  }

  /// What a start finds of that is not taken back at once.
  static bool absence_told_of(const store::snapshot& view) {
    bool out = false;
    const auto read = store::for_each_service(view, [&](const v1::ServiceRecord& record) {
      out = out || record.absent_since_unix_ms() != 0 || record.absent_alert() != 0;
      return true;
    });
    if (!read.ok()) world::broken("store_check", "services cannot be read: " + read.failure().sentence);
    return out;
  }

  /// Tasks that are neither over nor in the hands of a person.
  static std::size_t waiting_for(const realm& of, const store::snapshot& view) {
    std::size_t out = 0;
    for (const auto& [number, seen] : of.judge.seen()) {
      const auto record = store::load_task(view, number);
      if (!record.ok() || !*record || has_ended((*record)->state()) || (*record)->parked()) continue;
      ++out;
    }
    return out;
  }

  static std::string any_parked_id(const realm& of, const store::snapshot& view) {
    for (const auto& [number, seen] : of.judge.seen()) {
      const auto record = store::load_task(view, number);
      if (record.ok() && *record && (*record)->parked()) return (*record)->id() + " (" + (*record)->parked_reason() + ")";
    }
    return {};
  }

  /// The most items that have begun below one submitted task of those in which something is parked. No other item begins while one is
  /// parked, so that each may be parked after the one before: after a restore all its steps are in doubt, and each is seen to by itself.
  int most_items_begun() const {
    struct family {
      std::uint32_t begun = 0;
      bool parked = false;
    };
    std::uint32_t out = 0;
    for (const auto& one : realms_) {
      std::map<std::string, family> families;
      const auto view = one->home.reads().read();
      for (const auto& [number, seen] : one->judge.seen()) {
        const auto record = store::load_task(*view, number);
        if (!record.ok() || !*record) continue;
        const auto& id = (*record)->id();
        auto& its = families[root_of(id)];
        its.parked = its.parked || (*record)->parked();
        for (const auto& step : (*record)->steps()) its.begun += begun_items(step.items());
      }
      for (const auto& [id, its] : families)
        if (its.parked) out = std::max(out, its.begun);
    }
    return static_cast<int>(out);
  }

  world world_;
  std::size_t replicas_;
  bool put_back_;
  bool crowded_;
  network network_;
  ledger ledger_;
  services services_;
  std::vector<agent_site> sites_;
  job_era era_;
  std::vector<v1::WorkflowDefinition> workflows_;
  std::vector<v1::WorkflowDefinition> versions_;  // of the first of them
  std::vector<v1::WorkflowDefinition> editions_;  // of the same, by which its tasks go on; with itself
  agents agents_;
  std::vector<std::unique_ptr<realm>> realms_;
  std::unique_ptr<weather> weather_;
  std::uint64_t looks_ = 0;
  retention_plan retention_;
  bool winding_down_ = false;
};

}  // namespace

verdict run(const options& what) {
  verdict out;
  scene stage{what};
  try {
    stage.run();
  } catch (const rule_broken& found) {
    out.rule = found.rule;
    out.sentence = found.sentence;
    out.by_checker = found.by_checker;
  } catch (const process_killed&) {
    out.rule = "simulator";
    out.sentence = "a process died where nobody looked";
    out.by_checker = false;
  } catch (const std::exception& bug) {
    out.rule = "exception";
    out.sentence = bug.what();
    out.by_checker = false;
  }
  stage.report(out);
  return out;
}

}  // namespace fairlead::simulation
