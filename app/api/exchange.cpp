#include "app/api/exchange.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/core/text/text.hpp"
#include "app/access/audit_list.hpp"
#include "app/door/guards.hpp"
#include "messages/tickets.hpp"
#include "store/content_hash.hpp"

namespace fairlead::app::api {

namespace {

constexpr std::size_t most_noted_object = 512;  // bytes of its name
constexpr std::string_view callbacks = "/v1/callbacks/", failed_behind = "/fail";

/// Segment by segment, as paths are found. nullopt: it is below another one.
std::optional<std::string_view> behind_callbacks(std::string_view path) {
  for (const std::string_view wanted : {"", "v1", "callbacks"}) {
    const auto end = path.find('/');
    if (end == std::string_view::npos || door::decode_percent(path.substr(0, end)) != wanted) return std::nullopt;
    path.remove_prefix(end + 1);
  }
  return path;
}

/// `operator or admin`.
std::string roles_with(right needed) {
  std::vector<std::string> words;
  for (const auto& one : roles())
    if (one.rights.has(needed)) words.emplace_back(one.word);
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return out;
}

/// Whether If-None-Match names the tag (RFC 9110, 13.1.2).
bool names_tag(std::string_view list, const std::string& tag) { return list == "*" || list.find(tag) != std::string_view::npos; }

/// The latest revision in a list of tags as say_resource() makes them; 0: none is, or they are weak (RFC 9110, 13.1.1). An earlier one cannot be
/// that of a resource whose client knows the latest. nullopt: it is no list of tags.
std::optional<std::uint64_t> latest_revision(std::string_view list) {
  std::uint64_t out = 0;
  for (;;) {
    list.remove_prefix(std::min(list.find_first_not_of(" \t,"), list.size()));
    if (list.empty()) return out;
    const auto is_weak = list.starts_with("W/");
    if (is_weak) list.remove_prefix(2);
    const auto end = list.find('"', 1);
    if (!list.starts_with('"') || end == std::string_view::npos) return std::nullopt;
    const auto tag = list.substr(1, end - 1);
    const auto digits = tag.substr(0, tag.find('-'));
    std::uint64_t revision = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), revision);
    const auto is_ours = digits.size() < tag.size() && read.ec == std::errc{} && read.ptr == digits.data() + digits.size();
    if (is_ours && !is_weak) out = std::max(out, revision);
    list.remove_prefix(end + 1);
    list.remove_prefix(std::min(list.find_first_not_of(" \t"), list.size()));
    if (!list.empty() && list.front() != ',') return std::nullopt;
  }
}

}  // namespace

bool is_callback(std::string_view path) { return behind_callbacks(path).has_value(); }

audit_entry audit_entry_of(const surroundings& in, const principal& by, const door::request& what) {
  audit_entry out;
  out.at_unix_ms = to_unix_ms(in.time->now());
  out.kind = by.kind;
  out.who = by.name;
  out.token = by.token;
  out.from = what.from.address;
  out.request_id = what.id;
  out.method = core::clean_text(what.head.method, 16);
  out.path = core::clean_text(std::string{what.path()}, 512);
  out.object = audit_object(out.path);
  const auto behind = behind_callbacks(what.path());
  if (!behind) return out;
  const auto text = behind->substr(0, behind->find('/'));
  const auto rest = behind->substr(text.size());
  const auto failed = !rest.empty() && door::decode_percent(rest) == failed_behind;
  out.path = std::string{callbacks} + "{callback}" + (failed ? std::string{failed_behind} : "");
  const auto named = read_callback(door::decode_percent(text).value_or(""));
  out.object = named ? core::clean_text(named->task_id, most_noted_object) : "";
  return out;
}

void answer_noted(const surroundings& in, const std::vector<audit_entry>& what, const std::string& request_id, door::answer said,
                  const std::shared_ptr<door::answerer>& to) {
  if (!in.audit) return (*to)(std::move(said));
  const auto kept = std::make_shared<door::answer>(std::move(said));
  const auto is_refused = std::all_of(what.begin(), what.end(), [](const audit_entry& one) { return !one.code.empty(); });
  note_all(*in.audit, what, [kept, is_refused, request_id, to](const status& written) {
    // A refusal has done nothing, and stays what it is.
    if (written.ok() || is_refused) return (*to)(std::move(*kept));
    (*to)(door::to_answer({"disk",
                           "This could not be noted in the audit of the node.",
                           "What was asked for may have been done. Look, and call whoever runs the node.",
                           {},
                           {},
                           false},
                          request_id));
  });
}

std::optional<audit_entry> refused_entry_of(const surroundings& in, const principal& by, const door::request& what,
                                            const door::problem& why) {
  if (door::is_safe(what.head.method)) return std::nullopt;
  const auto sender = !by.kind.empty() ? by.kind + " " + by.name
                      : what.from.uid  ? "uid " + std::to_string(*what.from.uid)
                                       : what.from.address;
  // Counted for itself: it takes nothing from what a client that makes no such mistake may be refused.
  if (in.access->is_noise("malformed of " + sender, in.time->now())) return std::nullopt;
  auto out = audit_entry_of(in, by, what);
  const auto* const kind = door::find_problem_kind(why.code);
  out.status = kind == nullptr ? 0 : kind->status;
  out.code = why.code;
  return out;
}

exchange::exchange(std::shared_ptr<const surroundings> in, principal by, door::request what, std::vector<std::string> parts,
                   std::shared_ptr<door::answerer> to)
    : in_(std::move(in)), by_(std::move(by)), what_(std::move(what)), parts_(std::move(parts)), to_(std::move(to)) {}

void exchange::run_in(caf::event_based_actor* self, const std::function<void(exchange_ptr)>& handler) {
  self_ = self;
  handler(shared_from_this());
}

void exchange::run_here(const std::function<void(exchange_ptr)>& handler) {
  handler(shared_from_this());
  if (later_.empty()) return;
  in_->system->spawn([mine = shared_from_this()](caf::event_based_actor* self) {
    mine->self_ = self;
    for (const auto& one : std::exchange(mine->later_, {})) one();
  });
}

bool exchange::take_place_to_wait() {
  // The connections limit how many streams there are.
  if (streams_ || place_to_wait_) return true;
  place_to_wait_ = in_->polls->take(by_.kind + " " + by_.name);
  if (!place_to_wait_)
    refuse({"overloaded",
            "Too many requests wait already: " + by_.name + " may have 1,024 of them at once, and this node 3,072.",
            "Try again later, or follow tasks by GET /v1/tasks/{id}/events.",
            {},
            {},
            false});
  return place_to_wait_ != nullptr;
}

bool exchange::may_wait() {
  if (!take_place_to_wait()) return false;
  // What is noted has done something, and its end is to be noted, too.
  if (streams_ || !noted_.empty() || std::exchange(ends_with_client_, true)) return true;
  to_->on_gone([actor = caf::actor_cast<caf::actor_addr>(self_)] {
    if (const auto waits = caf::actor_cast<caf::actor>(actor)) caf::anon_send_exit(waits, caf::exit_reason::user_shutdown);
  });
  return true;
}

bool exchange::may_begin(bool in_namespace, std::optional<right> needed) {
  if (!read_query()) return false;
  const auto given = parameter("namespace");
  if (is_over()) return false;
  if (given && !is_namespace_name(*given)) {
    refuse_at("namespace",
              invalid("The parameter namespace is no name of a namespace.", "Give 1 to 64 of a-z 0-9 . _ -, or leave it out."));
    return false;
  }
  if (in_namespace && !may_use(given.value_or(std::string{default_namespace_word}))) return false;
  return !needed || may(*needed);
}

bool exchange::keeps_conditions(keeps which) {
  const auto refused = [this](const char* header) {
    if (door::count_headers(what_.head, header) == 0) return false;
    refuse_at(header, invalid(std::string{"This path takes no "} + header + ".",
                              "Send the request without it, once it is right as things are now."));
    return true;
  };
  if (door::is_safe(what_.head.method)) return true;
  if (which != keeps::if_match && which != keeps::both && refused("If-Match")) return false;
  return which == keeps::if_none_match || which == keeps::both || !refused("If-None-Match");
}

bool exchange::read_query() {
  const auto all = door::parse_query(what_.query());
  if (!all) {
    refuse(invalid("The query is not UTF-8 with two hexadecimal digits behind each %.", "Encode the query (RFC 3986)."));
    return false;
  }
  query_.insert(all->begin(), all->end());
  return true;
}

bool exchange::may(right needed) {
  if (by_.has(needed)) return true;
  const auto& all = right_words();
  const auto row = std::find_if(all.begin(), all.end(), [&](const right_word& one) { return one.one == needed; });
  refuse({"forbidden",
          by_.name + " may not " + std::string{row->meaning} + " (" + what_.head.method + " " + std::string{what_.path()} +
              "): the right " + std::string{row->word} + " is missing in the namespace " + std::string{default_namespace_word} + ".",
          "GET /v1/me names the rights of whoever asks. Ask with a token whose role gives this one: " + roles_with(needed) + ".",
          {},
          {},
          false});
  return false;
}

bool exchange::may_use(const std::string& name_space) {
  // Whoever may not use a namespace does not learn whether there is one.
  if (!by_.may_use(name_space))
    refuse({"forbidden",
            by_.name + " may not use the namespace " + name_space + ".",
            "Ask for one that GET /v1/me names, or with a token of the namespace.",
            {},
            {},
            false});
  else if (name_space != default_namespace_word)
    refuse(error{v1::ERROR_CODE_NOT_FOUND, "There is no namespace " + name_space + ".",
                 "Leave the parameter namespace out: there is only the namespace " + std::string{default_namespace_word} + "."});
  return !is_over();
}

std::optional<std::string> exchange::parameter(const std::string& name) {
  const auto all = parameters(name);
  if (all.size() > 1) refuse_at(name, invalid("The parameter " + name + " is given more than once.", "Give it once."));
  return all.empty() ? std::nullopt : std::optional{all.front()};
}

std::vector<std::string> exchange::parameters(const std::string& name) {
  std::vector<std::string> out;
  const auto [first, last] = query_.equal_range(name);
  for (auto one = first; one != last; ++one) out.push_back(one->second);
  query_.erase(first, last);
  return out;
}

bool exchange::refuse_rest() {
  if (!query_.empty()) {
    const auto& name = query_.begin()->first;
    refuse_at(name, invalid("The parameter " + name + " is not known here.", "GET /v1/openapi.json has the parameters of each path."));
  }
  return is_over();
}

bool exchange::takes_json() {
  if (is_over()) return false;
  const auto type = door::find_header(what_.head, "Content-Type");
  if (what_.body.empty() || !type || !door::is_yaml(*type)) return true;
  refuse({"unsupported_media_type",
          "The body is YAML, and this path takes JSON.",
          "Send JSON with Content-Type: application/json.",
          {},
          {},
          false});
  return false;
}

bool exchange::read_body(const std::vector<json_field>& fields) {
  if (!takes_json()) return false;
  std::string pointer;
  const auto read = read_json_object(what_.body.empty() ? "{}" : std::string_view{what_.body}, "The body", fields, pointer);
  if (!read) refuse_at(pointer, read.failure());
  return read.ok();
}

bool exchange::is_any(std::string_view condition) const { return door::find_header(what_.head, condition) == "*"; }

std::uint64_t exchange::wanted_revision() {
  std::string list;
  for (const auto& [name, value] : what_.head.fields)
    if (door::is_header(name, "If-Match")) list += (list.empty() ? "" : ",") + value;
  if (door::count_headers(what_.head, "If-Match") == 0 || list == "*") return 0;
  const auto revision = latest_revision(list);
  if (!revision) {
    refuse_at("If-Match", invalid("The header If-Match is no list of ETags.", "Send the header ETag of an earlier answer as it was."));
    return 0;
  }
  if (*revision != 0) return *revision;
  refuse({"changed",
          "The header If-Match has no ETag of this path.",
          "Look at it again, and send the header ETag of that answer as it was.",
          {{"If-Match", "No ETag of the list is one of this path.", "Send the header ETag of an earlier answer as it was."}},
          {},
          false});
  return 0;
}

std::optional<std::string> exchange::key() {
  const auto given = door::find_header(what_.head, "Idempotency-Key");
  if (!given) return std::nullopt;
  // The string of draft-ietf-httpapi-idempotency-key-header-07, `"8e03978e"`; the same without quotes is taken as well.
  auto text = *given;
  if (door::count_headers(what_.head, "Idempotency-Key") > 1) {
    refuse_at("Idempotency-Key", invalid("There are several headers Idempotency-Key.", "Send one."));
    return std::nullopt;
  }
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  std::string out{text};
  if (out.empty()) {
    refuse_at("Idempotency-Key", invalid("The Idempotency-Key is empty.", "Send a key of your own, or leave the header out."));
    return std::nullopt;
  }
  if (core::clean_text(out, out.size()) != out) {
    refuse_at("Idempotency-Key", invalid("The Idempotency-Key is not UTF-8.", "Use a key of letters and digits."));
    return std::nullopt;
  }
  return out;
}

std::string exchange::action_key() {
  auto out = key().value_or("");
  if (out.size() <= max_action_key_bytes) return out;
  refuse_at("Idempotency-Key",
            invalid("The Idempotency-Key has more than " + std::to_string(max_action_key_bytes) + " bytes.", "Use a shorter key."));
  return {};
}

void exchange::say_resource(std::uint64_t revision, std::string json) {
  const auto tag = "\"" + std::to_string(revision) + "-" + store::to_hex(store::content_hash(json).substr(0, 8)) + "\"";
  if (names_tag(door::find_header(what_.head, "If-None-Match").value_or(""), tag)) return say(304, "", {{"ETag", tag}});
  say(200, std::move(json), {{"ETag", tag}});
}

void exchange::say(unsigned status, std::string json, door::headers more) {
  door::answer out;
  out.status = status;
  out.body = std::move(json);
  out.more = std::move(more);
  answer_with(std::move(out));
}

void exchange::say_or(std::string json, std::function<void()> if_unsent) {
  door::answer out;
  out.body = std::move(json);
  out.if_unsent = std::move(if_unsent);
  answer_with(std::move(out));
}

void exchange::answer_with(door::answer what, const std::string& code) {
  if (std::exchange(is_answered_, true)) return;
  if (noted_.empty()) return (*to_)(std::move(what));
  for (auto& one : noted_) {
    if (one.status != 0 && code.empty()) continue;
    one.status = what.status;
    one.code = code;
  }
  answer_noted(*in_, std::exchange(noted_, {}), what_.id, std::move(what), to_);
}

void exchange::say_message(std::string bytes) {
  door::answer out;
  out.content_type = "application/x-protobuf";
  out.body = std::move(bytes);
  answer_with(std::move(out));
}

bool exchange::may_note() {
  if (!in_->audit || in_->audit->is_sound()) return true;
  refuse({"disk", "The audit of this node cannot be written.", "Call whoever runs the node: its disk is full or broken.", {}, {}, false});
  return false;
}

bool exchange::note_in_audit() {
  if (!may_note()) return false;
  noted_ = {audit_entry_of(*in_, by_, what_)};
  return true;
}

bool exchange::note_in_audit(const std::vector<noted_request>& deeds) {
  if (deeds.empty()) return true;
  if (!may_note()) return false;
  note_deeds(deeds);
  return true;
}

void exchange::note_deeds(const std::vector<noted_request>& deeds) {
  noted_.clear();
  for (const auto& one : deeds) noted_.push_back(with_deed(audit_entry_of(*in_, by_, what_), one));
}

void exchange::note_object(const std::string& object, v1::ErrorCode why) {
  if (noted_.empty()) return;
  const auto name = core::clean_text(object, most_noted_object);
  auto one = noted_.begin();
  if (std::exchange(notes_objects_, true)) one = std::find_if(one, noted_.end(), [&](const audit_entry& of) { return of.object == name; });
  if (one == noted_.end()) one = noted_.insert(one, noted_.front());
  one->object = name;
  one->status = 0;
  one->code = {};
  if (why != v1::ERROR_CODE_OK) set_end(*one, why);
}

void exchange::note_state(const std::string& after) {
  for (auto& one : noted_) one.state_after = after;
}

void exchange::note_less() {
  const auto sender = what_.from.uid ? "uid " + std::to_string(*what_.from.uid) : what_.from.address;
  if (by_.kind.empty() && in_->access->is_noise("in vain of " + sender, in_->time->now())) noted_.clear();
}

bool exchange::may_go_on() const {
  return in_->access->still_admits(by_, door::find_header(what_.head, "Authorization"), what_.from, in_->time->now());
}

void exchange::note_action(const std::string& verb, const std::string& reason) {
  for (auto& one : noted_) {
    one.verb = core::clean_text(verb, 64);
    one.reason = core::clean_text(reason, reason_limit);
  }
}

void exchange::begin_stream(std::string first) {
  door::answer head;
  head.content_type = "text/event-stream; charset=utf-8";
  // A proxy that gathers what it passes on would hold events back.
  head.more = {{"X-Accel-Buffering", "no"}};
  head.farewell = "event: bye\ndata: {\"reason\":\"This node is ending.\"}\n\n";
  // The library ends the answer to HEAD like a stream, with a chunk. The client would take that for the beginning of the next answer.
  if (what_.head.method == "HEAD") return (*to_)(std::move(head));
  streams_ = true;
  to_->begin(std::move(head));
  send(std::move(first));
}

void exchange::refuse(const error& why) { refuse(door::problem_of(why)); }
void exchange::refuse(door::problem why) {
  if (!is_answered_ && !noted_.empty()) note_less();
  // Also of a request that only looks: somebody tried.
  if (why.code == "forbidden" && !is_answered_) {
    if (in_->access->is_noise(by_.kind + " " + by_.name, in_->time->now())) {
      noted_.clear();
      why = {"overloaded",
             "Too many requests that " + by_.name + " may not send.",
             "Wait a minute. GET /v1/me says what may be sent.",
             {},
             {},
             false,
             {},
             door::a_minute_s};
    } else if (noted_.empty()) {
      noted_ = {audit_entry_of(*in_, by_, what_)};
    }
  }
  answer_with(door::to_answer(why, what_.id), why.code);
}

void exchange::refuse_at(const std::string& pointer, const error& why) {
  auto out = door::problem_of(why);
  out.faults.push_back({pointer, why.sentence, out.remedy});
  refuse(std::move(out));
}

error exchange::lost(const caf::error& why) {
  if (why == caf::sec::request_timeout)
    return {v1::ERROR_CODE_TIMED_OUT, "The shard did not answer in time.",
            "What was asked for may have been done. A request that has an id or an Idempotency-Key can be sent again."};
  return {v1::ERROR_CODE_UNAVAILABLE, "This node is ending, or starts a part of itself again.", "Try again later."};
}

}  // namespace fairlead::app::api
