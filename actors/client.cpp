#include "actors/client.hpp"

#include <algorithm>
#include <caf/all.hpp>
#include <optional>

#include "actors/client_actor.hpp"
#include "actors/client_split.hpp"
#include "actors/client_system.hpp"
#include "messages/ids.hpp"

namespace fairlead {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A node that is up answers everything but long polls in less; after this the request is sent again.
constexpr milliseconds longest_try{5'000};
constexpr milliseconds longest_poll{20'000};
constexpr milliseconds longest_replies_poll{30'000};

bool over(const v1::WatchReply& reply) {
  return reply.parked() || reply.state() == v1::TASK_STATE_COMPLETED || reply.state() == v1::TASK_STATE_UNDONE;
}

}  // namespace

struct client::state {
  client_options options;
  std::shared_ptr<client_system> system;
  std::shared_ptr<client_shared> shared = std::make_shared<client_shared>();
  client_shell shell;

  ~state() {
    if (!shell) return;
    // The handler of notices belongs to the caller: when this returns it is never called again.
    caf::scoped_actor self{system->actors()};
    self->send_exit(shell, caf::exit_reason::user_shutdown);
    self->wait_for(shell);
  }

  template <class Reply, class Request>
  result<Reply> ask(const Request& what, duration poll = duration{0}) {
    return ask<Reply>(what, poll + options.request_timeout, poll + longest_try);
  }

  /// The whole time may go by in one try.
  template <class Reply, class Request>
  result<Reply> ask_patiently(const Request& what) {
    return ask<Reply>(what, options.request_timeout, options.request_timeout);
  }

  template <class Reply, class Request>
  result<Reply> ask(const Request& what, duration limit, duration try_limit) {
    auto deadline = steady_clock::now() + limit;
    auto call = std::make_shared<request_call<Request, Reply>>(what, deadline, try_limit);
    auto answer = call->answer();
    caf::anon_send(shell, client_call_ptr{std::move(call)});
    return finish(answer, deadline);
  }

  /// The actor answers every call at its deadline; the extra time only guards against a handler of notices that does not return.
  template <class T>
  static T finish(std::future<T>& answer, steady_time deadline) {
    if (answer.wait_until(deadline + std::chrono::seconds{5}) != std::future_status::ready)
      return error{v1::ERROR_CODE_TIMED_OUT, "The client's own thread is busy: a handler of notices does not return",
                   "Let handlers return soon"};
    return answer.get();
  }
};

client::client(std::unique_ptr<state> s) : state_(std::move(s)) {}
client::client(client&&) noexcept = default;
client& client::operator=(client&&) noexcept = default;
client::~client() = default;

result<client> client::connect(client_options options) {
  auto addresses = parse_client_addresses(options.nodes);
  if (!addresses) return addresses.failure();
  bool one_round = options.connect_timeout.count() <= 0;
  auto limit = one_round ? duration{std::chrono::seconds{60}} : options.connect_timeout;

  auto made = std::make_unique<state>();
  made->options = std::move(options);
  made->system = client_system::acquire();
  made->shell = made->system->actors().spawn(make_client_shell, std::move(*addresses), made->shared);

  auto deadline = steady_clock::now() + limit;
  auto call = std::make_shared<connect_call>(deadline, one_round);
  auto answer = call->answer();
  caf::anon_send(made->shell, client_call_ptr{std::move(call)});
  auto connected = state::finish(answer, deadline);
  if (!connected) return connected.failure();
  return client{std::move(made)};
}

result<v1::SubmitReply> client::submit(v1::SubmitRequest what) {
  v1::SubmitReply out;
  for (auto& item : *what.mutable_items()) {
    if (item.id().empty()) item.set_id(make_uuid_v7(to_unix_ms(system_clock{}.now())));
    out.add_results()->set_id(item.id());
  }
  auto cut = split(std::move(what));
  for (int position : cut.oversized) {
    const error refusal{v1::ERROR_CODE_INVALID_ARGUMENT, "The input of task " + out.results(position).id() + " is larger than 256 KiB",
                        "Keep large data elsewhere and submit a reference to it"};
    *out.mutable_results(position)->mutable_error() = refusal.to_proto();
  }
  std::optional<error> failed;
  for (auto part = cut.parts.begin(); part != cut.parts.end(); ++part) {
    if (!failed) {
      auto reply = state_->ask<v1::SubmitReply>(part->request);
      if (reply && reply->results_size() != part->request.items_size())
        failed = error{v1::ERROR_CODE_INTERNAL, "The node answered for another number of items than were sent", "Report this as a bug"};
      else if (!reply)
        failed = reply.failure();
      else
        for (int i = 0; i < reply->results_size(); ++i)
          out.mutable_results(part->positions[static_cast<std::size_t>(i)])->Swap(reply->mutable_results(i));
      if (failed && part == cut.parts.begin() && cut.oversized.empty()) return *failed;
    }
    if (failed)
      for (int position : part->positions) *out.mutable_results(position)->mutable_error() = failed->to_proto();
  }
  return out;
}

result<v1::TaskEnd> client::wait(const std::string& id, duration limit) {
  v1::TaskEnd end;
  auto watched = watch(
      id, 0,
      [&](const v1::WatchReply& reply) {
        end.set_id(id);
        end.set_state(reply.state());
        end.set_parked(reply.parked());
        end.set_reason(reply.reason());
        return true;
      },
      limit);
  if (!watched) return watched.failure();
  return end;
}

status client::watch(const std::string& id, std::uint64_t after_sequence, const std::function<bool(const v1::WatchReply&)>& on_reply,
                     duration limit, bool with_progress) {
  const auto deadline = steady_clock::now() + limit;
  v1::WatchRequest request;
  request.set_id(id);
  if (with_progress) request.set_after_progress_unix_ms(1);
  request.set_after_sequence(after_sequence);
  for (;;) {
    auto poll = longest_poll;
    if (limit.count() > 0) poll = std::min(poll, std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now()));
    if (poll.count() <= 0)
      return error{v1::ERROR_CODE_TIMED_OUT, "Task " + id + " has not ended within " + format_duration(limit.count()),
                   "It goes on; wait for it again"};
    request.set_wait_ms(poll.count());
    auto reply = state_->ask<v1::WatchReply>(request, poll);
    if (!reply) return reply.failure();
    const bool ended = over(*reply);
    auto told = request.after_progress_unix_ms();
    for (const auto& one : reply->progress()) told = std::max(told, one.progress().at_unix_ms());
    const auto progressed = with_progress && told > request.after_progress_unix_ms();
    if (ended || progressed || !reply->events().empty())
      if (!on_reply(*reply)) return nothing{};
    if (with_progress) request.set_after_progress_unix_ms(told);
    if (ended) return nothing{};
    if (!reply->events().empty()) request.set_after_sequence(reply->events().rbegin()->sequence());
  }
}

void client::on_finished(std::function<void(const v1::FinishedNotice&)> handler) {
  std::lock_guard guard{state_->shared->mutex};
  state_->shared->on_finished = std::move(handler);
}

std::uint64_t client::connections() const {
  std::lock_guard guard{state_->shared->mutex};
  return state_->shared->connections;
}

result<v1::StatesReply> client::states(const v1::StatesRequest& what) { return state_->ask<v1::StatesReply>(what); }
result<v1::TaskListReply> client::list(const v1::TaskListRequest& what) { return state_->ask<v1::TaskListReply>(what); }
result<v1::TaskShowReply> client::show(const v1::TaskShowRequest& what) { return state_->ask<v1::TaskShowReply>(what); }
result<v1::DeployReply> client::deploy(const v1::DeployRequest& what) { return state_->ask<v1::DeployReply>(what); }
result<v1::WorkflowListReply> client::workflows(const v1::WorkflowListRequest& what) { return state_->ask<v1::WorkflowListReply>(what); }
result<v1::WorkflowShowReply> client::workflow(const v1::WorkflowShowRequest& what) { return state_->ask<v1::WorkflowShowReply>(what); }
result<v1::StatusReply> client::status_of_node(const v1::StatusRequest& what) { return state_->ask<v1::StatusReply>(what); }
result<v1::RepliesReply> client::replies(const v1::RepliesRequest& what) {
  return state_->ask<v1::RepliesReply>(what, std::clamp(duration{what.wait_ms()}, duration{0}, duration{longest_replies_poll}));
}

// A node that is slow with these is not asked twice: they are not idempotent, or cost it much.
result<v1::OperateReply> client::operate(const v1::OperateRequest& what) {
  auto reply = state_->ask_patiently<v1::OperateReply>(what);
  if (reply && reply->results_size() != what.ids_size())
    return error{v1::ERROR_CODE_INTERNAL, "The node answered for another number of tasks than were named", "Report this as a bug"};
  return reply;
}
result<v1::DoctorReply> client::doctor(const v1::DoctorRequest& what) { return state_->ask_patiently<v1::DoctorReply>(what); }
result<v1::AgentOperateReply> client::agent_operate(const v1::AgentOperateRequest& what) {
  return state_->ask<v1::AgentOperateReply>(what);
}
result<v1::AlertListReply> client::alerts(const v1::AlertListRequest& what) { return state_->ask<v1::AlertListReply>(what); }
result<v1::AlertShowReply> client::alert(const v1::AlertShowRequest& what) { return state_->ask<v1::AlertShowReply>(what); }
result<v1::AlertAckReply> client::acknowledge(const v1::AlertAckRequest& what) {
  auto reply = state_->ask<v1::AlertAckReply>(what);
  if (reply && reply->results_size() != what.numbers_size())
    return error{v1::ERROR_CODE_INTERNAL, "The node answered for another number of alerts than were named", "Report this as a bug"};
  return reply;
}
result<v1::BrakeReleaseReply> client::release_brake(const v1::BrakeReleaseRequest& what) {
  return state_->ask_patiently<v1::BrakeReleaseReply>(what);
}

}  // namespace fairlead
