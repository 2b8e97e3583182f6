#include "app/agent_check/tester.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "actors/core/text/text.hpp"

namespace fairlead::app::agent_check {

namespace {

constexpr std::int64_t quiet_ms = 600;         // how long the end of a lesson is looked at
constexpr std::int64_t long_quiet_ms = 1'700;  // the same, where something must not come again
constexpr std::int64_t slack_ms = 300;         // of a request's way
constexpr const char* workers_path = "/v1/workers";

/// The value of `key=…`; percent-encoded bytes are decoded.
std::string key_of_query(const std::string& query) {
  const auto begin = query.find("key=");
  if (begin == std::string::npos) return {};
  const auto text = query.substr(begin + 4, query.find('&', begin) - begin - 4);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      unsigned char byte = 0;
      std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

tester::tester(plan what) : plan_(std::move(what)) {}

reply tester::problem(unsigned status, const std::string& code, const std::string& sentence) {
  return {.status = status, .body = json{{"code", code}, {"status", status}, {"title", code}, {"detail", sentence}}.dump()};
}

reply tester::busy(const std::string& sentence) {
  auto out = problem(503, "unavailable", sentence);
  out.retry_after_s = 1;
  return out;
}

/// What was said of a rule before is not said again, and of one rule not everything.
void tester::blame(rule which, const std::string& sentence) {
  constexpr std::ptrdiff_t most_of_a_rule = 5;
  constexpr std::size_t most_bytes = 400;
  const auto text = core::clean_text(sentence, most_bytes);
  see(which);
  const auto is_of_it = [&](const finding& one) { return one.broken == which; };
  const auto is_known = [&](const finding& one) { return is_of_it(one) && one.sentence.starts_with(text + " (in lesson "); };
  if (std::any_of(findings_.begin(), findings_.end(), is_known)) return;
  if (std::count_if(findings_.begin(), findings_.end(), is_of_it) < most_of_a_rule)
    findings_.push_back({which, text + " (in lesson " + now_at() + ")"});
}

verdict tester::of(rule which) const {
  if (std::any_of(findings_.begin(), findings_.end(), [&](const finding& one) { return one.broken == which; })) return verdict::broken;
  return seen_[static_cast<std::size_t>(which)] ? verdict::kept : verdict::not_seen;
}

std::string tester::now_at() const {
  if (lesson_ >= plan_.lessons.size()) return "the end";
  return std::to_string(lesson_ + 1) + ": " + at().name;
}

reply tester::on_request(const asked& what, std::int64_t now) {
  if (what.path.starts_with(service_path)) return on_service(what, now);
  last_request_ = now;
  if (lost_node_ == what.node) return busy("The node ends.");
  if (what.path == workers_path && what.method == "POST") return on_register(what, now);
  const std::string prefix = std::string{workers_path} + "/";
  if (!what.path.starts_with(prefix)) {
    blame(rule::requests, "there is no " + what.method + " " + what.path);
    return problem(404, "not_found", "There is no such path.");
  }
  const auto rest = what.path.substr(prefix.size());
  const auto slash = rest.find('/');
  const auto id = rest.substr(0, slash);
  const auto verb = slash == std::string::npos ? std::string{} : rest.substr(slash + 1);
  if (!worker_ || worker_->id != id || worker_->gone || worker_->node != what.node) {
    if (worker_ && worker_->gone && ++worker_->takes_after_end == 6)
      blame(rule::session, "the agent goes on with its old session, which was answered with 410");
    return problem(410, "gone", "The session has ended; register again.");
  }
  return on_worker_request(what, verb, now);
}

reply tester::on_worker_request(const asked& what, const std::string& verb, std::int64_t now) {
  if (what.method == "DELETE" && verb.empty()) return on_end_of_worker(what, now);
  const auto body = json::parse(what.body.empty() ? "{}" : what.body, nullptr, false);
  if (what.method != "POST" || !body.is_object()) {
    blame(rule::requests, what.method + " " + what.path + " is no POST with an object of JSON");
    return problem(400, "bad_request", "The body must be a JSON object.");
  }
  if (verb == "take") return on_take(body, now);
  if (verb == "heartbeats") return on_heartbeats(body, now);
  if (verb == "outcomes") return on_outcomes(body, now);
  if (verb == "drain") return {.status = 202, .body = "{}"};
  blame(rule::requests, "there is no POST " + what.path);
  return problem(404, "not_found", "There is no such path.");
}

reply tester::on_end_of_worker(const asked& what, std::int64_t now) {
  const auto* one = current_ && !over_ ? &attempts_[*current_] : nullptr;
  const bool holds = one != nullptr && !one->closed && !one->answer_lost && one->told_not_held_at == 0 && now < one->lease_end;
  if (holds && what.query.find("abandon=true") == std::string::npos)
    return problem(409, "wrong_state", "The worker holds an attempt. Report its outcome first, or add abandon=true.");
  over_ = true;
  return {.status = 204};
}

/// Of a request to the service while an undo is held, or before.
void tester::judge_undo(const asked& what) {
  const auto as = what.path + "?" + what.query + " " + what.body;
  const auto direction = current_ ? at().direction : std::string{};
  if (direction == "perform") performed_as_.insert(as);
  if (direction != "undo") return;
  const auto& one = attempts_[*current_];
  if (what.key == one.perform_key)
    blame(rule::key, "the service was asked for the undo " + name_of(one) + " under the key of its perform, not under that of the undo");
  else if (what.key == one.key && performed_as_.count(as) > 0)
    blame(rule::requests, "the service was asked for the undo " + name_of(one) +
                              " just as for a perform; end an undo that the agent does not know with a fault");
}

reply tester::on_service(const asked& what, std::int64_t now) {
  if (what.method == "GET") {
    const auto key = key_of_query(what.query);
    return effects_.count(key) > 0 ? reply{.status = 200, .body = json{{"sent", true}, {"key", key}}.dump()}
                                   : problem(410, "gone", "The key has no effect, and never will have one.");
  }
  served_ = true;
  see(rule::key);
  if (!what.key) {
    blame(rule::key, "a request to the service has no Idempotency-Key");
    return problem(400, "bad_request", "There is no Idempotency-Key.");
  }
  judge_undo(what);
  const auto found = std::find_if(attempts_.rbegin(), attempts_.rend(), [&](const attempt& one) { return one.key == *what.key; });
  if (found == attempts_.rend()) {
    blame(rule::key, "the service was asked under the key '" + *what.key + "', which no attempt has");
    return {.status = 200, .body = json{{"sent", true}}.dump()};
  }
  auto& one = *found;
  ++one.service_requests;
  const bool is_current = current_ && &attempts_[*current_] == &one;
  if (!is_current) return {.status = 200, .body = json{{"sent", true}}.dump()};
  const auto& of = at();
  if (of.outcome == outcome_wanted::no && of.service == service_answer::at_once)
    blame(of.about, "the service was asked for " + name_of(one) + ", whose lease was over");
  if (of.twice && one.service_requests > 1)
    blame(rule::held,
          "the service was asked " + std::to_string(one.service_requests) + " times for " + name_of(one) + ", which came twice");
  if (of.service == service_answer::cut) return {.status = 200, .body = json{{"sent", true}}.dump(), .cut = true};
  effects_[*what.key] = true;
  static_cast<void>(now);
  return {.status = 200,
          .body = json{{"sent", true}, {"key", *what.key}}.dump(),
          .after_ms = of.service == service_answer::late ? service_late_ms : 0};
}

bool tester::can_be_taught(const lesson& one) const {
  if (one.needs_service && !served_) return false;
  if (one.twice && worker_->capacity < 2) return false;
  if (one.ends_agent && !plan_.can_end) return false;
  if (one.loses_node && !plan_.two_nodes) return false;
  if (one.direction != "lookup") return true;
  const auto& call = plan_.call;
  return std::find(worker_->lookups.begin(), worker_->lookups.end(), call) != worker_->lookups.end();
}

void tester::begin_lesson(std::int64_t now) {
  while (lesson_ < plan_.lessons.size() && !can_be_taught(at())) ++lesson_;
  over_ = over_ || lesson_ >= plan_.lessons.size();
  current_.reset();
  lesson_since_ = now;
  quiet_since_ = 0;
  gone_told_ = registered_again_ = false;
}

void tester::end_lesson(std::int64_t now) {
  ++lesson_;
  begin_lesson(now);
}

void tester::on_time(std::int64_t now) {
  if (!worker_ || over_) return;
  const auto& of = at();
  if (of.gone_take && registered_again_ && quiet_since_ == 0) quiet_since_ = now;
  if (current_) {
    const auto& one = attempts_[*current_];
    const bool silent = of.outcome != outcome_wanted::yes && one.handed_at > 0 && now > one.lease_end + of.late_ms + service_late_ms;
    const bool not_held = of.not_held && one.handed_at > 0 && now > one.handed_at + service_late_ms + 2 * quiet_ms;
    if (quiet_since_ == 0 && (one.closed || (silent && !of.not_held) || not_held)) quiet_since_ = now;
  }
  if (quiet_since_ > 0) {
    const bool something_must_not_come = of.twice || (!of.outcomes.empty() && of.outcomes.back() == outcome_answer::not_held);
    if (now - quiet_since_ < (something_must_not_come ? long_quiet_ms : quiet_ms)) return;
    if (of.not_held && attempts_[*current_].service_requests > 0 && attempts_[*current_].heartbeats == 0)
      blame(rule::requests, "no heartbeat came for " + name_of(attempts_[*current_]) + ", which needs one every " +
                                std::to_string(of.heartbeat_ms) + " ms");
    see(of.about);
    end_lesson(now);
  } else if (now - lesson_since_ > of.limit_ms) {
    judge_missing(now);
    // Without a session, or without any request, there is nobody left to be taught.
    if (worker_->gone || now - last_request_ > of.limit_ms - slack_ms) over_ = true;
    if (!over_) end_lesson(now);
  }
}

std::optional<int> tester::node_to_lose() {
  if (lost_node_ || !service_has_current() || !at().loses_node) return std::nullopt;
  // The other node knows nothing of the worker.
  worker_->gone = true;
  return lost_node_ = worker_->node;
}

bool tester::is_time_to_end() {
  if (told_to_end_ || !service_has_current() || !at().ends_agent) return false;
  told_to_end_ = true;
  return true;
}

void tester::on_end(const std::string& how) {
  if (over_) return;
  if (worker_ && !told_to_end_)
    blame(at().about, "the agent " + how);
  else if (worker_ && current_ && !attempts_[*current_].closed)
    blame(rule::requests, "after SIGTERM the agent " + how + " while it held " + name_of(attempts_[*current_]) +
                              "; finish what is held, or end the worker with abandon=true");
  over_ = true;
}

}  // namespace fairlead::app::agent_check
