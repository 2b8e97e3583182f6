#include "actors/agents/secrets/vault.hpp"

#include <algorithm>
#include <utility>

#include "actors/agents/secrets_reference.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::agents {

namespace {

constexpr std::string_view structure = " \t\r\n{}[],:";

/// The end of the string, number or word at `at`.
std::size_t token_end(std::string_view json, std::size_t at) {
  if (json[at] == '"') return static_cast<std::size_t>(core::skip_json_string(json.data() + at, json.data() + json.size()) - json.data());
  return std::min(json.find_first_of(structure, at), json.size());
}

/// A string before a colon is a key.
bool is_key(std::string_view json, std::size_t end) {
  const auto next = json.find_first_not_of(" \t\r\n", end);
  return next != std::string_view::npos && json[next] == ':';
}

}  // namespace

secret_vault::secret_vault(warning warn)
    : warn_(std::move(warn)), search_(std::make_shared<secret_search>(std::vector<std::shared_ptr<const secret_spellings>>{})) {}

secret_vault::~secret_vault() = default;

status secret_vault::add_file(const std::string& name, const std::string& path) {
  entry added;
  added.path = path;
  auto value = read_secret_file(path, added.mark);
  if (!value) return value.failure();
  const wiped_at_end wiping{*value};
  added.value = std::make_shared<secret_spellings>(name, *value);
  know(added.value);
  entries_.insert_or_assign(name, std::move(added));
  return nothing{};
}

status secret_vault::add_value(const std::string& name, std::string_view value) {
  if (const auto checked = check_secret_value(value); !checked.ok()) return checked.failure();
  entry added;
  added.value = std::make_shared<secret_spellings>(name, value);
  know(added.value);
  entries_.insert_or_assign(name, std::move(added));
  return nothing{};
}

void secret_vault::know(const std::shared_ptr<const secret_spellings>& value) const {
  const std::unique_lock lock{search_mutex_};
  auto values = search_->values();
  const auto same = [&](const auto& one) { return one->name() == value->name() && one->value() == value->value(); };
  if (std::any_of(values.begin(), values.end(), same)) return;
  values.push_back(value);
  if (values.size() > most_known_values) {
    // Never a present value: a newer value of the same name always exists.
    const auto old = std::find_if(values.begin(), values.end(), [&](const auto& one) {
      return std::count_if(values.begin(), values.end(), [&](const auto& other) { return other->name() == one->name(); }) > 1;
    });
    if (old != values.end()) values.erase(old);
  }
  search_ = std::make_shared<secret_search>(std::move(values));
}

/// A file that is being replaced may be missing or empty for a moment, so the last good value stays; the warning comes once.
void secret_vault::read_again(const std::string& name, entry& what) const {
  secret_file_mark mark;
  auto value = read_secret_file(what.path, mark);
  what.mark = mark;
  if (!value) {
    what.mark.settled = false;
    if (!std::exchange(what.failing, true) && warn_)
      warn_("secret " + name + ": " + value.failure().sentence + "; its last value is used until the file can be read again");
    return;
  }
  const wiped_at_end wiping{*value};
  if (std::exchange(what.failing, false) && warn_) warn_("secret " + name + " can be read again");
  if (what.value->value() == *value) return;
  what.value = std::make_shared<secret_spellings>(name, *value);
  know(what.value);
}

status secret_vault::append_value(const std::string& name, std::string& out) const {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find(name);
  if (found == entries_.end())
    return error{v1::ERROR_CODE_NOT_FOUND, "there is no secret " + name, "declare it under secrets in the node file"};
  auto& entry = found->second;
  if (!entry.path.empty() && secret_file_changed(entry.path, entry.mark)) read_again(name, entry);
  append_wiping(out, entry.value->value());
  return nothing{};
}

result<std::string> secret_vault::resolve(std::string_view text) const { return resolve_in(text, nullptr); }

result<std::string> secret_vault::resolve_in(std::string_view text, const std::vector<std::string>* allowed) const {
  std::string out;
  for (std::size_t at = 0;;) {
    const auto found = next_secret_reference(text, at);
    if (!found) {
      wipe(out);
      return found.failure();
    }
    const auto until = *found ? (*found)->begin : text.size();
    append_wiping(out, text.substr(at, until - at));
    if (!*found) return out;
    const std::string name{(*found)->name};
    if (allowed != nullptr && std::find(allowed->begin(), allowed->end(), name) == allowed->end()) {
      wipe(out);
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "this agent may not put the secret " + name + " into a step's input",
                   "list it among the agent's input_secrets, or leave the reference out of the input"};
    }
    if (const auto appended = append_value(name, out); !appended.ok()) {
      wipe(out);
      return appended.failure();
    }
    at = (*found)->end;
  }
}

result<std::string> secret_vault::resolve_json(std::string_view json, const std::vector<std::string>& allowed) const {
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    if (structure.find(json[at]) != std::string_view::npos) {
      out += json[at++];
      continue;
    }
    const auto end = token_end(json, at);
    const auto token = json.substr(at, end - at);
    at = end;
    if (token.front() != '"' || is_key(json, end)) {
      append_wiping(out, token);
      continue;
    }
    // By the decoded string, however it is spelled.
    const auto said = core::decode_json_string(token);
    if (!mentioned(said)) {
      append_wiping(out, token);
      continue;
    }
    auto value = resolve_in(said, &allowed);
    if (!value) {
      wipe(out);
      return value.failure();
    }
    const wiped_at_end wiping{*value};
    std::string spelled;
    spelled.reserve(value->size() * 6 + 2);  // no escape is longer
    const wiped_at_end wiping_spelled{spelled};
    core::append_json_string(spelled, *value);
    if (!core::check_json(spelled).ok()) {
      wipe(out);
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "a secret of the input is not UTF-8, so it cannot be part of JSON",
                   "encode the secret, for example in base64"};
    }
    append_wiping(out, spelled);
  }
  return out;
}

std::string secret_vault::redact(std::string text) const {
  std::shared_ptr<const secret_search> search;
  {
    const std::shared_lock lock{search_mutex_};
    search = search_;
  }
  // Before the call: its arguments are made in any order, and one of them takes the text away.
  const auto found = search->find(text);
  return replace_secrets(std::move(text), found);
}

}  // namespace fairlead::agents
