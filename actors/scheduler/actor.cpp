#include "actors/scheduler/actor.hpp"

#include "actors/protocol/reminders.hpp"
#include "actors/registry/seats.hpp"
#include "actors/supervision/guardian.hpp"
#include "messages/tickets.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fairlead {

namespace {

/// Limits with the shard of the setup.
scheduler_limits limits_of(const scheduler_setup& setup) {
  auto out = setup.limits;
  out.shard = setup.shard;
  return out;
}

}  // namespace

class scheduler_shell final : public commit_port, public scheduler_outbox {
 public:
  using self_pointer = supervised_stateful_pointer<scheduler_actor, scheduler_state>;
  scheduler_shell(self_pointer self, scheduler_setup setup)
      : self_(self),
        setup_(std::move(setup)),
        scheduler_({setup_.time, setup_.reads, this, this, setup_.log, setup_.engine, nullptr, bool{setup_.replica}, setup_.replication,
                    make_work_key()},
                   limits_of(setup_), setup_.faults),
        agents_(*setup_.time) {}

  /// Who asked hears at once that no answer comes: a promise that is dropped says nothing.
  ~scheduler_shell() override {
    for (auto& [ticket, answer] : waiting_) answer(nullptr);
  }

  void open() {
    end_on_bug(self_, "Scheduler");
    self_->set_down_handler([this](const caf::down_msg& gone) { lost(gone.source); });
    const auto opened = scheduler_.open(setup_.epoch);
    if (!opened.ok()) {
      setup_.on_fatal(opened.failure());
      return;
    }
    self_->send(self_, resume_atom_v);
    arm_look();
  }

  /// Hands a request of scheduler_requests in under a ticket; the reply comes through the outbox.
  template <class Request>
  caf::result<reply_of<Request>> answer(Request& what) {
    return ask<Request>([&](std::uint64_t ticket) { scheduler_.answer(what, ticket); });
  }

  caf::result<v1::SubmitReply> answer(v1::SubmitRequest& what) {
    // Read before the promise is made: the promise takes the sender out of the message.
    const auto subscriber = what.notify() ? subscriber_for(self_->current_sender()) : 0;
    return ask<v1::SubmitRequest>([&](std::uint64_t ticket) { scheduler_.answer(std::move(what), ticket, subscriber); });
  }

  caf::result<v1::WatchReply> answer(v1::WatchRequest& what) {
    auto promise = ask<v1::WatchRequest>([&](std::uint64_t ticket) { scheduler_.answer(what, ticket); });
    arm_look();
    return promise;
  }

  caf::result<v1::StatusReply> answer(v1::StatusRequest&) {
    v1::StatusReply out;
    scheduler_.describe(out);
    return out;
  }

  void offer() {
    offers_.fired();
    scheduler_.offer();
    after_message();
  }

  caf::result<v1::AgentWelcome, caf::strong_actor_ptr> add_agent(const v1::RegisterAgent& what, const caf::strong_actor_ptr& who) {
    if (!who) return refused_agent({v1::ERROR_CODE_INVALID_ARGUMENT, "the registration has no agent actor", ""});
    const auto* const known = agents_.find(what.instance());
    // An instance that is away may have ended for good, with its last registration arriving after the down message: monitor it again.
    const auto unwatched = known == nullptr || known->away;
    const auto reconnects = agents_.reconnects(what.instance(), who);
    auto welcome = scheduler_.add_agent(what, reconnects);
    const auto outdated = welcome.revision() > what.revision();
    if (welcome.error().code() == v1::ERROR_CODE_OK && !outdated) {
      if (const auto before = agents_.take(what, who, who->node() == self_->system().node())) self_->demonitor(before.address());
      if (unwatched || reconnects) {
        self_->demonitor(who->get()->address());
        self_->monitor(who->get()->address());
      }
      arm_look();
    }
    if (const auto* const seat = agents_.find(what.instance())) agents_.stamp(*seat, welcome);
    after_message();
    const auto refused = welcome.error().code() != v1::ERROR_CODE_OK;
    return {std::move(welcome), refused ? nullptr : caf::actor_cast<caf::strong_actor_ptr>(self_)};
  }

  void beacon(const v1::Beacon& what) {
    const auto sender = self_->current_sender();
    if (!sender) return;
    if (what.shard() != setup_.shard) {
      scheduler_.misdirected();
      return;
    }
    v1::BeaconAck ack;
    ack.set_shard(setup_.shard);
    if (auto* const seat = agents_.heard(what, sender)) {
      ack.set_known(true);
      ack.set_wanted(scheduler_.wanted_of(what.instance()));
      agents_.stamp(*seat, ack);
    } else {
      // The instance may hold attempts all the same, and must learn of a changed clock.
      ack.set_sent_unix_ms(to_unix_ms(setup_.time->now()));
      ack.set_anchor_ms(what.beacon_ms());
    }
    self_->send(caf::actor_cast<agent_actor>(sender), std::move(ack));
  }

  /// Only the latest host of an instance may give attempts back: where a worker has moved to another one, that one has them, too, and the worker
  /// may have begun them.
  void outcomes(v1::OutcomeBatch what) {
    const auto& sender = self_->current_sender();
    const auto* const seat = agents_.find(what.instance());
    if (seat == nullptr || !sender || caf::actor_cast<caf::strong_actor_ptr>(seat->handle) != sender) {
      auto& items = *what.mutable_items();
      items.erase(std::remove_if(items.begin(), items.end(), [](const v1::Outcome& one) { return one.not_begun(); }), items.end());
    }
    scheduler_.outcomes(std::move(what));
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

  void confirmed(std::uint64_t ticket, bool led) {
    scheduler_.on_confirmed(ticket, led);
    after_message();
    answer_drains();
  }

  void resume() {
    if (scheduler_.resume_some()) self_->send(self_, resume_atom_v);
    after_message();
  }

  /// Ends long polls whose time is over, marks silent agents as away, and looks whether other nodes that hold the shard are.
  void look() {
    look_armed_ = false;
    if (scheduler_.watched()) scheduler_.expire_watches();
    for (const auto& instance : agents_.silent()) away(instance, "it sent no heartbeat for 3 s");
    scheduler_.look_at_replicas();
    after_message();
    arm_look();
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
    // The flush is queued behind everything in the mailbox now, so one batch takes all of it.
    if (scheduler_.wants_flush() && !std::exchange(flush_armed_, true)) self_->send(self_, flush_atom_v);
    if (const auto next = scheduler_.next_offer()) remind_at(*next, *setup_.time, *self_, offers_, offer_atom_v);
  }

  void answer_drains() {
    if (drains_.empty() || !scheduler_.settled() || !idle_here()) return;
    for (auto& promise : drains_) promise.deliver(true);
    drains_.clear();
  }

  /// Agents on other nodes and workers over HTTP finish their attempts without this process and report them to the next one.
  bool idle_here() const {
    const auto local = agents_.local();
    return std::all_of(local.begin(), local.end(), [this](const std::string& one) { return scheduler_.held_by(one) == 0; });
  }

  void arm_look() {
    if ((scheduler_.watched() || agents_.any_remote() || setup_.replication) && !std::exchange(look_armed_, true))
      self_->delayed_send(self_, agent_seats::look_period, expire_atom_v);
  }

  static caf::result<v1::AgentWelcome, caf::strong_actor_ptr> refused_agent(const error& why) {
    v1::AgentWelcome welcome;
    *welcome.mutable_error() = why.to_proto();
    return {std::move(welcome), caf::strong_actor_ptr{}};
  }

  void away(const std::string& instance, const std::string& why) {
    auto& seat = *agents_.find(instance);
    seat.away = true;
    scheduler_.agent_away(instance, seat.incarnation, why);
  }

  void lost(const caf::actor_addr& who) {
    forget_client(who);
    const auto* const instance = agents_.instance_at(who);
    if (instance == nullptr) return;
    const auto local = agents_.find(*instance)->local;
    away(std::string{*instance}, local ? "it has ended" : "the connection to its node is lost");
    after_message();
  }

  void forget_client(const caf::actor_addr& who) {
    const auto found = subscriber_of_.find(who);
    if (found == subscriber_of_.end()) return;
    scheduler_.unsubscribe(found->second);
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

  void confirm(std::uint64_t ticket) override {
    self_->request(setup_.replica, caf::infinite, confirm_atom_v, scheduler_.epoch())
        .then([this, ticket](bool led) { confirmed(ticket, led); }, [this, ticket](const caf::error&) { confirmed(ticket, false); });
  }

  void perform(const std::string& instance, v1::PerformBatch what) override {
    const auto* const seat = agents_.find(instance);
    if (seat == nullptr) return;
    agents_.stamp(*seat, what);
    self_->send(seat->handle, std::move(what));
  }

  void acknowledge(const std::string& instance, v1::OutcomeAckBatch what) override {
    if (const auto* const seat = agents_.find(instance)) self_->send(seat->handle, std::move(what));
  }

  void acknowledge(const std::string& instance, v1::HeartbeatAckBatch what) override {
    if (const auto* const seat = agents_.find(instance)) self_->send(seat->handle, std::move(what));
  }

  void hint(v1::RecoveryHintBatch what) override {
    if (supervisor_) self_->send(supervisor_, std::move(what));
  }

  void wake_cron(moment due) override {
    if (cron_) self_->send(cron_, job_due_at{due});
  }

  std::weak_ptr<const void> evaluate(v1::EvaluateRequest what) override { return setup_.evaluate(scheduler_actor{self_}, std::move(what)); }

  template <class Request, class How>
  caf::result<reply_of<Request>> ask(How&& how) {
    auto promise = self_->make_response_promise<reply_of<Request>>();
    const auto ticket = next_ticket_++;
    waiting_[ticket] = [promise](request_reply* what) mutable {
      what != nullptr ? promise.deliver(std::get<reply_of<Request>>(std::move(*what))) : promise.deliver(caf::sec::request_receiver_down);
    };
    how(ticket);
    after_message();
    return promise;
  }

  void reply(std::uint64_t ticket, request_reply what) override {
    if (auto asked = waiting_.extract(ticket)) asked.mapped()(&what);
  }

  void notify(std::uint64_t subscriber, v1::FinishedNotice what) override {
    const auto found = subscribers_.find(subscriber);
    if (found == subscribers_.end()) return;
    if (const auto client = caf::actor_cast<client_sink>(found->second)) self_->send(client, std::move(what));
  }

 public:
  void set_supervisor(supervisor_actor who) { supervisor_ = std::move(who); }
  void set_cron(cron_actor who) { cron_ = std::move(who); }

 private:
  self_pointer self_;
  scheduler_setup setup_;
  scheduler scheduler_;
  supervisor_actor supervisor_;
  cron_actor cron_;
  bool flush_armed_ = false;
  bool look_armed_ = false;
  std::uint64_t next_ticket_ = 1;
  std::uint64_t next_subscriber_ = 1;
  std::unordered_map<std::uint64_t, std::function<void(request_reply*)>>
      waiting_;  // promises of their replies, by ticket; null: none comes
  reminders offers_;
  std::vector<caf::typed_response_promise<bool>> drains_;
  agent_seats agents_;
  std::unordered_map<std::uint64_t, caf::actor_addr> subscribers_;
  std::unordered_map<caf::actor_addr, std::uint64_t> subscriber_of_;
};

namespace {

/// One handler for each request of the table, plus the others.
template <class... Rows, class... More>
scheduler_actor::behavior_type behavior_of(request_table<Rows...>, scheduler_shell* shell, More... more) {
  return {[shell](typename Rows::request& what) { return shell->answer(what); }..., std::move(more)...};
}

}  // namespace

scheduler_actor::behavior_type run_scheduler(supervised_stateful_pointer<scheduler_actor, scheduler_state> self, scheduler_setup setup) {
  self->state.shell = std::make_shared<scheduler_shell>(self, std::move(setup));
  auto* shell = self->state.shell.get();
  shell->open();
  return behavior_of(
      scheduler_requests{}, shell, [=](const supervisor_actor& who) { shell->set_supervisor(who); },
      [=](const cron_actor& who) { shell->set_cron(who); },
      [=](const v1::RegisterAgent& what, const caf::strong_actor_ptr& who) { return shell->add_agent(what, who); },
      [=](const v1::Beacon& what) { shell->beacon(what); }, [=](v1::OutcomeBatch& what) { shell->outcomes(std::move(what)); },
      [=](v1::HeartbeatBatch& what) { shell->take([&](scheduler& s) { s.heartbeats(std::move(what)); }); },
      [=](const v1::RecoverBatch& what) { shell->take([&](scheduler& s) { s.recover(what); }); },
      [=](v1::EvaluateReply& what) { shell->take([&](scheduler& s) { s.evaluated(std::move(what)); }); },
      [=](const committed& what) { shell->committed_up_to(what.sequence); },
      [=](archive_rows& what) { shell->take([&](scheduler& s) { s.archive(what); }); },
      [=](courier_rows& what) { shell->take([&](scheduler& s) { s.delivered(std::move(what)); }); },
      [=](const stalest_task& what) { shell->take([&](scheduler& s) { s.stalest(what); }); },
      [=](const waiting_tasks& what) { shell->take([&](scheduler& s) { s.look_at_waits(what); }); }, [=](flush_atom) { shell->flush(); },
      [=](resume_atom) { shell->resume(); }, [=](expire_atom) { shell->look(); }, [=](offer_atom) { shell->offer(); },
      [=](const due_jobs& what) { shell->take([&](scheduler& s) { s.launch_due(what); }); },
      [=](const v1::CertificateReport& what) { shell->take([&](scheduler& s) { s.look_at_certificate(what); }); },
      [=](drain_atom) { return shell->drain(); });
}

}  // namespace fairlead
