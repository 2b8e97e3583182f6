#include "app/json/job/operations.hpp"

#include "app/files/job_words.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

void write_job_applied(json_writer& out, const v1::JobApplyResult& one) {
  out.begin_object().key("job").string(one.name()).key("created").boolean(one.created()).key("changed").boolean(one.changed());
  out.key("next").moment(one.next_unix_ms()).key("warnings").begin_array();
  for (const auto& warning : one.warnings()) out.string(warning);
  out.end_array().key("code").string(code_word(one.error().code())).key("error").string(one.error().sentence());
  out.key("remedy").string(one.error().remedy()).end_object();
}

std::string job_applied_json(const std::vector<v1::JobApplyResult>& done) {
  json_writer out;
  out.begin_object().key("jobs").begin_array();
  for (const auto& one : done) write_job_applied(out, one);
  return out.end_array().end_object().text();
}

void write_job_operated(json_writer& out, const v1::JobOperateResult& one) {
  out.begin_object().key("job").string(one.name()).key("launch").text_or_null(one.launch());
  out.key("state");
  one.state() == v1::LAUNCH_STATE_UNSPECIFIED ? out.null() : out.string(launch_state_word(one.state()));
  out.key("sentence").string(one.sentence()).key("launches").number(std::uint64_t{one.launches()});
  out.key("passed_over").number(std::uint64_t{one.passed_over()}).key("times").begin_array();
  for (const auto at_ms : one.times_unix_ms()) out.moment(at_ms);
  out.end_array().key("code").string(code_word(one.error().code()));
  out.key("error").string(one.error().sentence()).key("remedy").string(one.error().remedy()).end_object();
}

std::string job_operated_json(const std::vector<v1::JobOperateResult>& results) {
  json_writer out;
  out.begin_object().key("results").begin_array();
  for (const auto& one : results) write_job_operated(out, one);
  return out.end_array().end_object().text();
}

}  // namespace fairlead::app
