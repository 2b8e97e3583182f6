#include "app/api/work/registration.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

#include "actors/agents/worker/session.hpp"
#include "actors/core/text/labels.hpp"
#include "actors/core/workflow/check.hpp"
#include "app/config/agent_settings.hpp"
#include "app/json/submission.hpp"
#include "app/json/words.hpp"
#include "app/yaml/reader.hpp"
#include "messages/tickets.hpp"

namespace fairlead::app::api {

namespace {

constexpr std::size_t most_calls = 1'000;
constexpr std::size_t most_instance_bytes = 128;

/// Without `/`, which is in the names of the instances of nodes: no worker can register as one of these.
bool is_worker_instance(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view{"._:@-"}.find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= most_instance_bytes && std::all_of(name.begin(), name.end(), is_plain);
}

bool is_among(const std::vector<std::string>& all, const std::string& one) { return std::find(all.begin(), all.end(), one) != all.end(); }

/// The place of a problem, as a pointer: `limits[2].rate` is `/limits/2/rate`.
std::string pointer_of(const std::string& where) {
  std::string out{"/"};
  for (const char c : where)
    if (c == '.' || c == '[')
      out += '/';
    else if (c != ']')
      out += c == '~' ? "~0" : std::string(1, c);
  return out;
}

/// Reads a field as the node file has it: JSON is YAML, too.
status read_as_in_node_file(const std::string& json, const std::string& name, std::string& pointer,
                            const std::function<void(const yaml_node&)>& read) {
  if (json.empty()) return nothing{};
  auto document = parse_yaml("", json);
  if (document.root) read(yaml_node{document, document.root, yaml_path{name}, document.root->line, document.root->column});
  if (document.problems.empty()) return nothing{};
  const auto& first = document.problems.front();
  const auto& where = first.where.empty() ? name : first.where;
  pointer = pointer_of(where);
  return invalid("Field '" + where + "': " + first.sentence,
                 first.remedy.empty() ? "docs/agents.md lists what it may have." : as_remedy(first.remedy));
}

json_taker policies_into(std::vector<v1::CallPolicy>& out) {
  return each_into(
      most_calls,
      [&out](std::size_t, std::string_view value, std::string& pointer) -> status {
        std::string call;
        std::int64_t valid_for_ms = 0;
        auto read =
            read_json_object(value, "Each item", {{"call", text_into(call), true}, {"key_valid_for", duration_into(valid_for_ms, 1)}},
                             pointer, " of 'policies'");
        auto& one = out.emplace_back();
        one.set_call(std::move(call));
        one.set_key_valid_for_ms(valid_for_ms);
        return read;
      },
      0);
}

}  // namespace

std::string to_text(const session_text& what) { return what.words + "." + std::to_string(what.moves); }

std::optional<session_text> read_session_text(std::string_view text) {
  const auto dot = text.rfind('.');
  if (dot == 0 || dot == std::string_view::npos) return std::nullopt;
  session_text out{std::string{text.substr(0, dot)}, 0};
  const auto digits = text.substr(dot + 1);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out.moves);
  if (digits.empty() || read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || out.moves == UINT64_MAX) return std::nullopt;
  return out;
}

json_taker text_or_null_into(std::optional<std::string>& out, std::size_t most) {
  return [&out, most](const std::string& field, std::string_view value, std::string& pointer) -> status {
    if (value == "null") return nothing{};
    auto read = text_into(out.emplace())(field, value, pointer);
    if (read && out->size() > most) return invalid(field + " has more than " + std::to_string(most) + " bytes", "Give a shorter text.");
    return read;
  };
}

json_taker ticket_into(std::string& out) {
  return [&out](const std::string& field, std::string_view value, std::string& pointer) -> status {
    if (auto read = text_into(out)(field, value, pointer); !read) return read;
    if (!out.empty() && out.size() <= most_ticket_bytes) return nothing{};
    return invalid(field + " is no ticket", "Give the ticket of an attempt as the node gave it.");
  };
}

std::vector<json_field> asked_registration::fields() {
  const auto take_ticket = [this](std::size_t, std::string_view value, std::string& pointer) {
    return ticket_into(have.emplace_back())("Each item", value, pointer);
  };
  return {
      {"agent", text_into(agent), true},
      {"instance", text_into(instance), true},
      {"calls", texts_into(calls, most_calls), true},
      {"capacity", number_into(capacity, 1, agents::most_worker_attempts)},
      {"lookups", texts_into(lookups, most_calls, 0)},
      {"labels", labels_into(labels)},
      {"policies", policies_into(policies)},
      {"breaker", json_into(breaker)},
      {"limits", json_into(limits)},
      {"session", text_or_null_into(session, most_session_bytes)},
      {"have", each_into(agents::most_worker_items, take_ticket, 0)},
      {"take_over", flag_into(take_over)},
  };
}

result<v1::RegisterAgent> asked_registration::read(std::string& pointer) const {
  const auto refused = [&pointer](std::string at, std::string sentence, std::string remedy) {
    pointer = std::move(at);
    return invalid(std::move(sentence), std::move(remedy));
  };
  if (!core::valid_agent_name(agent))
    return refused("/agent", "Field 'agent' is no name of an agent",
                   "A name is a letter, then letters, digits, _, . and -; at most 64 in all.");
  if (!is_worker_instance(instance))
    return refused("/instance", "Field 'instance' is no name of a worker's instance",
                   "Give 1 to 128 of A-Z a-z 0-9 . _ : @ - that no other process has.");
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto at = "/calls/" + std::to_string(i);
    if (!core::valid_agent_name(calls[i]))
      return refused(at, "'" + calls[i] + "' is no name of a call",
                     "A name is a letter, then letters, digits, _, . and -; at most 64 in all.");
    if (std::find(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(i), calls[i]) !=
        calls.begin() + static_cast<std::ptrdiff_t>(i))
      return refused(at, "The call '" + calls[i] + "' is given twice", "Give it once.");
  }
  const auto add_call = [](const std::string& call) { return "Add '" + call + "' to 'calls', or leave it out."; };
  for (std::size_t i = 0; i < lookups.size(); ++i)
    if (!is_among(calls, lookups[i]))
      return refused("/lookups/" + std::to_string(i), "'" + lookups[i] + "' is none of the calls", add_call(lookups[i]));
  for (std::size_t i = 0; i < policies.size(); ++i)
    if (!is_among(calls, policies[i].call()))
      return refused("/policies/" + std::to_string(i) + "/call", "'" + policies[i].call() + "' is none of the calls",
                     add_call(policies[i].call()));
  if (labels.size() > core::max_labels)
    return refused("/labels", "Field 'labels' has more than " + std::to_string(core::max_labels) + " labels", "Give fewer.");
  for (const auto& one : labels)
    if (!core::valid_label(one))
      return refused("/labels/" + pointer_part(one.key()), "Label '" + one.key() + "' is not valid",
                     std::string{"Expected is "} + core::label_rule + ".");
  if (session && !read_session_text(*session))
    return refused("/session", "Field 'session' is no session", "Give `session` of the former registration as it was, or null.");
  if (!session && !have.empty())
    return refused("/have", "Field 'have' has tickets, and there is no former session", "Give the former session, or leave 'have' out.");
  if (session && take_over)
    return refused("/take_over", "Fields 'session' and 'take_over' are both given",
                   "Go on with the session, or take the instance over from a process that has died.");

  v1::RegisterAgent out;
  out.set_agent(agent);
  out.set_instance(instance);
  out.set_kind(std::string{worker_kind});
  out.set_capacity(capacity);
  out.mutable_calls()->Assign(calls.begin(), calls.end());
  out.mutable_lookups()->Assign(lookups.begin(), lookups.end());
  out.mutable_policies()->Assign(policies.begin(), policies.end());
  *out.mutable_labels() = labels;
  auto read =
      read_as_in_node_file(breaker, "breaker", pointer, [&out](const yaml_node& node) { read_breaker(node, *out.mutable_breaker()); });
  if (!read) return read.failure();
  std::vector<v1::LimitPolicy> of_service;
  read = read_as_in_node_file(limits, "limits", pointer, [&](const yaml_node& node) { read_limits(node, calls, of_service); });
  if (!read) return read.failure();
  out.mutable_limits()->Assign(of_service.begin(), of_service.end());
  return out;
}

}  // namespace fairlead::app::api
