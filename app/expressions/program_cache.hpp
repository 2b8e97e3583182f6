#pragma once
// The programs an expression worker compiled last, by their expression. One thread.

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "app/expressions/jq_program.hpp"

namespace fairlead::app {

class program_cache {
 public:
  /// Keeps at most `most` programs; calls `compiled` after each compilation, which takes some 20 ms.
  program_cache(std::size_t most, std::function<void()> compiled) : most_(most), compiled_(std::move(compiled)) {}

  /// The program stays valid until the next call.
  result<jq_program*> get(const std::string& expression) {
    if (const auto known = index_.find(expression); known != index_.end()) {
      programs_.splice(programs_.begin(), programs_, known->second);
      return programs_.front().second.get();
    }
    auto made = jq_program::compile(expression);
    compiled_();
    if (!made.ok()) return made.failure();
    if (programs_.size() == most_) {
      index_.erase(programs_.back().first);
      programs_.pop_back();
    }
    programs_.emplace_front(expression, std::move(made).value());
    index_[expression] = programs_.begin();
    return programs_.front().second.get();
  }

  /// Compiles expressions that will probably be asked for, which are a group then, and remembers only that they all compile.
  void compile_ahead(const google::protobuf::RepeatedPtrField<std::string>& expressions) {
    if (expressions.empty()) return;
    if (jq_program::compile_together(expressions)) sound_.insert(expressions.begin(), expressions.end());
    compiled_();
  }

  /// Whether the expressions compile together.
  bool are_sound(const google::protobuf::RepeatedPtrField<std::string>& expressions) const {
    for (const auto& one : expressions)
      if (sound_.count(one) == 0) return jq_program::compile_together(expressions);
    return true;
  }

 private:
  using entry = std::pair<std::string, std::unique_ptr<jq_program>>;

  std::size_t most_;
  std::function<void()> compiled_;
  std::list<entry> programs_;  // the one used last stands first
  std::unordered_map<std::string, std::list<entry>::iterator> index_;
  std::unordered_set<std::string> sound_;
};

}  // namespace fairlead::app
