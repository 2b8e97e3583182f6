#pragma once
// A registry on a clock that stands still, asked as the Scheduler asks it.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/registry/registry.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {

using arrival = registry::arrival;
using labels = std::vector<std::pair<std::string, std::string>>;
using core::slot_end;

struct ask {
  std::string agent = "svc";
  std::string call = "do";
  labels with;
  std::string input;
};

class registry_fixture : public ::testing::Test {
 protected:
  core::slot_answer try_claim(std::uint64_t task, const ask& what = {}, std::uint32_t step = 1) {
    google::protobuf::RepeatedPtrField<v1::Label> wanted;
    for (const auto& [key, value] : what.with) {
      auto& one = *wanted.Add();
      one.set_key(key);
      one.set_value(value);
    }
    return it->claim({{task, step}, what.agent, what.call, what.with.empty() ? nullptr : &wanted, what.input});
  }
  /// The instance, or `none`.
  std::string claimed(std::uint64_t task, const ask& what = {}) {
    const auto got = try_claim(task, what);
    return got.instance ? std::string{got.instance->name} + "#" + std::to_string(got.instance->incarnation) : "none";
  }
  /// Claims as the Scheduler does: what finds no instance waits. The order is the task's number.
  bool claim_or_wait(std::uint64_t task, const ask& what = {}, bool undoing = false) {
    const auto got = try_claim(task, what);
    if (!got.instance) it->wait(got.queue, task, task, undoing);
    return got.instance.has_value();
  }
  void hold(const std::string& instance, std::uint64_t task) { it->hold(instance, {{task, 1}, "svc", "do", nullptr, {}}); }
  void end(std::uint64_t task, slot_end how = slot_end::succeeded, std::int64_t busy_ms = 0) { it->release({task, 1}, {how, 1, busy_ms}); }
  /// All that may go on now, each claiming when it is named; fails when one that is named finds nothing.
  std::vector<std::uint64_t> serve(const ask& what = {}) {
    std::vector<std::uint64_t> out;
    while (const auto next = it->next_waiting()) {
      EXPECT_TRUE(claim_or_wait(*next, what)) << "task " << *next << " was named for nothing";
      out.push_back(*next);
      if (out.size() > 100'000) break;
    }
    return out;
  }
  void pass(std::int64_t ms) {
    time.now_ms += ms;
    it->wake();
  }
  void restart() { it = std::make_unique<registry>(time, policy); }

  v1::StatusReply status() const {
    v1::StatusReply out;
    it->describe(out);
    return out;
  }
  v1::ServiceStatus service(const std::string& name = "svc") const {
    const auto all = status();
    for (const auto& one : all.services())
      if (one.record().agent() == name) return one;
    return {};
  }
  v1::AgentStatus instance(const std::string& name) const {
    const auto all = status();
    for (const auto& one : all.agents())
      if (one.instance() == name) return one;
    return {};
  }
  std::vector<std::string> reasons(const std::string& name = "svc") const {
    const auto of = service(name);
    return {of.reasons().begin(), of.reasons().end()};
  }
  v1::AgentOperateReply operate(v1::AgentVerb verb, const std::string& whom, const std::string& reason = {}) {
    v1::AgentOperateRequest what;
    what.set_verb(verb);
    (verb == v1::AGENT_VERB_DRAIN || verb == v1::AGENT_VERB_RESUME) ? what.set_instance(whom) : what.set_agent(whom);
    what.set_who("mara");
    what.set_reason(reason);
    return it->operate(what);
  }
  /// Takes what has to become durable as the Scheduler does, raising alerts from 1 on.
  std::vector<service_change> make_durable() {
    auto out = it->take_changes();
    for (auto& one : out) {
      const auto breaker = one.breaker_alert ? next_alert++ : 0;
      const auto absent = one.absent_alert ? next_alert++ : 0;
      it->alerts_raised(one.record.agent(), breaker, absent);
      if (breaker != 0) one.record.set_breaker_alert(breaker);
      if (absent != 0) one.record.set_absent_alert(absent);
      durable[one.record.agent()] = one.record;
    }
    return out;
  }
  /// Twenty attempts that fail.
  void break_it(const std::string& name = "svc") {
    for (std::uint64_t i = 0; i < 20; ++i) {
      ASSERT_NE(claimed(9'000'000 + i, {name, "do", {}, {}}), "none");
      end(9'000'000 + i, slot_end::failed);
    }
    ASSERT_EQ(service(name).record().breaker(), v1::BREAKER_STATE_OPEN);
  }

  static v1::RegisterAgent labelled(v1::RegisterAgent what, const labels& with) {
    for (const auto& [key, value] : with) {
      auto& one = *what.add_labels();
      one.set_key(key);
      one.set_value(value);
    }
    return what;
  }
  static v1::RegisterAgent limited(v1::RegisterAgent what, const std::string& call, const std::string& key, std::uint32_t concurrency,
                                   std::uint32_t rate = 0) {
    auto& limit = *what.add_limits();
    limit.set_call(call);
    limit.set_key(key);
    limit.set_concurrency(concurrency);
    limit.set_rate(rate);
    limit.set_rate_per_ms(1'000);
    return what;
  }
  static ask by(const std::string& customer) { return {"svc", "do", {}, R"({"customer":")" + customer + "\"}"}; }

  manual_clock time;
  registry_policy policy;
  std::unique_ptr<registry> it = std::make_unique<registry>(time, policy);
  std::uint64_t next_alert = 1;
  std::map<std::string, v1::ServiceRecord> durable;
};

}  // namespace fairlead::testing
