#include "actors/core/schema/input_tree.hpp"

#include <string>
#include <utility>

#include "actors/core/schema/decimal.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::core {

namespace {

/// The recursion is as deep as the JSON, which check_json bounds.
class tree_reader {
 public:
  explicit tree_reader(std::string_view json) : p_(json.data()), end_(json.data() + json.size()) {}

  nlohmann::json read() {
    skip_space();
    switch (p_ < end_ ? *p_ : '\0') {
      case '{': return read_object();
      case '[': return read_array();
      case '"': return std::string{tag_text} + read_text();
      default: return read_word();
    }
  }

 private:
  void skip_space() {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r' || *p_ == ',' || *p_ == ':')) ++p_;
  }

  bool ends(char bracket) {
    skip_space();
    if (p_ < end_ && *p_ != bracket) return false;
    if (p_ < end_) ++p_;
    return true;
  }

  std::string read_text() {
    const char* const begin = p_;
    p_ = skip_json_string(p_, end_);
    return decode_json_string({begin, static_cast<std::size_t>(p_ - begin)});
  }

  nlohmann::json read_object() {
    auto out = nlohmann::json::object();
    for (++p_; !ends('}');) {
      auto name = read_text();
      out[std::move(name)] = read();
    }
    return out;
  }

  nlohmann::json read_array() {
    auto out = nlohmann::json::array();
    for (++p_; !ends(']');) out.push_back(read());
    return out;
  }

  nlohmann::json read_word() {
    const char* const begin = p_;
    while (p_ < end_ && std::string_view{" \n\t\r,]}"}.find(*p_) == std::string_view::npos) ++p_;
    const std::string_view word{begin, static_cast<std::size_t>(p_ - begin)};
    if (word == "null") return std::string{tag_null};
    if (word == "true") return std::string{tag_true};
    if (word == "false") return std::string{tag_false};
    return std::string{tag_number} + decimal::read(word).text();
  }

  const char* p_;
  const char* end_;
};

}  // namespace

nlohmann::json read_tree(std::string_view json) { return tree_reader{json}.read(); }

}  // namespace fairlead::core
