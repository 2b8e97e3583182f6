#pragma once
// Finds known values in a text, in any usual encoding.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "actors/agents/secrets/memory.hpp"

namespace fairlead::agents {

/// Bytes `begin` to `end` hold the value of the secret.
struct secret_place {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view name;
};

/// A value in the spellings to search for: as it is, in base64 (both alphabets, at each of the three positions in a longer text), and in
/// hex. For encodings that leave most bytes unchanged (JSON, percent, character references) the text is decoded instead.
class secret_spellings {
 public:
  secret_spellings(std::string name, std::string_view value);

  const std::string& name() const noexcept { return name_; }
  std::string_view value() const noexcept { return all_.front(); }
  const std::vector<std::string_view>& all() const noexcept { return all_; }

 private:
  std::string name_;
  std::vector<secret_memory> memory_;
  std::vector<std::string_view> all_;
};

/// Immutable, so many threads may use it.
class secret_search {
 public:
  explicit secret_search(std::vector<std::shared_ptr<const secret_spellings>> values);

  const std::vector<std::shared_ptr<const secret_spellings>>& values() const noexcept { return values_; }

  /// In order, without overlaps. The names live as long as the object.
  std::vector<secret_place> find(std::string_view text) const;

 private:
  struct needle {
    std::string_view text;
    std::string_view name;
  };
  void find_in(std::string_view text, const std::vector<std::uint32_t>& origin, std::vector<secret_place>& out) const;
  void find_cut(std::string_view text, const std::vector<std::uint32_t>& origin, std::vector<secret_place>& out) const;
  void find_decoded(std::string_view text, std::vector<secret_place>& out) const;

  std::vector<std::shared_ptr<const secret_spellings>> values_;
  /// By their first four bytes; none is shorter. The filter excludes most positions of a text.
  std::unordered_map<std::uint32_t, std::vector<needle>> needles_;
  std::vector<bool> filter_;
  bool blanks_ = false;  // a value has a blank, so that + may stand for one
};

/// `text` with each place replaced by `[secret NAME]`. JSON stays JSON.
std::string replace_secrets(std::string text, const std::vector<secret_place>& places);

}  // namespace fairlead::agents
