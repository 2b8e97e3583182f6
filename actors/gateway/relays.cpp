#include "actors/gateway/relays.hpp"
#include "messages/task_states.hpp"

namespace fairlead {

void gateway_relays::add(const std::string& task, std::uint64_t client) {
  if (const auto known = tasks_.find(task); known != tasks_.end()) erase(known);
  if (tasks_.size() >= most_) erase(tasks_.find(order_.front()));
  tasks_.emplace(task, asked{client, order_.insert(order_.end(), task)});
  of_client_[client].insert(task);
}

void gateway_relays::forget_task(const std::string& task, std::uint64_t client) {
  const auto known = tasks_.find(task);
  if (known != tasks_.end() && known->second.client == client) erase(known);
}

void gateway_relays::forget_client(std::uint64_t client) {
  const auto found = of_client_.find(client);
  if (found == of_client_.end()) return;
  const auto tasks = std::move(found->second);
  of_client_.erase(found);
  for (const auto& task : tasks)
    if (const auto known = tasks_.find(task); known != tasks_.end()) erase(known);
}

std::map<std::uint64_t, v1::FinishedNotice> gateway_relays::take(const v1::FinishedNotice& notice) {
  std::map<std::uint64_t, v1::FinishedNotice> out;
  for (const auto& end : notice.items()) {
    const auto known = tasks_.find(end.id());
    if (known == tasks_.end()) continue;
    *out[known->second.client].add_items() = end;
    if (has_ended(end.state())) erase(known);
  }
  return out;
}

void gateway_relays::erase(std::unordered_map<std::string, asked>::iterator which) {
  order_.erase(which->second.place);
  if (const auto of = of_client_.find(which->second.client); of != of_client_.end()) {
    of->second.erase(which->first);
    if (of->second.empty()) of_client_.erase(of);
  }
  tasks_.erase(which);
}

}  // namespace fairlead
