#pragma once
// Content hashes: 16 bytes, XXH128 in its canonical (big-endian) form. They say whether two contents are equal, not who made them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messages/common.pb.h"
#include "messages/job.pb.h"
#include "messages/task.pb.h"
#include "messages/workflow.pb.h"

namespace fairlead::store {

inline constexpr std::size_t content_hash_bytes = 16;

/// XXH128 of the bytes.
std::string content_hash(std::string_view bytes);

/// Hash of a submission: if it is equal, the same id means the same task. Hashed are, each with its length as u32 LE before it: the
/// workflow's name and the minified input; then the number of labels as u32 LE and each label's key and value in the order given, again
/// with their lengths; then the priority as u32 LE. If the reply address names a receiver there follow: its kind ('c' client, 'w' webhook),
/// the name or URL with its length, and one byte that is 1 if events of steps are wanted, too. If a start was given there follow 'a' (a
/// moment) or 'd' (a delay) and its milliseconds as u64 BE. Otherwise nothing follows.
std::string submission_hash(std::string_view workflow, std::string_view minified_input,
                            const google::protobuf::RepeatedPtrField<v1::Label>& labels, std::int32_t priority,
                            const v1::ReplyAddress* reply = nullptr, std::int64_t start_at_unix_ms = 0, std::int64_t delay_ms = 0);

/// True when the address names a client or a webhook.
bool is_set(const v1::ReplyAddress& address);

/// Hash of an address's receiver: its kind ('c' or 'w') and the name or URL. Whether events of steps are wanted is left out, so that all
/// tasks of one receiver share one outbox and its order.
std::string reply_address_hash(const v1::ReplyAddress& address);

/// Hash of a definition's deterministic Protobuf serialization. The fields are plain, lists included, so the bytes are stable as long as
/// the .proto only grows.
std::string definition_hash(const v1::WorkflowDefinition& definition);

/// Hash of a job's specification, like that of a definition. `paused` is left out: it is a state, not part of the job.
std::string job_hash(const v1::JobSpec& spec);

/// Lower-case hexadecimal, for messages.
std::string to_hex(std::string_view bytes);
/// And back; nullopt: the text is none.
std::optional<std::string> from_hex(std::string_view text);

}  // namespace fairlead::store
