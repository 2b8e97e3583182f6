#include "app/access/gate.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "actors/core/text/text.hpp"
#include "app/access/token.hpp"
#include "app/access/tokens_file.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t most_addresses = 10'000;  // of which refusals are counted
constexpr const char* send_token = "Send the header Authorization: Bearer TOKEN. fairlead token create makes a token.";
constexpr const char* show_certificate = "Show a client certificate that the node file of this node names in access.certificates.";
constexpr std::size_t most_named = 512;  // bytes of a certificate's names in a sentence
constexpr std::int64_t day_ms = 86'400'000;
constexpr std::array<std::int64_t, 2> token_warn_days{7, 1};
constexpr int most_warned_at_once = 20;

std::string name_of(std::uint32_t uid) {
  std::array<char, 4'096> bytes{};
  passwd about{};
  passwd* found = nullptr;
  const auto known = ::getpwuid_r(uid, &about, bytes.data(), bytes.size(), &found) == 0 && found != nullptr;
  return known ? core::clean_text(found->pw_name, 64) : "uid " + std::to_string(uid);
}

/// Without the scheme; nullopt: it is another one (RFC 6750).
std::optional<std::string_view> bearer(std::string_view header) {
  constexpr std::string_view scheme = "bearer ";
  if (header.size() < scheme.size()) return std::nullopt;
  for (std::size_t i = 0; i < scheme.size(); ++i)
    if ((header[i] | (scheme[i] == ' ' ? 0 : 0x20)) != scheme[i]) return std::nullopt;
  const auto first = header.find_first_not_of(' ', scheme.size());
  return first == std::string_view::npos ? std::string_view{} : header.substr(first);
}

}  // namespace

right_set rights_of(const std::vector<std::string>& words) {
  right_set out;
  for (const auto& word : words)
    if (const auto* const known = find_role(word)) out.add(known->rights);
  return out;
}

gate::gate(access_config config, warn on_trouble, const clock& time)
    : config_(std::move(config)),
      asks_for_certificates_(!config_.certificates.empty()),
      own_uid_(::geteuid()),
      own_name_(name_of(own_uid_)),
      warn_(std::move(on_trouble)),
      time_(time),
      certificates_(std::make_shared<const known_certificates>(config_.certificates)) {}

void gate::take(std::vector<access_certificate> certificates) {
  auto known = std::make_shared<const known_certificates>(std::move(certificates));
  const std::lock_guard lock{guard_};
  certificates_.swap(known);
}

result<std::unique_ptr<gate>> gate::open(access_config config, warn on_trouble, const clock& time) {
  std::unique_ptr<gate> out{new gate{std::move(config), std::move(on_trouble), time}};
  if (out->config_.tokens_file.empty()) return out;
  if (const auto read = out->read(); !read.ok()) {
    auto why = read.failure();
    why.sentence = "access.tokens_file: " + why.sentence;
    return why;
  }
  out->warn_of_ends();
  out->watch_.emplace([at = out.get()] { at->look(); });
  return out;
}

status gate::read() {
  const auto text = agents::read_private_file(config_.tokens_file, max_yaml_bytes, mark_);
  if (!text) return text.failure();
  const auto file = parse_tokens(config_.tokens_file, *text);
  if (!file.problems.empty())
    return invalid(to_text(file.problems.front()), "correct the file; fairlead token list shows whether it is sound");
  auto known = std::make_shared<known_tokens>();
  const auto before = tokens();
  for (const auto& one : file.tokens) {
    auto& now = (*known)[one.id];
    now = {one.hash,
           {"token", one.name, one.roles, rights_of(one.roles), one.expires_unix_ms, one.namespaces, one.id, 0, one.agents},
           one.created_unix_ms,
           one.revoked_unix_ms};
    if (!before) continue;
    if (const auto same = before->find(one.id); same != before->end()) now.used_unix_ms = same->second.used_unix_ms;
  }
  const std::lock_guard lock{guard_};
  tokens_ = std::move(known);
  return nothing{};
}

std::shared_ptr<const gate::known_tokens> gate::tokens() const {
  const std::lock_guard lock{guard_};
  return tokens_;
}

std::map<std::string, std::int64_t> gate::token_ends() const {
  constexpr auto never = std::numeric_limits<std::int64_t>::max();
  std::map<std::string, std::int64_t> out;
  if (const auto all = tokens())
    for (const auto& [id, one] : *all) {
      if (one.revoked_unix_ms != 0) continue;
      auto& last = out[one.who.name];
      last = std::max(last, one.who.expires_unix_ms == 0 ? never : one.who.expires_unix_ms);
    }
  std::erase_if(out, [](const auto& one) { return one.second == never; });
  return out;
}

void gate::warn_of_ends() {
  const auto now = to_unix_ms(time_.now());
  std::map<std::string, int> warned;
  int lines = 0, more = 0;
  for (const auto& [id, one] : *tokens()) {
    const auto ends = one.who.expires_unix_ms;
    if (one.revoked_unix_ms != 0 || ends == 0 || ends <= now) continue;
    int stage = 0;
    for (const auto days : token_warn_days) stage += ends - now <= days * day_ms && ends - one.created_unix_ms > days * day_ms ? 1 : 0;
    const auto former = warned_.find(id);
    const auto told = former == warned_.end() ? 0 : former->second;
    warned[id] = std::max(stage, told);
    if (stage <= told) continue;
    if (++lines > most_warned_at_once) {
      ++more;
      continue;
    }
    const auto used = one.used_unix_ms->load();
    warn_("access.tokens_file: the token " + id + " of " + one.who.name + " expires at " + format_utc(ends) + "; " +
          (used == 0 ? "it was not used here since the node started" : "it was used here last at " + format_utc(used)) +
          "; make another one of the same name: fairlead token create");
  }
  if (more != 0) warn_("access.tokens_file: " + std::to_string(more) + " more tokens expire soon; fairlead token list shows them");
  warned_ = std::move(warned);
}

void gate::look() {
  read_again();
  warn_of_ends();
}

void gate::read_again() {
  if (good_ && !agents::secret_file_changed(config_.tokens_file, mark_)) return;
  const auto now = read();
  if (!now.ok() && good_)
    warn_("access.tokens_file: " + now.failure().sentence + "; the tokens stay as they were; " + now.failure().remedy);
  good_ = now.ok();
}

std::variant<principal, gate::stranger> gate::identify(std::optional<std::string_view> authorization, const door::peer& from,
                                                       moment now) const {
  using answer = std::variant<principal, stranger>;
  const auto of = [](std::variant<principal, std::string> found, const char* remedy) -> answer {
    if (auto* const who = std::get_if<principal>(&found)) return std::move(*who);
    return stranger{std::get<std::string>(found), remedy};
  };
  if (authorization && asks()) {
    auto found = of(find_token(*authorization, now), config_.tokens_file.empty() ? show_certificate : send_token);
    if (auto* const whom = std::get_if<stranger>(&found)) whom->is_guess = true;
    return found;
  }
  if (from.uid) {
    if (auto who = find_user(*from.uid)) return std::move(*who);
    return stranger{"The user with the uid " + std::to_string(*from.uid) + " may not use the API of this node.",
                    "Add the user to access.users in the node file, or send a token.", "forbidden"};
  }
  if (!asks()) return principal{"loopback", "loopback", {"admin"}, right_set::all(), 0};
  if (from.certificate) return of(find_certificate(*from.certificate, now), show_certificate);
  if (!asks_for_certificates_) return stranger{"The request has no token.", send_token};
  if (config_.tokens_file.empty()) return stranger{"The connection has no client certificate.", show_certificate};
  return stranger{"The request has no token, and the connection no client certificate.", send_token};
}

std::variant<principal, door::problem> gate::admit(std::optional<std::string_view> authorization, const door::peer& from, moment now) {
  auto found = identify(authorization, from, now);
  auto* const who = std::get_if<principal>(&found);
  if (who == nullptr) return refuse(std::get<stranger>(found), from, now);
  if (who->token.empty()) return std::move(*who);
  const auto all = tokens();
  if (const auto one = all->find(who->token); one != all->end())
    who->last_used_unix_ms = one->second.used_unix_ms->exchange(to_unix_ms(now), std::memory_order_relaxed);
  return std::move(*who);
}

bool gate::still_admits(const principal& who, std::optional<std::string_view> authorization, const door::peer& from, moment now) const {
  const auto found = identify(authorization, from, now);
  const auto* const same = std::get_if<principal>(&found);
  return same != nullptr && same->kind == who.kind && same->name == who.name && same->token == who.token && same->rights == who.rights &&
         same->namespaces == who.namespaces && same->agents == who.agents;
}

bool gate::knows(std::optional<std::string_view> authorization, const door::peer& from, moment now) const {
  return std::holds_alternative<principal>(identify(authorization, from, now));
}

std::optional<principal> gate::find_user(std::uint32_t uid) const {
  if (uid == 0) return principal{"user", "root", {"admin"}, right_set::all(), 0};
  if (uid == own_uid_) return principal{"user", own_name_, {"admin"}, right_set::all(), 0};
  for (const auto& one : config_.users)
    if (one.uid == uid) return principal{"user", one.name, one.roles, rights_of(one.roles), 0, {{std::string{default_namespace_word}}}};
  return std::nullopt;
}

/// The sentence of a refusal is for whoever has the token.
std::variant<principal, std::string> gate::find_token(std::string_view header, moment now) const {
  if (config_.tokens_file.empty()) return "This node knows no tokens: it asks for a client certificate.";
  const auto text = bearer(header);
  if (!text) return "The header Authorization has another scheme than Bearer.";
  const auto id = id_of_token(*text);
  if (!id) return "This is no token: it is cut off, or a character is wrong.";
  const auto all = tokens();
  const auto found = all->find(*id);
  // Whether the id is known is not said.
  if (found == all->end() || !same_hash(found->second.hash, token_hash(*text))) return "The token is not known here.";
  const auto& one = found->second;
  if (one.revoked_unix_ms != 0) return "The token " + *id + " was revoked.";
  if (one.who.expires_unix_ms != 0 && one.who.expires_unix_ms <= to_unix_ms(now))
    return "The token " + *id + " has expired at " + format_utc(one.who.expires_unix_ms) + ".";
  return one.who;
}

std::variant<principal, std::string> gate::find_certificate(const door::client_certificate& shown, moment now) const {
  if (!shown.trouble.empty()) return shown.trouble;
  if (shown.ends_unix_ms <= to_unix_ms(now)) return "The client certificate has expired at " + format_utc(shown.ends_unix_ms) + ".";
  std::shared_ptr<const known_certificates> known;
  {
    const std::lock_guard lock{guard_};
    known = certificates_;
  }
  for (const auto& one : *known)
    if (std::find(shown.names.begin(), shown.names.end(), one.san) != shown.names.end())
      return principal{"certificate", one.name, one.roles, rights_of(one.roles), shown.ends_unix_ms, one.namespaces, {}, 0, one.agents};
  std::string names;
  for (const auto& name : shown.names) names += (names.empty() ? "" : ", ") + name;
  if (names.empty()) return "The client certificate has no name.";
  return "The client certificate is not one that this node knows; its names are " + core::clean_text(names, most_named) + ".";
}

bool gate::is_noise(const std::string& who, moment now, int most) {
  const auto minute = to_unix_ms(now) / 60'000;
  const std::lock_guard lock{guard_};
  if (refused_.size() >= most_addresses) refused_.clear();
  auto& [when, count] = refused_[who];
  if (when != minute) {
    when = minute;
    count = 0;
  }
  return ++count > most;
}

bool gate::has_made_noise(const std::string& who, moment now) const {
  const std::lock_guard lock{guard_};
  const auto found = refused_.find(who);
  return found != refused_.end() && found->second.first == to_unix_ms(now) / 60'000 && found->second.second >= most_refused_a_minute;
}

door::problem gate::refuse(const stranger& whom, const door::peer& from, moment now) {
  const auto who = from.uid ? "uid " + std::to_string(*from.uid) : from.address;
  if (is_noise(who, now) || (whom.is_guess && is_noise("guesses of " + who, now, most_guesses_a_minute)))
    return {"overloaded",
            "Too many requests without a right token or certificate came from here.",
            "Wait a minute, and send the right one.",
            {},
            {},
            false,
            {},
            door::a_minute_s};
  return {whom.code, whom.sentence, whom.remedy, {}, {{"WWW-Authenticate", "Bearer realm=\"fairlead\""}}, false};
}

}  // namespace fairlead::app
