// Operators deploy an edited version of a workflow, and let tasks that are under way go on by it, or by the one before.

#include "store/content_hash.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/people/operators.hpp"

namespace fairlead::simulation {

void operators::plan_migrations(std::int64_t until_us) {
  if (editions_.empty()) return;
  random_stream luck{world_.settings.seed, 951};
  for (auto times = luck.between(2, 6); times > 0; --times) {
    const auto which = static_cast<std::size_t>(luck.below(editions_.size()));
    const auto most = luck.between(1, 6);
    const auto seed = luck.next();
    world_.after(luck.between(0, until_us), [this, which, most, seed] {
      if (!world_.troubled(concern::operators) || clients_.ids().empty()) return;
      const auto& version = editions_[which];
      deploy(version);
      random_stream choice{seed, 952};
      for (auto left = most; left > 0; --left) {
        const auto id = any_task(choice);
        const auto odd = choice.chance(60);
        world_.after(choice.between(1, 500) * millisecond,
                     [this, id, odd, hash = store::definition_hash(version)] { migrate(id, hash, odd); });
      }
    });
  }
}

void operators::deploy(const v1::WorkflowDefinition& version) {
  v1::DeployRequest request;
  *request.mutable_definition() = version;
  home_.request<v1::DeployReply>(
      "deployer", [request](scheduler& to, std::uint64_t ticket) { to.answer(request, ticket); },
      [](const v1::DeployReply& reply) {
        if (reply.error().code() != v1::ERROR_CODE_OK && reply.error().code() != v1::ERROR_CODE_UNAVAILABLE)
          world::broken("refused", "an edited version was refused: " + reply.error().sentence());
      });
}

/// `odd`: from a version by which the task does not go.
void operators::migrate(const std::string& id, const std::string& to_hash, bool odd) {
  if (orders_ >= world_.settings.most_orders) return;
  const auto view = home_.reads().read();
  const auto known = store::find_task(*view, id);
  if (!known.ok() || !*known) return;
  const auto record = store::load_task(*view, (*known)->number());
  if (!record.ok() || !*record || (*record)->workflow() != editions_.front().name()) return;
  auto what = action(v1::OPERATOR_VERB_MIGRATE);
  what.set_from_hash(odd ? std::string(16, 'f') : (*record)->workflow_hash());
  what.set_to_hash(to_hash);
  order(id, what, false);
}

}  // namespace fairlead::simulation
