#include "app/simulate/campaign.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <functional>
#include <set>
#include <tuple>

#include "messages/time.hpp"

namespace fairlead::app::simulate {

namespace {

constexpr std::size_t candidates_kept = 3;    // runs from which the shortest story is looked for
constexpr int most_trials = 200;              // runs to make one story shorter
constexpr std::uint64_t least_assumed = 200;  // runs for each assumption

/// Without numbers and what stands in brackets or behind a colon: what differs from run to run.
std::string kind_of_reason(const std::string& reason) {
  std::string out;
  for (const auto c : reason.substr(0, reason.find(": "))) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0)
      out += c;
    else if (out.empty() || out.back() != 'N')
      out += 'N';
  }
  return out;
}

struct candidate {
  std::uint64_t seed = 0;
  std::size_t troubles = 0;
  std::uint64_t events = 0;
  auto rank() const { return std::tuple{troubles, events, seed}; }
};

struct tally {
  std::uint64_t runs = 0;
  std::vector<candidate> best;

  void add(std::uint64_t seed, const run_end& run) {
    ++runs;
    best.push_back({seed, run.troubles.size(), run.events});
    std::sort(best.begin(), best.end(), [](const candidate& a, const candidate& b) { return a.rank() < b.rank(); });
    if (best.size() > candidates_kept) best.pop_back();
  }
};

/// Leaves out one trouble after another as long as the run still shows what it is about.
story shortened(const stage& on, const tally& of, const std::function<bool(const run_end&)>& shows) {
  std::optional<std::pair<candidate, weather::sites>> found;
  int trials = 0;
  for (const auto& one : of.best) {
    weather::sites left_out;
    auto run = world{on, one.seed, &left_out, false}.run();
    for (bool better = true; better && trials < most_trials;) {
      better = false;
      const auto all = run.troubles;
      for (const auto& each : all) {
        if (++trials > most_trials) break;
        left_out.insert(each.site);
        auto shorter = world{on, one.seed, &left_out, false}.run();
        if (shows(shorter) && shorter.troubles.size() < run.troubles.size()) {
          run = std::move(shorter);
          better = true;
          break;
        }
        left_out.erase(each.site);
      }
    }
    const candidate made{one.seed, run.troubles.size(), run.events};
    if (!found || made.rank() < found->first.rank()) found = {made, left_out};
  }
  story out;
  if (!found) return out;
  auto run = world{on, found->first.seed, &found->second, true}.run();
  out.seed = found->first.seed;
  out.troubles = std::move(run.troubles);
  std::stable_sort(out.troubles.begin(), out.troubles.end(), [](const trouble& a, const trouble& b) { return a.at_ms < b.at_ms; });
  out.lines = std::move(run.story);
  return out;
}

bool has(const std::vector<finding>& all, const finding& one) { return std::find(all.begin(), all.end(), one) != all.end(); }

std::vector<shown_finding> shown(const stage& on, const std::map<finding, tally>& found) {
  std::vector<shown_finding> out;
  for (const auto& [what, of] : found) {
    const auto promised = on.promised.of(what.agent, what.call);
    out.push_back({what, of.runs, sentence_of(what, promised), remedy_of(what, promised),
                   shortened(on, of, [&, what = what](const run_end& run) { return has(judge(on, run), what); })});
  }
  return out;
}

/// The calls of steps, in the order of the workflows.
std::vector<std::pair<std::string, std::string>> calls_of(const stage& on) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto add = [&out](const std::string& agent, const std::string& call) {
    const std::pair name{agent, call};
    if (!call.empty() && std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  };
  for (const auto& workflow : on.workflows)
    for (const auto& step : workflow.steps()) {
      if (step.kind() != v1::STEP_KIND_CALL) continue;
      add(step.agent(), step.call());
      add(step.agent(), step.undo().call());
    }
  return out;
}

assumption assumed(const stage& on, const std::pair<std::string, std::string>& call, const campaign_settings& settings) {
  assumption out{call.first, call.second, on.promised.of(call.first, call.second).declared, {}};
  auto weaker = on;
  weaker.promised.without_keys(call.first, call.second);
  std::map<finding, tally> found;
  const auto runs = std::min(settings.seeds, std::max(least_assumed, settings.seeds / 10));
  for (auto seed = settings.first_seed; seed < settings.first_seed + runs; ++seed) {
    const auto run = world{weaker, seed, nullptr, false}.run();
    for (const auto& one : judge(weaker, run))
      if (one.agent == call.first && one.call == call.second) found[one].add(seed, run);
  }
  out.otherwise = shown(weaker, found);
  return out;
}

}  // namespace

std::string ending_of(const run_end& run) {
  const auto told = run.word == "parked" || run.word == "refused" || run.word == "stalled";
  return run.word + (told ? ": " + kind_of_reason(run.reason) : "");
}

campaign_result run_campaign(const stage& on, const campaign_settings& settings) {
  campaign_result out;
  out.workflow = on.workflows.front().name();
  out.seeds = settings.seeds;
  out.first_seed = settings.first_seed;
  std::map<std::string, tally> endings;
  std::map<finding, tally> findings;
  std::set<std::string> left;
  const auto began = std::chrono::steady_clock::now();
  for (auto seed = settings.first_seed; seed < settings.first_seed + settings.seeds; ++seed) {
    const auto run = world{on, seed, nullptr, false}.run();
    out.tasks += run.tasks.size();
    endings[ending_of(run)].add(seed, run);
    for (const auto& one : judge(on, run)) findings[one].add(seed, run);
    for (auto& name : left_as_said(on, run)) left.insert(std::move(name));
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  for (const auto& [name, of] : endings) {
    const auto colon = name.find(": ");
    ending one{name.substr(0, colon), colon == std::string::npos ? "" : name.substr(colon + 2), of.runs, {}};
    one.shortest = shortened(on, of, [name = name](const run_end& run) { return ending_of(run) == name; });
    out.endings.push_back(std::move(one));
  }
  std::stable_sort(out.endings.begin(), out.endings.end(), [](const ending& a, const ending& b) { return a.runs > b.runs; });
  out.findings = shown(on, findings);
  out.left_as_said.assign(left.begin(), left.end());
  if (!settings.assumptions) return out;
  for (const auto& call : calls_of(on)) {
    const auto promised = on.promised.of(call.first, call.second);
    if (promised.honours_keys && promised.valid_for_ms == 0) out.assumptions.push_back(assumed(on, call, settings));
  }
  return out;
}

}  // namespace fairlead::app::simulate
