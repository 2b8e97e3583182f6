#pragma once
// jq, one program at a time. Nothing here limits time or memory: that is the process's affair. When an allocation fails jq cannot go on,
// and the process ends with the exit code expression_worker_out_of_memory.

#include <google/protobuf/repeated_ptr_field.h>

#include <memory>
#include <string>

#include "messages/error.hpp"

namespace fairlead::app {

/// A JSON text as jq holds it.
class jq_document {
 public:
  static result<jq_document> parse(const std::string& json);
  jq_document(jq_document&&) noexcept;
  jq_document& operator=(jq_document&&) noexcept;
  ~jq_document();

 private:
  friend class jq_program;
  struct value;
  explicit jq_document(std::unique_ptr<value> v);
  std::unique_ptr<value> value_;
};

class jq_program {
 public:
  /// Compiles an expression of the checked subset (core::check_expression), its paths made strict.
  static result<std::unique_ptr<jq_program>> compile(const std::string& expression);
  /// Whether all of `expressions` compile, which together takes hardly longer than one alone. False says nothing of any of them.
  static bool compile_together(const google::protobuf::RepeatedPtrField<std::string>& expressions);
  ~jq_program();
  jq_program(const jq_program&) = delete;
  jq_program& operator=(const jq_program&) = delete;

  /// Its one result as compact JSON text; none or several are errors.
  result<std::string> run(const jq_document& document);

 private:
  struct state;
  explicit jq_program(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace fairlead::app
