#pragma once
// A test file as a person writes it: a workflow, and cases of tasks of it. docs/testing.md is the reference of the keys.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/files/workflow_file.hpp"
#include "app/rehearsal/agents.hpp"
#include "app/yaml/document.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

/// Where something stands in the file.
struct file_place {
  int line = 0;
  int column = 0;
};

/// What attempts are answered, or what becomes of children, in order; the last one is given again and again.
struct answer_script {
  std::string key;                    // `payment.charge`, `charge`, `charge[2]`, `undo of charge`, `lookup of charge`
  std::string step;                   // whose attempts it answers; empty: all with a call
  std::optional<std::uint32_t> item;  // whose alone
  file_place at;
  std::vector<rehearsed_answer> answers;
  std::vector<rehearsed_child> children;  // of a step with `workflow`: then there are no answers
  std::size_t size() const { return answers.size() + children.size(); }
};

/// What an operator or a client does at a moment.
struct test_action {
  file_place at;
  std::int64_t at_ms = 0;  // since the submission
  v1::OperatorAction action;
  std::optional<std::uint32_t> item;  // of the action's step
  bool refused = false;               // it is expected to be refused
};

template <class Value>
struct expected {
  file_place at;
  Value value;
};
using expected_text = expected<std::string>;                // a word, or JSON text
using expected_names = expected<std::vector<std::string>>;  // `...` stands for any number of others
using expected_number = expected<std::int64_t>;

using expected_items = expected<std::vector<std::uint32_t>>;

struct step_expectation {
  std::string step;
  std::optional<std::uint32_t> item;  // it is about this one of its items alone
  file_place at;
  std::optional<expected_text> state, fault;
  std::optional<expected_text> input, input_has, undo_input, undo_input_has, output, output_has;  // JSON
  std::optional<expected_number> attempts, undo_attempts, lookups;
  std::optional<expected_number> items;                                       // of a step with for_each: how many its list has
  std::optional<expected_items> completed_items, failed_items, undone_items;  // in any order
  std::optional<expected<bool>> cancelled;                                    // its child was told to be undone or to end, before its end
};

struct case_expectation {
  expected_text end;
  std::optional<expected_text> reason;                         // words that the reason has in it
  std::optional<expected_text> output, output_has;             // JSON, of the task
  std::optional<expected_names> performed, completed, undone;  // in their order
  std::optional<expected_names> skipped, dropped, alerts;      // in any order
  std::optional<expected_number> least_ms, most_ms;
  std::vector<step_expectation> steps;
};

struct test_case {
  std::string name;
  file_place at;
  std::string id = "task";
  std::string input = "{}";  // JSON text
  std::vector<v1::Label> labels;
  std::int32_t priority = 0;
  std::int64_t start_unix_ms = 0;
  std::int64_t stop_at_ms = 0;  // 0: at the end
  std::vector<answer_script> agents;
  std::vector<test_action> actions;
  case_expectation expect;
};

struct test_file {
  std::string file;
  workflow_file workflow;
  std::vector<answer_script> agents;  // of all cases that say nothing else
  std::vector<test_case> cases;
  std::vector<problem> problems;  // of this file and of the workflow's
};

/// Reads the file and the workflow that it names, and checks everything but the expressions of the workflow.
test_file read_test_file(const std::string& path);
/// `text` stands for the content of `file`; the workflow is read from its own file.
test_file parse_test_file(const std::string& file, const std::string& text);

/// The longest duration that may be given.
inline constexpr std::int64_t longest_in_tests_ms = 3'660LL * 24 * 3'600'000;
/// The end of a task that a node would not take.
inline constexpr const char* refused_word = "refused";
/// Stands for any number of other names.
inline constexpr const char* others_word = "...";
inline constexpr const char* undo_of = "undo of ";
inline constexpr const char* lookup_of = "lookup of ";

}  // namespace fairlead::app
