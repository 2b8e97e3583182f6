#include "app/access/audit_list.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/core/request_limits.hpp"
#include "actors/core/text/json.hpp"
#include "app/door/problem.hpp"
#include "app/json/writer.hpp"
#include "messages/ids.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t day_bytes = 10;  // 2026-11-24

/// As an entry has it: keys are never inside of a text, where quotes are escaped.
std::string member_text(const char* key, const std::string& text) {
  json_writer out;
  return "\"" + std::string{key} + "\":" + out.string(text).text();
}

std::string text_of(std::string_view entry, std::string_view key) {
  const auto found = core::json_member(entry, key);
  return found && found->starts_with('"') ? core::decode_json_string(*found) : std::string{};
}

/// Moments are written in one form, which has their order. Entries without one are older than all others.
std::string_view moment_of(std::string_view entry) { return core::json_member(entry, "at").value_or(""); }
std::string as_member(std::int64_t unix_ms) { return "\"" + format_utc(unix_ms) + "\""; }

v1::AuditEntry parse_entry(std::string_view entry) {
  v1::AuditEntry out;
  std::int64_t at = 0;
  if (parse_utc(text_of(entry, "at"), at)) out.set_at_unix_ms(at);
  out.set_kind(text_of(entry, "kind"));
  out.set_who(text_of(entry, "who"));
  out.set_token(text_of(entry, "token"));
  out.set_from(text_of(entry, "from"));
  out.set_request_id(text_of(entry, "request_id"));
  out.set_method(text_of(entry, "method"));
  out.set_path(text_of(entry, "path"));
  out.set_object(text_of(entry, "object"));
  out.set_verb(text_of(entry, "verb"));
  out.set_reason(text_of(entry, "reason"));
  out.set_state_after(text_of(entry, "state_after"));
  out.set_code(text_of(entry, "code"));
  std::uint32_t status = 0;
  if (const auto found = core::json_member(entry, "status")) std::from_chars(found->data(), found->data() + found->size(), status);
  out.set_status(status);
  return out;
}

}  // namespace

v1::AuditListReply read_audit(const audit_log& from, const v1::AuditListRequest& what) {
  std::vector<std::string> members;
  const auto want = [&members](const char* key, const std::string& text) {
    if (!text.empty()) members.push_back(member_text(key, text));
  };
  want("who", what.who());
  want("token", what.token());
  want("object", what.object());
  want("verb", what.verb());
  want("path", what.path());
  want("code", what.code());
  const auto since = what.since_unix_ms() == 0 ? std::string{} : as_member(what.since_unix_ms());
  const auto until = what.until_unix_ms() == 0 ? std::string{} : as_member(what.until_unix_ms());
  auto cursor = what.cursor();
  // The files of later days have later entries only.
  if (cursor.empty() && !until.empty()) cursor = until.substr(1, day_bytes) + "-999:18446744073709551615";
  const auto found = from.read(
      cursor, page_size_of(what.page_size()),
      [&](std::string_view entry) {
        if (!until.empty() && moment_of(entry) >= until) return false;
        if (!since.empty() && moment_of(entry) < since) return false;
        return std::all_of(members.begin(), members.end(),
                           [&](const std::string& one) { return entry.find(one) != std::string_view::npos; });
      },
      since.empty() ? since : since.substr(1, day_bytes));
  v1::AuditListReply out;
  if (!found) {
    *out.mutable_error() = found.failure().to_proto();
    return out;
  }
  for (std::size_t i = 0; i < found->entries.size(); ++i) {
    auto& one = *out.add_items();
    one = parse_entry(found->entries[i]);
    one.set_place(found->places[i]);
  }
  out.set_begin(found->begin);
  out.set_cursor(found->cursor);
  return out;
}

void set_end(audit_entry& of, v1::ErrorCode end) {
  of.status = 200;
  of.code = {};
  if (end == v1::ERROR_CODE_OK) return;
  of.code = door::problem_of(error{end, "", ""}).code;
  const auto* const kind = door::find_problem_kind(of.code);
  of.status = kind == nullptr ? 500 : kind->status;
}

audit_entry with_deed(audit_entry of, const noted_request& what) {
  of.at_unix_ms = what.entry.at_unix_ms();
  of.method = what.entry.method();
  of.path = what.entry.path();
  of.object = what.entry.object();
  of.verb = what.entry.verb();
  of.reason = what.entry.reason();
  of.state_after = what.entry.state_after();
  set_end(of, what.end);
  return of;
}

void note_all(audit_log& to, const std::vector<audit_entry>& all, std::function<void(const status&)> then) {
  struct round {
    std::mutex guard;
    std::size_t missing = 0;
    status worst = nothing{};
    std::function<void(const status&)> then;
  };
  const auto part = std::make_shared<round>();
  part->missing = all.size();
  part->then = std::move(then);
  for (const auto& one : all)
    to.note(one, [part](const status& written) {
      const std::lock_guard lock{part->guard};
      if (!written.ok()) part->worst = written;
      if (--part->missing == 0) part->then(part->worst);
    });
}

namespace {

class audit_of_node final : public audit_port {
 public:
  audit_of_node(std::shared_ptr<audit_log> log, const clock& time) : log_(std::move(log)), time_(time) {}

  v1::AuditListReply read(const v1::AuditListRequest& what) const override { return read_audit(*log_, what); }
  bool is_sound() const override { return log_->is_sound(); }

  void note(std::vector<noted_request> what, std::function<void(const status&)> then) override {
    std::vector<audit_entry> all;
    for (const auto& one : what) {
      audit_entry of;
      of.kind = "program";
      of.who = one.entry.who();
      of.request_id = make_uuid_v7(to_unix_ms(time_.now()));
      all.push_back(with_deed(std::move(of), one));
    }
    note_all(*log_, all, std::move(then));
  }

 private:
  const std::shared_ptr<audit_log> log_;
  const clock& time_;
};

}  // namespace

std::shared_ptr<audit_port> audit_port_of(std::shared_ptr<audit_log> audit, const clock& time) {
  return std::make_shared<audit_of_node>(std::move(audit), time);
}

}  // namespace fairlead::app
