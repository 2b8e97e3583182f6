#include "messages/tickets.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>

namespace fairlead {

namespace {

constexpr std::string_view base64_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t signature_bytes = 16;
constexpr std::size_t attempt_bytes = 4 + 8 + 4 + 1 + 4;
constexpr std::size_t session_head_bytes = 4 + 8 + 2;
constexpr std::size_t callback_head_bytes = 4 + 4 + 4;
constexpr std::size_t most_ticket_letters = 128, most_session_letters = 1'024, most_callback_letters = 1'024;

// What is signed begins with its kind, so that no text of one kind is one of the other.
constexpr std::string_view of_tickets = "ticket", of_sessions = "session", of_callbacks = "callback";

std::string to_base64url(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6) out += base64_letters[bits >> (count - 6) & 63];
  }
  if (count > 0) out += base64_letters[bits << (6 - count) & 63];
  return out;
}

/// Strict: each text of bytes has one spelling.
std::optional<std::string> from_base64url(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char letter : text) {
    const auto value = base64_letters.find(letter);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 255);
  }
  const bool whole = count < 6 && (bits & ((1U << count) - 1)) == 0;
  return whole ? std::optional{std::move(out)} : std::nullopt;
}

template <class T>
void append_number(std::string& out, T value) {
  for (std::size_t i = sizeof(T); i-- > 0;) out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 255);
}

/// Takes the number off the front of `bytes`, which are enough.
template <class T>
T take_number(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  bytes.remove_prefix(sizeof(T));
  return static_cast<T>(value);
}

std::string signature_of(std::string_view key, std::string_view kind, std::string_view fields, std::string_view process = {}) {
  std::string signed_text;
  append_number(signed_text, static_cast<std::uint8_t>(kind.size()));
  signed_text.append(kind);
  append_number(signed_text, static_cast<std::uint32_t>(fields.size()));
  signed_text.append(fields).append(process);
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  const auto* const made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                reinterpret_cast<const unsigned char*>(signed_text.data()), signed_text.size(), out.data(), &size);
  if (made == nullptr || size < signature_bytes) return {};
  return {reinterpret_cast<const char*>(out.data()), signature_bytes};
}

std::string process_of(std::string_view instance, std::uint64_t incarnation) {
  std::string out;
  append_number(out, incarnation);
  return out.append(instance);
}

bool is_same(std::string_view one, std::string_view other) {
  return one.size() == other.size() && one.size() == signature_bytes && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

/// The bytes of a text in two parts: the fields, and the signature; nullopt: the text is too short, too long, or no base64url.
struct signed_bytes {
  std::string fields, signature;
};
std::optional<signed_bytes> bytes_of(std::string_view text, std::size_t most_letters) {
  if (text.size() > most_letters) return std::nullopt;
  auto bytes = from_base64url(text);
  if (!bytes || bytes->size() < signature_bytes) return std::nullopt;
  const auto size = bytes->size() - signature_bytes;
  return signed_bytes{bytes->substr(0, size), bytes->substr(size)};
}

}  // namespace

std::string make_work_key() {
  std::string out(work_key_bytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(out.size())) != 1) out.clear();
  return out;
}

std::string make_ticket(std::string_view key, const attempt_name& of, std::string_view instance, std::uint64_t incarnation) {
  std::string fields;
  append_number(fields, of.shard);
  append_number(fields, of.task_number);
  append_number(fields, of.step);
  append_number(fields, static_cast<std::uint8_t>(of.direction));
  append_number(fields, of.attempt);
  return to_base64url(fields + signature_of(key, of_tickets, fields, process_of(instance, incarnation)));
}

std::optional<attempt_name> read_ticket(std::string_view text) {
  const auto bytes = bytes_of(text, most_ticket_letters);
  if (!bytes || bytes->fields.size() != attempt_bytes) return std::nullopt;
  std::string_view rest = bytes->fields;
  attempt_name out;
  out.shard = take_number<std::uint32_t>(rest);
  out.task_number = take_number<std::uint64_t>(rest);
  out.step = take_number<std::uint32_t>(rest);
  const auto direction = take_number<std::uint8_t>(rest);
  if (!v1::Direction_IsValid(direction)) return std::nullopt;
  out.direction = static_cast<v1::Direction>(direction);
  out.attempt = take_number<std::uint32_t>(rest);
  return out;
}

bool is_ticket_of(std::string_view key, std::string_view text, std::string_view instance, std::uint64_t incarnation) {
  const auto bytes = bytes_of(text, most_ticket_letters);
  return bytes && bytes->fields.size() == attempt_bytes &&
         is_same(bytes->signature, signature_of(key, of_tickets, bytes->fields, process_of(instance, incarnation)));
}

std::string make_session(std::string_view key, std::uint32_t shard, std::string_view agent, std::string_view instance,
                         std::uint64_t incarnation) {
  std::string fields;
  append_number(fields, shard);
  append_number(fields, incarnation);
  append_number(fields, static_cast<std::uint16_t>(agent.size()));
  fields.append(agent).append(instance);
  return to_base64url(fields + signature_of(key, of_sessions, fields));
}

std::optional<session_name> read_session(std::string_view text) {
  const auto bytes = bytes_of(text, most_session_letters);
  if (!bytes || bytes->fields.size() < session_head_bytes) return std::nullopt;
  std::string_view rest = bytes->fields;
  session_name out;
  out.shard = take_number<std::uint32_t>(rest);
  out.incarnation = take_number<std::uint64_t>(rest);
  const auto agent_bytes = take_number<std::uint16_t>(rest);
  if (rest.size() < agent_bytes) return std::nullopt;
  out.agent = rest.substr(0, agent_bytes);
  out.instance = rest.substr(agent_bytes);
  return out;
}

bool is_session_of(std::string_view key, std::string_view text) {
  const auto bytes = bytes_of(text, most_session_letters);
  return bytes && is_same(bytes->signature, signature_of(key, of_sessions, bytes->fields));
}

std::string make_callback(std::string_view key, const callback_name& of) {
  std::string fields;
  append_number(fields, of.shard);
  append_number(fields, of.step);
  append_number(fields, of.generation);
  fields.append(of.task_id);
  return to_base64url(fields + signature_of(key, of_callbacks, fields));
}

std::optional<callback_name> read_callback(std::string_view text) {
  const auto bytes = bytes_of(text, most_callback_letters);
  if (!bytes || bytes->fields.size() <= callback_head_bytes) return std::nullopt;
  std::string_view rest = bytes->fields;
  callback_name out;
  out.shard = take_number<std::uint32_t>(rest);
  out.step = take_number<std::uint32_t>(rest);
  out.generation = take_number<std::uint32_t>(rest);
  out.task_id = rest;
  return out;
}

bool is_callback_of(std::string_view key, std::string_view text) {
  const auto bytes = bytes_of(text, most_callback_letters);
  return bytes && is_same(bytes->signature, signature_of(key, of_callbacks, bytes->fields));
}

}  // namespace fairlead
