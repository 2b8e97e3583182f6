#pragma once
// All payloads of a task, for those who store, copy, shorten or hide them.

#include <type_traits>

#include "messages/task.pb.h"

namespace fairlead {

/// Calls `visit(payload)` for each JSON value of the record: the task's input, item and output, the data of its signals, then every step's
/// input, output, input of its undo, checkpoint, early answer and outputs of items.
template <class Record, class Visitor>
void for_each_value(Record& record, Visitor&& visit) {
  if constexpr (std::is_const_v<Record>) {
    visit(record.input());
    visit(record.item());
    visit(record.output());
    for (const auto& signal : record.signals()) visit(signal.data());
    for (const auto& step : record.steps()) {
      visit(step.input());
      visit(step.output());
      visit(step.undo_input());
      visit(step.progress().checkpoint());
      visit(step.early_answer().output());
      for (const auto& part : step.items().outputs()) visit(part);
    }
  } else {
    if (record.has_input()) visit(*record.mutable_input());
    if (record.has_item()) visit(*record.mutable_item());
    if (record.has_output()) visit(*record.mutable_output());
    for (auto& signal : *record.mutable_signals()) visit(*signal.mutable_data());
    for (auto& step : *record.mutable_steps()) {
      if (step.has_input()) visit(*step.mutable_input());
      if (step.has_output()) visit(*step.mutable_output());
      if (step.has_undo_input()) visit(*step.mutable_undo_input());
      if (step.progress().has_checkpoint()) visit(*step.mutable_progress()->mutable_checkpoint());
      if (step.early_answer().has_output()) visit(*step.mutable_early_answer()->mutable_output());
      if (!step.has_items()) continue;
      for (auto& part : *step.mutable_items()->mutable_outputs()) visit(part);
    }
  }
}

/// The same, and then the logs of its steps.
template <class Record, class Visitor>
void for_each_payload(Record& record, Visitor&& visit) {
  for_each_value(record, visit);
  if constexpr (std::is_const_v<Record>) {
    for (const auto& step : record.steps()) visit(step.log().text());
  } else {
    for (auto& step : *record.mutable_steps())
      if (step.log().has_text()) visit(*step.mutable_log()->mutable_text());
  }
}

}  // namespace fairlead
