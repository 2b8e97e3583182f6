#include "app/access/token.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>

namespace fairlead::app {

namespace {

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view prefix = "fl_";
constexpr std::size_t id_letters = 12, secret_letters = 43, checksum_letters = 6;
constexpr std::size_t token_bytes = prefix.size() + id_letters + 1 + secret_letters + 1 + checksum_letters;

using digest = std::array<unsigned char, 32>;

digest sha256(std::string_view text) {
  digest out{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), out.data(), &size, EVP_sha256(), nullptr);
  return out;
}

/// Each letter is equally likely: bytes from 248 on, the largest multiple of 62, are not used.
bool append_random(std::string& to, std::size_t count) {
  while (count > 0) {
    std::array<unsigned char, 64> bytes{};
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return false;
    for (const auto byte : bytes) {
      if (count == 0 || byte >= 248) continue;
      to += letters[byte % letters.size()];
      --count;
    }
    OPENSSL_cleanse(bytes.data(), bytes.size());
  }
  return true;
}

std::string checksum_of(std::string_view text) {
  const auto sum = sha256(std::string{"checksum "}.append(text));
  std::string out;
  for (std::size_t i = 0; i < checksum_letters; ++i) out += letters[sum[i] % letters.size()];
  return out;
}

}  // namespace

std::optional<new_token> make_token() {
  new_token out;
  out.text = prefix;
  if (!append_random(out.id, id_letters)) return std::nullopt;
  out.text += out.id + "_";
  if (!append_random(out.text, secret_letters)) return std::nullopt;
  out.text += "_" + checksum_of(out.text);
  return out;
}

std::optional<std::string> id_of_token(std::string_view text) {
  if (text.size() != token_bytes || !text.starts_with(prefix)) return std::nullopt;
  const auto id = text.substr(prefix.size(), id_letters);
  const auto secret = text.substr(prefix.size() + id_letters + 1, secret_letters);
  const auto is_word = [](std::string_view part) { return part.find_first_not_of(letters) == std::string_view::npos; };
  if (!is_word(id) || !is_word(secret) || text[prefix.size() + id_letters] != '_') return std::nullopt;
  const auto summed = text.size() - checksum_letters - 1;
  if (text[summed] != '_' || text.substr(summed + 1) != checksum_of(text.substr(0, summed))) return std::nullopt;
  return std::string{id};
}

std::string token_hash(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const auto byte : sha256(text)) (out += digits[byte >> 4U]) += digits[byte & 15U];
  return out;
}

bool same_hash(std::string_view a, std::string_view b) { return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

}  // namespace fairlead::app
