// The waiting part of a batch: handles notices, and asks for tasks whose notice was missed.

#include <algorithm>

#include "actors/core/request_limits.hpp"
#include "app/cli/task/batch.hpp"
#include "app/cli/words.hpp"

namespace fairlead::app {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds poll_every{2};
constexpr std::chrono::milliseconds look_every{100};
constexpr std::size_t parked_named = 10;
constexpr int requests_a_round = 20;  // the next round continues with the next ids

bool ended(const v1::TaskEnd& end) { return end.parked() || has_ended(end.state()); }

}  // namespace

void batch_run::on_notice(const v1::FinishedNotice& notice) {
  std::lock_guard lock{mutex_};
  for (const auto& end : notice.items())
    if (ended(end)) settle(end);
}

/// An end that arrives before the acknowledgement is stored until then.
void batch_run::settle(const v1::TaskEnd& end) {
  auto found = open_.find(end.id());
  if (found == open_.end()) return;
  if (!found->second.acknowledged || found->second.on_their_way > 0) {
    found->second.end = end;
    return;
  }
  ++ended_;
  if (end.parked()) {
    if (outcome_.first_parked.size() < parked_named) outcome_.first_parked.push_back(end);
    ++outcome_.parked;
  } else {
    ++(end.state() == v1::TASK_STATE_COMPLETED ? outcome_.completed
       : end.state() == v1::TASK_STATE_FAILED  ? outcome_.failed
                                               : outcome_.undone);
  }
  open_.erase(found);
  changed_.notify_all();
}

void batch_run::poll() {
  auto connections = to_.connections();
  auto next = steady_clock::now() + poll_every;
  std::unique_lock lock{mutex_};
  while (!over()) {
    changed_.wait_for(lock, look_every);
    // A lost connection may lose notices, so a new connection causes a request at once.
    const auto now_connections = to_.connections();
    if (now_connections == connections && steady_clock::now() < next) continue;
    lock.unlock();
    const bool useful = poll_round();
    lock.lock();
    if (!useful) return;
    connections = now_connections;
    next = steady_clock::now() + poll_every;
  }
}

/// False: no node answers, and the batch stops.
bool batch_run::poll_round() {
  for (int i = 0; i < requests_a_round; ++i) {
    v1::StatesRequest request;
    {
      std::lock_guard lock{mutex_};
      if (outcome_.gave_up) return false;
      for (auto& id : ids_to_ask()) request.add_ids(std::move(id));
    }
    if (request.ids().empty()) return true;
    auto reply = to_.states(request);
    std::lock_guard lock{mutex_};
    if (!reply) {
      if (reply.failure().code == v1::ERROR_CODE_OVERLOADED) return true;
      give_up(reply.failure());
      return false;
    }
    for (const auto& end : reply->items()) {
      if (ended(end)) settle(end);
      if (end.state() != v1::TASK_STATE_UNSPECIFIED) continue;
      if (auto found = open_.find(end.id()); found != open_.end()) {
        refuse(found->second.line, end.id(),
               {v1::ERROR_CODE_NOT_FOUND, "The node accepted the task, but does not know the task any more", "Read the node's log"});
        open_.erase(found);
      }
    }
    if (ask_after_.empty()) return true;
  }
  return true;
}

/// The next acknowledged ids in order. After the last id the order starts again.
std::vector<std::string> batch_run::ids_to_ask() {
  std::vector<std::string> out;
  auto at = open_.upper_bound(ask_after_);
  for (; at != open_.end() && out.size() < std::size_t{max_request_items}; ++at)
    if (at->second.acknowledged && at->second.on_their_way == 0) out.push_back(at->first);
  ask_after_ = at == open_.end() || out.empty() ? std::string{} : out.back();
  return out;
}

}  // namespace fairlead::app
