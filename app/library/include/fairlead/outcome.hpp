#pragma once
// Results of handlers: the outcome of a perform or an undo, the finding of a lookup.

#include <fairlead/error.hpp>
#include <fairlead/time.hpp>

#include <string>
#include <utility>
#include <variant>

namespace fairlead {

/// One JSON value as text: input and output of handlers without Protobuf types.
struct json {
  std::string text = "null";
};

enum class fault_kind {
  transient,  // nothing happened, and another attempt may succeed
  permanent,  // nothing happened, and another attempt cannot help
  in_doubt,   // it may have happened
};

struct fault {
  fault_kind kind = fault_kind::in_doubt;
  std::string code;         // a short stable word, such as `sold_out`
  std::string sentence;     // for operators
  duration retry_after{0};  // pause that the service asked for; zero: none
};

inline fault transient_fault(std::string code, std::string sentence, duration retry_after = duration{0}) {
  return {fault_kind::transient, std::move(code), std::move(sentence), retry_after};
}
inline fault permanent_fault(std::string code, std::string sentence) {
  return {fault_kind::permanent, std::move(code), std::move(sentence), duration{0}};
}
inline fault in_doubt_fault(std::string code, std::string sentence, duration retry_after = duration{0}) {
  return {fault_kind::in_doubt, std::move(code), std::move(sentence), retry_after};
}

/// The result of a perform or an undo: an output or a fault. `Output` is a Protobuf message, `json`, or `nothing` (null).
template <class Output>
class outcome {
 public:
  using output_type = Output;
  outcome(Output done) : content_(std::move(done)) {}  // NOLINT(google-explicit-constructor)
  outcome(fault why) : content_(std::move(why)) {}     // NOLINT(google-explicit-constructor)

  bool ok() const noexcept { return content_.index() == 0; }
  const Output& output() const { return std::get<0>(content_); }
  const fault& why() const { return std::get<1>(content_); }

 private:
  std::variant<Output, fault> content_;
};

/// A lookup's answer that the perform had no effect and never will. This promises that the key has no effect later either, not even if a
/// request still on its way arrives after the answer. If the service cannot be told to refuse a key, answer `not_known`.
struct never_happened_type {};
inline constexpr never_happened_type never_happened{};

/// A lookup's answer that it could ask the service, and still cannot tell.
struct not_known_type {};
inline constexpr not_known_type not_known{};

/// The result of a lookup: the perform's output, `never_happened`, `not_known`, or a fault if it could not ask the service.
template <class Output>
class finding {
 public:
  using output_type = Output;
  finding(Output done) : content_(std::move(done)) {}        // NOLINT(google-explicit-constructor)
  finding(never_happened_type answer) : content_(answer) {}  // NOLINT(google-explicit-constructor)
  finding(not_known_type answer) : content_(answer) {}       // NOLINT(google-explicit-constructor)
  finding(fault why) : content_(std::move(why)) {}           // NOLINT(google-explicit-constructor)

  const Output* output() const { return std::get_if<0>(&content_); }
  bool has_never_happened() const noexcept { return content_.index() == 1; }
  const fault* why() const { return std::get_if<fault>(&content_); }

 private:
  std::variant<Output, never_happened_type, not_known_type, fault> content_;
};

}  // namespace fairlead
