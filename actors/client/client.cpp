#include "actors/client/client.hpp"

#include <algorithm>
#include <caf/all.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "actors/client/actor.hpp"
#include "actors/client/split.hpp"
#include "actors/client/system.hpp"
#include "actors/protocol/requests.hpp"
#include "messages/ids.hpp"
#include "messages/task_states.hpp"

namespace fairlead {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A node that is up answers everything except long polls in less time; after this the request is sent again.
constexpr milliseconds longest_try{5'000};
/// Short, because a shard that restarts during a poll cannot answer it any more.
constexpr milliseconds longest_poll{5'000};
constexpr milliseconds longest_replies_poll{30'000};
/// Pause before items are sent again whose shard was missing.
constexpr milliseconds first_pause{100};
constexpr milliseconds longest_pause{1'000};

bool over(const v1::WatchReply& reply) { return reply.parked() || has_ended(reply.state()); }

}  // namespace

struct client::state {
  /// The shard and position of a page's event.
  struct place {
    std::uint32_t shard = 0;
    std::uint64_t position = 0;
  };

  client_options options;
  std::shared_ptr<client_system> system;
  std::shared_ptr<client_shared> shared = std::make_shared<client_shared>();
  client_shell shell;
  std::mutex places_guard;
  std::map<std::string, std::vector<place>> places;  // of the last page with events, by client name

  ~state() {
    if (!shell) return;
    // The handler of notices belongs to the caller: it must not be called after this destructor.
    caf::scoped_actor self{system->actors()};
    self->send_exit(shell, caf::exit_reason::user_shutdown);
    self->wait_for(shell);
  }

  /// A request that must not be sent twice gets the whole time, since the node may be slow.
  template <class Request>
  result<reply_of<Request>> ask(const Request& what, duration poll = duration{0}) {
    const auto limit = poll + options.request_timeout;
    const auto try_limit = row_of<Request>::again == repeated::yes ? poll + longest_try : limit;
    return send(std::make_shared<request_call<Request, reply_of<Request>>>(what, steady_clock::now() + limit, try_limit));
  }

  template <class Request, class Reply>
  result<Reply> send(std::shared_ptr<request_call<Request, Reply>> call) {
    const auto deadline = call->deadline();
    auto answer = call->answer();
    caf::anon_send(shell, client_call_ptr{std::move(call)});
    return finish(answer, deadline);
  }

  /// `acknowledged` means all events of the last page up to the one with that position; each shard gets its own position.
  void spread_acknowledgement(v1::RepliesRequest& what) {
    if (what.acknowledged() == 0 || !what.positions().empty()) return;
    const std::lock_guard guard{places_guard};
    const auto page = places.find(what.client());
    if (page == places.end()) return;
    // If events of several shards have this position, the first counts: an event too few comes again, an event too many is lost.
    const auto last =
        std::find_if(page->second.begin(), page->second.end(), [&](const place& one) { return one.position == what.acknowledged(); });
    if (last == page->second.end()) return;
    std::map<std::uint32_t, std::uint64_t> of_shard;
    for (auto it = page->second.begin(); it <= last; ++it) of_shard[it->shard] = std::max(of_shard[it->shard], it->position);
    for (const auto& [shard, position] : of_shard) {
      auto* one = what.add_positions();
      one->set_shard(shard);
      one->set_acknowledged(position);
    }
  }

  void keep_places(const std::string& client, const v1::RepliesReply& page) {
    const std::lock_guard guard{places_guard};
    // A page without events clears nothing: its caller may still acknowledge the page before.
    if (page.events().empty()) return;
    auto& kept = places[client];
    kept.clear();
    for (const auto& event : page.events()) kept.push_back({event.shard(), event.position()});
  }

  /// A shard may be missing for a moment: its items are sent again until the time is over.
  result<v1::SubmitReply> submit(const v1::SubmitRequest& what) {
    const auto deadline = steady_clock::now() + options.request_timeout;
    auto out = ask(what);
    auto pause = first_pause;
    while (out && out->results_size() == what.items_size()) {
      v1::SubmitRequest again;
      std::vector<int> positions;
      for (int i = 0; i < what.items_size(); ++i)
        if (out->results(i).error().code() == v1::ERROR_CODE_UNAVAILABLE) {
          positions.push_back(i);
          *again.add_items() = what.items(i);
        }
      const auto left = std::chrono::duration_cast<duration>(deadline - steady_clock::now()) - pause;
      if (positions.empty() || left.count() <= 0) break;
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, longest_pause);
      again.set_notify(what.notify());
      auto call = std::make_shared<request_call<v1::SubmitRequest, v1::SubmitReply>>(again, steady_clock::now() + left,
                                                                                     std::min<duration>(left, longest_try));
      // A node that is cut off from the shard answers so as long as that lasts; another node may reach the shard.
      call->repeat_while([](const v1::SubmitReply& reply) {
        return !reply.results().empty() && std::all_of(reply.results().begin(), reply.results().end(), [](const v1::SubmitResult& one) {
          return one.error().code() == v1::ERROR_CODE_UNAVAILABLE;
        });
      });
      auto more = send(std::move(call));
      // Items that reachable shards have taken stay taken, whatever becomes of the rest.
      if (!more || more->results_size() != again.items_size()) break;
      for (std::size_t i = 0; i < positions.size(); ++i)
        out->mutable_results(positions[i])->Swap(more->mutable_results(static_cast<int>(i)));
    }
    return out;
  }

  /// The actor answers every call at its deadline; the extra time only guards against a handler of notices that does not return.
  template <class T>
  static T finish(std::future<T>& answer, steady_time deadline) {
    if (answer.wait_until(deadline + std::chrono::seconds{5}) != std::future_status::ready)
      return error{v1::ERROR_CODE_TIMED_OUT, "The client's own thread is busy: a handler of notices does not return",
                   "Make the handlers return soon"};
    return answer.get();
  }
};

client::client(std::unique_ptr<state> s) : state_(std::move(s)) {}
client::client(client&&) noexcept = default;
client& client::operator=(client&&) noexcept = default;
client::~client() = default;

result<client> client::connect(client_options options) {
  auto addresses = parse_node_addresses(options.nodes);
  if (!addresses) return addresses.failure();
  // It becomes part of a header.
  if (!std::all_of(options.token.begin(), options.token.end(), [](char c) { return c > 0x20 && c < 0x7f; }))
    return invalid("The token has a character that no token has", "Give it as fairlead token create has printed it");
  bool one_round = options.connect_timeout.count() <= 0;
  auto limit = one_round ? duration{std::chrono::seconds{60}} : options.connect_timeout;

  auto made = std::make_unique<state>();
  made->options = std::move(options);
  made->system = client_system::acquire();
  made->shell = made->system->actors().spawn(make_client_shell, std::move(*addresses),
                                             http_access{made->options.token, made->options.ca_file}, made->shared);

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
                        "Store large data elsewhere and submit a reference to it"};
    *out.mutable_results(position)->mutable_error() = refusal.to_proto();
  }
  std::optional<error> failed;
  for (auto part = cut.parts.begin(); part != cut.parts.end(); ++part) {
    if (!failed) {
      auto reply = state_->submit(part->request);
      if (reply && reply->results_size() != part->request.items_size())
        failed = error{v1::ERROR_CODE_INTERNAL, "The node sent the wrong number of answers", "Report this as a bug"};
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
        end.set_has_output(reply.has_output());
        return true;
      },
      limit);
  if (!watched) return watched.failure();
  return end;
}

result<std::string> client::output(const std::string& id) {
  v1::TaskShowRequest request;
  request.set_id(id);
  auto shown = state_->ask(request);
  if (!shown) return shown.failure();
  auto& task = *shown->mutable_task();
  if (!task.has_output())
    return error{v1::ERROR_CODE_WRONG_STATE, "Task " + id + " has no output",
                 "A task has one once it is completed, if its workflow says `output`"};
  if (task.output().json().empty())
    return error{v1::ERROR_CODE_FORBIDDEN, "The output of task " + id + " is not shown: the right payloads is missing",
                 "Ask for a token with the role payloads"};
  return std::move(*task.mutable_output()->mutable_json());
}

status client::watch(const std::string& id, std::uint64_t after_sequence, const std::function<bool(const v1::WatchReply&)>& on_reply,
                     duration limit, bool with_progress) {
  const auto deadline = steady_clock::now() + limit;
  v1::WatchRequest request;
  request.set_id(id);
  if (with_progress) request.set_after_progress_unix_ms(1);
  request.set_after_sequence(after_sequence);
  request.set_answer_if_ahead(true);
  for (;;) {
    auto poll = longest_poll;
    if (limit.count() > 0) poll = std::min(poll, std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now()));
    if (poll.count() <= 0)
      return error{v1::ERROR_CODE_TIMED_OUT, "Task " + id + " has not ended within " + format_duration(limit.count()),
                   "The task goes on; wait for it again"};
    request.set_wait_ms(poll.count());
    auto reply = state_->ask(request, poll);
    if (!reply) return reply.failure();
    if (reply->latest() != 0 && request.after_sequence() > reply->latest()) {
      request.set_after_sequence(0);
      continue;
    }
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

result<v1::StatesReply> client::states(const v1::StatesRequest& what) { return state_->ask(what); }
result<v1::TaskListReply> client::list(const v1::TaskListRequest& what) { return state_->ask(what); }
result<v1::TaskShowReply> client::show(const v1::TaskShowRequest& what) { return state_->ask(what); }
result<v1::DeployReply> client::deploy(const v1::DeployRequest& what) { return state_->ask(what); }
result<v1::WorkflowDeleteReply> client::delete_workflow(const v1::WorkflowDeleteRequest& what) { return state_->ask(what); }
result<v1::WorkflowListReply> client::workflows(const v1::WorkflowListRequest& what) { return state_->ask(what); }
result<v1::WorkflowShowReply> client::workflow(const v1::WorkflowShowRequest& what) { return state_->ask(what); }
result<v1::StatusReply> client::status_of_node(const v1::StatusRequest& what) { return state_->ask(what); }
result<v1::RepliesReply> client::replies(const v1::RepliesRequest& what) {
  auto request = what;
  state_->spread_acknowledgement(request);
  auto reply = state_->ask(request, std::clamp(duration{what.wait_ms()}, duration{0}, duration{longest_replies_poll}));
  if (reply) state_->keep_places(what.client(), *reply);
  return reply;
}

result<v1::OperateReply> client::operate(const v1::OperateRequest& what) {
  auto request = what;
  // What is sent again after a loss is done once. A delete may be done twice, a callback is its own token, and a dry run does nothing.
  auto& action = *request.mutable_action();
  const auto needs_token = action.verb() != v1::OPERATOR_VERB_DELETE && action.verb() != v1::OPERATOR_VERB_CALLBACK && !action.dry_run();
  if (needs_token && action.token().empty()) action.set_token(make_uuid_v7(to_unix_ms(system_clock{}.now())));
  auto reply = state_->ask(request);
  if (reply && reply->results_size() != what.ids_size())
    return error{v1::ERROR_CODE_INTERNAL, "The node sent the wrong number of answers", "Report this as a bug"};
  return reply;
}
result<v1::DoctorReply> client::doctor(const v1::DoctorRequest& what) { return state_->ask(what); }
result<v1::AgentOperateReply> client::agent_operate(const v1::AgentOperateRequest& what) { return state_->ask(what); }
result<v1::AlertListReply> client::alerts(const v1::AlertListRequest& what) { return state_->ask(what); }
result<v1::AlertShowReply> client::alert(const v1::AlertShowRequest& what) { return state_->ask(what); }
result<v1::AlertAckReply> client::acknowledge(const v1::AlertAckRequest& what) {
  auto reply = state_->ask(what);
  if (reply && reply->results_size() != what.numbers_size())
    return error{v1::ERROR_CODE_INTERNAL, "The node sent the wrong number of answers", "Report this as a bug"};
  return reply;
}
result<v1::BrakeReleaseReply> client::release_brake(const v1::BrakeReleaseRequest& what) { return state_->ask(what); }
result<v1::JobApplyReply> client::apply_jobs(const v1::JobApplyRequest& what) {
  auto reply = state_->ask(what);
  if (reply && reply->results_size() != what.jobs_size())
    return error{v1::ERROR_CODE_INTERNAL, "The node sent the wrong number of answers", "Report this as a bug"};
  return reply;
}
result<v1::JobListReply> client::jobs(const v1::JobListRequest& what) { return state_->ask(what); }
result<v1::JobShowReply> client::job(const v1::JobShowRequest& what) { return state_->ask(what); }
result<v1::JobHistoryReply> client::job_history(const v1::JobHistoryRequest& what) { return state_->ask(what); }
result<v1::JobOperateReply> client::operate_jobs(const v1::JobOperateRequest& what) {
  auto request = what;
  // A run that is sent again must be the same launch. Whole seconds are reserved for the schedule.
  if (auto& action = *request.mutable_action(); action.verb() == v1::JOB_VERB_RUN && action.nominal_unix_ms() == 0) {
    const auto now_ms = to_unix_ms(system_clock{}.now());
    action.set_nominal_unix_ms(now_ms % 1'000 == 0 ? now_ms + 1 : now_ms);
    action.set_token(make_uuid_v7(now_ms));
  }
  return state_->ask(request);
}
result<v1::InspectReply> client::inspect(const v1::InspectRequest& what) { return state_->ask(what); }
result<v1::NodeOperateReply> client::operate_node(const v1::NodeOperateRequest& what) { return state_->ask(what); }
result<v1::ShardNodesReply> client::change_nodes(const v1::ShardNodesRequest& what) { return state_->ask(what); }
result<v1::AuditListReply> client::audit(const v1::AuditListRequest& what) { return state_->ask(what); }

}  // namespace fairlead
