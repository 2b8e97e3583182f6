#pragma once
// What the suites over real actors share: CAF's deterministic fixture with our messages registered, and the parts of a shard as actors that
// run only when the test lets them.

#include <caf/io/all.hpp>
#include <caf/test/dsl.hpp>
#include <caf/test/io_dsl.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/agent_host/actor.hpp"
#include "actors/core/workflow/declarative.hpp"
#include "actors/gateway/gateway.hpp"
#include "actors/protocol/meta_objects.hpp"
#include "actors/scheduler/actor.hpp"
#include "actors/shard/store_actor.hpp"
#include "actors/supervisor/actor.hpp"
#include "store/memory/memory_store.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::testing {

class suite_config : public caf::actor_system_config {
 public:
  suite_config() {
    load<caf::io::middleman>();
    init_meta_objects(*this);
  }
};

class manual_clock final : public clock {
 public:
  moment now() const override { return from_unix_ms(now_ms); }
  std::int64_t now_ms = 1'700'000'000'000;
};

class quiet_observer final : public observer {
 public:
  void on_transition(const transition&) override {}
  void on_note(note_level, std::string_view, std::string_view) override {}
};

/// Completes each attempt at once with `7`, or never.
class fake_backend final : public agents::backend {
 public:
  explicit fake_backend(bool completes) : completes_(completes) {}
  void start(const v1::Perform& what, agents::completion done) override {
    started.push_back(what);
    if (completes_) done(agents::key_of(what), {"7", std::nullopt, 1});
  }
  void stop(const agents::attempt_key& which) override { stopped.push_back(which); }
  std::vector<std::string> calls() const override { return {"do"}; }
  std::uint32_t capacity() const override { return 10; }
  void shut_down() override { was_shut_down = true; }

  std::vector<v1::Perform> started;
  std::vector<agents::attempt_key> stopped;
  bool was_shut_down = false;

 private:
  bool completes_;
};

/// Counts transactions.
class counting_store final : public store::store {
 public:
  fairlead::status commit(const std::vector<fairlead::store::batch>& group) override {
    groups.push_back(group.size());
    if (broken) return error{v1::ERROR_CODE_DISK, "the disk is gone", ""};
    return inner.commit(group);
  }
  result<std::uint64_t> raise_epoch() override { return inner.raise_epoch(); }
  std::unique_ptr<fairlead::store::snapshot> read() const override { return inner.read(); }
  fairlead::store::usage get_usage() const override { return inner.get_usage(); }

  fairlead::store::memory_store inner;
  std::vector<std::size_t> groups;
  bool broken = false;
};

/// A fixture in which nothing runs but when a test lets it.
struct asking_fixture : test_coordinator_fixture<suite_config> {
  /// Sends a request, lets all messages run but no time pass, and gives the reply.
  template <class Reply, class Handle, class Request>
  Reply ask(const Handle& whom, Request what) {
    auto waiting = self->request(whom, caf::infinite, std::move(what));
    consume_messages();
    return get<Reply>(waiting);
  }

  template <class Reply, class Waiting>
  Reply get(Waiting& waiting) {
    Reply out;
    CAF_REQUIRE(!self->mailbox().empty());
    waiting.receive([&out](Reply& reply) { out = std::move(reply); }, [this](const caf::error& why) { CAF_FAIL(sys.render(why)); });
    return out;
  }
};

/// Two virtual nodes do everything that is there to be done, but no reminder before its time: the fixture's run() would fire them for ever.
template <class Planet>
void settle(Planet& earth, Planet& mars) {
  while (earth.consume_message() || mars.consume_message() || earth.handle_io_event() || mars.handle_io_event()) {
  }
}

/// The actors of a shard in one system.
class suite_shard {
 public:
  suite_shard(caf::actor_system& sys, bool completes, bool supervised, bool enlisted = true, agents::agent_settings settings = {})
      : backend(std::make_shared<fake_backend>(completes)) {
    const auto fatal = [this](const error& why) { failure = why; };
    commits = sys.spawn(run_store, static_cast<store::store*>(&store), fatal, static_cast<commit_gauge*>(nullptr));
    scheduler_setup setup;
    setup.time = &time;
    setup.reads = &store;
    setup.log = &log;
    setup.engine = &engine;
    setup.commits = commits;
    setup.evaluate = [](const scheduler_actor&, v1::EvaluateRequest) { return std::weak_ptr<const void>{}; };
    setup.on_fatal = fatal;
    setup.epoch = *store.raise_epoch();
    scheduler = sys.spawn(run_scheduler, std::move(setup));
    if (supervised) {
      supervisor = sys.spawn(run_supervisor, supervisor_setup{&time, &store, &log, scheduler, std::chrono::seconds{1}, fatal});
      caf::anon_send(scheduler, supervisor);
    }
    agent_setup agent_is;
    agent_is.who = {"svc", "n1/svc", 1, "native", std::move(settings), nullptr};
    agent_is.backend = backend;
    agent_is.time = &time;
    agent_is.log = &log;
    agent_is.node = "n1";
    agent = sys.spawn(run_agent, std::move(agent_is));
    if (enlisted) enlist();
    gateway_setup gate;
    gate.node = "n1";
    gate.version = "test";
    gate.time = &time;
    shard_desk desk;
    desk.reads = &store;
    desk.scheduler = scheduler;
    desk.describe = [](v1::ShardStatus& line) { line.mutable_store()->set_path("memory"); };
    gate.desks.push_back(std::move(desk));
    gate.shard_count = 1;
    gateway = sys.spawn(run_gateway, std::move(gate));
  }

  /// Has the agent register; from then on it sends beacons for ever.
  void enlist() { caf::anon_send(agent, shard_route{0, caf::actor_cast<caf::strong_actor_ptr>(scheduler), "n1", ""}); }

  /// The actors rearm their reminders for ever, so they end before the fixture lets everything run.
  void end() {
    for (const auto& one : {caf::actor_cast<caf::actor>(gateway), caf::actor_cast<caf::actor>(agent),
                            caf::actor_cast<caf::actor>(scheduler), caf::actor_cast<caf::actor>(commits)})
      caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    if (supervisor) caf::anon_send_exit(supervisor, caf::exit_reason::user_shutdown);
  }

  static v1::DeployRequest two_steps() {
    v1::DeployRequest out;
    auto* definition = out.mutable_definition();
    definition->set_name("order");
    for (const auto* name : {"a", "b"}) {
      auto* step = definition->add_steps();
      step->set_name(name);
      step->set_agent("svc");
      step->set_call("do");
      step->set_timeout_ms(5'000);
      step->set_attempts(3);
      step->mutable_backoff()->set_first_ms(200);
      step->mutable_backoff()->set_factor(2);
      step->mutable_backoff()->set_max_ms(1'000);
    }
    definition->mutable_steps(1)->add_needs("a");
    return out;
  }

  static v1::SubmitRequest order(const std::string& id, bool notify = false) {
    v1::SubmitRequest out;
    auto* item = out.add_items();
    item->set_id(id);
    item->set_workflow("order");
    item->set_input("{}");
    out.set_notify(notify);
    return out;
  }

  v1::TaskState state_of(const std::string& id) const {
    const auto view = store.read();
    const auto known = store::find_task(*view, id);
    if (!known.ok() || !*known) return v1::TASK_STATE_UNSPECIFIED;
    return (*store::load_task(*view, (*known)->number()))->state();
  }

  counting_store store;
  manual_clock time;
  quiet_observer log;
  core::declarative_engine engine;
  std::shared_ptr<fake_backend> backend;
  std::optional<error> failure;
  store_actor commits;
  scheduler_actor scheduler;
  supervisor_actor supervisor;
  agent_actor agent;
  gateway_actor gateway;
};

}  // namespace fairlead::testing
