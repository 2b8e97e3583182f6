#include "app/workflow_test/report.hpp"

#include <algorithm>
#include <cstdio>

#include "app/cli/problems.hpp"
#include "app/cli/screen/table.hpp"
#include "app/json/words.hpp"
#include "app/json/writer.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

std::string count_words(std::size_t count, const std::string& one) { return std::to_string(count) + " " + one + (count == 1 ? "" : "s"); }

std::string place_words(const std::string& file, const file_place& at) {
  return file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

std::string failure_text(const std::string& file, const case_failure& one) {
  return place_words(file, one.at) + ": " + (one.where.empty() ? "" : one.where + ": ") + one.sentence +
         (one.remedy.empty() ? "" : "; " + one.remedy);
}

std::string story_text(const case_result& of, const std::string& indent) {
  std::string out;
  for (const auto& [at_ms, words] : of.story) {
    auto time = format_duration(at_ms);
    time.resize(std::max<std::size_t>(time.size(), 10), ' ');
    out += indent + time + " " + printable(words) + "\n";
  }
  return out;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const auto c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n': out += "&#10;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? '?' : c;  // no other control character may stand in XML
    }
  }
  return out;
}

std::string seconds_text(double seconds) {
  char out[32];
  std::snprintf(out, sizeof out, "%.3f", seconds);
  return out;
}

void write_case(json_writer& out, const case_result& one, double seconds) {
  out.begin_object().key("name").string(one.name).key("line").number(std::int32_t{one.at.line}).key("ok").boolean(one.failures.empty());
  out.key("end").text_or_null(one.end).key("took_ms").number(one.took_ms).key("seconds").seconds(seconds).key("failures").begin_array();
  for (const auto& failure : one.failures) {
    out.begin_object()
        .key("line")
        .number(std::int32_t{failure.at.line})
        .key("column")
        .number(std::int32_t{failure.at.column})
        .key("where")
        .string(failure.where);
    out.key("sentence").string(failure.sentence).key("remedy").string(failure.remedy).end_object();
  }
  out.end_array().key("story").begin_array();
  for (const auto& [at_ms, words] : one.story) out.begin_object().key("at_ms").number(at_ms).key("what").string(words).end_object();
  out.end_array().end_object();
}

std::string junit_case(const file_result& file, const case_result& one, double seconds) {
  auto out = "    <testcase classname=\"" + escaped(file.workflow) + "\" name=\"" + escaped(one.name) + "\" file=\"" + escaped(file.file) +
             "\" line=\"" + std::to_string(one.at.line) + "\" time=\"" + seconds_text(seconds) + "\"";
  if (one.failures.empty()) return out + "/>\n";
  std::string all;
  for (const auto& failure : one.failures) all += failure_text(file.file, failure) + "\n";
  const auto& first = one.failures.front();
  out += ">\n      <failure message=\"" + escaped((first.where.empty() ? "" : first.where + ": ") + first.sentence) + "\">";
  return out + escaped(all + "What happened:\n" + story_text(one, "  ")) + "</failure>\n    </testcase>\n";
}

}  // namespace

std::size_t failed_cases(const std::vector<file_result>& files) {
  std::size_t out = 0;
  for (const auto& file : files)
    out += static_cast<std::size_t>(
        std::count_if(file.cases.begin(), file.cases.end(), [](const auto& one) { return !one.failures.empty(); }));
  return out;
}

std::string test_text(const std::vector<file_result>& files, bool verbose) {
  std::string out;
  std::size_t all = 0;
  for (const auto& file : files) {
    if (!file.problems.empty()) continue;
    out += file.file + ": workflow " + file.workflow + ", " + count_words(file.cases.size(), "case") + "\n";
    for (const auto& one : file.cases) {
      ++all;
      const auto failed = !one.failures.empty();
      out += std::string{failed ? "  FAILED  " : "  ok      "} + printable(one.name);
      if (!failed) out += " (" + one.end + " after " + format_duration(one.took_ms) + ")";
      out += "\n";
      for (const auto& failure : one.failures) out += "    " + printable(failure_text(file.file, failure)) + "\n";
      if (failed) out += "    What happened:\n";
      if (failed || verbose) out += story_text(one, "      ");
    }
  }
  const auto failed = failed_cases(files);
  return out + count_words(all - failed, "case") + " passed" + (failed == 0 ? "" : ", " + std::to_string(failed) + " failed") + "\n";
}

std::string test_json(const std::vector<file_result>& files) {
  json_writer out;
  std::vector<problem> problems;
  std::size_t all = 0;
  for (const auto& file : files) {
    all += file.cases.size();
    problems.insert(problems.end(), file.problems.begin(), file.problems.end());
  }
  const auto failed = failed_cases(files);
  out.begin_object().key("ok").boolean(failed == 0 && problems.empty());
  out.key("cases").number(std::uint64_t{all}).key("failed").number(std::uint64_t{failed}).key("files").begin_array();
  for (const auto& file : files) {
    out.begin_object().key("file").string(file.file).key("workflow").text_or_null(file.workflow).key("cases").begin_array();
    for (std::size_t i = 0; i < file.cases.size(); ++i) write_case(out, file.cases[i], file.seconds[i]);
    out.end_array().end_object();
  }
  write_problems(out.end_array(), problems);
  return out.end_object().text() + "\n";
}

std::string test_junit(const std::vector<file_result>& files) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const auto& file : files) {
    double seconds = 0;
    for (const auto one : file.seconds) seconds += one;
    out += "  <testsuite name=\"" + escaped(file.file) + "\" tests=\"" +
           std::to_string(std::max<std::size_t>(file.cases.size(), file.problems.empty() ? 0 : 1)) + "\" failures=\"" +
           std::to_string(failed_cases({file})) + "\" errors=\"" + (file.problems.empty() ? "0" : "1") + "\" time=\"" +
           seconds_text(seconds) + "\">\n";
    if (!file.problems.empty()) {
      std::string all;
      for (const auto& one : file.problems) all += to_text(one) + "\n";
      out += "    <testcase classname=\"" + escaped(file.file) +
             "\" name=\"the file\" time=\"0.000\">\n      <error message=\"the file has errors\">" + escaped(all) +
             "</error>\n    </testcase>\n";
    }
    for (std::size_t i = 0; i < file.cases.size(); ++i) out += junit_case(file, file.cases[i], file.seconds[i]);
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace fairlead::app
