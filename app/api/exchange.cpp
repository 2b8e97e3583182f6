#include "app/api/exchange.hpp"

#include <utility>

namespace fairlead::app::api {

exchange::exchange(std::shared_ptr<const surroundings> in, door::request what, std::vector<std::string> parts,
                   std::shared_ptr<door::answerer> to)
    : in_(std::move(in)), what_(std::move(what)), parts_(std::move(parts)), to_(std::move(to)) {}

void exchange::run_in(caf::event_based_actor* self, const std::function<void(exchange_ptr)>& handler) {
  self_ = self;
  if (read_query()) handler(shared_from_this());
}

bool exchange::read_query() {
  const auto all = door::parse_query(what_.query());
  if (!all) {
    refuse(invalid("The query is not UTF-8 with two hexadecimal digits behind each %.", "Encode the query (RFC 3986)."));
    return false;
  }
  query_.insert(all->begin(), all->end());
  return true;
}

std::optional<std::string> exchange::parameter(const std::string& name) {
  const auto all = parameters(name);
  if (all.size() > 1) refuse_at(name, invalid("The parameter " + name + " is given more than once.", "Give it once."));
  return all.empty() ? std::nullopt : std::optional{all.front()};
}

std::vector<std::string> exchange::parameters(const std::string& name) {
  std::vector<std::string> out;
  const auto [first, last] = query_.equal_range(name);
  for (auto one = first; one != last; ++one) out.push_back(one->second);
  query_.erase(first, last);
  return out;
}

bool exchange::refuse_rest() {
  if (!query_.empty()) {
    const auto& name = query_.begin()->first;
    refuse_at(name, invalid("The parameter " + name + " is not known here.", "docs/api.md lists the parameters of this path."));
  }
  return is_over();
}

void exchange::say(unsigned status, std::string json, door::headers more) {
  door::answer out;
  out.status = status;
  out.body = std::move(json);
  out.more = std::move(more);
  (*to_)(std::move(out));
}

void exchange::refuse(const error& why) { refuse(door::problem_of(why)); }
void exchange::refuse(door::problem why) { (*to_)(door::to_answer(why, what_.id)); }

void exchange::refuse_at(const std::string& pointer, const error& why) {
  auto out = door::problem_of(why);
  out.pointer = pointer;
  refuse(std::move(out));
}

error exchange::lost(const caf::error& why) {
  if (why == caf::sec::request_timeout)
    return {v1::ERROR_CODE_TIMED_OUT, "The shard did not answer in time.",
            "What was asked for may have been done. A request that has an id or an Idempotency-Key can be sent again."};
  return {v1::ERROR_CODE_UNAVAILABLE, "This node is ending, or starts a part of itself again.", "Try again later."};
}

}  // namespace fairlead::app::api
