#include "tests/simulation/people/clients.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>

#include "store/content_hash.hpp"
#include "store/keys.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/plans/child_plans.hpp"
#include "tests/simulation/plans/item_plans.hpp"

namespace fairlead::simulation {

namespace {

constexpr auto name_of_claimant = "claimant";

v1::StatusKind kind_of(std::string_view word) {
  for (int i = v1::STATUS_KIND_RECEIVED; i <= v1::STATUS_KIND_FAILED; ++i) {
    auto name = v1::StatusKind_Name(static_cast<v1::StatusKind>(i)).substr(12);
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    if (name == word) return static_cast<v1::StatusKind>(i);
  }
  return v1::STATUS_KIND_UNSPECIFIED;
}

/// The text behind `"name":` up to the end of a string or number; what webhooks get holds no escapes.
std::string_view member(std::string_view object, std::string_view name) {
  const auto at = object.find("\"" + std::string{name} + "\":");
  if (at == std::string_view::npos) return {};
  auto rest = object.substr(at + name.size() + 3);
  if (!rest.empty() && rest.front() == '"') {
    rest.remove_prefix(1);
    return rest.substr(0, rest.find('"'));
  }
  return rest.substr(0, rest.find_first_of(",}"));
}

}  // namespace

clients::clients(world& in, network& net, home& shard, checker& judge, const std::vector<v1::WorkflowDefinition>& workflows,
                 const std::vector<v1::WorkflowDefinition>& versions, std::string prefix)
    : world_(in),
      network_(net),
      home_(shard),
      checker_(judge),
      workflows_(workflows),
      versions_(versions),
      prefix_(std::move(prefix)),
      ahead_us_(shard.ahead_us()),
      deployed_(workflows.size(), false),
      claimants_(in, net, shard, judge, name_of_claimant) {}

void clients::begin(std::int64_t until_us) {
  for (std::size_t i = 0; i < workflows_.size(); ++i) deploy(i);
  if (!versions_.empty()) {
    const auto times = world_.versions.between(1, 6);
    for (std::int64_t i = 0; i < times; ++i) {
      const auto which = world_.versions.below(versions_.size() + 1);
      const auto& version = which == 0 ? workflows_.front() : versions_[which - 1];
      world_.after(world_.versions.between(0, until_us), [this, &version] { deploy_anew(version); });
    }
  }
  auto& luck = world_.clients;
  const auto tasks = 1 + luck.below(6);
  for (std::uint64_t i = 0; i < tasks; ++i) {
    wish one;
    one.what.set_id(prefix_ + std::to_string(i));
    one.what.set_workflow(pick_workflow());
    one.what.set_input(R"({"n":)" + std::to_string(i + 1) + R"(,"yes":)" + (i % 3 == 0 ? "false" : "true") +
                       waits_for(one.what.workflow(), i, until_us) + list_for(one.what.workflow(), i) + "}");
    if (luck.chance(200)) one.what.set_priority(static_cast<std::int32_t>(luck.between(-2, 2)));
    const auto reply = luck.below(100);
    if (reply < 30) one.what.mutable_reply()->set_webhook("http://127.0.0.1:9/" + std::to_string(i % 2));
    if (reply >= 30 && reply < 60) one.what.mutable_reply()->set_client(name_of_claimant);
    if (one.what.has_reply()) one.what.mutable_reply()->set_steps(luck.chance(500));
    one.notify = luck.chance(300);
    if (world_.polls.chance(300)) {
      auto& label = *one.what.add_labels();
      label.set_key("shop");
      label.set_value(world_.polls.chance(500) ? "north" : "south");
    }
    label(one.what, i);
    if (world_.starts.chance(150)) {
      if (world_.starts.chance(500))
        one.what.set_delay_ms(world_.starts.between(1, until_us / millisecond));
      else
        one.what.set_start_at_unix_ms(world_.start_ms() + world_.starts.between(-1'000, until_us / millisecond));
    }
    checker_.submits(one.what);
    const auto when = luck.between(0, until_us * 6 / 10);
    const auto extra = luck.between(0, until_us);
    const auto how = luck.below(4);
    const auto again = luck.chance(400);
    if (static_cast<int>(i) >= world_.settings.most_tasks) continue;
    const auto which = wishes_.size();
    ids_.push_back(one.what.id());
    wishes_.push_back(std::move(one));
    world_.after(when, [this, which] { submit(which); });
    if (!again || !world_.settings.has(concern::resubmissions)) continue;
    world_.after(when + extra, [this, which, how] {
      if (how == 0)
        submit_other_content(which);
      else
        submit(which);
    });
  }
  plan_unfit(until_us);
  home_.on_post = [this](const std::string&, const std::string& body) { take_events(body); };
  claimants_.begin();
}

/// Seldom one of those that are made for the tasks of steps.
std::string clients::pick_workflow() const {
  auto& luck = world_.clients;
  const auto& name = luck.pick(workflows_).name();
  return child_plan::is_one(name) && luck.chance(700) ? workflows_.front().name() : name;
}

/// The list of a step with `for_each`, which its submitter may forget.
std::string clients::list_for(const std::string& workflow, std::uint64_t number) const {
  const auto reads = [&](const std::vector<v1::WorkflowDefinition>& all) {
    return std::any_of(all.begin(), all.end(), [&](const auto& one) {
      return one.name() == workflow && std::any_of(one.steps().begin(), one.steps().end(), [](const auto& step) {
               return step.for_each().list_json().find(".input.list") != std::string::npos;
             });
    });
  };
  random_stream luck{world_.settings.seed, 2'000 + number};
  const auto gives = luck.chance(930);
  const auto list = item_plan::given_list(luck);
  return gives && (reads(workflows_) || reads(versions_)) ? R"(,"list":)" + list : std::string{};
}

/// How long, and until when, steps of the workflow are to wait, which its submitter may forget.
std::string clients::waits_for(const std::string& workflow, std::uint64_t number, std::int64_t until_us) const {
  const auto reads = [&](const std::vector<v1::WorkflowDefinition>& all, const char* path) {
    return std::any_of(all.begin(), all.end(), [&](const auto& one) {
      return one.name() == workflow && std::any_of(one.steps().begin(), one.steps().end(), [&](const auto& step) {
               return step.kind() == v1::STEP_KIND_WAIT && step.with_json().find(path) != std::string::npos;
             });
    });
  };
  random_stream luck{world_.settings.seed, 600 + number};
  const auto gives_wait = luck.chance(800);
  const auto wait_ms = luck.chance(400) ? luck.between(1, 1'000) : luck.between(1'000, 15'000);
  const auto gives_time = luck.chance(800);
  const auto at_ms = world_.start_ms() + ahead_us_ / millisecond + luck.between(-2'000, until_us / millisecond + 10'000);
  std::string out;
  if (gives_wait && (reads(workflows_, ".input.wait") || reads(versions_, ".input.wait")))
    out += R"(,"wait":")" + format_duration(wait_ms) + '"';
  if (gives_time && (reads(workflows_, ".input.until") || reads(versions_, ".input.until")))
    out += R"(,"until":")" + format_utc(at_ms) + '"';
  return out;
}

void clients::deploy_anew(const v1::WorkflowDefinition& version) {
  world_.count("versions deployed");
  v1::DeployRequest request;
  *request.mutable_definition() = version;
  home_.request<v1::DeployReply>(
      "deployer", [request](scheduler& to, std::uint64_t ticket) { to.answer(request, ticket); },
      [request](const v1::DeployReply& reply) {
        if (reply.error().code() != v1::ERROR_CODE_OK && reply.error().code() != v1::ERROR_CODE_UNAVAILABLE)
          world::broken("refused", "a lawful version was refused: " + reply.error().sentence());
        if (reply.error().code() == v1::ERROR_CODE_OK && reply.content_hash() != store::definition_hash(request.definition()))
          world::broken("version_changed", "another version was deployed than was sent");
      });
}

void clients::label(v1::Submission& what, std::uint64_t number) const {
  random_stream luck{world_.settings.seed, 500 + number};
  for (std::int64_t i = luck.between(-2, 2); i > 0; --i) {
    auto& one = *what.add_labels();
    one.set_key("label" + std::to_string(i));
    one.set_value(prefix_ + std::to_string(luck.below(1'000)));
  }
}

bool clients::satisfied() const {
  return std::all_of(wishes_.begin(), wishes_.end(), [](const wish& one) { return one.acknowledged || one.given_up; });
}

bool clients::is_known(const std::string& workflow) const {
  for (std::size_t i = 0; i < workflows_.size(); ++i)
    if (workflows_[i].name() == workflow) return deployed_[i];
  return false;
}

void clients::deploy(std::size_t which) {
  if (deployed_[which]) return;
  v1::DeployRequest request;
  *request.mutable_definition() = workflows_[which];
  home_.request<v1::DeployReply>(
      "deployer", [request](scheduler& to, std::uint64_t ticket) { to.answer(request, ticket); },
      [this, which](const v1::DeployReply& reply) {
        if (reply.error().code() != v1::ERROR_CODE_OK && reply.error().code() != v1::ERROR_CODE_UNAVAILABLE)
          world::broken("refused", "a lawful workflow was refused: " + reply.error().sentence());
        deployed_[which] = reply.error().code() == v1::ERROR_CODE_OK;
      });
  world_.after(second, [this, which] { deploy(which); });
}

void clients::submit(std::size_t which) {
  auto& one = wishes_[which];
  v1::SubmitRequest request;
  *request.add_items() = one.what;
  request.set_notify(one.notify);
  world_.tell("client", "scheduler", which, [&] { return "submits " + one.what.id() + " of " + one.what.workflow(); });
  checker_.sends(one.what.id());
  const auto subscriber = one.notify ? which + 1 : 0;
  const auto is_deployed = home_.replicated() && !home_.put_back() && is_known(one.what.workflow());
  const auto was_full = std::make_shared<bool>(true);  // whenever this request came in
  home_.request<v1::SubmitReply>(
      "client" + std::to_string(which),
      [this, request, subscriber, was_full](scheduler& to, std::uint64_t ticket) {
        if (subscriber != 0) checker_.subscription_heard(ticket, request.items(0).id(), to.epoch());
        *was_full = *was_full && home_.full();
        to.answer(request, ticket, subscriber);
      },
      [this, which, was_full, is_deployed](const v1::SubmitReply& reply) {
        if (is_deployed) world_.judges("stale_answer");
        if (is_deployed && !home_.put_back() && !reply.results().empty() && reply.results(0).error().code() == v1::ERROR_CODE_NOT_FOUND)
          world::broken("stale_answer",
                        wishes_[which].what.id() + " is refused because its workflow is unknown, and that had been deployed");
        if (*was_full && !reply.results().empty() && reply.results(0).created())
          world::broken("taken_when_full", wishes_[which].what.id() + " was taken by a store that is full");
        answered(which, reply);
      });
  if (one.acknowledged) return;
  const auto gives_up = world_.strikes(concern::resubmissions, world_.clients, 20);
  if (gives_up) one.given_up = true;  // what became of it nobody knows
  if (gives_up) return;
  world_.after(world_.clients.between(500, 3'000) * millisecond, [this, which] {
    if (!wishes_[which].acknowledged) submit(which);
  });
}

void clients::answered(std::size_t which, const v1::SubmitReply& reply) {
  auto& one = wishes_[which];
  if (reply.results().empty()) return;
  const auto& result = reply.results(0);
  switch (result.error().code()) {
    case v1::ERROR_CODE_OK:
      one.acknowledged = true;
      checker_.expects_task(one.what.id(), one.what.workflow());
      return;
    case v1::ERROR_CODE_NOT_FOUND: return;  // not deployed yet
    case v1::ERROR_CODE_STORE_FULL:
      world_.count("refused by a full store");
      if (!home_.may_be_full() && !world_.settings.has(concern::full_stores))
        world::broken("refused", "a submission was refused though the store has room");
      return;
    case v1::ERROR_CODE_OVERLOADED:
    case v1::ERROR_CODE_UNAVAILABLE: return;
    case v1::ERROR_CODE_CONFLICT:
      // What somebody else had asked for under its id has come to a store that had lost the first.
      if (home_.put_back()) {
        one.given_up = true;
        return;
      }
      [[fallthrough]];
    default: world::broken("refused", "the submission " + one.what.id() + " was refused: " + result.error().sentence());
  }
}

void clients::submit_again(const std::string& id, bool other_content) {
  if (!world_.settings.has(concern::resubmissions)) return;
  for (std::size_t i = 0; i < wishes_.size(); ++i) {
    if (wishes_[i].what.id() != id || !wishes_[i].acknowledged) continue;
    if (other_content)
      submit_other_content(i);
    else
      submit(i);
  }
}

void clients::submit_what_is_lost(const store::snapshot& view) {
  for (std::size_t i = 0; i < workflows_.size(); ++i) {
    const auto known = view.get(store::table::workflow, store::keys::workflow(store::default_namespace, workflows_[i].name()));
    if (!deployed_[i] || (known.ok() && *known)) continue;
    deployed_[i] = false;
    deploy(i);
  }
  for (std::size_t i = 0; i < wishes_.size(); ++i) {
    auto& one = wishes_[i];
    if (!one.acknowledged) continue;
    const auto known = store::find_task(view, one.what.id());
    if (known.ok() && *known) continue;
    one.acknowledged = false;
    checker_.gives_up(one.what.id());
    world_.count("submissions of a lost time, sent again");
    submit(i);
  }
}

void clients::submit_other_content(std::size_t which) {
  const auto& one = wishes_[which];
  // Where the first has been lost, this one would be taken.
  if (!one.acknowledged || home_.put_back()) return;
  v1::SubmitRequest request;
  *request.add_items() = one.what;
  request.mutable_items(0)->set_input(R"({"n":99})");
  world_.tell("client", "scheduler", which, [&] { return "submits something else as " + one.what.id(); });
  home_.request<v1::SubmitReply>(
      "client" + std::to_string(which), [request](scheduler& to, std::uint64_t ticket) { to.answer(request, ticket, 0); },
      [this, id = one.what.id()](const v1::SubmitReply& reply) {
        if (home_.put_back()) return;
        if (reply.results().empty() || reply.results(0).error().code() != v1::ERROR_CODE_CONFLICT)
          world::broken("one_task", "another content was taken under the id " + id);
      });
}

void clients::plan_unfit(std::int64_t until_us) {
  constexpr const char* inputs[] = {"", "null", "[]", R"({"yes":true})", R"({"n":"1"})", R"({"n":1.5})", R"({"n":null,"at":"x"})"};
  for (std::size_t i = 0; i < workflows_.size(); ++i) {
    const auto& name = workflows_[i].name();
    const auto has_schema = [&](const auto& one) { return one.name() != name || !one.input_schema_json().empty(); };
    if (!has_schema(workflows_[i]) || !std::all_of(versions_.begin(), versions_.end(), has_schema)) continue;
    random_stream luck{world_.settings.seed, 700 + i};
    for (std::int64_t left = luck.between(1, 2); left > 0; --left) {
      v1::Submission what;
      what.set_id(prefix_ + "unfit" + std::to_string(i) + "." + std::to_string(left));
      what.set_workflow(name);
      what.set_input(inputs[luck.below(std::size(inputs))]);
      world_.after(luck.between(0, until_us * 8 / 10), [this, what] { submit_unfit(what); });
    }
  }
}

void clients::submit_unfit(const v1::Submission& what) {
  v1::SubmitRequest request;
  *request.add_items() = what;
  world_.tell("client", "scheduler", 0, [&] { return "submits " + what.id() + " of " + what.workflow() + ", which does not fit"; });
  home_.request<v1::SubmitReply>(
      "client of unfit inputs", [request](scheduler& to, std::uint64_t ticket) { to.answer(request, ticket, 0); },
      [this, id = what.id()](const v1::SubmitReply& reply) {
        if (reply.results().empty()) return;
        world_.judges("unfit_input");
        const auto& why = reply.results(0).error();
        if (why.code() == v1::ERROR_CODE_OK)
          world::broken("unfit_input", id + " was taken although its input does not fit the schema of its workflow");
        if (why.code() != v1::ERROR_CODE_INVALID_ARGUMENT) return;
        world_.count("inputs refused that do not fit");
        if (why.sentence().find("does not fit the schema of workflow") == std::string::npos)
          world::broken("unfit_input", id + " was refused for something else: " + why.sentence());
      });
}

void clients::take_events(const std::string& body) {
  std::string_view rest = body;
  for (auto at = rest.find("{\"task\":"); at != std::string_view::npos; at = rest.find("{\"task\":")) {
    rest.remove_prefix(at);
    const auto object = rest.substr(0, rest.find('}') + 1);
    std::uint64_t sequence = 0;
    const auto digits = member(object, "sequence");
    std::from_chars(digits.data(), digits.data() + digits.size(), sequence);
    checker_.status_event(std::string{member(object, "task")}, sequence, kind_of(member(object, "kind")), v1::TASK_STATE_UNSPECIFIED);
    rest.remove_prefix(8);
  }
}

}  // namespace fairlead::simulation
