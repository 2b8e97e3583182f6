#include "tests/simulation/plans/crowd.hpp"

#include <algorithm>

namespace fairlead::simulation {

namespace {

constexpr const char* workflow_name = "wc";
constexpr std::size_t tasks_a_request = 400;

}  // namespace

bool draw_crowd(world& in) {
  auto& settings = in.settings;
  const auto any = in.crowds.chance(4);
  if (!any || !settings.has(concern::crowds) || settings.most_tasks < options{}.most_tasks) return false;
  for (const auto off : {concern::limits, concern::breakers, concern::absence, concern::jobs, concern::second_shard, concern::full_stores})
    settings.concerns &= ~(1ULL << static_cast<unsigned>(off));
  in.count("runs with a crowd");
  return true;
}

v1::WorkflowDefinition make_crowd_workflow(world& in, const std::vector<agent_site>& sites) {
  auto& luck = in.crowds;
  v1::WorkflowDefinition out;
  out.set_name(workflow_name);
  out.set_on_failure(v1::ON_FAILURE_UNDO);
  auto& step = *out.add_steps();
  step.set_name("s0");
  step.set_agent(luck.pick(sites).agent);
  step.set_call("do");
  step.set_timeout_ms(luck.between(2'000, 6'000));
  step.set_attempts(10);
  step.mutable_backoff()->set_first_ms(100);
  step.mutable_backoff()->set_factor(2);
  step.mutable_backoff()->set_max_ms(2'000);
  step.set_in_doubt(v1::IN_DOUBT_RETRY);
  step.set_with_json(R"({"n":"${ .input.n }","at":"${ .task.id }"})");
  step.mutable_undo()->set_none(true);
  return out;
}

void crowd::begin(std::int64_t until_us) {
  auto& luck = world_.crowds;
  const auto tasks = static_cast<std::size_t>(luck.between(520, 1'000));
  // Large enough that a request is more than one batch, or not.
  const auto filler = std::string(static_cast<std::size_t>(luck.chance(500) ? luck.between(700, 1'500) : luck.between(0, 100)), 'x');
  for (std::size_t i = 0; i < tasks; ++i) {
    if (i % tasks_a_request == 0) requests_.emplace_back();
    auto& one = *requests_.back().add_items();
    one.set_id((home_.number() == 0 ? "c" : "d") + std::to_string(i));
    one.set_workflow(workflow_name);
    one.set_input(R"({"n":)" + std::to_string(i % 7) + R"(,"filler":")" + filler + "\"}");
    auto& label = *one.add_labels();
    label.set_key("row");
    label.set_value(std::to_string(i % 5));
    checker_.submits(one);
  }
  done_.resize(requests_.size());
  for (std::size_t i = 0; i < requests_.size(); ++i) world_.after(luck.between(second, until_us / 3), [this, i] { submit(i); });
  const auto deaths = luck.between(1, 2);
  for (std::int64_t i = 0; i < deaths; ++i) {
    world_.after(luck.between(until_us / 3, until_us * 4 / 5), [this] {
      if (!home_.up() || !world_.strikes(concern::node_crashes, world_.crowds, 1'000)) return;
      world_.count("deaths amid a crowd");
      home_.die();
    });
  }
}

void crowd::submit(std::size_t which) {
  if (done_[which]) return;
  home_.request<v1::SubmitReply>(
      "crowd" + std::to_string(which), [request = requests_[which]](scheduler& to, std::uint64_t ticket) { to.answer(request, ticket, 0); },
      [this, which](const v1::SubmitReply& reply) {
        const auto& items = reply.results();
        const auto all = !items.empty() && std::all_of(items.begin(), items.end(),
                                                       [](const v1::SubmitResult& one) { return one.error().code() == v1::ERROR_CODE_OK; });
        for (const auto& one : items)
          if (one.error().code() == v1::ERROR_CODE_OK) checker_.expects_task(one.id(), workflow_name);
        if (!all || done_[which]) return;
        done_[which] = true;
        ++answered_;
      });
  world_.after(world_.crowds.between(500, 3'000) * millisecond, [this, which] { submit(which); });
}

}  // namespace fairlead::simulation
