#pragma once
// Adapts a handler's typed signature to the library: reads and writes its Protobuf or JSON types. Nothing here is for users.

#include <fairlead/context.hpp>
#include <fairlead/outcome.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace google::protobuf {
class Message;
}

namespace fairlead::detail {

/// The result of a handler, without its types.
struct raw_end {
  enum class what { output, fault, never_happened, not_known };
  what kind = what::output;
  std::string output;  // JSON text
  fairlead::fault why;
};

using raw_handler = std::function<raw_end(std::string_view input, context&)>;

/// False: `text` does not fit `out`, and `why` names the wrong field.
bool read_message(std::string_view text, google::protobuf::Message& out, std::string& why);
bool write_message(const google::protobuf::Message& from, std::string& text, std::string& why);

template <class T>
inline constexpr bool is_message = std::is_base_of_v<google::protobuf::Message, T>;

template <class T>
bool read(std::string_view text, T& out, std::string& why) {
  static_assert(is_message<T> || std::is_same_v<T, json>, "a handler takes a Protobuf message or fairlead::json");
  if constexpr (is_message<T>) {
    return read_message(text, out, why);
  } else {
    out.text.assign(text);
    return true;
  }
}

template <class T>
raw_end written(const T& from) {
  static_assert(is_message<T> || std::is_same_v<T, json> || std::is_same_v<T, nothing>,
                "a handler gives a Protobuf message, fairlead::json or fairlead::nothing");
  raw_end out;
  if constexpr (is_message<T>) {
    std::string why;
    if (!write_message(from, out.output, why)) {
      out.kind = raw_end::what::fault;
      // The work was done; only its output cannot be written.
      out.why = in_doubt_fault("output_type", std::move(why));
    }
  } else if constexpr (std::is_same_v<T, json>) {
    out.output = from.text;
  } else {
    out.output = "null";
  }
  return out;
}

inline raw_end faulted(fault why) {
  raw_end out;
  out.kind = raw_end::what::fault;
  out.why = std::move(why);
  return out;
}

template <class T>
raw_end ended(const outcome<T>& how) {
  return how.ok() ? written(how.output()) : faulted(how.why());
}

template <class T>
raw_end ended(const finding<T>& how) {
  if (how.output() != nullptr) return written(*how.output());
  if (how.why() != nullptr) return faulted(*how.why());
  raw_end out;
  out.kind = how.has_never_happened() ? raw_end::what::never_happened : raw_end::what::not_known;
  return out;
}

template <class Function>
struct signature;
template <class Result, class Input>
struct signature<std::function<Result(Input, context&)>> {
  using result = Result;
  using input = std::decay_t<Input>;
};

template <class Handler>
using signature_of = signature<decltype(std::function{std::declval<Handler>()})>;

template <class T>
struct is_outcome : std::false_type {};
template <class T>
struct is_outcome<outcome<T>> : std::true_type {};
template <class T>
struct is_finding : std::false_type {};
template <class T>
struct is_finding<finding<T>> : std::true_type {};

template <class Handler>
raw_handler erased(Handler handler) {
  using input = typename signature_of<Handler>::input;
  // Shared, because handlers need not be copyable and std::function must be.
  return [handler = std::make_shared<Handler>(std::move(handler))](std::string_view text, context& with) {
    input in;
    std::string why;
    if (!read(text, in, why)) return faulted(permanent_fault("input_type", std::move(why)));
    return ended((*handler)(std::move(in), with));
  };
}

}  // namespace fairlead::detail
