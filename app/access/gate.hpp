#pragma once
// Asks each request of the API who sends it: a token decides, without one a certificate, or the user of a Unix socket. Thread-safe.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "actors/agents/secrets/file.hpp"
#include "actors/protocol/access.hpp"
#include "app/access/ticker.hpp"
#include "app/config/config.hpp"
#include "app/door/message.hpp"
#include "app/door/problem.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

class gate {
 public:
  using warn = std::function<void(const std::string& sentence)>;

  /// Reads the tokens, and reads them again within a second of a change. A file that cannot be read then changes nothing, and is warned of once.
  /// Tokens that expire are warned of, too.
  static result<std::unique_ptr<gate>> open(access_config config, warn on_trouble, const clock& time);
  /// `authorization`: the value of that header.
  std::variant<principal, door::problem> admit(std::optional<std::string_view> authorization, const door::peer& from, moment now);

  /// The same without a count or a sentence: whether a large body is worth reading.
  bool knows(std::optional<std::string_view> authorization, const door::peer& from, moment now) const;
  /// Whether a request of these would be admitted now as it was as `who`: with the same rights.
  bool still_admits(const principal& who, std::optional<std::string_view> authorization, const door::peer& from, moment now) const;
  /// When the last token of each name expires, in unix milliseconds. Names whose tokens never do, or were all revoked, are not there.
  std::map<std::string, std::int64_t> token_ends() const;
  /// Whether `who` was refused so often in this minute that more of it is only noise.
  bool is_noise(const std::string& who, moment now, int most = most_refused_a_minute);
  /// Whether the next one would be. It counts nothing.
  bool has_made_noise(const std::string& who, moment now) const;

  /// Replaces the certificates that are known, from the next request on. Whether any is asked for stays as it was when the gate was opened.
  void take(std::vector<access_certificate> certificates);

 private:
  struct known_token {
    std::string hash;
    principal who;
    std::int64_t created_unix_ms = 0, revoked_unix_ms = 0;
    std::shared_ptr<std::atomic<std::int64_t>> used_unix_ms = std::make_shared<std::atomic<std::int64_t>>(0);  // last; 0: never
  };
  struct stranger {
    std::string sentence;
    const char* remedy;
    const char* code = "unauthenticated";
    bool is_guess = false;  // a token was sent, and it is wrong
  };
  using known_tokens = std::map<std::string, known_token>;  // by id
  using known_certificates = std::vector<access_certificate>;

  static constexpr int most_refused_a_minute = 100;
  static constexpr int most_guesses_a_minute = 10;

  gate(access_config config, warn on_trouble, const clock& time);
  /// Where nobody is asked, everybody on this machine is an admin.
  bool asks() const { return !config_.tokens_file.empty() || asks_for_certificates_; }
  std::variant<principal, std::string> find_token(std::string_view header, moment now) const;
  std::variant<principal, std::string> find_certificate(const door::client_certificate& shown, moment now) const;
  std::optional<principal> find_user(std::uint32_t uid) const;
  std::variant<principal, stranger> identify(std::optional<std::string_view> authorization, const door::peer& from, moment now) const;
  door::problem refuse(const stranger& whom, const door::peer& from, moment now);
  status read();
  void look();
  void read_again();
  std::shared_ptr<const known_tokens> tokens() const;
  /// 7 days and 1 day before a token expires, unless it was made for less.
  void warn_of_ends();

  const access_config config_;  // but for its certificates
  const bool asks_for_certificates_;
  const std::uint32_t own_uid_;
  const std::string own_name_;
  const warn warn_;
  const clock& time_;
  agents::secret_file_mark mark_;  // only for read(), as good_ for look()
  mutable std::mutex guard_;
  std::shared_ptr<const known_tokens> tokens_;
  std::shared_ptr<const known_certificates> certificates_;
  std::map<std::string, std::pair<std::int64_t, int>> refused_;  // by whom, and what for: the minute, and refusals in it
  bool good_ = true;                                             // the latest reading
  std::map<std::string, int> warned_;                            // of which tokens, by id, and how often; only for look()
  std::optional<ticker> watch_;
};

/// The rights that roles of these names give together.
right_set rights_of(const std::vector<std::string>& words);

}  // namespace fairlead::app
