#include "actors/scheduler_actor.hpp"

#include "actors/reminders.hpp"
#include "actors/stop_on_bug.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fairlead {

namespace {

constexpr auto watch_tick = std::chrono::milliseconds{250};

}  // namespace

class scheduler_shell final : public commit_port, public scheduler_outbox {
 public:
  using self_pointer = scheduler_actor::stateful_pointer<scheduler_state>;
  template <class Reply>
  using waiting = std::unordered_map<std::uint64_t, caf::typed_response_promise<Reply>>;  // by ticket

  scheduler_shell(self_pointer self, scheduler_setup setup)
      : self_(self),
        setup_(std::move(setup)),
        scheduler_({setup_.time, setup_.reads, this, this, setup_.log, setup_.engine}, setup_.limits, setup_.faults) {}

  void open() {
    stop_on_bug(self_, "Scheduler", setup_.on_fatal);
    self_->set_down_handler([this](const caf::down_msg& gone) { forget_client(gone.source); });
    const auto opened = scheduler_.open(setup_.epoch);
    if (!opened.ok()) {
      setup_.on_fatal(opened.failure());
      return;
    }
    self_->send(self_, resume_atom_v);
  }

  caf::result<v1::SubmitReply> submit(v1::SubmitRequest& what) {
    // The promise takes the sender away from the message.
    const auto subscriber = what.notify() ? subscriber_for(self_->current_sender()) : 0;
    auto promise = self_->make_response_promise<v1::SubmitReply>();
    submits_[next_ticket_] = promise;
    scheduler_.submit(std::move(what), next_ticket_++, subscriber);
    after_message();
    return promise;
  }

  /// A request that `ask` hands in under a ticket; its reply comes through the outbox.
  template <class Reply, class Ask>
  caf::result<Reply> asked(waiting<Reply>& promises, Ask&& ask) {
    auto promise = self_->make_response_promise<Reply>();
    const auto ticket = next_ticket_++;
    promises[ticket] = promise;
    ask(ticket);
    after_message();
    return promise;
  }

  caf::result<v1::DeployReply> deploy(const v1::DeployRequest& what) {
    return asked(deploys_, [&](std::uint64_t ticket) { scheduler_.deploy(what, ticket); });
  }

  caf::result<v1::OperateReply> operate(const v1::OperateRequest& what) {
    return asked(operations_, [&](std::uint64_t ticket) { scheduler_.operate(what, ticket); });
  }

  caf::result<v1::AlertAckReply> acknowledge_alerts(const v1::AlertAckRequest& what) {
    return asked(acknowledgements_, [&](std::uint64_t ticket) { scheduler_.acknowledge_alerts(what, ticket); });
  }

  caf::result<v1::BrakeReleaseReply> release_brake(const v1::BrakeReleaseRequest& what) {
    return asked(releases_, [&](std::uint64_t ticket) { scheduler_.release_brake(what, ticket); });
  }

  caf::result<v1::AgentOperateReply> operate_agents(const v1::AgentOperateRequest& what) {
    return asked(agent_operations_, [&](std::uint64_t ticket) { scheduler_.operate_agents(what, ticket); });
  }

  void offer() {
    offers_.fired();
    scheduler_.offer();
    after_message();
  }

  caf::result<v1::WatchReply> watch(const v1::WatchRequest& what) {
    auto promise = asked(watches_, [&](std::uint64_t ticket) { scheduler_.watch(what, ticket); });
    if (scheduler_.watched() && !std::exchange(watch_armed_, true)) self_->delayed_send(self_, watch_tick, expire_atom_v);
    return promise;
  }

  v1::StatusReply status_now() const {
    v1::StatusReply out;
    scheduler_.describe(out);
    return out;
  }

  void add_agent(const v1::RegisterAgent& what, const agent_actor& who) {
    if (scheduler_.add_agent(what)) agents_[what.instance()] = who;
    after_message();
  }

  template <class Handle>
  void take(Handle&& handle) {
    std::forward<Handle>(handle)(scheduler_);
    after_message();
  }

  void flush() {
    flush_armed_ = false;
    scheduler_.flush();
    after_message();
    answer_drains();
  }

  void committed_up_to(std::uint64_t sequence) {
    scheduler_.on_committed(sequence);
    after_message();
    answer_drains();
  }

  void resume() {
    if (scheduler_.resume_some()) self_->send(self_, resume_atom_v);
    after_message();
  }

  void expire_watches() {
    watch_armed_ = false;
    scheduler_.expire_watches();
    after_message();
    if (scheduler_.watched() && !std::exchange(watch_armed_, true)) self_->delayed_send(self_, watch_tick, expire_atom_v);
  }

  caf::result<bool> drain() {
    auto promise = self_->make_response_promise<bool>();
    drains_.push_back(promise);
    scheduler_.drain();
    after_message();
    answer_drains();
    return promise;
  }

 private:
  void after_message() {
    if (scheduler_.fatal()) {
      setup_.on_fatal(*scheduler_.fatal());
      self_->quit(caf::sec::runtime_error);
      return;
    }
    // Queued behind everything the mailbox holds by now, so one batch takes all of it.
    if (scheduler_.wants_flush() && !std::exchange(flush_armed_, true)) self_->send(self_, flush_atom_v);
    if (const auto next = scheduler_.next_offer(); next && offers_.wants(*next))
      self_->delayed_send(self_, std::max(*next - setup_.time->now(), duration{0}), offer_atom_v);
  }

  void answer_drains() {
    if (drains_.empty() || !scheduler_.settled() || !scheduler_.idle()) return;
    for (auto& promise : drains_) promise.deliver(true);
    drains_.clear();
  }

  void forget_client(const caf::actor_addr& who) {
    const auto found = subscriber_of_.find(who);
    if (found == subscriber_of_.end()) return;
    subscribers_.erase(found->second);
    subscriber_of_.erase(found);
  }

  std::uint64_t subscriber_for(const caf::strong_actor_ptr& client) {
    if (!client) return 0;
    const auto known = subscriber_of_.find(client->address());
    if (known != subscriber_of_.end()) return known->second;
    const auto subscriber = next_subscriber_++;
    subscriber_of_.emplace(client->address(), subscriber);
    subscribers_.emplace(subscriber, caf::actor_cast<caf::actor_addr>(client));
    self_->monitor(client->address());
    return subscriber;
  }

  // ---- effects ----

  void commit(store::batch what) override { self_->send(setup_.commits, commit_request{std::move(what)}); }

  void perform(const std::string& instance, v1::PerformBatch what) override {
    const auto found = agents_.find(instance);
    if (found != agents_.end()) self_->send(found->second, std::move(what));
  }

  void acknowledge(const std::string& instance, v1::OutcomeAckBatch what) override {
    const auto found = agents_.find(instance);
    if (found != agents_.end()) self_->send(found->second, std::move(what));
  }

  void acknowledge(const std::string& instance, v1::HeartbeatAckBatch what) override {
    const auto found = agents_.find(instance);
    if (found != agents_.end()) self_->send(found->second, std::move(what));
  }

  void hint(v1::RecoveryHintBatch what) override {
    if (supervisor_) self_->send(supervisor_, std::move(what));
  }

  void evaluate(v1::EvaluateRequest what) override { setup_.evaluate(scheduler_actor{self_}, std::move(what)); }

  template <class Reply>
  static void deliver(waiting<Reply>& promises, std::uint64_t ticket, Reply what) {
    const auto found = promises.find(ticket);
    if (found == promises.end()) return;
    found->second.deliver(std::move(what));
    promises.erase(found);
  }

  void reply(std::uint64_t ticket, v1::SubmitReply what) override { deliver(submits_, ticket, std::move(what)); }
  void reply(std::uint64_t ticket, v1::DeployReply what) override { deliver(deploys_, ticket, std::move(what)); }
  void reply(std::uint64_t ticket, v1::WatchReply what) override { deliver(watches_, ticket, std::move(what)); }
  void reply(std::uint64_t ticket, v1::OperateReply what) override { deliver(operations_, ticket, std::move(what)); }
  void reply(std::uint64_t ticket, v1::AlertAckReply what) override { deliver(acknowledgements_, ticket, std::move(what)); }
  void reply(std::uint64_t ticket, v1::BrakeReleaseReply what) override { deliver(releases_, ticket, std::move(what)); }
  void reply(std::uint64_t ticket, v1::AgentOperateReply what) override { deliver(agent_operations_, ticket, std::move(what)); }

  void notify(std::uint64_t subscriber, v1::FinishedNotice what) override {
    const auto found = subscribers_.find(subscriber);
    if (found == subscribers_.end()) return;
    if (const auto client = caf::actor_cast<client_sink>(found->second)) self_->send(client, std::move(what));
  }

 public:
  void set_supervisor(supervisor_actor who) { supervisor_ = std::move(who); }

 private:
  self_pointer self_;
  scheduler_setup setup_;
  scheduler scheduler_;
  supervisor_actor supervisor_;
  bool flush_armed_ = false;
  bool watch_armed_ = false;
  std::uint64_t next_ticket_ = 1;
  std::uint64_t next_subscriber_ = 1;
  waiting<v1::SubmitReply> submits_;
  waiting<v1::DeployReply> deploys_;
  waiting<v1::WatchReply> watches_;
  waiting<v1::OperateReply> operations_;
  waiting<v1::AlertAckReply> acknowledgements_;
  waiting<v1::BrakeReleaseReply> releases_;
  waiting<v1::AgentOperateReply> agent_operations_;
  reminders offers_;
  std::vector<caf::typed_response_promise<bool>> drains_;
  std::unordered_map<std::string, agent_actor> agents_;  // by instance
  std::unordered_map<std::uint64_t, caf::actor_addr> subscribers_;
  std::unordered_map<caf::actor_addr, std::uint64_t> subscriber_of_;
};

scheduler_actor::behavior_type run_scheduler(scheduler_actor::stateful_pointer<scheduler_state> self, scheduler_setup setup) {
  self->state.shell = std::make_shared<scheduler_shell>(self, std::move(setup));
  auto* shell = self->state.shell.get();
  shell->open();
  return {
      [=](v1::SubmitRequest& what) { return shell->submit(what); },
      [=](const v1::DeployRequest& what) { return shell->deploy(what); },
      [=](const v1::WatchRequest& what) { return shell->watch(what); },
      [=](const v1::StatusRequest&) { return shell->status_now(); },
      [=](const supervisor_actor& who) { shell->set_supervisor(who); },
      [=](const v1::RegisterAgent& what, const agent_actor& who) { shell->add_agent(what, who); },
      [=](v1::OutcomeBatch& what) { shell->take([&](scheduler& s) { s.outcomes(std::move(what)); }); },
      [=](v1::HeartbeatBatch& what) { shell->take([&](scheduler& s) { s.heartbeats(std::move(what)); }); },
      [=](const v1::RecoverBatch& what) { shell->take([&](scheduler& s) { s.recover(what); }); },
      [=](v1::EvaluateReply& what) { shell->take([&](scheduler& s) { s.evaluated(std::move(what)); }); },
      [=](const committed& what) { shell->committed_up_to(what.sequence); },
      [=](archived_tasks& what) { shell->take([&](scheduler& s) { s.archive(what); }); },
      [=](courier_rows& what) { shell->take([&](scheduler& s) { s.delivered(std::move(what)); }); },
      [=](const stalest_task& what) { shell->take([&](scheduler& s) { s.stalest(what); }); },
      [=](const v1::OperateRequest& what) { return shell->operate(what); },
      [=](const v1::AlertAckRequest& what) { return shell->acknowledge_alerts(what); },
      [=](const v1::BrakeReleaseRequest& what) { return shell->release_brake(what); },
      [=](flush_atom) { shell->flush(); },
      [=](resume_atom) { shell->resume(); },
      [=](expire_atom) { shell->expire_watches(); },
      [=](offer_atom) { shell->offer(); },
      [=](const v1::AgentOperateRequest& what) { return shell->operate_agents(what); },
      [=](drain_atom) { return shell->drain(); },
  };
}

}  // namespace fairlead
