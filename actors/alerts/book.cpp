#include "actors/alerts/book.hpp"

#include <utility>

#include "actors/core/alert_words.hpp"
#include "store/rows/alert_rows.hpp"

namespace fairlead {

std::uint64_t alert_book::raise(v1::AlertRecord draft, const page& to) {
  // A new alert must take nothing from an earlier alert's life.
  v1::AlertRecord record;
  record.set_number(to.shard.next_alert() + 1);
  record.set_kind(draft.kind());
  record.set_state(v1::ALERT_STATE_OPEN);
  record.set_task_id(std::move(*draft.mutable_task_id()));
  record.set_workflow(std::move(*draft.mutable_workflow()));
  record.set_step(std::move(*draft.mutable_step()));
  record.set_job(std::move(*draft.mutable_job()));
  record.set_agent(std::move(*draft.mutable_agent()));
  record.set_tasks(draft.tasks());
  record.set_node(std::move(*draft.mutable_node()));
  record.set_certificate(draft.certificate());
  record.set_certificate_ends_at_unix_ms(draft.certificate_ends_at_unix_ms());
  record.set_sentence(std::move(*draft.mutable_sentence()));
  record.set_remedy(std::move(*draft.mutable_remedy()));
  record.set_raised_at_unix_ms(to_unix_ms(to.now));
  to.shard.set_next_alert(record.number());
  to.shard.set_unresolved_alerts(to.shard.unresolved_alerts() + 1);
  write(record, to);
  return record.number();
}

status alert_book::resolve(std::uint64_t number, const page& to, const store::snapshot& committed) {
  auto found = find(number, committed);
  if (!found) return found.failure().code == v1::ERROR_CODE_NOT_FOUND ? status(nothing{}) : found.failure();
  if (!store::is_unresolved(*found)) return nothing{};
  found->set_state(v1::ALERT_STATE_RESOLVED);
  found->set_resolved_at_unix_ms(to_unix_ms(to.now));
  to.shard.set_unresolved_alerts(to.shard.unresolved_alerts() - 1);
  write(*found, to);
  return nothing{};
}

status alert_book::change(std::uint64_t number, const page& to, const store::snapshot& committed,
                          const std::function<void(v1::AlertRecord&)>& how) {
  auto found = find(number, committed);
  if (!found) return found.failure().code == v1::ERROR_CODE_NOT_FOUND ? status(nothing{}) : found.failure();
  how(*found);
  write(*found, to);
  return nothing{};
}

result<bool> alert_book::restate(std::uint64_t number, const v1::AlertRecord& draft, const page& to, const store::snapshot& committed) {
  if (number == 0) return false;
  auto found = find(number, committed);
  if (!found) return found.failure().code == v1::ERROR_CODE_NOT_FOUND ? result<bool>{false} : found.failure();
  if (!store::is_unresolved(*found) || found->kind() != draft.kind() || found->step() != draft.step()) return false;
  if (found->sentence() == draft.sentence() && found->remedy() == draft.remedy()) return true;
  found->set_sentence(draft.sentence());
  found->set_remedy(draft.remedy());
  write(*found, to);
  return true;
}

result<v1::AlertRecord> alert_book::acknowledge(std::uint64_t number, const std::string& who, const std::string& note, const page& to,
                                                const store::snapshot& committed) {
  auto found = find(number, committed);
  if (!found || found->state() == v1::ALERT_STATE_ACKNOWLEDGED) return found;
  if (!store::is_unresolved(*found)) {
    return error{v1::ERROR_CODE_WRONG_STATE,
                 "Alert " + std::to_string(number) + " was resolved at " + format_utc(found->resolved_at_unix_ms()) +
                     "; only open alerts can be acknowledged.",
                 "The alert needs no action any more; `fairlead alert list` shows the unresolved alerts."};
  }
  const auto over = core::only_reports(found->kind());
  found->set_state(over ? v1::ALERT_STATE_RESOLVED : v1::ALERT_STATE_ACKNOWLEDGED);
  if (over) {
    found->set_resolved_at_unix_ms(to_unix_ms(to.now));
    to.shard.set_unresolved_alerts(to.shard.unresolved_alerts() - 1);
  }
  found->set_acknowledged_at_unix_ms(to_unix_ms(to.now));
  found->set_acknowledged_by(who);
  found->set_note(note);
  write(*found, to);
  return found;
}

void alert_book::committed_up_to(std::uint64_t sequence) {
  for (auto it = fresh_.begin(); it != fresh_.end();) it = it->second.sequence <= sequence ? fresh_.erase(it) : std::next(it);
}

result<v1::AlertRecord> alert_book::find(std::uint64_t number, const store::snapshot& committed) const {
  if (auto it = fresh_.find(number); it != fresh_.end()) return it->second.record;
  auto loaded = store::load_alert(committed, number);
  if (!loaded) return loaded.failure();
  if (!loaded->has_value()) {
    return error{v1::ERROR_CODE_NOT_FOUND, "There is no alert " + std::to_string(number) + ".",
                 "`fairlead alert list --all` shows all alerts."};
  }
  return std::move(**loaded);
}

void alert_book::write(const v1::AlertRecord& record, const page& to) {
  store::put_alert(to.out, record);
  fresh_[record.number()] = {record, to.sequence};
}

}  // namespace fairlead
