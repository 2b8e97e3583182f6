#include "tests/simulation/node/herald.hpp"

#include <algorithm>

#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

std::vector<target_plan> make_targets(world& in, std::uint32_t shard) {
  auto& luck = in.targets;
  std::vector<target_plan> out;
  const auto any = luck.chance(500);
  const auto count = luck.between(1, 2);
  for (std::int64_t i = 0; i < count; ++i) {
    target_plan one;
    one.is.name = "target-" + std::to_string(shard) + "-" + std::to_string(i);
    if (luck.chance(600))
      one.is.url = "http://127.0.0.1:9/" + one.is.name;
    else
      one.is.run = {one.is.name};
    one.is.at_most = static_cast<std::uint32_t>(luck.between(1, 4));
    one.is.window = std::chrono::milliseconds{luck.between(500, 6'000)};
    const auto spells = luck.below(3);
    for (std::uint64_t s = 0; s < spells; ++s) {
      const auto from_us = luck.between(0, 20) * second;
      one.deaf.push_back({from_us, from_us + luck.between(200, 8'000) * millisecond});
    }
    if (any && in.settings.has(concern::targets)) out.push_back(std::move(one));
  }
  return out;
}

node::herald::herald(node& in, const std::vector<target_plan>& targets) : node_(in), targets_(targets), term_(in.term_) {
  alert_courier::ports around;
  around.time = &node_.time();
  around.reads = &node_.store_;
  around.webhooks = this;
  around.commands = this;
  around.log = &node_;
  around.record = [this](courier_rows rows) {
    node_.tell_shard("alert cursors", [rows = std::move(rows)](scheduler& to) { to.delivered(rows); });
  };
  around.wake = [this] { node_.world_.after(millisecond, node_.of_this_lead([this] { look(false); })); };
  around.faults = node_.world_.settings.planted;
  std::vector<alert_target> all;
  for (const auto& one : targets_) all.push_back(one.is);
  shell_ = std::make_unique<alert_courier>(std::move(around), alert_origin{"n1", node_.shard_, node_.agents_.shards()}, all);
}

void node::herald::begin() {
  node_.world_.after(node_.world_.targets.between(1, 200) * millisecond, node_.of_this_lead([this] { look(true); }));
}

void node::herald::look(bool own) {
  node_.ask_who_leads([this, own](bool here) {
    if (here)
      if (const auto looked = shell_->look(); !looked.ok())
        throw rule_broken{"fatal", "the courier of alerts stops: " + looked.failure().sentence, false};
    if (own) node_.world_.after(look_period_us, node_.of_this_lead([this] { look(true); }));
  });
}

void node::herald::post(webhook_post what, std::function<void(status)> done) {
  bring(what.url.substr(what.url.rfind('/') + 1), std::move(what.body), std::move(done));
}

void node::herald::run(command_run what, std::function<void(status)> done) {
  bring(what.run.front(), std::move(what.input), std::move(done));
}

void node::herald::bring(const std::string& target, std::string body, std::function<void(status)> done) {
  auto& luck = node_.world_.targets;
  const auto delay = luck.between(1, 300) * millisecond;
  const auto lost = node_.world_.strikes(concern::targets, luck, 100);
  const auto unheard = node_.world_.strikes(concern::targets, luck, 100);
  node_.world_.tell("alert courier", target, body.size(), [&] { return body; });
  // By then this courier may be gone, not so its node.
  node_.world_.after(delay, [where = &node_, life = node_.life_, lead = node_.lead_, term = term_, target, lost, unheard,
                             body = std::move(body), done = std::move(done)] {
    const auto now = where->world_.now_us();
    const auto is_deaf = [&](const target_plan& one) {
      return one.is.name == target &&
             std::any_of(one.deaf.begin(), one.deaf.end(), [&](const auto& spell) { return spell.from_us <= now && now < spell.to_us; });
    };
    const auto deaf = where->world_.trouble() && std::any_of(where->targets_.begin(), where->targets_.end(), is_deaf);
    // A round that is confirmed says who led when it began. So one that leads no longer may still deliver what its successor delivers, too.
    const auto is_late = where->home_.is_over(term);
    if (is_late && !lost && !deaf) where->world_.count("alerts that a former leader delivers");
    if (!is_late && !lost && !deaf) where->checker_.of_alerts().arrived(target, body);
    if (life != where->life_ || lead != where->lead_ || !where->up()) return;
    if (where->world_.strikes(failpoint_id::alert_unrecorded)) return where->die();
    where->in_process([&] {
      if (lost || deaf || unheard)
        done(error{v1::ERROR_CODE_UNAVAILABLE, "nobody answers", ""});
      else
        done(nothing{});
    });
  });
}

}  // namespace fairlead::simulation
