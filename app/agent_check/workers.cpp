// Registrations and takes.

#include <algorithm>
#include <utility>

#include "app/agent_check/tester.hpp"

namespace fairlead::app::agent_check {

namespace {

constexpr std::int64_t idle_answer_ms = 200;  // how long a take waits when there is nothing
constexpr std::int64_t most_wait_ms = 60'000;

std::string text_in(const nlohmann::json& what, const char* field) {
  const auto found = what.find(field);
  return found != what.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::vector<std::string> texts_in(const nlohmann::json& what, const char* field) {
  std::vector<std::string> out;
  const auto found = what.find(field);
  if (found == what.end() || !found->is_array()) return out;
  for (const auto& one : *found)
    if (one.is_string()) out.push_back(one.get<std::string>());
  return out;
}

std::int64_t number_in(const nlohmann::json& what, const char* field, std::int64_t otherwise) {
  const auto found = what.find(field);
  return found != what.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

}  // namespace

reply tester::on_register(const asked& what, std::int64_t now) {
  const auto body = json::parse(what.body, nullptr, false);
  if (!body.is_object() || text_in(body, "agent").empty() || text_in(body, "instance").empty() || texts_in(body, "calls").empty()) {
    blame(rule::requests, "a registration lacks `agent`, `instance` or `calls`");
    return problem(400, "bad_request", "The body must be an object with agent, instance and calls.");
  }
  if (!plan_.agent.empty() && plan_.agent != text_in(body, "agent")) {
    blame(rule::requests, "the agent registers as '" + text_in(body, "agent") + "', not as '" + plan_.agent + "'");
    return problem(403, "forbidden", "The token does not allow this agent.");
  }
  if (const auto calls = texts_in(body, "calls"); !plan_.call.empty() && std::find(calls.begin(), calls.end(), plan_.call) == calls.end()) {
    blame(rule::requests,
          "the agent does not register the call '" + plan_.call + "', which was asked for; its first is '" + calls.front() + "'");
    return problem(403, "forbidden", "The check is about the call " + plan_.call + ".");
  }
  if (registration_lost_)
    check_repeated_registration(what, body);
  else if (worker_ && !is_right_registration(body, now))
    return problem(409, "conflict", "Another session holds the instance.");
  if (worker_) check_held(body);
  registered_again_ = worker_.has_value();
  ++workers_;
  worker next;
  next.id = "w" + std::to_string(workers_);
  next.instance = text_in(body, "instance");
  next.agent = text_in(body, "agent");
  next.capacity = number_in(body, "capacity", 1);
  next.node = what.node;
  next.session = "session-" + std::to_string(workers_);
  next.calls = texts_in(body, "calls");
  next.lookups = texts_in(body, "lookups");
  if (plan_.call.empty()) plan_.call = next.calls.front();
  const bool first = !worker_;
  worker_ = std::move(next);
  answers_.clear();
  answer_ = 0;
  if (first) {
    begin_lesson(now);
    registration_lost_ = !over_ && at().cut_registration;
    registration_key_ = what.key;
  }
  const json out{
      {"worker", worker_->id}, {"session", worker_->session}, {"incarnation", 1}, {"silence_ms", 15'000}, {"max_wait_ms", most_wait_ms}};
  return {.status = 201, .body = out.dump(), .cut = registration_lost_};
}

/// The agent does not know whether there is a session. A node knows its registration again by the key, and says 409 to any other.
void tester::check_repeated_registration(const asked& what, const json& body) {
  registration_lost_ = false;
  see(rule::held);
  if (text_in(body, "instance") != worker_->instance)
    blame(rule::held, "the registration whose answer was lost was sent again as another instance: the node has two now");
  else if (!what.key || what.key != registration_key_)
    blame(rule::held, "the registration whose answer was lost was sent again without the Idempotency-Key of the first: a node says 409");
}

/// Of an agent that is known. False: it is refused.
bool tester::is_right_registration(const json& what, std::int64_t) {
  const auto session = text_in(what, "session");
  const auto take_over = what.find("take_over");
  if (take_over != what.end() && *take_over == true)
    blame(rule::held, "a registration has take_over, which vouches that the former process is dead");
  if (!worker_->gone) {
    if (text_in(what, "instance") != worker_->instance) {
      blame(rule::requests, "a second instance registers; the tester takes one");
      return false;
    }
    if (session != worker_->session) {
      blame(rule::held,
            "instance '" + worker_->instance + "' registers a second time, without the session, while its first session goes on");
      return false;
    }
    return true;
  }
  see(rule::session);
  if (session.empty())
    blame(rule::session, "the agent registers after 410 without its session");
  else if (session != worker_->session)
    blame(rule::session, "the agent registers after 410 with another session than its last");
  if (text_in(what, "instance") != worker_->instance) blame(rule::session, "the agent registers after 410 as another instance");
  return true;
}

void tester::check_held(const json& what) {
  const auto have = texts_in(what, "have");
  const auto has = [&](const std::string& ticket) { return std::find(have.begin(), have.end(), ticket) != have.end(); };
  if (!current_) return;
  auto& one = attempts_[*current_];
  if (one.closed || one.handed_at == 0 || one.answer_lost || at().outcome == outcome_wanted::no) return;
  if (!has(one.ticket))
    blame(rule::session, "the registration after 410 does not list " + name_of(one) + " in `have`, whose outcome was not accepted yet");
}

void tester::check_after(std::int64_t after, std::int64_t now) {
  see(rule::last_answer);
  std::int64_t arrived = 0;
  bool right = false;
  for (const auto& one : answers_)
    if (!one.cut && one.arrives_at <= now) arrived = one.number;
  for (const auto& one : answers_) right = right || (!one.cut && one.number == after && one.number >= arrived);
  // A take that was sent while an answer was on its way.
  const bool overlaps = std::any_of(answers_.begin(), answers_.end(), [&](const sent_answer& one) { return one.arrives_at + 50 > now; });
  if (right || after == arrived || (overlaps && after <= answer_)) return;
  blame(rule::last_answer,
        "a take has `after` " + std::to_string(after) + ", and the last answer that arrived was " + std::to_string(arrived));
}

void tester::make_attempt(std::int64_t now) {
  const auto& of = at();
  attempt one;
  one.number = static_cast<int>(attempts_.size()) + 1;
  one.ticket = "ticket-" + std::to_string(one.number) + "-" + std::to_string(now % 100'000);
  one.key = "check-" + std::to_string(now) + "-" + std::to_string(one.number);
  if (of.direction != "perform") {
    const auto done = std::find_if(attempts_.begin(), attempts_.end(), [](const attempt& each) { return each.accepted; });
    one.perform_key = of.never_happened || done == attempts_.end() ? one.key + "-never" : done->key;
  } else if (of.same_key && !attempts_.empty()) {
    one.key = attempts_.back().key;
  }
  one.handed_at = one.beat_at = now;
  one.lease_end = now + of.lease_ms;
  attempts_.push_back(std::move(one));
  current_ = attempts_.size() - 1;
}

tester::json tester::hand_out(const attempt& one, std::int64_t now) const {
  const auto& of = at();
  const auto input = json::parse(plan_.input, nullptr, false);
  const bool is_perform = of.direction == "perform", is_undo = of.direction == "undo";
  const auto done = std::find_if(attempts_.begin(), attempts_.end(), [&](const attempt& each) { return each.key == one.perform_key; });
  const bool has_output = is_undo && done != attempts_.end() && done->outcome.contains("output");
  json out{{"ticket", one.ticket},
           {"task", "check-" + std::to_string(one.number)},
           {"workflow", "agent-check"},
           {"step", "step"},
           {"direction", of.direction},
           {"attempt", of.same_key ? 2 : 1},
           {"call", plan_.call},
           {"input", input.is_discarded() ? json{} : input},
           {"idempotency_key", one.key},
           {"perform_key", one.perform_key.empty() ? json{} : json(one.perform_key)},
           {"in_doubt", is_perform ? json{} : json(!is_undo)},
           {"perform_output", has_output ? done->outcome["output"] : json{}},
           {"checkpoint", json{}},
           {"callback_url", json{}},
           {"lease_ms", std::max<std::int64_t>(0, one.lease_end - now)},
           {"heartbeat_ms", of.heartbeat_ms > 0 ? json(of.heartbeat_ms) : json{}},
           {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}};
  return out;
}

reply tester::on_take(const json& what, std::int64_t now) {
  const auto after = number_in(what, "after", -1);
  if (after < 0) {
    blame(rule::last_answer, "a take has no `after`");
    return problem(400, "bad_request", "Field 'after' is missing.");
  }
  check_after(after, now);
  const auto wait_ms = number_in(what, "wait_ms", 0);
  const auto most = number_in(what, "max", 1);
  reply out;
  json attempts = json::array();
  bool cut = false;
  if (!over_ && at().gone_take && !gone_told_) {
    gone_told_ = true;
    worker_->gone = true;
    worker_->gone_at = now;
    return problem(410, "gone", "The session has ended; register again.");
  }
  // Between lessons nothing is handed out, and the drain of the last one goes on.
  const bool may_begin = !over_ && !at().gone_take && quiet_since_ == 0 && !(at().twice && most < 2);
  if (may_begin && !current_) {
    make_attempt(now);
    auto& one = attempts_[*current_];
    attempts.push_back(hand_out(one, now));
    if (at().twice) attempts.push_back(hand_out(one, now));
    one.in_answer = answer_ + 1;
    cut = one.answer_lost = at().cut_take;
    out.after_ms = at().late_ms;
  } else if (may_begin && current_) {
    auto& one = attempts_[*current_];
    if (after < one.in_answer && one.outcomes == 0 && now < one.lease_end) {
      one.answer_lost = false;
      one.in_answer = answer_ + 1;
      attempts.push_back(hand_out(one, now));
    }
  }
  if (attempts.empty()) out.after_ms = std::min(wait_ms, idle_answer_ms);
  ++answer_;
  answers_.push_back({answer_, now + out.after_ms, cut});
  out.cut = cut;
  // What is lost or late on its way was not waited for.
  out.body = json{
      {"answer", answer_},
      {"waited_ms", attempts.empty() ? out.after_ms : 0},
      {"draining", !over_ && at().draining},
      {"attempts",
       attempts}}.dump();
  return out;
}

}  // namespace fairlead::app::agent_check
