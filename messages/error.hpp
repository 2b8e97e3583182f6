#pragma once
// The error model: an operational failure is a value with a code, a sentence for operators and a remedy. C++17.
// A bug is not an error value: it throws std::logic_error and stops its actor.

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "messages/common.pb.h"

namespace fairlead {

using error_code = v1::ErrorCode;

struct error {
  error_code code = v1::ERROR_CODE_INTERNAL;
  std::string sentence;    // one sentence, names the thing at fault
  std::string remedy;      // what to do about it; may be empty
  bool not_taken = false;  // nothing of the request was done here; another node may take it

  v1::Error to_proto() const {
    v1::Error out;
    out.set_code(code);
    out.set_sentence(sentence);
    out.set_remedy(remedy);
    out.set_not_taken(not_taken);
    return out;
  }

  static error from_proto(const v1::Error& in) { return {in.code(), in.sentence(), in.remedy(), in.not_taken()}; }
};

/// The caller's input cannot be taken as it is.
inline error invalid(std::string sentence, std::string remedy = {}) {
  return {v1::ERROR_CODE_INVALID_ARGUMENT, std::move(sentence), std::move(remedy)};
}

/// Either a value or an error.
template <class T>
class result {
 public:
  result(T value) : content_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  result(error failure) : content_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const noexcept { return content_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  T& value() & { return std::get<0>(content_); }
  const T& value() const& { return std::get<0>(content_); }
  T&& value() && { return std::get<0>(std::move(content_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const error& failure() const { return std::get<1>(content_); }

 private:
  std::variant<T, error> content_;
};

struct nothing {};
/// The result of an action without a value: `status s = nothing{};` or an error.
using status = result<nothing>;

/// `invalid_argument`, `io_error`, …: the word that programs and logs show for a code.
const char* code_word(error_code code);

}  // namespace fairlead
