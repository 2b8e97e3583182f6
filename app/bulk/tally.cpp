#include "app/bulk/tally.hpp"

#include "actors/core/text/text.hpp"
#include "app/json/api_request.hpp"
#include "app/json/fields.hpp"
#include "app/json/node/task_action.hpp"

namespace fairlead::app::bulk {

namespace {

/// Kinds of refusals that are told apart, and the longest sentence: a checkpoint has 64 KiB.
constexpr std::size_t most_groups = 20;
constexpr std::size_t longest_sentence = 300;

}  // namespace

void tally::add(const v1::OperateResult& answer) {
  if (answer.error().code() == v1::ERROR_CODE_OK) return void(++done_);
  ++refused_;
  const auto& why = answer.error();
  auto key = std::string{code_word(why.code())} + " " + core::clean_text(without_id(why.sentence(), answer.id()), longest_sentence);
  if (groups_.size() >= most_groups && !groups_.contains(key)) key = "other";
  auto& group = groups_[key];
  if (group.tasks++ != 0) return;
  group = {1, answer.id(), code_word(why.code()), core::clean_text(why.sentence(), longest_sentence),
           core::clean_text(why.remedy(), longest_sentence)};
}

void tally::write(json_writer& out, bool with_help) const {
  out.key("done").number(done_).key("refused").number(refused_).key("refusals").begin_array();
  for (const auto& [key, one] : groups_) {
    out.begin_object().key("tasks").number(one.tasks).key("example").string(one.example).key("code").string(one.code);
    out.key("error").string(one.sentence);
    with_help ? write_remedy(out, one.remedy) : void(out.key("remedy").string(one.remedy));
    out.end_object();
  }
  out.end_array();
}

std::string tally::text() const {
  json_writer out;
  // Earlier releases read it, and know no help.
  write(out.begin_object(), false);
  out.key("stopped").boolean(stopped).key("cursor").string(cursor).key("next_id").number(next_id).key("keys").begin_array();
  for (const auto& one : groups_) out.string(one.first);
  out.end_array();
  // Earlier releases know no such members.
  if (!aside.empty()) {
    out.key("over").boolean(over).key("aside").begin_array();
    for (const auto& id : aside) out.string(id);
    out.end_array();
  }
  return out.end_object().text();
}

tally tally::of(std::string_view text) {
  tally out;
  std::vector<group> groups;
  std::vector<std::string> keys;
  const auto read_group = [&groups](std::size_t, std::string_view value, std::string& pointer) {
    auto& one = groups.emplace_back();
    return read_json_object(value, "A refusal",
                            {{"tasks", number_into(one.tasks)},
                             {"example", text_into(one.example)},
                             {"code", text_into(one.code)},
                             {"error", text_into(one.sentence)},
                             {"remedy", text_into(one.remedy)}},
                            pointer);
  };
  std::string pointer;
  const auto read = read_json_object(text, "The checkpoint",
                                     {{"done", number_into(out.done_)},
                                      {"refused", number_into(out.refused_)},
                                      {"refusals", each_into(most_groups + 1, read_group, 0)},
                                      {"stopped", flag_into(out.stopped)},
                                      {"cursor", text_into(out.cursor)},
                                      {"next_id", number_into(out.next_id)},
                                      {"keys", texts_into(keys, most_groups + 1, 0)},
                                      {"over", flag_into(out.over)},
                                      {"aside", texts_into(out.aside, most_aside_bytes, 0)}},
                                     pointer);
  if (!read || keys.size() != groups.size()) return {};
  for (std::size_t i = 0; i < keys.size(); ++i) out.groups_[keys[i]] = std::move(groups[i]);
  return out;
}

}  // namespace fairlead::app::bulk
