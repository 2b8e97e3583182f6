#include "app/files/job_file.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "actors/core/job/check.hpp"
#include "actors/core/text/nearest.hpp"
#include "actors/system/time_zones.hpp"
#include "app/files/job_words.hpp"
#include "app/yaml/labels.hpp"
#include "app/yaml/places.hpp"
#include "app/yaml/reader.hpp"
#include "app/yaml/source.hpp"

namespace fairlead::app {

namespace {

constexpr std::int64_t most_alert_after = std::numeric_limits<std::int32_t>::max();

/// One document: a job.
class job_reader {
 public:
  job_reader(yaml_document& document, std::string_view source, int lines_before, const core::zone_source& zones, const std::string& name)
      : document_(document), source_(source), lines_before_(lines_before), zones_(zones) {
    job_.set_name(name);
  }

  v1::JobSpec run() {
    const auto syntax = document_.problems.size();  // what was found before says nothing of what is read
    const auto root = yaml_node::root(document_);
    place("", root);
    yaml_section section{root};
    read_what(section);
    read_when_not(section);
    read_limits(section);
    section.finish();
    add_core_problems(syntax);
    return std::move(job_);
  }

 private:
  void place(const std::string& where, const yaml_node& node) { places_.add(where, node); }

  std::optional<yaml_node> found(yaml_section& section, const std::string& key) {
    auto node = section.find(key);
    if (node) place(dotted(section.node().where(), key), *node);
    return node;
  }

  std::optional<yaml_node> required(yaml_section& section, const std::string& key, const std::string& what) {
    auto node = section.require(key, what);
    if (node) place(key, *node);
    return node;
  }

  void read_what(yaml_section& section) {
    if (const auto node = job_.name().empty() ? required(section, "job", "the name of the job") : found(section, "job"))
      if (const auto text = node->text()) job_.set_name(*text);
    if (const auto node = required(section, "schedule", "the schedule of the job, such as \"30 2 * * MON-FRI\""))
      if (const auto text = node->text()) job_.set_schedule(*text);
    if (const auto node = found(section, "time_zone"))
      if (const auto text = node->text()) job_.set_zone(*text);
    if (found(section, "dst")) {
      v1::DstPolicy value{};
      if (section.word("dst", value, dst_words())) job_.set_dst(value);
    }
    if (const auto node = required(section, "workflow", "the name of the workflow to launch"))
      if (const auto text = node->text()) job_.set_workflow(*text);
    if (const auto node = found(section, "input")) {
      if (const auto json = node->json()) job_.set_input(*json);
    }
  }

  void read_when_not(yaml_section& section) {
    if (found(section, "overlap")) {
      v1::OverlapPolicy value{};
      if (section.word("overlap", value, overlap_words())) job_.set_overlap(value);
    }
    if (const auto node = found(section, "count_parked"))
      if (const auto value = node->boolean()) job_.set_count_parked(*value);
    if (const auto node = found(section, "catch_up")) read_catch_up(*node, section);
    // Zero is a window: whatever cannot start at once is skipped.
    if (const auto node = found(section, "start_window"))
      if (const auto ms = node->duration_ms(0, core::max_job_window_ms)) job_.set_start_window_ms(*ms);
    if (const auto node = found(section, "jitter"))
      if (const auto ms = node->duration_ms(0, core::max_job_jitter_ms)) job_.set_jitter_ms(*ms);
    if (const auto node = found(section, "deadline"))
      if (const auto ms = node->duration_ms(1, core::max_job_window_ms)) job_.set_deadline_ms(*ms);
    if (const auto node = found(section, "paused"))
      if (const auto value = node->boolean()) job_.set_paused(*value);
    if (const auto node = found(section, "notes"))
      if (const auto text = node->text()) job_.set_notes(*text);
  }

  void read_catch_up(const yaml_node& node, yaml_section& section) {
    v1::CatchUpPolicy value{};
    if (!node.is_map()) {
      if (section.word("catch_up", value, catch_up_words())) job_.set_catch_up(value);
      return;
    }
    yaml_section inner{node};
    if (found(inner, "policy") && inner.word("policy", value, catch_up_words())) job_.set_catch_up(value);
    if (const auto within = found(inner, "within"))
      if (const auto ms = within->duration_ms(1, core::max_job_window_ms)) job_.set_catch_up_window_ms(*ms);
    inner.finish();
  }

  void read_limits(yaml_section& section) {
    if (const auto node = found(section, "priority"))
      if (const auto value = node->integer(-core::max_job_priority, core::max_job_priority))
        job_.set_priority(static_cast<std::int32_t>(*value));
    if (const auto node = found(section, "labels"))
      for (auto& label : read_labels(*node)) *job_.add_labels() = std::move(label);
    if (const auto node = found(section, "needs"))
      for (const auto& item : node->items()) read_need(item, *job_.add_needs());
    if (const auto node = found(section, "max_in_flight"))
      if (const auto value = node->integer(1, core::max_open_launches)) job_.set_max_in_flight(static_cast<std::uint32_t>(*value));
    if (const auto node = found(section, "keep_launches"))
      if (const auto value = node->integer(1, core::max_keep_launches)) job_.set_keep_launches(static_cast<std::uint32_t>(*value));
    if (const auto node = found(section, "alert_after"))
      if (const auto value = node->integer(0, most_alert_after)) job_.set_alert_after(static_cast<std::uint32_t>(*value));
  }

  void read_need(const yaml_node& node, v1::AgentNeed& need) {
    place(node.where(), node);
    yaml_section section{node};
    need.set_slots(1);
    if (const auto agent = section.require("agent", "the name of an agent")) {
      place(agent->where(), *agent);
      if (const auto text = agent->text()) need.set_agent(*text);
    }
    if (const auto slots = found(section, "slots"))
      if (const auto value = slots->integer(1, core::max_needed_slots)) need.set_slots(static_cast<std::uint32_t>(*value));
    if (const auto labels = found(section, "labels"))
      for (auto& label : read_labels(*labels)) *need.add_labels() = std::move(label);
    section.finish();
  }

  /// The place of a byte of the schedule itself, where it is written as it is.
  std::pair<int, int> place_in_schedule(std::size_t position) const {
    const auto at = places_.of("schedule");
    auto line = source_.line(at.first - lines_before_);
    auto column = at.second;
    // Columns count characters.
    for (int passed = 1; passed < column && !line.empty();) {
      line.remove_prefix(1);
      if (line.empty() || (static_cast<unsigned char>(line.front()) & 0xC0U) != 0x80U) ++passed;
    }
    if (!line.empty() && (line.front() == '"' || line.front() == '\'')) {
      line.remove_prefix(1);
      ++column;
    }
    if (line.substr(0, job_.schedule().size()) != job_.schedule()) return at;
    for (std::size_t i = 0; i + 1 < position && i < job_.schedule().size(); ++i)
      if ((static_cast<unsigned char>(job_.schedule()[i]) & 0xC0U) != 0x80U) ++column;
    return {at.first, column};
  }

  void add_core_problems(std::size_t syntax) {
    const std::vector<problem> known{document_.problems.begin() + static_cast<std::ptrdiff_t>(syntax), document_.problems.end()};
    for (auto& one : core::check_job(job_, zones_)) {
      // What could not be read is not there, which core cannot know.
      const bool follows = std::any_of(known.begin(), known.end(), [&](const problem& p) {
        return p.where.empty() ||
               (one.field.compare(0, p.where.size(), p.where) == 0 &&
                (one.field.size() == p.where.size() || one.field[p.where.size()] == '.' || one.field[p.where.size()] == '['));
      });
      if (follows) continue;
      const auto at = one.position != 0 ? place_in_schedule(one.position) : places_.of(one.field);
      if (one.position != 0) one.sentence = "at position " + std::to_string(one.position) + ": " + one.sentence;
      if (one.field == "time_zone") one.remedy = zone_remedy(job_.zone());
      document_.problems.push_back({document_.file, at.first, at.second, one.field, one.sentence, one.remedy});
    }
  }

  yaml_document& document_;
  yaml_source source_;
  int lines_before_;
  const core::zone_source& zones_;
  v1::JobSpec job_;
  yaml_places places_;
};

struct part {
  std::string text;
  int lines_before = 0;
};

bool says_nothing(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || line[first] == '#';
}

/// The documents of a file. `---` at the beginning of a line begins one wherever it stands, in the middle of a text too.
std::vector<part> documents_of(std::string_view text) {
  std::vector<part> out{{}};
  bool empty = true;  // the present one says nothing
  int number = 0;
  for (; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    const auto line = text.substr(0, end);
    const bool begins =
        line.substr(0, 3) == "---" && (line.size() == 3 || std::string_view{" \t\r\n"}.find(line[3]) != std::string_view::npos);
    if (begins) {
      if (empty) out.pop_back();
      out.push_back({{}, number});
    }
    if (begins)
      empty = says_nothing(line.substr(3));
    else
      empty = empty && says_nothing(line);
    out.back().text += line;
    text.remove_prefix(end);
  }
  // A file that says nothing at all is told so.
  if (empty && out.size() > 1) out.pop_back();
  return out;
}

/// The signs that schedules begin with mean something else in YAML.
void hint_at_quotes(const part& of, std::vector<problem>& problems) {
  const yaml_source source{of.text};
  for (auto& one : problems) {
    auto line = source.line(one.line - of.lines_before);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.substr(0, 9) != "schedule:") continue;
    line.remove_prefix(9);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (!line.empty() && std::string_view{"*@?"}.find(line.front()) != std::string_view::npos)
      one.remedy = "put the schedule in quotes: its first character has another meaning in YAML";
  }
}

}  // namespace

std::string zone_remedy(const std::string& unknown) {
  const auto lower = [](std::string text) {
    for (auto& c : text)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
  };
  const auto names = time_zones::names();
  std::vector<std::string> lowered;
  for (const auto& name : names) lowered.push_back(lower(name));
  const auto wanted = lower(unknown);
  auto found = std::find(lowered.begin(), lowered.end(), wanted);
  if (found == lowered.end()) found = std::find(lowered.begin(), lowered.end(), core::nearest(wanted, lowered));
  const auto close = found == lowered.end() ? std::string{} : names[static_cast<std::size_t>(found - lowered.begin())];
  return close.empty() ? "use a name of the system's time zone database, such as Europe/Berlin; the default is UTC"
                       : "did you mean " + close + "?";
}

job_file parse_jobs(const std::string& file, const std::string& text, const core::zone_source& zones, const std::string& name) {
  job_file out;
  out.file = file;
  std::map<std::string, int> lines;
  for (const auto& one : documents_of(text)) {
    auto document = parse_yaml(file, one.text, one.lines_before);
    if (document.root) {
      const auto line = document.root->line;
      auto job = job_reader{document, one.text, one.lines_before, zones, name}.run();
      const auto [first, fresh] = lines.emplace(job.name(), line);
      if (!fresh && !job.name().empty())
        document.problems.push_back({file, line, 1, "job",
                                     "the job " + job.name() + " is defined twice, first on line " + std::to_string(first->second),
                                     "give each job a different name"});
      out.jobs.push_back(std::move(job));
    } else {
      hint_at_quotes(one, document.problems);
    }
    std::stable_sort(document.problems.begin(), document.problems.end(),
                     [](const problem& a, const problem& b) { return std::tie(a.line, a.column) < std::tie(b.line, b.column); });
    out.problems.insert(out.problems.end(), document.problems.begin(), document.problems.end());
    // Each document may have as many.
    if (out.problems.size() > max_yaml_problems) break;
  }
  return out;
}

job_file read_jobs(const std::string& path, const core::zone_source& zones) {
  job_file out;
  out.file = path;
  const auto text = read_text_file(path, out.problems);
  return text ? parse_jobs(path, *text, zones) : out;
}

std::vector<problem> doubled_jobs(const std::vector<job_file>& files) {
  std::vector<problem> out;
  std::map<std::string, std::string> known;
  for (const auto& file : files)
    for (const auto& job : file.jobs) {
      const auto [first, fresh] = known.emplace(job.name(), file.file);
      if (!fresh && first->second != file.file && !job.name().empty())
        out.push_back({file.file, 0, 0, "job", "the job " + job.name() + " is also in " + first->second, "give each job a different name"});
    }
  return out;
}

}  // namespace fairlead::app
