#include "app/simulate/report.hpp"

#include <algorithm>
#include <cstdio>

#include "app/cli/screen/table.hpp"
#include "app/json/writer.hpp"
#include "messages/time.hpp"

namespace fairlead::app::simulate {

namespace {

constexpr std::size_t most_lines = 200;  // of a story

std::string count_words(std::uint64_t count, const std::string& one) { return std::to_string(count) + " " + one + (count == 1 ? "" : "s"); }

std::string line_text(std::int64_t at_ms, const std::string& words, const std::string& indent) {
  auto time = format_duration(at_ms);
  time.resize(std::max<std::size_t>(time.size(), 10), ' ');
  return indent + time + " " + printable(words) + "\n";
}

std::string lines_text(const std::vector<std::pair<std::int64_t, std::string>>& lines, const std::string& indent) {
  std::string out;
  const auto left_out = lines.size() > most_lines ? lines.size() - most_lines : 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (left_out != 0 && i == most_lines / 2) {
      out += indent + "… (" + std::to_string(left_out) + " lines are left out)\n";
      i += left_out;
    }
    out += line_text(lines[i].first, lines[i].second, indent);
  }
  return out;
}

std::string troubles_text(const std::vector<trouble>& troubles, const std::string& indent) {
  std::string out;
  for (const auto& one : troubles) out += line_text(one.at_ms, one.words, indent);
  return out;
}

std::string ending_text(const ending& one, std::uint64_t runs, bool verbose) {
  char head[64];
  std::snprintf(head, sizeof head, "  %6llu  %5.1f %%  ", static_cast<unsigned long long>(one.runs),
                100.0 * static_cast<double>(one.runs) / static_cast<double>(std::max<std::uint64_t>(runs, 1)));
  auto out = head + one.word + (one.why.empty() ? "" : ": " + printable(one.why)) + " (seed " + std::to_string(one.shortest.seed) + ")\n";
  const std::string indent(10, ' ');
  if (verbose) return out + lines_text(one.shortest.lines, indent);
  return out + (one.shortest.troubles.empty() ? indent + "nothing goes wrong\n" : troubles_text(one.shortest.troubles, indent));
}

std::string finding_text(const shown_finding& one, std::uint64_t runs) {
  return std::string{"  "} + word_of(one.what.kind) + ": " + printable(one.sentence) + "\n    Seen in " + std::to_string(one.runs) +
         " of " + count_words(runs, "run") + ". To prevent it: " + printable(one.remedy) + ".\n    The shortest story (seed " +
         std::to_string(one.shortest.seed) + "):\n" + lines_text(one.shortest.lines, "      ");
}

std::string list_words(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& one : names) out += (out.empty() ? "" : ", ") + one;
  return out;
}

std::string otherwise_words(const assumption& of) {
  std::string out;
  for (const auto& one : of.otherwise)
    out += (out.empty() ? "" : "; ") + std::string{word_of(one.what.kind)} + " (step " + one.what.step + ", seed " +
           std::to_string(one.shortest.seed) + ")";
  return out;
}

void write_story(json_writer& out, const story& of) {
  out.key("seed").number(of.seed).key("troubles").begin_array();
  for (const auto& one : of.troubles) out.begin_object().key("at_ms").number(one.at_ms).key("what").string(one.words).end_object();
  out.end_array().key("story").begin_array();
  for (const auto& [at_ms, words] : of.lines) out.begin_object().key("at_ms").number(at_ms).key("what").string(words).end_object();
  out.end_array();
}

void write_finding(json_writer& out, const shown_finding& one) {
  out.begin_object().key("kind").string(word_of(one.what.kind)).key("workflow").string(one.what.workflow).key("step").string(one.what.step);
  out.key("agent").string(one.what.agent).key("call").string(one.what.call).key("runs").number(one.runs);
  out.key("sentence").string(one.sentence).key("remedy").string(one.remedy);
  write_story(out, one.shortest);
  out.end_object();
}

void write_names(json_writer& out, const char* key, const std::vector<std::string>& names) {
  out.key(key).begin_array();
  for (const auto& one : names) out.string(one);
  out.end_array();
}

}  // namespace

std::string report_text(const report& of) {
  const auto& result = of.result;
  auto out = of.file + ": workflow " + result.workflow + ", seeds " + std::to_string(result.first_seed) + " to " +
             std::to_string(result.first_seed + result.seeds - 1) + "\n";
  for (const auto& one : of.notices) out += "Note: " + printable(one) + "\n";
  out += "\nEndings, each with the shortest story:\n";
  for (const auto& one : result.endings) out += ending_text(one, result.seeds, of.verbose);
  out += "\n";
  if (result.findings.empty()) {
    out += "No effect happened twice, and none was left where a task was undone.\n";
  } else {
    out += count_words(result.findings.size(), "finding") + ":\n";
    for (const auto& one : result.findings) out += finding_text(one, result.seeds);
  }
  if (!result.left_as_said.empty())
    out += "\nUndone tasks leave the effects of steps with undo: none, as the workflow says: " + list_words(result.left_as_said) + "\n";
  if (!of.undeclared.empty())
    out += "\nNothing is declared about " + list_words(of.undeclared) + ". Played: " + words_of(contract{}) +
           ". A node file with the agents is given with --agents.\n";
  bool first = true;
  for (const auto& one : result.assumptions) {
    if (one.otherwise.empty()) continue;
    if (first) out += "\nThese services have to honour Idempotency-Key. If they did not:\n";
    first = false;
    out += "  " + one.agent + "." + one.call + ": " + otherwise_words(one) + "\n";
  }
  char pace[128];
  std::snprintf(pace, sizeof pace, "\n%s in %.1f s: %.0f runs and %.0f tasks a second\n", count_words(result.seeds, "run").c_str(),
                result.seconds, static_cast<double>(result.seeds) / std::max(result.seconds, 1e-9),
                static_cast<double>(result.tasks) / std::max(result.seconds, 1e-9));
  return out + pace;
}

std::string report_json(const report& of) {
  const auto& result = of.result;
  json_writer out;
  out.begin_object().key("ok").boolean(result.findings.empty()).key("file").string(of.file).key("workflow").string(result.workflow);
  out.key("seeds").number(result.seeds).key("first_seed").number(result.first_seed).key("tasks").number(result.tasks);
  write_names(out, "notices", of.notices);
  out.key("endings").begin_array();
  for (const auto& one : result.endings) {
    out.begin_object().key("end").string(one.word).key("why").text_or_null(one.why).key("runs").number(one.runs);
    write_story(out, one.shortest);
    out.end_object();
  }
  out.end_array().key("findings").begin_array();
  for (const auto& one : result.findings) write_finding(out, one);
  out.end_array();
  write_names(out, "left_as_said", result.left_as_said);
  write_names(out, "undeclared", of.undeclared);
  out.key("assumptions").begin_array();
  for (const auto& one : result.assumptions) {
    out.begin_object().key("agent").string(one.agent).key("call").string(one.call).key("declared").boolean(one.declared);
    out.key("without_keys").begin_array();
    for (const auto& each : one.otherwise) write_finding(out, each);
    out.end_array().end_object();
  }
  return out.end_array().end_object().text() + "\n";
}

std::string run_text(const stage& on, std::uint64_t seed, const run_end& run) {
  auto out = "workflow " + on.workflows.front().name() + ", seed " + std::to_string(seed) + ": " + run.word +
             (run.reason.empty() ? "" : ": " + printable(run.reason)) + "\n" + lines_text(run.story, "  ");
  for (const auto& one : judge(on, run)) {
    const auto promised = on.promised.of(one.agent, one.call);
    out += std::string{word_of(one.kind)} + ": " + printable(sentence_of(one, promised)) +
           " To prevent it: " + printable(remedy_of(one, promised)) + ".\n";
  }
  return out;
}

std::string run_json(const stage& on, std::uint64_t seed, const run_end& run) {
  const auto found = judge(on, run);
  json_writer out;
  out.begin_object().key("ok").boolean(found.empty()).key("workflow").string(on.workflows.front().name()).key("end").string(run.word);
  out.key("why").text_or_null(run.reason);
  write_story(out, {seed, run.troubles, run.story});
  out.key("findings").begin_array();
  for (const auto& one : found) {
    const auto promised = on.promised.of(one.agent, one.call);
    out.begin_object().key("kind").string(word_of(one.kind)).key("workflow").string(one.workflow).key("step").string(one.step);
    out.key("sentence").string(sentence_of(one, promised)).key("remedy").string(remedy_of(one, promised)).end_object();
  }
  return out.end_array().end_object().text() + "\n";
}

}  // namespace fairlead::app::simulate
