#include "actors/core/task/task.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/task/operate.hpp"
#include "app/cli/words.hpp"
#include "app/json/node/task_action.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {

namespace {

std::string tasks_text(std::uint64_t count) { return count == 1 ? "1 task" : std::to_string(count) + " tasks"; }

}  // namespace

void operate_tally::add(const v1::OperateResult& answer) {
  if (answer.error().code() == v1::ERROR_CODE_OK) {
    ++done_;
    return;
  }
  auto why = error::from_proto(answer.error());
  auto& group = groups_[std::string{code_word(why.code)} + " " + without_id(why.sentence, answer.id())];
  if (group.tasks++ == 0) {
    group.example = answer.id();
    group.sentence = why.sentence;
  }
  refusals_.push_back({answer.id(), std::move(why)});
}

std::string operate_tally::text(const std::string& done) const {
  auto out = done + " for " + std::to_string(done_) + " of " + tasks_text(tasks_);
  if (!refusals_.empty()) out += ", refused for " + std::to_string(refusals_.size());
  if (answered() < tasks_) out += ", outcome unknown for " + std::to_string(tasks_ - answered());
  out += ".\n";
  if (groups_.empty()) return out;
  text_table table{{{"TASKS", align::right}, {"FOR EXAMPLE"}, {"REFUSED BECAUSE", align::left, narrow::below}}};
  for (const auto& [reason, group] : groups_) table.add({std::to_string(group.tasks), group.example, group.sentence});
  return out + "\n" + table.text();
}

std::string operate_tally::json(const std::string& verb, bool dry_run) const {
  json_writer out;
  out.begin_object().key("action").string(verb);
  if (dry_run) out.key("dry_run").boolean(true);
  out.key("count").number(tasks_).key("done").number(done_);
  out.key("refused").number(std::uint64_t{refusals_.size()}).key("unknown").number(tasks_ - answered());
  out.key("left_to_parents").number(children_).key("refusals").begin_array();
  for (const auto& one : refusals_) {
    out.begin_object().key("id").string(one.id).key("code").string(code_word(one.why.code));
    out.key("error").string(one.why.sentence).key("remedy").string(one.why.remedy).end_object();
  }
  return out.end_array().end_object().text();
}

}  // namespace fairlead::app
