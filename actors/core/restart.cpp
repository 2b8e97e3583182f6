#include "actors/core/restart.hpp"

namespace fairlead::core {

const char* name_of(restart_strategy strategy) {
  switch (strategy) {
    case restart_strategy::one_for_one: return "one_for_one";
    case restart_strategy::one_for_all: return "one_for_all";
    case restart_strategy::rest_for_one: return "rest_for_one";
  }
  return "unknown";
}

const char* name_of(restart_kind kind) {
  switch (kind) {
    case restart_kind::permanent: return "permanent";
    case restart_kind::transient: return "transient";
    case restart_kind::temporary: return "temporary";
  }
  return "unknown";
}

bool restart_book::too_many(moment now) {
  restarts_.push_back(now);
  while (now - restarts_.front() > policy_.within) restarts_.pop_front();
  return restarts_.size() > policy_.restarts;
}

restart_plan restart_book::ended(std::size_t which, bool failed, const std::vector<bool>& running, moment now) {
  const auto kind = kinds_.at(which);
  if (kind == restart_kind::temporary || (kind == restart_kind::transient && !failed)) return {};
  return again(which, running, now);
}

restart_plan restart_book::start_failed(std::size_t which, const std::vector<bool>& running, moment now) {
  if (kinds_.at(which) == restart_kind::temporary) return {};
  return again(which, running, now);
}

restart_plan restart_book::again(std::size_t which, const std::vector<bool>& running, moment now) {
  restart_plan out;
  out.give_up = too_many(now);
  const auto first = out.give_up || policy_.strategy == restart_strategy::one_for_all ? 0 : which;
  const auto end = !out.give_up && policy_.strategy == restart_strategy::one_for_one ? which + 1 : kinds_.size();
  for (auto i = end; i-- > first;)
    if (i != which && running.at(i)) out.stop.push_back(i);
  if (out.give_up) return out;
  // A child that has ended for good stays away. A temporary child that goes down with its group does not come back.
  for (auto i = first; i < end; ++i)
    if (i == which || (running.at(i) && kinds_[i] != restart_kind::temporary)) out.start.push_back(i);
  return out;
}

}  // namespace fairlead::core
