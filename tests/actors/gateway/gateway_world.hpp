#pragma once
// Several gateways of one cluster under CAF's deterministic scheduler: n1 holds the shards 0 and 2, n2 holds 1, n3 none. The Schedulers are made
// up: they say what they were asked. Include after CAF_SUITE is defined.

#include "tests/actors/suite_world.hpp"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/cluster/routing.hpp"
#include "store/lmdb/archive.hpp"

namespace fairlead::testing {

/// What a made-up Scheduler has seen, and how it behaves.
struct made_up {
  std::set<std::string> tasks;
  int submissions = 0;
  int deployments = 0;
  int workflow_deletions = 0;
  std::string job;  // launches every workflow; empty: no job does
  int statuses = 0;
  int job_operations = 0;
  std::vector<due_jobs> due;
  std::vector<v1::CertificateReport> certificates;
  bool answers = true;
  client_sink subscriber;
};

template <class Reply>
Reply unknown_here() {
  Reply out;
  out.mutable_error()->set_code(v1::ERROR_CODE_NOT_FOUND);
  return out;
}

inline scheduler_actor::behavior_type made_up_scheduler(scheduler_actor::pointer self, std::uint32_t shard, std::shared_ptr<made_up> seen) {
  return {
      [=](const v1::SubmitRequest& what) -> caf::result<v1::SubmitReply> {
        ++seen->submissions;
        if (!seen->answers) return self->make_response_promise<v1::SubmitReply>();
        if (what.notify()) seen->subscriber = caf::actor_cast<client_sink>(self->current_sender());
        v1::SubmitReply reply;
        for (const auto& item : what.items()) {
          auto* result = reply.add_results();
          result->set_id(item.id());
          result->set_created(seen->tasks.insert(item.id()).second);
        }
        return reply;
      },
      [=](const v1::DeployRequest&) {
        ++seen->deployments;
        v1::DeployReply reply;
        reply.set_created(true);
        reply.add_warnings("nobody is there");
        return reply;
      },
      [=](const v1::WorkflowDeleteRequest& what) {
        v1::WorkflowDeleteReply reply;
        if (!seen->job.empty()) reply.mutable_error()->set_code(v1::ERROR_CODE_WRONG_STATE);
        if (seen->job.empty() && !what.check_only()) ++seen->workflow_deletions;
        return reply;
      },
      [=](const v1::WatchRequest& what) {
        v1::WatchReply reply;
        reply.set_reason(std::to_string(shard) + ":" + what.id());
        return reply;
      },
      [=](const v1::StatusRequest&) {
        ++seen->statuses;
        v1::StatusReply reply;
        reply.mutable_counts()->set_running(shard + 1);
        return reply;
      },
      [](const supervisor_actor&) {},
      [](const cron_actor&) {},
      [=](const v1::RegisterAgent& what, const caf::strong_actor_ptr&) -> caf::result<v1::AgentWelcome, caf::strong_actor_ptr> {
        v1::AgentWelcome out;
        out.set_shard(what.shard());
        return {std::move(out), caf::actor_cast<caf::strong_actor_ptr>(self)};
      },
      [](const v1::Beacon&) {},
      [](const v1::OutcomeBatch&) {},
      [](const v1::HeartbeatBatch&) {},
      [](const v1::RecoverBatch&) {},
      [](const v1::EvaluateReply&) {},
      [](const committed&) {},
      [](flush_atom) {},
      [](resume_atom) {},
      [](expire_atom) {},
      [](offer_atom) {},
      [](const archive_rows&) {},
      [](const courier_rows&) {},
      [](const stalest_task&) {},
      [](const waiting_tasks&) {},
      [=](const v1::OperateRequest& what) {
        v1::OperateReply reply;
        for (const auto& id : what.ids()) {
          auto* result = reply.add_results();
          result->set_id(id);
          result->set_reason(std::to_string(shard));
        }
        return reply;
      },
      [](const v1::AlertAckRequest& what) {
        v1::AlertAckReply reply;
        for (const auto number : what.numbers()) reply.add_results()->mutable_alert()->set_number(number);
        return reply;
      },
      [](const v1::BrakeReleaseRequest&) {
        v1::BrakeReleaseReply reply;
        reply.set_held(1);
        return reply;
      },
      [=](const v1::DoctorRequest&) {
        v1::DoctorReply reply;
        reply.add_effects()->set_number(shard + 1);
        return reply;
      },
      [=](const v1::AgentOperateRequest&) {
        if (shard == 2) return unknown_here<v1::AgentOperateReply>();
        v1::AgentOperateReply reply;
        reply.set_held(1);
        return reply;
      },
      [=](const v1::WorkerSessionRequest&) {
        v1::WorkerSessionReply reply;
        reply.set_incarnation(shard + 1);
        return reply;
      },
      [=](const v1::JobApplyRequest& what) {
        v1::JobApplyReply reply;
        for (const auto& spec : what.jobs()) {
          auto* result = reply.add_results();
          result->set_name(spec.name());
          result->add_warnings(std::to_string(shard));
        }
        return reply;
      },
      [=](const v1::JobOperateRequest& what) -> caf::result<v1::JobOperateReply> {
        ++seen->job_operations;
        if (!seen->answers) return self->make_response_promise<v1::JobOperateReply>();
        v1::JobOperateReply reply;
        for (const auto& name : what.names()) {
          auto* result = reply.add_results();
          result->set_name(name);
          result->set_sentence(std::to_string(shard));
        }
        // A rewind of all: two pages of one job.
        if (what.names().empty()) {
          reply.add_results()->set_name((what.after().empty() ? "first/" : "second/") + std::to_string(shard));
          if (what.after().empty()) reply.set_after("first/" + std::to_string(shard));
        }
        return reply;
      },
      [=](const due_jobs& what) { seen->due.push_back(what); },
      [=](const v1::CertificateReport& what) { seen->certificates.push_back(what); },
      [](drain_atom) { return true; },
  };
}

struct gateway_world : asking_fixture {
  static constexpr std::uint32_t count = 3;
  manual_clock time;
  store::memory_store stores[count];
  std::shared_ptr<made_up> seen[count];
  scheduler_actor schedulers[count];
  gateway_actor n1, n2, n3;

  gateway_world() {
    for (std::uint32_t shard = 0; shard < count; ++shard) {
      seen[shard] = std::make_shared<made_up>();
      schedulers[shard] = sys.spawn(made_up_scheduler, shard, seen[shard]);
    }
    n1 = gateway("n1", {0, 2}, count);
    n2 = gateway("n2", {1}, count);
    n3 = gateway("n3", {}, 0);
    consume_messages();
  }

  ~gateway_world() override {
    for (const auto& one : {n1, n2, n3}) caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    for (const auto& one : schedulers) caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    consume_messages();
  }

  gateway_actor gateway(const std::string& node, const std::vector<std::uint32_t>& shards, std::uint32_t total) {
    gateway_setup setup;
    setup.node = node;
    setup.time = &time;
    setup.shard_count = total;
    for (const auto shard : shards) {
      shard_desk desk;
      desk.shard = shard;
      desk.reads = &stores[shard];
      desk.archives = std::make_shared<store::archive>("/nonexistent");
      desk.scheduler = schedulers[shard];
      setup.desks.push_back(std::move(desk));
    }
    return sys.spawn(run_gateway, std::move(setup));
  }

  /// Makes rows of a shard durable.
  template <class Fill>
  void keep(std::uint32_t shard, Fill fill) {
    store::batch rows;
    rows.epoch = *stores[shard].raise_epoch();
    rows.sequence = stores[shard].read()->get_progress().sequence + 1;
    fill(rows);
    const auto kept = stores[shard].commit({std::move(rows)});
    CAF_REQUIRE(kept.ok());
  }

  void route(const gateway_actor& whom, std::uint32_t shard, const gateway_actor& via, const std::string& node, const std::string& why = "",
             bool several = false) {
    caf::anon_send(whom, shard_route{shard, caf::actor_cast<caf::strong_actor_ptr>(via), node, why, several});
  }

  /// As links would.
  void connect() {
    caf::anon_send(n3, shard_total{count});
    for (const auto shard : {0u, 2u}) {
      route(n2, shard, n1, "n1");
      route(n3, shard, n1, "n1");
    }
    route(n1, 1, n2, "n2");
    route(n3, 1, n2, "n2");
    consume_messages();
  }

  /// A task of that shard.
  static std::string task_of(std::uint32_t shard, int skip = 0) {
    for (int i = 0;; ++i)
      if (core::shard_of_task("t" + std::to_string(i), count) == shard && skip-- == 0) return "t" + std::to_string(i);
  }

  static v1::SubmitRequest tasks(int size, bool notify = false) {
    v1::SubmitRequest out;
    for (int i = 0; i < size; ++i) out.add_items()->set_id("t" + std::to_string(i));
    out.set_notify(notify);
    return out;
  }
};

}  // namespace fairlead::testing
