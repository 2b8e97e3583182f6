#include "actors/scheduler/books/evaluations.hpp"

#include "actors/core/task/decision.hpp"

namespace fairlead {

std::uint64_t evaluations::ask(const wanted& whose, std::size_t document_bytes) {
  unavailable_.erase(whose.task);
  const auto ticket = next_ticket_++;
  at_worker_[ticket] = {whose, document_bytes, {}};
  bytes_ += document_bytes;
  return ticket;
}

void evaluations::outstanding(std::uint64_t ticket, std::weak_ptr<const void> until) {
  at_worker_.at(ticket).outstanding = std::move(until);
}

std::optional<evaluations::wanted> evaluations::answered(std::uint64_t ticket) {
  const auto found = at_worker_.find(ticket);
  if (found == at_worker_.end()) return std::nullopt;
  const auto whose = found->second.whose;
  bytes_ -= found->second.bytes;
  at_worker_.erase(found);
  return whose;
}

std::optional<std::uint64_t> evaluations::next_waiting() {
  if (waiting_.empty() || !has_room()) return std::nullopt;
  const auto task = waiting_.front();
  waiting_.pop_front();
  return task;
}

bool evaluations::unavailable(std::uint64_t task, moment now) {
  unavailable_.insert(task);
  if (now < next_note_) return false;
  next_note_ = now + std::chrono::minutes{1};
  return true;
}

void evaluations::forget(std::uint64_t task) {
  std::erase_if(at_worker_, [&](const auto& one) {
    if (one.second.whose.task != task) return false;
    bytes_ -= one.second.bytes;
    return true;
  });
}

evaluations::asked_parts evaluations::asked() const {
  asked_parts out;
  for (const auto& [ticket, one] : at_worker_)
    if (!one.outstanding.expired()) out.of_steps.emplace(one.whose.task, core::evaluation_key(one.whose.step, one.whose.part));
  out.of_tasks.insert(waiting_.begin(), waiting_.end());
  out.of_tasks.insert(unavailable_.begin(), unavailable_.end());
  return out;
}

}  // namespace fairlead
