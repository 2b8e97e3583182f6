#include "actors/client/actor.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "actors/core/waits.hpp"

namespace fairlead {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds tick_every{20};
constexpr milliseconds first_backoff{50};
constexpr milliseconds longest_backoff{1'000};
/// That a try may take longer over an API: a message of a megabyte has a long way over a slow network.
constexpr milliseconds more_over_api{10'000};
/// Pause before a request is repeated at a node that answered `unavailable`.
constexpr milliseconds repeat_after{100};
/// Repetitions at one node before another node is asked: a node that is cut off from the rest answers `unavailable` as long as that lasts.
constexpr std::uint32_t repeats_a_node = 10;
/// The same if other calls wait for an answer of that node. Bounded, because polls never stop waiting, and lose little.
constexpr std::uint32_t most_repeats_a_node = 30;

}  // namespace

client_state::~client_state() {
  for (auto& [id, call] : calls_) call->fail({v1::ERROR_CODE_UNAVAILABLE, "The client was closed before an answer came", ""});
  caf::anon_send_exit(connector_, caf::exit_reason::user_shutdown);
}

void client_state::start(client_shell::pointer self, std::vector<node_address> addresses, http_access access,
                         std::shared_ptr<client_shared> shared) {
  self_ = self;
  addresses_ = std::move(addresses);
  access_ = std::move(access);
  reasons_.resize(addresses_.size());
  http_links_.resize(addresses_.size());
  shared_ = std::move(shared);
  connector_ = self->spawn<caf::detached>(make_connector);
  // CAF's own handler writes unknown messages to stdout, which carries a command's result.
  self->set_default_handler(caf::drop);
  self->set_down_handler([this](caf::down_msg& down) { on_down(down); });
}

void client_state::take(client_call_ptr call) {
  auto id = next_call_++;
  calls_.emplace(id, call);
  if (link_)
    send(id, *call);
  else
    try_connect();
  arm();
}

void client_state::send(std::uint64_t id, client_call& call) {
  auto left = std::chrono::duration_cast<duration>(call.deadline() - steady_clock::now());
  if (left.count() <= 0) return;  // the next tick ends it
  ++call.try_number;
  call.in_flight = true;
  call.sent_at = steady_clock::now();
  const auto longest = link_.http ? call.try_limit() + more_over_api : call.try_limit();
  call.send(self_, link_, std::min(left, duration{longest}), [this, id](try_end how) { on_try_ended(id, how); });
}

void client_state::on_try_ended(std::uint64_t id, try_end how) {
  auto found = calls_.find(id);
  if (found == calls_.end()) return;
  auto& call = *found->second;
  call.in_flight = false;
  switch (how) {
    case try_end::answered:
      heard_at_ = steady_clock::now();
      failed_in_row_ = 0;
      calls_.erase(found);
      return;
    case try_end::repeat:
      heard_at_ = steady_clock::now();
      failed_in_row_ = 0;
      call.not_before = heard_at_ + repeat_after;
      // Other calls that wait for an answer of this node should not lose it.
      if (++call.repeats_in_row >= (others_in_flight() ? most_repeats_a_node : repeats_a_node) && addresses_.size() > 1)
        lose_gateway("is starting or stopping");
      break;
    case try_end::silent:
      call.not_before = steady_clock::now() + repeat_after;
      // A node that is slow only with this call has answered others meanwhile.
      if (addresses_.size() > 1 && heard_at_ < call.sent_at) lose_gateway("does not answer");
      break;
    case try_end::lost:
      call.not_before = steady_clock::now() + repeat_after;
      lose_gateway("the connection was lost");
      break;
    case try_end::alien:
      end(id, {v1::ERROR_CODE_UNAVAILABLE, "The node at " + addresses_[current_].text + " does not understand this request",
               "Use a client of the node's release"});
      return;
  }
  arm();
}

void client_state::tick() {
  armed_ = false;
  auto now = steady_clock::now();
  std::vector<std::uint64_t> over;
  for (const auto& [id, call] : calls_)
    if (call->deadline() <= now) over.push_back(id);
  for (auto id : over) {
    if (link_)
      end(id, {v1::ERROR_CODE_TIMED_OUT, "The node at " + addresses_[current_].text + " did not answer in time",
               "Check whether the node is overloaded; the request can be repeated safely"});
    else
      end(id, unreachable());
  }
  if (link_)
    send_waiting();
  else
    try_connect();
  arm();
}

void client_state::send_waiting() {
  auto now = steady_clock::now();
  std::vector<std::uint64_t> due;  // answering a call may erase it
  for (const auto& [id, call] : calls_)
    if (!call->in_flight && call->not_before <= now) due.push_back(id);
  for (auto id : due) {
    auto found = calls_.find(id);
    if (found == calls_.end() || !link_) continue;
    auto kept = found->second;
    send(id, *kept);
  }
}

/// A call in flight comes back by its own timeout, at its deadline at the latest, so the tick is only needed while some call waits.
void client_state::arm() {
  if (armed_ || std::none_of(calls_.begin(), calls_.end(), [](const auto& entry) { return !entry.second->in_flight; })) return;
  armed_ = true;
  self_->delayed_send(self_, tick_every, expire_atom_v);
}

void client_state::try_connect() {
  if (connecting_ || calls_.empty() || steady_clock::now() < connect_not_before_) return;
  connecting_ = true;
  auto index = current_;
  if (addresses_[index].is_of_api()) {
    http_link_to(index)->look([this, index](const std::optional<error>& why) {
      if (why && why->code != v1::ERROR_CODE_UNAVAILABLE) refusal_ = why;
      on_outcome(index, {{}, why ? nullptr : http_link_to(index)}, why ? why->sentence : "");
    });
    return;
  }
  // The connector has its own time limit; this limit covers a resolver that hangs.
  self_->request(connector_, std::chrono::seconds{30}, connect_order{index, addresses_[index].between})
      .then(
          [this](const connect_outcome& outcome) {
            on_outcome(outcome.index, {outcome.gateway, nullptr}, outcome.reason);
          },
          [this, index](const caf::error&) { on_outcome(index, {}, "its name could not be resolved in time"); });
}

const std::shared_ptr<http_link>& client_state::http_link_to(std::size_t index) {
  auto& out = http_links_[index];
  if (out) return out;
  out = std::make_shared<http_link>(addresses_[index], access_, [to = caf::weak_actor_ptr{self_->ctrl()}](std::function<void()> work) {
    if (const auto actor = to.lock())
      caf::anon_send(caf::actor_cast<client_shell>(actor), std::make_shared<std::function<void()>>(std::move(work)));
  });
  return out;
}

void client_state::on_outcome(std::size_t index, client_link found, const std::string& reason) {
  connecting_ = false;
  if (found) {
    link_ = std::move(found);
    refusal_.reset();
    current_ = index;
    connected_at_ = steady_clock::now();
    if (link_.gateway) self_->monitor(link_.gateway);
    {
      std::lock_guard guard{shared_->mutex};
      ++shared_->connections;
    }
    for (auto& [id, call] : calls_) call->not_before = {};
    send_waiting();
    return;
  }
  reasons_[index] = reason;
  current_ = (index + 1) % addresses_.size();
  count_failure();
  if (failed_in_row_ % addresses_.size() == 0) {
    std::vector<std::uint64_t> over;
    for (const auto& [id, call] : calls_)
      if (call->one_round()) over.push_back(id);
    for (auto id : over) end(id, unreachable());
  }
  try_connect();
}

void client_state::on_down(const caf::down_msg& down) {
  if (link_.gateway && down.source == link_.gateway.address()) lose_gateway("the connection was lost");
}

bool client_state::others_in_flight() const {
  return std::any_of(calls_.begin(), calls_.end(), [](const auto& entry) { return entry.second->in_flight; });
}

void client_state::lose_gateway(const char* reason) {
  if (!link_) return;
  if (link_.gateway) self_->demonitor(link_.gateway.address());
  link_ = {};
  reasons_[current_] = reason;
  current_ = (current_ + 1) % addresses_.size();
  for (auto& [id, call] : calls_) {
    call->in_flight = false;
    call->repeats_in_row = 0;
  }
  connect_not_before_ = {};
  // A node that takes connections and answers nothing counts as a failure, and is not dialled without end.
  if (heard_at_ < connected_at_) count_failure();
  try_connect();
  arm();
}

void client_state::count_failure() {
  ++failed_in_row_;
  if (failed_in_row_ % addresses_.size() == 0)
    connect_not_before_ = steady_clock::now() + core::backoff_after(failed_in_row_ / addresses_.size(), first_backoff, longest_backoff);
}

void client_state::end(std::uint64_t id, error why) {
  auto call = calls_.at(id);
  calls_.erase(id);
  call->fail(std::move(why));
}

error client_state::unreachable() const {
  if (refusal_) return *refusal_;
  std::string who;
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    if (!who.empty()) who += ", ";
    who += addresses_[i].text + " (" + (reasons_[i].empty() ? "no answer yet" : reasons_[i]) + ")";
  }
  const bool is_of_api = std::all_of(addresses_.begin(), addresses_.end(), [](const node_address& one) { return one.is_of_api(); });
  return {
      v1::ERROR_CODE_UNAVAILABLE, "No node answers: " + who,
      is_of_api
          ? "Check that a node serves its API there, that the address is right, and that --ca-file names the authority of its certificate"
          : "Check that a node runs there and that the address is right"};
}

void client_state::tell_finished(const v1::FinishedNotice& notice) {
  std::function<void(const v1::FinishedNotice&)> handler;
  {
    std::lock_guard guard{shared_->mutex};
    handler = shared_->on_finished;
  }
  if (handler) handler(notice);
}

client_shell::behavior_type make_client_shell(client_shell::stateful_pointer<client_state> self, std::vector<node_address> addresses,
                                              http_access access, std::shared_ptr<client_shared> shared) {
  self->state.start(self, std::move(addresses), std::move(access), std::move(shared));
  return {
      [self](const v1::FinishedNotice& notice) { self->state.tell_finished(notice); },
      [self](const client_call_ptr& call) { self->state.take(call); },
      [](const client_work_ptr& work) { (*work)(); },
      [self](expire_atom) { self->state.tick(); },
  };
}

}  // namespace fairlead
