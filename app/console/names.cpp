#include "app/console/names.hpp"

#include <optional>

namespace fairlead::app {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kept_for{2};
constexpr std::chrono::seconds left_alone_for{2};
constexpr std::uint32_t names_a_page = 200;
constexpr std::size_t most_tasks_known = 64;  // tasks whose steps are kept

}  // namespace

std::vector<std::string> console_names::names(name_kind kind, const std::string& of) {
  auto& mine = known_[{kind, of}];
  const auto now = steady_clock::now();
  // If the node does not answer, the names from an earlier answer are used.
  if (now < mine.until || now >= deadline_ || now < not_before_) return mine.names;
  if (known_.size() > most_tasks_known) {
    known_.clear();
    return names(kind, of);
  }
  std::vector<std::string> fresh;
  if (!fetch(kind, of, fresh)) {
    not_before_ = steady_clock::now() + left_alone_for;
    return mine.names;
  }
  auto& fetched = known_[{kind, of}];
  if (kind != name_kind::agent && kind != name_kind::instance && kind != name_kind::node) fetched.names = std::move(fresh);
  fetched.until = steady_clock::now() + kept_for;
  return fetched.names;
}

/// Connects with short timeouts, so that a completion stays short. A completion asks at most twice,
/// the second time only before the deadline.
client* console_names::reach() {
  if (steady_clock::now() >= deadline_) return nullptr;
  if (!to_) {
    auto options = options_of(of_, patience / 2, patience / 2);
    if (!options) return nullptr;
    auto connected = client::connect(std::move(*options));
    if (!connected) return nullptr;
    to_ = std::make_unique<client>(std::move(*connected));
  }
  return to_.get();
}

bool console_names::fetch(name_kind kind, const std::string& of, std::vector<std::string>& out) {
  switch (kind) {
    case name_kind::task: return fetch_tasks(false, out);
    case name_kind::parked_task: return fetch_tasks(true, out) && (!out.empty() || fetch_tasks(false, out));
    case name_kind::agent:
    case name_kind::instance:
    case name_kind::node: return fetch_registry();
    default: break;
  }
  auto* to = reach();
  if (to == nullptr) return false;
  if (kind == name_kind::step || kind == name_kind::signal) {
    v1::TaskShowRequest request;
    request.set_id(of);
    const auto reply = to->show(request);
    // A task that does not exist has no steps. That is an answer, not a failure.
    if (!reply) return reply.failure().code == v1::ERROR_CODE_NOT_FOUND;
    if (kind == name_kind::step)
      for (const auto& step : reply->task().steps()) out.push_back(step.path());
    else
      for (const auto& step : reply->definition().steps())
        if (!step.signal().empty()) out.push_back(step.signal());
    return true;
  }
  if (kind == name_kind::workflow) {
    const auto reply = to->workflows({});
    if (!reply) return false;
    for (const auto& one : reply->items()) out.push_back(one.name());
    return true;
  }
  if (kind == name_kind::job) {
    v1::JobListRequest request;
    request.set_page_size(names_a_page);
    const auto reply = to->jobs(request);
    if (!reply) return false;
    for (const auto& one : reply->items()) out.push_back(one.name());
    return true;
  }
  v1::AlertListRequest request;
  request.set_page_size(names_a_page);
  const auto reply = to->alerts(request);
  if (!reply) return false;
  for (const auto& one : reply->items()) out.push_back(std::to_string(one.number()));
  return true;
}

bool console_names::fetch_tasks(bool parked, std::vector<std::string>& out) {
  auto* to = reach();
  if (to == nullptr) return false;
  v1::TaskListRequest request;
  request.set_page_size(names_a_page);
  request.set_parked_only(parked);
  const auto reply = to->list(request);
  if (!reply) return false;
  for (const auto& task : reply->items()) out.push_back(task.id());
  return true;
}

/// One reply lists agents, instances and nodes.
bool console_names::fetch_registry() {
  auto* to = reach();
  if (to == nullptr) return false;
  const auto reply = to->status_of_node({});
  if (!reply) return false;
  const auto until = steady_clock::now() + kept_for;
  auto& agents = known_[{name_kind::agent, ""}] = {until, {}};
  auto& instances = known_[{name_kind::instance, ""}] = {until, {}};
  auto& nodes = known_[{name_kind::node, ""}] = {until, {reply->node()}};
  for (const auto& agent : reply->agents()) {
    agents.names.push_back(agent.agent());
    if (!agent.instance().empty()) instances.names.push_back(agent.instance());
  }
  for (const auto& service : reply->services()) agents.names.push_back(service.record().agent());
  for (const auto& peer : reply->peers())
    if (!peer.node().empty()) nodes.names.push_back(peer.node());
  return true;
}

}  // namespace fairlead::app
