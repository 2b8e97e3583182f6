#pragma once
// Makes every Protobuf message of this project a CAF message element: one `inspect`, found by argument-dependent lookup because it is in
// the messages' namespace. It includes nothing of CAF: the inspector is a template parameter.
//
// Within a process CAF passes the same object and never calls this; between nodes the element travels as one byte string.

#include <google/protobuf/message.h>
#include <google/protobuf/util/message_differencer.h>

#include <string>
#include <type_traits>

namespace fairlead::v1 {

template <class Message>
using if_message = std::enable_if_t<std::is_base_of_v<google::protobuf::Message, Message>, int>;

/// CAF's test DSL compares expected with received messages by this.
template <class Message, if_message<Message> = 0>
bool operator==(const Message& a, const Message& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

/// The answer of a loading inspector to bytes that are no such message. Defined for each kind of result where the inspectors are known
/// (actors/protocol/type_ids.hpp).
template <class Result>
Result unreadable_message();

template <class Inspector, class Message, if_message<Message> = 0>
typename Inspector::result_type inspect(Inspector& f, Message& x) {
  using result_type = typename Inspector::result_type;
  if constexpr (std::is_void_v<result_type>) {  // makes text for logs
    f(x.ShortDebugString());
  } else if constexpr (Inspector::writes_state) {
    std::string bytes;
    if (auto failure = f(bytes)) return failure;
    return x.ParseFromString(bytes) ? result_type{} : unreadable_message<result_type>();
  } else {
    auto bytes = x.SerializeAsString();
    return f(bytes);
  }
}

}  // namespace fairlead::v1
