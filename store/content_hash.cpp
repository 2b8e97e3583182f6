#include "store/content_hash.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <stdexcept>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "store/integers.hpp"

namespace fairlead::store {

namespace {

void append_sized(std::string& out, std::string_view bytes) {
  append_little_endian(out, static_cast<std::uint32_t>(bytes.size()));
  out += bytes;
}

char kind_of(const v1::ReplyAddress& address) { return address.webhook().empty() ? 'c' : 'w'; }
const std::string& name_of(const v1::ReplyAddress& address) { return address.webhook().empty() ? address.client() : address.webhook(); }

std::string deterministic_bytes(const google::protobuf::Message& what) {
  std::string text;
  google::protobuf::io::StringOutputStream stream(&text);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  if (!what.SerializeToCodedStream(&out)) throw std::logic_error("a message cannot be serialized");
  out.Trim();
  return text;
}

}  // namespace

std::string content_hash(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return {reinterpret_cast<const char*>(canonical.digest), sizeof canonical.digest};
}

std::string submission_hash(std::string_view workflow, std::string_view minified_input,
                            const google::protobuf::RepeatedPtrField<v1::Label>& labels, std::int32_t priority,
                            const v1::ReplyAddress* reply, std::int64_t start_at_unix_ms, std::int64_t delay_ms) {
  std::string text;
  text.reserve(workflow.size() + minified_input.size() + 64);
  append_sized(text, workflow);
  append_sized(text, minified_input);
  append_little_endian(text, static_cast<std::uint32_t>(labels.size()));
  for (const auto& label : labels) {
    append_sized(text, label.key());
    append_sized(text, label.value());
  }
  append_little_endian(text, static_cast<std::uint32_t>(priority));
  if (reply != nullptr && is_set(*reply)) {
    text += kind_of(*reply);
    append_sized(text, name_of(*reply));
    text += reply->steps() ? '\1' : '\0';
  }
  if (start_at_unix_ms != 0 || delay_ms != 0) {
    text += delay_ms != 0 ? 'd' : 'a';
    append_big_endian(text, static_cast<std::uint64_t>(delay_ms != 0 ? delay_ms : start_at_unix_ms));
  }
  return content_hash(text);
}

bool is_set(const v1::ReplyAddress& address) { return !address.client().empty() || !address.webhook().empty(); }

std::string reply_address_hash(const v1::ReplyAddress& address) { return content_hash(kind_of(address) + name_of(address)); }

std::string definition_hash(const v1::WorkflowDefinition& definition) { return content_hash(deterministic_bytes(definition)); }

std::string job_hash(const v1::JobSpec& spec) {
  auto plain = spec;
  plain.clear_paused();
  return content_hash(deterministic_bytes(plain));
}

std::string to_hex(std::string_view bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (unsigned char byte : bytes) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned value = 0;
    for (const auto c : {text[i], text[i + 1]}) {
      if (c >= '0' && c <= '9')
        value = value * 16 + static_cast<unsigned>(c - '0');
      else if (c >= 'a' && c <= 'f')
        value = value * 16 + static_cast<unsigned>(c - 'a') + 10;
      else
        return std::nullopt;
    }
    out += static_cast<char>(value);
  }
  return out;
}

}  // namespace fairlead::store
