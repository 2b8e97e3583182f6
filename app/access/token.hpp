#pragma once
// Tokens: `fl_<id>_<secret>_<checksum>`, all of A-Z a-z 0-9. The id has 12 characters and may be shown; the secret has 43, which are 256 bits; the checksum
// has 6, so that a typing error is told from a token that nobody was given. Only the SHA-256 of the whole is kept: no slow hash is needed
// for 256 random bits.

#include <optional>
#include <string>
#include <string_view>

namespace fairlead::app {

struct new_token {
  std::string id;
  std::string text;  // what clients send; shown once
};

/// From the system's source of randomness; nullopt: it gives nothing.
std::optional<new_token> make_token();

/// nullopt: the text is no token.
std::optional<std::string> id_of_token(std::string_view text);

/// SHA-256 in 64 hexadecimal digits.
std::string token_hash(std::string_view text);

/// Takes the same time whatever the difference.
bool same_hash(std::string_view a, std::string_view b);

}  // namespace fairlead::app
