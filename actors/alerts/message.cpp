#include "actors/alerts/message.hpp"

#include "actors/core/alert_words.hpp"
#include "actors/core/text/json.hpp"
#include "messages/time.hpp"

namespace fairlead {

namespace {

/// The members of one JSON object, in the order in which they are added.
class members {
 public:
  members& raw(std::string_view name, std::string_view json) {
    text_ += text_.empty() ? '{' : ',';
    core::append_json_string(text_, name);
    text_ += ':';
    text_ += json;
    return *this;
  }
  members& text(std::string_view name, std::string_view value) {
    std::string json;
    core::append_json_string(json, value);
    return raw(name, json);
  }
  members& text_or_null(std::string_view name, std::string_view value) { return value.empty() ? raw(name, "null") : text(name, value); }
  members& number(std::string_view name, std::uint64_t value) { return raw(name, std::to_string(value)); }
  std::string end() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};

std::string key_of(std::string_view node, const std::string& which) { return "fairlead-alert/" + std::string{node} + "/" + which; }

}  // namespace

void alert_digest::add(const v1::AlertRecord& alert) {
  if (count++ == 0) {
    first = alert.number();
    first_raised_unix_ms = alert.raised_at_unix_ms();
  }
  last = alert.number();
  last_raised_unix_ms = alert.raised_at_unix_ms();
  ++kinds[core::alert_kind_word(alert.kind())];
}

namespace {

alert_message about_one(const alert_origin& from, const v1::AlertRecord& alert, bool end) {
  members about;
  about.number("number", from.shown(alert.number())).text("kind", core::alert_kind_word(alert.kind()));
  about.text("state", core::alert_state_word(alert.state())).text_or_null("task", alert.task_id());
  about.text_or_null("workflow", alert.workflow()).text_or_null("step", alert.step()).text_or_null("job", alert.job());
  about.text_or_null("agent", alert.agent());
  if (alert.tasks() != 0) about.number("tasks", alert.tasks());
  about.text("sentence", alert.sentence()).text("remedy", alert.remedy());
  about.text("raised_at", format_utc(alert.raised_at_unix_ms()));
  if (end) about.text("resolved_at", format_utc(alert.resolved_at_unix_ms()));

  alert_message out;
  out.last = alert.number();
  out.end = end;
  out.body = members{}.text("node", from.node).text("event", end ? "resolved" : "raised").raw("alert", about.end()).end();
  out.number = std::to_string(from.shown(alert.number()));
  out.key = key_of(from.node, out.number + (end ? "/resolved" : ""));
  out.kind = core::alert_kind_word(alert.kind());
  out.task = alert.task_id();
  return out;
}

}  // namespace

alert_message message_of(const alert_origin& from, const v1::AlertRecord& alert) { return about_one(from, alert, false); }

alert_message end_message_of(const alert_origin& from, const v1::AlertRecord& alert) { return about_one(from, alert, true); }

alert_message message_of(const alert_origin& from, const alert_digest& digest) {
  members kinds;
  for (const auto& [kind, count] : digest.kinds) kinds.number(kind, count);
  members about;
  about.number("count", digest.count).number("first", from.shown(digest.first)).number("last", from.shown(digest.last));
  about.text("first_raised_at", format_utc(digest.first_raised_unix_ms)).text("last_raised_at", format_utc(digest.last_raised_unix_ms));
  about.raw("kinds", kinds.end());
  about.text("sentence", std::to_string(digest.count) + " alerts were raised too fast to send each of them to this receiver.");
  about.text("remedy", "fairlead alert list");

  alert_message out;
  out.last = digest.last;
  out.body = members{}.text("node", from.node).raw("digest", about.end()).end();
  out.number = std::to_string(from.shown(digest.last));
  out.key = key_of(from.node, std::to_string(from.shown(digest.first)) + "-" + out.number);
  out.kind = "digest";
  return out;
}

}  // namespace fairlead
