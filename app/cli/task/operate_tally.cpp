#include "actors/core/task/task.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/task/operate.hpp"
#include "app/cli/words.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {

namespace {

bool part_of_id(char c) { return c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The sentence without the task's id. An id inside a longer word (`1` in `t-1`) stays.
std::string without_id(const std::string& sentence, const std::string& id) {
  std::string out;
  std::size_t from = 0;
  for (auto at = sentence.find(id); at != std::string::npos; at = sentence.find(id, at + 1)) {
    if (at < from) continue;
    const auto after = at + id.size();
    if ((at > 0 && part_of_id(sentence[at - 1])) || (after < sentence.size() && part_of_id(sentence[after]))) continue;
    out += sentence.substr(from, at - from) + "ID";
    from = after;
  }
  return out + sentence.substr(from);
}

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

std::string operate_tally::text() const {
  auto out = "Done for " + std::to_string(done_) + " of " + tasks_text(tasks_);
  if (!refusals_.empty()) out += ", refused for " + std::to_string(refusals_.size());
  if (answered() < tasks_) out += ", outcome unknown for " + std::to_string(tasks_ - answered());
  out += ".\n";
  if (groups_.empty()) return out;
  text_table table{{{"TASKS", align::right}, {"FOR EXAMPLE"}, {"REFUSED BECAUSE", align::left, narrow::below}}};
  for (const auto& [reason, group] : groups_) table.add({std::to_string(group.tasks), group.example, group.sentence});
  return out + "\n" + table.text();
}

std::string operate_tally::json(const std::string& verb) const {
  json_writer out;
  out.begin_object().key("action").string(verb).key("count").number(tasks_).key("done").number(done_);
  out.key("refused").number(std::uint64_t{refusals_.size()}).key("unknown").number(tasks_ - answered()).key("refusals").begin_array();
  for (const auto& one : refusals_) {
    out.begin_object().key("id").string(one.id).key("code").string(code_word(one.why.code));
    out.key("error").string(one.why.sentence).key("remedy").string(one.why.remedy).end_object();
  }
  return out.end_array().end_object().text();
}

}  // namespace fairlead::app
