#pragma once
// Workflows of a test, prepared and run in the simulated world, and what was found.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "app/simulate/campaign.hpp"
#include "app/simulate/command.hpp"
#include "tests/app/problems.hpp"
#include "tests/app/workflow_test/test_folder.hpp"

namespace fairlead::app::simulate {

using names = std::set<std::string>;

/// With `more` in its call `charge`.
inline std::string node_with(const std::string& more) {
  return "node: { name: n1 }\nroles: [shard, agent]\nstore: { path: data }\nagents:\n  bank:\n    kind: http\n    base_url: "
         "http://127.0.0.1:1\n"
         "    calls:\n      charge: { path: /charges" +
         more +
         " }\n      refund: { path: /refunds }\n  depot:\n    kind: http\n    base_url: http://127.0.0.1:1\n"
         "    calls: { ship: { path: /parcels } }\n";
}

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

struct simulated_workflows : workflow_test_folder {
  prepared_stage made(const std::string& text, wanted_simulation wanted = {}) const {
    wanted.file = write("flow.yaml", text);
    auto out = prepare(wanted, {});
    out.on.evaluate = evaluate_here;
    return out;
  }
  stage sound(const std::string& text, const wanted_simulation& wanted = {}) const {
    auto out = made(text, wanted);
    for (const auto& one : out.problems) ADD_FAILURE() << to_text(one);
    const auto done = deploy(out.on);
    EXPECT_TRUE(done.ok()) << done.failure().sentence;
    return out.on;
  }
  campaign_result run(const std::string& text, const wanted_simulation& wanted = {}, std::uint64_t seeds = 400) const {
    return run_campaign(sound(text, wanted), {seeds, 1, false});
  }
  wanted_simulation with_node(const std::string& more) const {
    wanted_simulation out;
    out.agents = write("node.yaml", node_with(more));
    return out;
  }

  /// `twice charge`, one for each finding.
  static names found(const campaign_result& of) {
    names out;
    for (const auto& one : of.findings) out.insert(std::string{word_of(one.what.kind)} + " " + one.what.step);
    return out;
  }
  static const shown_finding* find(const campaign_result& in, finding_kind kind) {
    const auto found = std::find_if(in.findings.begin(), in.findings.end(), [&](const auto& one) { return one.what.kind == kind; });
    return found == in.findings.end() ? nullptr : &*found;
  }
  static names ends(const campaign_result& of) {
    names out;
    for (const auto& one : of.endings) out.insert(one.word);
    return out;
  }
};

}  // namespace fairlead::app::simulate
